//! A transport for hosts with an event loop of their own: they push what they have read and pull
//! what they have to write.

use std::collections::VecDeque;
use std::io;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Notice, Transport, TransportEnd, Waker};
use crate::error::Error;
use crate::Options;

/// Above this many unread bytes the host is asked to stop feeding, and above this many bytes that
/// it has not taken nothing more is given to it.
const MARK: usize = 1024 * 1024;
/// How long a stream that cannot be written may be silent before it is given up: what was on its
/// way when the writing failed has come by then.
const QUIET: Duration = Duration::from_millis(50);
/// How long it may go on all the same; and how long one has to end whose input could not be ended,
/// perhaps because it is ending.
const LAST: Duration = Duration::from_secs(2);
/// What small feeds are gathered into.
const CHUNK: usize = 16 * 1024;
/// The time to end the other side in, if the options leave none.
const LEAST: Duration = Duration::from_millis(100);

/// How long a host whose own calls wait (for a socket, a remote machine) may take over them. The
/// session sees its own deadlines through without the host; these are for what the host would wait
/// for beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLimits {
    /// For writing what was [taken](HostEnd::take_outgoing), and for ending the input: the time of
    /// option `controlTimeoutMs`, `None` without a limit. What takes longer has
    /// [failed](HostEnd::fail_input). The way to the CLI is opened within the limits of the
    /// handshake, which the session minds.
    pub call: Option<Duration>,
    /// For ending the other side once the session [is done](HostEnd::is_closed) with the stream: the
    /// time of option `terminateGraceMs`, after which the session does not wait for it either.
    pub end: Duration,
}

impl HostLimits {
    /// Those of a session with these options.
    pub fn of(options: &Options) -> HostLimits {
        HostLimits {
            call: options
                .control_timeout_ms
                .millis()
                .map(Duration::from_millis),
            end: Duration::from_millis(options.terminate_grace_ms).max(LEAST),
        }
    }
}

/// Two ends of a stream: one for the host, one for
/// [`SessionBuilder::start_over`](crate::SessionBuilder::start_over).
pub fn host_pipe() -> (HostEnd, HostTransport) {
    let pipe = Arc::new(Pipe {
        owner: std::process::id(),
        state: Mutex::default(),
        changed: AtomicBool::new(false),
    });
    let end = HostEnd { pipe: pipe.clone() };
    (end, HostTransport { pipe, pid: None })
}

/// The host's end. All functions may be called from any thread, in handlers too, and never wait.
///
/// Dropping it before [`finish`](HostEnd::finish) ends the stream with an error.
pub struct HostEnd {
    pipe: Arc<Pipe>,
}

/// The session's end.
pub struct HostTransport {
    pipe: Arc<Pipe>,
    pid: Option<u32>,
}

impl HostTransport {
    /// Names the process at the other end, for [`Session::pid`](crate::Session::pid).
    pub fn with_pid(mut self, pid: u32) -> HostTransport {
        self.pid = Some(pid);
        self
    }
}

struct Pipe {
    owner: u32,
    state: Mutex<State>,
    /// The host has to be told of a change.
    changed: AtomicBool,
}

#[derive(Default)]
struct State {
    waker: Option<Waker>,
    notice: Option<Notice>,
    unread: Queue,
    /// The host was asked to stop feeding.
    full: bool,
    output_ended: bool,
    /// Why it has ended, if that is no end of its own.
    output_error: Option<String>,
    stderr: Queue,
    /// The host was asked to stop feeding this.
    stderr_full: bool,
    outgoing: Vec<u8>,
    /// The session has more than the host has room for.
    refused: bool,
    input_ended: bool,
    input_lost: bool,
    /// The host can ask the other side to end.
    terminable: bool,
    /// It is to be asked.
    terminated: bool,
    failed: Option<Failed>,
    end: Option<TransportEnd>,
    closed: bool,
}

/// The host cannot write, and does not know whether the CLI still does.
struct Failed {
    error: String,
    /// Given up at this time, unless it is heard of.
    quiet: Instant,
    /// Given up at this time.
    last: Instant,
    /// Since when the host has been asked to stop feeding.
    waiting: Option<Instant>,
}

impl Failed {
    /// Something has come, or was asked for again.
    fn heard(&mut self) {
        self.quiet = self.last.min(Instant::now() + QUIET);
    }
}

