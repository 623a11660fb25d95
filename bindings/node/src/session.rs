//! A session as JavaScript holds it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{Array, Null};
use napi::{Env, JsString};
use napi_derive::napi;
use towline::protocol::mcp::CallResult;
use towline::{
    Answer, Error, Event, MessageType, RawMessage, RequestHandle, RequestKey, Session, Watchdog,
};

use crate::batch::Batch;
use crate::config::Config;
use crate::error::{invalid, to_js};
use crate::host::NativeHost;
use crate::waiter::Waiter;

/// How many bytes of events one drain takes at most, so that other work gets its turn.
const BATCH_BYTES: usize = 512 * 1024;

/// [`NativeSession::drain`]: there is more to take at once.
const MORE: u32 = 1;
/// A prompt has no result yet.
const TURN_OPEN: u32 = 2;
/// The session is over and everything of it was taken.
const CLOSED: u32 = 4;
/// The messages are one message, and no array.
const SINGLE: u32 = 8;

/// A running CLI and the conversation with it. For the thread that made it.
#[napi]
pub struct NativeSession {
    session: Arc<Session>,
    id: u64,
    hooks: Vec<String>,
    config: String,
    batch: RefCell<Batch>,
    /// A message too long to share a batch.
    large: RefCell<Option<Event>>,
    requests: RefCell<HashMap<u64, RequestHandle>>,
    /// Uuids that the application gave its prompts.
    named: RefCell<HashSet<String>>,
}

/// One for all sessions of the process.
static WATCHDOG: std::sync::OnceLock<Watchdog> = std::sync::OnceLock::new();

#[napi]
impl NativeSession {
    /// Starts a CLI. `config` is a JSON document.
    #[napi(constructor)]
    pub fn new(host: &NativeHost, config: String) -> napi::Result<NativeSession> {
        let watchdog = WATCHDOG.get_or_init(Watchdog::default);
        let prepared = Config::read(&config)?.prepare(watchdog)?;
        let session = Arc::new(prepared.builder.start().map_err(to_js)?);
        let waiter = Waiter::get().map_err(|error| to_js(Error::Wait(error)))?;
        let id = waiter.add(&session, host.id()).map_err(to_js)?;
        Ok(NativeSession {
            session,
            id,
            hooks: prepared.hooks,
            config,
            batch: RefCell::default(),
            large: RefCell::default(),
            requests: RefCell::default(),
            named: RefCell::default(),
        })
    }

    /// What [`NativeHost::ready`] calls it.
    #[napi(getter)]
    pub fn id(&self) -> f64 {
        self.id as f64
    }

    /// The process id of the CLI.
    #[napi(getter)]
    pub fn pid(&self) -> u32 {
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
        let mut flags = 0;
        let mut single = None;
        let mut large = self.large.borrow_mut();
        loop {
            let event = match large.take() {
                Some(event) => Some(event),
                None => match self.session.poll(Some(Duration::ZERO)) {
                    Ok(event) => event,
                    Err(Error::Closed) => {
                        flags |= CLOSED;
                        None
                    }
                    Err(error) => return Err(to_js(error)),
                },
            };
            let Some(event) = event else { break };
            if let Event::Message { message, turn } = &event {
                if message.json().len() > BATCH_BYTES && !self.is_hidden(message) {
                    flags |= MORE;
                    if batch.count > 0 {
                        *large = Some(event);
                    } else {
                        flags |= SINGLE;
                        batch.single(*turn);
                        single = Some(text(env, message.json().as_bytes())?);
                    }
                    break;
                }
            }
            if matches!(event, Event::Closed(_)) {
                flags |= CLOSED;
            }
            self.take(&mut batch, event);
            if batch.weight() >= BATCH_BYTES {
                flags |= MORE;
                break;
            }
            if flags & CLOSED != 0 {
                break;
            }
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
        let watchdog = WATCHDOG.get_or_init(Watchdog::default);
        let prepared = Config::read(&self.config)?.prepare(watchdog)?;
        let (_, plan) = prepared.builder.connection(0).map_err(to_js)?;
        Ok(plan.initialize)
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

    /// The session's id, once known.
    #[napi]
    pub fn session_id(&self) -> Option<String> {
        self.session.session_id()
    }
}

impl NativeSession {
    fn answer(&self, key: u64, answer: &Answer<'_>) -> Result<(), Error> {
        self.session.respond(RequestKey(key), answer)
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
fn text<'env>(env: &'env Env, bytes: &[u8]) -> napi::Result<JsString<'env>> {
    if bytes.is_ascii() {
        return env.create_string_latin1(bytes);
    }
    // SAFETY: pointer and length of one slice; N-API copies it.
    unsafe { env.create_string_from_c_char(bytes.as_ptr().cast(), bytes.len() as isize) }
}
