//! Pools: sessions started ahead, conversations kept open.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use towline_core::{Pool, PoolError, PoolOptions, PoolTicket, PooledSession, PutBackError};

use crate::boundary;
use crate::buffer::{self, towline_buffer};
use crate::callback::LineCallback;
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle};
use crate::options::{towline_options, Settings, Shared};
use crate::session::{limit, towline_session, Conversation, Held};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::optional;

/// Sessions that are started before anybody needs them, so that a first prompt costs no start-up,
/// and conversations that are kept open for their next prompt, within a limit on the number of
/// processes. Freed with towline_pool_free().
///
/// It starts no thread: towline_pool_poll(), _fill(), _take() and _close() do the I/O and run the
/// callbacks of the sessions that wait, on the thread that calls them. A pool that nobody polls still
/// has its processes started ahead; health and age of its sessions are then looked at by the next
/// take. All functions can be called from any thread; in a callback of a session that the pool holds
/// those that wait fail with TOWLINE_ERR_REENTRANT.
pub struct towline_pool {
    _opaque: [u8; 0],
}

pub(crate) struct Sessions {
    pool: Pool,
    log: Shared<LineCallback>,
}

handle!(towline_pool, Sessions, b"tow_pool");

/// A session that a pool was asked for with towline_pool_begin_take(). Freed with
/// towline_pool_ticket_free(), before or after its pool. From any thread.
pub struct towline_pool_ticket {
    _opaque: [u8; 0],
}

pub(crate) struct Asked {
    ticket: Mutex<PoolTicket>,
    log: Shared<LineCallback>,
}

handle!(towline_pool_ticket, Asked, b"tow_tick");

/// Makes a pool of sessions with these options, callbacks and tools, of which it takes a copy, and
/// starts their processes. `limits` is a JSON object, NULL for the defaults: `size` (sessions kept
/// warm, default 1), `maxSessions` (most at a time, of all kinds; null is no limit), `idleTimeoutMs`
/// (a session unused for this long is closed and, if warm, replaced; 600000), `checkIntervalMs` (how
/// often one that waits is asked for a sign of life; 30000), `checkTimeoutMs` (5000),
/// `takeTimeoutMs` (60000).
///
/// Errors: TOWLINE_ERR_OPTION for the limits; TOWLINE_ERR_TOOL; TOWLINE_ERR_STATE for options with a
/// transport. A start that fails is told by towline_pool_take().
#[no_mangle]
pub unsafe extern "C" fn towline_pool_create(
    options: *const towline_options,
    limits: *const c_char,
    len: usize,
    pool: *mut *mut towline_pool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(pool, std::ptr::null_mut(), "pool")?;
        let content = handle::enter::<Settings>(options)?.lock().clone();
        let limits = optional("limits", limits, len)?.unwrap_or_default();
        let limits = PoolOptions::from_json(limits)?;
        let registered = content.registered;
        if registered.transport.is_some() {
            let text = "a pool starts its processes itself: its options can have no transport";
            return Err(Failure::new(TOWLINE_ERR_STATE, text));
        }
        let options = registered.complete(content.options);
        // What is wrong with the tools is told now, and not at each start.
        drop(registered.builder(options.clone())?);
        let log = registered.log.clone();
        let builder = move || {
            let builder = registered.builder(options.clone());
            builder.map_err(|failure| PoolError::Options(failure.message).into())
        };
        let pool = Pool::try_with(builder, limits)?;
        out.set(handle::create(Sessions { pool, log }));
        Ok(())
    })
}

/// Gives a session that is open and lives: a warm one at once, else one that is started. With a
/// `session_id` the one of that conversation: the parked one, else one that resumes it. `*session`
/// belongs to the caller, who gives it back with towline_pool_put_back() or ends it with
/// towline_session_free(). Waits up to `timeout_ms`; below 0 as long as `takeTimeoutMs` says.
///
/// Errors: those of the start, with the end of the CLI's stderr; TOWLINE_ERR_POOL_FULL,
/// TOWLINE_TIMEOUT when none was ready in time, TOWLINE_ERR_IN_USE for a conversation that somebody
/// else has, TOWLINE_ERR_CLOSED, TOWLINE_ERR_REENTRANT.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_take(
    pool: *mut towline_pool,
    session_id: *const c_char,
    len: usize,
    timeout_ms: i64,
    session: *mut *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(session, std::ptr::null_mut(), "session")?;
        let sessions = handle::enter::<Sessions>(pool)?;
        let id = optional("session_id", session_id, len)?;
        let taken = match (id, limit(timeout_ms)) {
            (None, None) => sessions.pool.take(),
            (None, limit) => sessions.pool.take_within(limit),
            (Some(id), None) => sessions.pool.take_for(id),
            (Some(id), limit) => sessions.pool.take_for_within(id, limit),
        }?;
        let taken = Conversation::new(Held::Pooled(taken), sessions.log.clone());
        out.set(handle::create(taken));
        Ok(())
    })
}

