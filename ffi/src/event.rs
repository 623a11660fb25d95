//! What happened.

use std::ffi::c_char;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{json, Map, Value};
use towline_core::protocol::connection::{self, Connection};
use towline_core::protocol::framing::{MessageType, RawMessage};
use towline_core::protocol::json as text_json;
use towline_core::{
    CancelReason, Closed, Diagnostic, Event, Exit, RequestError, Response, TurnOutcome,
};

use crate::boundary;
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle, Use};
use crate::request::{self, towline_request, Asked};
use crate::status::towline_status;
use crate::text::{View, Views};

/// Something that happened. It belongs to who polled it and is freed with towline_event_free().
/// One thread at a time uses it, any thread; it may outlive its session.
pub struct towline_event {
    _opaque: [u8; 0],
}

/// What an event tells.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum towline_kind_of_event {
    /// No event: the handle is none.
    TOWLINE_NO_EVENT = 0,
    /// A message of the conversation, of a type known or not; towline_event_type() tells which.
    /// towline_event_json() is the line that the CLI wrote.
    TOWLINE_MESSAGE = 1,
    /// The CLI asks something that no callback serves: towline_event_request(). Freed with nobody
    /// having answered or retained it, the safe answer is sent.
    TOWLINE_REQUEST = 2,
    /// The request with the key towline_event_id() need not be answered any more: `"/reason"` is
    /// `withdrawn`, `timed_out` or `session_ended`.
    TOWLINE_REQUEST_CANCELLED = 3,
    /// The answer to the control request towline_event_id(); towline_event_subtype() is that of
    /// the request, towline_event_json() the payload of the answer, `{}` when there is none.
    /// towline_event_error() tells why there is no answer.
    TOWLINE_RESPONSE = 4,
    /// A turn is over: towline_event_turn(), towline_event_outcome(). towline_event_json() is the
    /// result message, which came as TOWLINE_MESSAGE just before.
    TOWLINE_TURN_ENDED = 5,
    /// A line of the CLI's stderr: towline_event_text().
    TOWLINE_STDERR = 6,
    /// Something odd that does not end the session: towline_event_text() is a sentence.
    TOWLINE_DIAGNOSTIC = 7,
    /// The CLI answered `initialize`: towline_event_json() is the payload, what this CLI has to
    /// offer.
    TOWLINE_INITIALIZED = 8,
    /// The last event: the process is gone, and everything that it wrote was delivered.
    /// towline_event_error() tells what went wrong, NULL when nothing did, and so does `"/error"`
    /// (`"/error/message"`, …). In any case there are `"/exitCode"` or `"/signal"`, `"/result"` (the
    /// text of the last error result) and `"/stderr"` (the end of it); with a transport of the host
    /// `"/transport"`, how it ended in words.
    TOWLINE_CLOSED = 9,
    /// A JSON-RPC notification for an MCP server that the host runs itself: `"/server"`,
    /// `"/message"`.
    TOWLINE_MCP_NOTIFICATION = 10,
}

/// How a turn ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum towline_outcome {
    /// The event is no TOWLINE_TURN_ENDED.
    TOWLINE_NO_OUTCOME = 0,
    /// With a result of the CLI, good or bad; `"/is_error"` and `"/subtype"` tell.
    TOWLINE_ENDED_WITH_RESULT = 1,
    /// The prompt was cancelled before its turn began.
    TOWLINE_ENDED_CANCELLED = 2,
    /// A time limit of the options passed, and the turn was interrupted: `"/option"` names it.
    TOWLINE_ENDED_TIMED_OUT = 3,
    /// The session ended first: `"/result"` is the text of the CLI's last error result, or empty.
    TOWLINE_ENDED_WITH_SESSION = 4,
}

use towline_kind_of_event::*;

