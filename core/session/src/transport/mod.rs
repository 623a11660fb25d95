//! Byte streams that the host supplies in the place of a process of the session's own.

mod host_pipe;
mod portable;

pub(crate) use host_pipe::tell;
pub use host_pipe::{host_pipe, HostEnd, HostLimits, HostTransport};
pub(crate) use portable::start as start_portable;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use crate::process::Exit;
use crate::reactor::Reactor;

/// Both directions of a conversation with a CLI that this library does not run itself.
///
/// No method may wait: what cannot be done at once fails with [`io::ErrorKind::WouldBlock`], and
/// the [`Waker`] is called when it can. All are called by one thread at a time, with the session
/// locked: what of the session they call fails with [`Error::Reentrant`](crate::Error::Reentrant). In a forked child none is called, and the transport is
/// not dropped either.
///
/// They have to return: while one does not, the call of the session that it runs in does not either,
/// whatever the session's deadlines, and every other call waits for the lock.
///
/// What no transport can return is a fault of the transport, and so is an error of the kind
/// [`io::ErrorKind::InvalidData`]: a count above the length of the buffer, a `write` of nothing. The
/// stream is not read any more, and the session ends with an error that says which method it was and
/// what it returned, even if it was being closed.
///
/// A program with an event loop of its own takes [`host_pipe`] instead of writing one.
pub trait Transport: Send {
    /// Called once, before anything else. The waker is kept and called, from any thread, whenever
    /// something can be read, can be written again, or has ended.
    fn start(&mut self, waker: Waker) -> io::Result<()>;

    /// Reads output of the CLI; 0 is its end. An error is the end too, and what the session ends with
    /// if [`ended`](Transport::ended) tells nothing and the host was not closing it.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Reads what the CLI writes to stderr; 0 is its end. By default nothing ever comes.
    fn read_stderr(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Takes input for the CLI, as much as goes, never nothing. Any error but `WouldBlock` and
    /// `Interrupted` says that the CLI can be told nothing any more; what it still writes is read. One
    /// that is not `BrokenPipe` either is what the session ends with, as an error of `read` is.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Whether input that was taken has turned out not to reach the CLI: it can be told nothing any
    /// more. Asked at every visit while the input is open.
    fn input_is_lost(&mut self) -> bool {
        false
    }

    /// No more input will come. Called once, behind the last `write`.
    fn end_input(&mut self);

    /// The grace after the end of the input has passed: asks the CLI to end, as SIGTERM does.
    /// `false` when there is no way to ask, then [`close`](Transport::close) follows at once.
    fn terminate(&mut self) -> bool {
        false
    }

    /// Ends it for good, as SIGKILL does, and lets go of what the transport holds. Called once in
    /// every session, also when the CLI has ended by itself.
    fn close(&mut self);

    /// How it ended, once that is known. Asked after the end of the output and after
    /// [`close`](Transport::close). Until it is known the session waits, for its graces at most.
    fn ended(&mut self) -> Option<TransportEnd> {
        Some(TransportEnd::default())
    }

    /// When a stream that has failed is to be given up, unless something comes meanwhile. Asked at
    /// every visit; the session wakes for it. Then [`given_up`](Transport::given_up) follows.
    fn deadline(&mut self) -> Option<Instant> {
        None
    }

    /// That time has passed: [`ended`](Transport::ended) tells of an end from now on.
    fn given_up(&mut self) {}

    /// Something that is to be called as soon as the session is not locked any more. Asked whenever
    /// it is unlocked.
    fn take_notice(&mut self) -> Option<Notice> {
        None
    }

    /// The process at the other end, if there is one and it is known.
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// What a transport has called with the session unlocked. It may call every function of the session
/// that does not wait.
pub type Notice = Arc<dyn Fn() + Send + Sync>;

/// How a transport ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransportEnd {
    /// How the process at the other end ended, if there was one.
    pub exit: Option<Exit>,
    /// What went wrong with the stream itself.
    pub error: Option<String>,
}

impl TransportEnd {
    /// The stream failed.
    pub fn error(text: impl Into<String>) -> TransportEnd {
        TransportEnd {
            exit: None,
            error: Some(text.into()),
        }
    }

    /// The process at the other end has ended.
    pub fn exit(exit: Exit) -> TransportEnd {
        TransportEnd {
            exit: Some(exit),
            error: None,
        }
    }

    /// Whether it ended as it should.
    pub fn success(&self) -> bool {
        self.error.is_none() && self.exit.is_none_or(Exit::success)
    }
}

impl std::fmt::Display for TransportEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.exit, &self.error) {
            (Some(exit), None) => write!(f, "{exit}"),
            (Some(exit), Some(error)) => write!(f, "{exit}; {error}"),
            (None, Some(error)) => write!(f, "the transport failed: {error}"),
            (None, None) => f.write_str("the transport ended"),
        }
    }
}

/// How a transport says that it is ready. Cheap, never waits, from any thread; does nothing after
/// the end of the session and in a forked child.
#[derive(Debug, Clone)]
pub struct Waker(Arc<Bell>);

#[derive(Debug)]
struct Bell {
    owner: u32,
    reactor: Weak<Reactor>,
    rung: AtomicBool,
}

impl Waker {
    pub(crate) fn new(reactor: &Arc<Reactor>) -> Waker {
        Waker(Arc::new(Bell {
            owner: std::process::id(),
            reactor: Arc::downgrade(reactor),
            rung: AtomicBool::new(false),
        }))
    }

    /// There is something to read, room to write, or an end.
    pub fn wake(&self) {
        if self.0.rung.swap(true, Ordering::AcqRel) || std::process::id() != self.0.owner {
            return;
        }
        if let Some(reactor) = self.0.reactor.upgrade() {
            reactor.wake();
        }
    }

    /// Whether it was called since the last time.
    pub(crate) fn take(&self) -> bool {
        self.0.rung.swap(false, Ordering::AcqRel)
    }
}

/// How to start the CLI, for a host that does it itself.
#[derive(Debug, Clone)]
pub struct Launch {
    /// A launcher's prefix, the executable, its arguments.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The folder to start in; `None` is the host's.
    pub cwd: Option<PathBuf>,
    /// The user to run as, by name or number; `None` is the host's.
    pub user: Option<String>,
}
