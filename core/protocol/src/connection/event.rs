//! What a connection tells its owner.

use alloc::string::String;
use core::fmt;

use super::error::RequestError;
use crate::framing::RawMessage;
use crate::mcp::CallId;

/// A turn: one prompt of the host and what the CLI makes of it. Unique within a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TurnId(pub u64);

/// A control request of the host. Unique within a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// A request of the CLI, to be answered once. Unique within a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey(pub u64);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for RequestKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What happened, in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The CLI answered `initialize`.
    Initialized(RawMessage),
    /// A message of the conversation.
    Message {
        /// The message, known or not.
        message: RawMessage,
        /// The turn it belongs to; `None` for what no prompt of the host asked for.
        turn: Option<TurnId>,
    },
    /// The CLI asks something; answer it once, by its key.
    Request(Request),
    /// A request need not be answered any more; a late answer is harmless.
    RequestCancelled {
        /// The request.
        key: RequestKey,
        /// Why.
        reason: CancelReason,
    },
    /// The answer to a control request of the host.
    Response {
        /// The request.
        id: RequestId,
        /// Its subtype.
        subtype: String,
        /// The CLI's answer, or why there is none.
        result: Result<Response, RequestError>,
    },
    /// A JSON-RPC notification for a server that the host runs itself; it was acknowledged.
    McpNotification {
        /// The server's name.
        server: String,
        /// The whole `mcp_message` line.
        message: RawMessage,
    },
    /// A turn is over.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        outcome: TurnOutcome,
    },
    /// Something odd that does not end the session.
    Diagnostic(Diagnostic),
}

/// What a session store has to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mirrored {
    /// A `transcript_mirror` line.
    Lines(RawMessage),
    /// A result came, which [`Event::Message`] delivers: what was mirrored before it belongs to it.
    Result,
}

impl Event {
    /// Bytes of CLI output that this event keeps in memory.
    pub fn weight(&self) -> usize {
        let message = match self {
            Event::Initialized(message)
            | Event::Message { message, .. }
            | Event::McpNotification { message, .. }
            | Event::Request(Request { message, .. })
            | Event::Response {
                result: Ok(Response { message }),
                ..
            } => message.json().len(),
            _ => 0,
        };
        message + core::mem::size_of::<Event>()
    }
}

/// A success answer of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The whole `control_response` line.
    pub message: RawMessage,
}

impl Response {
    /// JSON text of the payload; `{}` when the CLI sent none (`protocol.md §3`).
    pub fn payload(&self) -> &str {
        match crate::json::pointer(self.message.body().unwrap_or("{}"), "/response") {
            Ok(Some(payload)) if payload != "null" => payload,
            _ => "{}",
        }
    }
}

/// A request of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its key.
    pub key: RequestKey,
    /// What is asked.
    pub kind: RequestKind,
    /// The whole `control_request` line.
    pub message: RawMessage,
}

impl Request {
    /// JSON text of the `request` object.
    pub fn json(&self) -> &str {
        self.message.body().unwrap_or("{}")
    }
}

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestKind {
    /// `can_use_tool`: may this tool run? (`protocol.md §7`)
    Permission,
    /// `hook_callback` (`protocol.md §6`).
    Hook {
        /// The callback that was registered.
        callback_id: String,
    },
    /// A `tools/call` of an in-process server.
    ToolCall {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
        /// The call, for progress reports.
        call: CallId,
    },
    /// A `resources/read` of an in-process server.
    ResourceRead {
        /// The server's name.
        server: String,
        /// The call.
        call: CallId,
    },
    /// A `prompts/get` of an in-process server.
    PromptGet {
        /// The server's name.
        server: String,
        /// The prompt's name.
        prompt: String,
        /// The call.
        call: CallId,
    },
    /// A JSON-RPC message for a server that the host runs itself.
    McpMessage {
        /// The server's name.
        server: String,
    },
    /// `elicitation` of an external MCP server (`protocol.md §9`).
    Elicitation,
    /// `request_user_dialog` of a declared kind.
    Dialog,
    /// Any other subtype; [`RawMessage::body`] tells which.
    Other {
        /// The subtype.
        subtype: String,
    },
}