enum What {
    Message {
        message: RawMessage,
        turn: u64,
    },
    Request,
    RequestCancelled {
        key: u64,
        reason: CancelReason,
    },
    Response {
        id: u64,
        subtype: String,
        response: Option<Response>,
    },
    TurnEnded {
        turn: u64,
        outcome: TurnOutcome,
    },
    Stderr(String),
    Diagnostic(Diagnostic),
    Initialized(Response),
    Closed(Closed),
    McpNotification {
        server: String,
        message: RawMessage,
    },
}

pub(crate) struct Happened {
    what: What,
    /// NULL for all but requests.
    request: *mut towline_request,
    /// NULL when nothing went wrong.
    error: *mut towline_error,
    pub(crate) views: Views,
    /// The JSON of an event that the CLI wrote no line for, with a NUL behind it.
    made: OnceLock<String>,
}

// SAFETY: the request and error handles are this event's own, and can be used from any thread.
unsafe impl Send for Happened {}
// SAFETY: as for Send; the rest is Sync by itself.
unsafe impl Sync for Happened {}

handle!(towline_event, Happened, b"tow_evnt");

impl Drop for Happened {
    fn drop(&mut self) {
        // SAFETY: made in `create` and given to nobody for good. A request that somebody is using
        // at this very moment stays behind.
        let _ = unsafe { request::release(self.request) };
        // SAFETY: as above.
        let _ = unsafe { handle::free::<crate::error::ErrorObject>(self.error) };
    }
}

/// An event for C.
pub(crate) fn create(event: Event) -> *mut towline_event {
    let mut request = std::ptr::null_mut();
    let mut error = std::ptr::null_mut();
    let what = match event {
        Event::Initialized(message) => What::Initialized(Response { message }),
        Event::Message { message, turn } => What::Message {
            message,
            turn: turn.map_or(0, |turn| turn.0),
        },
        Event::Request(handle) => {
            request = request::create(Asked::session(handle));
            What::Request
        }
        Event::RequestCancelled { key, reason } => What::RequestCancelled { key: key.0, reason },
        Event::Response {
            id,
            subtype,
            result,
        } => What::Response {
            id: id.0,
            subtype,
            response: result
                .map_err(|failed| error = Failure::from(failed).into_object())
                .ok(),
        },
        Event::McpNotification { server, message } => What::McpNotification { server, message },
        Event::TurnEnded { turn, outcome } => What::TurnEnded {
            turn: turn.0,
            outcome,
        },
        Event::Stderr(line) => What::Stderr(line),
        Event::Diagnostic(diagnostic) => What::Diagnostic(diagnostic),
        Event::Closed(mut closed) => {
            if let Some(failed) = closed.error.take() {
                error = Failure::from(failed).into_object();
            }
            What::Closed(closed)
        }
        other => What::Diagnostic(Diagnostic::Options(format!("{other:?}"))),
    };
    handle::create(Happened::new(what, request, error))
}

/// An event of a bare connection for C.
pub(crate) fn of_connection(
    event: connection::Event,
    owner: &Arc<Mutex<Connection>>,
) -> *mut towline_event {
    use connection::Event as Bare;
    create(match event {
        Bare::Request(request) => {
            let request = request::create(Asked::Connection {
                connection: Arc::downgrade(owner),
                request: Box::new(request),
            });
            return handle::create(Happened::new(What::Request, request, std::ptr::null_mut()));
        }
        Bare::Initialized(message) => Event::Initialized(message),
        Bare::Message { message, turn } => Event::Message { message, turn },
        Bare::RequestCancelled { key, reason } => Event::RequestCancelled { key, reason },
        Bare::Response {
            id,
            subtype,
            result,
        } => Event::Response {
            id,
            subtype,
            result,
        },
        Bare::McpNotification { server, message } => Event::McpNotification { server, message },
        Bare::TurnEnded { turn, outcome } => Event::TurnEnded { turn, outcome },
        Bare::Diagnostic(diagnostic) => Event::Diagnostic(diagnostic),
        other => Event::Diagnostic(Diagnostic::Options(format!("{other:?}"))),
    })
}

