//! A session with one CLI.

use std::collections::BTreeMap;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use towline::{
    CancelReason, Closed, Diagnostic, Event, Failure, MessageType, RawMessage, RequestHandle,
    RequestId, RequestKind, TurnId, TurnOutcome,
};

use crate::errors::{ended, ended_in_turn, exception, request, turn_too_long};
use crate::inbox::{allowance, Inbox};
use crate::json;
use crate::log::Log;
use crate::message::{from_dict, permission_call};
use crate::pipe::{Call, Pipe};
use crate::request::Request;
use crate::start::Start;
use crate::stores::StoreCall;

/// Bytes of lines that are taken at once.
const BATCH_BYTES: usize = 1024 * 1024;

/// How many requests are served in one call at most: other threads may wait for something.
const SERVED: usize = 64;

/// The graces of a session that nobody has closed.
const DROP_GRACE: Duration = Duration::from_secs(1);

/// A session. Events are taken with `drain` by whoever uses `watch`, or with `wait`.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Session {
    session: towline::Session,
    /// Where messages go that belong to no turn with an inbox of its own.
    inbox: Py<Inbox>,
    /// Whether messages of unknown types are delivered.
    unknown: bool,
    state: Mutex<State>,
    /// Records of the log that wait.
    log: Log,
    /// How often something was waited for, to tell calls within one another.
    waits: AtomicU64,
    /// What the program's own transport is in.
    call: Call,
    /// A message has come since the last prompt was sent.
    heard: AtomicBool,
}

#[derive(Default)]
struct State {
    turns: BTreeMap<TurnId, Py<Inbox>>,
    /// The last result, if it was an error.
    error_result: Option<RawMessage>,
    /// No result has come since the last prompt was sent.
    unanswered: bool,
    /// A turn has ended with the session.
    cut_off: bool,
    /// The program has asked for the end.
    closing: bool,
}

impl Session {
    fn with((session, log): (towline::Session, Log), inbox: Py<Inbox>, unknown: bool) -> Session {
        Session {
            session,
            inbox,
            unknown,
            log,
            state: Mutex::default(),
            waits: AtomicU64::new(0),
            call: Call::default(),
            heard: AtomicBool::new(false),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes events that are ready, at most `limit`, waiting for the first one as long as `wait`
    /// says.
    fn poll(&self, wait: Option<Duration>, limit: usize) -> (Vec<Event>, Option<towline::Error>) {
        let mut events = Vec::new();
        if wait != Some(Duration::ZERO) {
            match self.session.poll(wait) {
                // The CLI waits for the answer: hardly anything else can be ready.
                Ok(Some(event @ Event::Request(_))) => return (vec![event], None),
                Ok(Some(event)) => events.push(event),
                Ok(None) => return (events, None),
                Err(error) => return (events, Some(error)),
            }
        }
        let error = self
            .session
            .poll_batch(limit, allowance(BATCH_BYTES), &mut events);
        (events, error.err())
    }

    /// Puts messages into their inboxes and gives the other events, `None` when there are none.
    fn deliver<'py>(
        &self,
        py: Python<'py>,
        events: Vec<Event>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        let records = self.log.take(py)?;
        let mut others: Option<Bound<'py, PyList>> = match records.is_empty() {
            true => None,
            false => Some(PyList::new(py, records)?),
        };
        let mut filled: Vec<Py<Inbox>> = Vec::new();
        let mut more = events.len();
        for event in events {
            more -= 1;
            let (message, turn) = match event {
                Event::Message { message, turn } => (message, turn),
                event => {
                    let event = self.event(py, event)?;
                    match &others {
                        Some(list) => list.append(event)?,
                        None => others = Some(PyList::new(py, [event])?),
                    }
                    continue;
                }
            };
            self.heard.store(true, Ordering::Relaxed);
            self.note(&message);
            let inbox = self.inbox_of(py, turn);
            inbox.borrow_mut(py).push_line(message, self.unknown, more);
            if !filled.last().is_some_and(|last| last.is(&inbox)) {
                filled.push(inbox);
            }
        }
        for inbox in filled {
            Inbox::wake(inbox.bind(py))?;
        }
        Ok(others)
    }

