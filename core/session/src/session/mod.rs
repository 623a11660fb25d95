//! A session: a connection, the process it speaks to, and the host's handlers.

mod arguments;
mod builder;
mod closing;
mod event;
mod guard;
mod handlers;
mod host;
mod io;
mod mirroring;
mod observing;
mod pipes;
mod poll;
mod pooled;
mod request;
mod stderr;
mod store;
mod tools;
mod wait;
mod wire;

pub use builder::SessionBuilder;
pub use event::{Closed, Event, Startup, Stats};
pub use handlers::Reply;
pub(crate) use pooled::Standing;
pub use request::RequestHandle;
pub use tools::{Tool, ToolServer};

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use towline_protocol::connection::{self, Connection, Millis, RequestError, RequestId, Response};
use towline_protocol::control::envelope::UserMessage;
use towline_protocol::launch::TraceContext;

use crate::error::{Error, Failure, LocalError};
use crate::observe::WireLog;
use crate::process::Exit;
use crate::reactor::Reactor;
use crate::recording::Recorder;
use crate::{RequestKey, TurnId};
use closing::Closing;
use guard::CoreGuard;
use handlers::Handlers;
use io::Io;
use mirroring::Mirroring;
use observing::Observer;
use stderr::Stderr;

/// A conversation with one CLI: a process of its own, or whatever speaks at the other end of a
/// stream that the host supplies.
///
/// All functions take `&self` and may be called from any thread; put the session into an
/// [`Arc`] to share it. [`poll`](Session::poll), [`connect`](Session::connect),
/// [`request_wait`](Session::request_wait) and [`close`](Session::close) do the I/O on the calling
/// thread: no thread is ever started. Handlers run on the thread that is in one of them, and may
/// call every function that does not wait.
///
/// Dropping a session ends its process: the end of stdin, a second's grace, SIGTERM, another
/// second, SIGKILL. [`close`](Session::close) gives it the time that the options say. A session
/// store with a thread then has up to five seconds for what it was not told yet.
pub struct Session {
    shared: Arc<Shared>,
}

/// What the handles of a session share with it.
pub(crate) struct Shared {
    /// The process that owns the session; after a fork the child may not touch it.
    owner: u32,
    /// The process id of the CLI, when that is known.
    pid: Option<u32>,
    reactor: Arc<Reactor>,
    core: Mutex<Core>,
    /// Held by the thread that does the I/O. Taken and released with the core locked.
    handlers: Mutex<Handlers>,
    /// The thread that polls, by the address of a thread-local of its own; 0 for none.
    poller: AtomicUsize,
    /// The thread that is in a call of the host's transport, in the same way.
    in_transport: Arc<AtomicUsize>,
    /// Signalled when the thread that does the I/O has got on, and when it leaves.
    progress: Condvar,
    /// What the session knows of its in-process tools.
    tools: tools::Tools,
    /// The trace that the CLI was told it works for.
    trace: Option<TraceContext>,
}

/// What a waiting call waits for.
enum Waiter {
    Waiting,
    Done(Result<Response, RequestError>),
}

pub(crate) struct Core {
    pub(crate) connection: Connection,
    epoch: Instant,
    io: Io,
    closing: Closing,
    /// Events that a waiting call has put aside for the next poll.
    deferred: VecDeque<connection::Event>,
    deferred_weight: usize,
    /// Above this many bytes of unread output nothing more is read, except for a waiting call.
    high_water: usize,
    /// What one read takes at most, while a poll wants no more.
    read_limit: usize,
    waiters: BTreeMap<RequestId, Waiter>,
    /// The thread that does the I/O is in the kernel, waiting.
    blocked: bool,
    /// The host polls; otherwise a call does that waits for something.
    polled_by_host: bool,
    /// Polls of the host that wait for such a call to give way.
    polls_waiting: usize,
    /// Threads that wait for the one that does the I/O.
    onlookers: usize,
    /// The host watches the descriptor in a loop of its own.
    exported: bool,
    /// The host has to say that it watches the descriptor no more.
    watched: bool,
    /// When a host that watches the descriptor has to poll in any case, as it was told last.
    told: Option<Told>,
    /// The wake-up is armed because events wait for a host that watches the descriptor.
    armed: bool,
    /// When the session was asked for.
    asked: Instant,
    stats: Stats,
    stderr: Stderr,
    recorder: Option<Box<Recorder>>,
    wire_log: Option<Box<WireLog>>,
    observer: Box<Observer>,
    end: End,
    /// The session store, if there is one.
    mirroring: Option<Mirroring>,
    /// What to warn of once the CLI has told its version, or could have.
    version_check: Option<VersionCheck>,
    /// Whether `connectTimeoutMs` limits the time to the answer to `initialize`.
    connecting: bool,
}