/// Bytes in the order of their coming.
#[derive(Default)]
struct Queue {
    chunks: VecDeque<Vec<u8>>,
    /// What is read of the first chunk.
    read: usize,
    bytes: usize,
}

impl Queue {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        match self.chunks.back_mut() {
            Some(last) if last.capacity() - last.len() >= bytes.len() => {
                last.extend_from_slice(bytes);
            }
            _ => {
                let mut chunk = Vec::with_capacity(bytes.len().max(CHUNK));
                chunk.extend_from_slice(bytes);
                self.chunks.push_back(chunk);
            }
        }
    }

    fn read(&mut self, mut buffer: &mut [u8]) -> usize {
        let mut copied = 0;
        while let Some(chunk) = self.chunks.front_mut() {
            let rest = chunk.get(self.read..).unwrap_or_default();
            let n = rest.len().min(buffer.len());
            let (now, later) = buffer.split_at_mut(n);
            now.copy_from_slice(rest.get(..n).unwrap_or_default());
            copied += n;
            self.read += n;
            if self.read < chunk.len() {
                break;
            }
            self.read = 0;
            if self.bytes == copied && chunk.capacity() <= CHUNK {
                // The last one is filled again.
                chunk.clear();
                break;
            }
            self.chunks.pop_front();
            buffer = later;
        }
        self.bytes -= copied;
        copied
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forked(&self) -> bool {
        std::process::id() != self.owner
    }

    /// Something changed that the host waits for.
    fn change(&self) {
        self.changed.store(true, Ordering::Release);
    }

    fn take_notice(&self) -> Option<Notice> {
        if !self.changed.load(Ordering::Acquire) {
            return None;
        }
        let mut state = self.lock();
        // Without somebody to tell, it is told as soon as there is one. Nothing changes after the
        // end, so what the notice holds is let go of then.
        let notice = match state.closed {
            true => state.notice.take()?,
            false => state.notice.clone()?,
        };
        self.changed.store(false, Ordering::Release);
        Some(notice)
    }
}

/// Calls it; a host's panic is not the session's.
pub(crate) fn tell(notice: &Notice) {
    let _ = catch_unwind(AssertUnwindSafe(|| notice()));
}

