//! A store in this process's memory.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{not_yet_there, now_ms};
use crate::store::folding::fold;
use crate::store::{
    Capabilities, Entry, SessionKey, SessionStore, SessionSummaryEntry, StoreError, StoreListEntry,
};

/// Keeps transcripts until it is dropped. For tests, and to hand sessions on inside a process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    transcripts: BTreeMap<SessionKey, Transcript>,
    last_mtime: i64,
}

#[derive(Debug, Default)]
struct Transcript {
    entries: Vec<Entry>,
    uuids: HashSet<String>,
    mtime: i64,
    summary: Option<String>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        MemoryStore::default()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key as it is kept: no empty subpath.
fn kept_key(key: &SessionKey) -> SessionKey {
    SessionKey {
        subpath: key.subpath().map(str::to_owned),
        ..key.clone()
    }
}

impl SessionStore for MemoryStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let kept = &mut *self.lock();
        // Two appends in one millisecond still differ in their time.
        kept.last_mtime = now_ms().max(kept.last_mtime + 1);
        let transcript = kept.transcripts.entry(kept_key(key)).or_default();
        let fresh = not_yet_there(entries, |uuid| transcript.uuids.contains(uuid));
        if key.subpath().is_none() {
            let added: Vec<&Entry> = fresh.iter().map(|(_, entry)| *entry).collect();
            transcript.summary = Some(fold(transcript.summary.as_deref(), &key.session_id, &added));
        }
        for (uuid, entry) in fresh {
            transcript.entries.push(entry.clone());
            transcript.uuids.extend(uuid);
        }
        transcript.mtime = kept.last_mtime;
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let kept = self.lock();
        let transcript = kept.transcripts.get(&kept_key(key));
        Ok(transcript.map(|transcript| transcript.entries.clone()))
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let kept = self.lock();
        let sessions = kept
            .transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key && key.subpath.is_none())
            .map(|(key, transcript)| StoreListEntry {
                session_id: key.session_id.clone(),
                mtime: transcript.mtime,
            });
        Ok(sessions.collect())
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        let kept = self.lock();
        kept.transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key)
            .filter_map(|(key, transcript)| {
                let data = transcript.summary.clone()?;
                Some(SessionSummaryEntry::new(
                    &key.session_id,
                    transcript.mtime,
                    data,
                ))
            })
            .collect()
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        let mut kept = self.lock();
        match key.subpath() {
            Some(_) => {
                kept.transcripts.remove(key);
            }
            None => kept.transcripts.retain(|other, _| {
                other.project_key != key.project_key || other.session_id != key.session_id
            }),
        }
        Ok(())
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        let kept = self.lock();
        let below = kept
            .transcripts
            .keys()
            .filter(|key| key.project_key == project_key && key.session_id == session_id)
            .filter_map(|key| key.subpath.clone());
        Ok(below.collect())
    }
}
