//! Which sessions a pool starts, keeps, checks, gives out and closes, and when.

use std::collections::{BTreeMap, VecDeque};

use super::options::{PoolError, PoolOptions, PoolStats};

/// Milliseconds of the host's clock.
type Millis = u64;

/// How long the pool waits after a start of its own has failed, at first and at most.
const BACKOFF: Millis = 250;
const BACKOFF_MAX: Millis = 30_000;

/// A session of a pool, from its start to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member(pub u64);

/// Somebody who waits for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// What the owner of the sessions has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Start a session; then [`opened`](Policy::opened) or [`failed`](Policy::failed).
    Start {
        /// What it is called from now on.
        member: Member,
        /// The conversation to go on with.
        resume: Option<String>,
    },
    /// Ask a session for a sign of life, which is told by [`answered`](Policy::answered).
    Check {
        /// The session.
        member: Member,
    },
    /// Begin to close a session; [`gone`](Policy::gone) once it has ended.
    Close {
        /// The session.
        member: Member,
    },
    /// Give a session to who waits: look whether it lives, then say
    /// [`given`](Policy::given) or [`lost`](Policy::lost) before asking on.
    Give {
        /// Who gets it.
        ticket: Ticket,
        /// The session.
        member: Member,
    },
    /// Tell who waits that there is none.
    Refuse {
        /// Who.
        ticket: Ticket,
        /// Why.
        error: PoolError,
    },
}

/// Why a session that waits cannot be given to anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It ended by itself.
    Exited,
    /// It runs, but cannot be relied on.
    Unhealthy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Starting,
    /// Open; with a key it is parked, without one warm.
    Ready,
    /// As ready, until the answer has come or this time has.
    Checking(Millis),
    Out,
    Closing,
}

#[derive(Debug)]
struct Slot {
    state: State,
    /// The session's id, of one with a conversation.
    key: Option<String>,
    /// Since when it is ready.
    since: Millis,
    /// When it was heard of last.
    heard: Millis,
}

impl Slot {
    /// Whether it is open and nobody has it, also while it is asked how it is.
    fn waits(&self) -> bool {
        matches!(self.state, State::Ready | State::Checking(_))
    }

    fn is_warm(&self) -> bool {
        self.waits() && self.key.is_none()
    }

    fn is_parked(&self) -> bool {
        self.waits() && self.key.is_some()
    }

    /// Whether it is to be asked how it is.
    fn is_due(&self, interval: Option<Millis>, now: Millis) -> bool {
        let unheard = now.saturating_sub(self.heard);
        self.state == State::Ready && interval.is_some_and(|interval| unheard >= interval)
    }

    /// It may become warm by itself.
    fn may_get_warm(&self) -> bool {
        self.key.is_none() && matches!(self.state, State::Starting | State::Checking(_))
    }
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    key: Option<String>,
    asked: Millis,
    until: Option<Millis>,
    /// It was not served at once.
    missed: bool,
}

/// The decisions of a [`Pool`](super::Pool), without sessions, descriptors or a clock: for a host
/// whose sessions run in a loop of its own.
///
/// After each thing told, and when [`deadline`](Policy::deadline) has come, ask
/// [`next`](Policy::next) until it has nothing more to do. Times are milliseconds of any clock
/// that never goes back.
#[derive(Debug)]
pub struct Policy {
    options: PoolOptions,
    members: BTreeMap<Member, Slot>,
    waiting: VecDeque<Waiting>,
    to_close: VecDeque<Member>,
    last: u64,
    failures: u32,
    /// When the pool may start sessions of its own again.
    not_before: Millis,
    closed: bool,
    counts: PoolStats,
}

impl Policy {
    /// Fails with [`PoolError::Options`].
    pub fn new(mut options: PoolOptions) -> Result<Policy, PoolError> {
        options.check()?;
        options.idle_timeout_ms = options.idle_timeout_ms.filter(|limit| *limit > 0);
        options.check_interval_ms = options.check_interval_ms.filter(|limit| *limit > 0);
        Ok(Policy {
            options,
            members: BTreeMap::new(),
            waiting: VecDeque::new(),
            to_close: VecDeque::new(),
            last: 0,
            failures: 0,
            not_before: 0,
            closed: false,
            counts: PoolStats::default(),
        })
    }

    /// The options.
    pub fn options(&self) -> &PoolOptions {
        &self.options
    }

    /// Counters.
    pub fn stats(&self) -> PoolStats {
        let mut stats = self.counts;
        for slot in self.members.values() {
            let count = match (slot.state, &slot.key) {
                (State::Starting, _) => &mut stats.starting,
                (State::Ready | State::Checking(_), None) => &mut stats.warm,
                (State::Ready | State::Checking(_), Some(_)) => &mut stats.parked,
                (State::Out, _) => &mut stats.handed_out,
                (State::Closing, _) => &mut stats.closing,
            };
            *count += 1;
        }
        stats.waiting = self.waiting.len();
        stats.failures = self.failures;
        stats
    }

    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn count(&self, of: impl Fn(&Slot) -> bool) -> usize {
        self.members.values().filter(|slot| of(slot)).count()
    }

