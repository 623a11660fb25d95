//! The bare protocol, for hosts that own the process or the socket.

use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{json, Value};
use towline_core::protocol::connection::Connection;
use towline_core::{fresh_uuid, Answer, RequestKey};

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::error::{towline_error, Failure};
use crate::event::{self, towline_event};
use crate::handle::{self, handle, Use};
use crate::options::{towline_options, Settings};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{name, optional, text};

/// The protocol without a process: bytes in, bytes and events out. It reads no clock and no
/// descriptor. One thread at a time uses it and answers its requests. Freed with
/// towline_connection_free().
///
/// After every input (bytes, the end, the time, a command) take towline_connection_event() until it
/// returns TOWLINE_TIMEOUT, write towline_connection_outgoing() to the CLI, end the CLI's stdin when
/// towline_connection_wants_end() says so, and come back no later than
/// towline_connection_deadline().
pub struct towline_connection {
    _opaque: [u8; 0],
}

pub(crate) struct Bare {
    connection: Arc<Mutex<Connection>>,
    launch: String,
    /// Every prompt says `client_composed: true`.
    verbatim_prompts: bool,
    /// The size of the read buffer that was handed out last, 0 once it was used.
    room: AtomicUsize,
}

handle!(towline_connection, Bare, b"tow_conn");

pub(crate) fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

unsafe fn enter<'a>(connection: *const towline_connection) -> Result<Use<'a, Bare>, Failure> {
    handle::enter::<Bare>(connection)
}

/// A connection on which `initialize` is queued, with the options and tools of `options`. Callbacks
/// are not called: every request comes as an event, and the arguments of tools are not checked.
/// `now_ms` is the time in milliseconds since a moment of the caller's choice.
///
/// Errors: TOWLINE_ERR_LAUNCH when the options contradict each other.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_new(
    options: *const towline_options,
    now_ms: u64,
    connection: *mut *mut towline_connection,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(connection, std::ptr::null_mut(), "connection")?;
        let content = handle::enter::<Settings>(options)?.lock().clone();
        let options = content.registered.complete(content.options);
        let builder = content.registered.builder(options)?;
        let (connection, plan) = builder.connection(now_ms)?;
        let files: Vec<Value> = plan
            .private_files
            .iter()
            .map(|file| json!({ "flag": file.flag, "name": file.name, "contents": file.contents }))
            .collect();
        let launch = json!({
            "arguments": plan.argv,
            "inheritEnv": plan.env.inherit,
            "env": plan.env.set,
            "unsetEnv": plan.env.unset,
            "cwd": plan.cwd,
            "files": files,
        });
        out.set(handle::create(Bare {
            connection: Arc::new(Mutex::new(connection)),
            launch: launch.to_string(),
            verbatim_prompts: plan.client_composed,
            room: AtomicUsize::new(0),
        }));
        Ok(())
    })
}

/// How the CLI has to be launched for these options, a JSON object: `arguments` behind the
/// executable; `env` and `unsetEnv`, over the inherited environment when `inheritEnv`; `cwd`;
/// `files`, each to be written with mode 0600 as `name` and passed as `flag=PATH`. It holds secrets.
/// Free `*json` with towline_buffer_free().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_launch_json(
    connection: *const towline_connection,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(json, std::ptr::null_mut(), "json")?;
        out.set(buffer::create(enter(connection)?.launch.clone()));
        Ok(())
    })
}

/// Frees a connection. NULL is fine. Events and requests of it stay valid.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_free(
    connection: *mut towline_connection,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Bare>(connection))
}

/// Room to read the CLI's output into: never empty, valid until the next call on this connection.
/// Tell how much was read with towline_connection_received().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_buffer(
    connection: *mut towline_connection,
    data: *mut *mut c_void,
    capacity: *mut usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let data = boundary::required(data, std::ptr::null_mut(), "data")?;
        let capacity = boundary::required(capacity, 0, "capacity")?;
        let bare = enter(connection)?;
        let mut connection = lock(&bare.connection);
        let room = connection.read_buffer();
        bare.room.store(room.len(), Ordering::Relaxed);
        capacity.set(room.len());
        data.set(room.as_mut_ptr().cast());
        Ok(())
    })
}

/// The first `count` bytes of the buffer that was handed out last now hold output of the CLI.
///
/// Errors: TOWLINE_ERR_ARGUMENT when that buffer is not as large, or was used already.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_received(
    connection: *mut towline_connection,
    count: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let bare = enter(connection)?;
        let room = bare.room.swap(0, Ordering::Relaxed);
        if count > room {
            return Err(Failure::new(
                TOWLINE_ERR_ARGUMENT,
                format!("count: {count} bytes do not fit the {room} that were handed out"),
            ));
        }
        lock(&bare.connection).received(count);
        Ok(())
    })
}

/// Takes output of the CLI that stands elsewhere, at the price of one copy.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_receive(
    connection: *mut towline_connection,
    data: *const c_void,
    count: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let bare = enter(connection)?;
        if data.is_null() {
            return Err(Failure::new(
                TOWLINE_ERR_NULL,
                "data: bytes are needed, and NULL was given",
            ));
        }
        if isize::try_from(count).is_err() {
            return Err(Failure::new(
                TOWLINE_ERR_LENGTH,
                format!("count: no data is {count} bytes long"),
            ));
        }
        bare.room.store(0, Ordering::Relaxed);
        // SAFETY: not null and of a possible length; that so many bytes can be read is what the
        // header asks of callers.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), count) };
        lock(&bare.connection).receive(bytes);
        Ok(())
    })
}

