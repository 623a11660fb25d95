//! The end of a session: the end of stdin, grace, SIGTERM to the group, grace, SIGKILL.

use std::time::{Duration, Instant};

use towline_protocol::connection::{Millis, State};

use super::poll::Polling;
use super::{Core, End, Session, Shared};
use crate::error::Error;
use crate::reactor::Reactor;

/// A CLI that has nothing to do any more and yet does not exit is given as long as it waits for
/// its own background tasks (`protocol.md §11`).
const QUIET_AFTER_END_OF_INPUT: Millis = 600_000;
/// How often a process is looked at on kernels that cannot tell by a descriptor.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// The graces of a session that is dropped without having been closed.
const DROP_GRACE: Duration = Duration::from_secs(1);
/// How long its store then has for what was not stored yet.
const DROP_STORE: Duration = Duration::from_secs(5);

/// How long each step of closing may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Graces {
    /// From the end of stdin to SIGTERM.
    pub(super) close: Option<Millis>,
    /// From SIGTERM to SIGKILL.
    pub(super) terminate: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Not closing.
    Open,
    /// Stdin was ended; SIGTERM is due at this time.
    InputEnded(Option<Millis>),
    /// SIGTERM was sent; SIGKILL is due at this time.
    Terminated(Option<Millis>),
    /// SIGKILL was sent; a stream of the host has until this time to say how it ended.
    Killed(Option<Millis>),
}

#[derive(Debug)]
pub(super) struct Closing {
    step: Step,
    graces: Graces,
    by_host: bool,
    /// When the host ended the input without closing, or when the CLI last wrote since then.
    quiet_since: Option<Millis>,
    /// How long it may be silent from then on.
    quiet_limit: Millis,
    /// The CLI has closed its stdin by itself.
    lost: bool,
}

impl Closing {
    pub(super) fn new(graces: Graces) -> Closing {
        Closing {
            step: Step::Open,
            graces,
            by_host: false,
            quiet_since: None,
            quiet_limit: QUIET_AFTER_END_OF_INPUT,
            lost: false,
        }
    }

    /// Stdin was ended because the host is done.
    pub(super) fn input_ended(&mut self, now: Millis) {
        self.quiet_since.get_or_insert(now);
    }

    /// The CLI has closed its stdin by itself: it can be told nothing any more, so once it falls
    /// silent it has no longer than after an end that the host asked for.
    pub(super) fn input_lost(&mut self, now: Millis) {
        self.quiet_limit = self.graces.close.unwrap_or(QUIET_AFTER_END_OF_INPUT);
        self.lost = true;
        self.input_ended(now);
    }

    /// There is nothing that the other side is given time for.
    pub(super) fn not_waited_for(&mut self, now: Millis) {
        self.quiet_limit = 0;
        self.input_ended(now);
    }

    /// Whether the CLI has closed its stdin by itself.
    pub(super) fn lost_input(&self) -> bool {
        self.lost
    }

    /// The CLI wrote something.
    pub(super) fn heard(&mut self, now: Millis) {
        if let Some(since) = &mut self.quiet_since {
            *since = now;
        }
    }

    /// Whether a CLI that has been silent for its time is waited for no longer. It works in silence
    /// while a turn is open, which has limits of its own.
    fn is_done_with(&mut self, now: Millis, turn_open: bool) -> bool {
        let works = turn_open && !self.lost && self.quiet_limit > 0;
        if works {
            self.heard(now);
        }
        !works
    }

    /// Whether the other side was ended by force.
    pub(super) fn has_killed(&self) -> bool {
        matches!(self.step, Step::Killed(_))
    }

    /// Whether the host asked for the end.
    pub(super) fn by_host(&self) -> bool {
        self.by_host
    }

    fn deadline(&self) -> Option<Millis> {
        match self.step {
            Step::Open => self
                .quiet_since
                .map(|since| since.saturating_add(self.quiet_limit)),
            Step::InputEnded(at) | Step::Terminated(at) | Step::Killed(at) => at,
        }
    }
}

fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn until(at: Instant) -> Duration {
    at.saturating_duration_since(Instant::now())
}

