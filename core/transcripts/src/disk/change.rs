//! Changes to saved sessions, also while a CLI writes them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::archive::{mark_of, mark_text};
use super::find::{given, Found};
use super::private;
use super::read::text_of;
use super::SavedSessions;
use crate::change::{checked_id, tag_object, title_object};
use crate::entry;
use crate::error::Error;
use crate::fork::{fork_titled, ForkOptions};
use crate::json::Object;
use crate::window::{Windows, WINDOW};

/// Each looks for the session as [`transcript`](SavedSessions::transcript) does.
impl SavedSessions {
    /// Gives a session a title, without the white space around it. The last one counts.
    ///
    /// The line is appended in one piece, so a CLI that runs the session may write at the same time.
    pub fn rename(
        &self,
        session_id: &str,
        title: &str,
        directory: Option<&Path>,
    ) -> Result<(), Error> {
        self.append(session_id, title_object(session_id, title)?, directory)
    }

    /// Tags a session; `None` takes the tag away. See [`tag_entry`](crate::tag_entry) for what is
    /// kept of a tag. Appended as a title is.
    pub fn tag(
        &self,
        session_id: &str,
        tag: Option<&str>,
        directory: Option<&Path>,
    ) -> Result<(), Error> {
        self.append(session_id, tag_object(session_id, tag)?, directory)
    }

    /// Marks a session as archived. It stays on disk and in lists; a later prompt in it takes it
    /// out again. Of a session in several projects each file is marked.
    pub fn archive(&self, session_id: &str, directory: Option<&Path>) -> Result<(), Error> {
        self.mark(session_id, true, directory)
    }

    /// Takes a session out of the archive.
    pub fn unarchive(&self, session_id: &str, directory: Option<&Path>) -> Result<(), Error> {
        self.mark(session_id, false, directory)
    }

    /// Deletes a session: its transcript, then its folder with the subagents' transcripts.
    pub fn delete(&self, session_id: &str, directory: Option<&Path>) -> Result<(), Error> {
        let file = self.existing(session_id, directory)?.file;
        fs::remove_file(&file).map_err(|source| match source.kind() {
            ErrorKind::NotFound => not_found(session_id, directory),
            _ => failed(&file, source),
        })?;
        let folder = file.with_extension("");
        match fs::remove_dir_all(&folder) {
            Err(source) if source.kind() != ErrorKind::NotFound => Err(failed(&folder, source)),
            _ => Ok(()),
        }
    }

    /// Copies a session as a new one beside it and returns the new session's id; see
    /// [`fork`](crate::fork). Nobody sees the new file before it is complete.
    pub fn fork(
        &self,
        session_id: &str,
        directory: Option<&Path>,
        options: &ForkOptions,
    ) -> Result<String, Error> {
        let found = self.existing(session_id, directory)?;
        let text = text_of(&found.file).map_err(|source| failed(&found.file, source))?;
        let title = || {
            let bytes = text.as_bytes();
            let windows = Windows {
                head: bytes.get(..WINDOW).unwrap_or(bytes),
                tail: bytes
                    .get(bytes.len().saturating_sub(WINDOW)..)
                    .unwrap_or(bytes),
            };
            windows.title_or_prompt(self.dialect)
        };
        let fork = fork_titled(session_id, entry::lines(&text), options, title)?;
        let file = found
            .project
            .folder
            .join(format!("{}.jsonl", fork.session_id));
        let content = fork.entries.join("\n") + "\n";
        private::create(&file, content.as_bytes()).map_err(|source| failed(&file, source))?;
        Ok(fork.session_id)
    }

    fn existing(&self, session_id: &str, directory: Option<&Path>) -> Result<Found, Error> {
        checked_id(session_id)?;
        self.locate(session_id, directory)
            .ok_or_else(|| not_found(session_id, directory))
    }

    fn append(
        &self,
        session_id: &str,
        line: Object,
        directory: Option<&Path>,
    ) -> Result<(), Error> {
        let file = self.existing(session_id, directory)?.file;
        append_line(&file, &line.end()).map_err(|source| match source.kind() {
            ErrorKind::NotFound => not_found(session_id, directory),
            _ => failed(&file, source),
        })
    }

    fn mark(
        &self,
        session_id: &str,
        archived: bool,
        directory: Option<&Path>,
    ) -> Result<(), Error> {
        checked_id(session_id)?;
        let files = self.locate_all(session_id, directory);
        if files.is_empty() {
            return Err(not_found(session_id, directory));
        }
        let text = mark_text(archived);
        for file in files {
            let mark = mark_of(&file);
            private::replace(&mark, text.as_bytes()).map_err(|source| failed(&mark, source))?;
        }
        Ok(())
    }
}

fn not_found(session_id: &str, directory: Option<&Path>) -> Error {
    Error::NotFound {
        session_id: session_id.to_owned(),
        directory: given(directory).map(Path::to_path_buf),
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_path_buf(),
        source,
    }
}

/// How often a last line without an end is looked at again, and how long is waited between: together
/// longer than a writer is kept from going on with one write.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Appends a line to a file that exists, with one write at its end wherever that is by then.
fn append_line(file: &Path, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(file)?;
    if file.metadata()?.len() == 0 {
        return Err(ErrorKind::NotFound.into());
    }
    let mut text = String::with_capacity(line.len() + 2);
    if !line_is_ended(&mut file)? {
        // The writer of the last line has died within it: only that line is lost.
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    file.write_all(text.as_bytes())
}

/// Whether the last line has its end. A long line that another writer is writing right now may be
/// seen in part, so one that lacks it is looked at again.
fn line_is_ended(file: &mut File) -> io::Result<bool> {
    for _ in 0..LOOKS {
        if ends_a_line(file)? {
            return Ok(true);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    ends_a_line(file)
}

fn ends_a_line(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
