//! Sessions: starting, sending, polling, ending.

use std::ffi::c_char;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use towline_core::{Error, Event, PooledSession, Session};

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::callback::LineCallback;
use crate::error::{towline_error, Failure};
use crate::event::{self, towline_event};
use crate::handle::{self, handle, Use};
use crate::options::{towline_options, Settings, Shared};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::{text, View, Views};

/// A conversation with one CLI process. Freed with towline_session_free().
///
/// It starts no thread: towline_session_poll(), _connect(), _request_wait() and _close() do the
/// I/O and run the callbacks on the thread that calls them, one thread at a time. Everything else
/// can be called from any thread, callbacks too, and wakes the thread that polls.
pub struct towline_session {
    _opaque: [u8; 0],
}

/// A session of the host's own, or of a pool.
pub(crate) enum Held {
    Own(Session),
    Pooled(PooledSession),
}

impl std::ops::Deref for Held {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Held::Own(session) => session,
            Held::Pooled(session) => session,
        }
    }
}

pub(crate) struct Conversation {
    pub(crate) session: Held,
    owner: u32,
    log: Shared<LineCallback>,
    /// The thread that runs the log callback, 0 for none.
    logging: AtomicUsize,
    views: Views,
}

handle!(towline_session, Conversation, b"tow_sess");

thread_local! {
    static THREAD: u8 = const { 0 };
}

/// A number that no other running thread has.
fn this_thread() -> usize {
    THREAD.with(|mark| std::ptr::from_ref(mark) as usize)
}

impl Conversation {
    pub(crate) fn new(session: Held, log: Shared<LineCallback>) -> Conversation {
        Conversation {
            session,
            owner: std::process::id(),
            log,
            logging: AtomicUsize::new(0),
            views: Views::default(),
        }
    }

    /// The session again, which no call uses; with the log it was given out with.
    pub(crate) fn into_parts(self) -> (Held, Shared<LineCallback>) {
        (self.session, self.log)
    }

    /// After a fork the locks of the session may be held for ever.
    fn check_fork(&self) -> Result<(), Failure> {
        match std::process::id() == self.owner {
            true => Ok(()),
            false => Err(Error::Forked { owner: self.owner }.into()),
        }
    }

    /// What waits may not be called in the log callback, as in any other.
    pub(crate) fn check_reentrant(&self) -> Result<(), Failure> {
        match self.logging.load(Ordering::Relaxed) == this_thread() {
            true => Err(Error::Reentrant.into()),
            false => Ok(()),
        }
    }

    /// The next event that is no diagnostic for the log callback.
    fn poll(&self, limit: Option<Duration>) -> Result<Option<Event>, Failure> {
        self.check_reentrant()?;
        let Some(log) = &self.log else {
            return Ok(self.session.poll(limit)?);
        };
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut left = limit;
        loop {
            match self.session.poll(left)? {
                Some(Event::Diagnostic(diagnostic)) => {
                    self.logging.store(this_thread(), Ordering::Relaxed);
                    log.call(&diagnostic.to_string());
                    self.logging.store(0, Ordering::Relaxed);
                }
                event => return Ok(event),
            }
            left = until.map(|until| until.saturating_duration_since(Instant::now()));
        }
    }
}

pub(crate) unsafe fn enter<'a>(
    session: *const towline_session,
) -> Result<Use<'a, Conversation>, Failure> {
    handle::enter::<Conversation>(session)
}

/// A time limit in milliseconds; below 0 there is none.
pub(crate) fn limit(ms: i64) -> Option<Duration> {
    u64::try_from(ms).ok().map(Duration::from_millis)
}