impl Core {
    /// Begins the end, if it has not begun: what the CLI asked and nobody has answered gets the safe
    /// answer, stdin is ended, the rest follows by the clock.
    pub(super) fn begin_closing(&mut self, graces: Option<Graces>, reactor: &Reactor) {
        let now = self.now();
        if let Some(graces) = graces {
            self.closing.graces = graces;
        }
        let at = |grace: Option<Millis>| grace.map(|grace| now.saturating_add(grace));
        match self.closing.step {
            Step::Open => {
                self.closing.step = Step::InputEnded(at(self.closing.graces.close));
                self.io.wire.closing();
                self.note_step("asked");
                self.connection.refuse_open_requests();
                self.connection.finish_input();
                // Stdin ends behind what is queued: a line is never cut while the grace lasts.
                self.flush(reactor);
            }
            // A second call may shorten the waiting, never lengthen it.
            Step::InputEnded(due) if graces.is_some() => {
                let new = at(self.closing.graces.close);
                self.closing.step = Step::InputEnded(earlier(due, new));
            }
            Step::Terminated(due) if graces.is_some() => {
                let new = at(self.closing.graces.terminate);
                self.closing.step = Step::Terminated(earlier(due, new));
            }
            Step::Killed(due) if graces.is_some() && !self.io.wire.is_process() => {
                let new = at(self.closing.graces.terminate);
                self.closing.step = Step::Killed(earlier(due, new));
            }
            _ => {}
        }
    }

    /// The next step, when it is due.
    pub(super) fn advance_closing(&mut self, reactor: &Reactor) {
        if self.io.wire.gives_up() {
            self.other_side_ended(reactor);
        }
        if self.io.is_ending() {
            return;
        }
        if self.io.is_gone() {
            if matches!(self.end, End::NotYet) {
                self.end = End::Due;
            }
            return;
        }
        let failed = matches!(self.connection.state(), State::Failed | State::Ended);
        if self.closing.step == Step::Open && failed {
            self.begin_closing(None, reactor);
        }
        let now = self.now();
        if self.closing.deadline().is_none_or(|at| at > now) {
            return;
        }
        match self.closing.step {
            Step::Open => {
                if self.closing.is_done_with(now, self.connection.turn_open()) {
                    self.begin_closing(None, reactor);
                }
            }
            Step::InputEnded(_) => {
                self.io.wire.close_input(reactor);
                match self.io.wire.terminate() {
                    true => {
                        self.closing.step = Step::Terminated(self.terminate_grace(now));
                        self.note_step("terminated");
                    }
                    false => self.kill(now, reactor),
                }
            }
            Step::Terminated(_) => self.kill(now, reactor),
            Step::Killed(_) => {
                self.io.wire.give_up();
                self.see_to_end(reactor);
            }
        }
    }

    fn terminate_grace(&self, now: Millis) -> Option<Millis> {
        let grace = self.closing.graces.terminate;
        grace.map(|grace| now.saturating_add(grace))
    }

    fn kill(&mut self, now: Millis, reactor: &Reactor) {
        self.io.wire.kill();
        self.note_step("killed");
        if self.io.wire.is_process() {
            self.closing.step = Step::Killed(None);
        } else {
            self.closing.step = Step::Killed(self.terminate_grace(now));
            self.see_to_end(reactor);
        }
    }

    /// How long a poller may wait.
    pub(super) fn wait_limit(&self) -> Option<Duration> {
        if self.io.has_more() {
            return Some(Duration::ZERO);
        }
        let store = self.store_wait_limit();
        if self.io.is_gone() {
            return store;
        }
        let deadlines = [self.connection.deadline(), self.closing.deadline()];
        let now = self.now();
        let limit = deadlines
            .into_iter()
            .flatten()
            .map(|at| Duration::from_millis(at.saturating_sub(now)))
            .chain(self.io.wire.deadline().map(until))
            .chain(store)
            .min();
        if self.io.wire.must_look() {
            return Some(limit.map_or(LOOK_AGAIN, |limit| limit.min(LOOK_AGAIN)));
        }
        limit
    }

    pub(super) fn is_over(&self) -> bool {
        !matches!(self.end, End::NotYet)
    }
}

impl Shared {
    /// Waits until the process is gone, then until a store with a thread has everything, no longer
    /// than `store`. Events stay queued, up to a bound on their bytes; what comes beyond it during
    /// closing is dropped.
    fn wait_for_end(&self, store: Option<Duration>) -> Result<(), Error> {
        let mut store_until = None;
        let mut is_done = |core: &mut Core| {
            core.tend_store();
            if !core.is_over() || !core.store_keeps_thread_busy() {
                return core.is_over();
            }
            let now = Instant::now();
            let until = *store_until.get_or_insert(store.and_then(|limit| now.checked_add(limit)));
            until.is_some_and(|until| now >= until)
        };
        let mut core = self.lock_core();
        while !is_done(&mut core) {
            let polling = match core.polls_waiting {
                0 => Polling::enter(self, &mut core, false),
                _ => None,
            };
            let Some(mut polling) = polling else {
                core = self.wait_for_progress(core, None);
                continue;
            };
            while !is_done(&mut core) && core.polls_waiting == 0 {
                let limit = core.wait_limit().into_iter().chain(store).min();
                core = self.wait(core, limit)?;
                core.shed();
                if store.is_none() {
                    core = polling.tell_log(core);
                }
            }
            if is_done(&mut core) && core.is_over() && !core.store_is_busy() {
                core.note_end();
            }
            if store.is_none() {
                core = polling.tell_log(core);
            }
            drop(core);
            drop(polling);
            core = self.lock_core();
        }
        Ok(())
    }
}

