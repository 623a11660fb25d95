//! What the CLI asks: a handle that is answered once, now or later, from any thread.

use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Weak};

use towline_core::protocol::connection::{self, Connection, LocalError};
use towline_core::protocol::control::answer::{PermissionResult, PermissionUpdates};
use towline_core::protocol::mcp::CallResult;
use towline_core::{Answer, Error, RequestHandle, RequestKey, RequestKind, TraceContext};

use crate::boundary;
use crate::connection::lock;
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle, Use};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, optional, text, View, Views, NUL};
use crate::values;

/// A request of the CLI, to be answered once, by one of the towline_request_ functions that do so
/// or by towline_session_respond(). All functions on it can be called from any thread.
///
/// It is counted: a callback and towline_event_request() lend one that they own;
/// towline_request_retain() keeps it, each such call needs one towline_request_free(). When nobody
/// holds it and nobody has answered, the safe answer is sent: a permission is denied, a hook
/// reports an error, a tool call gets an error result, an elicitation is cancelled. An answer that
/// comes too late is harmless: TOWLINE_ERR_ANSWERED or TOWLINE_ERR_WITHDRAWN.
pub struct towline_request {
    _opaque: [u8; 0],
}

/// What is asked.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum towline_kind_of_request {
    /// No request: the handle is none.
    TOWLINE_ASKS_NOTHING = 0,
    /// May this tool run?
    TOWLINE_ASKS_PERMISSION = 1,
    /// A hook is called.
    TOWLINE_ASKS_HOOK = 2,
    /// A tool of this program is called.
    TOWLINE_ASKS_TOOL_CALL = 3,
    /// A resource of an in-process MCP server is read.
    TOWLINE_ASKS_RESOURCE = 4,
    /// A prompt of an in-process MCP server is wanted.
    TOWLINE_ASKS_PROMPT = 5,
    /// A JSON-RPC request for an MCP server that the host runs itself.
    TOWLINE_ASKS_MCP_MESSAGE = 6,
    /// An external MCP server wants something of the user.
    TOWLINE_ASKS_ELICITATION = 7,
    /// A dialog is to be shown.
    TOWLINE_ASKS_DIALOG = 8,
    /// Anything else; `"/subtype"` tells what.
    TOWLINE_ASKS_OTHER = 9,
}

/// A request, wherever it came from.
pub(crate) enum Asked {
    /// Of a session, which this process owns.
    Session { handle: RequestHandle, owner: u32 },
    /// Of a bare connection.
    Connection {
        connection: Weak<Mutex<Connection>>,
        request: Box<connection::Request>,
    },
}

impl Asked {
    pub(crate) fn session(handle: RequestHandle) -> Asked {
        Asked::Session {
            handle,
            owner: std::process::id(),
        }
    }

    pub(crate) fn kind(&self) -> &RequestKind {
        match self {
            Asked::Session { handle, .. } => handle.kind(),
            Asked::Connection { request, .. } => &request.kind,
        }
    }

    pub(crate) fn key(&self) -> RequestKey {
        match self {
            Asked::Session { handle, .. } => handle.key(),
            Asked::Connection { request, .. } => request.key,
        }
    }

    pub(crate) fn json(&self) -> &str {
        match self {
            Asked::Session { handle, .. } => handle.json(),
            Asked::Connection { request, .. } => request.json(),
        }
    }

    fn trace_context(&self) -> Option<TraceContext> {
        match self {
            Asked::Session { handle, .. } => handle.trace_context(),
            // Nobody has started its CLI here.
            Asked::Connection { .. } => None,
        }
    }

    fn is_cancelled(&self) -> Result<bool, Failure> {
        match self {
            // After a fork the lock of the session may be held for ever.
            Asked::Session { owner, .. } if std::process::id() != *owner => {
                Err(Error::Forked { owner: *owner }.into())
            }
            Asked::Session { handle, .. } => Ok(handle.is_cancelled()),
            Asked::Connection { connection, .. } => {
                let Some(connection) = connection.upgrade() else {
                    return Ok(true);
                };
                let open = lock(&connection).is_request_open(self.key());
                Ok(!open)
            }
        }
    }

    fn respond(&self, answer: &Answer<'_>) -> Result<(), Failure> {
        match self {
            Asked::Session { handle, .. } => Ok(handle.respond(answer)?),
            Asked::Connection { connection, .. } => {
                let connection = connection.upgrade().ok_or(Error::Closed)?;
                let answered = lock(&connection).respond(self.key(), answer);
                Ok(answered?)
            }
        }
    }

    fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<bool, Failure> {
        match (self, self.kind()) {
            (Asked::Session { handle, .. }, _) => Ok(handle.progress(progress, total, message)?),
            (Asked::Connection { connection, .. }, RequestKind::ToolCall { server, call, .. }) => {
                let connection = connection.upgrade().ok_or(Error::Closed)?;
                let told = lock(&connection).with_server(server, |server| {
                    server.progress(*call, progress, total, message)
                });
                Ok(told?)
            }
            (Asked::Connection { .. }, kind) => Err(LocalError::WrongAnswer {
                kind: kind.name(),
                reason: "progress belongs to a tool call".into(),
            }
            .into()),
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // A session's own handle does the same.
        let Asked::Connection { connection, .. } = self else {
            return;
        };
        let Some(connection) = connection.upgrade() else {
            return;
        };
        let mut connection = lock(&connection);
        if connection.is_request_open(self.key()) {
            // It is open, so there is an answer to it.
            let _ = connection.respond_safely(self.key(), "The host gave no answer");
        }
    }
}

pub(crate) struct Counted {
    asked: Asked,
    holders: AtomicUsize,
    views: Views,
}

handle!(towline_request, Counted, b"tow_rqst");

/// A handle with one holder.
pub(crate) fn create(asked: Asked) -> *mut towline_request {
    handle::create(Counted {
        asked,
        holders: AtomicUsize::new(1),
        views: Views::default(),
    })
}

/// One holder less; without any the handle is freed.
pub(crate) unsafe fn release(request: *mut towline_request) -> Result<(), Failure> {
    if request.is_null() {
        return Ok(());
    }
    {
        let counted = handle::enter::<Counted>(request)?;
        if counted.holders.fetch_sub(1, Ordering::AcqRel) > 1 {
            return Ok(());
        }
    }
    let freed = handle::free::<Counted>(request);
    if freed.is_err() {
        if let Ok(counted) = handle::enter::<Counted>(request) {
            counted.holders.fetch_add(1, Ordering::AcqRel);
        }
    }
    freed
}

unsafe fn enter<'a>(request: *const towline_request) -> Result<Use<'a, Counted>, Failure> {
    handle::enter::<Counted>(request)
}

unsafe fn respond(request: *const towline_request, answer: &Answer<'_>) -> Result<(), Failure> {
    enter(request)?.asked.respond(answer)
}

pub(crate) fn kind_of(kind: &RequestKind) -> towline_kind_of_request {
    use towline_kind_of_request::*;
    match kind {
        RequestKind::Permission => TOWLINE_ASKS_PERMISSION,
        RequestKind::Hook { .. } => TOWLINE_ASKS_HOOK,
        RequestKind::ToolCall { .. } => TOWLINE_ASKS_TOOL_CALL,
        RequestKind::ResourceRead { .. } => TOWLINE_ASKS_RESOURCE,
        RequestKind::PromptGet { .. } => TOWLINE_ASKS_PROMPT,
        RequestKind::McpMessage { .. } => TOWLINE_ASKS_MCP_MESSAGE,
        RequestKind::Elicitation => TOWLINE_ASKS_ELICITATION,
        RequestKind::Dialog => TOWLINE_ASKS_DIALOG,
        _ => TOWLINE_ASKS_OTHER,
    }
}

/// The key of the request, unique within its session; 0 when `request` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_id(request: *const towline_request) -> u64 {
    boundary::value(0, || Ok(enter(request)?.asked.key().0))
}

/// What is asked.
#[no_mangle]
pub unsafe extern "C" fn towline_request_kind(
    request: *const towline_request,
) -> towline_kind_of_request {
    boundary::value(towline_kind_of_request::TOWLINE_ASKS_NOTHING, || {
        Ok(kind_of(enter(request)?.asked.kind()))
    })
}

/// The `request` object as the CLI sent it, JSON text. The view belongs to the request. NULL when
/// `request` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_json(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        Ok(values::raw(&request.views, request.asked.json(), "")?.give(len))
    })
}

/// The string at a JSON Pointer (RFC 6901) into the `request` object, decoded: `"/tool_name"`,
/// `"/input/command"`. The view belongs to the request. NULL when there is none, or it is no string.
#[no_mangle]
pub unsafe extern "C" fn towline_request_str(
    request: *const towline_request,
    pointer: *const c_char,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let pointer = name("pointer", pointer)?;
        Ok(values::string(&request.views, request.asked.json(), pointer)?.give(len))
    })
}

/// The JSON text of the value at a JSON Pointer. The view belongs to the request. NULL when there
/// is none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_value(
    request: *const towline_request,
    pointer: *const c_char,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let pointer = name("pointer", pointer)?;
        Ok(values::raw(&request.views, request.asked.json(), pointer)?.give(len))
    })
}

