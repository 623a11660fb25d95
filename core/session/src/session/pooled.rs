//! What a pool does with a session that nobody has yet, or nobody any more.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use towline_protocol::connection::{RequestId, State};

use super::poll::Polling;
use super::{Session, Waiter};
use crate::error::Error;

/// Answered by every CLI in no time: an older one refuses it, which is an answer too.
const SIGN_OF_LIFE: &str = "get_binary_version";

/// How far a session is.
#[derive(Debug)]
pub(crate) enum Standing {
    /// The CLI has not answered `initialize` yet.
    Opening,
    /// It can be used.
    Open,
    /// It can be used, but has written more than is kept for nobody.
    Flooded,
    /// It did not open; why.
    NeverOpened(Error),
    /// It was open, and cannot be used any more.
    Broken,
}

impl Session {
    /// Has its descriptor watched, which tells of what there is to read and not of events that wait.
    pub(crate) fn lend<T>(&self, watch: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
        self.shared.reactor.with_fd(watch)
    }

    /// How long [`tend`](Session::tend) may be put off while the descriptor tells of nothing.
    pub(crate) fn tend_limit(&self) -> Option<Duration> {
        self.shared.lock_core().wait_limit()
    }

    /// Does what is ready and serves handlers; events for the host stay for its next poll.
    pub(crate) fn tend(&self) -> Result<(), Error> {
        self.shared.check_caller()?;
        let mut core = self.shared.lock_core();
        let Some(mut polling) = Polling::enter(&self.shared, &mut core, false) else {
            return Ok(());
        };
        polling.serve(core, Some(Instant::now()), |_| None::<()>)?;
        Ok(())
    }

    /// Does what is ready, without running any code of the host.
    pub(crate) fn refresh(&self) {
        let mut core = self.shared.lock_core();
        // Whoever polls does it.
        let Some(polling) = Polling::enter(&self.shared, &mut core, false) else {
            return;
        };
        // What cannot be told now is told by the next poll.
        if let Ok(ready) = self.shared.reactor.wait(Some(Duration::ZERO)) {
            core.serve(ready, &self.shared.reactor);
        }
        drop(core);
        drop(polling);
    }

    pub(crate) fn standing(&self) -> Standing {
        let core = self.shared.lock_core();
        if let Some(error) = core.opening_error() {
            return Standing::NeverOpened(error);
        }
        let open = matches!(core.connection.state(), State::Open | State::Finishing);
        let over = core.is_over() || core.io.is_ending();
        if over || core.closing.lost_input() || !core.io.wire.output_is_open() {
            return match core.has_opened() {
                true => Standing::Broken,
                // Its end, which follows, tells why.
                false => Standing::Opening,
            };
        }
        match (core.has_opened(), open) {
            (false, _) => Standing::Opening,
            (true, false) => Standing::Broken,
            (true, true) if core.is_crowded() => Standing::Flooded,
            (true, true) => Standing::Open,
        }
    }

    /// Whether its process is gone and everything it wrote was read.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.lock_core().is_over()
    }

    /// A pool of the host's own gives it to its user now: [`Startup::taken`](crate::Startup::taken).
    pub fn note_taken(&self) {
        if self.shared.check_caller().is_err() {
            return;
        }
        let mut core = self.shared.lock_core();
        let asked = core.asked;
        let taken = &mut core.stats.startup.taken;
        taken.get_or_insert_with(|| asked.elapsed());
    }

    /// Whether a prompt was ever sent; `false` in a forked child.
    pub fn was_prompted(&self) -> bool {
        self.look(|core| Some(core.connection.was_prompted()))
            .unwrap_or_default()
    }

    /// Whether it is open and its CLI lives at this moment, as far as the system tells. Reads what is
    /// ready; events stay for the next poll. `false` in a forked child.
    pub fn is_usable(&self) -> bool {
        if self.shared.check_caller().is_err() {
            return false;
        }
        self.refresh();
        matches!(self.standing(), Standing::Open | Standing::Flooded)
    }

    /// Asks for a sign of life; nobody but [`has_answered`](Session::has_answered) sees the answer.
    pub(crate) fn ask_for_life(&self) -> Result<RequestId, Error> {
        let mut core = self.shared.lock_core();
        core.tick();
        core.check_input(&self.shared.reactor)?;
        let id = core.connection.request(SIGN_OF_LIFE, "");
        let id = id.map_err(|error| core.why(error))?;
        core.waiters.insert(id, Waiter::Waiting);
        self.shared.after_command(&mut core);
        Ok(id)
    }

    /// Whether the CLI has given the sign, by any answer.
    pub(crate) fn has_answered(&self, id: RequestId) -> bool {
        let mut core = self.shared.lock_core();
        let done = matches!(core.waiters.get(&id), Some(Waiter::Done(_)));
        if done {
            core.waiters.remove(&id);
        }
        done
    }

    /// Begins the end as dropping it does, and does not wait.
    pub(crate) fn begin_drop(&self) {
        if self.shared.check_caller().is_ok() && !self.shared.on_polling_thread() {
            let graces = self.drop_graces();
            // It is dropped next, which sees it through.
            let _ = self.start_closing(Some(graces));
        }
    }
}
