//! Who waits for which session. Readiness of a session reaches its JavaScript thread through an epoll
//! descriptor that this thread's own event loop watches: one hop less than through another thread.
//! The one native thread looks after everything that has no descriptor of a JavaScript thread:
//! deadlines, and sessions that nobody owns any more.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{eventfd, EventfdFlags, Timespec};
use towline::Session;

/// The token of the thread's own wake-up; no session has it.
const WAKE: u64 = 0;

/// Wakes the JavaScript thread that owns a session.
pub(crate) trait Wake: Send {
    /// Asks it to look for ready sessions. Called once until it has taken them.
    fn wake(&self);
}

/// The sessions and their owners.
pub(crate) struct Waiter {
    epoll: Arc<OwnedFd>,
    eventfd: OwnedFd,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    last: u64,
    watched: HashMap<u64, Watched>,
    hosts: HashMap<u64, Host>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Ready sessions that the thread sees to itself.
    orphans: Vec<u64>,
    /// Until when the thread sleeps; `None` is for ever.
    sleeping_until: Option<Instant>,
}

struct Watched {
    session: Arc<Session>,
    owner: Owner,
    /// The epoll descriptor that the session is registered with.
    epoll: Arc<OwnedFd>,
    deadline: Option<Instant>,
}

/// Who sees a session on.
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    Host(u64),
    /// Nobody any more: the thread sees it to its end.
    Waiter,
}

struct Host {
    wake: Box<dyn Wake>,
    epoll: Arc<OwnedFd>,
    ready: Vec<u64>,
    called: bool,
}

