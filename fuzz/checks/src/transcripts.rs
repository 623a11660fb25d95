use std::cell::RefCell;

use tempfile::TempDir;
use towline_protocol::json;
use towline_transcripts::{
    fold_summary, fork, messages, subagent_messages, ForkOptions, ListOptions, MessageOptions,
    SavedSessions, SessionInfo,
};

const SESSION: &str = "0b54ad2e-4b52-4df5-a3ad-0ec39ba9a1d4";

/// Any entries of a session, from a store and on disk: no panic, nothing endless, what is written is
/// JSON, and both ways tell the same.
pub fn transcripts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let entries: Vec<&str> = text.split('\n').collect();
    let every = MessageOptions::default();
    let told = messages(&entries, &every);
    for message in &told {
        json::validate(&message.to_json()).expect("JSON");
    }
    for message in subagent_messages(&entries, None, &every) {
        json::validate(&message.to_json()).expect("JSON");
    }
    if let Some(info) = SessionInfo::from_entries(SESSION, &entries, 1, Some("/p")) {
        json::validate(&info.to_json()).expect("JSON");
    }
    let summary = fold_summary(None, SESSION, &entries);
    json::validate(&summary.to_json()).expect("JSON");
    if let Some(info) = summary.info(Some("/p")) {
        json::validate(&info.to_json()).expect("JSON");
    }
    if let Ok(fork) = fork(SESSION, &entries, &ForkOptions::default()) {
        for entry in &fork.entries {
            json::validate(entry).expect("JSON");
            assert!(!entry.contains('\n'));
        }
        // A branch is still a branch.
        let _ = messages(&fork.entries, &every);
    }
    on_disk(&text, told.len());
}

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

fn on_disk(text: &str, told: usize) {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().expect("a folder"));
        let project = folder.path().join("projects/-p");
        std::fs::create_dir_all(&project).expect("a folder");
        let file = project.join(format!("{SESSION}.jsonl"));
        std::fs::write(&file, text).expect("a file");
        let saved = SavedSessions::in_config_dir(folder.path());
        for info in saved.list(&ListOptions::default()) {
            json::validate(&info.to_json()).expect("JSON");
        }
        let read = saved.messages(SESSION, None, &MessageOptions::default());
        assert_eq!(read.len(), told, "on disk and from a store");
    });
}
