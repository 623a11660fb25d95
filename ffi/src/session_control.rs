//! Control requests of the host, and answers to the CLI by key.

use std::ffi::c_char;

use towline_core::protocol::control::catalogue::{
    ControlRequest, Interrupt, Nullable, RewindFiles, SetModel, SetPermissionMode, StopTask,
};
use towline_core::{Answer, RequestId, RequestKey, TurnId};

use crate::boundary;
use crate::error::{towline_error, Failure};
use crate::event::{self, towline_event};
use crate::session::{enter, limit, towline_session};
use crate::status::towline_status;
use crate::text::{name, optional, text, NUL};

unsafe fn send<R: ControlRequest>(
    session: *mut towline_session,
    request: &R,
    id: *mut u64,
) -> Result<(), Failure> {
    let sent = enter(session)?
        .session
        .request(R::SUBTYPE, &request.payload())?;
    boundary::set(id, sent.0);
    Ok(())
}

/// Sends a control request: any subtype, with the JSON object of its fields (NULL for none;
/// `include/schema/control-requests.json` describes those known). Its number goes to `*id` unless
/// `id` is NULL; its answer is the TOWLINE_RESPONSE event with that number. It never blocks.
///
/// Errors: TOWLINE_ERR_ENDED, TOWLINE_ERR_INPUT_ENDED, TOWLINE_ERR_QUEUE_FULL, TOWLINE_ERR_JSON,
/// TOWLINE_ERR_MESSAGE.
#[no_mangle]
pub unsafe extern "C" fn towline_session_request(
    session: *mut towline_session,
    subtype: *const c_char,
    payload: *const c_char,
    len: usize,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let session = enter(session)?;
        let subtype = name("subtype", subtype)?;
        let payload = optional("payload", payload, len)?.unwrap_or("");
        let sent = session.session.request(subtype, payload)?;
        boundary::set(id, sent.0);
        Ok(())
    })
}

/// Sends a control request and waits for its answer, running callbacks on the way; other events
/// stay for the next poll. `*event` is a TOWLINE_RESPONSE that the caller frees, NULL unless
/// TOWLINE_OK is returned. `timeout_ms` below 0 is no limit but that of option controlTimeoutMs.
///
/// Errors: those of towline_session_request(); TOWLINE_TIMEOUT, and the request is withdrawn;
/// TOWLINE_ERR_REMOTE when the CLI refuses; TOWLINE_ERR_REQUEST_TIMEOUT;
/// TOWLINE_ERR_REQUEST_ENDED; TOWLINE_ERR_REENTRANT in a callback.
#[no_mangle]
pub unsafe extern "C" fn towline_session_request_wait(
    session: *mut towline_session,
    subtype: *const c_char,
    payload: *const c_char,
    len: usize,
    timeout_ms: i64,
    event: *mut *mut towline_event,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(event, std::ptr::null_mut(), "event")?;
        let session = enter(session)?;
        session.check_reentrant()?;
        let subtype = name("subtype", subtype)?;
        let payload = optional("payload", payload, len)?.unwrap_or("");
        let response = session
            .session
            .request_wait(subtype, payload, limit(timeout_ms))?;
        out.set(event::response(subtype, Ok(response)));
        Ok(())
    })
}

/// Interrupts what the CLI is doing; prompts that wait run next. Number and answer as with
/// towline_session_request(). From any thread, callbacks too; not in a signal handler.
#[no_mangle]
pub unsafe extern "C" fn towline_session_interrupt(
    session: *mut towline_session,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        send(session, &Interrupt::default(), id)
    })
}

/// Changes the model for what follows; NULL is the account's default. Number and answer as with
/// towline_session_request().
#[no_mangle]
pub unsafe extern "C" fn towline_session_set_model(
    session: *mut towline_session,
    model: *const c_char,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let model = optional("model", model, NUL)?;
        let model = model.map_or(Nullable::Null, |model| Nullable::Value(model.into()));
        send(session, &SetModel { model }, id)
    })
}