impl Waiter {
    /// The waiter of this process, started when it is first asked for.
    pub(crate) fn get() -> io::Result<&'static Waiter> {
        static WAITER: OnceLock<Waiter> = OnceLock::new();
        static STARTING: Mutex<()> = Mutex::new(());
        if let Some(waiter) = WAITER.get() {
            return Ok(waiter);
        }
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiter) = WAITER.get() {
            return Ok(waiter);
        }
        let waiter = Waiter {
            epoll: Arc::new(epoll::create(CreateFlags::CLOEXEC)?),
            eventfd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            table: Mutex::default(),
        };
        let data = EventData::new_u64(WAKE);
        epoll::add(&*waiter.epoll, &waiter.eventfd, data, EventFlags::IN)?;
        let waiter = WAITER.get_or_init(|| waiter);
        std::thread::Builder::new()
            .name("towline".into())
            .stack_size(256 * 1024)
            .spawn(|| waiter.run())?;
        Ok(waiter)
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A JavaScript thread that can own sessions; it watches the descriptor.
    pub(crate) fn add_host(&self, wake: Box<dyn Wake>, epoll: Arc<OwnedFd>) -> u64 {
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        let host = Host {
            wake,
            epoll,
            ready: Vec::new(),
            called: false,
        };
        table.hosts.insert(id, host);
        id
    }

    /// The JavaScript thread ends; its sessions are ended by the waiter.
    pub(crate) fn remove_host(&self, id: u64) {
        let left: Vec<u64> = {
            let mut table = self.lock();
            table.hosts.remove(&id);
            let owned = |watched: &Watched| watched.owner == Owner::Host(id);
            let owned = table.watched.iter().filter(|(_, watched)| owned(watched));
            owned.map(|(id, _)| *id).collect()
        };
        for session in left {
            self.abandon(session);
        }
    }

    /// Sessions that are ready.
    pub(crate) fn take_ready(&self, host: u64) -> Vec<u64> {
        let (epoll, mut ready) = {
            let mut table = self.lock();
            let Some(host) = table.hosts.get_mut(&host) else {
                return Vec::new();
            };
            host.called = false;
            (Arc::clone(&host.epoll), std::mem::take(&mut host.ready))
        };
        ready.extend(wait(&epoll, Some(Duration::ZERO)));
        ready
    }

    /// Watches a session. It is waited for once it is [armed](Waiter::arm).
    pub(crate) fn add(&self, session: &Arc<Session>, host: u64) -> Result<u64, towline::Error> {
        let mut table = self.lock();
        table.last += 1;
        let id = table.last;
        let home = table.hosts.get(&host);
        let epoll = Arc::clone(home.map_or(&self.epoll, |host| &host.epoll));
        register(&epoll, session, id)?;
        let watched = Watched {
            session: session.clone(),
            owner: Owner::Host(host),
            epoll,
            deadline: None,
        };
        table.watched.insert(id, watched);
        Ok(id)
    }

    /// Waits for a session: its owner is woken once when it has something to do.
    pub(crate) fn arm(&self, id: u64) -> Result<(), towline::Error> {
        let mut table = self.lock();
        let Some(watched) = table.watched.get(&id) else {
            return Ok(());
        };
        let (session, epoll) = (watched.session.clone(), Arc::clone(&watched.epoll));
        let limit = session.next_timeout()?;
        table.set_deadline(id, limit);
        if limit.is_some_and(|limit| limit.is_zero()) {
            table.mark(id);
            let orphaned = !table.orphans.is_empty();
            drop(table);
            if orphaned {
                self.wake();
            }
            return Ok(());
        }
        let data = EventData::new_u64(id);
        let flags = EventFlags::IN | EventFlags::ONESHOT;
        session
            .watch(|fd| epoll::modify(&*epoll, fd, data, flags))?
            .map_err(|error| towline::Error::Wait(error.into()))?;
        let earlier = match (limit, table.sleeping_until) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(limit), Some(until)) => Instant::now() + limit < until,
        };
        drop(table);
        if earlier {
            self.wake();
        }
        Ok(())
    }

    /// Something about the session has changed that its owner has to see to.
    pub(crate) fn mark(&self, id: u64) {
        let orphaned = {
            let mut table = self.lock();
            table.mark(id);
            !table.orphans.is_empty()
        };
        if orphaned {
            self.wake();
        }
    }

    fn wake(&self) {
        // Full means awake already.
        let _ = rustix::io::write(&self.eventfd, &1u64.to_ne_bytes());
    }

    /// Forgets a session that has ended.
    pub(crate) fn remove(&self, id: u64) {
        let mut table = self.lock();
        table.set_deadline(id, None);
        if let Some(watched) = table.watched.remove(&id) {
            watched.unregister();
            let _ = watched.session.unwatch();
        }
    }

    /// Nobody owns the session any more: it is closed, and the waiter sees it to its end.
    pub(crate) fn abandon(&self, id: u64) {
        let session = {
            let mut table = self.lock();
            let Some(watched) = table.watched.get_mut(&id) else {
                return;
            };
            watched.owner = Owner::Waiter;
            watched.unregister();
            watched.epoll = Arc::clone(&self.epoll);
            let registered = register(&self.epoll, &watched.session, id);
            if registered.is_err() {
                // In a forked child there is nothing to end.
                table.watched.remove(&id);
                return;
            }
            watched.session.clone()
        };
        // It cannot be told of a failure; in a forked child there is nothing to end.
        if session.begin_close().is_ok() && self.arm(id).is_err() {
            self.remove(id);
        }
    }

    fn run(&'static self) {
        loop {
            let limit = {
                let mut table = self.lock();
                let next = table.deadlines.first().map(|(at, _)| *at);
                table.sleeping_until = next;
                next.map(|at| at.saturating_duration_since(Instant::now()))
            };
            let ready = wait(&self.epoll, limit);
            // Empty means cleared already.
            let _ = rustix::io::read(&self.eventfd, &mut [0; 8]);
            let own = {
                let mut table = self.lock();
                let now = Instant::now();
                // Awake: whatever is armed meanwhile is looked at before it sleeps again.
                table.sleeping_until = Some(now);
                for id in ready {
                    table.mark(id);
                }
                while let Some(&(at, id)) = table.deadlines.first() {
                    if at > now {
                        break;
                    }
                    table.set_deadline(id, None);
                    table.mark(id);
                }
                std::mem::take(&mut table.orphans)
            };
            for id in own {
                self.see_on(id);
            }
        }
    }

    /// Polls a session that nobody owns.
    fn see_on(&self, id: u64) {
        let session = {
            let table = self.lock();
            match table.watched.get(&id) {
                Some(watched) => watched.session.clone(),
                None => return,
            }
        };
        loop {
            match session.poll(Some(Duration::ZERO)) {
                Ok(Some(towline::Event::Closed(_))) | Err(towline::Error::Closed) => break,
                Ok(Some(_)) => {}
                // Its JavaScript thread is still inside a call of it.
                Ok(None) | Err(towline::Error::Busy) => {
                    let limit = session.next_timeout().ok().flatten();
                    let mut table = self.lock();
                    table.set_deadline(id, limit.map(|limit| limit.max(Duration::from_millis(1))));
                    let data = EventData::new_u64(id);
                    let flags = EventFlags::IN | EventFlags::ONESHOT;
                    let armed = session.watch(|fd| epoll::modify(&*self.epoll, fd, data, flags));
                    if matches!(armed, Ok(Ok(()))) {
                        return;
                    }
                    break;
                }
                Err(_) => break,
            }
        }
        self.remove(id);
    }
}

