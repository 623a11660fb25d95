//! Lists of sessions, from the ends of their transcripts.

use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::SystemTime;

use towline_protocol::launch::Dialect;

use super::archive::Archived;
use super::find::{given, Project};
use super::SavedSessions;
use crate::info::SessionInfo;
use crate::project::{canonical, is_session_id};
use crate::time;
use crate::window::{Windows, WINDOW};

/// Which sessions are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOptions {
    /// The directory the sessions ran in; none and an empty path mean any.
    pub directory: Option<PathBuf>,
    /// At most as many; none and 0 set no limit.
    pub limit: Option<usize>,
    /// Leave out as many of the newest.
    pub offset: usize,
    /// With a directory in a git repository: also those of the other worktrees. On by default.
    pub include_worktrees: bool,
    /// Also those that a program ran: one of the SDKs, or a daemon. On by default.
    pub include_programmatic: bool,
}

impl Default for ListOptions {
    fn default() -> Self {
        ListOptions {
            directory: None,
            limit: None,
            offset: 0,
            include_worktrees: true,
            include_programmatic: true,
        }
    }
}

impl SavedSessions {
    /// The sessions, newest first. Of a session that lies in several projects the newest file
    /// counts. Not listed: subagents' transcripts, and sessions without a title and a prompt.
    ///
    /// With a limit only the newest transcripts are opened. Without one, some threads that live as
    /// long as the call share the reading.
    pub fn list(&self, options: &ListOptions) -> Vec<SessionInfo> {
        let projects = match given(options.directory.as_deref()) {
            Some(directory) => self.projects_of(&canonical(directory), options.include_worktrees),
            None => self.all_projects(),
        };
        let mut files = files_of(&projects);
        files.sort_by(|one, other| {
            let order = other.modified.cmp(&one.modified);
            order.then_with(|| one.session_id.cmp(&other.session_id))
        });
        let limit = options.limit.filter(|limit| *limit > 0);
        let needed = limit.map(|limit| limit.saturating_add(options.offset));
        let mut found = newest(&files, needed, options.include_programmatic, self.dialect);
        found.sort_by_key(|info| std::cmp::Reverse(info.last_modified));
        let found = found.into_iter().skip(options.offset);
        found.take(limit.unwrap_or(usize::MAX)).collect()
    }

    /// What a list would tell of one session; `None` if there is none, or none that it shows.
    pub fn info(&self, session_id: &str, directory: Option<&Path>) -> Option<SessionInfo> {
        let found = self.locate(session_id, directory)?;
        Reader::new(self.dialect).read(&found.file, session_id, found.project.path.as_deref(), true)
    }
}

/// A transcript that may be listed.
struct Candidate<'p> {
    modified: SystemTime,
    session_id: String,
    project: &'p Project,
}

fn files_of(projects: &[Project]) -> Vec<Candidate<'_>> {
    let found = Mutex::new(Vec::new());
    shared(projects.len(), |next| {
        let mut own = Vec::new();
        while let Some(project) = next().and_then(|at| projects.get(at)) {
            let entries = fs::read_dir(&project.folder).into_iter().flatten();
            own.extend(
                entries
                    .flatten()
                    .filter_map(|entry| candidate(&entry, project)),
            );
        }
        if let Ok(mut found) = found.lock() {
            found.append(&mut own);
        }
    });
    found.into_inner().unwrap_or_default()
}

fn candidate<'p>(entry: &DirEntry, project: &'p Project) -> Option<Candidate<'p>> {
    let name = entry.file_name();
    let session_id = name.to_str()?.strip_suffix(".jsonl")?;
    if !is_session_id(session_id) {
        return None;
    }
    let metadata = match entry.file_type().ok()?.is_symlink() {
        true => fs::metadata(entry.path()).ok()?,
        false => entry.metadata().ok()?,
    };
    (metadata.is_file() && metadata.len() > 0).then(|| Candidate {
        modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        session_id: session_id.to_owned(),
        project,
    })
}

