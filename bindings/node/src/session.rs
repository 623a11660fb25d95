//! A session as JavaScript holds it.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use napi::bindgen_prelude::{Array, Null};
use napi::{Env, JsString};
use napi_derive::napi;
use towline::protocol::mcp::CallResult;
use towline::{
    host_pipe, Answer, Error, Event, Exit, HostEnd, Launch, MessageType, RawMessage, RequestHandle,
    RequestKey, Session, SessionBuilder, StoreCallHandle, TransportEnd, Watchdog,
};

use crate::batch::Batch;
use crate::config::{Config, Log, Prepared, ServerEntry};
use crate::error::{describe, invalid, to_js};
use crate::host::NativeHost;
use crate::long::LongMessage;
use crate::waiter::Waiter;

/// How many bytes of events one drain takes at most, so that other work gets its turn, and the text
/// is a young object of V8's: a longer one has pages for itself, new ones each time.
const BATCH_BYTES: usize = 128 * 1024;
/// A message above this travels by itself.
const LONG_MESSAGE: usize = 512 * 1024;
/// How many events that is at most.
const BATCH_EVENTS: usize = 2048;

/// [`NativeSession::drain`]: there is more to take at once.
const MORE: u32 = 1;
/// A prompt has no result yet.
const TURN_OPEN: u32 = 2;
/// The session is over and everything of it was taken.
const CLOSED: u32 = 4;
/// The messages are one message, and no array.
const SINGLE: u32 = 8;
/// The messages are one message without its long strings, which are empty in it, and behind it their
/// paths, the last of which is the first that [`NativeSession::piece`] gives.
const PIECES: u32 = 16;

/// A running CLI and the conversation with it. For the thread that made it.
#[napi]
pub struct NativeSession {
    session: Arc<Session>,
    id: u64,
    hooks: Vec<String>,
    config: String,
    batch: RefCell<Batch>,
    /// Polled, but not handed over yet: what stands behind a message too long to share a batch.
    events: RefCell<std::vec::IntoIter<Event>>,
    /// How many events there may be next time.
    expected: Cell<usize>,
    /// A message that JavaScript takes piece by piece.
    long: RefCell<Option<LongMessage>>,
    /// The stream to a CLI that JavaScript has started.
    pipe: Option<HostEnd>,
    /// How JavaScript has to start it, a JSON document.
    launch: Option<String>,
    requests: RefCell<HashMap<u64, RequestHandle>>,
    /// Calls that JavaScript's store does.
    store_calls: RefCell<HashMap<u64, StoreCallHandle>>,
    last_store_call: Cell<u64>,
    /// Records of the log that wait.
    log: Log,
    /// Uuids that the application gave its prompts.
    named: RefCell<HashSet<String>>,
}

/// A CLI that was started, and what JavaScript has to know of it.
pub(crate) struct Started {
    session: Session,
    pipe: Option<HostEnd>,
    launch: Option<String>,
    log: Log,
}

/// A builder with everything of a configuration document.
pub(crate) fn prepare(config: &str) -> napi::Result<Prepared> {
    /// One for all sessions of the process.
    static WATCHDOG: std::sync::OnceLock<Watchdog> = std::sync::OnceLock::new();
    Config::read(config)?.prepare(WATCHDOG.get_or_init(Watchdog::default))
}

/// Starts the CLI, or with `piped` has JavaScript start it.
pub(crate) fn start(builder: SessionBuilder, log: Log, piped: bool) -> Result<Started, Error> {
    let (mut pipe, mut launch) = (None, None);
    let session = match piped {
        false => builder.start(),
        true => builder.start_with(|how| {
            launch = Some(describe_launch(&how));
            let (end, transport) = host_pipe();
            pipe = Some(end);
            Ok(transport)
        }),
    }?;
    Ok(Started {
        session,
        pipe,
        launch,
        log,
    })
}