/// Nothing is reported of the session before it is armed.
fn register(epoll: &OwnedFd, session: &Session, id: u64) -> Result<(), towline::Error> {
    let data = EventData::new_u64(id);
    session
        .watch(|fd| epoll::add(epoll, fd, data, EventFlags::ONESHOT))?
        .map_err(|error| towline::Error::Wait(error.into()))
}

/// The sessions that are ready, once one is or the time is up.
fn wait(epoll: &OwnedFd, limit: Option<Duration>) -> Vec<u64> {
    const NOTHING: Event = Event {
        flags: EventFlags::empty(),
        data: EventData::new_u64(WAKE),
    };
    let mut events = [NOTHING; 64];
    // Rounded up: waking early would mean waiting again.
    let limit = limit.map(|limit| {
        let ms = limit.as_nanos().div_ceil(1_000_000).min(i32::MAX as u128) as i64;
        Timespec {
            tv_sec: ms / 1000,
            tv_nsec: ms % 1000 * 1_000_000,
        }
    });
    let found = epoll::wait(epoll, &mut events, limit.as_ref()).unwrap_or(0);
    let ready = events.iter().take(found).map(|event| event.data.u64());
    ready.filter(|id| *id != WAKE).collect()
}

impl Watched {
    fn unregister(&self) {
        // Not registered any more: that is what is wanted.
        let _ = self.session.watch(|fd| epoll::delete(&*self.epoll, fd));
    }
}

impl Table {
    /// The session is ready: its owner shall see to it.
    fn mark(&mut self, id: u64) {
        let Some(watched) = self.watched.get(&id) else {
            return;
        };
        match watched.owner {
            Owner::Waiter => self.orphans.push(id),
            Owner::Host(host) => {
                let Some(host) = self.hosts.get_mut(&host) else {
                    return;
                };
                if !host.ready.contains(&id) {
                    host.ready.push(id);
                }
                if !std::mem::replace(&mut host.called, true) {
                    host.wake.wake();
                }
            }
        }
    }

    fn set_deadline(&mut self, id: u64, limit: Option<Duration>) {
        let at = limit.and_then(|limit| Instant::now().checked_add(limit));
        let Some(watched) = self.watched.get_mut(&id) else {
            return;
        };
        if let Some(old) = std::mem::replace(&mut watched.deadline, at) {
            self.deadlines.remove(&(old, id));
        }
        if let Some(at) = at {
            self.deadlines.insert((at, id));
        }
    }
}
