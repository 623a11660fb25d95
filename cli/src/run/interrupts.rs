//! Ctrl-C.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

use signal_hook::consts::SIGINT;
use signal_hook::iterator::Signals;
use towline::Session;

/// Counts SIGINT while the command runs. The library installs no handler; this program does.
pub(super) struct Interrupts {
    count: Arc<AtomicUsize>,
    seen: std::cell::Cell<usize>,
}

impl Interrupts {
    /// Each one makes the poll of the session return.
    pub(super) fn watch(session: &Arc<Session>) -> io::Result<Interrupts> {
        let count = Arc::new(AtomicUsize::new(0));
        let mut signals = Signals::new([SIGINT])?;
        let (counter, session) = (count.clone(), Arc::downgrade(session));
        thread::Builder::new()
            .name("interrupts".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    counter.fetch_add(1, Ordering::SeqCst);
                    let Some(session) = session.upgrade() else {
                        return;
                    };
                    // A session that is over needs no waking.
                    let _ = session.wake();
                }
            })?;
        Ok(Interrupts {
            count,
            seen: std::cell::Cell::new(0),
        })
    }

    /// How many there were, if there is a new one.
    pub(super) fn fresh(&self) -> Option<usize> {
        let count = self.count.load(Ordering::SeqCst);
        (self.seen.replace(count) != count).then_some(count)
    }
}
