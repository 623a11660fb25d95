//! Mirroring transcripts to a store: from `transcript_mirror` lines to calls of a store.
//!
//! [`Mirror`] does no I/O and has no clock: it is fed with lines of the CLI and the time, and
//! drained of calls ([`next_call`](Mirror::next_call)) and of what went wrong
//! ([`next_trouble`](Mirror::next_trouble)). One call is open at a time, so flushes never overlap
//! and the order of entries within a file is the order in which the CLI wrote them.

mod batch;
mod path;
mod trouble;

pub use path::PathStyle;
pub use trouble::{KeyNames, Trouble};

use std::collections::{BTreeSet, VecDeque};

use bytestring::ByteString;
use towline_protocol::framing::RawMessage;
use towline_protocol::json::{self, Elements};

use crate::project::nfc;
use crate::store::{
    CallId, Entry, PendingCall, SessionKey, StoreAnswer, StoreCall, StoreError, StoreErrorKind,
};
use batch::{Batch, Step, Waiting};

/// Milliseconds since a moment of the owner's choice, never going back.
pub type Millis = u64;

/// With more entries waiting than this, a flush begins by itself.
pub const MOST_ENTRIES: usize = 500;
/// With more bytes waiting than this, a flush begins by itself.
pub const MOST_BYTES: usize = 1 << 20;
/// How long a store may take for a call: 60 s.
pub const CALL_LIMIT: Millis = 60_000;
/// The pauses before the second and the third try of a call that failed.
pub const PAUSES: [Millis; 2] = [200, 800];
/// How long lines wait that come after a result: the last ones of a turn, with nothing to follow
/// them.
pub const LATE_LINES: Millis = 1_000;
/// With more bytes than this on their way to a store that is too slow, lines are lost: 64 MiB.
pub const BACKLOG: usize = 64 << 20;

/// Entries of a line with no more bytes than this are copied.
const COPIED: usize = 16 << 10;

/// When entries go to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlushMode {
    /// Before a result is delivered, [`LATE_LINES`] after the first line behind it, at the end, and
    /// whenever more than [`MOST_ENTRIES`] entries or [`MOST_BYTES`] bytes wait.
    #[default]
    Batched,
    /// With every line of the CLI. While a call is open the lines that come are joined.
    Eager,
}

impl FlushMode {
    /// The mode of that name: `batched` or `eager`.
    pub fn named(name: &str) -> Option<FlushMode> {
        match name {
            "batched" => Some(FlushMode::Batched),
            "eager" => Some(FlushMode::Eager),
            _ => None,
        }
    }
}

/// How a [`Mirror`] works.
#[derive(Debug, Clone)]
pub struct MirrorConfig {
    /// The folder of the projects' folders as the CLI writes it, `CONFIG/projects`; more than one
    /// when it has several names. They have to be absolute. None at all: it is found out from each
    /// path ([`PathStyle::session_key_anywhere`]), for a CLI on another machine.
    pub projects: Vec<String>,
    /// Whose rules those paths follow.
    pub path_style: PathStyle,
    /// When entries go to the store.
    pub flush: FlushMode,
    /// How long the store may take for a call.
    pub call_limit: Millis,
    /// The most bytes that may be on their way.
    pub backlog: usize,
}

impl MirrorConfig {
    /// The defaults for transcripts below this folder.
    pub fn new(projects: impl Into<String>) -> MirrorConfig {
        MirrorConfig {
            projects: vec![projects.into()],
            path_style: PathStyle::default(),
            flush: FlushMode::default(),
            call_limit: CALL_LIMIT,
            backlog: BACKLOG,
        }
    }
}

/// Everything that was told before a moment; see [`Mirror::is_stored`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// Transcript lines on their way from the CLI to a store. See the [module](self).
#[derive(Debug)]
pub struct Mirror {
    config: MirrorConfig,
    waiting: Waiting,
    batch: Option<Batch>,
    /// The next batch begins as soon as this one is done.
    flush_again: bool,
    /// Every line is flushed: the session has ended.
    finishing: bool,
    /// The next line is the first one after a flush that was asked for.
    begins_late: bool,
    /// When late lines are flushed.
    late_until: Option<Millis>,
    last_call: u64,
    /// Flushes asked for, those that the open batch answers, and those that are done.
    asked: u64,
    taken: u64,
    done: u64,
    trouble: VecDeque<Trouble>,
    /// The file of the last line and its key: most lines are of the same.
    last_file: Option<(String, SessionKey)>,
    /// Files without a key, each reported once.
    outside: BTreeSet<String>,
    /// Files that lost lines since the last batch was done, each reported once.
    overflowed: Vec<SessionKey>,
}