/// A deadline that the host knows; `None` is never.
#[derive(Debug, Clone, Copy)]
struct Told(Option<Millis>);

/// From the CLI's version, if it tells one, to warnings.
type VersionCheck = Box<dyn FnOnce(Option<&str>) -> Vec<String> + Send>;

/// How far the end of the session has been reported.
enum End {
    NotYet,
    /// Everything of the CLI has been read; the last event is due.
    Due,
    Reported,
}

thread_local! {
    static THREAD: u8 = const { 0 };
}

/// A number that no other running thread has.
pub(crate) fn this_thread() -> usize {
    THREAD.with(|mark| std::ptr::from_ref(mark) as usize)
}

impl Core {
    fn now(&self) -> Millis {
        self.epoch.elapsed().as_millis() as Millis
    }

    fn tick(&mut self) {
        let now = self.now();
        self.connection.set_time(now);
    }

    fn has_events(&self) -> bool {
        !self.deferred.is_empty()
            || self.connection.has_events()
            || self.stderr.has_lines()
            || self.observer.log.has_records()
            || self.store_has_events()
            || (matches!(self.end, End::Due) && !self.store_is_busy())
    }

    /// Whether a host that watches the descriptor has to poll sooner than it knows.
    fn has_news(&self) -> bool {
        let Some(Told(told)) = self.told else {
            return true;
        };
        let due = self.due(self.wait_limit());
        let sooner = match (due, told) {
            (Some(due), Some(told)) => due < told,
            (due, None) => due.is_some(),
            (None, Some(_)) => false,
        };
        sooner || self.has_events() || self.io.has_hidden()
    }

    /// When a wait of this length is over.
    fn due(&self, wait: Option<Duration>) -> Option<Millis> {
        Some(self.now().saturating_add(wait?.as_millis() as Millis))
    }

    /// Whether more is kept for the host than is read ahead for it.
    fn is_crowded(&self) -> bool {
        self.deferred_weight.saturating_add(self.connection.held()) > self.high_water
    }

    fn defer(&mut self, event: connection::Event) {
        self.deferred_weight += event.weight();
        self.deferred.push_back(event);
    }

    /// The error of a command: what ended the session tells more than that it has ended.
    fn why(&self, error: LocalError) -> Error {
        match error {
            LocalError::Ended | LocalError::InputFinished if !matches!(self.end, End::NotYet) => {
                self.end_error().unwrap_or(Error::Local(error))
            }
            error => Error::Local(error),
        }
    }

    fn failure(&self) -> Failure {
        Failure {
            exit: self.io.exit(),
            transport: self.io.wire.transport_end().map(ToString::to_string),
            result: self.connection.last_error().to_string(),
            stderr: self.stderr.tail(),
        }
    }
}

