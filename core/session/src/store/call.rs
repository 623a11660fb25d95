//! The handle of a call for a store of the host: answered once, now or later, from any thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use towline_transcripts::store::{PendingCall, StoreAnswer, StoreCall, StoreError};

use crate::error::{Error, LocalError};
use crate::session::Shared;

/// A call for the host's own store, to be answered once.
///
/// Clones mean the same call. When the last one is dropped and nobody has answered, the call has
/// failed. The session gives no other call until this one is answered or its time is up; an answer
/// that comes later is harmless and fails with [`LocalError::Withdrawn`].
#[derive(Clone)]
pub struct StoreCallHandle(Arc<Held>);

struct Held {
    shared: Weak<Shared>,
    pending: PendingCall,
    answered: AtomicBool,
}

impl StoreCallHandle {
    pub(crate) fn new(shared: Weak<Shared>, pending: PendingCall) -> StoreCallHandle {
        StoreCallHandle(Arc::new(Held {
            shared,
            pending,
            answered: AtomicBool::new(false),
        }))
    }

    /// What the store is asked: an append. [`StoreCall::to_json`] gives it as a document.
    pub fn call(&self) -> &StoreCall {
        &self.0.pending.call
    }

    /// How many milliseconds the store has before the session gives the call up.
    pub fn timeout_ms(&self) -> Option<u64> {
        self.0.pending.timeout_ms
    }

    /// Tells what the store did. Fails with [`LocalError::AlreadyAnswered`] the second time, with
    /// [`LocalError::Withdrawn`] when the call's time was up, with [`Error::Closed`] when the
    /// session is gone.
    pub fn answer(&self, answer: Result<StoreAnswer, StoreError>) -> Result<(), Error> {
        if self.0.answered.swap(true, Ordering::Relaxed) {
            return Err(LocalError::AlreadyAnswered.into());
        }
        let shared = self.0.shared.upgrade().ok_or(Error::Closed)?;
        match shared.store_answered(self.0.pending.id, answer)? {
            true => Ok(()),
            false => Err(LocalError::Withdrawn.into()),
        }
    }

    /// As [`answer`](StoreCallHandle::answer) with what the store's method returned, as JSON text;
    /// see [`StoreAnswer::from_json`].
    pub fn answer_json(&self, returned: &str) -> Result<(), Error> {
        self.answer(StoreAnswer::from_json(self.call().kind(), returned))
    }

    /// The store did not do it; `error` says why.
    pub fn fail(&self, error: impl fmt::Display) -> Result<(), Error> {
        self.answer(Err(StoreError::failed(error)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if *self.answered.get_mut() {
            return;
        }
        if let Some(shared) = self.shared.upgrade() {
            let error = StoreError::failed("the host gave no answer");
            // Late, or in a forked child: nobody waits for it.
            let _ = shared.store_answered(self.pending.id, Err(error));
        }
    }
}

impl fmt::Debug for StoreCallHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreCallHandle")
            .field("call", self.call())
            .finish_non_exhaustive()
    }
}
