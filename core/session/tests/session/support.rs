//! What the tests share: a scripted CLI, bounded waits, tests in a process of their own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use tempfile::TempDir;
use towline::{Closed, Diagnostic, Error, Event, Options, Session, SessionBuilder};
use towline_testkit::Program;

/// Longer than anything here takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

const CHILD: &str = "TOWLINE_TEST_CHILD";
const FAKE_CLI: &str = "TOWLINE_TEST_FAKE_CLI";

pub(crate) fn fake_cli() -> PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| match std::env::var_os(FAKE_CLI) {
        Some(path) => path.into(),
        None => Program::FakeCli.locate().unwrap(),
    })
    .clone()
}

/// A scripted CLI and the options that start it.
pub(crate) struct Fake {
    pub(crate) folder: TempDir,
    options: Value,
}

impl Fake {
    pub(crate) fn new(script: Value) -> Fake {
        Fake::with_text(&script.to_string())
    }

    /// A script as JSON text, for what a decoder would change.
    pub(crate) fn with_text(script: &str) -> Fake {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        std::fs::write(&path, script).unwrap();
        let options = json!({
            "cliPath": fake_cli(),
            "env": {
                "FAKE_CLI_SCRIPT": path,
                "FAKE_CLI_LOG": folder.path().join("log"),
            },
        });
        Fake { folder, options }
    }

    pub(crate) fn bench(mode: &str) -> Fake {
        Fake::new(json!([])).env("FAKE_CLI_BENCH", mode)
    }

    pub(crate) fn set(mut self, key: &str, value: impl Into<Value>) -> Fake {
        self.options[key] = value.into();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Fake {
        self.options["env"][name] = value.into();
        self
    }

    /// Graces of this many milliseconds.
    pub(crate) fn graces(self, ms: u64) -> Fake {
        self.set("closeGraceMs", ms).set("terminateGraceMs", ms)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn options(&self) -> Options {
        Options::from_json(&self.options.to_string()).unwrap()
    }

    pub(crate) fn builder(&self) -> SessionBuilder {
        Session::builder(self.options())
    }

    pub(crate) fn begin(&self) -> Session {
        self.builder().begin().unwrap()
    }

    /// What the CLI has logged so far.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("log")).unwrap_or_default();
        // A line may be half written.
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits for a line of the log.
    pub(crate) fn logged(&self, event: &str) -> Value {
        wait_for(&format!("{event} in the log"), || {
            self.log().into_iter().find(|line| line["ev"] == event)
        })
    }

    /// Lines of the host that the CLI has read, in order.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.log()
            .iter()
            .filter(|line| line["ev"] == "in")
            .map(|line| line["line"].clone())
            .collect()
    }

    /// Fails when the script did not go as written.
    pub(crate) fn check(&self) {
        let log = self.log();
        let failed: Vec<&Value> = log.iter().filter(|line| line["ev"] == "fail").collect();
        assert!(failed.is_empty(), "the script failed: {failed:?}");
    }
}

/// Starts a session in the way that this program tests.
pub(crate) trait Begin {
    fn begin(self) -> Result<Session, Error>;
}

impl Begin for SessionBuilder {
    fn begin(self) -> Result<Session, Error> {
        match crate::PORTABLE {
            true => self.start_portable(),
            false => self.start(),
        }
    }
}

/// Looks again and again until there is something; bounded.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + LONG;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// The next event; the session has to have one.
pub(crate) fn next(session: &Session) -> Event {
    let event = session.poll(Some(LONG)).unwrap();
    event.unwrap_or_else(|| panic!("no event within {LONG:?}"))
}

/// The first event that `pick` takes; the ones before it are dropped.
pub(crate) fn until<T>(session: &Session, mut pick: impl FnMut(Event) -> Option<T>) -> T {
    loop {
        if let Some(found) = pick(next(session)) {
            return found;
        }
    }
}

/// All events up to the last one.
pub(crate) fn rest(session: &Session) -> (Vec<Event>, Closed) {
    let mut events = Vec::new();
    loop {
        match next(session) {
            Event::Closed(closed) => return (events, closed),
            event => events.push(event),
        }
    }
}

pub(crate) fn until_closed(session: &Session) -> Closed {
    rest(session).1
}

/// Waits for a message of this type and returns its JSON.
pub(crate) fn message(session: &Session, wanted: &str) -> Value {
    until(session, |event| match event {
        Event::Message { message, .. } if message.message_type() == wanted => {
            Some(serde_json::from_str(message.json()).unwrap())
        }
        _ => None,
    })
}

pub(crate) fn diagnostic(session: &Session) -> Diagnostic {
    until(session, |event| match event {
        Event::Diagnostic(diagnostic) => Some(diagnostic),
        _ => None,
    })
}

/// The JSON of the messages among these events.
pub(crate) fn messages(events: &[Event]) -> Vec<Value> {
    let message = |event: &Event| match event {
        Event::Message { message, .. } => Some(serde_json::from_str(message.json()).unwrap()),
        _ => None,
    };
    events.iter().filter_map(message).collect()
}

pub(crate) fn result() -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok",
        "num_turns": 1, "session_id": "s", "uuid": "u"})
}

