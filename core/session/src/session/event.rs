//! What a session tells its host.

use std::time::Duration;

use towline_protocol::connection::{
    CancelReason, Diagnostic, RequestError, RequestId, RequestKey, Response, TurnId, TurnOutcome,
};
use towline_protocol::framing::RawMessage;

use super::RequestHandle;
use crate::error::{Error, Failure};
use crate::store::StoreCallHandle;

/// What happened, in the order in which it happened.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The CLI answered `initialize`: the whole `control_response` line.
    Initialized(RawMessage),
    /// A message of the conversation, of a known type or not.
    Message {
        /// The message.
        message: RawMessage,
        /// The turn it belongs to; `None` for what no prompt of this host asked for.
        turn: Option<TurnId>,
    },
    /// The CLI asks something for which no handler is registered. Dropping the handle unanswered
    /// sends the safe answer.
    Request(RequestHandle),
    /// A request need not be answered any more.
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
    /// A notification for an MCP server that the host runs itself; acknowledged already.
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
    /// A call for the store of the host, to be answered once
    /// ([`SessionBuilder::store_events`](super::SessionBuilder::store_events)). Dropping the handle
    /// unanswered means that it failed.
    StoreCall(StoreCallHandle),
    /// A line of the CLI's stderr, when the host asked for them.
    Stderr(String),
    /// Something odd that does not end the session.
    Diagnostic(Diagnostic),
    /// The last event: the process is gone and everything it wrote was delivered.
    Closed(Closed),
}

/// How a session ended.
#[derive(Debug)]
pub struct Closed {
    /// The process: its status, its last error result and the end of its stderr.
    pub failure: Failure,
    /// What went wrong; `None` when it ended as it should. A non-zero exit right after an error
    /// result is that result, not a crash (`protocol.md §11`), and is no error here.
    pub error: Option<Error>,
}

/// Counters of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes read from the CLI's stdout.
    pub bytes_read: u64,
    /// Bytes written to its stdin.
    pub bytes_written: u64,
    /// Bytes read from its stderr.
    pub stderr_bytes: u64,
    /// Lines read from its stdout, of whatever kind.
    pub lines_read: u64,
    /// Lines written to its stdin.
    pub lines_written: u64,
    /// Events delivered to the host or its handlers.
    pub events: u64,
    /// Messages of the conversation among them.
    pub messages: u64,
    /// Prompts sent. Those that are in none of the next four have not ended.
    pub turns: u64,
    /// Turns that ended with a result that is no error.
    pub turns_succeeded: u64,
    /// Turns that ended with an error result, or with the session.
    pub turns_failed: u64,
    /// Prompts that were taken back.
    pub turns_cancelled: u64,
    /// Turns for which a deadline has passed.
    pub turns_timed_out: u64,
    /// Control requests of the host.
    pub requests_sent: u64,
    /// Those that were answered with an error, or not at all.
    pub requests_failed: u64,
    /// Control requests that have no answer yet, those of the library's own too.
    pub requests_pending: u64,
    /// Requests of the CLI: permissions, hooks, tool calls, …
    pub requests_received: u64,
    /// Those that nobody has answered yet.
    pub requests_open: u64,
    /// Diagnostics.
    pub diagnostics: u64,
    /// Events dropped because they came while the session was being closed and nobody read them.
    pub shed: u64,
    /// The most bytes of output that waited for the host at once.
    pub queue_high_water: u64,
    /// The most bytes that waited for the CLI at once.
    pub write_high_water: u64,
    /// How long the start took.
    pub startup: Startup,
}

impl Stats {
    /// All counters by name.
    pub fn counters(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("bytes_read", self.bytes_read),
            ("bytes_written", self.bytes_written),
            ("stderr_bytes", self.stderr_bytes),
            ("lines_read", self.lines_read),
            ("lines_written", self.lines_written),
            ("events", self.events),
            ("messages", self.messages),
            ("turns", self.turns),
            ("turns_succeeded", self.turns_succeeded),
            ("turns_failed", self.turns_failed),
            ("turns_cancelled", self.turns_cancelled),
            ("turns_timed_out", self.turns_timed_out),
            ("requests_sent", self.requests_sent),
            ("requests_failed", self.requests_failed),
            ("requests_pending", self.requests_pending),
            ("requests_received", self.requests_received),
            ("requests_open", self.requests_open),
            ("diagnostics", self.diagnostics),
            ("shed", self.shed),
            ("queue_high_water", self.queue_high_water),
            ("write_high_water", self.write_high_water),
        ]
        .into_iter()
    }
}

/// Since the session was asked for; `None` for what has not happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Startup {
    /// Until the CLI ran, or the transport was open: the options were planned, the CLI was found, a
    /// session from a store was loaded.
    pub spawned: Option<Duration>,
    /// Until its answer to `initialize` was read.
    pub initialized: Option<Duration>,
    /// Until it was taken from a [`Pool`](crate::Pool) for the first time.
    pub taken: Option<Duration>,
    /// Until the first message of a turn was given to the host.
    pub first_message: Option<Duration>,
}