/// The CLI's output has ended: everything open ends with it.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_ended(
    connection: *mut towline_connection,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        lock(&enter(connection)?.connection).output_ended();
        Ok(())
    })
}

/// The next thing that happened. `*event` belongs to the caller; it is NULL unless TOWLINE_OK is
/// returned. TOWLINE_TIMEOUT, without an error object, means that there is nothing more.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_event(
    connection: *mut towline_connection,
    event: *mut *mut towline_event,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(event, std::ptr::null_mut(), "event")?;
        let bare = enter(connection)?;
        let next = lock(&bare.connection).poll_event();
        match next {
            Some(event) => out.set(event::of_connection(event, &bare.connection)),
            None => return Err(Failure::quiet(TOWLINE_TIMEOUT)),
        }
        Ok(())
    })
}

/// Bytes for the CLI's stdin, valid until the next call on this connection. Tell how many were
/// written with towline_connection_sent().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_outgoing(
    connection: *mut towline_connection,
    data: *mut *const c_void,
    count: *mut usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let data = boundary::required(data, std::ptr::null(), "data")?;
        let count = boundary::required(count, 0, "count")?;
        let bare = enter(connection)?;
        let connection = lock(&bare.connection);
        let bytes = connection.outgoing();
        count.set(bytes.len());
        data.set(bytes.as_ptr().cast());
        Ok(())
    })
}

/// The first `count` bytes of towline_connection_outgoing() were written.
///
/// Errors: TOWLINE_ERR_ARGUMENT when there are fewer.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_sent(
    connection: *mut towline_connection,
    count: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let bare = enter(connection)?;
        let mut connection = lock(&bare.connection);
        let queued = connection.outgoing().len();
        if count > queued {
            return Err(Failure::new(
                TOWLINE_ERR_ARGUMENT,
                format!("count: {count} bytes were not written, {queued} are queued"),
            ));
        }
        connection.sent(count);
        Ok(())
    })
}

/// Whether the CLI's stdin is to be ended now: the host is done and everything is written.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_wants_end(
    connection: *mut towline_connection,
    wants: *mut bool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(wants, false, "wants")?;
        out.set(lock(&enter(connection)?.connection).wants_end_of_input());
        Ok(())
    })
}

/// When towline_connection_time() has to be called at the latest, on the caller's clock; -1 is
/// never.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_deadline(
    connection: *mut towline_connection,
    deadline_ms: *mut i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(deadline_ms, -1, "deadline_ms")?;
        let deadline = lock(&enter(connection)?.connection).deadline();
        out.set(deadline.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)));
        Ok(())
    })
}

/// Tells the time, which never goes back; deadlines that have passed become events.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_time(
    connection: *mut towline_connection,
    now_ms: u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        lock(&enter(connection)?.connection).handle_timeout(now_ms);
        Ok(())
    })
}

/// Sends a prompt; as towline_session_send().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_send(
    connection: *mut towline_connection,
    prompt: *const c_char,
    len: usize,
    turn: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        use towline_core::protocol::control::envelope::UserMessage;
        boundary::set(turn, 0);
        let bare = enter(connection)?;
        let mut message = UserMessage::text(text("prompt", prompt, len)?);
        message.uuid = Some(fresh_uuid().into());
        message.client_composed = bare.verbatim_prompts;
        let sent = lock(&bare.connection).send_user(&message)?;
        boundary::set(turn, sent.0);
        Ok(())
    })
}

/// Sends a user message given as a whole JSON object; as towline_session_send_json().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_send_json(
    connection: *mut towline_connection,
    message: *const c_char,
    len: usize,
    turn: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(turn, 0);
        let bare = enter(connection)?;
        let message = text("message", message, len)?;
        let sent = lock(&bare.connection).send_user_json(message, &fresh_uuid())?;
        boundary::set(turn, sent.0);
        Ok(())
    })
}

/// Sends a control request; as towline_session_request().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_request(
    connection: *mut towline_connection,
    subtype: *const c_char,
    payload: *const c_char,
    len: usize,
    id: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(id, 0);
        let bare = enter(connection)?;
        let subtype = name("subtype", subtype)?;
        let payload = optional("payload", payload, len)?.unwrap_or("");
        let sent = lock(&bare.connection).request(subtype, payload)?;
        boundary::set(id, sent.0);
        Ok(())
    })
}

/// Answers a request of the CLI by its key; as towline_session_respond().
#[no_mangle]
pub unsafe extern "C" fn towline_connection_respond(
    connection: *mut towline_connection,
    key: u64,
    json: *const c_char,
    len: usize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let bare = enter(connection)?;
        let answer = Answer::Json(text("json", json, len)?);
        let answered = lock(&bare.connection).respond(RequestKey(key), &answer);
        Ok(answered?)
    })
}

/// Ends the host's input: what is queued is still written.
#[no_mangle]
pub unsafe extern "C" fn towline_connection_end_input(
    connection: *mut towline_connection,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        lock(&enter(connection)?.connection).finish_input();
        Ok(())
    })
}