impl Mirror {
    /// A mirror that was told nothing yet.
    pub fn new(mut config: MirrorConfig) -> Mirror {
        // The CLI writes its paths in the composed form.
        let composed: Vec<String> = config.projects.iter().map(|path| nfc(path)).collect();
        config.projects.extend(composed);
        config.projects.sort();
        config.projects.dedup();
        Mirror {
            config,
            waiting: Waiting::default(),
            batch: None,
            flush_again: false,
            finishing: false,
            begins_late: false,
            late_until: None,
            last_call: 0,
            asked: 0,
            taken: 0,
            done: 0,
            trouble: VecDeque::new(),
            last_file: None,
            outside: BTreeSet::new(),
            overflowed: Vec::new(),
        }
    }

    /// The CLI wrote a `transcript_mirror` line. The entries of a long one are parts of it, which
    /// stays in memory until the store has them; those of a short one are copied.
    pub fn lines(&mut self, message: &RawMessage, now: Millis) {
        let mut path = None;
        let mut entries = "[]";
        // A message is an object, so this cannot fail.
        let _ = json::members(message.json(), |name, value| match name {
            "filePath" => path = json::string(value),
            "entries" => entries = value,
            _ => {}
        });
        let Some(path) = path else {
            return self.trouble.push_back(Trouble::Malformed);
        };
        let same = self.last_file.as_ref().filter(|(last, _)| *last == path);
        let found = match same {
            Some((_, key)) => Some(key.clone()),
            None => self.key_of(&path),
        };
        let Some(key) = found else {
            if !self.outside.contains(path.as_ref()) {
                self.outside.insert(path.clone().into_owned());
                self.trouble.push_back(Trouble::Outside {
                    path: path.into_owned(),
                    projects: self.config.projects.clone(),
                });
            }
            return;
        };
        if same.is_none() {
            self.last_file = Some((path.into_owned(), key.clone()));
        }
        let bytes = entries.len();
        if self.backlog() + bytes > self.config.backlog {
            return self.overflow(key);
        }
        // A short line is a small part of what was read with it, and would keep all of that.
        let entries = match bytes <= COPIED {
            true => ByteString::from(entries),
            false => message.part(entries),
        };
        // What the CLI writes is; a text of the host's own may not be.
        let one_line = memchr::memchr2(b'\n', b'\r', entries.as_bytes()).is_none();
        let mut found = Vec::new();
        for entry in Elements::of(&entries) {
            let entry = entry.map(|text| match one_line {
                true => Entry::of_scanned(entries.slice_ref(text)),
                false => Entry::new(text.to_owned()).ok(),
            });
            match entry {
                Ok(Some(entry)) => found.push(entry),
                _ => self.trouble.push_back(Trouble::Malformed),
            }
        }
        if !found.is_empty() {
            self.waiting.add(key, found, bytes);
        }
        let full = self.waiting.entries() > MOST_ENTRIES || self.waiting.bytes() > MOST_BYTES;
        if full || self.finishing || self.config.flush == FlushMode::Eager {
            self.begin_flush();
        } else if self.begins_late && !self.waiting.is_empty() {
            self.begins_late = false;
            self.late_until = Some(now.saturating_add(LATE_LINES));
        }
    }

    fn key_of(&self, path: &str) -> Option<SessionKey> {
        let style = self.config.path_style;
        if self.config.projects.is_empty() {
            return style.session_key_anywhere(path);
        }
        let mut projects = self.config.projects.iter();
        projects.find_map(|projects| style.session_key(path, projects))
    }

    /// Bytes on their way.
    fn backlog(&self) -> usize {
        let taken = self.batch.as_ref().map_or(0, |batch| batch.bytes);
        self.waiting.bytes() + taken
    }

    fn overflow(&mut self, key: SessionKey) {
        if self.overflowed.contains(&key) {
            return;
        }
        self.overflowed.push(key.clone());
        self.trouble.push_back(Trouble::Lost {
            key,
            error: format!(
                "the store is too slow: more than {} bytes wait for it",
                self.config.backlog
            ),
        });
    }

    /// Has everything told so far stored as soon as may be; the mark tells when it is.
    pub fn flush(&mut self) -> Mark {
        self.asked += 1;
        self.begins_late = true;
        if self.waiting.is_empty() {
            match self.batch {
                // What was told is all in the open batch.
                Some(_) if !self.flush_again => self.taken = self.asked,
                Some(_) => {}
                None => self.done = self.asked,
            }
        } else {
            self.begin_flush();
        }
        Mark(self.asked)
    }