#[napi]
impl NativeSession {
    /// Starts a CLI. `config` is a JSON document. With `piped` JavaScript starts it, as
    /// [`launch`](NativeSession::launch) says.
    #[napi(constructor)]
    pub fn new(host: &NativeHost, config: String, piped: bool) -> napi::Result<NativeSession> {
        let prepared = prepare(&config)?;
        let started = start(prepared.builder, prepared.log, piped).map_err(to_js)?;
        NativeSession::open(host.id(), config, prepared.hooks, started)
    }

    /// What [`NativeHost::ready`] calls it.
    #[napi(getter)]
    pub fn id(&self) -> f64 {
        self.id as f64
    }

    /// The process id of the CLI, where it is known.
    #[napi(getter)]
    pub fn pid(&self) -> Option<u32> {
        self.session.pid()
    }

    /// The callback ids of the hooks, in their order.
    #[napi(getter)]
    pub fn hooks(&self) -> Vec<String> {
        self.hooks.clone()
    }

    /// Does what is ready and takes what has come: `[messages, events, flags]`, the first two JSON
    /// texts of arrays, or null; a very long message comes alone. Never waits.
    #[napi]
    pub fn drain<'env>(&self, env: &'env Env) -> napi::Result<Array<'env>> {
        let mut batch = self.batch.borrow_mut();
        batch.clear();
        // Its pieces were not wanted.
        *self.long.borrow_mut() = None;
        let mut flags = 0;
        let mut single = None;
        let mut events = self.events.borrow_mut();
        if events.len() == 0 {
            let mut polled = Vec::with_capacity(self.expected.get());
            match self
                .session
                .poll_batch(BATCH_EVENTS, BATCH_BYTES, &mut polled)
            {
                Ok(true) => flags |= MORE,
                Ok(false) => {}
                Err(Error::Closed) => flags |= CLOSED,
                Err(error) => return Err(to_js(error)),
            }
            self.expected.set(polled.len());
            *events = polled.into_iter();
        }
        for record in self.log.take() {
            batch.log(&record);
        }
        loop {
            // One that would not share a batch is left for the next.
            let is_long = events
                .as_slice()
                .first()
                .is_some_and(|event| self.is_long(event));
            if is_long && batch.count > 0 {
                break;
            }
            let Some(event) = events.next() else {
                break;
            };
            match event {
                Event::Message { message, turn } if is_long => {
                    batch.single(turn);
                    single = Some(match LongMessage::plan(message.json()) {
                        Some((rest, pieces)) => {
                            flags |= PIECES;
                            *self.long.borrow_mut() = Some(LongMessage::new(message, pieces));
                            text(env, rest.as_bytes())?
                        }
                        None => {
                            flags |= SINGLE;
                            text(env, message.json().as_bytes())?
                        }
                    });
                    break;
                }
                event => {
                    if matches!(event, Event::Closed(_)) {
                        flags |= CLOSED;
                    }
                    self.take(&mut batch, event);
                }
            }
        }
        match events.len() {
            // An idle session keeps no memory for them.
            0 => *events = Vec::new().into_iter(),
            // The end is behind them.
            _ => flags = (flags | MORE) & !CLOSED,
        }
        batch.finish();
        if self.session.turn_open() {
            flags |= TURN_OPEN;
        }
        let mut array = env.create_array(3)?;
        match single {
            Some(single) => array.set(0, single)?,
            None if batch.count > 0 => array.set(0, text(env, &batch.messages)?)?,
            None => array.set(0, Null)?,
        }
        match batch.events.is_empty() {
            true => array.set(1, Null)?,
            false => array.set(1, text(env, batch.events.as_bytes())?)?,
        }
        array.set(2, flags)?;
        Ok(array)
    }

    /// Of the message drained last: the piece in front of the one before, from the end of its last long
    /// string to the start of its first one. Where it has escapes it is JSON in quotes; null when the
    /// string is complete.
    #[napi]
    pub fn piece<'env>(&self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        let mut long = self.long.borrow_mut();
        long.as_mut().map_or(Ok(None), |long| long.piece(env))
    }

    /// Has the waiter wait for this session: its id is told once there is something to drain.
    #[napi]
    pub fn arm(&self) -> napi::Result<()> {
        let waiter = Waiter::get().map_err(|error| to_js(Error::Wait(error)))?;
        waiter.arm(self.id).map_err(to_js)
    }

    /// Forgets a session that has ended.
    #[napi]
    pub fn release(&self) {
        self.requests.borrow_mut().clear();
        self.store_calls.borrow_mut().clear();
        if let Ok(waiter) = Waiter::get() {
            waiter.remove(self.id);
        }
    }

    /// Sends a user message, a JSON object, which has this `uuid` if any; returns its turn.
    #[napi]
    pub fn send(&self, message: String, uuid: Option<String>) -> napi::Result<f64> {
        self.named.borrow_mut().extend(uuid);
        let turn = self.session.send_json(&message).map_err(to_js)?;
        Ok(turn.0 as f64)
    }

    /// Sends a prompt of text alone; returns its turn.
    #[napi]
    pub fn send_text(&self, text: String) -> napi::Result<f64> {
        let turn = self.session.send(&text).map_err(to_js)?;
        Ok(turn.0 as f64)
    }

    /// Takes a prompt back whose turn has not begun; returns the request's id.
    #[napi]
    pub fn cancel_turn(&self, turn: f64) -> napi::Result<f64> {
        let turn = towline::TurnId(turn as u64);
        let request = self.session.cancel_turn(turn).map_err(to_js)?;
        Ok(request.0 as f64)
    }

    /// Sends a control request; returns its id.
    #[napi]
    pub fn request(&self, subtype: String, payload: String) -> napi::Result<f64> {
        let request = self.session.request(&subtype, &payload).map_err(to_js)?;
        Ok(request.0 as f64)
    }

    /// Withdraws a control request.
    #[napi]
    pub fn cancel_request(&self, id: f64) -> napi::Result<bool> {
        let id = towline::RequestId(id as u64);
        self.session.cancel_request(id).map_err(to_js)
    }

    /// Answers a request: `how` is `json` (a payload), `error` (a text), `call` (the result of a
    /// tool), `callError` (an error text of a tool), `mcp` (a JSON-RPC message) or `drop` (the safe
    /// answer).
    #[napi]
    pub fn respond(&self, key: f64, how: String, text: String) -> napi::Result<()> {
        let key = key as u64;
        let answered = match how.as_str() {
            "json" => self.answer(key, &Answer::Json(&text)),
            "error" => self.answer(key, &Answer::Error(&text)),
            "call" => self.answer(key, &Answer::Call(CallResult::json(text.as_str()))),
            "callError" => self.answer(key, &Answer::Call(CallResult::error(text.as_str()))),
            "mcp" => self.answer(key, &Answer::Mcp(&text)),
            "drop" => Ok(()),
            other => {
                let text = format!("no answer is of the form {other:?}");
                return Err(invalid("INVALID_ARGUMENT", text));
            }
        };
        if answered.is_ok() {
            // Dropped unanswered, it gives the safe answer.
            self.requests.borrow_mut().remove(&key);
        }
        answered.map_err(to_js)
    }

    /// Forgets a request that was answered otherwise.
    #[napi]
    pub fn forget(&self, key: f64) {
        self.requests.borrow_mut().remove(&(key as u64));
    }

    /// What JavaScript's store returned for a call, as JSON text.
    #[napi]
    pub fn store_answer(&self, key: f64, returned: String) {
        if let Some(call) = self.store_calls.borrow_mut().remove(&(key as u64)) {
            // Too late is nobody's fault, and was told of already.
            let _ = call.answer_json(&returned);
        }
    }

    /// JavaScript's store did not do a call.
    #[napi]
    pub fn store_fail(&self, key: f64, message: String) {
        if let Some(call) = self.store_calls.borrow_mut().remove(&(key as u64)) {
            // As for an answer.
            let _ = call.fail(message);
        }
    }

    /// Passes on a JSON-RPC message of a server that JavaScript runs itself.
    #[napi]
    pub fn mcp_send(&self, server: String, message: String) -> napi::Result<()> {
        self.session.mcp_send(&server, &message).map_err(to_js)
    }

    /// Has an in-process server send a notification; `params` is a JSON object.
    #[napi]
    pub fn mcp_notify(&self, server: String, method: String, params: String) -> napi::Result<()> {
        let sent = self
            .session
            .with_server(&server, |server| server.notify(&method, Some(&params)));
        sent.map_err(to_js)?
            .map_err(|error| invalid("INVALID_ARGUMENT", error))
    }

    /// JSON text of the payload that `initialize` was sent with.
    #[napi]
    pub fn initialize_payload(&self) -> napi::Result<String> {
        let (_, plan) = prepare(&self.config)?
            .builder
            .connection(0)
            .map_err(to_js)?;
        Ok(plan.initialize)
    }

    /// Adds an in-process server, a JSON document as in the configuration.
    #[napi]
    pub fn add_server(&self, server: String) -> napi::Result<()> {
        let server: ServerEntry<'_> =
            serde_json::from_str(&server).map_err(|error| invalid("INVALID_TOOL", error))?;
        let added = match server.bridged {
            true => self.session.add_bridged_server(&server.name),
            false => server
                .build()
                .and_then(|server| self.session.add_tool_server(server)),
        };
        added.map_err(to_js)
    }

    /// Takes an in-process server out; what it has left open is answered with an error.
    #[napi]
    pub fn remove_server(&self, name: String) -> napi::Result<()> {
        self.session.remove_server(&name).map_err(to_js).map(drop)
    }

    /// How JavaScript has to start the CLI: `{"command","args","cwd"?,"env"}`.
    #[napi(getter)]
    pub fn launch(&self) -> Option<String> {
        self.launch.clone()
    }

    /// Output of a CLI that JavaScript has started; `false` asks it to wait until
    /// [`wants_more`](NativeSession::wants_more).
    #[napi]
    pub fn feed(&self, bytes: &[u8]) -> bool {
        let fed = self.pipe.as_ref().map(|pipe| pipe.feed(bytes));
        // After its end nobody wants any more.
        matches!(fed, Some(Ok(true)))
    }

    /// What it wrote to stderr.
    #[napi]
    pub fn feed_stderr(&self, bytes: &[u8]) {
        if let Some(pipe) = &self.pipe {
            // After its end nobody wants any more.
            let _ = pipe.feed_stderr(bytes);
        }
    }

    /// Whether there is room for more output.
    #[napi]
    pub fn wants_more(&self) -> bool {
        self.pipe.as_ref().is_some_and(HostEnd::wants_more)
    }

    /// What is to be written to a CLI that JavaScript has started.
    #[napi]
    pub fn take_outgoing<'env>(&self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        let outgoing = self.pipe.as_ref().and_then(HostEnd::take_outgoing);
        outgoing.map(|bytes| text(env, &bytes)).transpose()
    }

    /// Whether its input is to be ended.
    #[napi]
    pub fn input_ended(&self) -> bool {
        self.pipe.as_ref().is_some_and(HostEnd::input_ended)
    }

    /// Whether the session is done with it: it is to be ended by force.
    #[napi]
    pub fn pipe_closed(&self) -> bool {
        self.pipe.as_ref().is_some_and(HostEnd::is_closed)
    }

    /// It takes no more input: it has closed that, or writing has failed with this error.
    #[napi]
    pub fn lose_input(&self, error: Option<String>) {
        if let Some(pipe) = &self.pipe {
            // After the end there is nothing to lose.
            let _ = match error {
                None => pipe.lose_input(),
                Some(error) if pipe.input_ended() => pipe.fail_end_of_input(error),
                Some(error) => pipe.fail_input(error),
            };
        }
    }

    /// Its output has ended, or reading it has failed with this error; how it ends is still to come.
    #[napi]
    pub fn end_output(&self, error: Option<String>) {
        if let Some(pipe) = &self.pipe {
            // A second end changes nothing.
            let _ = match error {
                None => pipe.end_output(),
                Some(error) => pipe.fail_output(error),
            };
        }
    }

    /// Whether it is to be asked to end, as SIGTERM does.
    #[napi]
    pub fn pipe_terminated(&self) -> bool {
        self.pipe.as_ref().is_some_and(HostEnd::is_terminated)
    }

    /// Why the session will never be open, once that is known; `null` before. A JSON text.
    #[napi]
    pub fn opening_error(&self) -> Option<String> {
        let error = self.session.opening_error()?;
        Some(describe(&error).to_string())
    }

    /// It has ended: with an exit status, by a signal, or else because of an error.
    #[napi]
    pub fn finish(&self, code: Option<i32>, signal: Option<i32>, error: Option<String>) {
        let end = match (error, signal, code) {
            (Some(error), _, _) => TransportEnd::error(error),
            (None, Some(signal), _) => TransportEnd::exit(Exit::Signal(signal)),
            (None, None, Some(code)) => TransportEnd::exit(Exit::Code(code)),
            (None, None, None) => TransportEnd::exit(Exit::Unknown),
        };
        if let Some(pipe) = &self.pipe {
            // A second end changes nothing.
            let _ = pipe.finish(end);
        }
    }

    /// Ends the input as soon as nothing more of this host is needed.
    #[napi]
    pub fn end_when_settled(&self) -> napi::Result<()> {
        self.session.end_input_when_settled().map_err(to_js)
    }

    /// Ends the input: what was sent is still worked through.
    #[napi]
    pub fn end_input(&self) -> napi::Result<()> {
        self.session.end_input().map_err(to_js)
    }

    /// Begins the end: the end of stdin, a grace, SIGTERM, a grace, SIGKILL.
    #[napi]
    pub fn close(&self) -> napi::Result<()> {
        self.session.begin_close().map_err(to_js)
    }

    /// The last of what the CLI wrote to stderr.
    #[napi]
    pub fn stderr_tail(&self) -> String {
        self.session.stderr_tail()
    }

    /// Milliseconds from the start until its phases were reached: the CLI ran, it had answered
    /// `initialize`, a pool gave it out, the first message of a turn came.
    #[napi]
    pub fn startup(&self) -> Vec<Option<f64>> {
        let startup = self.session.stats().startup;
        let phases = [
            startup.spawned,
            startup.initialized,
            startup.taken,
            startup.first_message,
        ];
        let ms = |took: std::time::Duration| took.as_secs_f64() * 1000.0;
        phases.into_iter().map(|took| took.map(ms)).collect()
    }

    /// A pool gives it out now.
    #[napi]
    pub fn note_taken(&self) {
        self.session.note_taken();
    }

    /// Whether its CLI lives and is open.
    #[napi]
    pub fn is_usable(&self) -> bool {
        self.session.is_usable()
    }

    /// Whether a prompt was ever sent.
    #[napi]
    pub fn was_prompted(&self) -> bool {
        self.session.was_prompted()
    }

    /// Whether a prompt has no result yet.
    #[napi]
    pub fn turn_open(&self) -> bool {
        self.session.turn_open()
    }

    /// The session's id, once known.
    #[napi]
    pub fn session_id(&self) -> Option<String> {
        self.session.session_id()
    }
}

