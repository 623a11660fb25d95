//! What a session speaks through: the pipes of a process of its own, or a stream of the host.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::Arc;
use std::time::Instant;

use super::host::Host;
use super::pipes::Pipes;
use crate::process::Exit;
use crate::reactor::{Reactor, Ready, Source};
use crate::transport::{Notice, TransportEnd};

/// What is read at most of a stream of the host after its end: twice what stands in one whose host
/// waits when it is told to.
const LEFT_BY_HOST: usize = 2 * 1024 * 1024;

pub(super) enum Wire {
    Process(Pipes),
    Host(Host),
}

/// What may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) output: bool,
    pub(super) stderr: bool,
}

impl Wire {
    /// Reads output of the CLI; 0 is its end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Process(pipes) => pipes.read(buffer),
            Wire::Host(host) => host.read(buffer),
        }
    }

    pub(super) fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Wire::Process(pipes) => pipes.read_stderr(buffer),
            Wire::Host(host) => host.read_stderr(buffer),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Wire::Process(pipes) => pipes.write(bytes),
            Wire::Host(host) => host.write(bytes),
        }
    }

    /// Whether a read that took this many bytes of so much room has probably left some.
    pub(super) fn has_more(&self, n: usize, room: usize) -> bool {
        match self {
            // A pipe tells again; this spares the wait.
            Wire::Process(_) => n == room,
            // A stream of the host says so only once.
            Wire::Host(_) => true,
        }
    }

    pub(super) fn input_is_open(&self) -> bool {
        match self {
            Wire::Process(pipes) => pipes.input_is_open(),
            Wire::Host(host) => host.input_is_open(),
        }
    }

    /// Whether it is known, before anything else is written, that input does not arrive any more.
    pub(super) fn input_is_lost(&mut self) -> bool {
        match self {
            Wire::Process(_) => false,
            Wire::Host(host) => host.input_is_lost(),
        }
    }

    pub(super) fn output_is_open(&self) -> bool {
        match self {
            Wire::Process(pipes) => pipes.output_is_open(),
            Wire::Host(host) => host.output_is_open(),
        }
    }

    /// Whether the poller is to be told when input can be written again.
    pub(super) fn await_input(&mut self, wanted: bool, reactor: &Reactor) {
        match self {
            Wire::Process(pipes) => pipes.await_input(wanted, reactor),
            Wire::Host(_) => {}
        }
    }

    pub(super) fn close_input(&mut self, reactor: &Reactor) {
        match self {
            Wire::Process(pipes) => pipes.close_input(reactor),
            Wire::Host(host) => host.close_input(),
        }
    }

    pub(super) fn close_output(&mut self, reactor: &Reactor) {
        match self {
            Wire::Process(pipes) => pipes.close_output(reactor),
            Wire::Host(host) => host.close_output(),
        }
    }

    pub(super) fn close_stderr(&mut self, reactor: &Reactor) {
        match self {
            Wire::Process(pipes) => pipes.close_stderr(reactor),
            Wire::Host(host) => host.close_stderr(),
        }
    }

    /// What of the output may be read now.
    pub(super) fn readable(&mut self, ready: Ready) -> Readable {
        match self {
            Wire::Process(_) => Readable {
                output: ready.has(Source::Stdout),
                stderr: ready.has(Source::Stderr),
            },
            Wire::Host(host) => host.readable(),
        }
    }

    /// Whether the other side has ended, now that this is ready. What it wrote may still stand in
    /// its stream.
    pub(super) fn ends(&mut self, ready: Ready) -> bool {
        match self {
            Wire::Process(pipes) => pipes.ends(ready),
            Wire::Host(host) => host.has_ended(),
        }
    }

    /// The same without anything that tells of it.
    pub(super) fn has_ended(&mut self) -> bool {
        match self {
            Wire::Process(pipes) => pipes.has_ended(),
            Wire::Host(host) => host.has_ended(),
        }
    }

    /// Waits a moment for the end of a process whose input is lost: it may have closed it by ending.
    pub(super) fn await_end(&self) {
        if let Wire::Process(pipes) = self {
            pipes.await_end();
        }
    }

    /// How many bytes of output and of stderr the other side, which has ended, has left at most.
    pub(super) fn left(&self) -> (usize, usize) {
        match self {
            Wire::Process(pipes) => pipes.left(),
            Wire::Host(_) => (LEFT_BY_HOST, LEFT_BY_HOST),
        }
    }

    /// Notes the end, once everything was read, and lets go of what is held.
    pub(super) fn release(&mut self, reactor: &Reactor) {
        match self {
            Wire::Process(pipes) => pipes.release(reactor),
            Wire::Host(host) => host.release(),
        }
    }

    /// Whether [`release`](Wire::release) has seen the end.
    pub(super) fn is_gone(&self) -> bool {
        match self {
            Wire::Process(pipes) => pipes.exit().is_some(),
            Wire::Host(host) => host.end().is_some(),
        }
    }

    /// How the process ended, once it has.
    pub(super) fn exit(&self) -> Option<Exit> {
        match self {
            Wire::Process(pipes) => pipes.exit(),
            Wire::Host(host) => host.end()?.exit,
        }
    }

    /// How a stream of the host ended, once it has.
    pub(super) fn transport_end(&self) -> Option<&TransportEnd> {
        match self {
            Wire::Process(_) => None,
            Wire::Host(host) => host.end(),
        }
    }

    /// Whether a stream of the host's has done what none may.
    pub(super) fn is_faulty(&self) -> bool {
        match self {
            Wire::Process(_) => false,
            Wire::Host(host) => host.is_faulty(),
        }
    }

    /// The host is about to end the session.
    pub(super) fn closing(&mut self) {
        if let Wire::Process(pipes) = self {
            pipes.child().note_descendants();
        }
    }

    /// Asks the other side to end. `false` when it cannot be asked.
    pub(super) fn terminate(&mut self) -> bool {
        match self {
            Wire::Process(pipes) => {
                pipes.child().terminate();
                true
            }
            Wire::Host(host) => host.terminate(),
        }
    }

    /// Ends the other side by force.
    pub(super) fn kill(&mut self) {
        match self {
            Wire::Process(pipes) => pipes.child().kill(),
            Wire::Host(host) => host.close(),
        }
    }

    /// The other side was ended by force and has not told how it ended in all the time it had.
    pub(super) fn give_up(&mut self) {
        if let Wire::Host(host) = self {
            host.give_up();
        }
    }

    /// Whether a stream of the host's, which had failed, was given up just now.
    pub(super) fn gives_up(&mut self) -> bool {
        match self {
            Wire::Process(_) => false,
            Wire::Host(host) => host.gives_up(),
        }
    }

    /// When it will be, as far as is known.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self {
            Wire::Process(_) => None,
            Wire::Host(host) => host.deadline(),
        }
    }

    /// Whether nothing tells of the end of the process: it has to be looked at.
    pub(super) fn must_look(&self) -> bool {
        match self {
            Wire::Process(pipes) => pipes.must_look(),
            Wire::Host(_) => false,
        }
    }

    /// Where the thread that is in a call of the host's is noted.
    pub(super) fn in_transport(&self) -> Arc<AtomicUsize> {
        match self {
            Wire::Process(_) => Arc::default(),
            Wire::Host(host) => host.in_transport(),
        }
    }

    /// What is to be called with the session unlocked.
    pub(super) fn take_notice(&mut self) -> Option<Notice> {
        match self {
            Wire::Process(_) => None,
            Wire::Host(host) => host.take_notice(),
        }
    }

    /// Whether it is a process: the descriptor shows what is left to read, and one that was killed
    /// is certain to end.
    pub(super) fn is_process(&self) -> bool {
        matches!(self, Wire::Process(_))
    }
}
