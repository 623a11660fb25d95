//! The pipes of a process: read when they are ready, written as they allow, never blocking.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::event::epoll::EventFlags;
use rustix::net::{send, shutdown, SendFlags, Shutdown};

use crate::process::{Child, Exit, PrivateFiles, Spawned, WatchdogProcess};
use crate::reactor::{Reactor, Ready, Source};

/// As large as a process without privileges may make a pipe; for one that does not tell.
const LARGEST_PIPE: usize = 1024 * 1024;

pub(super) struct Pipes {
    child: Child,
    stdin: Option<OwnedFd>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    watchdog: Option<Arc<WatchdogProcess>>,
    /// Removed when the process is gone.
    private_files: Option<PrivateFiles>,
    /// The poller is told when stdin can be written again.
    awaiting_stdin: bool,
}

impl Pipes {
    pub(super) fn new(
        spawned: Spawned,
        private_files: Option<PrivateFiles>,
        reactor: &Reactor,
    ) -> io::Result<Pipes> {
        reactor.add(Source::Stdout, spawned.stdout.as_fd(), EventFlags::IN)?;
        reactor.add(Source::Stderr, spawned.stderr.as_fd(), EventFlags::IN)?;
        if let Some(pidfd) = spawned.child.pidfd() {
            reactor.add(Source::Exit, pidfd, EventFlags::IN)?;
        }
        Ok(Pipes {
            child: spawned.child,
            stdin: Some(spawned.stdin),
            stdout: Some(spawned.stdout),
            stderr: Some(spawned.stderr),
            watchdog: spawned.watchdog,
            private_files,
            awaiting_stdin: false,
        })
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.stdout {
            Some(stdout) => Ok(rustix::io::read(stdout, buffer)?),
            None => Ok(0),
        }
    }

    pub(super) fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.stderr {
            Some(stderr) => Ok(rustix::io::read(stderr, buffer)?),
            None => Ok(0),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.stdin {
            Some(stdin) => Ok(send(
                stdin,
                bytes,
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            )?),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        self.child.exit()
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    pub(super) fn must_look(&self) -> bool {
        self.child.pidfd().is_none() && self.child.exit().is_none()
    }

    pub(super) fn ends(&mut self, ready: Ready) -> bool {
        ready.has(Source::Exit) || (self.must_look() && self.child.has_ended())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.child.has_ended()
    }

    pub(super) fn await_end(&self) {
        self.child.await_end();
    }

    /// How many bytes stand in the pipes of output and of stderr: what a process that has ended can
    /// have left.
    pub(super) fn left(&self) -> (usize, usize) {
        let left = |pipe: &Option<OwnedFd>| match pipe {
            Some(pipe) => rustix::io::ioctl_fionread(pipe).map_or(LARGEST_PIPE, |n| n as usize),
            None => 0,
        };
        (left(&self.stdout), left(&self.stderr))
    }

    pub(super) fn input_is_open(&self) -> bool {
        self.stdin.is_some()
    }

    pub(super) fn output_is_open(&self) -> bool {
        self.stdout.is_some()
    }

    pub(super) fn close_input(&mut self, reactor: &Reactor) {
        if let Some(stdin) = self.stdin.take() {
            if self.awaiting_stdin {
                reactor.remove(stdin.as_fd());
                self.awaiting_stdin = false;
            }
            // The end is the CLI's to see, also while a process that the host has forked holds a
            // copy. It fails when the other end is gone.
            let _ = shutdown(&stdin, Shutdown::Write);
        }
    }

    pub(super) fn close_output(&mut self, reactor: &Reactor) {
        if let Some(stdout) = self.stdout.take() {
            reactor.remove(stdout.as_fd());
        }
    }

    pub(super) fn close_stderr(&mut self, reactor: &Reactor) {
        if let Some(stderr) = self.stderr.take() {
            reactor.remove(stderr.as_fd());
        }
    }

    pub(super) fn await_input(&mut self, wanted: bool, reactor: &Reactor) {
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

    /// Reaps the process; nobody has to look after it any more.
    pub(super) fn release(&mut self, reactor: &Reactor) {
        if let Some(pidfd) = self.child.pidfd() {
            reactor.remove(pidfd);
        }
        if self.child.reap().is_some() {
            self.child.close_pidfd();
        }
        if let Some(watchdog) = self.watchdog.take() {
            watchdog.forget(self.child.id());
        }
        self.private_files = None;
    }
}
