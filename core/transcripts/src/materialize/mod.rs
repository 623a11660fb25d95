//! Resuming from a store: a session's entries laid out as a config directory of their own, from
//! which the CLI resumes as from its own files (`protocol.md §10`).
//!
//! [`ResumeRequest::task`] decides what to resume and loads it; [`Plan::write`] writes it to a
//! folder that only its owner can enter, together with what the CLI needs of the user's own config
//! directory; the [`Materialized`] that comes of it removes the folder.

mod config;
mod folder;
mod subpath;

pub use config::{without_plugins, without_refresh_token, ConfigSources};
pub use folder::Materialized;

use std::future::Future;

use crate::is_session_id;
use crate::store::{
    Calls, Capabilities, Entry, SessionKey, StoreError, StoreErrorKind, StoreTask, TaskError,
};

/// Which session is to be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResumeRequest {
    /// The scope in the store: the name of the working directory's project folder.
    pub project_key: String,
    /// Option `resume`; it wins over `continue`.
    pub resume: Option<String>,
    /// Option `continue`: the newest conversation.
    pub continue_conversation: bool,
    /// Option `loadTimeoutMs`: how long the store may take for each call.
    pub load_timeout_ms: u64,
}

/// What is to be written, and what is resumed by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The session to resume.
    pub session_id: String,
    /// The files, in the order in which they are written. The first is the session's own.
    pub files: Vec<PlannedFile>,
    /// What was left out, in words.
    pub warnings: Vec<String>,
}

/// A file of a [`Plan`], for its owner alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it stands below the config directory: plain names joined by `/`.
    pub path: String,
    /// What stands in it.
    pub contents: Contents,
}

/// What stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// One entry a line.
    Lines(Vec<Entry>),
    /// A text.
    Text(String),
}

impl ResumeRequest {
    /// Whether there is anything to ask the store: `resume` names a session by a UUID, or the newest
    /// one is to be continued.
    pub fn asks_the_store(&self) -> bool {
        match &self.resume {
            Some(id) => is_session_id(id),
            None => self.continue_conversation,
        }
    }

    /// Fails when the store lacks a call that this request needs (`continue` needs
    /// `list_sessions`), or when the project key could be no folder.
    pub fn check(&self, capabilities: Capabilities) -> Result<(), TaskError> {
        let continues = self.resume.is_none() && self.continue_conversation;
        if continues && !capabilities.list_sessions {
            return Err(TaskError::InvalidArgument(
                "continue_conversation with session_store requires the store to implement \
                 list_sessions()"
                    .into(),
            ));
        }
        if self.asks_the_store() && !subpath::is_name(&self.project_key) {
            return Err(TaskError::InvalidArgument(format!(
                "a project key is the name of a folder, which {:?} cannot be",
                self.project_key
            )));
        }
        Ok(())
    }

    /// Finds the session and loads it with everything below it. `None` when nothing is to be
    /// written: nothing to resume, an id that is no UUID, or a store that has nothing.
    ///
    /// To continue, sessions are tried from the newest on, those of the same time in the store's own
    /// order, until one has entries and is no sidechain.
    pub fn task(self, capabilities: Capabilities) -> StoreTask<Option<Plan>> {
        StoreTask::new(capabilities, move |calls| async move {
            self.check(capabilities)?;
            if !self.asks_the_store() {
                return Ok(None);
            }
            let resuming = Resuming {
                calls: calls.with_timeout_ms(Some(self.load_timeout_ms)),
                request: self,
            };
            let found = match &resuming.request.resume {
                Some(id) => resuming.load(id.clone()).await?,
                None => resuming.newest().await?,
            };
            match found {
                Some((session_id, entries)) => resuming.plan(session_id, entries).await.map(Some),
                None => Ok(None),
            }
        })
    }
}

/// A request being fulfilled.
struct Resuming {
    calls: Calls,
    request: ResumeRequest,
}

impl Resuming {
    fn key(&self, session_id: &str) -> SessionKey {
        SessionKey::main(&self.request.project_key, session_id)
    }

    /// What a call gave, its error told with the name of the call.
    async fn named<T>(
        &self,
        call: impl Future<Output = Result<T, TaskError>>,
        what: impl FnOnce() -> String,
    ) -> Result<T, TaskError> {
        let limit = self.request.load_timeout_ms;
        call.await.map_err(|error| name(error, &what(), limit))
    }