impl NativeSession {
    /// A session that has been started, for the JavaScript thread `host`.
    pub(crate) fn open(
        host: u64,
        config: String,
        hooks: Vec<String>,
        started: Started,
    ) -> napi::Result<NativeSession> {
        let Started {
            session,
            pipe,
            launch,
            log,
        } = started;
        let session = Arc::new(session);
        let waiter = Waiter::get().map_err(|error| to_js(Error::Wait(error)))?;
        let id = waiter.add(&session, host).map_err(to_js)?;
        if let Some(pipe) = &pipe {
            pipe.set_terminable().map_err(to_js)?;
            // What the session has to write JavaScript takes when it drains.
            pipe.on_change(move || waiter.mark(id)).map_err(to_js)?;
        }
        Ok(NativeSession {
            session,
            id,
            hooks,
            config,
            batch: RefCell::default(),
            events: RefCell::default(),
            expected: Cell::default(),
            long: RefCell::default(),
            pipe,
            launch,
            requests: RefCell::default(),
            store_calls: RefCell::default(),
            last_store_call: Cell::default(),
            log,
            named: RefCell::default(),
        })
    }

    fn answer(&self, key: u64, answer: &Answer<'_>) -> Result<(), Error> {
        self.session.respond(RequestKey(key), answer)
    }

