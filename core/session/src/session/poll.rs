//! Polling: the I/O on the caller's thread, the handlers, the next event.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use towline_protocol::connection::{self, Diagnostic, HandshakeFailure};

use super::handlers::Handlers;
use super::{this_thread, Closed, Core, End, Event, Session, Shared, Waiter};
use crate::error::{Error, RemoteError};

/// The one thread that does the I/O. Leaving lets others in and wakes who waits for answers.
pub(super) struct Polling<'a> {
    shared: &'a Shared,
    /// Gone only while this is dropped.
    handlers: Option<MutexGuard<'a, Handlers>>,
    /// The host's own poll, and not a call that waits for something.
    by_host: bool,
}

impl<'a> Polling<'a> {
    /// `None` when another thread does the I/O. The core is locked meanwhile: nobody leaves between
    /// this and a wait for it.
    pub(super) fn enter(shared: &'a Shared, core: &mut Core, by_host: bool) -> Option<Polling<'a>> {
        let handlers = match shared.handlers.try_lock() {
            Ok(handlers) => handlers,
            // A panic of a handler is caught where it is called, so this is one of our own.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        shared.poller.store(this_thread(), Ordering::Relaxed);
        core.polled_by_host = by_host;
        Some(Polling {
            shared,
            handlers: Some(handlers),
            by_host,
        })
    }

    /// Takes events until `wanted` has one, or the time is up. Requests with a handler are served
    /// on the way. A call that waits also gives way to a poll of the host.
    pub(super) fn run<T>(
        &mut self,
        mut core: MutexGuard<'a, Core>,
        until: Option<Instant>,
        mut wanted: impl FnMut(&mut Core) -> Option<T>,
        mut deliver: impl FnMut(&Shared, &mut Handlers, &mut Core) -> Delivered<T>,
    ) -> Result<Option<T>, Error> {
        let shared = self.shared;
        let Some(handlers) = self.handlers.as_mut() else {
            return Ok(None);
        };
        let mut waited = false;
        loop {
            if let Some(found) = wanted(&mut core) {
                core.flush(&shared.reactor);
                return Ok(Some(found));
            }
            match deliver(shared, handlers, &mut core) {
                Delivered::Event(found) => {
                    core.flush(&shared.reactor);
                    return Ok(Some(found));
                }
                Delivered::Served(serve) => {
                    drop(core);
                    serve(shared, handlers);
                    core = shared.lock_core();
                    continue;
                }
                Delivered::Aside => continue,
                Delivered::Nothing => {}
            }
            core.flush(&shared.reactor);
            // The last event taken may have been the answer that is waited for.
            if let Some(found) = wanted(&mut core) {
                return Ok(Some(found));
            }
            let gives_way = match self.by_host {
                true => std::mem::take(&mut core.io.interrupted),
                false => core.polls_waiting > 0,
            };
            if gives_way {
                return Ok(None);
            }
            let mut wait = core.wait_limit();
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                if waited && left.is_zero() {
                    return Ok(None);
                }
                wait = Some(wait.map_or(left, |wait| wait.min(left)));
            }
            core = shared.wait(core, wait)?;
            waited = true;
        }
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut core = self.shared.lock_core();
        self.shared.poller.store(0, Ordering::Relaxed);
        self.handlers = None;
        core.connection.shrink();
        if core.exported && !core.armed && core.has_events() {
            core.armed = true;
            self.shared.reactor.wake();
        }
        core.tell(self.shared);
    }
}

impl Shared {
    /// Waits until something is ready, with the core unlocked, and does it.
    pub(super) fn wait<'a>(
        &'a self,
        mut core: MutexGuard<'a, Core>,
        limit: Option<Duration>,
    ) -> Result<MutexGuard<'a, Core>, Error> {
        core.tell(self);
        core.blocked = true;
        drop(core);
        let ready = self.reactor.wait(limit);
        let mut core = self.lock_core();
        core.blocked = false;
        core.serve(ready.map_err(Error::Wait)?, &self.reactor);
        Ok(core)
    }

    /// Waits for the thread that does the I/O to get on or to leave.
    pub(super) fn wait_for_progress<'a>(
        &'a self,
        mut core: MutexGuard<'a, Core>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, Core> {
        core.onlookers += 1;
        let mut core = match until {
            None => {
                let woken = self.progress.wait(core);
                woken.unwrap_or_else(PoisonError::into_inner)
            }
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                let woken = self.progress.wait_timeout(core, left);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        core.onlookers -= 1;
        core
    }
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

impl Core {
    /// Wakes the threads that wait for the one that does the I/O.
    fn tell(&self, shared: &Shared) {
        if self.onlookers > 0 {
            shared.progress.notify_all();
        }
    }

    /// The next event of the connection that is not the answer to a waiting call.
    pub(super) fn next_raw(&mut self) -> Option<connection::Event> {
        loop {
            let event = self.connection.poll_event()?;
            self.stats.events += 1;
            self.check_version();
            match event {
                connection::Event::Response { id, result, .. }
                    if self.waiters.contains_key(&id) =>
                {
                    self.waiters.insert(id, Waiter::Done(result));
                }
                connection::Event::Initialized(message) => {
                    self.io.initialized = Some(message.clone());
                    return Some(connection::Event::Initialized(message));
                }
                event => return Some(event),
            }
        }
    }

