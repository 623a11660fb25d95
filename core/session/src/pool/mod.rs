//! Sessions started ahead, and conversations kept open.

mod drive;
mod options;
mod policy;
mod sessions;
mod taken;
mod ticket;
mod watch;

pub use options::{PoolError, PoolOptions, PoolStats};
pub use policy::{Action, Loss, Member, Policy, Ticket};
pub use taken::{PooledSession, PutBackError};
pub use ticket::PoolTicket;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Error, StartError};
use crate::session::{Session, SessionBuilder};
use crate::{Options, RequestId, Watchdog};
use watch::Watch;

/// Sessions that are started before anybody needs them, so that a first prompt costs no start-up,
/// and conversations that are kept open for their next prompt, within a limit on the number of
/// processes.
///
/// ```no_run
/// # fn main() -> Result<(), towline::Error> {
/// use towline::{Options, Pool, PoolOptions};
///
/// let limits = PoolOptions { size: 2, max_sessions: Some(8), ..PoolOptions::default() };
/// let pool = Pool::new(Options::new(), limits)?;
/// let session = pool.take()?;
/// session.send("What is 2 + 2?")?;
/// // … poll it until its turn has ended …
/// let id = session.session_id().unwrap_or_default();
/// pool.put_back(session)?;
/// let again = pool.take_for(&id)?; // the same process, or another that resumes
/// # drop(again);
/// # Ok(())
/// # }
/// ```
///
/// A pool starts no thread: like a session it has to be driven, by [`poll`](Pool::poll) on a thread
/// that has time, or in an event loop by [`fd`](Pool::fd) and [`next_timeout`](Pool::next_timeout).
/// [`take`](Pool::take) does the same work while it waits. A pool that nobody drives still has its
/// processes started ahead; health and age of its sessions are then looked at by the next `take`.
///
/// A session that is given out has answered `initialize` and lives; it belongs to who took it, and
/// so does its time: dropping it ends its process and makes room. [`put_back`](Pool::put_back) keeps
/// it. With `max_sessions` reached, room is made by closing the parked conversation that was used
/// least recently; it is not lost: [`take_for`](Pool::take_for) then starts a process that resumes
/// it. With nothing to close, `take` waits for a session to come back.
///
/// A start that fails is tried again, later each time (0.25 s to 30 s); [`take`](Pool::take) does not
/// wait for that but tries at once and fails with the error of the start.
///
/// All functions take `&self`, from any thread; in a handler of a session that the pool holds those
/// that wait fail with [`Error::Reentrant`]. Dropping the pool ends what it holds, all at the same
/// time, within two seconds or so. After `fork()` it belongs to the parent: [`Error::Forked`].
pub struct Pool {
    inner: Arc<Inner>,
}

type Factory = dyn Fn() -> Result<SessionBuilder, Error> + Send + Sync;

struct Inner {
    owner: u32,
    take_timeout: Option<Duration>,
    factory: Box<Factory>,
    state: Mutex<Inside>,
    /// Signalled when the thread that drives has got on, and when it leaves.
    progress: Condvar,
    watch: Watch,
    epoch: Instant,
}

struct Inside {
    policy: Policy,
    members: BTreeMap<Member, Held>,
    /// What came of tickets, until it is fetched.
    served: BTreeMap<Ticket, Result<(Member, Session), Error>>,
    /// Tickets that nobody waits for on a thread.
    tickets: BTreeSet<Ticket>,
    /// The thread that drives, by [`this_thread`](crate::session::this_thread).
    driver: Option<usize>,
    /// How often the driver has waited.
    rounds: u64,
    /// The policy was told something since it was asked last.
    unsettled: bool,
    last_failure: Option<String>,
}

/// A session that nobody has.
struct Held {
    session: Arc<Session>,
    opened: bool,
    /// The check under way.
    check: Option<RequestId>,
}

impl Pool {
    /// A pool of sessions with these options and no handlers; their processes are started at once,
    /// and open inside [`poll`](Pool::poll) or [`take`](Pool::take).
    ///
    /// Fails with [`PoolError::Options`].
    pub fn new(options: Options, limits: PoolOptions) -> Result<Pool, Error> {
        let watchdog = Watchdog::default();
        let builder = move || Session::builder(options.clone()).watchdog(&watchdog);
        Pool::with(builder, limits)
    }

