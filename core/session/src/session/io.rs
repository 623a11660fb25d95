//! The pipes of a session: read when they are ready, written as they allow, never blocking.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{send, SendFlags};
use towline_protocol::framing::RawMessage;

use super::Core;
use crate::error::{Error, LocalError};
use crate::process::{Child, Exit, PrivateFiles, Spawned, WatchdogProcess};
use crate::reactor::{Reactor, Ready, Source};

/// What one visit reads of stderr, so that a flood of it does not starve stdout.
const STDERR_READS: usize = 16;
/// What is read at most after the process has exited: more than any pipe holds, in case a
/// descendant goes on writing into it.
const LAST_READS: usize = 1024;

pub(super) struct Io {
    child: Child,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    watchdog: Option<Arc<WatchdogProcess>>,
    /// Removed when the process is gone.
    private_files: Option<PrivateFiles>,
    /// The poller is told when stdin can be written again.
    awaiting_stdin: bool,
    /// The last read of stdout filled its buffer, so there is probably more.
    more_stdout: bool,
    /// The answer to `initialize`.
    pub(super) initialized: Option<RawMessage>,
    /// Somebody called `wake`.
    pub(super) interrupted: bool,
}

impl Io {
    pub(super) fn new(
        spawned: Spawned,
        private_files: Option<PrivateFiles>,
        reactor: &Reactor,
    ) -> std::io::Result<Io> {
        reactor.add(Source::Stdout, spawned.stdout.as_fd(), EventFlags::IN)?;
        reactor.add(Source::Stderr, spawned.stderr.as_fd(), EventFlags::IN)?;
        if let Some(pidfd) = spawned.child.pidfd() {
            reactor.add(Source::Exit, pidfd, EventFlags::IN)?;
        }
        Ok(Io {
            child: spawned.child,
            stdin: Some(spawned.stdin),
            stdout: Some(spawned.stdout),
            stderr: Some(spawned.stderr),
            watchdog: spawned.watchdog,
            private_files,
            awaiting_stdin: false,
            more_stdout: false,
            initialized: None,
            interrupted: false,
        })
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.child.exit()
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(super) fn has_pidfd(&self) -> bool {
        self.child.pidfd().is_some()
    }

    pub(super) fn stdin_is_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub(super) fn more_stdout(&self) -> bool {
        self.more_stdout
    }

    pub(super) fn close_stdin(&mut self, reactor: &Reactor) {
        if let Some(stdin) = self.stdin.take() {
            if self.awaiting_stdin {
                reactor.remove(stdin.as_fd());
                self.awaiting_stdin = false;
            }
        }
    }

    pub(super) fn close_stdout(&mut self, reactor: &Reactor) {
        if let Some(stdout) = self.stdout.take() {
            reactor.remove(stdout.as_fd());
        }
        self.more_stdout = false;
    }

    fn close_stderr(&mut self, reactor: &Reactor) {
        if let Some(stderr) = self.stderr.take() {
            reactor.remove(stderr.as_fd());
        }
    }

    fn await_stdin(&mut self, wanted: bool, reactor: &Reactor) {
        let Some(stdin) = &self.stdin else { return };
        if wanted == self.awaiting_stdin {
            return;
        }
        if wanted {
            // Without it the next poll tries again anyway.
            let _ = reactor.add(Source::Stdin, stdin.as_fd(), EventFlags::OUT);
        } else {
            reactor.remove(stdin.as_fd());
        }
        self.awaiting_stdin = wanted;
    }

    /// The process is gone: nobody has to look after it any more.
    fn release(&mut self) {
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.forget(self.child.id());
        }
        self.private_files = None;
    }
}

impl Core {
    /// Writes what is queued as far as the pipe takes it.
    pub(super) fn flush(&mut self, reactor: &Reactor) {
        while let Some(stdin) = &self.io.stdin {
            let bytes = self.connection.outgoing();
            if bytes.is_empty() {
                self.io.await_stdin(false, reactor);
                break;
            }
            match send(stdin, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(n) => {
                    self.stats.bytes_written += n as u64;
                    self.connection.sent(n);
                }
                Err(Errno::AGAIN) => {
                    self.io.await_stdin(true, reactor);
                    break;
                }
                Err(Errno::INTR) => {}
                // The CLI has closed its end. What it still writes and how it ends tells the rest.
                Err(_) => {
                    self.io.close_stdin(reactor);
                    let now = self.now();
                    self.closing.input_lost(now);
                }
            }
        }
        if !self.io.stdin_is_open() {
            self.connection.discard_outgoing();
        }
        if self.connection.wants_end_of_input() && self.io.stdin_is_open() {
            self.io.close_stdin(reactor);
            let now = self.now();
            self.closing.input_ended(now);
        }
    }

