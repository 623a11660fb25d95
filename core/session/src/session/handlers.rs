//! The host's handlers, run on the polling thread with no lock held.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Weak;

use towline_protocol::connection::{self, Answer, Diagnostic, RequestKind};
use towline_protocol::control::answer::{PermissionResult, PermissionUpdates};
use towline_protocol::mcp::CallResult;
use towline_transcripts::store::PendingCall;

use super::guard::CoreGuard;
use super::stderr::Line;
use super::{Core, Event, RequestHandle, Shared};
use crate::error::{Error, LocalError};
use crate::observe::LogHandler;
use crate::store::StoreCallHandle;

/// What a handler says to a request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// Permission granted.
    Allow {
        /// Another input, JSON text of an object.
        input: Option<String>,
        /// Changes to the permissions, JSON text of an array.
        permissions: Option<String>,
    },
    /// Permission denied; the model reads the message. `interrupt` ends the turn too.
    Deny {
        /// Why.
        message: String,
        /// Whether the turn ends.
        interrupt: bool,
    },
    /// The payload of the answer as JSON text: a hook's output, an elicitation's or dialog's
    /// result, a permission result.
    Json(String),
    /// The result of a tool call, resource read or prompt.
    Call(CallResult<'static>),
    /// An error answer.
    Error(String),
    /// The handle was kept; the answer comes later.
    Later,
    /// The handler answered by the handle itself.
    Answered,
    /// The handler failed: the safe answer is sent, and a diagnostic says so.
    Failed(String),
}

impl Reply {
    /// Allows what was asked for.
    pub fn allow() -> Reply {
        Reply::Allow {
            input: None,
            permissions: None,
        }
    }

    /// Denies; the turn goes on.
    pub fn deny(message: impl Into<String>) -> Reply {
        Reply::Deny {
            message: message.into(),
            interrupt: false,
        }
    }

    /// A tool result of one text.
    pub fn text(text: impl Into<String>) -> Reply {
        Reply::Call(CallResult::text(text.into()))
    }

    /// A tool result that is an error for the model to read.
    pub fn tool_error(text: impl Into<String>) -> Reply {
        Reply::Call(CallResult::error(text.into()))
    }
}

/// Serves requests of one kind.
pub(super) type Handler = Box<dyn FnMut(&RequestHandle) -> Reply + Send>;

/// Gets lines of stderr.
pub(super) type StderrHandler = Box<dyn FnMut(&str) + Send>;

/// All handlers of a session.
#[derive(Default)]
pub(super) struct Handlers {
    pub(super) shared: Weak<Shared>,
    pub(super) permission: Option<Handler>,
    pub(super) hooks: BTreeMap<String, Handler>,
    pub(super) tools: BTreeMap<(String, String), Handler>,
    pub(super) elicitation: Option<Handler>,
    pub(super) dialog: Option<Handler>,
    pub(super) other: Option<Handler>,
    pub(super) stderr: Option<StderrHandler>,
    pub(super) log: Option<LogHandler>,
}

/// A handler that is to be called with no lock held.
pub(super) type Serve = Box<dyn FnOnce(&Shared, &mut Handlers)>;

/// What became of the next event.
pub(super) enum Delivered<T> {
    /// It is for the caller.
    Event(T),
    /// A handler has to be called.
    Served(Serve),
    /// It was put aside, or was for somebody else.
    Aside,
    /// There was none.
    Nothing,
}

impl<T> Delivered<T> {
    /// The same for a caller of another kind, without an event.
    pub(super) fn without_event<U>(self) -> Delivered<U> {
        match self {
            Delivered::Served(serve) => Delivered::Served(serve),
            Delivered::Nothing => Delivered::Nothing,
            Delivered::Event(_) | Delivered::Aside => Delivered::Aside,
        }
    }
}

/// Which handler serves a request.
enum Slot {
    Permission,
    Hook(String),
    Tool(String, String),
    Elicitation,
    Dialog,
    Other,
}