/// What the newest transcripts tell, in their order: all of them, or as many as are needed.
fn newest(
    files: &[Candidate<'_>],
    needed: Option<usize>,
    with_programmatic: bool,
    dialect: Dialect,
) -> Vec<SessionInfo> {
    let mut found: Vec<SessionInfo> = Vec::new();
    let mut known = HashSet::new();
    let mut rest = files;
    while !rest.is_empty() {
        let missing = match needed {
            Some(needed) if found.len() >= needed => break,
            Some(needed) => needed - found.len(),
            None => rest.len(),
        };
        let (batch, behind) = rest.split_at(missing.min(rest.len()));
        rest = behind;
        for info in read_all(batch, with_programmatic, dialect) {
            if known.insert(info.session_id.clone()) {
                found.push(info);
            }
        }
    }
    found
}

fn read_all(
    files: &[Candidate<'_>],
    with_programmatic: bool,
    dialect: Dialect,
) -> Vec<SessionInfo> {
    let found = Mutex::new(Vec::with_capacity(files.len()));
    shared(files.len(), |next| {
        let mut reader = Reader::new(dialect);
        let mut own = Vec::new();
        while let Some((at, file)) = next().and_then(|at| Some((at, files.get(at)?))) {
            let path = file
                .project
                .folder
                .join(format!("{}.jsonl", file.session_id));
            let project = file.project.path.as_deref();
            let info = reader.read(&path, &file.session_id, project, with_programmatic);
            own.extend(info.map(|info| (at, info)));
        }
        if let Ok(mut found) = found.lock() {
            found.append(&mut own);
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, info)| info).collect()
}

/// How many items make a thread of its own worth starting.
const WORTH_A_THREAD: usize = 32;

/// Runs `work` on as many threads as `count` items are worth, this one among them. `next` gives
/// each item's number to one of them.
fn shared(count: usize, work: impl Fn(&dyn Fn() -> Option<usize>) + Sync) {
    let taken = AtomicUsize::new(0);
    let next = || Some(taken.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < count);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let others = (count / WORTH_A_THREAD).min(processors).saturating_sub(1);
    if others == 0 {
        return work(&next);
    }
    thread::scope(|scope| {
        for _ in 0..others {
            let worker = thread::Builder::new().name("towline-list".to_owned());
            // Without another thread this one does it all.
            let _ = worker.spawn_scoped(scope, || work(&next));
        }
        work(&next);
    });
}

/// Reads the ends of transcripts, one after another into the same memory.
struct Reader {
    dialect: Dialect,
    head: Box<[u8]>,
    tail: Box<[u8]>,
}

impl Reader {
    fn new(dialect: Dialect) -> Self {
        Reader {
            dialect,
            head: vec![0; WINDOW].into(),
            tail: vec![0; WINDOW].into(),
        }
    }

    fn read(
        &mut self,
        path: &Path,
        session_id: &str,
        project_path: Option<&str>,
        with_programmatic: bool,
    ) -> Option<SessionInfo> {
        let mut file = File::open(path).ok()?;
        let metadata = file.metadata().ok()?;
        let size = metadata.len();
        let head = fill(&mut file, &mut self.head)?;
        let windows = match size.checked_sub(WINDOW as u64) {
            None | Some(0) => Windows { head, tail: head },
            Some(start) => {
                file.seek(SeekFrom::Start(start)).ok()?;
                let tail = fill(&mut file, &mut self.tail)?;
                Windows { head, tail }
            }
        };
        if !with_programmatic && windows.is_programmatic() {
            return None;
        }
        let found = windows.metadata(self.dialect)?;
        let mut info = SessionInfo::of_metadata(session_id, found, project_path);
        info.last_modified = metadata.modified().map_or(0, time::millis);
        info.file_size = Some(size);
        info.archived = Archived::read(path).map(|mark| mark.holds(&windows, self.dialect));
        Some(info)
    }
}

/// Reads a window, or less at the end of the file; nothing at all counts as a failure.
fn fill<'w>(file: &mut File, window: &'w mut [u8]) -> Option<&'w [u8]> {
    let mut length = 0;
    while let Some(rest) = window.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    window.get(..length).filter(|window| !window.is_empty())
}