impl Core {
    /// While closing, what the host does not read is kept up to the high-water mark only.
    fn shed(&mut self) {
        if self.connection.held() > self.high_water {
            while let Some(event) = self.next_raw() {
                if self.deferred_weight > self.high_water {
                    self.stats.shed += 1;
                } else {
                    self.defer(event);
                }
            }
        }
        self.stats.shed += self.stderr.shed(self.high_water);
    }
}

impl Session {
    /// Begins to end the session and returns at once: open requests get the safe answer and stdin
    /// is ended; if the CLI has not exited after the grace, SIGTERM goes to its process group, after
    /// another SIGKILL. Polls see it through. From any thread, in a handler too. Idempotent.
    pub fn begin_close(&self) -> Result<(), Error> {
        self.start_closing(None)
    }

    pub(super) fn start_closing(&self, graces: Option<Graces>) -> Result<(), Error> {
        self.shared.check_caller()?;
        let mut core = self.shared.lock_core();
        // A CLI that has gone, or begun to, by itself is not excused by a close that comes after.
        if core.closing.step == Step::Open && !core.is_over() {
            core.closing.by_host = true;
        }
        core.begin_closing(graces, &self.shared.reactor);
        if !self.shared.on_polling_thread() {
            core.armed = true;
            self.shared.reactor.wake();
        }
        Ok(())
    }

    /// Ends the session and waits until the process is gone, which the graces of the options
    /// bound, and until a session store with a thread has what was mirrored. Events that were not read yet can still be polled afterwards. From any thread, any
    /// number of times; in a handler it fails with [`Error::Reentrant`]: use
    /// [`begin_close`](Session::begin_close) there.
    pub fn close(&self) -> Result<(), Error> {
        self.close_within(None)
    }

    /// As [`close`](Session::close), with this grace between the end of stdin and SIGTERM, and
    /// between SIGTERM and SIGKILL.
    pub fn close_within(&self, grace: Option<Duration>) -> Result<(), Error> {
        self.shared.check_caller()?;
        if self.shared.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        self.start_closing(grace.map(Graces::both))?;
        self.shared.wait_for_end(None)
    }
}

impl Session {
    /// The graces of one that is dropped.
    pub(super) fn drop_graces(&self) -> Graces {
        let core = self.shared.lock_core();
        let own = core.closing.graces;
        let least = |grace: Option<Millis>| {
            let most = DROP_GRACE.as_millis() as Millis;
            Some(grace.map_or(most, |grace| grace.min(most)))
        };
        Graces {
            close: least(own.close),
            terminate: least(own.terminate),
        }
    }
}

impl Graces {
    fn both(grace: Duration) -> Graces {
        let ms = Millis::try_from(grace.as_millis()).unwrap_or(Millis::MAX);
        Graces {
            close: Some(ms),
            terminate: Some(ms),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.shared.check_caller().is_err() || self.shared.on_polling_thread() {
            return;
        }
        let grace = self.drop_graces();
        // Nothing can be reported from here; the watchdog is the last resort.
        if self.start_closing(Some(grace)).is_ok() {
            let _ = self.shared.wait_for_end(Some(DROP_STORE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(now: Millis) -> Closing {
        let mut closing = Closing::new(Graces {
            close: Some(1),
            terminate: Some(1),
        });
        closing.input_ended(now);
        closing
    }

    #[test]
    fn silence_in_a_turn_ends_nothing() {
        let mut closing = quiet(0);
        let due = closing.deadline();
        assert_eq!(due, Some(QUIET_AFTER_END_OF_INPUT));
        assert!(!closing.is_done_with(QUIET_AFTER_END_OF_INPUT, true));
        assert_eq!(closing.deadline(), due.map(|at| at * 2));
        assert!(closing.is_done_with(2 * QUIET_AFTER_END_OF_INPUT, false));
    }

    #[test]
    fn a_cli_that_can_be_told_nothing_is_not_waited_for() {
        let mut closing = quiet(0);
        closing.input_lost(0);
        assert!(closing.is_done_with(1, true));
        let mut closing = quiet(0);
        closing.not_waited_for(0);
        assert!(closing.is_done_with(1, true));
    }
}
