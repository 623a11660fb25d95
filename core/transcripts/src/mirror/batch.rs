//! Entries on their way to a store: waiting, joined per file, one batch at a time.

use crate::store::{Entry, SessionKey};

/// What one file has new, in order.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    pub(super) key: SessionKey,
    pub(super) entries: Vec<Entry>,
}

/// Entries that no batch has taken yet, joined per file in the order of the files' first lines.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    files: Vec<Lines>,
    entries: usize,
    bytes: usize,
}

impl Waiting {
    pub(super) fn add(&mut self, key: SessionKey, entries: Vec<Entry>, bytes: usize) {
        self.entries += entries.len();
        self.bytes += bytes;
        match self.files.iter_mut().find(|file| file.key == key) {
            Some(file) => file.entries.extend(entries),
            None => self.files.push(Lines { key, entries }),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Everything, as a batch.
    pub(super) fn take(&mut self) -> Batch {
        let all = std::mem::take(self);
        Batch {
            bytes: all.bytes,
            files: all.files.into(),
            attempts: 0,
            step: Step::Ready,
        }
    }
}

/// Entries of which a store has been or will be told, one file at a time.
#[derive(Debug)]
pub(super) struct Batch {
    /// The first one is at work.
    pub(super) files: std::collections::VecDeque<Lines>,
    /// Calls made for the first file.
    pub(super) attempts: usize,
    pub(super) step: Step,
    pub(super) bytes: usize,
}

/// Where the first file of a batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Its call is to be made.
    Ready,
    /// A call was made and has until this time.
    Called { id: u64, until: u64 },
    /// The call failed; the next one is made at this time.
    Pausing { until: u64 },
}

impl Batch {
    /// The first file is done with, well or not.
    pub(super) fn next_file(&mut self) {
        self.files.pop_front();
        self.attempts = 0;
        self.step = Step::Ready;
    }
}