    /// Puts warnings about the CLI's version aside for the host, once it is known.
    fn check_version(&mut self) {
        if self.version_check.is_none() {
            return;
        }
        let Some(version) = self.connection.cli_version() else {
            return;
        };
        let warnings = self.version_check.take().map(|check| check(version));
        for warning in warnings.into_iter().flatten() {
            self.defer(connection::Event::Diagnostic(Diagnostic::OldCli(warning)));
        }
    }

    /// The last event, when it is due.
    pub(super) fn closed_event(&mut self) -> Option<Event> {
        if !matches!(self.end, End::Due) {
            return None;
        }
        self.end = End::Reported;
        Some(Event::Closed(Closed {
            error: self.end_error(),
            failure: self.failure(),
        }))
    }

    /// What went wrong, if anything did.
    pub(super) fn end_error(&self) -> Option<Error> {
        let failure = self.failure();
        match self.connection.failure() {
            Some(HandshakeFailure::Refused(RemoteError { message, .. })) => {
                return Some(Error::InitializeRefused {
                    message: message.clone(),
                    failure,
                })
            }
            Some(HandshakeFailure::TimedOut(limit_ms)) => {
                return Some(Error::InitializeTimedOut {
                    limit_ms: *limit_ms,
                    failure,
                })
            }
            Some(_) => return Some(Error::ExitedBeforeInitialize(failure)),
            None => {}
        }
        if self.io.initialized.is_none() && !self.closing.by_host() {
            return Some(Error::ExitedBeforeInitialize(failure));
        }
        let exit = self.io.exit()?;
        let explained = exit.success() || self.closing.by_host() || !failure.result.is_empty();
        (!explained).then_some(Error::Failed(failure))
    }
}

impl Session {
    /// Does what is ready, runs the handlers of what the CLI asks, and returns the next event;
    /// `None` when there was none within the limit (`None`: for ever), or after
    /// [`wake`](Session::wake).
    ///
    /// The last event is [`Event::Closed`]; after it this fails with [`Error::Closed`]. One thread
    /// at a time: a second one fails with [`Error::Busy`], a handler with [`Error::Reentrant`].
    /// Calls of other threads that wait for something (answers, the end) give way to it.
    pub fn poll(&self, limit: Option<Duration>) -> Result<Option<Event>, Error> {
        let shared = &*self.shared;
        shared.check_fork()?;
        if shared.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut core = shared.lock_core();
        let mut polling = loop {
            if matches!(core.end, End::Reported) {
                return Err(Error::Closed);
            }
            if let Some(polling) = Polling::enter(shared, &mut core, true) {
                break polling;
            }
            if core.polled_by_host || core.polls_waiting > 0 {
                return Err(Error::Busy);
            }
            // A call that waits for something gives way.
            core.polls_waiting += 1;
            shared.reactor.wake();
            core = shared.wait_for_progress(core, until);
            core.polls_waiting -= 1;
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
        };
        polling.run(
            core,
            until,
            |_| None,
            |shared, handlers, core| {
                if let Some(line) = core.stderr.next_line() {
                    return handlers.stderr(line);
                }
                let event = match core.deferred.pop_front() {
                    Some(event) => {
                        core.deferred_weight = core.deferred_weight.saturating_sub(event.weight());
                        Some(event)
                    }
                    None => core.next_raw(),
                };
                match event {
                    Some(event) => handlers.deliver(shared, core, event),
                    None => core
                        .closed_event()
                        .map_or(Delivered::Nothing, Delivered::Event),
                }
            },
        )
    }
}

impl Shared {
    /// Waits for something while serving handlers; events that are for the host are put aside for
    /// its next poll. Works from any thread: when another one polls, that one does the work.
    pub(super) fn wait_for<T>(
        &self,
        limit: Option<Duration>,
        mut wanted: impl FnMut(&mut Core) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.check_fork()?;
        if self.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let mut core = self.lock_core();
            if let Some(found) = wanted(&mut core) {
                return Ok(Some(found));
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
            let polling = match core.polls_waiting {
                0 => Polling::enter(self, &mut core, false),
                _ => None,
            };
            if let Some(mut polling) = polling {
                let found = polling.run(core, until, &mut wanted, |shared, handlers, core| {
                    if handlers.serves_stderr() {
                        if let Some(line) = core.stderr.next_line() {
                            return match handlers.stderr(line) {
                                Delivered::Served(serve) => Delivered::Served(serve),
                                _ => Delivered::Aside,
                            };
                        }
                    }
                    match core.next_raw() {
                        None => Delivered::Nothing,
                        Some(event) => match handlers.serve(shared, core, event) {
                            Ok(serve) => Delivered::Served(serve),
                            Err(event) => {
                                core.defer(*event);
                                Delivered::Aside
                            }
                        },
                    }
                })?;
                if found.is_some() {
                    return Ok(found);
                }
            } else {
                drop(self.wait_for_progress(core, until));
            }
        }
    }
}
