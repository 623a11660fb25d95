//! A session that was taken from a pool.

use std::ops::Deref;
use std::sync::{Arc, Weak};

use super::policy::Member;
use super::{Inner, PoolError};
use crate::error::Error;
use crate::session::Session;

/// A session of a [`Pool`](super::Pool), for one user until it is dropped or
/// [put back](PooledSession::put_back). Dropping it ends its process, as dropping a [`Session`] does, and
/// then makes room in the pool.
#[derive(Debug)]
pub struct PooledSession {
    // In this order: there is room when the process is gone.
    pub(super) session: Session,
    pub(super) place: Place,
}

impl Deref for PooledSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl PooledSession {
    /// Gives the session back to its pool, as [`Pool::put_back`](super::Pool::put_back) does; also where the pool itself is
    /// not at hand. When the pool is gone, the session is given back to the caller.
    pub fn put_back(self) -> Result<(), Box<PutBackError>> {
        match self.place.pool.upgrade() {
            Some(pool) => pool.put_back(self),
            None => Err(PutBackError::new(self, PoolError::Closed.into())),
        }
    }
}

/// A session that could not be given back. Made into an [`Error`], as by `?`, it ends the session.
#[derive(Debug)]
pub struct PutBackError {
    /// The session; still its user's.
    pub session: PooledSession,
    /// Why.
    pub error: Error,
}

impl PutBackError {
    pub(super) fn new(session: PooledSession, error: Error) -> Box<PutBackError> {
        Box::new(PutBackError { session, error })
    }
}

impl std::fmt::Display for PutBackError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for PutBackError {}

impl From<Box<PutBackError>> for Error {
    fn from(failed: Box<PutBackError>) -> Error {
        failed.error
    }
}

/// The place of a session in use.
pub(super) struct Place {
    pub(super) pool: Weak<Inner>,
    pub(super) member: Member,
}

impl Place {
    pub(super) fn of(pool: &Arc<Inner>, member: Member) -> Place {
        Place {
            pool: Arc::downgrade(pool),
            member,
        }
    }

    /// The session goes on in the pool.
    pub(super) fn keep(mut self) -> Member {
        self.pool = Weak::new();
        self.member
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(pool) = self.pool.upgrade() else {
            return;
        };
        // In a forked child there is no pool.
        if let Ok(mut inside) = pool.lock() {
            inside.policy.gone(self.member);
            pool.tell(&mut inside);
        };
    }
}

impl std::fmt::Debug for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Place").field(&self.member).finish()
    }
}