    /// A session and its entries, if the store has any.
    async fn load(&self, session_id: String) -> Result<Option<(String, Vec<Entry>)>, TaskError> {
        let entries = self
            .named(self.calls.load(self.key(&session_id)), || {
                format!("SessionStore.load() for session {session_id}")
            })
            .await?;
        Ok(entries
            .filter(|entries| !entries.is_empty())
            .map(|entries| (session_id, entries)))
    }

    async fn newest(&self) -> Result<Option<(String, Vec<Entry>)>, TaskError> {
        let listing = self.calls.list_sessions(self.request.project_key.clone());
        let mut sessions = self
            .named(listing, || "SessionStore.list_sessions()".into())
            .await?;
        sessions.sort_by_key(|session| std::cmp::Reverse(session.mtime));
        for session in sessions {
            if !is_session_id(&session.session_id) {
                continue;
            }
            if let Some((id, entries)) = self.load(session.session_id).await? {
                let first = entries
                    .first()
                    .and_then(|entry| entry.member("isSidechain"));
                if first != Some("true") {
                    return Ok(Some((id, entries)));
                }
            }
        }
        Ok(None)
    }

    async fn plan(&self, session_id: String, entries: Vec<Entry>) -> Result<Plan, TaskError> {
        let project = format!("projects/{}", self.request.project_key);
        let mut plan = Plan {
            files: vec![PlannedFile {
                path: format!("{project}/{session_id}.jsonl"),
                contents: Contents::Lines(entries),
            }],
            session_id,
            warnings: Vec::new(),
        };
        if !self.calls.capabilities().list_subkeys {
            return Ok(plan);
        }
        let session_id = &plan.session_id;
        let key = self.key(session_id);
        let listing = self.calls.list_subkeys(key.clone());
        let listed = self
            .named(listing, || {
                format!("SessionStore.list_subkeys() for session {session_id}")
            })
            .await?;
        let mut subpaths: Vec<String> = Vec::new();
        for subpath in listed {
            if !subpath::is_safe(&subpath) {
                plan.warnings.push(format!(
                    "the store has a subpath that no file can have, left out: {subpath:?}"
                ));
            } else if !subpaths.contains(&subpath) {
                subpaths.push(subpath);
            }
        }
        let keys = subpaths.iter().map(|subpath| key.with_subpath(subpath));
        let loaded = self
            .calls
            .load_each(keys.collect(), |_, loaded| loaded)
            .await;
        for (subpath, loaded) in subpaths.into_iter().zip(loaded) {
            let limit = self.request.load_timeout_ms;
            let entries = loaded.map_err(|error| {
                let what =
                    format!("SessionStore.load() for session {session_id} subpath {subpath}");
                name(error, &what, limit)
            })?;
            let place = format!("{project}/{session_id}/{subpath}");
            plan.files
                .extend(files_of(&place, entries.unwrap_or_default()));
        }
        Ok(plan)
    }
}

/// The transcript of a subagent, and the file beside it that its last `agent_metadata` entry was.
fn files_of(place: &str, entries: Vec<Entry>) -> Vec<PlannedFile> {
    let (metadata, lines): (Vec<Entry>, Vec<Entry>) = entries
        .into_iter()
        .partition(|entry| entry.string("type").as_deref() == Some("agent_metadata"));
    let mut files = Vec::new();
    if !lines.is_empty() {
        files.push(PlannedFile {
            path: format!("{place}.jsonl"),
            contents: Contents::Lines(lines),
        });
    }
    if let Some(metadata) = metadata.last() {
        let text = config::without_members(metadata.as_str(), &["type"]);
        files.push(PlannedFile {
            path: format!("{place}.meta.json"),
            contents: Contents::Text(text.unwrap_or_else(|| metadata.as_str().into())),
        });
    }
    files
}

fn name(error: TaskError, what: &str, limit_ms: u64) -> TaskError {
    let TaskError::Store { call, error } = error else {
        return error;
    };
    let message = match error.kind {
        StoreErrorKind::Timeout => {
            format!("{what} timed out after {limit_ms}ms during resume materialization")
        }
        _ => format!("{what} failed during resume materialization: {error}"),
    };
    TaskError::Store {
        call,
        error: StoreError { message, ..error },
    }
}
