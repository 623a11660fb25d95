//! What can go wrong when a saved session is read or changed.

use std::io;
use std::path::PathBuf;

/// Why a saved session could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The session id is no UUID.
    #[error("Invalid session_id: {0}")]
    InvalidSessionId(String),
    /// The message a fork is to end at is named by something that is no UUID.
    #[error("Invalid up_to_message_id: {0}")]
    InvalidMessageId(String),
    /// A title has nothing in it but white space.
    #[error("title must be non-empty")]
    EmptyTitle,
    /// A tag has nothing in it that can be seen.
    #[error("tag must be non-empty (none clears the tag)")]
    EmptyTag,
    /// There is no such session.
    #[error("Session {session_id} not found{}", place(.directory))]
    NotFound {
        /// The session that was asked for.
        session_id: String,
        /// The project it was looked for in; all projects if none.
        directory: Option<PathBuf>,
    },
    /// The session has no message that could be copied.
    #[error("Session {0} has no messages to fork")]
    NothingToFork(String),
    /// The session has no such message.
    #[error("Message {message_id} not found in session {session_id}")]
    MessageNotFound {
        /// The message that was asked for.
        message_id: String,
        /// The session it was looked for in.
        session_id: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

fn place(directory: &Option<PathBuf>) -> String {
    match directory {
        Some(directory) => format!(" in project directory for {}", directory.display()),
        None => String::new(),
    }
}
