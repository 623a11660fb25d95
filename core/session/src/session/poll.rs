//! Polling: the I/O on the caller's thread, the handlers, the next event.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use towline_protocol::connection::{self, Diagnostic, HandshakeFailure};

use super::guard::CoreGuard;
use super::handlers::{Delivered, Handlers};
use super::mirroring::weight_of;
use super::{this_thread, Closed, Core, End, Event, Session, Shared, Waiter};
use crate::error::{Error, RemoteError};
use crate::process::Exit;

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
        mut core: CoreGuard<'a>,
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
            core = handlers.tell_log(shared, core);
            if let Some(found) = wanted(&mut core) {
                core.flush(&shared.reactor);
                return Ok(Some(found));
            }
            match deliver(shared, handlers, &mut core) {
                Delivered::Event(found) => {
                    core.flush(&shared.reactor);
                    drop(handlers.tell_log(shared, core));
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

impl<'a> Polling<'a> {
    /// Gives the log hook what waits for it.
    pub(super) fn tell_log(&mut self, core: CoreGuard<'a>) -> CoreGuard<'a> {
        match &mut self.handlers {
            Some(handlers) => handlers.tell_log(self.shared, core),
            None => core,
        }
    }

    /// As [`run`](Polling::run), serving handlers only: events that are for the host are put aside
    /// for its next poll.
    pub(super) fn serve<T>(
        &mut self,
        core: CoreGuard<'a>,
        until: Option<Instant>,
        wanted: impl FnMut(&mut Core) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.run(core, until, wanted, |shared, handlers, core| {
            if handlers.serves_stderr() || !core.stderr.is_for_host() {
                if let Some(line) = core.stderr.next_line() {
                    return match handlers.stderr(core, line) {
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
        })
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let mut core = self.shared.lock_core();
        self.shared.poller.store(0, Ordering::Relaxed);
        self.handlers = None;
        core.read_limit = usize::MAX;
        core.connection.shrink();
        if core.exported && !core.armed && (core.has_events() || core.io.has_hidden()) {
            core.armed = true;
            self.shared.reactor.wake();
        }
        core.tell(self.shared);
        self.shared.release(&core);
    }
}

impl Shared {
    /// Begins a poll of the host; `None` when the time was up before a call that waits gave way.
    fn enter_poll(
        &self,
        until: Option<Instant>,
    ) -> Result<Option<(Polling<'_>, CoreGuard<'_>)>, Error> {
        self.check_caller()?;
        if self.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        let mut core = self.lock_core();
        loop {
            if matches!(core.end, End::Reported) {
                return Err(Error::Closed);
            }
            if let Some(polling) = Polling::enter(self, &mut core, true) {
                return Ok(Some((polling, core)));
            }
            if core.polled_by_host || core.polls_waiting > 0 {
                return Err(Error::Busy);
            }
            // A call that waits for something gives way.
            core.polls_waiting += 1;
            self.reactor.wake();
            core = self.wait_for_progress(core, until);
            core.polls_waiting -= 1;
            if until.is_some_and(|until| Instant::now() >= until) {
                return Ok(None);
            }
        }
    }

    /// Waits until something is ready, with the core unlocked, and does it.
    pub(super) fn wait<'a>(
        &'a self,
        mut core: CoreGuard<'a>,
        limit: Option<Duration>,
    ) -> Result<CoreGuard<'a>, Error> {
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
        mut core: CoreGuard<'a>,
        until: Option<Instant>,
    ) -> CoreGuard<'a> {
        core.onlookers += 1;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let mut core = core.wait(&self.progress, left);
        core.onlookers -= 1;
        core
    }
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
            let event = self.next_unheld()?;
            self.note_event(&event);
            self.check_version(&event);
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
                event @ connection::Event::Message { turn: Some(_), .. } => {
                    let first = &mut self.stats.startup.first_message;
                    first.get_or_insert_with(|| self.asked.elapsed());
                    return Some(event);
                }
                event => return Some(event),
            }
        }
    }

    /// Puts warnings about the CLI's version aside for the host, once it is known, or a turn has
    /// begun without it.
    fn check_version(&mut self, event: &connection::Event) {
        if self.version_check.is_none() {
            return;
        }
        let version = self.connection.cli_version();
        let begun = matches!(event, connection::Event::Message { message, .. }
            if message.subtype() == Some("init"));
        if version.is_none() && !begun {
            return;
        }
        let warnings = self.version_check.take().map(|check| check(version));
        for warning in warnings.into_iter().flatten() {
            self.diagnose(Diagnostic::OldCli(warning));
        }
    }

    /// The last event, when it is due.
    pub(super) fn closed_event(&mut self) -> Option<Event> {
        if !matches!(self.end, End::Due) || self.store_is_busy() {
            return None;
        }
        self.note_end();
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
                    connecting: self.connecting,
                    limit_ms: *limit_ms,
                    failure,
                })
            }
            Some(HandshakeFailure::TooLong { length, limit }) => {
                return Some(Error::InitializeTooLong {
                    length: *length,
                    limit: *limit,
                    failure,
                })
            }
            Some(_) => return Some(Error::ExitedBeforeInitialize(failure)),
            None => {}
        }
        if self.io.initialized.is_none() && !self.closing.by_host() {
            return Some(Error::ExitedBeforeInitialize(failure));
        }
        if !self.io.is_gone() {
            return None;
        }
        let success = match self.io.wire.transport_end() {
            Some(end) => end.success(),
            None => self.io.exit().is_some_and(Exit::success),
        };
        // A fault of the host's own transport is told at every moment.
        let explained = !self.io.wire.is_faulty()
            && (success || self.closing.by_host() || !failure.result.is_empty());
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
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        let Some((mut polling, core)) = self.shared.enter_poll(until)? else {
            return Ok(None);
        };
        polling.run(
            core,
            until,
            |_| None,
            |shared, handlers, core| core.next_event(shared, handlers).0,
        )
    }

    /// As [`poll`](Session::poll) with a limit of zero, again and again: appends what there is to
    /// `out`, up to `events` of them and until they keep more than `bytes` in memory (one at
    /// least), with the session locked once for many. What is ready is read and written and handlers
    /// are run on the way; `bytes` also bounds what one call reads ahead of what it gives, so that a
    /// host with many sessions can share its memory out among them.
    ///
    /// `true` when one of the limits stopped it: there may be more. `false` when there was nothing
    /// left, and the descriptor tells of what comes. After [`Event::Closed`], the last one, the
    /// next call fails with [`Error::Closed`].
    pub fn poll_batch(
        &self,
        events: usize,
        bytes: usize,
        out: &mut Vec<Event>,
    ) -> Result<bool, Error> {
        let now = Instant::now();
        let Some((mut polling, mut core)) = self.shared.enter_poll(Some(now))? else {
            return Ok(false);
        };
        let (mut count, mut weight) = (0, 0);
        core.read_limit = bytes / 2;
        loop {
            let before = count;
            let full = polling.run(
                core,
                Some(now),
                |_| None,
                |shared, handlers, core| {
                    let (delivered, kept) = core.next_event(shared, handlers);
                    let Delivered::Event(event) = delivered else {
                        return delivered.without_event();
                    };
                    let last = matches!(event, Event::Closed(_));
                    out.push(event);
                    count += 1;
                    weight += kept;
                    match last || count >= events || weight > bytes {
                        true => Delivered::Event(last),
                        false => Delivered::Aside,
                    }
                },
            )?;
            match full {
                Some(last) => return Ok(!last),
                None if count == before => return Ok(false),
                // One more read could bring more than there is room for.
                None if weight > bytes / 2 => return Ok(true),
                None => core = self.shared.lock_core(),
            }
        }
    }
}

impl Core {
    /// The next event, for its handler or for the host, and how many bytes it keeps in memory.
    fn next_event(
        &mut self,
        shared: &Shared,
        handlers: &mut Handlers,
    ) -> (Delivered<Event>, usize) {
        if let Some(pending) = self.next_store_call() {
            let weight = weight_of(&pending.call);
            return (handlers.store_call(pending), weight);
        }
        if let Some(line) = self.stderr.next_line() {
            let weight = line.text.len();
            return (handlers.stderr(self, line), weight);
        }
        let event = match self.deferred.pop_front() {
            Some(event) => {
                self.deferred_weight = self.deferred_weight.saturating_sub(event.weight());
                Some(event)
            }
            None => self.next_raw(),
        };
        match event {
            Some(event) => {
                let weight = event.weight();
                (handlers.deliver(shared, self, event), weight)
            }
            None => {
                let closed = self.closed_event();
                (closed.map_or(Delivered::Nothing, Delivered::Event), 0)
            }
        }
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
        self.check_caller()?;
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
                let found = polling.serve(core, until, &mut wanted)?;
                if found.is_some() {
                    return Ok(found);
                }
            } else {
                drop(self.wait_for_progress(core, until));
            }
        }
    }
}