/// Starts the CLI and returns at once: the session opens inside towline_session_poll(). Prompts may
/// be sent before. `*session` is NULL after a failure.
///
/// Errors: TOWLINE_ERR_CLI_NOT_FOUND, TOWLINE_ERR_NOT_EXECUTABLE, TOWLINE_ERR_CWD,
/// TOWLINE_ERR_ARGUMENTS_TOO_LONG, TOWLINE_ERR_LAUNCH when the options contradict each other,
/// TOWLINE_ERR_TOOL when a tool's schema is none, TOWLINE_ERR_START.
#[no_mangle]
pub unsafe extern "C" fn towline_session_create(
    options: *const towline_options,
    session: *mut *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(session, std::ptr::null_mut(), "session")?;
        let content = handle::enter::<Settings>(options)?.lock().clone();
        let registered = content.registered;
        let options = registered.complete(content.options);
        let session = registered.start(options)?;
        let session = Conversation::new(Held::Own(session), registered.log.clone());
        out.set(handle::create(session));
        Ok(())
    })
}

/// Waits until the session is open, running callbacks on the way; events stay for the next poll.
/// Not needed, but it tells at once what is wrong. TOWLINE_OK too for a session that was open and is
/// over by now. `timeout_ms` below 0 is no limit.
///
/// Errors: TOWLINE_TIMEOUT; TOWLINE_ERR_EXITED_EARLY, TOWLINE_ERR_REFUSED,
/// TOWLINE_ERR_INITIALIZE_TIMEOUT, each with the process's status and stderr in its detail;
/// TOWLINE_ERR_REENTRANT in a callback.
#[no_mangle]
pub unsafe extern "C" fn towline_session_connect(
    session: *mut towline_session,
    timeout_ms: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session = enter(session)?;
        session.check_reentrant()?;
        Ok(session.session.connect(limit(timeout_ms))?)
    })
}

/// Sends a prompt. The turn's number, never 0, goes to `*turn` unless `turn` is NULL: events name
/// it. It never blocks.
///
/// Errors: TOWLINE_ERR_ENDED, TOWLINE_ERR_INPUT_ENDED, TOWLINE_ERR_QUEUE_FULL.
#[no_mangle]
pub unsafe extern "C" fn towline_session_send(
    session: *mut towline_session,
    prompt: *const c_char,
    len: usize,
    turn: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(turn, 0);
        let session = enter(session)?;
        let sent = session.session.send(text("prompt", prompt, len)?)?;
        boundary::set(turn, sent.0);
        Ok(())
    })
}

/// Sends a user message given as a whole JSON object: `{"type":"user","message":{"role":"user",
/// "content":[…]}}`, with `uuid`, `priority` and more if need be. Without a `uuid` it gets one.
///
/// Errors: those of towline_session_send(); TOWLINE_ERR_JSON; TOWLINE_ERR_MESSAGE for what the CLI
/// would drop or die of; TOWLINE_ERR_DUPLICATE_UUID.
#[no_mangle]
pub unsafe extern "C" fn towline_session_send_json(
    session: *mut towline_session,
    message: *const c_char,
    len: usize,
    turn: *mut u64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        boundary::set(turn, 0);
        let session = enter(session)?;
        let sent = session.session.send_json(text("message", message, len)?)?;
        boundary::set(turn, sent.0);
        Ok(())
    })
}

/// Does what is ready, runs the callbacks of what the CLI asks, and gives the next event; waits for
/// one up to `timeout_ms`, below 0 for ever, 0 not at all. `*event` belongs to the caller; it is
/// NULL unless TOWLINE_OK is returned.
///
/// TOWLINE_TIMEOUT, without an error object, means that there was none, or that
/// towline_session_wake() was called. The last event is TOWLINE_CLOSED; after it, TOWLINE_ERR_CLOSED.
///
/// Errors: TOWLINE_ERR_CLOSED, TOWLINE_ERR_BUSY when another thread polls, TOWLINE_ERR_REENTRANT
/// in a callback, TOWLINE_ERR_SYSTEM.
#[no_mangle]
pub unsafe extern "C" fn towline_session_poll(
    session: *mut towline_session,
    timeout_ms: i64,
    event: *mut *mut towline_event,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(event, std::ptr::null_mut(), "event")?;
        let session = enter(session)?;
        match session.poll(limit(timeout_ms))? {
            Some(event) => out.set(event::create(event)),
            None => return Err(Failure::quiet(TOWLINE_TIMEOUT)),
        }
        Ok(())
    })
}

