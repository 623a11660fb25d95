//! A scripted Messages API on loopback, so that the real CLI runs without a network, a key or a model.
//!
//! The newest user text steers the reply. Its last line that begins with one of these words wins:
//!
//! | Line | Reply |
//! |---|---|
//! | `TOOL <name> <json>` | a text block and a tool call; after the tool's result the text `done` |
//! | `TOOLS <json>` | several calls in one reply: `[[name, input], …]` |
//! | `CHAIN <json>` | one call a round trip: `[[name, input], …]`, then `done` |
//! | `STRUCTURED <json>` | a call of `StructuredOutput`, as `--json-schema` wants it |
//! | `TEXT <text>` | exactly that text |
//! | `THINK <text>` | a thinking block, then the text `thought` |
//! | `BIG <kib>` | one text of that size |
//! | `DELTAS <n> [<seconds>]` | a text in n deltas, with a pause between them |
//! | `SLEEP <seconds>` | waits before the first byte, then the text `slept` |
//! | `GATE <name>` | `before `, then nothing until [`ScriptedApi::release`], then `after` |
//! | `CUT [<n>]` | the connection breaks off in mid-reply; with n, only the first n times |
//! | `ERROR <status> [<n>]` | an API error; with n, only the first n times |
//! | `USAGE <in> <out>` | the echo, with that token usage |
//! | `STOP <reason>` | the echo, with that `stop_reason` |
//! | anything else | `echo: ` and the last 200 characters of the text |
//!
//! The prompt of a subagent is such a text too, so `TOOL Agent {"prompt": "TOOL Bash …", …}` scripts
//! both. A malformed line is answered with a 400 that says what is wrong with it. Text beside a tool
//! result does not steer.
//!
//! Each connection has a thread; dropping the API ends and joins all of them, whatever they wait for.

mod http;
mod log;
mod reply;
mod script;

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use crate::sys;
use log::Log;
use reply::{Connection, Pacing};

/// A request the API has received.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query, such as `/v1/messages?beta=true`.
    pub path: String,
    /// In the order sent, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The JSON body; null when there was none or it was not JSON.
    pub body: Arc<Value>,
}

impl RecordedRequest {
    /// Whether this asks for a reply of the model (and not, for example, for a token count).
    pub fn is_message(&self) -> bool {
        self.method == "POST" && asks_for_message(&self.path)
    }

    /// The newest user text, without the reminders the CLI adds; empty when there is none.
    pub fn user_text(&self) -> String {
        script::newest(&self.body).text
    }

    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

fn asks_for_message(path: &str) -> bool {
    path.split('?')
        .next()
        .is_some_and(|path| path.ends_with("/messages"))
}

#[derive(Default)]
struct State {
    requests: Vec<RecordedRequest>,
    /// How often a limited failure has been served, by prompt.
    failures: HashMap<String, u32>,
    open_gates: HashSet<String>,
    /// How many replies wait at each gate.
    at_gate: HashMap<String, usize>,
    /// Open connections by number, to break their reads when the API stops.
    connections: HashMap<u64, TcpStream>,
    stopping: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    log: Option<Log>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked leaves whole entries behind, so the state stays usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `found` yields something or the deadline passes (never, when there is none).
    fn wait_until<T>(
        &self,
        deadline: Option<Instant>,
        mut found: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(value) = found(&mut state) {
                return Some(value);
            }
            state = match deadline {
                None => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    self.changed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
    }
}

impl Pacing for Shared {
    fn pause(&self, duration: Duration) -> bool {
        if duration.is_zero() {
            return !self.state().stopping;
        }
        let end = Instant::now().checked_add(duration);
        self.wait_until(end, |state| state.stopping.then_some(()))
            .is_none()
    }

    fn wait_for_gate(&self, name: &str) -> bool {
        *self.state().at_gate.entry(name.to_owned()).or_default() += 1;
        self.changed.notify_all();
        let opened = self.wait_until(None, |state| {
            let opened = state.open_gates.contains(name);
            (opened || state.stopping).then_some(opened)
        });
        if let Some(count) = self.state().at_gate.get_mut(name) {
            *count -= 1;
        }
        opened == Some(true)
    }
}

/// The scripted API. It serves from [`start`](ScriptedApi::start) until it is dropped.
pub struct ScriptedApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
    /// Closing it ends the acceptor.
    stop: Option<UnixStream>,
}

impl std::fmt::Debug for ScriptedApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedApi")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl ScriptedApi {
    /// Serves on a free port of 127.0.0.1, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// The socket cannot be opened.
    pub fn start() -> io::Result<Self> {
        Self::start_with(0, None)
    }