/// The answer to a control request that was waited for.
pub(crate) fn response(
    subtype: &str,
    result: Result<Response, RequestError>,
) -> *mut towline_event {
    create(Event::Response {
        id: towline_core::RequestId(0),
        subtype: subtype.into(),
        result,
    })
}

pub(crate) unsafe fn enter<'a>(event: *const towline_event) -> Result<Use<'a, Happened>, Failure> {
    handle::enter::<Happened>(event)
}

impl Happened {
    fn new(what: What, request: *mut towline_request, error: *mut towline_error) -> Happened {
        Happened {
            what,
            request,
            error,
            views: Views::default(),
            made: OnceLock::new(),
        }
    }

    pub(crate) fn kind(&self) -> towline_kind_of_event {
        match &self.what {
            What::Message { .. } => TOWLINE_MESSAGE,
            What::Request => TOWLINE_REQUEST,
            What::RequestCancelled { .. } => TOWLINE_REQUEST_CANCELLED,
            What::Response { .. } => TOWLINE_RESPONSE,
            What::TurnEnded { .. } => TOWLINE_TURN_ENDED,
            What::Stderr(_) => TOWLINE_STDERR,
            What::Diagnostic(_) => TOWLINE_DIAGNOSTIC,
            What::Initialized(_) => TOWLINE_INITIALIZED,
            What::Closed(_) => TOWLINE_CLOSED,
            What::McpNotification { .. } => TOWLINE_MCP_NOTIFICATION,
        }
    }

    /// The message that the event is about.
    fn message(&self) -> Option<&RawMessage> {
        match &self.what {
            What::Message { message, .. }
            | What::TurnEnded {
                outcome: TurnOutcome::Result(message),
                ..
            } => Some(message),
            _ => None,
        }
    }

    /// What pointers are about.
    pub(crate) fn with_json<T>(
        &self,
        look: impl FnOnce(&str) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        match &self.what {
            What::Initialized(response)
            | What::Response {
                response: Some(response),
                ..
            } => look(response.payload()),
            What::Request => {
                // SAFETY: the handle is this event's own.
                let view = unsafe { request::view_json(self.request) }?;
                look(view.as_str())
            }
            _ => match self.message() {
                Some(message) => look(message.json()),
                None => look(self.made()),
            },
        }
    }

    /// The JSON of an event without a line of the CLI.
    fn made(&self) -> &str {
        let terminated = self.made.get_or_init(|| {
            let mut text = self.make().to_string();
            text.push('\0');
            text
        });
        terminated.strip_suffix('\0').unwrap_or(terminated)
    }

    fn make(&self) -> Value {
        match &self.what {
            What::RequestCancelled { key, reason } => json!({
                "request": key,
                "reason": match reason {
                    CancelReason::Withdrawn => "withdrawn",
                    CancelReason::TimedOut => "timed_out",
                    _ => "session_ended",
                },
            }),
            What::TurnEnded { outcome, .. } => match outcome {
                TurnOutcome::TimedOut(deadline) => json!({ "option": deadline.option() }),
                TurnOutcome::SessionEnded(text) => json!({ "result": text }),
                _ => json!({}),
            },
            What::Stderr(line) => json!({ "line": line }),
            What::Diagnostic(diagnostic) => json!({ "message": diagnostic.to_string() }),
            What::Closed(closed) => {
                let mut end = Map::new();
                match closed.failure.exit {
                    Some(Exit::Code(code)) => end.insert("exitCode".into(), code.into()),
                    Some(Exit::Signal(signal)) => end.insert("signal".into(), signal.into()),
                    _ => None,
                };
                if let Some(text) = &closed.failure.transport {
                    end.insert("transport".into(), text.as_str().into());
                }
                end.insert("result".into(), closed.failure.result.as_str().into());
                end.insert("stderr".into(), closed.failure.stderr.as_str().into());
                // SAFETY: the handle is this event's own, or NULL.
                let error = unsafe { crate::error::detail(self.error) };
                end.insert("error".into(), error);
                Value::Object(end)
            }
            What::McpNotification { server, message } => {
                let body = message.body().unwrap_or("{}");
                let found = text_json::pointer(body, "/message").ok().flatten();
                let found = text_json::surrogates_replaced(found.unwrap_or("null"));
                json!({
                    "server": server,
                    "message": serde_json::from_str::<Value>(&found).unwrap_or_default(),
                })
            }
            _ => json!({}),
        }
    }