impl Shared {
    fn lock_core(&self) -> CoreGuard<'_> {
        CoreGuard::lock(&self.core)
    }

    /// Whether the caller may lock the session: a forked child may not, and neither may a transport
    /// of the host, which is called with the session locked.
    fn check_caller(&self) -> Result<(), Error> {
        if std::process::id() != self.owner {
            return Err(Error::Forked { owner: self.owner });
        }
        match self.in_transport.load(Ordering::Relaxed) == this_thread() {
            true => Err(Error::Reentrant),
            false => Ok(()),
        }
    }

    fn on_polling_thread(&self) -> bool {
        self.poller.load(Ordering::Relaxed) == this_thread()
    }

    /// Runs a command of the host and sees that what it queued is written: now, or by the poller
    /// this is called in.
    pub(crate) fn command<T>(
        &self,
        command: impl FnOnce(&mut Connection) -> Result<T, LocalError>,
    ) -> Result<T, Error> {
        self.command_noted(command, |_, _| {})
    }

    /// As [`command`](Shared::command), of which those who watch the session are told.
    fn command_noted<T>(
        &self,
        command: impl FnOnce(&mut Connection) -> Result<T, LocalError>,
        note: impl FnOnce(&mut Core, &T),
    ) -> Result<T, Error> {
        self.check_caller()?;
        let mut core = self.lock_core();
        core.tick();
        core.check_input(&self.reactor)?;
        let value = command(&mut core.connection).map_err(|error| core.why(error))?;
        note(&mut core, &value);
        self.after_command(&mut core);
        Ok(value)
    }

    /// Answers a request of the CLI.
    fn answer(&self, key: RequestKey, answer: &connection::Answer<'_>) -> Result<(), Error> {
        self.command_noted(
            |connection| connection.respond(key, answer),
            |core, ()| core.note_answer(key, observing::outcome_of(answer)),
        )
    }

    /// Answers it so that nothing passes.
    fn answer_safely(&self, key: RequestKey, reason: &str) -> Result<(), Error> {
        self.command_noted(
            |connection| connection.respond_safely(key, reason),
            |core, ()| core.note_answer(key, "safe_answer"),
        )
    }

    /// Ends the input, which a CLI that has closed it takes as well.
    fn finish(&self, finish: impl FnOnce(&mut Connection)) -> Result<(), Error> {
        self.check_caller()?;
        let mut core = self.lock_core();
        core.tick();
        finish(&mut core.connection);
        self.after_command(&mut core);
        Ok(())
    }

    /// Closes the descriptors once the end was told and nobody watches them.
    fn release(&self, core: &Core) {
        if matches!(core.end, End::Reported) && !core.watched {
            self.reactor.release();
        }
    }

    /// The descriptor is watched from now on.
    fn export(&self, core: &mut Core) {
        core.exported = true;
        if core.has_events() || core.io.has_hidden() {
            core.armed = true;
            self.reactor.wake();
        }
    }

    fn after_command(&self, core: &mut Core) {
        if self.on_polling_thread() {
            return;
        }
        core.flush(&self.reactor);
        if core.blocked || (core.exported && core.has_news()) {
            // The deadlines may have changed, and events may have come of it.
            core.armed = true;
            self.reactor.wake();
        }
    }
}

impl Session {
    /// Starts to build a session with these options.
    pub fn builder(options: crate::Options) -> SessionBuilder {
        SessionBuilder::new(options)
    }

    /// Starts a session with these options and no handlers.
    pub fn start(options: crate::Options) -> Result<Session, Error> {
        SessionBuilder::new(options).start()
    }

    /// Sends a prompt. May be called before the session is open.
    ///
    /// Fails with [`LocalError::Ended`] or [`LocalError::InputFinished`] after the end, with
    /// [`LocalError::QueueFull`] when the CLI does not read.
    pub fn send(&self, text: &str) -> Result<TurnId, Error> {
        self.send_message(&UserMessage::text(text))
    }

    /// Sends a prompt with everything that can be said about it. One without a `uuid` gets one.
    pub fn send_message(&self, message: &UserMessage<'_>) -> Result<TurnId, Error> {
        let mut message = message.clone();
        if message.uuid.is_none() {
            message.uuid = Some(fresh_uuid().into());
        }
        if self.shared.tools.verbatim_prompts {
            message.client_composed = true;
        }
        self.shared.command_noted(
            |connection| connection.send_user(&message),
            |core, turn| core.note_turn(*turn),
        )
    }

    /// Sends a user message given as a whole JSON object, `{"type":"user","message":{…},…}`.
    pub fn send_json(&self, message: &str) -> Result<TurnId, Error> {
        let uuid = fresh_uuid();
        self.shared.command_noted(
            |connection| connection.send_user_json(message, &uuid),
            |core, turn| core.note_turn(*turn),
        )
    }

    /// Sends a control request (`protocol.md §8`); `payload` is the JSON text of its fields, `""`
    /// for none. Its answer comes as [`Event::Response`].
    pub fn request(&self, subtype: &str, payload: &str) -> Result<RequestId, Error> {
        self.shared.command_noted(
            |connection| connection.request(subtype, payload),
            |core, id| core.note_request(*id, subtype),
        )
    }