    fn message<'py>(
        &self,
        py: Python<'py>,
        message: &RawMessage,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let data = json::loads(py, message.json())?.cast_into::<PyDict>()?;
        from_dict(py, &data, self.unknown)
    }

    fn inbox_of(&self, py: Python<'_>, turn: Option<TurnId>) -> Py<Inbox> {
        let state = self.state();
        let own = turn.and_then(|turn| state.turns.get(&turn));
        own.unwrap_or(&self.inbox).clone_ref(py)
    }

    /// Keeps the result that may turn out to be the reason of the end.
    fn note(&self, message: &RawMessage) {
        match message.kind() {
            MessageType::Result => {
                let failed = message.pointer("/is_error") == Ok(Some("true"));
                let mut state = self.state();
                state.error_result = failed.then(|| message.clone());
                state.unanswered = false;
            }
            // The conversation goes on. Notes about turns and tasks may follow the last result.
            MessageType::Assistant | MessageType::User => {
                let mut state = self.state();
                if state.error_result.is_some() {
                    state.error_result = None;
                }
            }
            _ => {}
        }
    }

    fn event<'py>(&self, py: Python<'py>, event: Event) -> PyResult<Bound<'py, PyTuple>> {
        match event {
            Event::Initialized(_) => ("initialized",).into_pyobject(py),
            Event::Request(handle) => asked(py, handle),
            Event::StoreCall(handle) => ("store", StoreCall::new(handle)).into_pyobject(py),
            Event::RequestCancelled { key, reason } => {
                let reason = match reason {
                    CancelReason::TimedOut => "timed_out",
                    CancelReason::SessionEnded => "session_ended",
                    _ => "withdrawn",
                };
                ("cancelled", key.0, reason).into_pyobject(py)
            }
            Event::Response { id, result, .. } => match result {
                Ok(response) => {
                    let payload = json::loads(py, response.payload())?;
                    ("response", id.0, payload, py.None()).into_pyobject(py)
                }
                Err(error) => {
                    let end = self.end_error(py);
                    let error = request(py, error, end, &self.call).into_value(py);
                    ("response", id.0, py.None(), error).into_pyobject(py)
                }
            },
            Event::McpNotification { server, message } => {
                let body = json::loads(py, message.body().unwrap_or("{}"))?;
                ("notification", server, body).into_pyobject(py)
            }
            Event::TurnEnded { turn, outcome } => {
                let (outcome, result) = match outcome {
                    TurnOutcome::Result(message) => ("result", Some(message)),
                    TurnOutcome::Cancelled => ("cancelled", None),
                    TurnOutcome::TimedOut(limit) => {
                        if !self.state().turns.contains_key(&turn) {
                            let error = turn_too_long(py, limit, &self.call);
                            let error = error.into_value(py).into_any();
                            Inbox::fail(self.inbox.bind(py), error)?;
                        }
                        ("timed_out", None)
                    }
                    _ => {
                        self.state().cut_off = true;
                        ("session_ended", None)
                    }
                };
                // Only who waits for this very turn wants its result once more.
                let wanted = self.state().turns.contains_key(&turn);
                let result = match result.filter(|_| wanted) {
                    Some(message) => self.message(py, &message)?,
                    None => None,
                };
                ("turn", turn.0, outcome, result).into_pyobject(py)
            }
            Event::Stderr(line) => ("stderr", line).into_pyobject(py),
            Event::Diagnostic(diagnostic) => {
                let kind = match &diagnostic {
                    Diagnostic::OldCli(_) => "old_cli",
                    Diagnostic::Options(_) => "options",
                    Diagnostic::LineTooLong { .. } => "line_too_long",
                    Diagnostic::NotAMessage { .. } => "not_a_message",
                    _ => "other",
                };
                ("diagnostic", kind, self.log.told(&diagnostic)).into_pyobject(py)
            }
            Event::Closed(closed) => {
                let error = self.closed(py, closed).map(|error| error.into_value(py));
                ("closed", error).into_pyobject(py)
            }
            _ => ("other",).into_pyobject(py),
        }
    }

    /// The exception of a session that has ended, if it did not end as it should.
    fn closed(&self, py: Python<'_>, closed: Closed) -> Option<PyErr> {
        let result = self.state().error_result.clone();
        let failed = closed.failure.exit.is_some_and(|exit| !exit.success());
        match closed.error {
            Some(
                towline::Error::ExitedBeforeInitialize(failure) | towline::Error::Failed(failure),
            ) => Some(ended(py, &failure, result.as_ref())),
            Some(error) => Some(exception(py, error)),
            None if failed && result.is_some() => Some(ended(py, &closed.failure, result.as_ref())),
            None => self
                .is_cut_off(&closed.failure)
                .then(|| ended_in_turn(py, &closed.failure)),
        }
    }

    /// Whether an end without a failure has left a prompt without its result. A CLI that says that
    /// all is well (status 0) is believed, unless it has said nothing else.
    fn is_cut_off(&self, failure: &Failure) -> bool {
        let state = self.state();
        let well = failure.exit.is_some() && self.heard.load(Ordering::Relaxed);
        state.cut_off && state.unanswered && !state.closing && !well
    }

    /// What ended the session, for requests that have no answer because of it.
    fn end_error(&self, py: Python<'_>) -> Option<PyErr> {
        let failure = self.session.failure()?;
        let failed = failure.exit.is_some_and(|exit| !exit.success());
        let result = self.state().error_result.clone();
        (failed || !failure.result.is_empty()).then(|| ended(py, &failure, result.as_ref()))
    }

    fn finish<'py>(
        &self,
        py: Python<'py>,
        events: Vec<Event>,
        error: Option<towline::Error>,
    ) -> PyResult<Option<Bound<'py, PyList>>> {
        match error {
            Some(error) if events.is_empty() => Err(exception(py, error)),
            // An error behind events comes again at the next call.
            _ => self.deliver(py, events),
        }
    }
}