/// The descriptor to watch for reading in an event loop: ready whenever a poll with a limit of 0
/// would make progress, together with towline_session_next_timeout(). It belongs to the session:
/// neither read nor close it. The same one for the whole life of the session.
///
/// Errors: TOWLINE_ERR_CLOSED when the session has ended and nobody asked for it before.
#[no_mangle]
pub unsafe extern "C" fn towline_session_fd(
    session: *mut towline_session,
    fd: *mut i32,
    error: *mut *mut towline_error,
) -> towline_status {
    use std::os::fd::AsRawFd;
    boundary::call(error, || {
        let out = boundary::required(fd, -1, "fd")?;
        out.set(enter(session)?.session.fd()?.as_raw_fd());
        Ok(())
    })
}

/// How many milliseconds the event loop may wait on the descriptor before it must poll all the
/// same; -1 is for ever.
#[no_mangle]
pub unsafe extern "C" fn towline_session_next_timeout(
    session: *mut towline_session,
    timeout_ms: *mut i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(timeout_ms, 0, "timeout_ms")?;
        // Rounded up: waking early would mean waiting again.
        let wait = enter(session)?.session.next_timeout()?;
        out.set(wait.map_or(-1, |wait| {
            i64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
        }));
        Ok(())
    })
}

/// Makes a waiting poll return TOWLINE_TIMEOUT, or the next one if none waits. From any thread.
#[no_mangle]
pub unsafe extern "C" fn towline_session_wake(
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || Ok(enter(session)?.session.wake()?))
}

/// Ends the input: what was sent is still worked through, then the CLI exits by itself. What it
/// would ask after that (permissions, hooks, tools) it does not ask any more. Go on polling until
/// TOWLINE_CLOSED.
#[no_mangle]
pub unsafe extern "C" fn towline_session_end_input(
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || Ok(enter(session)?.session.end_input()?))
}

/// Ends the input by itself as soon as the CLI needs nothing more of this program: for one that has
/// sent its last prompt. Go on polling until TOWLINE_CLOSED.
#[no_mangle]
pub unsafe extern "C" fn towline_session_end_input_when_settled(
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        Ok(enter(session)?.session.end_input_when_settled()?)
    })
}

/// Begins to end the session and returns at once: the CLI's stdin is ended; if it has not exited
/// after the grace (option closeGraceMs), SIGTERM goes to its process group, after another
/// (terminateGraceMs) SIGKILL. Polling sees it through. From any thread, callbacks too, any number
/// of times.
#[no_mangle]
pub unsafe extern "C" fn towline_session_begin_close(
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || Ok(enter(session)?.session.begin_close()?))
}

/// Ends the session and waits until the process is gone, which the graces bound. `grace_ms` stands
/// for both of them; below 0 those of the options hold. Events that were not polled yet can still
/// be. From any thread, any number of times.
///
/// Errors: TOWLINE_ERR_REENTRANT in a callback: use towline_session_begin_close() there.
#[no_mangle]
pub unsafe extern "C" fn towline_session_close(
    session: *mut towline_session,
    grace_ms: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let session = enter(session)?;
        session.check_reentrant()?;
        Ok(session.session.close_within(limit(grace_ms))?)
    })
}

/// Ends the session if need be, with graces of at most one second each, and frees it. NULL is fine.
/// Events and requests of it stay valid. After fork() the child's copy is freed and the parent's
/// session goes on.
///
/// Errors: TOWLINE_ERR_BUSY while a call on it runs, in a callback of it for one: then nothing has
/// happened.
#[no_mangle]
pub unsafe extern "C" fn towline_session_free(session: *mut towline_session) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        handle::free::<Conversation>(session)
    })
}

/// The process id of the CLI, or of its launcher; it stays the same when the process is gone. 0 when
/// the session runs over a transport that leads to no process of this machine.
#[no_mangle]
pub unsafe extern "C" fn towline_session_pid(
    session: *mut towline_session,
    pid: *mut i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(pid, 0, "pid")?;
        let session = enter(session)?;
        session.check_fork()?;
        out.set(session.session.pid().unwrap_or(0).into());
        Ok(())
    })
}