    // What the host wants.

    /// Asks for a session, or for the one of a conversation; not longer than `limit`.
    pub fn take(&mut self, key: Option<String>, limit: Option<Millis>, now: Millis) -> Ticket {
        let ticket = Ticket(self.number());
        self.waiting.push_back(Waiting {
            ticket,
            key,
            asked: now,
            until: limit.map(|limit| now.saturating_add(limit)),
            missed: false,
        });
        ticket
    }

    /// Nobody waits for it any more.
    pub fn cancel(&mut self, ticket: Ticket) {
        self.waiting.retain(|waiting| waiting.ticket != ticket);
    }

    /// A session in use comes back: with the id of its conversation to be kept for that, without one
    /// to be what it was, warm or of the conversation that it resumes. Another one of the same
    /// conversation is closed.
    pub fn put_back(&mut self, member: Member, key: Option<String>, now: Millis) {
        let resumed = self.members.get(&member).and_then(|slot| slot.key.clone());
        let key = key.or(resumed);
        if let Some(key) = &key {
            let same = |slot: &Slot| slot.key.as_ref() == Some(key);
            let others: Vec<Member> = self
                .members
                .iter()
                .filter(|(other, slot)| **other != member && slot.waits() && same(slot))
                .map(|(other, _)| *other)
                .collect();
            for other in others {
                self.close_member(other);
            }
        }
        if let Some(slot) = self.members.get_mut(&member) {
            *slot = Slot {
                state: State::Ready,
                key,
                since: now,
                heard: now,
            };
        }
    }

    /// A session in use is to be closed by the owner of the sessions.
    pub fn discard(&mut self, member: Member) {
        self.close_member(member);
    }

    /// Everything the pool holds is to be closed; sessions in use are their users'.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether [`close`](Policy::close) was called.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether a session is neither open yet nor to be closed.
    pub fn is_starting(&self, member: Member) -> bool {
        let slot = self.members.get(&member);
        slot.is_some_and(|slot| slot.state == State::Starting)
    }

    /// Whether as many sessions are warm as shall be, or there is no room for more.
    pub fn is_full(&self) -> bool {
        let warm = self.count(Slot::is_warm);
        let comes = self.members.values().any(Slot::may_get_warm);
        warm >= self.options.size || (self.room() == 0 && !comes)
    }

    /// Whether it has no sessions left but those in use.
    pub fn is_empty(&self) -> bool {
        self.members.values().all(|slot| slot.state == State::Out)
    }

    // What happened.

    /// A session is open.
    pub fn opened(&mut self, member: Member, now: Millis) {
        if let Some(slot) = self.members.get_mut(&member) {
            if slot.state == State::Starting {
                slot.state = State::Ready;
                slot.since = now;
                slot.heard = now;
            }
        }
    }

    /// A session could not be started. Whoever it was for, and nobody else is left to wait for, gets
    /// the error; the ticket is over then.
    pub fn failed(&mut self, member: Member, now: Millis) -> Option<Ticket> {
        let key = {
            let slot = self.members.get(&member)?;
            if slot.state != State::Starting {
                return None;
            }
            slot.key.clone()
        };
        self.counts.failed += 1;
        self.close_member(member);
        let at = match &key {
            Some(_) => self.waiting.iter().position(|waiting| waiting.key == key)?,
            None => {
                self.back_off(now);
                let left = self.count(|slot| slot.is_warm() || slot.may_get_warm());
                let generic = self.waiting.iter().filter(|waiting| waiting.key.is_none());
                if generic.count() <= left {
                    return None;
                }
                self.waiting
                    .iter()
                    .position(|waiting| waiting.key.is_none())?
            }
        };
        self.waiting.remove(at).map(|waiting| waiting.ticket)
    }

    /// A session that waits has ended, or is not to be relied on.
    pub fn lost(&mut self, member: Member, loss: Loss, now: Millis) {
        let Some(slot) = self.members.get(&member) else {
            return;
        };
        if !slot.waits() {
            return;
        }
        if now.saturating_sub(slot.since) >= BACKOFF_MAX {
            self.failures = 0;
        }
        if slot.key.is_none() {
            self.back_off(now);
        }
        match loss {
            Loss::Exited => self.counts.exited += 1,
            Loss::Unhealthy => self.counts.unhealthy += 1,
        }
        self.close_member(member);
    }