impl HostEnd {
    fn state(&self) -> Result<MutexGuard<'_, State>, Error> {
        match self.pipe.forked() {
            true => Err(Error::Forked {
                owner: self.pipe.owner,
            }),
            false => Ok(self.pipe.lock()),
        }
    }

    /// Runs `change` and wakes the session when it says so.
    fn change(&self, change: impl FnOnce(&mut State) -> bool) -> Result<(), Error> {
        let mut state = self.state()?;
        let waker = match change(&mut state) {
            true => state.waker.clone(),
            false => None,
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Output of the CLI, cut anywhere. `false` asks the host to stop feeding until
    /// [`wants_more`](HostEnd::wants_more) is `true` again, of which
    /// [`on_change`](HostEnd::on_change) tells: the session has this much unread. What is fed
    /// nevertheless is taken.
    ///
    /// Fails with [`Error::Closed`] after [`end_output`](HostEnd::end_output) and
    /// [`finish`](HostEnd::finish), and when nobody reads any more.
    pub fn feed(&self, bytes: &[u8]) -> Result<bool, Error> {
        let mut room = Err(Error::Closed);
        self.change(|state| {
            if state.closed || state.output_ended || state.end.is_some() {
                return false;
            }
            state.unread.push(bytes);
            state.full = state.unread.bytes >= MARK;
            if let Some(failed) = &mut state.failed {
                failed.heard();
                if state.full {
                    failed.waiting.get_or_insert(Instant::now());
                }
            }
            room = Ok(!state.full);
            !bytes.is_empty()
        })?;
        room
    }

    /// What the CLI wrote to stderr; in the same way, with
    /// [`wants_more_stderr`](HostEnd::wants_more_stderr).
    pub fn feed_stderr(&self, bytes: &[u8]) -> Result<bool, Error> {
        let mut fed = Err(Error::Closed);
        self.change(|state| {
            if state.closed || state.end.is_some() {
                return false;
            }
            state.stderr.push(bytes);
            state.stderr_full = state.stderr.bytes >= MARK;
            fed = Ok(!state.stderr_full);
            !bytes.is_empty()
        })?;
        fed
    }

    /// Whether the session has room for more output; `false` after its end.
    pub fn wants_more(&self) -> bool {
        self.state()
            .is_ok_and(|state| !state.full && !state.closed && state.end.is_none())
    }

    /// Whether the session has room for more of stderr; `false` after its end.
    pub fn wants_more_stderr(&self) -> bool {
        self.state()
            .is_ok_and(|state| !state.stderr_full && !state.closed && state.end.is_none())
    }

    /// The output has ended; how the other side ends is not known yet. The session waits for
    /// [`finish`](HostEnd::finish) as long as its graces are. Not needed before `finish`.
    pub fn end_output(&self) -> Result<(), Error> {
        self.change(|state| !std::mem::replace(&mut state.output_ended, true))
    }

    /// Reading the output has failed with this `error`: as after
    /// [`end_output`](HostEnd::end_output), and the error is what the session ends with if the host
    /// never tells of an end.
    pub fn fail_output(&self, error: impl Into<String>) -> Result<(), Error> {
        let error = error.into();
        self.change(|state| {
            let first = !std::mem::replace(&mut state.output_ended, true);
            if first {
                state.output_error = Some(error);
            }
            first
        })
    }

    /// Says that the host can ask the other side to end, as SIGTERM does. Once the grace after the
    /// end of the input has passed, [`is_terminated`](HostEnd::is_terminated) asks for it, and the
    /// session is [closed](HostEnd::is_closed) after another.
    pub fn set_terminable(&self) -> Result<(), Error> {
        self.change(|state| {
            state.terminable = true;
            false
        })
    }

    /// Whether the other side is to be asked to end.
    pub fn is_terminated(&self) -> bool {
        self.state().is_ok_and(|state| state.terminated)
    }

    /// The output has ended, and how the other side did. Whatever was fed before is still read.
    /// A second call changes nothing.
    pub fn finish(&self, end: TransportEnd) -> Result<(), Error> {
        self.change(|state| {
            let first = state.end.is_none();
            state.end.get_or_insert(end);
            first
        })
    }

    /// The CLI takes no more input. The session goes on with what it still writes; once that falls
    /// silent it is closed.
    pub fn lose_input(&self) -> Result<(), Error> {
        self.change(|state| {
            state.outgoing = Vec::new();
            !std::mem::replace(&mut state.input_lost, true)
        })
    }

    /// Writing to the CLI has failed with this `error`: it takes no more input, and how it ends is
    /// not known. What it says until it falls silent is still read, then the stream ends with the
    /// error; the session decides how long that may take. [`finish`](HostEnd::finish) ends it before.
    pub fn fail_input(&self, error: impl Into<String>) -> Result<(), Error> {
        self.fail(error.into(), QUIET)
    }

    /// The input was written, and could not be [ended](HostEnd::input_ended). Nothing is wrong with
    /// that if the CLI ends all the same; it has more time than after a failed write.
    pub fn fail_end_of_input(&self, error: impl Into<String>) -> Result<(), Error> {
        self.fail(error.into(), LAST)
    }

    fn fail(&self, error: String, quiet: Duration) -> Result<(), Error> {
        self.change(|state| {
            state.outgoing = Vec::new();
            state.input_lost = true;
            let now = Instant::now();
            state.failed.get_or_insert(Failed {
                error,
                quiet: now + quiet,
                last: now + LAST,
                waiting: state.full.then_some(now),
            });
            true
        })
    }

    /// What is to be written to the CLI: whole lines, each with its line end. `None` when there is
    /// nothing.
    pub fn take_outgoing(&self) -> Option<Vec<u8>> {
        let mut taken = Vec::new();
        // In a forked child there is nothing to write.
        let _ = self.change(|state| {
            taken = std::mem::take(&mut state.outgoing);
            std::mem::take(&mut state.refused)
        });
        (!taken.is_empty()).then_some(taken)
    }

    /// Whether the CLI's input is to be ended, once everything was
    /// [taken](HostEnd::take_outgoing).
    pub fn input_ended(&self) -> bool {
        self.state().is_ok_and(|state| state.input_ended)
    }

    /// Whether the session is done with the stream: the host ends the other side by force if it has
    /// not ended, and [tells](HostEnd::finish) how it did.
    pub fn is_closed(&self) -> bool {
        self.state().is_ok_and(|state| state.closed)
    }

    /// Has this called when there is something to [take](HostEnd::take_outgoing), when the input is
    /// to be ended, when the other side is to be asked to end, when there is room for more output, and when the session is done. On whatever
    /// thread that happens, with nothing locked; it may call every function of the session that does
    /// not wait. Called at once when something has happened already.
    pub fn on_change(&self, notice: impl Fn() + Send + Sync + 'static) -> Result<(), Error> {
        // What the old one holds may come back here when it is dropped.
        let old = self.state()?.notice.replace(Arc::new(notice));
        drop(old);
        if let Some(notice) = self.pipe.take_notice() {
            tell(&notice);
        }
        Ok(())
    }
}

impl Drop for HostEnd {
    fn drop(&mut self) {
        // After a fork the parent's session goes on.
        let _ = self.finish(TransportEnd::error("the host has dropped its end"));
        let notice = self.state().map(|mut state| state.notice.take());
        drop(notice);
    }
}

impl std::fmt::Debug for HostEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostEnd").finish_non_exhaustive()
    }
}