    /// Whether the CLI can be told something. When it has closed its stdin because it has died, its
    /// end is seen to first, so that the host learns why.
    pub(super) fn check_input(&mut self, reactor: &Reactor) -> Result<(), Error> {
        if !self.closing.lost_input() || self.is_over() {
            return Ok(());
        }
        if self.io.child.has_ended() {
            self.process_ended(reactor);
            self.advance_closing(reactor);
        }
        match self.is_over() {
            true => Err(self.end_error().unwrap_or(LocalError::Ended.into())),
            false => Err(LocalError::InputLost.into()),
        }
    }

    /// Does what is ready.
    pub(super) fn serve(&mut self, ready: Ready, reactor: &Reactor) {
        self.tick();
        if ready.has(Source::Stderr) {
            self.read_stderr(reactor);
        }
        if ready.has(Source::Stdout) || self.io.more_stdout {
            self.read_stdout(reactor);
        }
        if ready.has(Source::Exit) || (!self.io.has_pidfd() && self.io.child.has_ended()) {
            self.process_ended(reactor);
        }
        if ready.has(Source::Wake) {
            reactor.clear_wake();
            self.armed = false;
        }
        let now = self.now();
        if self.connection.deadline().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        self.flush(reactor);
        self.advance_closing(reactor);
    }

    /// Reads once; `false` when there was nothing to read or the output has ended.
    fn read_stdout(&mut self, reactor: &Reactor) -> bool {
        let Some(stdout) = &self.io.stdout else {
            return false;
        };
        let buffer = self.connection.read_buffer();
        let room = buffer.len();
        match rustix::io::read(stdout, buffer) {
            Ok(0) => {
                self.stdout_ended(reactor);
                false
            }
            Ok(n) => {
                self.stats.bytes_read += n as u64;
                self.io.more_stdout = n == room;
                let now = self.now();
                self.closing.heard(now);
                self.connection.received(n);
                true
            }
            Err(Errno::AGAIN) => {
                self.io.more_stdout = false;
                false
            }
            Err(Errno::INTR) => true,
            Err(_) => {
                self.stdout_ended(reactor);
                false
            }
        }
    }

    fn stdout_ended(&mut self, reactor: &Reactor) {
        self.io.close_stdout(reactor);
        self.connection.output_ended();
    }

    fn stderr_ended(&mut self, reactor: &Reactor) {
        self.io.close_stderr(reactor);
        self.stderr.ended();
    }

    fn read_stderr(&mut self, reactor: &Reactor) {
        let mut buffer = [0; 4096];
        for _ in 0..STDERR_READS {
            let Some(stderr) = &self.io.stderr else {
                return;
            };
            match rustix::io::read(stderr, &mut buffer) {
                Ok(0) => return self.stderr_ended(reactor),
                Ok(n) => {
                    self.stats.stderr_bytes += n as u64;
                    let bytes = buffer.get(..n).unwrap_or_default();
                    self.stderr.wrote(bytes);
                    if n < buffer.len() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => return self.stderr_ended(reactor),
            }
        }
    }

    /// The process has exited. Exit is not the end of output: what stands in the pipes is read
    /// first. A descendant that holds them open is not waited for.
    fn process_ended(&mut self, reactor: &Reactor) {
        let mut rounds = 0;
        while rounds < LAST_READS && self.read_stdout(reactor) {
            rounds += 1;
        }
        if self.io.stdout.is_some() {
            self.stdout_ended(reactor);
        }
        self.read_stderr(reactor);
        if let Some(pidfd) = self.io.child.pidfd() {
            reactor.remove(pidfd);
        }
        self.io.child.reap();
        self.stderr_ended(reactor);
        self.io.close_stdin(reactor);
        self.io.release();
    }
}