/// As towline_pool_take(), and does not wait: for event loops. The pool has to be polled, as it tells
/// by towline_pool_fd() and towline_pool_next_timeout(); the descriptor is readable and
/// towline_pool_poll() returns as long as there is something for a ticket, which
/// towline_pool_ticket_take() fetches. Tickets are served in their order, among those who wait in
/// towline_pool_take(). `timeout_ms` is how long the ticket is good for; below 0 as long as
/// `takeTimeoutMs` says. May be called in callbacks.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_begin_take(
    pool: *mut towline_pool,
    session_id: *const c_char,
    len: usize,
    timeout_ms: i64,
    ticket: *mut *mut towline_pool_ticket,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(ticket, std::ptr::null_mut(), "ticket")?;
        let sessions = handle::enter::<Sessions>(pool)?;
        let id = optional("session_id", session_id, len)?;
        let ticket = sessions.pool.begin_take(id, limit(timeout_ms))?;
        out.set(handle::create(Asked {
            ticket: Mutex::new(ticket),
            log: sessions.log.clone(),
        }));
        Ok(())
    })
}

/// Fetches the session of a ticket: TOWLINE_OK with `*session` NULL while there is none yet. Does no
/// work of the pool. After a session or an error the ticket is used.
///
/// Errors: those of towline_pool_take(); TOWLINE_ERR_STATE for a ticket that is used.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_ticket_take(
    ticket: *mut towline_pool_ticket,
    session: *mut *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(session, std::ptr::null_mut(), "session")?;
        let asked = handle::enter::<Asked>(ticket)?;
        let mut ticket = asked.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = ticket.try_take()? {
            let taken = Conversation::new(Held::Pooled(taken), asked.log.clone());
            out.set(handle::create(taken));
        }
        Ok(())
    })
}

/// Frees a ticket. One that is not used is cancelled: a session that it has already goes back to the
/// pool. NULL is fine.
///
/// Errors: TOWLINE_ERR_BUSY while a call on it runs: then nothing has happened.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_ticket_free(
    ticket: *mut towline_pool_ticket,
) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Asked>(ticket))
}

/// Gives one back; a session that stays the caller's comes with the failure.
unsafe fn give(
    pool: *mut towline_pool,
    session: *mut towline_session,
    give: impl FnOnce(&Pool, PooledSession) -> Result<(), Box<PutBackError>>,
) -> Result<(), Failure> {
    let sessions = handle::enter::<Sessions>(pool)?;
    handle::consume::<Conversation>(session, |conversation| {
        let (held, log) = conversation.into_parts();
        let pooled = match held {
            Held::Pooled(pooled) => pooled,
            own => {
                let text = "the session is of no pool";
                let failure = Failure::new(TOWLINE_ERR_STATE, text);
                return Err(Box::new((Conversation::new(own, log), failure)));
            }
        };
        give(&sessions.pool, pooled).map_err(|failed| {
            let PutBackError { session, error } = *failed;
            let conversation = Conversation::new(Held::Pooled(session), log);
            Box::new((conversation, error.into()))
        })
    })
}

/// Gives a session back. One with a conversation is parked under its session id; one that never had
/// a prompt is warm again, for anybody. Events that were not polled stay in it. `session` is freed,
/// unless this fails.
///
/// Errors: TOWLINE_ERR_STATE when a turn of it is open, when it has ended or has no id, and when it is
/// of another pool; TOWLINE_ERR_BUSY while a call on it runs.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_put_back(
    pool: *mut towline_pool,
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || give(pool, session, Pool::put_back))
}

/// Ends a session that was taken and frees it without waiting: the pool sees its process through.
///
/// Errors: TOWLINE_ERR_STATE when it is of another pool; TOWLINE_ERR_BUSY while a call on it runs.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_discard(
    pool: *mut towline_pool,
    session: *mut towline_session,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || give(pool, session, Pool::discard))
}

