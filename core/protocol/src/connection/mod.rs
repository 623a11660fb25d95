//! The connection: a state machine that is fed and then drained.
//!
//! Inputs: bytes from the CLI ([`read_buffer`](Connection::read_buffer) and
//! [`received`](Connection::received)), the end of its output, the time, commands of the host.
//! After every input the owner drains [`poll_event`](Connection::poll_event) and
//! [`outgoing`](Connection::outgoing) until nothing is left, then waits no longer than
//! [`deadline`](Connection::deadline).

mod commands;
mod deadlines;
mod error;
mod event;
mod incoming;
mod one_shot;
mod output;
mod servers;
mod state;
mod turns;
mod waiting;

pub use commands::Answer;
pub use deadlines::{Limits, Millis};
pub use error::{LocalError, RemoteError, RequestError};
pub use event::{
    CancelReason, Diagnostic, Event, Mirrored, Request, RequestId, RequestKey, RequestKind,
    Response, TurnDeadline, TurnId, TurnOutcome,
};
pub use state::{Input, State, TRANSITIONS};

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::framing::{Framer, RawMessage};
use crate::launch::Dialect;
use deadlines::earlier;
use incoming::OpenRequests;
use one_shot::OneShot;
use servers::Servers;
use turns::Turns;
use waiting::Waiting;

/// The default limit of a line: 64 MiB.
pub const DEFAULT_LINE_LIMIT: usize = 64 * 1024 * 1024;
/// The default limit of the write queue: 64 MiB.
pub const DEFAULT_QUEUE_LIMIT: usize = 64 * 1024 * 1024;

/// What a connection has to know from the start.
#[derive(Debug, Clone)]
pub struct Config {
    /// A line of more bytes is skipped; at most 4 GiB.
    pub line_limit: usize,
    /// Prompts and requests of the host are refused while more bytes than this wait to be written.
    pub queue_limit: usize,
    /// The deadlines.
    pub limits: Limits,
    /// The hook callbacks that exist; a call of any other is answered with an error. `None`: all
    /// calls go to the host.
    pub hook_callbacks: Option<BTreeSet<String>>,
    /// Whether requests of unknown subtypes go to the host. Otherwise they are answered with an
    /// error, so that the CLI never hangs.
    pub catch_all: bool,
    /// The dialog kinds that were declared; others are not answered (`protocol.md §8`).
    pub dialog_kinds: Vec<String>,
    /// Whether elicitations go to the host; otherwise they are cancelled, in the TypeScript
    /// dialect declined.
    pub elicitation: bool,
    /// Whose answers the CLI gets where nobody else answers and the official packages differ.
    pub dialect: Dialect,
    /// Whether permission requests go to the host; otherwise they are denied.
    pub permission: bool,
    /// Whether `transcript_mirror` lines are for a session store: then they come from
    /// [`poll_mirrored`](Connection::poll_mirrored) and are no messages.
    pub mirror: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            line_limit: DEFAULT_LINE_LIMIT,
            queue_limit: DEFAULT_QUEUE_LIMIT,
            limits: Limits::default(),
            hook_callbacks: None,
            catch_all: false,
            dialog_kinds: Vec::new(),
            elicitation: true,
            dialect: Dialect::Towline,
            permission: true,
            mirror: false,
        }
    }
}

/// Why the handshake failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandshakeFailure {
    /// The CLI answered `initialize` with an error.
    Refused(RemoteError),
    /// The CLI wrote an error result instead (`protocol.md §1.6`); its text.
    Result(String),
    /// No answer within the limit, in milliseconds.
    TimedOut(Millis),
    /// A line came instead that is longer than the limit, in bytes: most likely the answer.
    TooLong {
        /// Of the line.
        length: u64,
        /// Of the connection.
        limit: usize,
    },
}

/// A control request of the host that waits for its answer.
#[derive(Debug)]
struct PendingRequest {
    id: RequestId,
    subtype: String,
    asked: Millis,
    limit: Option<Millis>,
    /// The library made the request itself: only a refusal is reported.
    silent: bool,
    /// Its answer goes nowhere.
    abandoned: bool,
    /// It takes this turn back.
    cancels: Option<TurnId>,
}

/// Both directions of one conversation. See the [module](self).
#[derive(Debug)]
pub struct Connection {
    config: Config,
    state: State,
    failure: Option<HandshakeFailure>,
    /// `initialize`, as long as it has no answer.
    handshake: Option<RequestId>,
    now: Millis,
    framer: Framer,
    events: VecDeque<Event>,
    /// What a session store has to hear of.
    mirrored: VecDeque<Mirrored>,
    /// Bytes of CLI output that the queued events keep in memory.
    weight: usize,
    /// Whole lines for the CLI; `sent` bytes of them are written.
    out: String,
    sent: usize,
    pending: BTreeMap<String, PendingRequest>,
    last_request: u64,
    open: OpenRequests,
    turns: Turns,
    waiting: Waiting,
    servers: Servers,
    one_shot: OneShot,
    /// Stdin is to be ended once everything queued is written.
    finish: bool,
    /// The text of the last result, when it was an error.
    last_error: String,
    session_id: Option<String>,
    cli_version: Option<String>,
    lines_read: u64,
}