    /// Whether this is a message that travels by itself.
    fn is_long(&self, event: &Event) -> bool {
        matches!(event, Event::Message { message, .. }
            if message.json().len() > LONG_MESSAGE && !self.is_hidden(message))
    }

    /// Messages that the CLI sends because of what this library asked for, not the application: the
    /// life of prompts that the application gave no `uuid`, states marked as not for it, transcripts
    /// for a store.
    fn is_hidden(&self, message: &RawMessage) -> bool {
        let is = |path, value: &str| message.pointer(path).ok().flatten() == Some(value);
        match message.kind() {
            MessageType::TranscriptMirror => true,
            MessageType::System => {
                message.subtype() == Some("session_state_changed") && is("/sdk_host_only", "true")
            }
            MessageType::CommandLifecycle => {
                let uuid = message.pointer("/command_uuid").ok().flatten();
                let uuid = uuid.and_then(towline::protocol::json::string);
                uuid.is_some_and(|uuid| !self.named.borrow().contains(uuid.as_ref()))
            }
            _ => false,
        }
    }

    fn take(&self, batch: &mut Batch, event: Event) {
        match event {
            Event::Message { message, .. } if self.is_hidden(&message) => {}
            Event::Message { message, turn } => batch.message(message.json(), turn),
            Event::Initialized(message) => {
                let response = towline::Response { message };
                batch.initialized(response.payload());
            }
            Event::Request(handle) => {
                batch.request(&handle);
                self.requests.borrow_mut().insert(handle.key().0, handle);
            }
            Event::RequestCancelled { key, reason } => {
                self.requests.borrow_mut().remove(&key.0);
                batch.cancelled(key.0, reason);
            }
            Event::Response { id, result, .. } => match result {
                Ok(response) => batch.response(id.0, Ok(response.payload())),
                Err(error) => batch.response(id.0, Err(error.into())),
            },
            Event::StoreCall(handle) => {
                let key = self.last_store_call.get() + 1;
                self.last_store_call.set(key);
                batch.store_call(key, &handle);
                self.store_calls.borrow_mut().insert(key, handle);
            }
            Event::McpNotification { server, message } => {
                let body = message.body().unwrap_or("{}");
                let rpc = towline::protocol::json::pointer(body, "/message");
                batch.notification(&server, rpc.ok().flatten().unwrap_or("null"));
            }
            Event::TurnEnded { turn, outcome } => batch.turn_ended(turn, &outcome),
            Event::Stderr(line) => batch.stderr(&line),
            Event::Diagnostic(diagnostic) => batch.diagnostic(&diagnostic.to_string()),
            Event::Closed(closed) => batch.closed(&closed),
            _ => {}
        }
    }
}

