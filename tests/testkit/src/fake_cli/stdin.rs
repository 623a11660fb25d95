//! Reads the host's lines on a thread of its own, so that a script can be busy elsewhere.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::log::Log;
use super::output::Output;
use super::{auto_initialize_reply, STDIN};
use crate::json::Json;
use crate::sys;

/// Lines longer than this stand in the log with their length alone.
const LOGGED: usize = 200_000;

#[derive(Default)]
struct State {
    reading: bool,
    /// The reader is not touching the descriptor and will not before `reading` is set.
    parked: bool,
    lines: VecDeque<Json>,
    ended: bool,
}

/// What a wait for a line came to.
pub(super) enum Next {
    Line(Json),
    Ended,
    Late,
}

#[derive(Clone)]
pub(super) struct Stdin {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Interrupts the reader's wait.
    wake: UnixStream,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `found` yields something or the deadline passes.
    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(value) = found(&mut state) {
                return Some(value);
            }
            let left = match deadline {
                None => Duration::from_secs(3600),
                Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            };
            if left.is_zero() {
                return None;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.changed.notify_all();
    }
}

impl Stdin {
    /// Starts the reader. `answer_initialize`: it answers `initialize` requests by itself.
    pub(super) fn start(
        reading: bool,
        answer_initialize: bool,
        log: Arc<Log>,
        output: Arc<Output>,
    ) -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        let stdin = Stdin {
            shared: Arc::new(Shared {
                state: Mutex::new(State {
                    reading,
                    ..State::default()
                }),
                changed: Condvar::new(),
                wake,
            }),
        };
        let reader = Reader {
            shared: stdin.shared.clone(),
            woken,
            answer_initialize,
            log,
            output,
        };
        thread::Builder::new().spawn(move || reader.run())?;
        Ok(stdin)
    }

    pub(super) fn next(&self, deadline: Instant) -> Next {
        let next = self
            .shared
            .wait_until(Some(deadline), |state| match state.lines.pop_front() {
                Some(line) => Some(Next::Line(line)),
                None => state.ended.then_some(Next::Ended),
            });
        next.unwrap_or(Next::Late)
    }

    /// Whether stdin ends before the deadline; without one, waits as long as it takes.
    pub(super) fn ended(&self, deadline: Option<Instant>) -> bool {
        self.shared
            .wait_until(deadline, |state| state.ended.then_some(()))
            .is_some()
    }

    pub(super) fn resume(&self) {
        self.shared.change(|state| state.reading = true);
    }

    pub(super) fn pause(&self) {
        self.shared.change(|state| state.reading = false);
        // A full buffer means that it is being woken already.
        let _ = (&self.shared.wake).write(&[0]);
    }

    /// Pauses, and closes the descriptor once the reader has let go of it.
    pub(super) fn close(&self) -> io::Result<()> {
        self.pause();
        let soon = Instant::now() + Duration::from_secs(10);
        self.shared.wait_until(Some(soon), |state| {
            (state.parked || state.ended).then_some(())
        });
        sys::close_standard(STDIN)
    }
}

struct Reader {
    shared: Arc<Shared>,
    woken: UnixStream,
    answer_initialize: bool,
    log: Arc<Log>,
    output: Arc<Output>,
}

impl Reader {
    fn run(mut self) {
        let mut partial = Vec::new();
        let mut buffer = vec![0; 65_536];
        while let Some(length) = self.read(&mut buffer) {
            let mut rest = &buffer[..length];
            while let Some(at) = memchr::memchr(b'\n', rest) {
                partial.extend_from_slice(&rest[..at]);
                self.line(&partial);
                partial.clear();
                rest = &rest[at + 1..];
            }
            partial.extend_from_slice(rest);
        }
        if !partial.trim_ascii().is_empty() {
            self.fail("host ended stdin with an unfinished line", &partial);
        }
        self.log.event("eof", []);
        self.shared.change(|state| state.ended = true);
    }

    /// Reads while reading is wanted; `None` at the end.
    fn read(&mut self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            self.shared.wait_until(None, |state| {
                state.parked = !state.reading;
                self.shared.changed.notify_all();
                state.reading.then_some(())
            });
            // SAFETY: the descriptor is only closed while this thread is parked; were it closed all
            // the same, the call below would fail, which ends the reader.
            let stdin = unsafe { BorrowedFd::borrow_raw(STDIN) };
            let [readable, woken] = sys::wait_readable([stdin, self.woken.as_fd()]).ok()?;
            if woken {
                let _ = self.woken.read(&mut [0; 64]);
                continue;
            }
            if readable {
                return sys::read(STDIN, buffer).ok().filter(|length| *length > 0);
            }
        }
    }

    fn fail(&self, why: &str, line: &[u8]) {
        let start = String::from_utf8_lossy(&line[..line.len().min(300)]);
        self.log.event(
            "fail",
            [("why", Json::string(why)), ("line", Json::string(&start))],
        );
    }

    fn line(&self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            self.log.event("blank_line", []);
            return;
        }
        let value = match Json::parse(line) {
            Ok(value @ Json::Object(_)) => value,
            Ok(_) => return self.fail("host sent a line that is not an object", line),
            Err(error) => {
                let why = format!("host sent a line that is not JSON: {error}");
                return self.fail(&why, line);
            }
        };
        let characters = String::from_utf8_lossy(line).chars().count();
        let logged = if characters < LOGGED {
            value.clone()
        } else {
            crate::json::object([
                ("type", value.at(&["type"]).clone()),
                ("_bytes", Json::Number(characters.to_string())),
            ])
        };
        self.log.event("in", [("line", logged)]);
        let initialize = value.at(&["type"]).is("control_request")
            && value.at(&["request", "subtype"]).is("initialize");
        if self.answer_initialize && initialize {
            let reply = auto_initialize_reply(value.at(&["request_id"]).clone());
            if self.output.line(&reply).is_err() {
                self.log.event("host_closed_stdout", []);
            }
            return;
        }
        self.shared.change(|state| state.lines.push_back(value));
    }
}
