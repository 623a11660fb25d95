//! The handle of a request of the CLI: answered once, now or later, from any thread.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use towline_protocol::connection::{self, Answer, RequestKey, RequestKind};
use towline_protocol::control::answer::{PermissionResult, PermissionUpdates};
use towline_protocol::control::incoming::Incoming;
use towline_protocol::json;
use towline_protocol::launch::TraceContext;
use towline_protocol::mcp::CallResult;

use super::observing::trace_context_of_call;
use super::Shared;
use crate::error::{Error, LocalError};
use crate::observe::spans::Span;

/// A request of the CLI, to be answered once.
///
/// Clones mean the same request. When the last one is dropped and nobody has answered, the safe
/// answer is sent: a permission is denied, a hook reports an error, a tool call gets an error
/// result, an elicitation is cancelled. A late answer is harmless and fails with
/// [`LocalError::Withdrawn`].
#[derive(Clone)]
pub struct RequestHandle(Arc<Held>);

struct Held {
    shared: Weak<Shared>,
    request: connection::Request,
    /// An answer was sent.
    answered: AtomicBool,
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))]
    span: Span,
}

impl RequestHandle {
    pub(super) fn new(
        shared: Weak<Shared>,
        request: connection::Request,
        span: Span,
    ) -> RequestHandle {
        RequestHandle(Arc::new(Held {
            shared,
            request,
            span,
            answered: AtomicBool::new(false),
        }))
    }

    /// Its key, unique within the session.
    pub fn key(&self) -> RequestKey {
        self.0.request.key
    }

    /// What is asked.
    pub fn kind(&self) -> &RequestKind {
        &self.0.request.kind
    }

    /// The JSON text of the `request` object.
    pub fn json(&self) -> &str {
        self.0.request.json()
    }

    /// The whole line.
    pub fn message(&self) -> &towline_protocol::framing::RawMessage {
        &self.0.request.message
    }

    /// The typed request.
    pub fn decode(&self) -> Result<Incoming<'_>, json::ScanError> {
        let subtype = self
            .pointer("/subtype")
            .and_then(json::string)
            .unwrap_or_default();
        Incoming::decode(&subtype, self.json())
    }

    /// JSON text of the value that an RFC 6901 pointer names in the `request` object; `None` too
    /// for a malformed pointer.
    pub fn pointer(&self, path: &str) -> Option<&str> {
        json::pointer(self.json(), path).ok().flatten()
    }

    /// The text of the string that a pointer names.
    pub fn text(&self, path: &str) -> Option<Cow<'_, str>> {
        self.pointer(path).and_then(json::string)
    }

    /// The name of the tool that a permission request or a tool call is about.
    pub fn tool_name(&self) -> Option<Cow<'_, str>> {
        match self.kind() {
            RequestKind::ToolCall { tool, .. } => Some(Cow::Borrowed(tool)),
            _ => self.text("/tool_name"),
        }
    }

    /// JSON text of the arguments of a tool call or prompt, `{}` when there are none.
    pub fn arguments(&self) -> &str {
        self.pointer("/message/params/arguments").unwrap_or("{}")
    }

    /// The trace that the request belongs to: what the CLI says in a tool call's `_meta`
    /// (`traceparent`, `tracestate`), else that of the session. `None` without a valid one.
    pub fn trace_context(&self) -> Option<TraceContext> {
        self.own_trace_context().or_else(|| {
            self.0
                .shared
                .upgrade()
                .and_then(|shared| shared.trace.clone())
        })
    }

    /// As [`trace_context`](RequestHandle::trace_context), of a tool call whose `_meta` has one.
    pub fn own_trace_context(&self) -> Option<TraceContext> {
        trace_context_of_call(&self.0.request)
    }

    /// Its span (`towline.callback`), for what is done elsewhere before it is answered. In the
    /// handler a child of it is the current one.
    #[cfg(feature = "tracing")]
    pub fn span(&self) -> &tracing::Span {
        self.0.span.inner()
    }

    /// Whether nobody waits for an answer any more: the CLI took the request back, it was answered,
    /// or the session has ended.
    pub fn is_cancelled(&self) -> bool {
        match self.0.shared.upgrade() {
            Some(shared) => {
                shared.check_caller().is_err()
                    || !shared.lock_core().connection.is_request_open(self.key())
            }
            None => true,
        }
    }

    /// Answers. Fails with [`LocalError::WrongAnswer`] or [`LocalError::Text`] when the CLI would
    /// not take it: then the request is still open.
    pub fn respond(&self, answer: &Answer<'_>) -> Result<(), Error> {
        self.0.respond(answer)
    }

    /// Allows what was asked for.
    pub fn allow(&self) -> Result<(), Error> {
        self.allow_with(None, None)
    }

    /// Allows with another input (JSON text of an object), or with changes to the permissions
    /// (JSON text of an array).
    pub fn allow_with(&self, input: Option<&str>, permissions: Option<&str>) -> Result<(), Error> {
        self.respond(&Answer::Permission(PermissionResult::Allow {
            updated_input: input,
            updated_permissions: permissions.map(PermissionUpdates::Json),
            decision_classification: None,
        }))
    }

    /// Denies; the model reads the message. `interrupt` ends the turn too.
    pub fn deny(&self, message: &str, interrupt: bool) -> Result<(), Error> {
        self.respond(&Answer::Permission(PermissionResult::Deny {
            message: message.into(),
            interrupt,
            decision_classification: None,
        }))
    }

    /// Answers a tool call, a resource read or a prompt.
    pub fn finish(&self, result: CallResult<'_>) -> Result<(), Error> {
        self.respond(&Answer::Call(result))
    }

    /// Tells how far a tool call has come. `false` when the CLI asked for no progress.
    pub fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<bool, Error> {
        let RequestKind::ToolCall { server, call, .. } = self.kind() else {
            return Err(LocalError::WrongAnswer {
                kind: self.kind().name(),
                reason: "progress belongs to a tool call".into(),
            }
            .into());
        };
        let shared = self.0.shared.upgrade().ok_or(Error::Closed)?;
        shared.command(|connection| {
            connection.with_server(server, |server| {
                server.progress(*call, progress, total, message)
            })
        })
    }
}

impl Held {
    fn respond(&self, answer: &Answer<'_>) -> Result<(), Error> {
        let shared = self.shared.upgrade().ok_or(Error::Closed)?;
        shared.answer(self.request.key, answer)?;
        self.answered.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if *self.answered.get_mut() {
            return;
        }
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let key = self.request.key;
        // After a fork the parent answers; a session that has ended needs no answer.
        let open = shared.command(|connection| Ok(connection.is_request_open(key)));
        if matches!(open, Ok(true)) {
            let _ = shared.answer_safely(key, "The host gave no answer");
        }
    }
}

impl fmt::Debug for RequestHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHandle")
            .field("key", &self.key())
            .field("kind", self.kind())
            .finish_non_exhaustive()
    }
}