impl RequestKind {
    /// The name of the kind, for error texts.
    pub fn name(&self) -> &'static str {
        match self {
            RequestKind::Permission => "permission",
            RequestKind::Hook { .. } => "hook",
            RequestKind::ToolCall { .. } => "tool call",
            RequestKind::ResourceRead { .. } => "resource read",
            RequestKind::PromptGet { .. } => "prompt",
            RequestKind::McpMessage { .. } => "MCP message",
            RequestKind::Elicitation => "elicitation",
            RequestKind::Dialog => "dialog",
            RequestKind::Other { .. } => "control",
        }
    }
}

/// Why a request need not be answered any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancelReason {
    /// The CLI took it back (`control_cancel_request`, or `notifications/cancelled` for a tool call).
    Withdrawn,
    /// The handler deadline passed; the safe answer was sent.
    TimedOut,
    /// The session ended.
    SessionEnded,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// With a result of the CLI, good or bad; it was delivered as a message just before.
    /// Prompts merged into one turn share their result (`protocol.md §4.6`).
    Result(RawMessage),
    /// The prompt was cancelled before its turn began.
    Cancelled,
    /// A deadline of the host passed; the turn was interrupted. What still comes of it carries its id.
    TimedOut(TurnDeadline),
    /// The session ended first; the error text of the CLI's last error result, or empty.
    SessionEnded(String),
}

/// The deadlines of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnDeadline {
    /// Nothing came of the turn in time.
    FirstMessage,
    /// No message for too long while no request of the CLI was waiting for the host.
    Idle,
    /// The turn as a whole took too long.
    Turn,
}

impl TurnDeadline {
    /// The option that sets it.
    pub fn option(self) -> &'static str {
        match self {
            TurnDeadline::FirstMessage => "firstMessageTimeoutMs",
            TurnDeadline::Idle => "idleTimeoutMs",
            TurnDeadline::Turn => "turnTimeoutMs",
        }
    }
}

/// Something odd that does not end the session. `Display` gives a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Diagnostic {
    /// A line that is no message was skipped.
    #[error("skipped a line of output that is no message ({reason}): {line}")]
    NotAMessage {
        /// Why.
        reason: String,
        /// Its first 1,000 bytes or so, bad bytes replaced.
        line: String,
    },
    /// A line over the limit was skipped whole.
    #[error("skipped a line of {length} bytes, over the limit of {limit} (option maxLineBytes)")]
    LineTooLong {
        /// Its length in bytes.
        length: u64,
        /// The limit.
        limit: usize,
    },
    /// Bytes that are not UTF-8 were replaced in the message that follows.
    #[error("replaced bytes that are not UTF-8 in a message of type {message_type}")]
    NotUtf8 {
        /// The message's type.
        message_type: String,
    },
    /// A request of the CLI that cannot be served was answered with an error, or has no id to answer.
    #[error("refused a malformed request of the CLI: {reason}")]
    BadRequest {
        /// Why.
        reason: String,
    },
    /// An answer that nobody waits for was ignored.
    #[error("ignored an answer to no open request: {request_id}")]
    UnexpectedResponse {
        /// Its id.
        request_id: String,
    },
    /// The CLI is older than what this library is made for.
    #[error("{0}")]
    OldCli(String),
    /// Options that work, but probably not as meant.
    #[error("{0}")]
    Options(String),
    /// A handler of the host failed; the safe answer was sent.
    #[error("a handler failed and the safe answer was sent: {0}")]
    HandlerFailed(String),
    /// Something was not put into the session store, and is told by no `mirror_error` message.
    #[error("{0}")]
    NotMirrored(String),
    /// The recording has stopped.
    #[error("{0}")]
    NotRecorded(String),
    /// A request of the host made by the library itself was refused.
    #[error("{0}")]
    Refused(String),
}
