//! Conversations read from their files.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::SavedSessions;
use crate::entry;
use crate::messages::{of_entries, subagent_of_entries, MessageOptions, Parents, SessionMessage};

impl SavedSessions {
    /// The conversation of a session, oldest message first; empty if there is no such session.
    pub fn messages(
        &self,
        session_id: &str,
        directory: Option<&Path>,
        options: &MessageOptions,
    ) -> Vec<SessionMessage<'static>> {
        self.with_messages(session_id, directory, options, owned)
    }

    /// As [`messages`](Self::messages), for `work` alone, which gets them as parts of the file's
    /// text.
    pub fn with_messages<T>(
        &self,
        session_id: &str,
        directory: Option<&Path>,
        options: &MessageOptions,
        work: impl FnOnce(&[SessionMessage<'_>]) -> T,
    ) -> T {
        let file = self.transcript(session_id, directory);
        let Some(text) = file.and_then(|file| text_of(&file).ok()) else {
            return work(&[]);
        };
        work(&of_entries(&entry::of_lines(&text), options))
    }

    /// The ids of a session's subagents, by the order of their files' names.
    pub fn subagents(&self, session_id: &str, directory: Option<&Path>) -> Vec<String> {
        let mut known = HashSet::new();
        self.subagent_transcripts(session_id, directory)
            .into_iter()
            .filter_map(|file| agent_id(&file).map(str::to_owned))
            .filter(|id| known.insert(id.clone()))
            .collect()
    }

    /// The conversation of a subagent, oldest message first; empty if there is none.
    pub fn subagent_messages(
        &self,
        session_id: &str,
        agent: &str,
        directory: Option<&Path>,
        options: &MessageOptions,
    ) -> Vec<SessionMessage<'static>> {
        self.with_subagent_messages(session_id, agent, directory, options, owned)
    }

    /// As [`subagent_messages`](Self::subagent_messages), for `work` alone, which gets them as parts
    /// of the file's text.
    pub fn with_subagent_messages<T>(
        &self,
        session_id: &str,
        agent: &str,
        directory: Option<&Path>,
        options: &MessageOptions,
        work: impl FnOnce(&[SessionMessage<'_>]) -> T,
    ) -> T {
        let files = self.subagent_transcripts(session_id, directory);
        let Some(file) = files.into_iter().find(|file| agent_id(file) == Some(agent)) else {
            return work(&[]);
        };
        let metadata = fs::read_to_string(file.with_extension("meta.json"));
        let parents = Parents::from_metadata(&metadata.unwrap_or_default());
        let Ok(text) = text_of(&file) else {
            return work(&[]);
        };
        let entries = entry::of_lines(&text);
        work(&subagent_of_entries(&entries, &parents, options))
    }

    /// The transcripts of a session's subagents, in folders of their own too.
    pub fn subagent_transcripts(&self, session_id: &str, directory: Option<&Path>) -> Vec<PathBuf> {
        let mut files = Vec::new();
        if let Some(transcript) = self.transcript(session_id, directory) {
            let folder = transcript.with_extension("").join("subagents");
            collect(&folder, &mut files, &mut HashSet::new());
        }
        files
    }
}

fn owned(messages: &[SessionMessage<'_>]) -> Vec<SessionMessage<'static>> {
    let messages = messages.iter().cloned();
    messages.map(SessionMessage::into_owned).collect()
}

/// The text of a file; bytes that are no UTF-8 become U+FFFD, so that they damage one line only.
pub(super) fn text_of(file: &Path) -> io::Result<String> {
    Ok(match String::from_utf8(fs::read(file)?) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

/// Adds the transcripts of a folder and of those in it. A folder that a link leads back to is
/// visited once.
fn collect(folder: &Path, files: &mut Vec<PathBuf>, visited: &mut HashSet<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    if !folder.canonicalize().is_ok_and(|real| visited.insert(real)) {
        return;
    }
    for path in paths {
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => collect(&path, files, visited),
            Ok(metadata) if metadata.is_file() && agent_id(&path).is_some() => files.push(path),
            _ => {}
        }
    }
}

/// The subagent whose transcript a file is by its name.
fn agent_id(file: &Path) -> Option<&str> {
    let name = file.file_name()?.to_str()?;
    name.strip_prefix("agent-")?.strip_suffix(".jsonl")
}