/// The W3C trace context that the request belongs to, as header `traceparent`: what the CLI says in
/// a tool call's `_meta`, else that of the session (option `traceparent`, or `TRACEPARENT` of the
/// CLI). The view belongs to the request. NULL without a valid one.
#[no_mangle]
pub unsafe extern "C" fn towline_request_traceparent(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let context = request.asked.trace_context().ok_or_else(no_trace)?;
        let view = request
            .views
            .get("traceparent", || Ok(context.traceparent))?;
        Ok(view.give(len))
    })
}

/// What goes with it as header `tracestate`. The view belongs to the request. NULL without one.
#[no_mangle]
pub unsafe extern "C" fn towline_request_tracestate(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let context = request.asked.trace_context();
        let state = context.and_then(|context| context.tracestate);
        let state = state.ok_or_else(no_trace)?;
        Ok(request.views.get("tracestate", || Ok(state))?.give(len))
    })
}

fn no_trace() -> Failure {
    Failure::new(TOWLINE_ERR_ABSENT, "the request belongs to no trace")
}

/// The whole number at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_request_int(
    request: *const towline_request,
    pointer: *const c_char,
    value: *mut i64,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0, "value")?;
        let request = enter(request)?;
        value.set(values::integer(
            request.asked.json(),
            name("pointer", pointer)?,
        )?);
        Ok(())
    })
}

/// The number at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_request_double(
    request: *const towline_request,
    pointer: *const c_char,
    value: *mut f64,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0.0, "value")?;
        let request = enter(request)?;
        value.set(values::double(
            request.asked.json(),
            name("pointer", pointer)?,
        )?);
        Ok(())
    })
}

/// The true or false at a JSON Pointer.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_request_bool(
    request: *const towline_request,
    pointer: *const c_char,
    value: *mut bool,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, false, "value")?;
        let request = enter(request)?;
        value.set(values::boolean(
            request.asked.json(),
            name("pointer", pointer)?,
        )?);
        Ok(())
    })
}

/// How many elements the array at a JSON Pointer has, members the object, bytes the string.
///
/// Errors: TOWLINE_ERR_ABSENT, TOWLINE_ERR_TYPE, TOWLINE_ERR_POINTER.
#[no_mangle]
pub unsafe extern "C" fn towline_request_length(
    request: *const towline_request,
    pointer: *const c_char,
    value: *mut usize,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        let value = boundary::required(value, 0, "value")?;
        let request = enter(request)?;
        value.set(values::length(
            request.asked.json(),
            name("pointer", pointer)?,
        )?);
        Ok(())
    })
}

/// Whether null stands at a JSON Pointer, or nothing at all. True when `request` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_is_null(
    request: *const towline_request,
    pointer: *const c_char,
) -> bool {
    boundary::value(true, || {
        let request = enter(request)?;
        values::is_null(request.asked.json(), name("pointer", pointer)?)
    })
}

/// The name of the tool that a permission request or a tool call is about; of an in-process tool
/// without `mcp__SERVER__`. The view belongs to the request. NULL when it is about none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_tool(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let view = match request.asked.kind() {
            RequestKind::ToolCall { tool, .. } => {
                request.views.get("tool", || Ok(tool.to_string()))?
            }
            _ => values::string(&request.views, request.asked.json(), "/tool_name")?,
        };
        Ok(view.give(len))
    })
}

/// The in-process MCP server that the request is for. The view belongs to the request. NULL when
/// it is for none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_server(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        Ok(values::string(&request.views, request.asked.json(), "/server_name")?.give(len))
    })
}

/// The arguments of a tool call or prompt, or the input of the tool that a permission request is
/// about: JSON text of an object, `"{}"` when there is none. The view belongs to the request. NULL
/// when `request` is none.
#[no_mangle]
pub unsafe extern "C" fn towline_request_arguments(
    request: *const towline_request,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let request = enter(request)?;
        let pointer = match request.asked.kind() {
            RequestKind::Permission => "/input",
            _ => "/message/params/arguments",
        };
        let view = request.views.get("arguments", || {
            let found = values::find(request.asked.json(), pointer);
            Ok(found.unwrap_or("{}").to_string())
        })?;
        Ok(view.give(len))
    })
}

/// Whether nobody waits for an answer any more: it was answered, the CLI took it back, its time
/// limit passed, or the session ended. True when `request` is none, and after fork().
#[no_mangle]
pub unsafe extern "C" fn towline_request_cancelled(request: *const towline_request) -> bool {
    boundary::value(true, || enter(request)?.asked.is_cancelled())
}

/// Keeps the request beyond its callback or event. Each such call needs one
/// towline_request_free().
#[no_mangle]
pub unsafe extern "C" fn towline_request_retain(request: *mut towline_request) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        enter(request)?.holders.fetch_add(1, Ordering::AcqRel);
        Ok(())
    })
}