    /// A session has given the sign of life.
    pub fn answered(&mut self, member: Member, now: Millis) {
        if let Some(slot) = self.members.get_mut(&member) {
            if matches!(slot.state, State::Checking(_)) {
                slot.state = State::Ready;
                slot.heard = now;
                self.failures = 0;
            }
        }
    }

    /// A session was given to who waited.
    pub fn given(&mut self, ticket: Ticket, member: Member) {
        let at = self
            .waiting
            .iter()
            .position(|waiting| waiting.ticket == ticket);
        let waited = at.and_then(|at| self.waiting.remove(at));
        match waited.is_some_and(|waiting| !waiting.missed) {
            true => self.counts.hits += 1,
            false => self.counts.misses += 1,
        }
        self.failures = 0;
        if let Some(slot) = self.members.get_mut(&member) {
            slot.state = State::Out;
        }
    }

    /// A session has ended: one that was to be closed, or one in use.
    pub fn gone(&mut self, member: Member) {
        self.members.remove(&member);
        self.to_close.retain(|other| *other != member);
    }

    fn back_off(&mut self, now: Millis) {
        let steps = self.failures.min(16);
        self.not_before = now.saturating_add((BACKOFF << steps).min(BACKOFF_MAX));
        self.failures = self.failures.saturating_add(1);
    }

    fn close_member(&mut self, member: Member) {
        if let Some(slot) = self.members.get_mut(&member) {
            if slot.state != State::Closing {
                slot.state = State::Closing;
                self.to_close.push_back(member);
            }
        }
    }

    // What is to be done.

    /// The next thing to do; `None` when all is done until something happens or the
    /// [`deadline`](Policy::deadline) comes.
    pub fn next(&mut self, now: Millis) -> Option<Action> {
        if self.closed {
            return self.end();
        }
        self.expire(now);
        if let Some(member) = self.to_close.pop_front() {
            return Some(Action::Close { member });
        }
        self.give(now)
            .or_else(|| self.check(now))
            .or_else(|| self.start(now))
            .or_else(|| self.refuse(now))
    }

