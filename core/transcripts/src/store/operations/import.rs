//! Bringing a session from this machine's disk into a store.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::{checked, not_found};
use crate::json::Object;
use crate::store::{Calls, Capabilities, Entry, SessionKey, StoreTask, TaskError};
use crate::{Error, SavedSessions};
use towline_protocol::json;

/// How much one append carries at most.
const BATCH_ENTRIES: usize = 500;
const BATCH_BYTES: usize = 1 << 20;

/// What is imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportOptions {
    /// The directory the session ran in; without it all projects are searched.
    pub directory: Option<PathBuf>,
    /// Also the transcripts of its subagents and what is known about them. On by default.
    pub include_subagents: bool,
    /// How many entries one append carries at most; 500 by default and instead of 0. An append is
    /// not much larger than 1 MiB either.
    pub batch_size: usize,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            directory: None,
            include_subagents: true,
            batch_size: BATCH_ENTRIES,
        }
    }
}

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The project key: the name of the folder that the session was found in, under which a mirror
    /// of the session would stand too.
    pub project_key: String,
    /// How many entries were handed to the store.
    pub entries: u64,
    /// How many lines were left out since they are no JSON objects: damaged, or just being written.
    pub skipped_lines: u64,
}

/// Appends the transcript of a session, read line by line while the task is driven, to a store.
/// Done again, a store that recognises entries by their `uuid` adds only what is new.
pub fn import(
    capabilities: Capabilities,
    saved: SavedSessions,
    session_id: String,
    options: ImportOptions,
) -> StoreTask<Imported> {
    StoreTask::new(capabilities, move |calls| async move {
        checked(&session_id)?;
        let Some(transcript) = saved.transcript(&session_id, options.directory.as_deref()) else {
            return Err(not_found(&session_id));
        };
        let project = transcript
            .parent()
            .and_then(Path::file_name)
            .unwrap_or_default();
        let mut import = Import {
            calls,
            batch_size: match options.batch_size {
                0 => BATCH_ENTRIES,
                size => size,
            },
            done: Imported {
                project_key: project.to_string_lossy().into_owned(),
                entries: 0,
                skipped_lines: 0,
            },
        };
        let key = SessionKey::main(&import.done.project_key, &session_id);
        import.transcript(&transcript, &key).await?;
        if options.include_subagents {
            let folder = transcript.with_extension("");
            let mut files = Vec::new();
            collect(&folder.join("subagents"), &mut files);
            for file in files {
                let Some(subpath) = subpath(&folder, &file) else {
                    continue;
                };
                let key = key.with_subpath(subpath);
                import.transcript(&file, &key).await?;
                if let Some(entry) = metadata(&file)? {
                    import.append(&key, vec![entry]).await?;
                }
            }
        }
        Ok(import.done)
    })
}

struct Import {
    calls: Calls,
    batch_size: usize,
    done: Imported,
}

impl Import {
    async fn transcript(&mut self, file: &Path, key: &SessionKey) -> Result<(), TaskError> {
        let mut lines = BufReader::new(File::open(file).map_err(|error| io_error(file, error))?);
        let (mut batch, mut bytes) = (Vec::new(), 0);
        loop {
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line);
            if read.map_err(|error| io_error(file, error))? == 0 {
                break;
            }
            while line.last().is_some_and(u8::is_ascii_whitespace) {
                line.pop();
            }
            if line.is_empty() {
                continue;
            }
            bytes += line.len();
            let text = String::from_utf8_lossy(&line).into_owned();
            match Entry::new(text) {
                Ok(entry) => batch.push(entry),
                Err(_) => self.done.skipped_lines += 1,
            }
            if batch.len() >= self.batch_size || bytes >= BATCH_BYTES {
                self.append(key, std::mem::take(&mut batch)).await?;
                bytes = 0;
            }
        }
        self.append(key, batch).await
    }

    async fn append(&mut self, key: &SessionKey, entries: Vec<Entry>) -> Result<(), TaskError> {
        if entries.is_empty() {
            return Ok(());
        }
        let count = entries.len() as u64;
        self.calls.append(key.clone(), entries).await?;
        self.done.entries += count;
        Ok(())
    }
}

/// The transcripts of a folder and of those in it, by name. Links to folders are not followed:
/// they could lead back, or to other sessions.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "jsonl") && path.is_file() {
            files.push(path);
        }
    }
}

/// Where a file stands below its session's folder: `subagents/agent-1`.
fn subpath(folder: &Path, file: &Path) -> Option<String> {
    let below = file.strip_prefix(folder).ok()?.with_extension("");
    let parts: Option<Vec<&str>> = below
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}

/// The entry that stands in a store for the file beside a subagent's transcript. A file that is no
/// JSON object tells nothing.
fn metadata(transcript: &Path) -> Result<Option<Entry>, TaskError> {
    let file = transcript.with_extension("meta.json");
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error(&file, error)),
    };
    let text = String::from_utf8_lossy(&text);
    let mut entry = Object::with_capacity(text.len() + 32);
    let scanned = json::members(&text, |name, value| {
        if name != "type" {
            entry.raw(name, value);
        }
    });
    entry.string("type", "agent_metadata");
    Ok(scanned.ok().and_then(|()| Entry::new(entry.end()).ok()))
}

fn io_error(path: &Path, source: io::Error) -> TaskError {
    Error::Io {
        path: path.to_owned(),
        source,
    }
    .into()
}
