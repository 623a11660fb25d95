//! What a session reads and writes, never blocking.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use towline_protocol::connection::{Diagnostic, State};
use towline_protocol::framing::RawMessage;

use super::wire::Wire;
use super::Core;
use crate::error::{Error, LocalError};
use crate::observe::Way;
use crate::process::Exit;
use crate::reactor::{Reactor, Ready, Source};

/// What one visit reads of stderr, so that a flood of it does not starve stdout.
const STDERR_READS: usize = 16;
const STDERR_AT_ONCE: usize = 4096;
/// How often one visit reads a stream of the host, and how much for.
const HIDDEN_READS: usize = 16;
const HIDDEN_BYTES: usize = 256 * 1024;
/// What one visit reads of what the other side has left, whatever a poll wants at least, and how
/// often.
const LAST_AT_ONCE: usize = 64 * 1024;
const LAST_AT_LEAST: usize = 4096;
const LAST_READS: usize = 64;
/// How long a stream of the host that was ended by force is read in all: its graces are over, and how
/// much a process can have left in it is not known.
const LAST_TIME: Duration = Duration::from_millis(200);

/// What may still be read of the other side, which has ended: what it left, and no more, in case a
/// descendant goes on writing or a stream of the host never runs dry.
struct Ending {
    /// Bytes of output.
    output: usize,
    /// Bytes of stderr.
    stderr: usize,
    /// The time it has taken.
    spent: Duration,
}

pub(super) struct Io {
    pub(super) wire: Wire,
    /// There is probably more output to read.
    more_output: bool,
    /// The same of stderr, where nothing tells of it again.
    more_stderr: bool,
    /// The other side has ended and not everything it left was read.
    ending: Option<Ending>,
    /// The answer to `initialize`.
    pub(super) initialized: Option<RawMessage>,
    /// Somebody called `wake`.
    pub(super) interrupted: bool,
}

impl Io {
    pub(super) fn new(wire: Wire) -> Io {
        // What a stream of the host held before it had a waker is looked for at once.
        let unknown = !wire.is_process();
        Io {
            wire,
            more_output: unknown,
            more_stderr: unknown,
            ending: None,
            initialized: None,
            interrupted: false,
        }
    }

    pub(super) fn exit(&self) -> Option<Exit> {
        match self.is_ending() {
            true => None,
            false => self.wire.exit(),
        }
    }

    /// Whether the other side has ended and is still being read.
    pub(super) fn is_ending(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether the other side is gone and everything it wrote was read.
    pub(super) fn is_gone(&self) -> bool {
        !self.is_ending() && self.wire.is_gone()
    }

    /// Whether a poll has something to read without being told so.
    pub(super) fn has_more(&self) -> bool {
        self.more_output || self.more_stderr || self.is_ending()
    }

    /// Whether it has, and the descriptor does not show it.
    pub(super) fn has_hidden(&self) -> bool {
        self.has_more() && !self.wire.is_process()
    }
}

impl Core {
    /// Writes what is queued as far as the other side takes it.
    pub(super) fn flush(&mut self, reactor: &Reactor) {
        while self.io.wire.input_is_open() {
            let bytes = self.connection.outgoing();
            if bytes.is_empty() {
                self.io.wire.await_input(false, reactor);
                break;
            }
            match self.io.wire.write(bytes) {
                Ok(n) => {
                    let waiting = bytes.len() as u64;
                    let bytes = bytes.get(..n).unwrap_or_default();
                    let stats = &mut self.stats;
                    stats.write_high_water = stats.write_high_water.max(waiting);
                    stats.bytes_written += n as u64;
                    stats.lines_written +=
                        bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                    if let Some(recorder) = &mut self.recorder {
                        recorder.wrote(bytes);
                    }
                    if let Some(wire_log) = &mut self.wire_log {
                        wire_log.passed(Way::In, bytes);
                    }
                    self.connection.sent(n);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.io.wire.await_input(true, reactor);
                    break;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.input_lost(reactor),
            }
        }
        if !self.io.wire.input_is_open() {
            self.connection.discard_outgoing();
        }
        if self.connection.wants_end_of_input() && self.io.wire.input_is_open() {
            self.io.wire.close_input(reactor);
            if let Some(recorder) = &mut self.recorder {
                recorder.input_ended();
            }
            let now = self.now();
            self.closing.input_ended(now);
            self.note_step("input_ended");
        }
        self.tend_recording();
    }

    /// The CLI has closed its end. What it still writes and how it ends tells the rest.
    fn input_lost(&mut self, reactor: &Reactor) {
        self.io.wire.close_input(reactor);
        let now = self.now();
        self.closing.input_lost(now);
        self.check_wire(reactor);
    }

    /// A stream that has done what none may is not read any more: its end begins.
    fn check_wire(&mut self, reactor: &Reactor) {
        if self.io.wire.is_faulty() && self.io.wire.output_is_open() {
            self.output_ended(reactor);
            let now = self.now();
            self.closing.not_waited_for(now);
        }
    }

    /// Hands on what was recorded, and tells the host when that stopped.
    fn tend_recording(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.flush();
            if let Some(failure) = recorder.take_failure() {
                self.recorder = None;
                self.diagnose(Diagnostic::NotRecorded(failure));
            }
        }
        if let Some(wire_log) = &mut self.wire_log {
            wire_log.flush();
            if let Some(failure) = wire_log.take_failure() {
                self.wire_log = None;
                self.diagnose(Diagnostic::NotRecorded(failure));
            }
            self.note_wire();
        }
    }

