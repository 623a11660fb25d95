//! A store that blocks.

use super::{
    Capabilities, Entry, SessionKey, SessionSummaryEntry, StoreAnswer, StoreCall, StoreError,
    StoreListEntry, StoreTask, TaskError,
};

/// A place where transcripts are kept. Its calls block until they are done and may come from any
/// thread, several at once.
///
/// `append` and `load` are required; [`SessionStore::capabilities`] tells which others there are.
/// `conformance::check` proves what a store has to do.
pub trait SessionStore: Send + Sync {
    /// Which of the optional calls are implemented.
    fn capabilities(&self) -> Capabilities;

    /// Adds entries to the end of a transcript, in order, and returns when they are safe. Entries
    /// whose `uuid` is already there are skipped; those without one are always added. No entries:
    /// nothing happens.
    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError>;

    /// All entries of a transcript in the order of their appends; `None` if it was never written.
    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError>;

    /// The sessions of a project (no subpaths), in any order.
    fn list_sessions(&self, _project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        Err(StoreError::unsupported("list_sessions"))
    }

    /// The folded summaries of a project's sessions, in any order.
    fn list_session_summaries(
        &self,
        _project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        Err(StoreError::unsupported("list_session_summaries"))
    }

    /// Forgets a transcript; without a subpath also everything below the session. What is not
    /// there is no error.
    fn delete(&self, _key: &SessionKey) -> Result<(), StoreError> {
        Err(StoreError::unsupported("delete"))
    }

    /// The subpaths that exist below a session, in any order.
    fn list_subkeys(
        &self,
        _project_key: &str,
        _session_id: &str,
    ) -> Result<Vec<String>, StoreError> {
        Err(StoreError::unsupported("list_subkeys"))
    }

    /// Does one call.
    fn call(&self, call: &StoreCall) -> Result<StoreAnswer, StoreError> {
        match call {
            StoreCall::Append { key, entries } => {
                self.append(key, entries).map(|()| StoreAnswer::Done)
            }
            StoreCall::Load { key } => self.load(key).map(StoreAnswer::Entries),
            StoreCall::ListSessions { project_key } => {
                self.list_sessions(project_key).map(StoreAnswer::Sessions)
            }
            StoreCall::ListSessionSummaries { project_key } => self
                .list_session_summaries(project_key)
                .map(StoreAnswer::Summaries),
            StoreCall::Delete { key } => self.delete(key).map(|()| StoreAnswer::Done),
            StoreCall::ListSubkeys { key } => self
                .list_subkeys(&key.project_key, &key.session_id)
                .map(StoreAnswer::Subkeys),
        }
    }
}

impl<S: SessionStore + ?Sized> SessionStore for std::sync::Arc<S> {
    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        (**self).append(key, entries)
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        (**self).load(key)
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        (**self).list_sessions(project_key)
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        (**self).list_session_summaries(project_key)
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        (**self).delete(key)
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        (**self).list_subkeys(project_key, session_id)
    }
}

/// Does a task with a blocking store, one call after another on this thread. Time limits are the
/// store's own affair here: a call that blocks cannot be given up.
pub fn run<T>(mut task: StoreTask<T>, store: &dyn SessionStore) -> Result<T, TaskError> {
    while let Some(pending) = task.next_call() {
        let answer = store.call(&pending.call);
        task.answer(pending.id, answer);
    }
    task.finished().unwrap_or(Err(TaskError::Stuck))
}
