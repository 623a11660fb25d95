//! What goes wrong: local errors (the host broke a rule) and remote errors (the CLI said no) are
//! different types.

use alloc::string::String;

use super::{RequestKey, TurnId};

/// The host broke a rule. Nothing was written, nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocalError {
    /// The conversation has ended.
    #[error("the session has ended")]
    Ended,
    /// The host has ended its input already.
    #[error("the input of this session was ended; start another session to go on")]
    InputFinished,
    /// The CLI has closed its stdin and lives on.
    #[error("the CLI has closed its stdin; it can be told nothing any more")]
    InputLost,
    /// `initialize` was written already.
    #[error("initialize was sent already")]
    AlreadyInitialized,
    /// The queue of bytes that the CLI has not read yet is at its limit.
    #[error("the CLI is not reading: {queued} bytes wait to be written, the limit is {limit}")]
    QueueFull {
        /// Bytes waiting.
        queued: usize,
        /// The limit, option `maxQueuedBytes`.
        limit: usize,
    },
    /// No open request has this key.
    #[error("no open request has the key {0}")]
    UnknownRequest(RequestKey),
    /// The request was answered before.
    #[error("this request was answered already")]
    AlreadyAnswered,
    /// The CLI took the request back, or its deadline passed; the answer was not written.
    #[error("this request was withdrawn; the answer was not sent")]
    Withdrawn,
    /// The answer does not fit the kind of request.
    #[error("a {kind} request cannot be answered so: {reason}")]
    WrongAnswer {
        /// The request's subtype.
        kind: &'static str,
        /// What would be accepted.
        reason: String,
    },
    /// Text of the host that has to be JSON is not.
    #[error("{what} is not valid JSON: {error}")]
    InvalidJson {
        /// Which argument.
        what: &'static str,
        /// Where and why.
        error: crate::json::ScanError,
    },
    /// Text of the host is JSON of the wrong kind.
    #[error("{what} must be {expected}")]
    WrongShape {
        /// Which argument.
        what: &'static str,
        /// The kind it must be.
        expected: &'static str,
    },
    /// A user message that the CLI would drop silently or die on (`protocol.md §2`).
    #[error("the CLI would not take this user message: {0}")]
    InvalidMessage(String),
    /// A `uuid` that was used in this session already: the CLI would drop the message silently.
    #[error("the uuid {0} was used in this session already; the CLI would drop the message")]
    DuplicateUuid(String),
    /// No turn of this session has this id, or it is over.
    #[error("no running turn has the id {0}")]
    UnknownTurn(TurnId),
    /// No in-process server has this name.
    #[error("no in-process MCP server is named {0:?}")]
    UnknownServer(String),
    /// A message of a server that the host runs is no JSON-RPC.
    #[error("{0}")]
    Mcp(String),
    /// A text of the host that the CLI would ignore, misread or die on.
    #[error(transparent)]
    Text(#[from] crate::control::LocalError),
}

/// The CLI answered a control request with an error (`protocol.md §3`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{subtype}: {message}")]
pub struct RemoteError {
    /// The subtype of the request that failed.
    pub subtype: String,
    /// The CLI's text.
    pub message: String,
    /// `error_code`, when the CLI gives one (2.1.197 gives none).
    pub code: Option<String>,
}

/// Why a control request of the host has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The CLI refused.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// No answer within the time limit; the request was withdrawn.
    #[error("{subtype}: no answer within {limit_ms} ms")]
    TimedOut {
        /// The subtype of the request.
        subtype: String,
        /// The limit.
        limit_ms: u64,
    },
    /// The session ended first.
    #[error("{subtype}: the session ended before an answer came{}{reason}", if reason.is_empty() { "" } else { ": " })]
    SessionEnded {
        /// The subtype of the request.
        subtype: String,
        /// The error text of the CLI's last error result, or empty.
        reason: String,
    },
}