    /// A pool of sessions that `builder` describes, with their handlers and tools. It is called for
    /// each start, on the thread that drives the pool.
    pub fn with(
        builder: impl Fn() -> SessionBuilder + Send + Sync + 'static,
        limits: PoolOptions,
    ) -> Result<Pool, Error> {
        Pool::try_with(move || Ok(builder()), limits)
    }

    /// As [`with`](Pool::with), with sessions that may turn out not to be describable: the error is
    /// that of the start.
    pub fn try_with(
        builder: impl Fn() -> Result<SessionBuilder, Error> + Send + Sync + 'static,
        limits: PoolOptions,
    ) -> Result<Pool, Error> {
        let policy = Policy::new(limits)?;
        let take_timeout = policy.options().take_timeout_ms.map(Duration::from_millis);
        let watch = Watch::new().map_err(StartError::Pipes)?;
        let inner = Arc::new(Inner {
            owner: std::process::id(),
            take_timeout,
            factory: Box::new(builder),
            state: Mutex::new(Inside {
                policy,
                members: BTreeMap::new(),
                served: BTreeMap::new(),
                tickets: BTreeSet::new(),
                driver: None,
                rounds: 0,
                unsettled: true,
                last_failure: None,
            }),
            progress: Condvar::new(),
            watch,
            epoch: Instant::now(),
        });
        inner.drive(Some(Instant::now()), |inside| {
            (!inside.unsettled).then_some(())
        })?;
        Ok(Pool { inner })
    }

    /// A session that is open: a warm one at once, else one that is started. Waits no longer than
    /// option `take_timeout_ms`.
    ///
    /// Fails with the error of the start, which has the end of the CLI's stderr; with
    /// [`PoolError::Full`], [`PoolError::NotReady`], [`PoolError::Closed`].
    pub fn take(&self) -> Result<PooledSession, Error> {
        self.take_within(self.inner.take_timeout)
    }

    /// As [`take`](Pool::take), with this limit; zero takes what is there.
    pub fn take_within(&self, limit: Option<Duration>) -> Result<PooledSession, Error> {
        self.inner.take(None, limit)
    }

    /// The session of a conversation: the parked one, else one that resumes it. While somebody else
    /// has it, it is waited for.
    ///
    /// Fails as [`take`](Pool::take) does, and with [`PoolError::InUse`].
    pub fn take_for(&self, session_id: &str) -> Result<PooledSession, Error> {
        self.take_for_within(session_id, self.inner.take_timeout)
    }

    /// As [`take_for`](Pool::take_for), with this limit.
    pub fn take_for_within(
        &self,
        session_id: &str,
        limit: Option<Duration>,
    ) -> Result<PooledSession, Error> {
        self.inner.take(Some(session_id), limit)
    }

    /// Gives a session back. One with a conversation is parked under its session id, for
    /// [`take_for`](Pool::take_for); one that never had a prompt is warm again, for anybody. Events
    /// that were not read stay in it.
    ///
    /// Fails, with the session in the error, when a turn of it is open, when it has ended, or has no id; and
    /// when it is of another pool.
    pub fn put_back(&self, session: PooledSession) -> Result<(), Box<PutBackError>> {
        self.inner.put_back(session)
    }

    /// Ends a session that was taken, without waiting: the pool sees it through.
    pub fn discard(&self, session: PooledSession) -> Result<(), Box<PutBackError>> {
        self.inner.discard(session)
    }

    /// Does what is due: starts, opens, checks, replaces and closes sessions and runs their handlers.
    /// Waits for something to do, up to `limit` (`None`: for ever), or for something for a
    /// [ticket](Pool::begin_take).
    pub fn poll(&self, limit: Option<Duration>) -> Result<(), Error> {
        let (before, waits) = {
            let inside = self.inner.lock()?;
            (inside.rounds, inside.has_served())
        };
        // What waits to be fetched ends the waiting, and not the work for the others.
        let limit = match waits {
            true => Some(Duration::ZERO),
            false => limit,
        };
        self.inner.drive(until(limit), |inside| {
            let served = !waits && !inside.unsettled && inside.has_served();
            (inside.rounds != before || served).then_some(())
        })?;
        Ok(())
    }