/// A request of the CLI, with what its callback gets if that is the program's own: many come in a
/// conversation, and reading each of their parts by a call would take longer than the rest.
fn asked<'py>(py: Python<'py>, handle: RequestHandle) -> PyResult<Bound<'py, PyTuple>> {
    let key = handle.key().0;
    match handle.kind() {
        RequestKind::Hook { callback_id } => {
            let number = callback_id.strip_prefix("hook_");
            // One that there is not is refused like one that fails.
            let number: usize = number
                .and_then(|number| number.parse().ok())
                .unwrap_or(usize::MAX);
            let [input, id] = json::members(py, handle.json(), ["input", "tool_use_id"])?;
            let kind = pyo3::intern!(py, "hook");
            (kind, Request::new(handle), key, number, input, id).into_pyobject(py)
        }
        RequestKind::Permission => {
            let [tool, input, context] = permission_call(py, handle.json())?;
            let kind = pyo3::intern!(py, "permission");
            (kind, Request::new(handle), key, tool, input, context).into_pyobject(py)
        }
        _ => (pyo3::intern!(py, "request"), Request::new(handle)).into_pyobject(py),
    }
}

#[pymethods]
impl Session {
    /// Starts a CLI.
    #[new]
    fn new(py: Python<'_>, start: Start, inbox: Py<Inbox>) -> PyResult<Session> {
        let unknown = start.unknown;
        let session = start.run(py)?;
        Ok(Session::with(session, inbox, unknown))
    }

    /// A session over a stream that the program supplies, and the program's end of it.
    #[staticmethod]
    fn over(py: Python<'_>, start: Start, inbox: Py<Inbox>) -> PyResult<(Session, Pipe)> {
        let unknown = start.unknown;
        let (end, transport) = towline::host_pipe();
        let limits = start.host_limits()?;
        let session = start.run_over(py, transport)?;
        let session = Session::with(session, inbox, unknown);
        let call = session.call.clone();
        Ok((session, Pipe::new(end, limits, call)))
    }

