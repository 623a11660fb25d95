//! One descriptor for all sessions of a pool, and a way to wake who waits on it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags};

use super::policy::Member;
use crate::reactor::wait_for_events;

/// The epoll token of the wake-up; no member has this number.
const WAKE: u64 = 0;
/// How many sessions are told of at once.
const AT_ONCE: usize = 64;

#[derive(Debug)]
pub(super) struct Watch {
    epoll: OwnedFd,
    wake: OwnedFd,
    /// What the host's loop watches: all of this, and whether there is something for a ticket. Who
    /// drives the pool does not wait on it, or it would turn round until that was fetched.
    host: OwnedFd,
    served: OwnedFd,
}

impl Watch {
    pub(super) fn new() -> io::Result<Watch> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        let host = epoll::create(CreateFlags::CLOEXEC)?;
        let served = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        for fd in [&epoll, &served] {
            epoll::add(&host, fd, EventData::new_u64(0), EventFlags::IN)?;
        }
        Ok(Watch {
            epoll,
            wake,
            host,
            served,
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.host.as_fd()
    }

    /// Keeps the descriptor readable for the host's loop, or no longer.
    pub(super) fn announce(&self, served: bool) {
        // Full means readable already, empty means cleared.
        let _ = match served {
            true => rustix::io::write(&self.served, &1u64.to_ne_bytes()),
            false => rustix::io::read(&self.served, &mut [0; 8]),
        };
    }

    pub(super) fn add(&self, member: Member, fd: BorrowedFd<'_>) -> io::Result<()> {
        let data = EventData::new_u64(member.0);
        Ok(epoll::add(&self.epoll, fd, data, EventFlags::IN)?)
    }

    pub(super) fn remove(&self, fd: BorrowedFd<'_>) {
        // Not registered any more: that is what is wanted.
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Makes the descriptor readable until the next [`wait`](Watch::wait).
    pub(super) fn wake(&self) {
        // Full means awake already.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// The sessions that are ready, once one is, or the time is up, or somebody woke.
    pub(super) fn wait(&self, limit: Option<Duration>) -> io::Result<Vec<Member>> {
        const NOTHING: Event = Event {
            flags: EventFlags::empty(),
            data: EventData::new_u64(WAKE),
        };
        let mut events = [NOTHING; AT_ONCE];
        let found = wait_for_events(&self.epoll, &mut events, limit)?;
        let ready = events.iter().take(found).map(|event| event.data.u64());
        let mut members: Vec<Member> = ready.map(Member).collect();
        if members.contains(&Member(WAKE)) {
            // Empty means cleared already.
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            members.retain(|member| member.0 != WAKE);
        }
        Ok(members)
    }
}
