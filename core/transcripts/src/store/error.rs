//! What can go wrong with a store and with an operation on one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::CallId;

/// Of what kind a store's failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreErrorKind {
    /// The store refused or failed; trying again may help.
    Failed,
    /// No answer within the time limit; what was asked may still happen, so it is not tried again.
    Timeout,
    /// The store does not have this call.
    Unsupported,
}

/// A call that a store did not fulfil. As JSON `{"message": …, "kind": "failed"|"timeout"|"unsupported"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    /// What happened, for people.
    pub message: String,
    /// Of what kind it is; `failed` when a JSON document does not tell.
    #[serde(default = "failed")]
    pub kind: StoreErrorKind,
}

fn failed() -> StoreErrorKind {
    StoreErrorKind::Failed
}

impl StoreError {
    /// The store refused or failed.
    pub fn failed(message: impl fmt::Display) -> Self {
        StoreError {
            message: message.to_string(),
            kind: StoreErrorKind::Failed,
        }
    }

    /// The store did not answer within `timeout_ms` milliseconds.
    pub fn timeout(what: &str, timeout_ms: u64) -> Self {
        StoreError {
            message: format!("{what} timed out after {timeout_ms}ms"),
            kind: StoreErrorKind::Timeout,
        }
    }

    /// The store does not have the call `name`.
    pub fn unsupported(name: &str) -> Self {
        StoreError {
            message: format!("the store does not implement {name}()"),
            kind: StoreErrorKind::Unsupported,
        }
    }
}

/// Why an operation over a store did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// An argument is wrong.
    #[error("{0}")]
    InvalidArgument(String),
    /// The session is not there.
    #[error("{0}")]
    NotFound(String),
    /// The store lacks a call without which the operation makes no sense.
    #[error("{0}")]
    Unsupported(String),
    /// A call failed.
    #[error("{error}")]
    Store {
        /// Which call; a host finds its own exception by it.
        call: CallId,
        /// What the store said.
        error: StoreError,
    },
    /// A file could not be read or written.
    #[error("{0}")]
    Io(String),
    /// A store does not do what stores have to do; only from the conformance suite.
    #[error("{0}")]
    Contract(String),
    /// The operation waits for something that is no store call.
    #[error("the operation stopped without an open call")]
    Stuck,
}

impl TaskError {
    /// A stable name of the kind: `invalid_argument`, `not_found`, `unsupported`, `store`, `io`,
    /// `contract`, `stuck`.
    pub fn code(&self) -> &'static str {
        match self {
            TaskError::InvalidArgument(_) => "invalid_argument",
            TaskError::NotFound(_) => "not_found",
            TaskError::Unsupported(_) => "unsupported",
            TaskError::Store { .. } => "store",
            TaskError::Io(_) => "io",
            TaskError::Contract(_) => "contract",
            TaskError::Stuck => "stuck",
        }
    }

    /// What the store said, when a call failed.
    pub fn store_error(&self) -> Option<&StoreError> {
        match self {
            TaskError::Store { error, .. } => Some(error),
            _ => None,
        }
    }
}