impl Connection {
    /// A connection on which nothing has happened.
    pub fn new(config: Config, now: Millis) -> Connection {
        Connection {
            framer: Framer::new(config.line_limit.min(u32::MAX as usize)),
            config,
            state: State::Start,
            failure: None,
            handshake: None,
            now,
            events: VecDeque::new(),
            mirrored: VecDeque::new(),
            weight: 0,
            out: String::new(),
            sent: 0,
            pending: BTreeMap::new(),
            last_request: 0,
            open: OpenRequests::default(),
            turns: Turns::default(),
            waiting: Waiting::default(),
            servers: Servers::default(),
            one_shot: OneShot::new(),
            finish: false,
            last_error: String::new(),
            session_id: None,
            cli_version: None,
            lines_read: 0,
        }
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Why the handshake failed, if it did.
    pub fn failure(&self) -> Option<&HandshakeFailure> {
        self.failure.as_ref()
    }

    /// The session's id as the last message gave it. Unknown until the first turn
    /// (`protocol.md §4.2`); `/clear` changes it.
    pub fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The CLI's version, from the `initialize` answer or the first `system/init`.
    pub fn cli_version(&self) -> Option<&str> {
        self.cli_version.as_deref()
    }

    /// The error text of the last result, empty when that was none.
    pub fn last_error(&self) -> &str {
        &self.last_error
    }

    /// Bytes of CLI output held for the host: queued events and an unfinished line.
    pub fn held(&self) -> usize {
        self.weight + self.framer.unfinished()
    }

    /// Lines of the CLI's output that were read, of whatever kind.
    pub fn lines_read(&self) -> u64 {
        self.lines_read
    }

    /// Control requests of the host that have no answer yet, those of the library's own too.
    pub fn requests_pending(&self) -> usize {
        self.pending.len()
    }

    /// Requests of the CLI that nobody has answered yet.
    pub fn requests_open(&self) -> usize {
        self.open.asked().count()
    }

    /// Whether a prompt of the host has no result yet.
    pub fn turn_open(&self) -> bool {
        self.turns.any_open()
    }

    /// Whether a prompt was ever sent.
    pub fn was_prompted(&self) -> bool {
        self.turns.any_ever()
    }

    /// The time. Never goes back.
    pub fn set_time(&mut self, now: Millis) {
        self.now = self.now.max(now);
    }

    /// Room to read the CLI's output into, never empty.
    pub fn read_buffer(&mut self) -> &mut [u8] {
        self.framer.read_buffer()
    }

    /// As [`read_buffer`](Connection::read_buffer), with room for about `most` bytes at most, for an
    /// owner that wants to hold no more of the output than it can pass on.
    pub fn read_buffer_within(&mut self, most: usize) -> &mut [u8] {
        self.framer.read_buffer_within(most)
    }

    /// `n` bytes of the CLI's output now stand in the read buffer.
    pub fn received(&mut self, n: usize) {
        self.framer.received(n);
        self.drain_frames();
    }

    /// Takes output of the CLI that stands elsewhere, at the price of one copy.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.framer.receive(bytes);
        self.drain_frames();
    }

    fn drain_frames(&mut self) {
        while let Some(frame) = self.framer.next_frame() {
            self.frame(frame);
        }
    }

    /// The CLI's output has ended. Everything open ends with it; an unfinished last line is still
    /// read.
    pub fn output_ended(&mut self) {
        if self.state == State::Ended {
            return;
        }
        if let Some(frame) = self.framer.end() {
            self.frame(frame);
        }
        self.state = self.state.after(Input::OutputEnded);
        self.out = String::new();
        self.sent = 0;
        self.waiting.clear();
        for request in core::mem::take(&mut self.pending).into_values() {
            self.answered(
                request.id,
                request.silent || request.abandoned,
                request.subtype.clone(),
                Err(RequestError::SessionEnded {
                    subtype: request.subtype,
                    reason: self.last_error.clone(),
                }),
            );
        }
        for key in self.open.close() {
            self.push(Event::RequestCancelled {
                key,
                reason: CancelReason::SessionEnded,
            });
        }
        self.servers.close();
        for turn in self.turns.end_all() {
            self.push(Event::TurnEnded {
                turn,
                outcome: TurnOutcome::SessionEnded(self.last_error.clone()),
            });
        }
    }