    fn end(&mut self) -> Option<Action> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Some(Action::Refuse {
                ticket: waiting.ticket,
                error: PoolError::Closed,
            });
        }
        let kept = |slot: &Slot| !matches!(slot.state, State::Out | State::Closing);
        let found = self.members.iter().find(|(_, slot)| kept(slot));
        if let Some((member, _)) = found {
            self.close_member(*member);
        }
        let member = self.to_close.pop_front()?;
        Some(Action::Close { member })
    }

    /// Finds the sessions whose time is up.
    fn expire(&mut self, now: Millis) {
        let idle = self.options.idle_timeout_ms;
        let wanted: Vec<&Option<String>> = self.waiting.iter().map(|w| &w.key).collect();
        let mut over = Vec::new();
        for (member, slot) in &self.members {
            match slot.state {
                State::Checking(until) if until <= now => over.push((*member, true)),
                State::Ready if !wanted.contains(&&slot.key) => {
                    let since = now.saturating_sub(slot.since);
                    if idle.is_some_and(|limit| since >= limit) {
                        over.push((*member, false));
                    }
                }
                _ => {}
            }
        }
        for (member, unhealthy) in over {
            if unhealthy {
                self.lost(member, Loss::Unhealthy, now);
            } else {
                self.counts.idle += 1;
                self.close_member(member);
            }
        }
    }

    /// Nobody gets a session whose check is overdue, as when the pool was not driven for long, unless
    /// it was heard of since it was asked for: answers become overdue while the pool works.
    fn give(&mut self, now: Millis) -> Option<Action> {
        let interval = self.options.check_interval_ms;
        for waiting in &mut self.waiting {
            let free = |slot: &Slot| {
                slot.state == State::Ready
                    && slot.key == waiting.key
                    && (slot.heard >= waiting.asked || !slot.is_due(interval, now))
            };
            let found = self.members.iter().filter(|(_, slot)| free(slot));
            // The one that has waited longest is the next one to become too old.
            if let Some((member, _)) = found.min_by_key(|(_, slot)| slot.since) {
                return Some(Action::Give {
                    ticket: waiting.ticket,
                    member: *member,
                });
            }
            waiting.missed = true;
        }
        None
    }

    /// Conversations, and sessions without one, that somebody waits for and nobody starts yet.
    fn wanted(&self) -> Vec<Option<String>> {
        let mut coming = self.count(Slot::may_get_warm);
        let mut wanted: Vec<Option<String>> = Vec::new();
        for waiting in &self.waiting {
            let known = match &waiting.key {
                Some(_) => {
                    let mut known = self.members.values();
                    wanted.contains(&waiting.key) || known.any(|slot| slot.key == waiting.key)
                }
                None if coming > 0 => {
                    coming -= 1;
                    true
                }
                None => false,
            };
            if !known {
                wanted.push(waiting.key.clone());
            }
        }
        wanted
    }

    /// How many sessions more there may be.
    fn room(&self) -> usize {
        let most = self.options.max_sessions.unwrap_or(usize::MAX);
        most.saturating_sub(self.members.len())
    }

    /// How many warm sessions are missing while nobody waits.
    fn missing(&self) -> usize {
        let generic = self.waiting.iter().filter(|waiting| waiting.key.is_none());
        let coming = self.count(|slot| slot.is_warm() || slot.may_get_warm());
        let supply = coming.saturating_sub(generic.count());
        self.options.size.saturating_sub(supply)
    }

    fn start(&mut self, now: Millis) -> Option<Action> {
        let wanted = self.wanted();
        if let Some(first) = wanted.first() {
            if self.room() > 0 {
                return Some(self.begin(first.clone(), now));
            }
            let ending = self.count(|slot| slot.state == State::Closing);
            if wanted.len() > ending {
                let evicted = self.evict(first.is_some())?;
                self.counts.evicted += 1;
                self.close_member(evicted);
                let member = self.to_close.pop_front()?;
                return Some(Action::Close { member });
            }
            return None;
        }
        (self.missing() > 0 && self.room() > 0 && now >= self.not_before)
            .then(|| self.begin(None, now))
    }

    fn begin(&mut self, key: Option<String>, now: Millis) -> Action {
        let member = Member(self.number());
        self.counts.started += 1;
        self.counts.resumed += u64::from(key.is_some());
        self.members.insert(
            member,
            Slot {
                state: State::Starting,
                key: key.clone(),
                since: now,
                heard: now,
            },
        );
        Action::Start {
            member,
            resume: key,
        }
    }

    /// The parked session that was used least recently; for a conversation a warm one as well.
    fn evict(&self, warm_too: bool) -> Option<Member> {
        let oldest = |of: &dyn Fn(&Slot) -> bool| {
            let found = self.members.iter().filter(|(_, slot)| of(slot));
            found
                .min_by_key(|(_, slot)| slot.since)
                .map(|(member, _)| *member)
        };
        let parked = oldest(&|slot| {
            let mut waiting = self.waiting.iter();
            slot.is_parked() && !waiting.any(|waiting| waiting.key == slot.key)
        });
        parked.or_else(|| oldest(&Slot::is_warm).filter(|_| warm_too))
    }

    fn check(&mut self, now: Millis) -> Option<Action> {
        let interval = self.options.check_interval_ms;
        let until = now.saturating_add(self.options.check_timeout_ms);
        let mut members = self.members.iter_mut();
        let (member, slot) = members.find(|(_, slot)| slot.is_due(interval, now))?;
        slot.state = State::Checking(until);
        Some(Action::Check { member: *member })
    }

    fn refuse(&mut self, now: Millis) -> Option<Action> {
        let over = |waiting: &Waiting| waiting.until.is_some_and(|until| until <= now);
        let at = self.waiting.iter().position(over)?;
        let full = self.room() == 0;
        let waiting = self.waiting.remove(at)?;
        let waited_ms = now.saturating_sub(waiting.asked);
        let mut known = self.members.values();
        let in_use = known
            .any(|slot| slot.state == State::Out && slot.key.is_some() && slot.key == waiting.key);
        let comes = self
            .members
            .values()
            .any(|slot| slot.state == State::Starting && slot.key == waiting.key);
        let error = match (waiting.key, self.options.max_sessions) {
            (Some(session_id), _) if in_use => PoolError::InUse {
                session_id,
                waited_ms,
            },
            (_, Some(max_sessions)) if full && !comes => PoolError::Full {
                max_sessions,
                waited_ms,
            },
            _ => PoolError::NotReady { waited_ms },
        };
        Some(Action::Refuse {
            ticket: waiting.ticket,
            error,
        })
    }

    /// When [`next`](Policy::next) is to be asked again, even if nothing happens; `None` is never.
    pub fn deadline(&self) -> Option<Millis> {
        if self.closed {
            return None;
        }
        let after = |since: Millis, limit: Option<Millis>| Some(since.saturating_add(limit?));
        let slots = self.members.values().filter_map(|slot| match slot.state {
            State::Checking(until) => Some(until),
            State::Ready => {
                let idle = after(slot.since, self.options.idle_timeout_ms);
                let check = after(slot.heard, self.options.check_interval_ms);
                idle.into_iter().chain(check).min()
            }
            _ => None,
        });
        let tickets = self.waiting.iter().filter_map(|waiting| waiting.until);
        let start = (self.missing() > 0 && self.room() > 0).then_some(self.not_before);
        slots.chain(tickets).chain(start).min()
    }
}
