//! One descriptor for all sessions of a pool, and a way to wake who waits on it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags, Timespec};
use rustix::io::Errno;

use super::policy::Member;

/// The epoll token of the wake-up; no member has this number.
const WAKE: u64 = 0;
/// How many sessions are told of at once.
const AT_ONCE: usize = 64;

#[derive(Debug)]
pub(super) struct Watch {
    epoll: OwnedFd,
    wake: OwnedFd,
}

impl Watch {
    pub(super) fn new() -> io::Result<Watch> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &wake, EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Watch { epoll, wake })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
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
        // Rounded up: waking early would mean waiting again.
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