pub(crate) fn error_result(text: &str) -> Value {
    json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": [text], "session_id": "s", "uuid": "u"})
}

pub(crate) fn assistant(text: &str) -> Value {
    json!({"type": "assistant", "session_id": "s", "uuid": "u", "parent_tool_use_id": null,
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
            "content": [{"type": "text", "text": text}]}})
}

pub(crate) fn permission(id: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool",
        "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": format!("toolu_{id}")}})
}

pub(crate) fn hook(id: &str, callback: &str) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": "hook_callback",
        "callback_id": callback, "tool_use_id": "t", "input": {"hook_event_name": "PreToolUse",
            "session_id": "s", "transcript_path": "/t", "cwd": "/w", "tool_name": "Bash",
            "tool_input": {}}}})
}

pub(crate) fn mcp(id: &str, server: &str, message: Value) -> Value {
    json!({"type": "control_request", "request_id": id, "request": {"subtype": "mcp_message",
        "server_name": server, "message": message}})
}

/// What the host wrote to answer this request.
pub(crate) fn answer_to(fake: &Fake, id: &str) -> Value {
    wait_for(&format!("an answer to {id}"), || {
        fake.received()
            .into_iter()
            .find(|line| line["type"] == "control_response" && line["response"]["request_id"] == id)
    })["response"]
        .clone()
}

/// Steps that wait for the answer to this request.
pub(crate) fn answered(id: &str) -> Value {
    json!({"expect": {"type": "control_response", "response": {"request_id": id}}})
}

/// Runs a test in a process of its own, where it may count what belongs to the process. `name` is
/// the path of the calling test.
pub(crate) fn in_child(name: &str, test: impl FnOnce()) {
    if std::env::var(CHILD).as_deref() == Ok(name) {
        return test();
    }
    let output = child_command(name).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success() && text(&output.stdout).contains("1 passed"),
        "{name} in a process of its own: {}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
}

/// This program, running one test only.
pub(crate) fn child_command(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, name)
        .env(FAKE_CLI, fake_cli())
        .stdin(Stdio::null());
    command
}

/// Whether this process was started by [`child_command`] for this test.
pub(crate) fn is_child(name: &str) -> bool {
    std::env::var(CHILD).as_deref() == Ok(name)
}

/// The process of a session that has one.
pub(crate) fn pid_of(session: &Session) -> u64 {
    session.pid().unwrap().into()
}

/// Whether a process runs; a zombie does not.
pub(crate) fn is_alive(pid: u64) -> bool {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Err(_) => false,
        Ok(stat) => !stat
            .rsplit_once(')')
            .is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X'])),
    }
}

/// The processes whose parent is this one, zombies too.
pub(crate) fn children() -> Vec<u64> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        if parent == Some(own) {
            found.push(pid);
        }
    }
    found
}

pub(crate) fn open_descriptors() -> usize {
    // The one that reads the folder is counted each time.
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A small generator of random numbers: the scripts it makes are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Processor time of the calling thread.
pub(crate) fn thread_cpu_time() -> Duration {
    // SAFETY: timespec is plain data, and the pointer is valid for the call.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        assert_eq!(
            libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time),
            0
        );
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

/// The most memory this process has had, in bytes.
pub(crate) fn peak_memory() -> usize {
    memory("VmHWM")
}

/// The memory this process has now, in bytes.
pub(crate) fn resident_memory() -> usize {
    memory("VmRSS")
}

fn memory(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}