impl Drop for NativeSession {
    fn drop(&mut self) {
        // Ending a CLI takes time, which a garbage collector does not have.
        if let Ok(waiter) = Waiter::get() {
            waiter.abandon(self.id);
        }
    }
}

/// A copy for JavaScript: a plain one where every byte is a character.
pub(crate) fn text<'env>(env: &'env Env, bytes: &[u8]) -> napi::Result<JsString<'env>> {
    if bytes.is_ascii() {
        return env.create_string_latin1(bytes);
    }
    // SAFETY: pointer and length of one slice; N-API copies it.
    unsafe { env.create_string_from_c_char(bytes.as_ptr().cast(), bytes.len() as isize) }
}

/// `{"command","args","cwd"?,"env"}`; what is no Unicode is replaced.
fn describe_launch(launch: &Launch) -> String {
    let text = |text: &std::ffi::OsString| text.to_string_lossy().into_owned();
    let mut argv = launch.argv.iter().map(text);
    let env = launch.env.iter();
    let env: serde_json::Map<String, serde_json::Value> = env
        .map(|(name, value)| (text(name), text(value).into()))
        .collect();
    let command = argv.next();
    let args: Vec<String> = argv.collect();
    serde_json::json!({"command": command, "args": args, "cwd": launch.cwd, "env": env}).to_string()
}