    /// The session is ending: what waits is flushed, and what still comes is flushed at once.
    pub fn finish(&mut self) -> Mark {
        self.finishing = true;
        self.flush()
    }

    fn begin_flush(&mut self) {
        self.late_until = None;
        if self.batch.is_some() {
            self.flush_again = true;
        } else if !self.waiting.is_empty() {
            self.batch = Some(self.waiting.take());
            self.taken = self.asked;
            self.flush_again = false;
        }
    }

    /// Whether everything told before this mark is stored, or was reported as lost.
    pub fn is_stored(&self, mark: Mark) -> bool {
        self.done >= mark.0
    }

    /// Whether nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.batch.is_none() && self.waiting.is_empty()
    }

    /// The next call for the store, always an append. Each is answered by
    /// [`answered`](Mirror::answered); until then there is no other. The mirror keeps the time limit
    /// itself.
    pub fn next_call(&mut self, now: Millis) -> Option<PendingCall> {
        let batch = self.batch.as_mut()?;
        match batch.step {
            Step::Ready => {}
            Step::Pausing { until } if now >= until => {}
            _ => return None,
        }
        let file = batch.files.front()?;
        self.last_call += 1;
        batch.attempts += 1;
        batch.step = Step::Called {
            id: self.last_call,
            until: now.saturating_add(self.config.call_limit),
        };
        let call = StoreCall::Append {
            key: file.key.clone(),
            entries: file.entries.clone(),
        };
        Some(PendingCall {
            id: CallId(self.last_call),
            call,
            timeout_ms: Some(self.config.call_limit),
        })
    }

    /// The store has answered. `false` for a call that is not open any more: its time was up.
    pub fn answered(
        &mut self,
        id: CallId,
        answer: Result<StoreAnswer, StoreError>,
        now: Millis,
    ) -> bool {
        let Some(batch) = &mut self.batch else {
            return false;
        };
        match batch.step {
            Step::Called { id: open, .. } if open == id.0 => {}
            _ => return false,
        }
        match answer {
            Ok(_) => self.next_file(),
            Err(error) => {
                let pause = PAUSES.get(batch.attempts.saturating_sub(1));
                match pause.filter(|_| error.kind == StoreErrorKind::Failed) {
                    Some(pause) => {
                        batch.step = Step::Pausing {
                            until: now.saturating_add(*pause),
                        }
                    }
                    None => self.lost(error.to_string()),
                }
            }
        }
        true
    }

    /// When [`handle_timeout`](Mirror::handle_timeout) has to be called at the latest.
    pub fn deadline(&self) -> Option<Millis> {
        let step = self.batch.as_ref().map(|batch| batch.step);
        let step = match step {
            Some(Step::Called { until, .. } | Step::Pausing { until }) => Some(until),
            Some(Step::Ready) | None => None,
        };
        [step, self.late_until].into_iter().flatten().min()
    }

    /// Flushes late lines that have waited long enough, and gives a call up whose time has passed:
    /// it may still land, so it is not tried again. When the session has ended, what else waits for
    /// a store that does not answer is given up with it. After this [`next_call`](Mirror::next_call) may have something.
    pub fn handle_timeout(&mut self, now: Millis) {
        if self.late_until.is_some_and(|until| now >= until) {
            self.begin_flush();
        }
        let Some(batch) = &self.batch else { return };
        match batch.step {
            Step::Called { until, .. } if now >= until => {
                let limit = self.config.call_limit;
                let late = StoreError::timeout("SessionStore.append()", limit).message;
                self.lost(late);
                while self.finishing && self.batch.is_some() {
                    self.lost("the store did not answer the call before".into());
                }
            }
            _ => {}
        }
    }

    /// The first file of the batch is given up.
    fn lost(&mut self, error: String) {
        let file = self.batch.as_ref().and_then(|batch| batch.files.front());
        if let Some(file) = file {
            let key = file.key.clone();
            self.trouble.push_back(Trouble::Lost { key, error });
        }
        self.next_file();
    }

    fn next_file(&mut self) {
        let Some(batch) = &mut self.batch else { return };
        batch.next_file();
        if !batch.files.is_empty() {
            return;
        }
        self.batch = None;
        self.done = self.taken;
        self.overflowed.clear();
        if self.flush_again || self.finishing {
            self.begin_flush();
        }
        if self.batch.is_none() {
            self.flush_again = false;
            self.done = self.asked;
        }
    }

    /// The next thing that went wrong; none of them ends a session.
    pub fn next_trouble(&mut self) -> Option<Trouble> {
        self.trouble.pop_front()
    }
}
