//! One descriptor for everything a session waits for, and a way to wake the waiter.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags, Timespec};
use rustix::io::Errno;

/// What may be ready. The numbers are the epoll tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Stdout = 1,
    Stderr = 2,
    Stdin = 3,
    Exit = 4,
    Wake = 5,
}

/// Which sources are ready.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ready(u8);

impl Ready {
    pub(crate) fn has(self, source: Source) -> bool {
        self.0 & (1 << source as u8) != 0
    }
}

#[derive(Debug)]
pub(crate) struct Reactor {
    /// Gone once nothing more can become ready.
    fds: RwLock<Option<Arc<Fds>>>,
    /// Set once the descriptor was lent for as long as the reactor lives.
    lent: OnceLock<Arc<Fds>>,
}

#[derive(Debug)]
struct Fds {
    epoll: OwnedFd,
    wake: OwnedFd,
}

impl Reactor {
    pub(crate) fn new() -> io::Result<Reactor> {
        let fds = Fds {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        };
        let data = EventData::new_u64(Source::Wake as u64);
        epoll::add(&fds.epoll, fds.wake.as_fd(), data, EventFlags::IN)?;
        Ok(Reactor {
            fds: RwLock::new(Some(Arc::new(fds))),
            lent: OnceLock::new(),
        })
    }

    fn with<T>(&self, work: impl FnOnce(&Fds) -> T) -> Option<T> {
        let fds = self.fds.read().unwrap_or_else(PoisonError::into_inner);
        fds.as_deref().map(work)
    }

    fn held(&self) -> Option<Arc<Fds>> {
        let fds = self.fds.read().unwrap_or_else(PoisonError::into_inner);
        fds.clone()
    }

    /// Readable when something is ready; open as long as the reactor lives. `None` after
    /// [`release`](Reactor::release).
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        if self.lent.get().is_none() {
            let _ = self.lent.set(self.held()?);
        }
        self.lent.get().map(|fds| fds.epoll.as_fd())
    }

    /// The same descriptor, for who lets go of it before [`release`](Reactor::release).
    /// No lock is held meanwhile: it is the host's code that runs.
    pub(crate) fn with_fd<T>(&self, work: impl FnOnce(BorrowedFd<'_>) -> T) -> Option<T> {
        self.held().map(|fds| work(fds.epoll.as_fd()))
    }

    /// Nothing more can become ready: the descriptors are closed, unless they are lent.
    pub(crate) fn release(&self) {
        let mut fds = self.fds.write().unwrap_or_else(PoisonError::into_inner);
        *fds = None;
    }

    pub(crate) fn add(
        &self,
        source: Source,
        fd: BorrowedFd<'_>,
        flags: EventFlags,
    ) -> io::Result<()> {
        let data = EventData::new_u64(source as u64);
        match self.with(|fds| epoll::add(&fds.epoll, fd, data, flags)) {
            Some(added) => Ok(added?),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Must be called before the descriptor is closed.
    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) {
        // Not registered any more: that is what is wanted.
        let _ = self.with(|fds| epoll::delete(&fds.epoll, fd));
    }

    /// Makes the descriptor readable until [`clear_wake`](Reactor::clear_wake).
    pub(crate) fn wake(&self) {
        // Full means awake already.
        let _ = self.with(|fds| rustix::io::write(&fds.wake, &1u64.to_ne_bytes()));
    }

    pub(crate) fn clear_wake(&self) {
        // Empty means cleared already.
        let _ = self.with(|fds| rustix::io::read(&fds.wake, &mut [0; 8]));
    }

    /// Waits for something to be ready, for ever without a limit.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<Ready> {
        const NOTHING: Event = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        let Some(fds) = self.held() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut events = [NOTHING; 5];
        let found = wait_for_events(&fds.epoll, &mut events, limit)?;
        let mut ready = Ready::default();
        for event in events.iter().take(found) {
            ready.0 |= 1u8.checked_shl(event.data.u64() as u32).unwrap_or(0);
        }
        Ok(ready)
    }
}

/// Waits for events, for ever without a limit; tells how many there are, none also for a signal.
pub(crate) fn wait_for_events(
    epoll: &OwnedFd,
    events: &mut [Event],
    limit: Option<Duration>,
) -> io::Result<usize> {
    // Rounded up to milliseconds: waking early would mean waiting again.
    let limit = limit.map(|limit| {
        let ms = limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i64;
        Timespec {
            tv_sec: ms / 1000,
            tv_nsec: ms % 1000 * 1_000_000,
        }
    });
    match epoll::wait(epoll, events, limit.as_ref()) {
        Ok(found) => Ok(found),
        Err(Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}