/// Ends one towline_request_retain(). When it was the last hold and nobody has answered, the safe
/// answer is sent. NULL is fine. Never for a request that a callback or an event lent.
#[no_mangle]
pub unsafe extern "C" fn towline_request_free(request: *mut towline_request) -> towline_status {
    boundary::call(std::ptr::null_mut(), || release(request))
}

/// Allows what a permission request asks. `input` is NULL, or the JSON object that the tool gets
/// in place of its input; `permissions` is NULL, or a JSON array of permission updates, such as the
/// request's own `"/permission_suggestions"`; both end with a NUL.
///
/// Errors: TOWLINE_ERR_ANSWERED, TOWLINE_ERR_WITHDRAWN; TOWLINE_ERR_WRONG_ANSWER when it is no
/// permission request; TOWLINE_ERR_JSON and TOWLINE_ERR_MESSAGE when the CLI would not take it: then
/// the request is still open.
#[no_mangle]
pub unsafe extern "C" fn towline_request_allow(
    request: *mut towline_request,
    input: *const c_char,
    permissions: *const c_char,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let input = optional("input", input, NUL)?;
        let permissions = optional("permissions", permissions, NUL)?;
        respond(
            request,
            &Answer::Permission(PermissionResult::Allow {
                updated_input: input,
                updated_permissions: permissions.map(PermissionUpdates::Json),
                decision_classification: None,
            }),
        )
    })
}

/// Denies what a permission request asks. The model reads `message`; with `interrupt` the turn
/// ends too. Errors as towline_request_allow().
#[no_mangle]
pub unsafe extern "C" fn towline_request_deny(
    request: *mut towline_request,
    message: *const c_char,
    len: usize,
    interrupt: bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let message = text("message", message, len)?;
        respond(
            request,
            &Answer::Permission(PermissionResult::Deny {
                message: message.into(),
                interrupt,
                decision_classification: None,
            }),
        )
    })
}

/// Answers with the JSON text of the payload: a hook's output, the result of an elicitation or a
/// dialog, a permission result, the whole result of a tool call, a JSON-RPC response to an MCP
/// message. It is checked against what the CLI takes. Errors as towline_request_allow().
#[no_mangle]
pub unsafe extern "C" fn towline_request_respond(
    request: *mut towline_request,
    json: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        respond(request, &Answer::Json(text("json", json, len)?))
    })
}

/// Answers with an error. To a tool call it is an error result for the model to read. Errors:
/// TOWLINE_ERR_ANSWERED, TOWLINE_ERR_WITHDRAWN.
#[no_mangle]
pub unsafe extern "C" fn towline_request_respond_error(
    request: *mut towline_request,
    message: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        respond(request, &Answer::Error(text("message", message, len)?))
    })
}

/// Answers a tool call with a text; with `is_error` it is a failure for the model to read. Errors
/// as towline_request_allow().
#[no_mangle]
pub unsafe extern "C" fn towline_request_tool_text(
    request: *mut towline_request,
    result: *const c_char,
    len: usize,
    is_error: bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let result = text("result", result, len)?;
        respond(
            request,
            &Answer::Call(match is_error {
                true => CallResult::error(result),
                false => CallResult::text(result),
            }),
        )
    })
}

/// Answers a tool call with a whole MCP result, a JSON object: `content`, `structuredContent`,
/// `isError`. JSON of the wrong shape becomes an error result that says what is wrong. Errors as
/// towline_request_allow().
#[no_mangle]
pub unsafe extern "C" fn towline_request_tool_json(
    request: *mut towline_request,
    result: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let result = text("result", result, len)?;
        respond(request, &Answer::Call(CallResult::json(result)))
    })
}

/// Tells how far a tool call has come: `progress` of `total` (negative: unknown), with a `message`
/// or NULL. Nothing is sent when the CLI asked for no progress. The call stays open.
///
/// Errors: TOWLINE_ERR_WRONG_ANSWER when it is no tool call; TOWLINE_ERR_CLOSED after the session's
/// end; TOWLINE_ERR_ARGUMENT for what is no number.
#[no_mangle]
pub unsafe extern "C" fn towline_request_tool_progress(
    request: *mut towline_request,
    progress: f64,
    total: f64,
    message: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let request = enter(request)?;
        let message = optional("message", message, len)?;
        if !progress.is_finite() || !total.is_finite() {
            return Err(Failure::new(
                TOWLINE_ERR_ARGUMENT,
                "progress and total: numbers are needed",
            ));
        }
        let total = (total >= 0.0).then_some(total);
        request.asked.progress(progress, total, message)?;
        Ok(())
    })
}

/// A request as JSON, with its views kept by the request itself.
pub(crate) unsafe fn view_json(request: *const towline_request) -> Result<View, Failure> {
    let request = enter(request)?;
    values::raw(&request.views, request.asked.json(), "")
}