    /// Withdraws a control request. `false` when it was answered already.
    pub fn cancel_request(&self, id: RequestId) -> Result<bool, Error> {
        self.shared
            .command(|connection| Ok(connection.cancel_request(id)))
    }

    /// Interrupts what the CLI is doing. The answer comes as [`Event::Response`] before the turn's
    /// result; prompts that wait run next.
    pub fn interrupt(&self) -> Result<RequestId, Error> {
        self.request("interrupt", "")
    }

    /// Takes back a prompt whose turn has not begun.
    pub fn cancel_turn(&self, turn: TurnId) -> Result<RequestId, Error> {
        self.shared.command_noted(
            |connection| connection.cancel_turn(turn),
            |core, id| core.note_request(*id, "cancel_async_message"),
        )
    }

    /// Answers a request of the CLI by its key, as long as its handle is held somewhere.
    pub fn respond(&self, key: RequestKey, answer: &connection::Answer<'_>) -> Result<(), Error> {
        self.shared.answer(key, answer)
    }

    /// Changes an in-process server while the session runs, or lets it send something (log
    /// messages, `list_changed`, requests to the CLI).
    pub fn with_server<T>(
        &self,
        name: &str,
        change: impl FnOnce(&mut towline_protocol::mcp::Server) -> T,
    ) -> Result<T, Error> {
        self.shared
            .command(|connection| connection.with_server(name, change))
    }

    /// Adds an in-process server while the session runs, or replaces the one of its name; the
    /// request `mcp_set_servers` tells the CLI (`protocol.md §8`). Calls of its tools come as
    /// [`Event::Request`]: handlers are for servers that the session starts with.
    pub fn add_tool_server(&self, server: ToolServer) -> Result<(), Error> {
        let warnings = self.shared.tools.add(&server)?;
        let mut core = self.shared.lock_core();
        for warning in warnings {
            core.defer(connection::Event::Diagnostic(
                connection::Diagnostic::Options(warning),
            ));
        }
        drop(core);
        self.shared.command(|connection| {
            connection.add_server(server.server);
            Ok(())
        })
    }

    /// Adds a server that the host runs itself while the session runs; see
    /// [`add_tool_server`](Session::add_tool_server).
    pub fn add_bridged_server(&self, name: &str) -> Result<(), Error> {
        self.shared.command(|connection| {
            connection.add_bridged_server(name);
            Ok(())
        })
    }

    /// Takes an in-process server of either kind out while the session runs; `false` when there is
    /// none of this name. Its open requests are answered with an error.
    pub fn remove_server(&self, name: &str) -> Result<bool, Error> {
        self.shared
            .command(|connection| Ok(connection.remove_server(name)))
    }

    /// Passes on a JSON-RPC message of a server that the host runs itself.
    pub fn mcp_send(&self, server: &str, message: &str) -> Result<(), Error> {
        self.shared
            .command(|connection| connection.mcp_send(server, message))
    }

    /// Ends the input: what was sent is still worked through, then the CLI exits by itself
    /// (`protocol.md §11`).
    pub fn end_input(&self) -> Result<(), Error> {
        self.shared.finish(Connection::finish_input)
    }

    /// Ends the input by itself as soon as the CLI needs nothing more of this host
    /// (`protocol.md §11`): for a host that has sent its last prompt.
    pub fn end_input_when_settled(&self) -> Result<(), Error> {
        let needs_host = self.shared.tools.needs_host;
        self.shared
            .finish(|connection| connection.finish_when_settled(needs_host))
    }

