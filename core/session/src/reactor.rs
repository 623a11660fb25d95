//! One descriptor for everything a session waits for, and a way to wake the waiter.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
    epoll: OwnedFd,
    wake: OwnedFd,
}

impl Reactor {
    pub(crate) fn new() -> io::Result<Reactor> {
        let reactor = Reactor {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        };
        reactor.add(Source::Wake, reactor.wake.as_fd(), EventFlags::IN)?;
        Ok(reactor)
    }

    /// Readable when something is ready.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    pub(crate) fn add(
        &self,
        source: Source,
        fd: BorrowedFd<'_>,
        flags: EventFlags,
    ) -> io::Result<()> {
        let data = EventData::new_u64(source as u64);
        epoll::add(&self.epoll, fd, data, flags)?;
        Ok(())
    }

    /// Must be called before the descriptor is closed.
    pub(crate) fn remove(&self, fd: BorrowedFd<'_>) {
        // Not registered any more: that is what is wanted.
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Makes the descriptor readable until [`clear_wake`](Reactor::clear_wake).
    pub(crate) fn wake(&self) {
        // Full means awake already.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    pub(crate) fn clear_wake(&self) {
        // Empty means cleared already.
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// Waits for something to be ready, for ever without a limit.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<Ready> {
        const NOTHING: Event = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(0),
        };
        let mut events = [NOTHING; 5];
        // Rounded up to milliseconds: waking early would mean waiting again.
        let limit = limit.map(|limit| {
            let ms = limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i64;
            Timespec {
                tv_sec: ms / 1000,
                tv_nsec: ms % 1000 * 1_000_000,
            }
        });
        let found = match epoll::wait(&self.epoll, &mut events, limit.as_ref()) {
            Ok(found) => found,
            Err(Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let mut ready = Ready::default();
        for event in events.iter().take(found) {
            ready.0 |= 1u8.checked_shl(event.data.u64() as u32).unwrap_or(0);
        }
        Ok(ready)
    }
}
