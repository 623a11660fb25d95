//! The lock of a session, and what is called once it is free.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Core;
use crate::transport::tell;

/// The core, locked. When it is unlocked, a transport of the host may tell its host something: a
/// notice that ran under the lock could wait for a thread that waits for the session.
pub(super) struct CoreGuard<'a> {
    mutex: &'a Mutex<Core>,
    /// Gone only while it is being dropped.
    core: Option<MutexGuard<'a, Core>>,
}

impl<'a> CoreGuard<'a> {
    pub(super) fn lock(mutex: &'a Mutex<Core>) -> CoreGuard<'a> {
        let core = mutex.lock().unwrap_or_else(PoisonError::into_inner);
        CoreGuard {
            mutex,
            core: Some(core),
        }
    }

    /// Waits for the condition, unlocked meanwhile. May come back for no reason.
    pub(super) fn wait(mut self, condition: &Condvar, limit: Option<Duration>) -> CoreGuard<'a> {
        let mutex = self.mutex;
        let Some(mut core) = self.core.take() else {
            return self;
        };
        if let Some(notice) = core.io.wire.take_notice() {
            drop(core);
            tell(&notice);
            return CoreGuard::lock(mutex);
        }
        let core = match limit {
            None => condition.wait(core).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let woken = condition.wait_timeout(core, limit);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        self.core = Some(core);
        self
    }
}

impl Deref for CoreGuard<'_> {
    type Target = Core;

    fn deref(&self) -> &Core {
        match &self.core {
            Some(core) => core,
            None => unreachable!("the guard is in use after its end"),
        }
    }
}

impl DerefMut for CoreGuard<'_> {
    fn deref_mut(&mut self) -> &mut Core {
        match &mut self.core {
            Some(core) => core,
            None => unreachable!("the guard is in use after its end"),
        }
    }
}

impl Drop for CoreGuard<'_> {
    fn drop(&mut self) {
        let Some(mut core) = self.core.take() else {
            return;
        };
        let notice = core.io.wire.take_notice();
        drop(core);
        if let Some(notice) = notice {
            tell(&notice);
        }
    }
}