impl Transport for HostTransport {
    fn start(&mut self, waker: Waker) -> io::Result<()> {
        self.pipe.lock().waker = Some(waker);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.pipe.lock();
        let n = state.unread.read(buffer);
        if state.full && state.unread.bytes < MARK / 2 {
            state.full = false;
            if let Some(failed) = &mut state.failed {
                // The time in which nothing could be fed does not count.
                if let Some(since) = failed.waiting.take() {
                    failed.last += since.elapsed();
                }
                failed.heard();
            }
            self.pipe.change();
        }
        match n {
            0 if state.end.is_some() => Ok(0),
            0 => match state.output_error.take() {
                Some(error) => Err(io::Error::other(error)),
                None if state.output_ended => Ok(0),
                None => Err(io::ErrorKind::WouldBlock.into()),
            },
            n => Ok(n),
        }
    }

    fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.pipe.lock();
        let n = state.stderr.read(buffer);
        if state.stderr_full && state.stderr.bytes < MARK / 2 {
            state.stderr_full = false;
            self.pipe.change();
        }
        match n {
            0 if state.end.is_none() => Err(io::ErrorKind::WouldBlock.into()),
            n => Ok(n),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.pipe.lock();
        if state.input_lost || state.end.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if state.outgoing.len() >= MARK {
            state.refused = true;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.outgoing.extend_from_slice(bytes);
        self.pipe.change();
        Ok(bytes.len())
    }

    fn input_is_lost(&mut self) -> bool {
        // One that has failed has its own time to fall silent.
        let state = self.pipe.lock();
        state.input_lost && state.failed.is_none()
    }

    fn end_input(&mut self) {
        self.pipe.lock().input_ended = true;
        self.pipe.change();
    }

    fn terminate(&mut self) -> bool {
        let mut state = self.pipe.lock();
        if state.terminable {
            state.terminated = true;
            self.pipe.change();
        }
        state.terminable
    }

    fn close(&mut self) {
        let mut state = self.pipe.lock();
        if !std::mem::replace(&mut state.closed, true) {
            self.pipe.change();
        }
    }

    fn ended(&mut self) -> Option<TransportEnd> {
        self.pipe.lock().end.clone()
    }

    fn deadline(&mut self) -> Option<Instant> {
        let state = self.pipe.lock();
        match &state.failed {
            Some(failed) if !state.full => Some(failed.quiet),
            _ => None,
        }
    }

    fn given_up(&mut self) {
        let mut state = self.pipe.lock();
        if let Some(failed) = state.failed.take() {
            let end = TransportEnd::error(failed.error);
            state.end.get_or_insert(end);
        }
    }

    fn take_notice(&mut self) -> Option<Notice> {
        self.pipe.take_notice()
    }

    fn pid(&self) -> Option<u32> {
        self.pid
    }
}

impl Drop for HostTransport {
    fn drop(&mut self) {
        if self.pipe.forked() {
            return;
        }
        self.close();
        if let Some(notice) = self.pipe.take_notice() {
            tell(&notice);
        }
    }
}

impl std::fmt::Debug for HostTransport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostTransport").finish_non_exhaustive()
    }
}
