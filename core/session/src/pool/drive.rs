//! The work of a pool, on the thread of whoever waits for something.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::policy::{Action, Loss, Member, Policy, Ticket};
use super::taken::{Place, PooledSession, PutBackError};
use super::{Held, Inner, Inside, PoolError};
use crate::error::Error;
use crate::session::{this_thread, Session, SessionBuilder, Standing};

/// The one thread that drives. Leaving lets another one do it.
struct Driving<'a>(&'a Inner);

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        let state = &self.0.state;
        let mut inside = state.lock().unwrap_or_else(PoisonError::into_inner);
        inside.driver = None;
        drop(inside);
        self.0.progress.notify_all();
    }
}

impl Inner {
    /// Drives the pool, or waits for the thread that does, until `wanted` has something or the time
    /// is up.
    pub(super) fn drive<T>(
        &self,
        until: Option<Instant>,
        mut wanted: impl FnMut(&mut Inside) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let mut inside = self.lock()?;
        let own = this_thread();
        if inside.driver == Some(own) {
            return Err(Error::Reentrant);
        }
        while inside.driver.is_some() {
            if let Some(found) = wanted(&mut inside) {
                return Ok(Some(found));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            inside = match left {
                Some(Duration::ZERO) => return Ok(None),
                Some(left) => {
                    let woken = self.progress.wait_timeout(inside, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let woken = self.progress.wait(inside);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        inside.driver = Some(own);
        drop(inside);
        let _driving = Driving(self);
        let mut waited = false;
        loop {
            self.settle();
            let mut inside = self.lock()?;
            if let Some(found) = wanted(&mut inside) {
                return Ok(Some(found));
            }
            let mut limit = match inside.unsettled {
                true => Some(Duration::ZERO),
                false => self.limit(&inside),
            };
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                if waited && left.is_zero() {
                    return Ok(None);
                }
                limit = Some(limit.map_or(left, |limit| limit.min(left)));
            }
            drop(inside);
            let ready = self.watch.wait(limit).map_err(Error::Wait)?;
            self.tend(&ready)?;
            waited = true;
        }
    }

    /// How long there is nothing to do unless the descriptor tells of something.
    pub(super) fn limit(&self, inside: &Inside) -> Option<Duration> {
        let now = self.now();
        let due = inside.policy.deadline();
        let due = due.map(|at| Duration::from_millis(at.saturating_sub(now)));
        let held = inside.members.values();
        let held = held.filter_map(|held| held.session.tend_limit());
        held.chain(due).min()
    }

    /// Does all that the policy wants. Code of the host runs unlocked.
    fn settle(&self) {
        loop {
            let Ok(mut inside) = self.lock() else { return };
            let action = inside.policy.next(self.now());
            match action {
                None => {
                    inside.unsettled = false;
                    return;
                }
                Some(Action::Start { member, resume }) => {
                    drop(inside);
                    let started = self.start(member, resume);
                    let Ok(mut inside) = self.lock() else { return };
                    self.add(&mut inside, member, started);
                }
                Some(Action::Check { member }) => {
                    let Some(held) = inside.members.get_mut(&member) else {
                        continue;
                    };
                    match held.session.ask_for_life() {
                        Ok(id) => held.check = Some(id),
                        Err(_) => inside.policy.lost(member, Loss::Exited, self.now()),
                    }
                }
                Some(Action::Close { member }) => match inside.members.get(&member) {
                    // Its end, which follows, tells the rest.
                    Some(held) => drop(held.session.begin_close()),
                    None => inside.policy.gone(member),
                },
                Some(Action::Give { ticket, member }) => self.give(&mut inside, ticket, member),
                Some(Action::Refuse { ticket, error }) => {
                    self.serve(&mut inside, ticket, Err(error.into()));
                }
            }
        }
    }

    fn serve(
        &self,
        inside: &mut Inside,
        ticket: Ticket,
        outcome: Result<(Member, Session), Error>,
    ) {
        inside.served.insert(ticket, outcome);
        self.announce(inside);
        self.progress.notify_all();
    }

    fn start(&self, member: Member, resume: Option<String>) -> Result<Arc<Session>, Error> {
        let session = Arc::new(builder((self.factory)()?, resume)?.start()?);
        let watched = session.lend(|fd| self.watch.add(member, fd));
        match watched {
            Some(Ok(())) => Ok(session),
            Some(Err(error)) => Err(Error::Wait(error)),
            None => Err(Error::Closed),
        }
    }

    fn add(&self, inside: &mut Inside, member: Member, started: Result<Arc<Session>, Error>) {
        match started {
            Ok(session) => {
                inside.members.insert(
                    member,
                    Held {
                        session,
                        opened: false,
                        check: None,
                    },
                );
            }
            Err(error) => {
                self.fail(inside, member, error);
                inside.policy.gone(member);
            }
        }
    }

    /// A session did not open.
    fn fail(&self, inside: &mut Inside, member: Member, error: Error) {
        if inside.policy.is_starting(member) {
            inside.last_failure = Some(error.to_string());
        }
        if let Some(ticket) = inside.policy.failed(member, self.now()) {
            self.serve(inside, ticket, Err(error));
        }
    }

    /// Gives a session away if it lives.
    fn give(&self, inside: &mut Inside, ticket: Ticket, member: Member) {
        let now = self.now();
        let Some(held) = inside.members.remove(&member) else {
            return inside.policy.gone(member);
        };
        if !held.session.is_usable() {
            inside.policy.lost(member, Loss::Exited, now);
            inside.members.insert(member, held);
            return;
        }
        held.session.lend(|fd| self.watch.remove(fd));
        let Some(session) = Arc::into_inner(held.session) else {
            return inside.policy.gone(member);
        };
        session.note_taken();
        inside.policy.given(ticket, member);
        self.serve(inside, ticket, Ok((member, session)));
    }

    /// Reads and writes what is ready, and looks how the sessions are.
    fn tend(&self, ready: &[Member]) -> Result<(), Error> {
        let sessions: Vec<(Member, Arc<Session>)> = {
            let mut inside = self.lock()?;
            inside.rounds += 1;
            inside.unsettled = true;
            let due = |member: &Member, held: &Held| {
                ready.contains(member)
                    || held
                        .session
                        .tend_limit()
                        .is_some_and(|limit| limit.is_zero())
            };
            let due = inside
                .members
                .iter()
                .filter(|(member, held)| due(member, held));
            due.map(|(member, held)| (*member, held.session.clone()))
                .collect()
        };
        for (_, session) in &sessions {
            session.tend()?;
        }
        let mut over = Vec::new();
        let mut inside = self.lock()?;
        for (member, session) in sessions {
            drop(session);
            over.extend(self.look_at(&mut inside, member));
        }
        drop(inside);
        self.progress.notify_all();
        // What ended costs no time any more, but a store of it may.
        drop(over);
        Ok(())
    }

    /// Tells the policy how a session is; gives it when it has ended.
    fn look_at(&self, inside: &mut Inside, member: Member) -> Option<Held> {
        let now = self.now();
        let held = inside.members.get_mut(&member)?;
        if held.check.is_some_and(|id| held.session.has_answered(id)) {
            held.check = None;
            inside.policy.answered(member, now);
        }
        let over = held.session.is_over();
        let was_open = held.opened;
        match held.session.standing() {
            Standing::Opening => {}
            Standing::Open => {
                held.opened = true;
                inside.policy.opened(member, now);
            }
            Standing::Flooded => {
                held.opened = true;
                inside.policy.opened(member, now);
                inside.policy.lost(member, Loss::Unhealthy, now);
            }
            Standing::NeverOpened(error) => self.fail(inside, member, error),
            Standing::Broken => {
                held.opened = true;
                inside.policy.opened(member, now);
                inside.policy.lost(member, Loss::Exited, now);
            }
        }
        if !was_open && inside.members.get(&member).is_some_and(|held| held.opened) {
            inside.last_failure = None;
        }
        if !over {
            return None;
        }
        inside.policy.gone(member);
        let held = inside.members.remove(&member)?;
        held.session.lend(|fd| self.watch.remove(fd));
        Some(held)
    }

    pub(super) fn take(
        self: &Arc<Inner>,
        key: Option<&str>,
        limit: Option<Duration>,
    ) -> Result<PooledSession, Error> {
        let ticket = {
            let mut inside = self.lock()?;
            if inside.driver == Some(this_thread()) {
                return Err(Error::Reentrant);
            }
            self.ask(&mut inside, key, limit)
        };
        let served = self.drive(None, |inside| inside.served.remove(&ticket));
        match served {
            Ok(Some(Ok((member, session)))) => Ok(PooledSession {
                session,
                place: Place::of(self, member),
            }),
            Ok(Some(Err(error))) => Err(error),
            Ok(None) => Err(PoolError::Closed.into()),
            Err(error) => {
                self.forsake(ticket);
                Err(error)
            }
        }
    }

    pub(super) fn put_back(
        self: &Arc<Inner>,
        taken: PooledSession,
    ) -> Result<(), Box<PutBackError>> {
        let refused = |text| Err(PoolError::NotParked(text).into());
        let session = &taken.session;
        let checked = self.check_owner().and_then(|()| {
            let key = session.was_prompted().then(|| session.session_id());
            if !session.is_usable() {
                return refused("it has ended");
            }
            match key {
                _ if session.turn_open() => refused("a turn of it is not over; read it to its result, or close the session"),
                Some(None) => refused("it has no session id yet; read a turn of it to its result first, or close the session"),
                key => Ok(key.flatten()),
            }
        });
        self.keep(taken, checked, |inside, member, key| {
            inside.policy.put_back(member, key, self.now());
        })
    }

    pub(super) fn discard(
        self: &Arc<Inner>,
        taken: PooledSession,
    ) -> Result<(), Box<PutBackError>> {
        let checked = self.check_owner();
        self.keep(taken, checked, |inside, member, ()| {
            inside.policy.discard(member);
        })
    }

    /// Takes a session of this pool in again.
    fn keep<T>(
        self: &Arc<Inner>,
        taken: PooledSession,
        checked: Result<T, Error>,
        tell: impl FnOnce(&mut Inside, Member, T),
    ) -> Result<(), Box<PutBackError>> {
        let value = match checked {
            Ok(value) => value,
            Err(error) => return Err(PutBackError::new(taken, error)),
        };
        if !std::ptr::eq(taken.place.pool.as_ptr(), Arc::as_ptr(self)) {
            let error = PoolError::NotParked("it is of another pool");
            return Err(PutBackError::new(taken, error.into()));
        }
        let mut inside: MutexGuard<'_, Inside> = match self.lock() {
            Ok(inside) => inside,
            Err(error) => return Err(PutBackError::new(taken, error)),
        };
        let member = taken.place.member;
        let watched = taken.session.lend(|fd| self.watch.add(member, fd));
        match watched {
            Some(Ok(())) => {}
            Some(Err(error)) => {
                drop(inside);
                return Err(PutBackError::new(taken, Error::Wait(error)));
            }
            None => {
                drop(inside);
                let error = PoolError::NotParked("it has ended");
                return Err(PutBackError::new(taken, error.into()));
            }
        }
        let PooledSession { session, place } = taken;
        inside.members.insert(
            place.keep(),
            Held {
                session: Arc::new(session),
                opened: true,
                check: None,
            },
        );
        tell(&mut inside, member, value);
        self.tell(&mut inside);
        Ok(())
    }
}

/// The builder of a session of a pool.
fn builder(mut builder: SessionBuilder, resume: Option<String>) -> Result<SessionBuilder, Error> {
    let options = builder.options_mut();
    Policy::check_sessions(options)?;
    options.resume = resume;
    Ok(builder)
}