    /// Drives the pool until as many sessions are warm as it shall have, or there is no room for
    /// more. `false` when `limit` passes first.
    ///
    /// Fails with [`PoolError::Closed`].
    pub fn fill(&self, limit: Option<Duration>) -> Result<bool, Error> {
        let full = self.inner.drive(until(limit), |inside| {
            if inside.policy.is_closed() {
                return Some(Err(PoolError::Closed));
            }
            (!inside.unsettled && inside.policy.is_full()).then_some(Ok(()))
        })?;
        Ok(full.transpose()?.is_some())
    }

    /// The descriptor to watch in an event loop: readable whenever [`poll`](Pool::poll) with a limit
    /// of zero would get on, and while there is something for a [ticket](Pool::begin_take). Together with [`next_timeout`](Pool::next_timeout). It belongs to the
    /// pool: neither read nor close it.
    pub fn fd(&self) -> Result<BorrowedFd<'_>, Error> {
        self.inner.check_owner()?;
        Ok(self.inner.watch.fd())
    }

    /// How long the host's loop may wait on the descriptor before it must poll all the same; `None`
    /// is for ever.
    pub fn next_timeout(&self) -> Result<Option<Duration>, Error> {
        let inside = self.inner.lock()?;
        Ok(match inside.unsettled {
            true => Some(Duration::ZERO),
            false => self.inner.limit(&inside),
        })
    }

    /// Makes a waiting [`poll`](Pool::poll) return. From any thread.
    pub fn wake(&self) -> Result<(), Error> {
        let mut inside = self.inner.lock()?;
        inside.rounds += 1;
        self.inner.progress.notify_all();
        self.inner.watch.wake();
        Ok(())
    }

    /// Counters.
    pub fn stats(&self) -> Result<PoolStats, Error> {
        Ok(self.inner.lock()?.policy.stats())
    }

    /// Why the last start failed, if one did since one succeeded.
    pub fn last_failure(&self) -> Result<Option<String>, Error> {
        Ok(self.inner.lock()?.last_failure.clone())
    }

    /// Begins to close the pool and returns at once: every session it holds is closed, who waits for
    /// one gets [`PoolError::Closed`]. Polls see it through. Sessions in use are their users'.
    pub fn begin_close(&self) -> Result<(), Error> {
        let mut inside = self.inner.lock()?;
        inside.policy.close();
        self.inner.tell(&mut inside);
        Ok(())
    }

    /// Closes the pool and waits until all sessions that it holds have ended: at the same time, each
    /// within the graces of its options. Any number of times.
    pub fn close(&self) -> Result<(), Error> {
        self.begin_close()?;
        self.inner.drive(None, |inside| {
            (!inside.unsettled && inside.policy.is_empty()).then_some(())
        })?;
        Ok(())
    }
}

fn until(limit: Option<Duration>) -> Option<Instant> {
    limit.and_then(|limit| Instant::now().checked_add(limit))
}

impl Inner {
    /// After a fork another thread may have held the lock for ever.
    fn check_owner(&self) -> Result<(), Error> {
        match std::process::id() == self.owner {
            true => Ok(()),
            false => Err(Error::Forked { owner: self.owner }),
        }
    }

    fn lock(&self) -> Result<MutexGuard<'_, Inside>, Error> {
        self.check_owner()?;
        Ok(self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn now(&self) -> u64 {
        self.epoch.elapsed().as_millis() as u64
    }

    /// The policy was told something: whoever drives has to look at it.
    fn tell(&self, inside: &mut Inside) {
        inside.unsettled = true;
        self.progress.notify_all();
        self.watch.wake();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let Ok(mut inside) = self.inner.lock() else {
            return;
        };
        inside.policy.close();
        for held in inside.members.values() {
            held.session.begin_drop();
        }
        drop(inside);
        // All of them end at the same time. Nothing can be reported from here.
        let _ = self.inner.drive(None, |inside| {
            (!inside.unsettled && inside.policy.is_empty()).then_some(())
        });
        let Ok(mut inside) = self.inner.lock() else {
            return;
        };
        // There are some left if this is a handler of one of them.
        let left = std::mem::take(&mut inside.members);
        drop(inside);
        drop(left);
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stats = self.stats().ok();
        f.debug_struct("Pool").field("stats", &stats).finish()
    }
}