/// Does what is due: starts, opens, checks, replaces and closes sessions and runs their callbacks.
/// Waits for something to do or for something for a ticket, up to `timeout_ms`, below 0 for ever.
///
/// Errors: TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_poll(
    pool: *mut towline_pool,
    timeout_ms: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let sessions = handle::enter::<Sessions>(pool)?;
        Ok(sessions.pool.poll(limit(timeout_ms))?)
    })
}

/// Polls until as many sessions are warm as shall be, or there is no room for more.
/// TOWLINE_TIMEOUT, without an error object, when that takes longer than `timeout_ms`.
///
/// Errors: TOWLINE_ERR_CLOSED, TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_fill(
    pool: *mut towline_pool,
    timeout_ms: i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let sessions = handle::enter::<Sessions>(pool)?;
        match sessions.pool.fill(limit(timeout_ms))? {
            true => Ok(()),
            false => Err(Failure::quiet(TOWLINE_TIMEOUT)),
        }
    })
}

/// The descriptor to watch for reading in an event loop: ready whenever a poll with a limit of 0
/// would get on, and while there is something for a ticket, together with towline_pool_next_timeout(). It belongs to the pool: neither read nor
/// close it.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_fd(
    pool: *mut towline_pool,
    fd: *mut i32,
    error: *mut *mut towline_error,
) -> towline_status {
    use std::os::fd::AsRawFd;
    boundary::call(error, || {
        let out = boundary::required(fd, -1, "fd")?;
        out.set(handle::enter::<Sessions>(pool)?.pool.fd()?.as_raw_fd());
        Ok(())
    })
}

/// How many milliseconds the event loop may wait on the descriptor before it must poll all the
/// same; -1 is for ever.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_next_timeout(
    pool: *mut towline_pool,
    timeout_ms: *mut i64,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(timeout_ms, 0, "timeout_ms")?;
        // Rounded up: waking early would mean waiting again.
        let wait = handle::enter::<Sessions>(pool)?.pool.next_timeout()?;
        out.set(wait.map_or(-1, |wait| {
            i64::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
        }));
        Ok(())
    })
}

/// Makes a waiting poll of the pool return. From any thread.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_wake(
    pool: *mut towline_pool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        Ok(handle::enter::<Sessions>(pool)?.pool.wake()?)
    })
}

/// Counters, a JSON object: `warm`, `parked`, `starting`, `handedOut`, `closing`, `waiting` (calls
/// that wait for a session) are numbers of this moment; `started`, `resumed`, `hits`, `misses`,
/// `failed` (starts), `exited`, `unhealthy`, `idle`, `evicted` (closed to make room) are counts;
/// `failures` is how many starts have failed in a row and `lastFailure` why, or null. Free `*json`
/// with towline_buffer_free().
#[no_mangle]
pub unsafe extern "C" fn towline_pool_stats_json(
    pool: *mut towline_pool,
    json: *mut *mut towline_buffer,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let out = boundary::required(json, std::ptr::null_mut(), "json")?;
        let sessions = handle::enter::<Sessions>(pool)?;
        let failure = sessions.pool.last_failure()?;
        let mut stats = serde_json::json!(sessions.pool.stats()?);
        stats["lastFailure"] = failure.into();
        out.set(buffer::create(stats.to_string()));
        Ok(())
    })
}

/// Begins to close the pool and returns at once: every session it holds is closed, who waits for one
/// gets TOWLINE_ERR_CLOSED. Polling sees it through. Sessions that were taken are their users'.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_begin_close(
    pool: *mut towline_pool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        Ok(handle::enter::<Sessions>(pool)?.pool.begin_close()?)
    })
}

/// Closes the pool and waits until all sessions that it holds have ended: at the same time, each
/// within the graces of its options. Any number of times.
///
/// Errors: TOWLINE_ERR_REENTRANT, TOWLINE_ERR_SYSTEM.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_close(
    pool: *mut towline_pool,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        Ok(handle::enter::<Sessions>(pool)?.pool.close()?)
    })
}

/// Ends what the pool holds, with graces of at most one second each, and frees it. NULL is fine.
/// Sessions that were taken stay their users'. After fork() the child's copy is freed and the
/// parent's pool goes on.
///
/// Errors: TOWLINE_ERR_BUSY while a call on it runs: then nothing has happened.
#[no_mangle]
pub unsafe extern "C" fn towline_pool_free(pool: *mut towline_pool) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Sessions>(pool))
}