    fn json_view(&self) -> Result<View, Failure> {
        match &self.what {
            What::Initialized(response)
            | What::Response {
                response: Some(response),
                ..
            } => self.views.get("payload", || Ok(response.payload().into())),
            // SAFETY: the handle is this event's own.
            What::Request => unsafe { request::view_json(self.request) },
            _ => match self.message() {
                Some(message) => Ok(View::terminated(message.json_with_nul())),
                None => {
                    self.made();
                    let made = self.made.get().map_or("\0", String::as_str);
                    Ok(View::terminated(made.as_bytes()))
                }
            },
        }
    }

    fn text(&self) -> Result<View, Failure> {
        match &self.what {
            What::Stderr(line) => self.views.get("text", || Ok(line.clone())),
            What::Diagnostic(diagnostic) => self.views.get("text", || Ok(diagnostic.to_string())),
            What::Message { message, .. } => match message.kind() {
                MessageType::Assistant | MessageType::StreamEvent => {
                    self.views.get("text", || {
                        // What is not as it should be has no text.
                        let text = message.decode().map(|message| message.visible_text());
                        Ok(text.unwrap_or_default().into_owned())
                    })
                }
                _ => Ok(View::EMPTY),
            },
            _ => Ok(View::EMPTY),
        }
    }
}

/// What the event tells.
#[no_mangle]
pub unsafe extern "C" fn towline_event_kind(event: *const towline_event) -> towline_kind_of_event {
    boundary::value(TOWLINE_NO_EVENT, || Ok(enter(event)?.kind()))
}

/// The turn that the event belongs to, as towline_session_send() gave it; 0 for what no prompt of
/// this program asked for.
#[no_mangle]
pub unsafe extern "C" fn towline_event_turn(event: *const towline_event) -> u64 {
    boundary::value(0, || {
        Ok(match &enter(event)?.what {
            What::Message { turn, .. } | What::TurnEnded { turn, .. } => *turn,
            _ => 0,
        })
    })
}

/// The control request that a TOWLINE_RESPONSE answers (0 from towline_session_request_wait()), or
/// the key of the request that a TOWLINE_REQUEST or TOWLINE_REQUEST_CANCELLED is about; else 0.
#[no_mangle]
pub unsafe extern "C" fn towline_event_id(event: *const towline_event) -> u64 {
    boundary::value(0, || {
        let event = enter(event)?;
        Ok(match &event.what {
            What::Response { id, .. } => *id,
            What::RequestCancelled { key, .. } => *key,
            What::Request => request::towline_request_id(event.request),
            _ => 0,
        })
    })
}

/// How the turn of a TOWLINE_TURN_ENDED ended.
#[no_mangle]
pub unsafe extern "C" fn towline_event_outcome(event: *const towline_event) -> towline_outcome {
    use towline_outcome::*;
    boundary::value(TOWLINE_NO_OUTCOME, || {
        Ok(match &enter(event)?.what {
            What::TurnEnded { outcome, .. } => match outcome {
                TurnOutcome::Result(_) => TOWLINE_ENDED_WITH_RESULT,
                TurnOutcome::Cancelled => TOWLINE_ENDED_CANCELLED,
                TurnOutcome::TimedOut(_) => TOWLINE_ENDED_TIMED_OUT,
                _ => TOWLINE_ENDED_WITH_SESSION,
            },
            _ => TOWLINE_NO_OUTCOME,
        })
    })
}