    /// The next thing that happened. A request may have been withdrawn since: then its
    /// cancellation follows, and [`is_request_open`](Connection::is_request_open) says so already.
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        self.weight = self.weight.saturating_sub(event.weight());
        Some(event)
    }

    /// The next thing that a session store has to hear of, in the order in which the CLI wrote it.
    /// Nothing without [`Config::mirror`].
    pub fn poll_mirrored(&mut self) -> Option<Mirrored> {
        self.mirrored.pop_front()
    }

    /// Whether [`poll_event`](Connection::poll_event) may have something.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Bytes for the CLI's stdin; say by [`sent`](Connection::sent) how many were written.
    pub fn outgoing(&self) -> &[u8] {
        self.out.as_bytes().get(self.sent..).unwrap_or_default()
    }

    /// The first `n` bytes of [`outgoing`](Connection::outgoing) were written.
    pub fn sent(&mut self, n: usize) {
        self.sent = (self.sent + n).min(self.out.len());
        if self.sent == self.out.len() {
            self.sent = 0;
            if self.out.capacity() > 64 * 1024 {
                self.out = String::new();
            } else {
                self.out.clear();
            }
        }
    }

    /// Forgets what was not written: the CLI has closed its stdin. Its end tells why.
    pub fn discard_outgoing(&mut self) {
        self.out = String::new();
        self.sent = 0;
    }

    /// Whether stdin is to be ended now: the host is done and everything was written.
    pub fn wants_end_of_input(&self) -> bool {
        self.finish && self.waiting.is_empty() && self.outgoing().is_empty()
    }

    /// Gives back memory that an idle connection does not need.
    pub fn shrink(&mut self) {
        self.framer.shrink();
        if self.events.is_empty() && self.events.capacity() > 16 {
            self.events = VecDeque::new();
        }
    }

    /// When [`handle_timeout`](Connection::handle_timeout) has to be called at the latest.
    pub fn deadline(&self) -> Option<Millis> {
        let after =
            |from: Millis, limit: Option<Millis>| limit.map(|limit| from.saturating_add(limit));
        let limits = &self.config.limits;
        let mut deadline = None;
        for request in self.pending.values() {
            deadline = earlier(deadline, after(request.asked, request.limit));
        }
        if limits.handler.is_some() {
            for asked in self.open.asked() {
                deadline = earlier(deadline, after(asked, limits.handler));
            }
        }
        if let Some(turn) = self.turns.watched() {
            deadline = earlier(deadline, after(turn.clock.begun, limits.turn));
            if !self.open.any() {
                let (_, silence) = turn.clock.silence(limits);
                deadline = earlier(deadline, after(turn.clock.quiet_since, silence));
            }
        }
        earlier(deadline, self.one_shot.deadline())
    }

    /// Reports every deadline that has passed.
    pub fn handle_timeout(&mut self, now: Millis) {
        self.set_time(now);
        let now = self.now;
        let passed = |from: Millis, limit: Option<Millis>| {
            limit.filter(|limit| now.saturating_sub(from) >= *limit)
        };
        let late: Vec<(String, Millis)> = self
            .pending
            .iter()
            .filter_map(|(wire, request)| {
                Some((wire.clone(), passed(request.asked, request.limit)?))
            })
            .collect();
        for (wire, limit) in late {
            self.request_timed_out(&wire, limit);
        }
        if let Some(limit) = self.config.limits.handler {
            for key in self.open.older_than(now, limit) {
                self.answer_safely(
                    key,
                    "the host did not answer in time",
                    CancelReason::TimedOut,
                );
            }
        }
        if let Some((turn, deadline)) = self.late_turn() {
            self.turns.report(now);
            self.push(Event::TurnEnded {
                turn,
                outcome: TurnOutcome::TimedOut(deadline),
            });
            self.interrupt_silently();
        }
        if self.one_shot.deadline().is_some_and(|at| at <= now) {
            self.finish_input();
        }
    }

    fn late_turn(&self) -> Option<(TurnId, TurnDeadline)> {
        let turn = self.turns.watched()?;
        let passed = |from: Millis, limit: Option<Millis>| {
            limit.is_some_and(|limit| self.now.saturating_sub(from) >= limit)
        };
        let (silence, limit) = turn.clock.silence(&self.config.limits);
        if passed(turn.clock.begun, self.config.limits.turn) {
            Some((turn.id, TurnDeadline::Turn))
        } else if !self.open.any() && passed(turn.clock.quiet_since, limit) {
            Some((turn.id, silence))
        } else {
            None
        }
    }

    fn push(&mut self, event: Event) {
        self.weight += event.weight();
        self.events.push_back(event);
    }

    fn diagnose(&mut self, diagnostic: Diagnostic) {
        self.push(Event::Diagnostic(diagnostic));
    }

    /// Notes what every message may tell: the session's id.
    fn note_session(&mut self, message: &RawMessage) {
        if let Some(id) = message.session_id().filter(|id| !id.is_empty()) {
            if self.session_id.as_deref() != Some(id) {
                self.session_id = Some(id.to_string());
            }
        }
    }

    fn note_version(&mut self, version: Option<String>) {
        let Some(version) = version else { return };
        if self.cli_version.is_none() {
            self.cli_version = Some(version);
        }
    }
}