unsafe fn told(
    session: *mut towline_session,
    len: *mut usize,
    kind: char,
    get: impl FnOnce(&Session) -> Option<String>,
) -> Result<*const c_char, Failure> {
    boundary::set(len, 0);
    let session = enter(session)?;
    session.check_fork()?;
    let view = match get(&session.session) {
        Some(text) => session.views.keep(kind, &text)?,
        None => View::NONE,
    };
    Ok(view.give(len))
}

/// The session's id, as the last message gave it. NULL before the first turn. The view lives as
/// long as the session.
#[no_mangle]
pub unsafe extern "C" fn towline_session_id(
    session: *mut towline_session,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        told(session, len, 'i', Session::session_id)
    })
}

/// The CLI's version, `"2.1.332"`. NULL until it is known. The view lives as long as the session.
#[no_mangle]
pub unsafe extern "C" fn towline_session_cli_version(
    session: *mut towline_session,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        told(session, len, 'v', Session::cli_version)
    })
}

/// The payload of the CLI's answer to `initialize`, a JSON object: commands, models, account, ….
/// NULL until it has come. The view lives as long as the session.
#[no_mangle]
pub unsafe extern "C" fn towline_session_capabilities_json(
    session: *mut towline_session,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let session = enter(session)?;
        session.check_fork()?;
        let missing = || Failure::new(TOWLINE_ERR_ABSENT, "the session is not open yet");
        let view = session.views.get("capabilities", || {
            session.session.capabilities().ok_or_else(missing)
        })?;
        Ok(view.give(len))
    })
}

/// Counters, a JSON object: `bytesRead`, `bytesWritten`, `stderrBytes`, `linesRead`, `linesWritten`,
/// `events`, `messages`, `turns` (prompts sent), `turnsSucceeded`, `turnsFailed`, `turnsCancelled`,
/// `turnsTimedOut`, `requestsSent` (control requests of the host), `requestsFailed`,
/// `requestsPending`, `requestsReceived` (permissions, hooks, tool calls, …), `requestsOpen`,
/// `diagnostics`, `shed` (events dropped while closing), `queueHighWater` and `writeHighWater` (the
/// most bytes that waited for the host and for the CLI), and `startup` with the milliseconds from the call that created the session
/// until `spawnedMs`, `initializedMs`, `takenMs` (from a pool) and `firstMessageMs`, `null` for what has not happened. Free `*json` with towline_buffer_free().
#[no_mangle]
pub unsafe extern "C" fn towline_session_stats_json(
    session: *mut towline_session,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(json, std::ptr::null_mut(), "json")?;
        let session = enter(session)?;
        session.check_fork()?;
        let stats = session.session.stats();
        let ms = |took: Option<Duration>| took.map(|took| took.as_secs_f64() * 1000.0);
        let counters = stats.counters();
        let mut document: serde_json::Map<String, serde_json::Value> = counters
            .map(|(name, value)| (camel_case(name), value.into()))
            .collect();
        let startup = serde_json::json!({
            "spawnedMs": ms(stats.startup.spawned),
            "initializedMs": ms(stats.startup.initialized),
            "takenMs": ms(stats.startup.taken),
            "firstMessageMs": ms(stats.startup.first_message),
        });
        document.insert("startup".into(), startup);
        let document = serde_json::Value::Object(document);
        out.set(buffer::create(document.to_string()));
        Ok(())
    })
}

/// The end of what the CLI has written to stderr so far (option stderrTailBytes). Free `*tail`
/// with towline_buffer_free().
#[no_mangle]
pub unsafe extern "C" fn towline_session_stderr(
    session: *mut towline_session,
    tail: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(tail, std::ptr::null_mut(), "tail")?;
        let session = enter(session)?;
        session.check_fork()?;
        out.set(buffer::create(session.session.stderr_tail()));
        Ok(())
    })
}

/// `bytes_read` as `bytesRead`.
fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (index, word) in name.split('_').enumerate() {
        match word.split_at_checked(1) {
            Some((first, rest)) if index > 0 => {
                out.push_str(&first.to_ascii_uppercase());
                out.push_str(rest);
            }
            _ => out.push_str(word),
        }
    }
    out
}