impl Handlers {
    fn slot(&self, kind: &RequestKind) -> Option<Slot> {
        let (slot, there) = match kind {
            RequestKind::Permission => (Slot::Permission, self.permission.is_some()),
            RequestKind::Hook { callback_id } => (
                Slot::Hook(callback_id.clone()),
                self.hooks.contains_key(callback_id),
            ),
            RequestKind::ToolCall { server, tool, .. } => {
                let key = (server.clone(), tool.clone());
                let there = self.tools.contains_key(&key);
                (Slot::Tool(key.0, key.1), there)
            }
            RequestKind::Elicitation => (Slot::Elicitation, self.elicitation.is_some()),
            RequestKind::Dialog => (Slot::Dialog, self.dialog.is_some()),
            RequestKind::Other { .. } => (Slot::Other, self.other.is_some()),
            _ => return None,
        };
        there.then_some(slot)
    }

    fn handler(&mut self, slot: &Slot) -> Option<&mut Handler> {
        match slot {
            Slot::Permission => self.permission.as_mut(),
            Slot::Hook(id) => self.hooks.get_mut(id),
            Slot::Tool(server, tool) => self.tools.get_mut(&(server.clone(), tool.clone())),
            Slot::Elicitation => self.elicitation.as_mut(),
            Slot::Dialog => self.dialog.as_mut(),
            Slot::Other => self.other.as_mut(),
        }
    }

    /// What has to be called for this event; the event itself when it is the host's to see.
    pub(super) fn serve(
        &mut self,
        shared: &Shared,
        core: &mut Core,
        event: connection::Event,
    ) -> Result<Serve, Box<connection::Event>> {
        let connection::Event::Request(request) = event else {
            return Err(Box::new(event));
        };
        let slot = self.slot(&request.kind);
        if !core.connection.is_request_open(request.key) {
            // Withdrawn meanwhile: no handler is bothered; a host that takes events sees both.
            return match slot {
                Some(_) => Ok(Box::new(|_, _| {})),
                None => Err(Box::new(connection::Event::Request(request))),
            };
        }
        if let Some(result) = shared.tools.refusal(&request) {
            let key = request.key;
            return Ok(Box::new(move |shared, _| {
                // Withdrawn meanwhile: nobody wants it.
                let _ = shared.answer(key, &Answer::Call(result));
            }));
        }
        let Some(slot) = slot else {
            return Err(Box::new(connection::Event::Request(request)));
        };
        let span = core.callback_span(request.key);
        let handle = RequestHandle::new(self.shared.clone(), request, span.clone());
        Ok(Box::new(move |shared, handlers| {
            if let Some(handler) = handlers.handler(&slot) {
                let run = || catch_unwind(AssertUnwindSafe(|| handler(&handle)));
                let reply = span.handler().scope(run);
                let reply = reply.unwrap_or_else(|panic| Reply::Failed(panic_text(&panic)));
                shared.reply(&handle, reply);
            }
        }))
    }

    /// Delivers an event to its handler or to the caller of poll.
    pub(super) fn deliver(
        &mut self,
        shared: &Shared,
        core: &mut Core,
        event: connection::Event,
    ) -> Delivered<Event> {
        // Most events are messages, which no handler is for.
        let event = match event {
            connection::Event::Message { message, turn } => {
                return Delivered::Event(Event::Message { message, turn });
            }
            event => event,
        };
        let event = match self.serve(shared, core, event) {
            Ok(serve) => return Delivered::Served(serve),
            Err(event) => *event,
        };
        Delivered::Event(match event {
            connection::Event::Initialized(message) => Event::Initialized(message),
            connection::Event::Request(request) => {
                let span = core.callback_span(request.key);
                Event::Request(RequestHandle::new(self.shared.clone(), request, span))
            }
            connection::Event::RequestCancelled { key, reason } => {
                Event::RequestCancelled { key, reason }
            }
            connection::Event::Response {
                id,
                subtype,
                result,
            } => Event::Response {
                id,
                subtype,
                result,
            },
            connection::Event::McpNotification { server, message } => {
                Event::McpNotification { server, message }
            }
            connection::Event::TurnEnded { turn, outcome } => Event::TurnEnded { turn, outcome },
            connection::Event::Diagnostic(diagnostic) => Event::Diagnostic(diagnostic),
            _ => return Delivered::Aside,
        })
    }

