//! A store that is a folder of JSON lines files, laid out as the CLI's `projects`.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use bytestring::ByteString;
use rustix::fs::{flock, FlockOperation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::layout::{session_id_of, subpath_of, Layout};
use super::{milliseconds, not_yet_there};
use crate::store::folding::fold;
use crate::store::{
    Capabilities, Entry, SessionKey, SessionStore, SessionSummaryEntry, StoreError, StoreListEntry,
};

/// Of how many transcripts it is remembered which entries they hold.
const REMEMBERED: usize = 64;
/// How often a file that is deleted under our hands is made again.
const TRIES: usize = 100;

/// Keeps each transcript in a file of JSON lines, 0600, that only grows.
///
/// Processes on one machine may append to one transcript at once: an append locks the file
/// (`flock`), is one write, and returns when the disk has it. A process that dies while writing
/// leaves at most a line that is no entry, which nobody gets to see. Summaries stand beside the
/// transcripts in `.summaries` and are folded anew when they do not fit.
#[derive(Debug)]
pub struct DirectoryStore {
    layout: Layout,
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// What has been read of a transcript so far.
#[derive(Debug, Default, Clone)]
struct Known {
    inode: (u64, u64),
    length: u64,
    uuids: HashSet<String>,
    /// The folded summary; only of sessions' own transcripts.
    summary: Option<String>,
}

#[derive(Deserialize)]
struct Sidecar<'a> {
    size: u64,
    #[serde(borrow)]
    data: &'a RawValue,
}

#[derive(Serialize)]
struct SidecarOut<'a> {
    /// The length of the transcript that the summary covers.
    size: u64,
    data: &'a RawValue,
}

impl DirectoryStore {
    /// Opens the folder, making it (0700) if it is not there.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let root = root.into();
        make_folder(&root).map_err(|error| at(&root, error))?;
        Ok(DirectoryStore {
            layout: Layout::new(root),
            known: Mutex::default(),
        })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, path: &Path, known: Known) {
        let mut all = self.known();
        if all.len() >= REMEMBERED {
            if let Some(some) = all.keys().next().cloned() {
                all.remove(&some);
            }
        }
        all.insert(path.to_owned(), known);
    }

    /// Reads what the file, which is locked, has grown by since it was last looked at.
    fn caught_up(&self, path: &Path, file: &File, key: &SessionKey) -> Result<Known, StoreError> {
        let metadata = file.metadata().map_err(|error| at(path, error))?;
        let inode = (metadata.dev(), metadata.ino());
        let remembered = self.known().remove(path);
        let mut known = remembered
            .filter(|known| known.inode == inode && known.length <= metadata.len())
            .unwrap_or_default();
        known.inode = inode;
        if known.length < metadata.len() {
            let entries = read_from(file, known.length).map_err(|error| at(path, error))?;
            let uuids = entries.iter().filter_map(|entry| entry.uuid());
            known.uuids.extend(uuids.map(|uuid| uuid.into_owned()));
            if key.subpath().is_none() {
                let folded = fold(known.summary.as_deref(), &key.session_id, &entries);
                known.summary = Some(folded);
            }
            known.length = metadata.len();
        }
        Ok(known)
    }

    /// Leaves the summary beside the transcript, which is locked. It is only a help: where it
    /// cannot be written, it is folded from the transcript.
    fn write_summary(&self, key: &SessionKey, known: &Known) {
        let write = || -> Option<()> {
            let data = known.summary.as_deref()?;
            let text = serde_json::to_string(&SidecarOut {
                size: known.length,
                data: serde_json::from_str(data).ok()?,
            })
            .ok()?;
            let path = self
                .layout
                .summary(&key.project_key, &key.session_id)
                .ok()?;
            make_folder(path.parent()?).ok()?;
            let unfinished = path.with_extension("json.new");
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options
                .open(&unfinished)
                .ok()?
                .write_all(text.as_bytes())
                .ok()?;
            fs::rename(&unfinished, &path).ok()
        };
        write();
    }

    /// The summary of one session, from its sidecar if that covers the whole transcript.
    fn summary(&self, key: &SessionKey, size: u64) -> Result<Option<String>, StoreError> {
        let sidecar = self.layout.summary(&key.project_key, &key.session_id)?;
        if let Ok(text) = fs::read_to_string(&sidecar) {
            if let Ok(read) = serde_json::from_str::<Sidecar<'_>>(&text) {
                if read.size == size {
                    return Ok(Some(read.data.get().to_owned()));
                }
            }
        }
        let path = self.layout.transcript(key)?;
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        let (file, locked) = match opened {
            Ok(file) => {
                lock(&file).map_err(|error| at(&path, error))?;
                (file, true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(_) => (File::open(&path).map_err(|error| at(&path, error))?, false),
        };
        let known = self.caught_up(&path, &file, key)?;
        if locked {
            self.write_summary(key, &known);
        }
        let summary = known.summary.clone();
        self.remember(&path, known);
        Ok(summary)
    }
}