    /// The same on a given port (0: a free one); every request is also appended to the file `log`,
    /// one JSON object a line.
    ///
    /// # Errors
    /// The port is taken, or the file cannot be opened.
    pub fn start_with(port: u16, log: Option<&Path>) -> io::Result<Self> {
        let log = log.map(Log::open).transpose()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (stop, stopped) = UnixStream::pair()?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            log,
        });
        let acceptor = thread::Builder::new()
            .name("scripted-api".to_owned())
            .spawn({
                let shared = shared.clone();
                move || accept(&listener, &stopped, &shared)
            })?;
        Ok(ScriptedApi {
            address,
            shared,
            acceptor: Some(acceptor),
            stop: Some(stop),
        })
    }

    /// What belongs into `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, oldest first. A request is recorded before it is answered.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// The first request, past or to come, that `wanted` accepts; `None` when the time is up.
    /// `wanted` sees each request once.
    pub fn wait_for_request(
        &self,
        mut wanted: impl FnMut(&RecordedRequest) -> bool,
        timeout: Duration,
    ) -> Option<RecordedRequest> {
        let mut seen = 0;
        self.shared
            .wait_until(Instant::now().checked_add(timeout), |state| {
                let fresh = &state.requests[seen..];
                seen = state.requests.len();
                fresh.iter().find(|request| wanted(request)).cloned()
            })
    }

    /// Opens the gate of that name, for good: a reply that waits at it goes on, and one that comes
    /// to it later passes.
    pub fn release(&self, name: &str) {
        self.shared.state().open_gates.insert(name.to_owned());
        self.shared.changed.notify_all();
    }

    /// Waits until a reply stands at the gate of that name; false when the time is up.
    pub fn wait_at_gate(&self, name: &str, timeout: Duration) -> bool {
        self.shared
            .wait_until(Instant::now().checked_add(timeout), |state| {
                state
                    .at_gate
                    .get(name)
                    .is_some_and(|count| *count > 0)
                    .then_some(())
            })
            .is_some()
    }
}

impl Drop for ScriptedApi {
    fn drop(&mut self) {
        self.shared.state().stopping = true;
        self.shared.changed.notify_all();
        self.stop = None;
        if let Some(acceptor) = self.acceptor.take() {
            // A panic of a connection's thread has been reported by the panic hook already.
            let _ = acceptor.join();
        }
    }
}

/// Takes connections until told to stop, then breaks them and waits for their threads.
fn accept(listener: &TcpListener, stopped: &UnixStream, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for number in 0.. {
        match sys::wait_readable([listener.as_fd(), stopped.as_fd()]) {
            Ok([_, false]) => {}
            Ok([_, true]) | Err(_) => break,
        }
        threads.retain(|thread| !thread.is_finished());
        // A client may have gone again between the two calls; that is nobody's failure.
        let Ok((stream, _)) = listener.accept() else {
            continue;
        };
        let served = stream
            .set_nonblocking(false)
            .and_then(|()| stream.try_clone());
        let Ok(handle) = served else { continue };
        shared.state().connections.insert(number, handle);
        let serving = thread::Builder::new()
            .name("scripted-api connection".to_owned())
            .spawn({
                let shared = shared.clone();
                move || {
                    // An error is a client that went away, which tests do on purpose.
                    let _ = serve(&stream, &shared);
                    shared.state().connections.remove(&number);
                    let _ = stream.shutdown(std::net::Shutdown::Both);
                }
            });
        match serving {
            Ok(thread) => threads.push(thread),
            Err(_) => drop(shared.state().connections.remove(&number)),
        }
    }
    for stream in shared.state().connections.values() {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Answers the requests of one connection, in order.
fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream);
    let mut output = stream;
    loop {
        let request = match http::read_request(&mut input, &mut output) {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                reply::write_error(&mut output, 400, &error.to_string())?;
                // What the client still writes is taken off the wire, else it might see a reset
                // instead of the answer.
                stream.shutdown(std::net::Shutdown::Write)?;
                io::copy(&mut input.take(1 << 20), &mut io::sink())?;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let wants_close = request.wants_close();
        if respond(&mut output, request, shared)? == Connection::Close || wants_close {
            return Ok(());
        }
    }
}

fn respond(
    output: &mut impl io::Write,
    request: http::Request,
    shared: &Shared,
) -> io::Result<Connection> {
    let recorded = RecordedRequest {
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: Arc::new(serde_json::from_slice(&request.body).unwrap_or(Value::Null)),
    };
    if let Some(log) = &shared.log {
        log.write(&recorded);
    }
    shared.state().requests.push(recorded.clone());
    shared.changed.notify_all();
    match recorded.method.as_str() {
        "HEAD" => http::write_empty(output)?,
        "GET" => http::write_json(output, 200, &json!({"data": []}), false)?,
        "POST" if recorded.path.contains("/count_tokens") => {
            http::write_json(output, 200, &json!({"input_tokens": 10}), false)?;
        }
        "POST" if asks_for_message(&recorded.path) => {
            let answer = script::answer(&recorded.body, |text| {
                let mut state = shared.state();
                let count = state.failures.entry(text.to_owned()).or_default();
                *count += 1;
                *count - 1
            });
            return reply::write_answer(output, &recorded.body, &answer, shared);
        }
        "POST" => reply::write_error(output, 404, &recorded.path)?,
        method => reply::write_error(output, 405, method)?,
    }
    Ok(Connection::Keep)
}