unsafe fn head(
    event: *const towline_event,
    name: &str,
    get: impl FnOnce(&RawMessage) -> Option<&str>,
) -> Result<*const c_char, Failure> {
    let event = enter(event)?;
    let view = match event.message().and_then(get) {
        Some(text) => event.views.get(name, || Ok(text.into()))?,
        None => View::NONE,
    };
    Ok(view.give(std::ptr::null_mut()))
}

/// The `type` of the message that the event is about: `"assistant"`, `"result"`, `"stream_event"`,
/// … The view belongs to the event. NULL when it is about none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_type(event: *const towline_event) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        head(event, "type", |message| Some(message.message_type()))
    })
}

/// The `subtype` of that message, or the subtype of the control request that a TOWLINE_RESPONSE
/// answers. The view belongs to the event. NULL when there is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_subtype(event: *const towline_event) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        let held = enter(event)?;
        if let What::Response { subtype, .. } = &held.what {
            let view = held.views.get("subtype", || Ok(subtype.clone()))?;
            return Ok(view.give(std::ptr::null_mut()));
        }
        head(event, "subtype", RawMessage::subtype)
    })
}

/// The `session_id` of that message. The view belongs to the event. NULL when there is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_session_id(event: *const towline_event) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        head(event, "session_id", RawMessage::session_id)
    })
}

/// The `uuid` of that message. The view belongs to the event. NULL when there is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_uuid(event: *const towline_event) -> *const c_char {
    boundary::value(std::ptr::null(), || head(event, "uuid", RawMessage::uuid))
}

/// The `parent_tool_use_id` of that message, which marks what belongs to a subagent. The view
/// belongs to the event. NULL when there is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_parent_tool_use_id(
    event: *const towline_event,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        head(event, "parent", RawMessage::parent_tool_use_id)
    })
}

/// The JSON of the event, which the kinds of events describe: always one object. The view belongs
/// to the event. NULL when `event` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_event_json(
    event: *const towline_event,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        Ok(enter(event)?.json_view()?.give(len))
    })
}

/// The visible text: the text blocks of an assistant message, one after the other; the text that a
/// `stream_event` adds; the line of a TOWLINE_STDERR; the sentence of a TOWLINE_DIAGNOSTIC. Empty
/// for everything else, never NULL. The view belongs to the event.
///
/// With the option `includePartialMessages` the same text comes in pieces and then whole: tell them
/// apart by towline_event_type(). Text of subagents has towline_event_parent_tool_use_id().
#[no_mangle]
pub unsafe extern "C" fn towline_event_text(
    event: *const towline_event,
    len: *mut usize,
) -> *const c_char {
    boundary::value(c"".as_ptr(), || {
        boundary::set(len, 0);
        Ok(enter(event)?.text()?.give(len))
    })
}

/// The request of a TOWLINE_REQUEST, lent by the event: towline_request_retain() keeps it. NULL for
/// other kinds.
#[no_mangle]
pub unsafe extern "C" fn towline_event_request(
    event: *const towline_event,
) -> *mut towline_request {
    boundary::value(std::ptr::null_mut(), || Ok(enter(event)?.request))
}

/// What went wrong: why a control request has no answer, or how the session failed. NULL when
/// nothing did. It belongs to the event and must not be freed.
#[no_mangle]
pub unsafe extern "C" fn towline_event_error(event: *const towline_event) -> *const towline_error {
    boundary::value(std::ptr::null(), || Ok(enter(event)?.error.cast_const()))
}

/// Frees an event, and what belongs to it. NULL is fine.
#[no_mangle]
pub unsafe extern "C" fn towline_event_free(event: *mut towline_event) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Happened>(event))
}