impl SessionStore for DirectoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let path = self.layout.transcript(key)?;
        let file = open_locked(&path).map_err(|error| at(&path, error))?;
        let mut known = self.caught_up(&path, &file, key)?;
        let fresh = not_yet_there(entries, |uuid| known.uuids.contains(uuid));
        if !fresh.is_empty() {
            let added: Vec<&Entry> = fresh.iter().map(|(_, entry)| *entry).collect();
            let written = write_lines(&file, known.length, &added);
            known.length += written.map_err(|error| at(&path, error))?;
            if key.subpath().is_none() {
                let folded = fold(known.summary.as_deref(), &key.session_id, &added);
                known.summary = Some(folded);
            }
            known
                .uuids
                .extend(fresh.into_iter().filter_map(|(uuid, _)| uuid));
            self.write_summary(key, &known);
        }
        self.remember(&path, known);
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let path = self.layout.transcript(key)?;
        let read = File::open(&path).and_then(|file| read_from(&file, 0));
        match read {
            Ok(entries) if entries.is_empty() => Ok(None),
            Ok(entries) => Ok(Some(entries)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(at(&path, error)),
        }
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let sessions = sessions_in(&self.layout.project(project_key)?)?;
        let listed = sessions.into_iter().map(|(entry, _)| entry);
        Ok(listed.collect())
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        let mut summaries = Vec::new();
        for (entry, size) in sessions_in(&self.layout.project(project_key)?)? {
            let key = SessionKey::main(project_key, &entry.session_id);
            if let Some(data) = self.summary(&key, size)? {
                summaries.push(SessionSummaryEntry::new(
                    entry.session_id,
                    entry.mtime,
                    data,
                )?);
            }
        }
        Ok(summaries)
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        let path = self.layout.transcript(key)?;
        self.known().remove(&path);
        gone(fs::remove_file(&path)).map_err(|error| at(&path, error))?;
        if key.subpath().is_none() {
            let summary = self.layout.summary(&key.project_key, &key.session_id)?;
            gone(fs::remove_file(&summary)).map_err(|error| at(&summary, error))?;
            let folder = self.layout.session(&key.project_key, &key.session_id)?;
            gone(fs::remove_dir_all(&folder)).map_err(|error| at(&folder, error))?;
        }
        Ok(())
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.layout.session(project_key, session_id)?;
        let mut subkeys = Vec::new();
        let mut open = vec![folder.clone()];
        while let Some(inner) = open.pop() {
            for (path, metadata) in files_in(&inner)? {
                if metadata.is_dir() {
                    open.push(path);
                } else if metadata.is_file() && metadata.len() > 0 {
                    let below = path.strip_prefix(&folder).ok();
                    subkeys.extend(below.and_then(subpath_of));
                }
            }
        }
        Ok(subkeys)
    }
}

/// The sessions in a project's folder with the lengths of their transcripts.
fn sessions_in(folder: &Path) -> Result<Vec<(StoreListEntry, u64)>, StoreError> {
    let mut sessions = Vec::new();
    for (path, metadata) in files_in(folder)? {
        let name = path.file_name().and_then(|name| name.to_str());
        let session_id = name.and_then(session_id_of);
        if let (Some(session_id), true) = (session_id, metadata.is_file() && metadata.len() > 0) {
            let mtime = metadata.modified().map_err(|error| at(&path, error))?;
            let entry = StoreListEntry {
                session_id,
                mtime: milliseconds(mtime),
            };
            sessions.push((entry, metadata.len()));
        }
    }
    Ok(sessions)
}

/// What stands in a folder; nothing if there is none. Symbolic links are left out of account.
fn files_in(folder: &Path) -> Result<Vec<(PathBuf, fs::Metadata)>, StoreError> {
    let read = match fs::read_dir(folder) {
        Ok(read) => read,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(at(folder, error)),
    };
    let mut files = Vec::new();
    for file in read {
        let file = file.map_err(|error| at(folder, error))?;
        match file.metadata() {
            Ok(metadata) => files.push((file.path(), metadata)),
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(at(&file.path(), error)),
        }
    }
    Ok(files)
}

/// The entries of the lines from `offset` on. What is no entry is passed over.
fn read_from(mut file: &File, offset: u64) -> io::Result<Vec<Entry>> {
    file.seek(SeekFrom::Start(offset))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    let text = Bytes::from(text);
    let mut entries = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let line = ByteString::try_from(text.slice_ref(line)).ok();
        entries.extend(line.and_then(|line| Entry::new(line).ok()));
    }
    Ok(entries)
}

/// Adds lines to the end of the file, which is `length` long and locked, and returns how much it
/// has grown when the disk has it. After a failure the file is as it was.
fn write_lines(mut file: &File, length: u64, entries: &[&Entry]) -> io::Result<u64> {
    let mut lines = String::new();
    if length > 0 {
        let mut last = [0];
        file.read_exact_at(&mut last, length - 1)?;
        if last != *b"\n" {
            // Somebody died while writing this line.
            lines.push('\n');
        }
    }
    for entry in entries {
        lines.push_str(entry.as_str());
        lines.push('\n');
    }
    let written = file
        .write_all(lines.as_bytes())
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        file.set_len(length)?;
        return Err(error);
    }
    Ok(lines.len() as u64)
}

/// Opens a transcript for appending and locks it against other writers.
fn open_locked(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    for _ in 0..TRIES {
        make_folder(folder)?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let file = match options.open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        lock(&file)?;
        let metadata = file.metadata()?;
        // Deleted while we waited for the lock: what we wrote would be lost.
        match fs::metadata(path) {
            Ok(now) if (now.dev(), now.ino()) == (metadata.dev(), metadata.ino()) => {}
            Ok(_) => continue,
            Err(error) if is_absent(&error) => continue,
            Err(error) => return Err(error),
        }
        if metadata.len() == 0 {
            File::open(folder)?.sync_all()?;
        }
        return Ok(file);
    }
    Err(io::Error::other(
        "the transcript is deleted again and again",
    ))
}

fn lock(file: &File) -> io::Result<()> {
    loop {
        match flock(file, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Removing what is not there has succeeded.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if is_absent(&error) => Ok(()),
        other => other,
    }
}

fn at(path: &Path, error: io::Error) -> StoreError {
    StoreError::failed(format_args!("{}: {error}", path.display()))
}
