//! What the functions over sessions on disk do, done in a store.
//!
//! Each function gives a [`StoreTask`](super::StoreTask): a blocking store is put to it with [`run`](super::run), any
//! other drives it in its own way. Every one of them also has a JSON form: [`Operation`].

mod change;
mod import;
mod json;
mod list;
mod read;

pub use change::{delete, fork, rename, tag};
pub use import::{import, ImportOptions, Imported};
pub use json::Operation;
pub use list::{info, list, Page};
pub use read::{messages, subagent_messages, subagents};

use std::path::Path;

use towline_protocol::launch::Dialect;

use super::{SessionKey, TaskError};
use crate::project::{canonical, is_session_id, project_key_of_path};
use crate::Error;

/// Under which project key a store keeps the sessions that are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    key: String,
    path: Option<String>,
    dialect: Dialect,
}

impl Project {
    /// That of a directory, by default of the current one: the key is the name that the CLI gives
    /// the directory's project.
    pub fn of_directory(directory: Option<&Path>) -> Self {
        let directory = directory.filter(|directory| !directory.as_os_str().is_empty());
        let path = canonical(directory.unwrap_or(Path::new(".")));
        Project {
            key: project_key_of_path(&path),
            path: Some(path),
            dialect: Dialect::default(),
        }
    }

    /// One that the host has named itself.
    pub fn of_key(key: impl Into<String>) -> Self {
        Project {
            key: key.into(),
            path: None,
            dialect: Dialect::default(),
        }
    }

    /// The same for the users of a package: see
    /// [`SavedSessions::in_dialect`](crate::SavedSessions::in_dialect). A summary that a store has
    /// kept tells what whoever folded it took for the first prompt.
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        Project { dialect, ..self }
    }

    /// The project key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What counts as the working directory of a session that does not tell its own.
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    fn session(&self, session_id: &str) -> SessionKey {
        SessionKey::main(&self.key, session_id)
    }
}

impl From<Error> for TaskError {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::NotFound { .. } => TaskError::NotFound(message),
            Error::Io { .. } => TaskError::Io(message),
            _ => TaskError::InvalidArgument(message),
        }
    }
}

fn checked(session_id: &str) -> Result<(), TaskError> {
    if is_session_id(session_id) {
        Ok(())
    } else {
        Err(Error::InvalidSessionId(session_id.to_owned()).into())
    }
}

fn not_found(session_id: &str) -> TaskError {
    let session_id = session_id.to_owned();
    Error::NotFound {
        session_id,
        directory: None,
    }
    .into()
}
