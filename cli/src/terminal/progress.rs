//! A sign of life on stderr while something takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Shorter than this nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
const STEP: Duration = Duration::from_millis(100);

/// A line on a terminal's stderr that tells what goes on and for how long; it goes when this is
/// dropped. Elsewhere nothing.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    pub(crate) fn start(what: String) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { running: None };
        }
        let begun = Instant::now();
        let (stop, stopped) = channel::<()>();
        let show = move || {
            let mut shown = false;
            let mut patience = PATIENCE;
            while stopped.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                let seconds = begun.elapsed().as_secs_f32();
                let _ = write!(io::stderr(), "\r\u{1b}[K{what} {seconds:.1} s");
                shown = true;
                patience = STEP;
            }
            if shown {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
            }
        };
        Progress {
            running: Some((stop, thread::spawn(show))),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
