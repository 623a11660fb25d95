//! A session's side of a stream that the host supplies.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;

use super::this_thread;
use super::wire::Readable;
use crate::process::PrivateFiles;
use crate::reactor::Reactor;
use crate::transport::{Notice, Transport, TransportEnd, Waker};

pub(super) struct Host {
    owner: u32,
    transport: Box<dyn Transport>,
    /// The thread that is in a call of the transport, 0 for none.
    inside: Arc<AtomicUsize>,
    waker: Waker,
    /// Removed at the end.
    private_files: Option<PrivateFiles>,
    input: bool,
    output: bool,
    stderr: bool,
    closed: bool,
    /// It was ended by force and has not said how it ended.
    given_up: bool,
    /// When it is to be given up, as the transport said last.
    deadline: Option<Instant>,
    /// What it has done that no transport may.
    fault: Option<String>,
    /// What broke, for an end that does not tell.
    broken: Option<String>,
    end: Option<TransportEnd>,
}

impl Host {
    pub(super) fn new(
        transport: Box<dyn Transport>,
        private_files: Option<PrivateFiles>,
        reactor: &Arc<Reactor>,
    ) -> io::Result<Host> {
        let waker = Waker::new(reactor);
        let mut host = Host {
            owner: std::process::id(),
            transport,
            inside: Arc::default(),
            waker: waker.clone(),
            private_files,
            input: true,
            output: true,
            stderr: true,
            closed: false,
            given_up: false,
            deadline: None,
            fault: None,
            broken: None,
            end: None,
        };
        host.call(|transport| transport.start(waker))?;
        Ok(host)
    }

    /// Every call of the transport: one that calls the session back is told so.
    fn call<T>(&mut self, call: impl FnOnce(&mut dyn Transport) -> T) -> T {
        struct Inside<'a>(&'a AtomicUsize);
        impl Drop for Inside<'_> {
            fn drop(&mut self) {
                self.0.store(0, Ordering::Relaxed);
            }
        }
        self.inside.store(this_thread(), Ordering::Relaxed);
        let _inside = Inside(&self.inside);
        call(&mut *self.transport)
    }

    pub(super) fn in_transport(&self) -> Arc<AtomicUsize> {
        self.inside.clone()
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.output {
            return Ok(0);
        }
        let room = buffer.len();
        let read = self.call(|transport| transport.read(buffer));
        let read = self.checked("read", read, room);
        if let Err(error) = &read {
            self.note_break("reading its output", error);
        }
        read
    }

    pub(super) fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.stderr {
            return Ok(0);
        }
        let room = buffer.len();
        let read = self.call(|transport| transport.read_stderr(buffer));
        self.checked("read_stderr", read, room)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.call(|transport| transport.write(bytes));
        let written = match written {
            Ok(0) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "returned 0: it has to take something, or to say that it would block",
            )),
            written => written,
        };
        let written = self.checked("write", written, bytes.len());
        match &written {
            // The other side has closed its input: how it ends tells whether that was right.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.note_break("writing its input", error);
            }
            _ => {}
        }
        written
    }

    /// Notes what no transport can return.
    fn checked(&mut self, call: &str, n: io::Result<usize>, len: usize) -> io::Result<usize> {
        let error = match n {
            Ok(n) if n > len => io::Error::new(
                io::ErrorKind::InvalidData,
                format!("returned {n}, of {len} bytes at most"),
            ),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => error,
            n => return n,
        };
        self.fault
            .get_or_insert_with(|| format!("its function {call} {error}"));
        Err(error)
    }

    fn note_break(&mut self, what: &str, error: &io::Error) {
        if !matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
        ) {
            self.broken
                .get_or_insert_with(|| format!("{what} failed: {error}"));
        }
    }

    /// Whether the transport has done what none may: nothing it says can be relied on.
    pub(super) fn is_faulty(&self) -> bool {
        self.fault.is_some()
    }

    /// What it says of its end, with what is known here.
    fn explained(&self, mut end: TransportEnd) -> TransportEnd {
        if let Some(fault) = &self.fault {
            end.error = Some(match end.error {
                Some(error) => format!("{fault}; {error}"),
                None => fault.clone(),
            });
        } else if end == TransportEnd::default() {
            end.error = self.broken.clone();
        }
        end
    }

    pub(super) fn input_is_open(&self) -> bool {
        self.input
    }

    /// Whether the stream has found out that nothing it takes arrives.
    pub(super) fn input_is_lost(&mut self) -> bool {
        self.input && self.call(|transport| transport.input_is_lost())
    }

    pub(super) fn output_is_open(&self) -> bool {
        self.output
    }

    pub(super) fn close_input(&mut self) {
        if std::mem::take(&mut self.input) {
            self.call(|transport| transport.end_input());
        }
    }

    pub(super) fn close_output(&mut self) {
        self.output = false;
    }

    pub(super) fn close_stderr(&mut self) {
        self.stderr = false;
    }

    pub(super) fn readable(&mut self) -> Readable {
        let woken = self.waker.take();
        Readable {
            output: woken && self.output,
            stderr: woken && self.stderr,
        }
    }

    pub(super) fn has_ended(&mut self) -> bool {
        let asked = self.closed || !self.output;
        if self.end.is_some() || !asked {
            return false;
        }
        let end = self.call(|transport| transport.ended());
        let end = end.or_else(|| {
            let broken = self.broken.iter().map(|broken| format!("{broken}; "));
            let broken: String = broken.collect();
            self.given_up
                .then(|| TransportEnd::error(format!("{broken}it did not end when it was closed")))
        });
        self.end = end.map(|end| self.explained(end));
        self.end.is_some()
    }

    pub(super) fn release(&mut self) {
        self.close();
        self.private_files = None;
    }

    pub(super) fn end(&self) -> Option<&TransportEnd> {
        self.end.as_ref()
    }

    pub(super) fn terminate(&mut self) -> bool {
        self.call(|transport| transport.terminate())
    }

    pub(super) fn close(&mut self) {
        if !std::mem::replace(&mut self.closed, true) {
            self.call(|transport| transport.close());
        }
    }

    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Asks the transport whether it has failed and its time is over, and ends it then.
    pub(super) fn gives_up(&mut self) -> bool {
        if self.end.is_some() {
            self.deadline = None;
            return false;
        }
        self.deadline = self.call(|transport| transport.deadline());
        let over = self.deadline.is_some_and(|at| at <= Instant::now());
        if over {
            self.deadline = None;
            self.call(|transport| transport.given_up());
            let end = self.call(|transport| transport.ended());
            self.end = end.map(|end| self.explained(end));
        }
        over && self.end.is_some()
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub(super) fn take_notice(&mut self) -> Option<Notice> {
        self.call(|transport| transport.take_notice())
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.transport.pid()
    }
}

/// Stands in the place of a transport that must not be dropped.
struct Nothing;

impl Transport for Nothing {
    fn start(&mut self, _waker: Waker) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }

    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn end_input(&mut self) {}

    fn close(&mut self) {}
}

impl Drop for Host {
    fn drop(&mut self) {
        if std::process::id() != self.owner {
            // A forked child: the parent's conversation goes on.
            std::mem::forget(std::mem::replace(&mut self.transport, Box::new(Nothing)));
        } else {
            self.close();
        }
    }
}