    /// A call for the store of the host.
    pub(super) fn store_call(&self, pending: PendingCall) -> Delivered<Event> {
        let handle = StoreCallHandle::new(self.shared.clone(), pending);
        Delivered::Event(Event::StoreCall(handle))
    }

    /// Gives the log hook what waits for it, with the core unlocked. One that panics gets no more.
    pub(super) fn tell_log<'a>(
        &mut self,
        shared: &'a Shared,
        mut core: CoreGuard<'a>,
    ) -> CoreGuard<'a> {
        while core.observer.log.has_records() {
            let records = core.observer.log.take();
            let Some(hook) = &mut self.log else { break };
            drop(core);
            let told = catch_unwind(AssertUnwindSafe(|| records.iter().for_each(hook)));
            core = shared.lock_core();
            if let Err(panic) = told {
                self.log = None;
                core.observer.log.stop();
                core.diagnose(Diagnostic::HandlerFailed(panic_text(&panic)));
            }
        }
        core
    }

    pub(super) fn serves_stderr(&self) -> bool {
        self.stderr.is_some()
    }

    /// A line of stderr, for the handler or the caller of poll.
    pub(super) fn stderr(&mut self, core: &mut Core, line: Line) -> Delivered<Event> {
        core.note_stderr(&line);
        let line = line.text;
        if !core.stderr.is_for_host() {
            return Delivered::Aside;
        }
        if self.stderr.is_none() {
            return Delivered::Event(Event::Stderr(line));
        }
        Delivered::Served(Box::new(move |shared, handlers| {
            let Some(handler) = &mut handlers.stderr else {
                return;
            };
            // A failing handler does not stop the lines.
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(&line))) {
                shared.diagnose(panic_text(&panic));
            }
        }))
    }
}

impl Shared {
    fn diagnose(&self, text: String) {
        let diagnostic = Diagnostic::HandlerFailed(text);
        self.lock_core().diagnose(diagnostic);
    }

    /// Sends what a handler said. What the CLI would not take becomes the safe answer.
    pub(super) fn reply(&self, handle: &RequestHandle, reply: Reply) {
        let failed = match self.try_reply(handle, reply) {
            Ok(()) => return,
            Err(Ok(error)) => match error {
                // Late answers are harmless.
                Error::Local(LocalError::Withdrawn | LocalError::AlreadyAnswered) => return,
                error => error.to_string(),
            },
            Err(Err(text)) => text,
        };
        let reason = format!("The host's handler failed: {failed}");
        // Withdrawn meanwhile: nobody wants it.
        let _ = self.answer_safely(handle.key(), &reason);
        self.diagnose(failed);
    }

    fn try_reply(&self, handle: &RequestHandle, reply: Reply) -> Result<(), Result<Error, String>> {
        let answered = match &reply {
            Reply::Later | Reply::Answered => return Ok(()),
            Reply::Failed(text) => return Err(Err(text.clone())),
            Reply::Allow { input, permissions } => {
                handle.respond(&Answer::Permission(PermissionResult::Allow {
                    updated_input: input.as_deref(),
                    updated_permissions: permissions.as_deref().map(PermissionUpdates::Json),
                    decision_classification: None,
                }))
            }
            Reply::Deny { message, interrupt } => handle.deny(message, *interrupt),
            Reply::Json(text) => handle.respond(&Answer::Json(text)),
            Reply::Error(text) => handle.respond(&Answer::Error(text)),
            Reply::Call(result) => handle.respond(&Answer::Call(result.clone())),
        };
        answered.map_err(Ok)
    }
}

fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_string())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "it panicked: {}",
        text.unwrap_or_else(|| "(no message)".into())
    )
}