    /// Whether the CLI can be told something. When it has closed its stdin because it has died, its
    /// end is seen to first, so that the host learns why.
    pub(super) fn check_input(&mut self, reactor: &Reactor) -> Result<(), Error> {
        let lost = self.closing.lost_input() || self.io.is_ending();
        if !lost || self.is_over() {
            return Ok(());
        }
        if !self.io.wire.is_process() && !self.io.is_ending() {
            self.read_output(usize::MAX, reactor);
            self.read_hidden(reactor);
        }
        if !self.io.is_ending() {
            self.io.wire.await_end();
        }
        self.see_to_end(reactor);
        if self.io.has_hidden() {
            self.armed = true;
            reactor.wake();
        }
        match self.is_over() {
            true => Err(self.end_error().unwrap_or(LocalError::Ended.into())),
            false => Err(LocalError::InputLost.into()),
        }
    }

    /// Sees to the end of the other side, if that is known without anything that tells of it.
    pub(super) fn see_to_end(&mut self, reactor: &Reactor) {
        if !self.is_over() && (self.io.is_ending() || self.io.wire.has_ended()) {
            self.other_side_ended(reactor);
            self.advance_closing(reactor);
        }
    }

    /// Does what is ready.
    pub(super) fn serve(&mut self, ready: Ready, reactor: &Reactor) {
        self.tick();
        if ready.has(Source::Wake) {
            reactor.clear_wake();
            self.armed = false;
        }
        let readable = self.io.wire.readable(ready);
        if self.io.is_ending() {
            self.other_side_ended(reactor);
        } else {
            if readable.stderr || self.io.more_stderr {
                self.read_stderr(reactor);
            }
            if readable.output || self.io.more_output {
                self.read_output(usize::MAX, reactor);
                self.read_hidden(reactor);
            }
            if self.io.wire.input_is_lost() {
                self.input_lost(reactor);
            }
            if self.io.wire.ends(ready) {
                self.other_side_ended(reactor);
            }
        }
        let now = self.now();
        if self.connection.deadline().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now);
        }
        self.flush(reactor);
        self.advance_closing(reactor);
        self.tend_store();
    }

    /// Reads what a stream of the host has left, which nothing tells of.
    fn read_hidden(&mut self, reactor: &Reactor) {
        let mut rounds = 0;
        let most = HIDDEN_BYTES.min(self.read_limit).min(self.high_water);
        while rounds < HIDDEN_READS && self.connection.held() < most && self.io.has_hidden() {
            self.read_output(usize::MAX, reactor);
            rounds += 1;
        }
    }

    /// Reads once, no more than `most`. How much it was; `None` when there was nothing to read or
    /// the output has ended.
    fn read_output(&mut self, most: usize, reactor: &Reactor) -> Option<usize> {
        if !self.io.wire.output_is_open() {
            return None;
        }
        let buffer = self.connection.read_buffer_within(self.read_limit);
        let room = buffer.len().min(most);
        let buffer = buffer.get_mut(..room).unwrap_or_default();
        match self.io.wire.read(buffer) {
            Ok(0) => {
                self.output_ended(reactor);
                None
            }
            Ok(n) => {
                self.stats.bytes_read += n as u64;
                if let Some(recorder) = &mut self.recorder {
                    recorder.read(buffer.get(..n).unwrap_or_default());
                }
                if let Some(wire_log) = &mut self.wire_log {
                    wire_log.passed(Way::Out, buffer.get(..n).unwrap_or_default());
                }
                self.io.more_output = self.io.wire.has_more(n, room);
                let now = self.now();
                self.closing.heard(now);
                self.connection.received(n);
                let held = self.connection.held() as u64;
                self.stats.queue_high_water = self.stats.queue_high_water.max(held);
                if self.stats.startup.initialized.is_none() && self.is_answered() {
                    self.stats.startup.initialized = Some(self.asked.elapsed());
                }
                Some(n)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.io.more_output = false;
                None
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                self.io.more_output = true;
                Some(0)
            }
            Err(_) => {
                self.output_ended(reactor);
                None
            }
        }
    }

    /// Whether the CLI has answered `initialize`.
    fn is_answered(&self) -> bool {
        matches!(self.connection.state(), State::Open | State::Finishing)
    }

    fn output_ended(&mut self, reactor: &Reactor) {
        self.io.wire.close_output(reactor);
        self.io.more_output = false;
        self.connection.output_ended();
    }

    fn stderr_ended(&mut self, reactor: &Reactor) {
        self.io.wire.close_stderr(reactor);
        self.io.more_stderr = false;
        self.stderr.ended();
        self.check_wire(reactor);
    }

    /// Reads as much as one visit does.
    fn read_stderr(&mut self, reactor: &Reactor) {
        self.io.more_stderr = false;
        for _ in 0..STDERR_READS {
            match self.read_stderr_once(usize::MAX, reactor) {
                Some(n) if n > 0 && n < STDERR_AT_ONCE && self.io.wire.is_process() => return,
                Some(_) => {}
                None => return,
            }
        }
        self.io.more_stderr = !self.io.wire.is_process();
    }

    /// As [`read_output`](Core::read_output).
    fn read_stderr_once(&mut self, most: usize, reactor: &Reactor) -> Option<usize> {
        let mut buffer = [0; STDERR_AT_ONCE];
        let buffer = buffer.get_mut(..most.min(STDERR_AT_ONCE))?;
        match self.io.wire.read_stderr(buffer) {
            Ok(0) => {
                self.stderr_ended(reactor);
                None
            }
            Ok(n) => {
                self.stats.stderr_bytes += n as u64;
                let bytes = buffer.get(..n).unwrap_or_default();
                self.stderr.wrote(bytes);
                if let Some(recorder) = &mut self.recorder {
                    recorder.read_stderr(bytes);
                }
                if let Some(wire_log) = &mut self.wire_log {
                    wire_log.passed(Way::Err, bytes);
                }
                Some(n)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Some(0),
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            Err(_) => {
                self.stderr_ended(reactor);
                None
            }
        }
    }

    /// The process has exited, or the host's stream has ended. Exit is not the end of output: what
    /// it left is read first, as far as one visit goes; the next one goes on. A descendant that holds
    /// the pipes open is not waited for.
    pub(super) fn other_side_ended(&mut self, reactor: &Reactor) {
        let mut left = match self.io.ending.take() {
            Some(ending) => ending,
            None => {
                // Nobody reads it any more.
                self.io.wire.close_input(reactor);
                let (output, stderr) = self.io.wire.left();
                Ending {
                    output,
                    stderr,
                    spent: Duration::ZERO,
                }
            }
        };
        let begun = Instant::now();
        self.read_last(&mut left, reactor);
        left.spent += begun.elapsed();
        let is_cut =
            !self.io.wire.is_process() && self.closing.has_killed() && left.spent > LAST_TIME;
        if !is_cut && (left.output > 0 || left.stderr > 0) {
            self.io.ending = Some(left);
            return;
        }
        if self.io.wire.output_is_open() {
            self.output_ended(reactor);
        }
        self.stderr_ended(reactor);
        self.io.wire.release(reactor);
        if let Some(recorder) = &mut self.recorder {
            recorder.ended(self.io.wire.exit());
        }
        if let Some(wire_log) = &mut self.wire_log {
            wire_log.ended();
        }
        self.tend_recording();
    }

    /// Reads what is left of both, as much as one visit may.
    fn read_last(&mut self, left: &mut Ending, reactor: &Reactor) {
        let mut room = LAST_AT_ONCE.min(self.read_limit.max(LAST_AT_LEAST));
        for _ in 0..LAST_READS {
            let most = left.output.min(room);
            if most == 0 {
                break;
            }
            let read = self.read_output(most, reactor);
            take(&mut left.output, read);
            room -= most.min(read.unwrap_or_default());
            // The host has not had what was read before. One read is done all the same: that may
            // be the beginning of a line.
            if self.connection.held() > self.high_water {
                break;
            }
        }
        let mut room = LAST_AT_ONCE;
        for _ in 0..LAST_READS {
            let most = left.stderr.min(room);
            if most == 0 {
                break;
            }
            let read = self.read_stderr_once(most, reactor);
            take(&mut left.stderr, read);
            room -= most.min(read.unwrap_or_default());
        }
    }
}

/// Takes what was read off what is left: all of it when there is nothing more.
fn take(left: &mut usize, read: Option<usize>) {
    // An interruption counts too, or it could go on for ever.
    *left = read.map_or(0, |n| left.saturating_sub(n.max(1)));
}
