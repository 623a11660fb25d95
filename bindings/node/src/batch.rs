//! What one drain of a session hands to JavaScript: the messages as one JSON array, everything else
//! as another, so that a crossing and a parse serve many lines.

use serde_json::json;
use towline::protocol::json::push_string;
use towline::{
    CancelReason, Closed, LogRecord, RequestHandle, RequestKind, StoreCallHandle, TurnId,
    TurnOutcome,
};

use crate::error::{describe, describe_failure};

/// Texts under construction, kept from drain to drain for their memory.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) messages: Vec<u8>,
    pub(crate) events: String,
    pub(crate) count: u32,
    /// The turn of the message before.
    turn: Option<TurnId>,
}

/// A buffer above this is not kept.
const KEPT: usize = 1024 * 1024;

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.messages.shrink_to(KEPT);
        self.events.clear();
        self.events.shrink_to(KEPT);
        self.count = 0;
    }

    /// A message; where the turn changes, an event `["u", turn, index]` says so.
    pub(crate) fn message(&mut self, json: &str, turn: Option<TurnId>) {
        self.single(turn);
        self.messages
            .push(if self.count == 0 { b'[' } else { b',' });
        self.messages.extend_from_slice(json.as_bytes());
        self.count += 1;
    }

    /// A message that travels by itself.
    pub(crate) fn single(&mut self, turn: Option<TurnId>) {
        if turn != self.turn {
            self.turn = turn;
            let index = self.count;
            self.event(&format!(
                r#"["u",{},{index}]"#,
                turn.map_or(0, |turn| turn.0)
            ));
        }
    }

    /// Ends the arrays.
    pub(crate) fn finish(&mut self) {
        if self.count > 0 {
            self.messages.push(b']');
        }
        if !self.events.is_empty() {
            self.events.push(']');
        }
    }

    fn event(&mut self, json: &str) {
        self.events
            .push(if self.events.is_empty() { '[' } else { ',' });
        self.events.push_str(json);
    }

    /// `["i", payload]`
    pub(crate) fn initialized(&mut self, payload: &str) {
        self.event(&format!(r#"["i",{payload}]"#));
    }

    /// `["q", key, kind, requestId, request, detail]`: detail is the callback id of a hook, the
    /// server of a bridged message, `{"server","tool","trace"}` of a tool call.
    pub(crate) fn request(&mut self, handle: &RequestHandle) {
        let (kind, detail) = match handle.kind() {
            RequestKind::Permission => ("permission", json!(null)),
            RequestKind::Hook { callback_id } => ("hook", json!(callback_id)),
            RequestKind::ToolCall { server, tool, .. } => {
                let trace = handle.trace_context().map(|context| {
                    json!({"traceparent": context.traceparent, "tracestate": context.tracestate})
                });
                (
                    "tool",
                    json!({"server": server, "tool": tool, "trace": trace}),
                )
            }
            RequestKind::McpMessage { server } => ("mcp", json!(server)),
            RequestKind::Elicitation => ("elicitation", json!(null)),
            RequestKind::Dialog => ("dialog", json!(null)),
            RequestKind::Other { subtype } => ("other", json!(subtype)),
            other => ("other", json!(other.name())),
        };
        let mut id = String::new();
        push_string(&mut id, handle.message().request_id().unwrap_or_default());
        let (key, request) = (handle.key(), handle.json());
        self.event(&format!(r#"["q",{key},"{kind}",{id},{request},{detail}]"#));
    }

    /// `["c", key, reason]`
    pub(crate) fn cancelled(&mut self, key: u64, reason: CancelReason) {
        let reason = match reason {
            CancelReason::TimedOut => "timedOut",
            CancelReason::SessionEnded => "ended",
            _ => "withdrawn",
        };
        self.event(&format!(r#"["c",{key},"{reason}"]"#));
    }

    /// `["r", id, payload]`, or `["e", id, error]`
    pub(crate) fn response(&mut self, id: u64, result: Result<&str, towline::Error>) {
        match result {
            Ok(payload) => self.event(&format!(r#"["r",{id},{payload}]"#)),
            Err(error) => self.event(&format!(r#"["e",{id},{}]"#, describe(&error))),
        }
    }

    /// `["n", server, message]`: a JSON-RPC notification for a bridged server.
    pub(crate) fn notification(&mut self, server: &str, message: &str) {
        self.event(&format!(r#"["n",{},{message}]"#, json!(server)));
    }

    /// `["t", turn, outcome, index]`: before the message at the index.
    pub(crate) fn turn_ended(&mut self, turn: TurnId, outcome: &TurnOutcome) {
        let outcome = match outcome {
            TurnOutcome::Result(_) => "result",
            TurnOutcome::Cancelled => "cancelled",
            TurnOutcome::TimedOut(deadline) => deadline.option(),
            _ => "ended",
        };
        let index = self.count;
        self.event(&format!(r#"["t",{turn},"{outcome}",{index}]"#));
    }

    /// `["m", key, timeoutMs, call]`: a call for the store of JavaScript's.
    pub(crate) fn store_call(&mut self, key: u64, handle: &StoreCallHandle) {
        let (timeout, call) = (json!(handle.timeout_ms()), handle.call().to_json());
        self.event(&format!(r#"["m",{key},{timeout},{call}]"#));
    }

    /// `["s", line]`
    pub(crate) fn stderr(&mut self, line: &str) {
        self.event(&json!(["s", line]).to_string());
    }

    /// `["l", level, target, message, fields, sessionId, turn]`
    pub(crate) fn log(&mut self, record: &LogRecord) {
        let level = record.level.name();
        let (target, message) = (json!(record.target), json!(record.message));
        let (id, turn) = (
            json!(record.session_id),
            json!(record.turn.map(|turn| turn.0)),
        );
        let fields = &record.fields;
        self.event(&format!(
            r#"["l","{level}",{target},{message},{fields},{id},{turn}]"#
        ));
    }

    /// `["d", text]`
    pub(crate) fn diagnostic(&mut self, text: &str) {
        self.event(&json!(["d", text]).to_string());
    }

    /// `["x", failure, error or null]`
    pub(crate) fn closed(&mut self, closed: &Closed) {
        let failure = describe_failure(&closed.failure);
        let error = closed.error.as_ref().map(describe);
        self.event(&json!(["x", failure, error]).to_string());
    }
}