    /// The descriptor to watch, until `unwatch`. It stays the session's own.
    fn watch(&self, py: Python<'_>) -> PyResult<i32> {
        let fd = self.session.watch(|fd| fd.as_raw_fd());
        fd.map_err(|error| exception(py, error))
    }

    /// The descriptor is watched no more; it is closed when the session has ended.
    fn unwatch(&self, py: Python<'_>) -> PyResult<()> {
        self.session.unwatch().map_err(|error| exception(py, error))
    }

    /// Seconds until `drain` has to be called even if the descriptor is not readable.
    fn next_timeout(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let timeout = self.session.next_timeout();
        let timeout = timeout.map_err(|error| exception(py, error))?;
        Ok(timeout.map(|timeout| timeout.as_secs_f64()))
    }

    /// Takes what is ready, at most `limit` events: messages go into their inboxes, the others are
    /// returned. Raises after the end.
    fn drain<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Option<Bound<'py, PyList>>> {
        // It waits for nothing, and getting the interpreter back could take long.
        let (events, error) = self.poll(Some(Duration::ZERO), limit);
        self.finish(py, events, error)
    }

    /// As `drain`, and waits for the first event as long as `timeout` seconds; `None` is for ever.
    /// The events are appended to `events`, so that an interrupt (Ctrl-C) loses none.
    ///
    /// With `hook` and `permission` requests of these kinds that come alone are no events: they are
    /// called with what stands behind the kind, and what comes next is waited for, unless they have
    /// waited here themselves.
    #[pyo3(signature = (timeout, limit, events, hook=None, permission=None))]
    fn wait(
        &self,
        py: Python<'_>,
        timeout: Option<f64>,
        limit: usize,
        events: &Bound<'_, PyList>,
        hook: Option<&Bound<'_, PyAny>>,
        permission: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let timeout =
            timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        for _ in 0..SERVED {
            let wait = self.waits.fetch_add(1, Ordering::Relaxed) + 1;
            let (found, error) = py.detach(|| self.poll(timeout, limit));
            let serve = match found.as_slice() {
                [Event::Request(handle)] if error.is_none() => match handle.kind() {
                    RequestKind::Hook { .. } => hook,
                    RequestKind::Permission => permission,
                    _ => None,
                },
                _ => None,
            };
            let Some(serve) = serve else {
                for event in self.finish(py, found, error)?.into_iter().flatten() {
                    events.append(event)?;
                }
                return Ok(());
            };
            for event in found {
                let asked = self.event(py, event)?;
                serve.call1(asked.get_slice(1, asked.len()))?;
            }
            if self.waits.load(Ordering::Relaxed) != wait {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Sends a prompt; the number of its turn. `inbox` gets the messages of that turn.
    #[pyo3(signature = (message, inbox=None))]
    fn send(&self, py: Python<'_>, message: &str, inbox: Option<Py<Inbox>>) -> PyResult<u64> {
        // Held over the sending: no message of the turn may come before its inbox is known.
        let mut state = self.state();
        let turn = self.session.send_json(message);
        if let Ok(turn) = &turn {
            state.unanswered = true;
            self.heard.store(false, Ordering::Relaxed);
            if let Some(inbox) = inbox {
                state.turns.insert(*turn, inbox);
            }
        }
        drop(state);
        turn.map(|turn| turn.0)
            .map_err(|error| exception(py, error))
    }

    /// The messages of this turn go where the others go again.
    fn forget_turn(&self, turn: u64) {
        self.state().turns.remove(&TurnId(turn));
    }

    /// Takes back a prompt whose turn has not begun; the number of the control request.
    fn cancel_turn(&self, py: Python<'_>, turn: u64) -> PyResult<u64> {
        let id = self.session.cancel_turn(TurnId(turn));
        id.map(|id| id.0).map_err(|error| exception(py, error))
    }

    /// Sends a control request; the number that its answer has. `payload` is JSON text of its
    /// fields, or empty.
    #[pyo3(signature = (subtype, payload=""))]
    fn request(&self, py: Python<'_>, subtype: &str, payload: &str) -> PyResult<u64> {
        let id = self.session.request(subtype, payload);
        id.map(|id| id.0).map_err(|error| exception(py, error))
    }

    /// Withdraws a control request. `False` when it was answered already.
    fn cancel_request(&self, py: Python<'_>, id: u64) -> PyResult<bool> {
        let withdrawn = self.session.cancel_request(RequestId(id));
        withdrawn.map_err(|error| exception(py, error))
    }

    /// Passes on a JSON-RPC message of a server that the host runs itself.
    fn mcp_send(&self, py: Python<'_>, server: &str, message: &str) -> PyResult<()> {
        let sent = self.session.mcp_send(server, message);
        sent.map_err(|error| exception(py, error))
    }

    /// Ends the input.
    fn end_input(&self, py: Python<'_>) -> PyResult<()> {
        self.session
            .end_input()
            .map_err(|error| exception(py, error))
    }

    /// Ends the input as soon as the CLI needs nothing more of this program.
    fn end_input_when_settled(&self, py: Python<'_>) -> PyResult<()> {
        let done = self.session.end_input_when_settled();
        done.map_err(|error| exception(py, error))
    }

    /// Begins to end the session; `drain` sees it through.
    fn begin_close(&self, py: Python<'_>) -> PyResult<()> {
        self.state().closing = true;
        self.session
            .begin_close()
            .map_err(|error| exception(py, error))
    }

    /// Ends the session and waits until the process is gone, `grace` seconds for each step.
    #[pyo3(signature = (grace=None))]
    fn close(&self, py: Python<'_>, grace: Option<f64>) -> PyResult<()> {
        let grace = grace.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
        py.detach(|| self.session.close_within(grace))
            .map_err(|error| exception(py, error))
    }

    /// Lets a waiting `wait` return.
    fn wake(&self, py: Python<'_>) -> PyResult<()> {
        self.session.wake().map_err(|error| exception(py, error))
    }

    /// The process id of the CLI; `None` over a stream of the program's.
    #[getter]
    fn pid(&self) -> Option<u32> {
        self.session.pid()
    }

    /// The session's id, once known.
    #[getter]
    fn session_id(&self) -> Option<String> {
        self.session.session_id()
    }

    /// The CLI's version, once known.
    #[getter]
    fn cli_version(&self) -> Option<String> {
        self.session.cli_version()
    }

    /// The payload of the CLI's answer to `initialize`, once it has come.
    fn capabilities<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.session.capabilities() {
            Some(payload) => json::loads(py, &payload).map(Some),
            None => Ok(None),
        }
    }

    /// The last of what the CLI wrote to stderr.
    fn stderr_tail(&self) -> String {
        self.session.stderr_tail()
    }

    /// Seconds from the start until the CLI ran, until it had answered `initialize`, until a pool gave
    /// it out, until the first message of a turn came.
    #[getter]
    fn startup(&self) -> [Option<f64>; 4] {
        let startup = self.session.stats().startup;
        let phases = [
            startup.spawned,
            startup.initialized,
            startup.taken,
            startup.first_message,
        ];
        phases.map(|took| took.map(|took| took.as_secs_f64()))
    }

    /// A pool gives it out now.
    fn note_taken(&self) {
        self.session.note_taken();
    }

    /// Whether its CLI lives and is open.
    fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// Whether a prompt was ever sent.
    fn was_prompted(&self) -> bool {
        self.session.was_prompted()
    }

    /// Whether a prompt has no result yet.
    fn turn_open(&self) -> bool {
        self.session.turn_open()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.inbox)?;
        if let Ok(state) = self.state.try_lock() {
            for inbox in state.turns.values() {
                visit.call(inbox)?;
            }
        }
        Ok(())
    }
}

impl Drop for Session {
    /// Ends the CLI, without keeping other threads from running meanwhile.
    fn drop(&mut self) {
        // Without an interpreter the session's own drop does it.
        let _ = Python::try_attach(|py| py.detach(|| self.session.close_within(Some(DROP_GRACE))));
    }
}
