//! Polling: the I/O on the caller's thread, the handlers, the next event.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use towline_protocol::connection::{self, Diagnostic, HandshakeFailure};

use super::handlers::Handlers;
use super::{this_thread, Closed, Core, End, Event, Session, Shared, Waiter};
use crate::error::{Error, RemoteError};

/// The one thread that polls. Leaving lets others in and wakes who waits for answers.
pub(super) struct Polling<'a> {
    shared: &'a Shared,
    handlers: MutexGuard<'a, Handlers>,
}

impl<'a> Polling<'a> {
    /// `None` when another thread is polling.
    pub(super) fn enter(shared: &'a Shared) -> Result<Option<Polling<'a>>, Error> {
        shared.check_fork()?;
        if shared.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        let handlers = match shared.handlers.try_lock() {
            Ok(handlers) => handlers,
            // A panic of a handler is caught where it is called, so this is one of our own.
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        shared.poller.store(this_thread(), Ordering::Relaxed);
        Ok(Some(Polling { shared, handlers }))
    }

    /// Takes events until `wanted` has one, or the limit passes. Requests with a handler are
    /// served on the way.
    pub(super) fn run<T>(
        &mut self,
        limit: Option<Duration>,
        mut wanted: impl FnMut(&mut Core) -> Option<T>,
        mut deliver: impl FnMut(&Shared, &mut Handlers, &mut Core) -> Delivered<T>,
    ) -> Result<Option<T>, Error> {
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let shared = self.shared;
        let mut core = shared.core();
        loop {
            if let Some(found) = wanted(&mut core) {
                core.flush(&shared.reactor);
                return Ok(Some(found));
            }
            match deliver(shared, &mut self.handlers, &mut core) {
                Delivered::Event(found) => {
                    core.flush(&shared.reactor);
                    return Ok(Some(found));
                }
                Delivered::Served(serve) => {
                    drop(core);
                    serve(shared, &mut self.handlers);
                    core = shared.core();
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
            if std::mem::take(&mut core.io.interrupted) {
                return Ok(None);
            }
            let mut wait = core.wait_limit();
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                wait = Some(wait.map_or(left, |wait| wait.min(left)));
            }
            core.blocked = true;
            drop(core);
            let ready = shared.reactor.wait(wait);
            core = shared.core();
            core.blocked = false;
            let ready = ready.map_err(Error::Wait)?;
            core.serve(ready, &shared.reactor);
            if !core.has_events() && until.is_some_and(|until| Instant::now() >= until) {
                return Ok(wanted(&mut core));
            }
        }
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        self.shared.poller.store(0, Ordering::Relaxed);
        let mut core = self.shared.core();
        core.connection.shrink();
        if core.exported && !core.armed && core.has_events() {
            core.armed = true;
            self.shared.reactor.wake();
        }
        if !core.waiters.is_empty() || core.closing.is_on() {
            self.shared.progress.notify_all();
        }
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
    pub fn poll(&self, limit: Option<Duration>) -> Result<Option<Event>, Error> {
        let Some(mut polling) = Polling::enter(&self.shared)? else {
            return Err(Error::Busy);
        };
        if matches!(polling.shared.core().end, End::Reported) {
            return Err(Error::Closed);
        }
        polling.run(
            limit,
            |_| None,
            |shared, handlers, core| {
                if let Some(line) = core.stderr_lines.pop_front() {
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
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let left = || until.map(|until| until.saturating_duration_since(Instant::now()));
        loop {
            if let Some(mut polling) = Polling::enter(self)? {
                return polling.run(left(), wanted, |shared, handlers, core| {
                    if let Some(line) = core.stderr_lines.front() {
                        if handlers.serves_stderr() {
                            let line = line.clone();
                            core.stderr_lines.pop_front();
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
                });
            }
            let mut core = self.core();
            if let Some(found) = wanted(&mut core) {
                return Ok(Some(found));
            }
            let left = left();
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            let slice = Duration::from_millis(50);
            drop(
                self.progress
                    .wait_timeout(core, left.map_or(slice, |left| left.min(slice))),
            );
        }
    }
}