/// Changes the permission mode: `"default"`, `"acceptEdits"`, `"plan"`, `"dontAsk"`, … Number and
/// answer as with towline_session_request().
#[no_mangle]
pub unsafe extern "C" fn towline_session_set_permission_mode(
    session: *mut towline_session,
    mode: *const c_char,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let mode = name("mode", mode)?.into();
        send(session, &SetPermissionMode { mode }, id)
    })
}

/// Stops a background task. Number and answer as with towline_session_request().
#[no_mangle]
pub unsafe extern "C" fn towline_session_stop_task(
    session: *mut towline_session,
    task_id: *const c_char,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let task_id = name("task_id", task_id)?.into();
        send(session, &StopTask { task_id }, id)
    })
}

/// Takes files back to what they were at the user message with this uuid; with `dry_run` only tells
/// what would change. Needs option enableFileCheckpointing. Number and answer as with
/// towline_session_request().
#[no_mangle]
pub unsafe extern "C" fn towline_session_rewind_files(
    session: *mut towline_session,
    user_message_id: *const c_char,
    dry_run: bool,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let request = RewindFiles {
            user_message_id: name("user_message_id", user_message_id)?.into(),
            dry_run: dry_run.then_some(true),
        };
        send(session, &request, id)
    })
}

/// Withdraws a control request: the CLI aborts what it can and answers with an error, which still
/// comes. Whether it was open goes to `*was_open` unless that is NULL.
#[no_mangle]
pub unsafe extern "C" fn towline_session_cancel_request(
    session: *mut towline_session,
    id: u64,
    was_open: *mut bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(was_open, false);
        let open = enter(session)?.session.cancel_request(RequestId(id))?;
        boundary::set(was_open, open);
        Ok(())
    })
}

/// Takes back a prompt whose turn has not begun. Number and answer as with
/// towline_session_request(); the turn's end comes as TOWLINE_TURN_ENDED.
///
/// Errors: TOWLINE_ERR_UNKNOWN_TURN.
#[no_mangle]
pub unsafe extern "C" fn towline_session_cancel_turn(
    session: *mut towline_session,
    turn: u64,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let sent = enter(session)?.session.cancel_turn(TurnId(turn))?;
        boundary::set(id, sent.0);
        Ok(())
    })
}

/// Answers a request of the CLI by its key, towline_event_id() or towline_request_id(), as
/// towline_request_respond() does. Its handle must still be held by somebody: an event, a callback
/// or towline_request_retain().
///
/// Errors: TOWLINE_ERR_UNKNOWN_REQUEST and those of towline_request_respond().
#[no_mangle]
pub unsafe extern "C" fn towline_session_respond(
    session: *mut towline_session,
    key: u64,
    json: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session = enter(session)?;
        let answer = Answer::Json(text("json", json, len)?);
        Ok(session.session.respond(RequestKey(key), &answer)?)
    })
}

/// Answers a request of the CLI with an error, by its key. Errors as towline_session_respond().
#[no_mangle]
pub unsafe extern "C" fn towline_session_respond_error(
    session: *mut towline_session,
    key: u64,
    message: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session = enter(session)?;
        let answer = Answer::Error(text("message", message, len)?);
        Ok(session.session.respond(RequestKey(key), &answer)?)
    })
}

/// Sends a JSON-RPC message of an MCP server that was announced with
/// towline_options_bridge_server().
///
/// Errors: TOWLINE_ERR_UNKNOWN_SERVER, TOWLINE_ERR_JSON, and those of towline_session_send().
#[no_mangle]
pub unsafe extern "C" fn towline_session_mcp_send(
    session: *mut towline_session,
    server: *const c_char,
    message: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session = enter(session)?;
        let server = name("server", server)?;
        let message = text("message", message, len)?;
        Ok(session.session.mcp_send(server, message)?)
    })
}
