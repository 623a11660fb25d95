//! Answers questions about saved sessions, one JSON object a line: `{"ok":…}` or `{"error":…}`.
//!
//! `compare.py` asks an official package the same and compares the answers.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use towline_transcripts::store::{
    operations::Operation, run, Entry, MemoryStore, SessionKey, SessionStore,
};
use towline_transcripts::{
    fold_summary, fork, messages, project_key, project_key_of_path, ForkOptions, ListOptions,
    MessageOptions, SavedOperation, SavedSessions, SessionInfo, SessionMessage, SessionSummary,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    ask: String,
    #[serde(default)]
    config: PathBuf,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    agent_id: String,
    #[serde(default)]
    directory: Option<PathBuf>,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
    #[serde(default)]
    include_worktrees: Option<bool>,
    #[serde(default)]
    include_system_messages: bool,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    up_to: Option<String>,
    #[serde(default)]
    entries: Vec<Box<RawValue>>,
    #[serde(default)]
    batches: Vec<usize>,
    #[serde(default)]
    project_key: String,
    #[serde(default)]
    subpath: Option<String>,
    #[serde(default)]
    operation: Option<Box<RawValue>>,
}

fn main() -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut store = MemoryStore::new();
    for line in io::stdin().lock().lines() {
        let answer = match serde_json::from_str::<Question>(&line?) {
            Ok(question) if question.ask == "store_new" => {
                store = MemoryStore::new();
                Ok("null".to_owned())
            }
            Ok(question) if question.ask.starts_with("store") => of_store(&question, &store),
            Ok(question) => answer(&question),
            Err(error) => Err(error.to_string()),
        };
        match answer {
            Ok(json) => writeln!(out, "{{\"ok\":{json}}}")?,
            Err(error) => writeln!(out, "{{\"error\":{}}}", quoted(&error))?,
        }
        out.flush()?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Questions about what is kept in a store.
fn of_store(question: &Question, store: &MemoryStore) -> Result<String, String> {
    let main = SessionKey::main(&question.project_key, &question.session_id);
    let key = match &question.subpath {
        Some(subpath) => main.with_subpath(subpath),
        None => main,
    };
    let told = |error: &dyn std::fmt::Display| error.to_string();
    Ok(match question.ask.as_str() {
        "store_append" => {
            let entries = question.entries.iter().map(|entry| Entry::new(entry.get()));
            let entries: Vec<Entry> = entries.collect::<Result<_, _>>().map_err(|e| told(&e))?;
            store.append(&key, &entries).map_err(|e| told(&e))?;
            "null".to_owned()
        }
        "store_load" => match store.load(&key).map_err(|e| told(&e))? {
            None => "null".to_owned(),
            Some(entries) => {
                let texts: Vec<&str> = entries.iter().map(Entry::as_str).collect();
                format!("[{}]", texts.join(","))
            }
        },
        "store_subkeys" => {
            let found = store.list_subkeys(&question.project_key, &question.session_id);
            strings(&found.map_err(|e| told(&e))?)
        }
        "store" => {
            let operation = question.operation.as_ref().map_or("", |json| json.get());
            let operation = Operation::from_json(operation).map_err(|e| told(&e))?;
            let task = operation.task(store.capabilities()).map_err(|e| told(&e))?;
            run(task, store).map_err(|e| told(&e))?
        }
        other => return Err(format!("unknown question {other}")),
    })
}

fn answer(question: &Question) -> Result<String, String> {
    let saved = SavedSessions::in_config_dir(&question.config);
    let id = question.session_id.as_str();
    let directory = question.directory.as_deref();
    let page = MessageOptions {
        limit: question.limit,
        offset: question.offset,
        include_system: question.include_system_messages,
    };
    let entries: Vec<&str> = question.entries.iter().map(|entry| entry.get()).collect();
    let text = question.text.as_deref();
    let info =
        |info: Option<SessionInfo>| info.map_or_else(|| "null".to_owned(), |info| info.to_json());
    Ok(match question.ask.as_str() {
        "list" => SessionInfo::list_to_json(&saved.list(&ListOptions {
            directory: question.directory.clone(),
            limit: question.limit,
            offset: question.offset,
            include_worktrees: question.include_worktrees.unwrap_or(true),
            include_programmatic: true,
        })),
        "info" => info(saved.info(id, directory)),
        "saved" => {
            let operation = SavedOperation::from_json(text.unwrap_or_default());
            let answer = operation.and_then(|operation| operation.run());
            answer.map_err(|error| error.to_string())?
        }
        "messages" => SessionMessage::list_to_json(&saved.messages(id, directory, &page)),
        "subagents" => strings(&saved.subagents(id, directory)),
        "subagent_messages" => {
            let found = saved.subagent_messages(id, &question.agent_id, directory, &page);
            SessionMessage::list_to_json(&found)
        }
        // How many milliseconds the function itself takes.
        "messages_time" => {
            let started = Instant::now();
            let found = saved.messages(id, directory, &page);
            let took = started.elapsed().as_secs_f64() * 1000.0;
            format!("[{took},{}]", found.len())
        }
        "project_key" => quoted(&project_key(directory.unwrap_or(Path::new(".")))),
        "key_of_path" => quoted(&project_key_of_path(text.unwrap_or_default())),
        "entry_messages" => SessionMessage::list_to_json(&messages(&entries, &page)),
        "entry_info" => info(SessionInfo::from_entries(id, &entries, 5, text)),
        "fold" => {
            let mut summary: Option<SessionSummary> = None;
            let mut rest = entries.as_slice();
            for size in question.batches.iter().copied().chain([entries.len()]) {
                let (batch, behind) = rest.split_at(size.min(rest.len()));
                summary = Some(fold_summary(summary.as_ref(), id, batch));
                rest = behind;
            }
            let summary = summary.ok_or("no batch")?;
            let info = info(summary.info(text));
            format!("[{},{info}]", summary.to_json())
        }
        "entry_fork" => {
            let options = ForkOptions {
                up_to_message_id: question.up_to.clone(),
                title: question.text.clone(),
            };
            let fork = fork(id, &entries, &options).map_err(|error| error.to_string())?;
            format!("[{}]", fork.entries.join(","))
        }
        other => return Err(format!("unknown question {other}")),
    })
}

fn strings(list: &[String]) -> String {
    serde_json::Value::from(list).to_string()
}