    /// The descriptor to watch in an event loop: readable whenever `poll` with a limit of zero
    /// would make progress. Together with [`next_timeout`](Session::next_timeout). It belongs to
    /// the session: neither read nor close it. The same one until the session is dropped;
    /// [`watch`](Session::watch) lends it for a shorter time.
    ///
    /// Fails with [`Error::Closed`] when it is asked for the first time after [`Event::Closed`].
    pub fn fd(&self) -> Result<BorrowedFd<'_>, Error> {
        self.shared.check_caller()?;
        self.shared.export(&mut self.shared.lock_core());
        self.shared.reactor.fd().ok_or(Error::Closed)
    }

    /// As [`fd`](Session::fd), for a host that may keep the session for long after its end: `watch`
    /// gets the descriptor and has it watched. It is good until [`unwatch`](Session::unwatch), and
    /// closed then or when [`Event::Closed`] was given, whichever is later. A session whose
    /// descriptor nobody has asked for closes it with that event.
    pub fn watch<T>(&self, watch: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T, Error> {
        self.shared.check_caller()?;
        {
            let mut core = self.shared.lock_core();
            self.shared.export(&mut core);
            core.watched = true;
        }
        self.shared.reactor.with_fd(watch).ok_or(Error::Closed)
    }

    /// The host watches the descriptor of [`watch`](Session::watch) no more.
    pub fn unwatch(&self) -> Result<(), Error> {
        self.shared.check_caller()?;
        let mut core = self.shared.lock_core();
        core.watched = false;
        self.shared.release(&core);
        Ok(())
    }

    /// How long the host's loop may wait on the descriptor before it must poll all the same;
    /// `None` is for ever.
    pub fn next_timeout(&self) -> Result<Option<Duration>, Error> {
        self.shared.check_caller()?;
        let mut core = self.shared.lock_core();
        let limit = match core.has_events() {
            true => Some(Duration::ZERO),
            false => core.wait_limit(),
        };
        core.told = Some(Told(core.due(limit)));
        Ok(limit)
    }

    /// Makes a waiting [`poll`](Session::poll) return without an event. From any thread.
    pub fn wake(&self) -> Result<(), Error> {
        self.shared.check_caller()?;
        self.shared.lock_core().io.interrupted = true;
        self.shared.reactor.wake();
        Ok(())
    }

    /// The process id of the CLI (or of its launcher); `None` when a transport of the host leads to
    /// something that has none here.
    pub fn pid(&self) -> Option<u32> {
        self.shared.pid
    }

    /// Looks at the session. After a fork another thread may have held its lock for ever: the child
    /// sees nothing.
    fn look<T>(&self, look: impl FnOnce(&Core) -> Option<T>) -> Option<T> {
        self.shared.check_caller().ok()?;
        look(&self.shared.lock_core())
    }

    /// How the process ended, once it has; a transport of the host tells it or does not. `None` in a
    /// forked child.
    pub fn exit(&self) -> Option<Exit> {
        self.look(|core| core.io.exit())
    }

    /// How the session failed, so far as it is known: for requests that have no answer because of
    /// it. `None` while the process runs, and in a forked child.
    pub fn failure(&self) -> Option<Failure> {
        self.look(|core| core.io.exit().map(|_| core.failure()))
    }

    /// The session's id; unknown until the first turn unless the options give it. `None` in a
    /// forked child.
    pub fn session_id(&self) -> Option<String> {
        self.look(|core| core.connection.session_id().map(String::from))
    }

    /// The CLI's version, once known. `None` in a forked child.
    pub fn cli_version(&self) -> Option<String> {
        self.look(|core| core.connection.cli_version().map(String::from))
    }

    /// JSON text of the payload of the CLI's answer to `initialize`, once it has come. `None` in a
    /// forked child.
    pub fn capabilities(&self) -> Option<String> {
        self.look(|core| {
            let message = core.io.initialized.clone()?;
            Some(Response { message }.payload().to_string())
        })
    }

    /// Counters; zeros in a forked child.
    pub fn stats(&self) -> Stats {
        self.look(|core| Some(core.present_stats()))
            .unwrap_or_default()
    }

    /// The trace that the session belongs to: what the CLI was given as `TRACEPARENT`. `None` without
    /// a valid one.
    pub fn trace_context(&self) -> Option<&TraceContext> {
        self.shared.trace.as_ref()
    }

    /// The last of what the CLI wrote to stderr; empty in a forked child.
    pub fn stderr_tail(&self) -> String {
        self.look(|core| Some(core.stderr.tail()))
            .unwrap_or_default()
    }

    /// Whether a prompt has no result yet, or one that waits for the store; `false` in a forked
    /// child.
    pub fn turn_open(&self) -> bool {
        self.look(|core| Some(core.connection.turn_open() || core.store_holds_messages()))
            .unwrap_or_default()
    }
}

/// A fresh version 4 UUID.
pub fn fresh_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}
