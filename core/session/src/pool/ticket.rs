//! Sessions that are asked for without waiting, for event loops.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::policy::Ticket;
use super::taken::{Place, PooledSession};
use super::{Inner, Inside, Pool, PoolError};
use crate::error::Error;

/// A session that was asked for by [`Pool::begin_take`]. Dropping it is to want none any more.
#[derive(Debug)]
pub struct PoolTicket {
    pool: Weak<Inner>,
    /// `None` once it is used.
    ticket: Option<Ticket>,
}

impl Pool {
    /// Asks for a session, with a `session_id` for the one of that conversation, and does not wait:
    /// for event loops, where [`take`](Pool::take) would block all else. Whoever drives the pool sees to it;
    /// [`fd`](Pool::fd) is readable, and [`poll`](Pool::poll) returns, as long as there is something for
    /// a ticket. Tickets are served in their order, among those who wait in `take`.
    ///
    /// `limit` is how long it is good for; `None` is as long as option `take_timeout_ms` says. May be
    /// called anywhere, also in a handler.
    pub fn begin_take(
        &self,
        session_id: Option<&str>,
        limit: Option<Duration>,
    ) -> Result<PoolTicket, Error> {
        let limit = limit.or(self.inner.take_timeout);
        let mut inside = self.inner.lock()?;
        let ticket = self.inner.ask(&mut inside, session_id, limit);
        inside.tickets.insert(ticket);
        Ok(PoolTicket {
            pool: Arc::downgrade(&self.inner),
            ticket: Some(ticket),
        })
    }
}

impl PoolTicket {
    /// The session, once it is there; `None` until then. Does no work of the pool.
    ///
    /// Fails as [`Pool::take`] and [`Pool::take_for`] do. After a session or an error the ticket is
    /// used: [`PoolError::TicketUsed`].
    pub fn try_take(&mut self) -> Result<Option<PooledSession>, Error> {
        let ticket = self.ticket.ok_or(PoolError::TicketUsed)?;
        let Some(pool) = self.pool.upgrade() else {
            self.ticket = None;
            return Err(PoolError::Closed.into());
        };
        let mut inside = pool.lock()?;
        let Some(outcome) = inside.served.remove(&ticket) else {
            return Ok(None);
        };
        self.ticket = None;
        inside.tickets.remove(&ticket);
        pool.announce(&inside);
        drop(inside);
        let (member, session) = outcome?;
        Ok(Some(PooledSession {
            session,
            place: Place::of(&pool, member),
        }))
    }
}

impl Drop for PoolTicket {
    fn drop(&mut self) {
        if let (Some(ticket), Some(pool)) = (self.ticket, self.pool.upgrade()) {
            pool.forsake(ticket);
        }
    }
}

impl Inside {
    /// Whether there is something for a ticket.
    pub(super) fn has_served(&self) -> bool {
        let mut tickets = self.tickets.iter();
        tickets.any(|ticket| self.served.contains_key(ticket))
    }
}

impl Inner {
    pub(super) fn ask(
        &self,
        inside: &mut Inside,
        key: Option<&str>,
        limit: Option<Duration>,
    ) -> Ticket {
        let limit = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        let ticket = inside.policy.take(key.map(String::from), limit, self.now());
        self.tell(inside);
        ticket
    }

    /// Has the descriptor show whether there is something for a ticket.
    pub(super) fn announce(&self, inside: &Inside) {
        self.watch.announce(inside.has_served());
    }

    /// Nobody waits for it any more. What it was served with goes back.
    pub(super) fn forsake(self: &Arc<Inner>, ticket: Ticket) {
        // In a forked child there is no pool.
        let Ok(mut inside) = self.lock() else { return };
        inside.policy.cancel(ticket);
        let served = inside.served.remove(&ticket);
        if inside.tickets.remove(&ticket) {
            self.announce(&inside);
        }
        self.tell(&mut inside);
        drop(inside);
        if let Some(Ok((member, session))) = served {
            let place = Place::of(self, member);
            // One that cannot be kept ends.
            drop(self.put_back(PooledSession { session, place }));
        }
    }
}
