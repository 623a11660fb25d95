//! A whole case: the steps in order, each timed and judged, then the record.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};

use crate::error::StepError;
use crate::record::Record;
use crate::setup::Setup;
use crate::talk::Talk;

/// How long a step may take unless it says otherwise.
const STEP: u64 = 8_000;
/// How long the last close may take.
const LAST_CLOSE: Duration = Duration::from_secs(25);
/// How long cancelled callbacks have to notice.
const NOTICE: Duration = Duration::from_secs(2);

#[derive(Deserialize)]
struct Case {
    host: Vec<Value>,
}

/// The host program.
pub(crate) struct Host {
    pub(crate) record: Arc<Record>,
    pub(crate) fake_cli: String,
    pub(crate) work: String,
    /// While it sleeps nothing is read: it does not poll.
    pub(crate) asleep: bool,
    /// It watches the session's descriptor.
    pub(crate) event_loop: bool,
    /// Its CLI is started with the standard library alone.
    pub(crate) portable: bool,
    setup: Mutex<Setup>,
    pub(crate) talk: Mutex<Option<Arc<Talk>>>,
    background: Mutex<BTreeMap<String, Receiver<()>>>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}"))
}

/// Does the case that the last argument names.
pub(crate) fn run() -> Result<(), String> {
    let path = std::env::args_os().next_back().ok_or("no case is named")?;
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.to_string_lossy());
    let text = std::fs::read_to_string(&path).map_err(|error| named(&error))?;
    let case: Case = serde_json::from_str(&text).map_err(|error| named(&error))?;
    let out = variable("CASE_OUT")?;
    let flag = |name: &str| std::env::args_os().any(|arg| arg == name);
    let host = Arc::new(Host {
        record: Arc::default(),
        fake_cli: variable("CASE_FAKE_CLI")?,
        work: variable("CASE_WORK")?,
        asleep: flag("--asleep"),
        event_loop: flag("--event-loop"),
        portable: flag("--portable"),
        setup: Mutex::default(),
        talk: Mutex::default(),
        background: Mutex::default(),
    });
    for step in &case.host {
        if locked(&host.setup).take(step) {
            continue;
        }
        if step.get("exit_without_close").is_some() {
            host.write(Path::new(&out))?;
            // No destructor runs: nothing of the session is ended by this program.
            std::process::exit(0);
        }
        host.note_panics();
        host.timed(step);
    }
    if !case.host.iter().any(|step| step.get("close").is_some()) {
        host.last_close();
    }
    host.settle_callbacks();
    host.write(Path::new(&out))
}

impl Host {
    /// A panic that nobody meant goes into the record.
    fn note_panics(&self) {
        if locked(&self.setup).panics() {
            return;
        }
        let record = self.record.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.to_string();
            eprintln!("{text}");
            record.change(|state| state.loop_errors.push(text));
        }));
    }

    pub(crate) fn builder(self: &Arc<Self>) -> Result<towline::SessionBuilder, String> {
        locked(&self.setup).builder(self)
    }

    /// Does a step and judges it.
    pub(crate) fn timed(self: &Arc<Self>, step: &Value) {
        let number = |key: &str| step.get(key).and_then(Value::as_u64);
        let limit = number("timeout_ms").unwrap_or(STEP);
        let started = Instant::now();
        let done = self.step(step, started + Duration::from_millis(limit));
        let ms = started.elapsed().as_millis() as u64;
        let error = match done {
            Err(error) => Some(error),
            // What cannot be cut short is judged by the clock.
            Ok(()) if ms > limit => Some(StepError::timeout(limit)),
            Ok(()) => None,
        };
        let name = name(step);
        let mut fail = judged(step, error.as_ref());
        if number("max_ms").is_some_and(|most| ms > most) {
            fail.push(format!("took {ms} ms (max {})", step["max_ms"]));
        }
        self.record.change(|state| {
            let error = error.map(|error| {
                json!({"type": error.kind, "text": error.text, "exit_code": error.exit_code})
            });
            let done = json!({"step": name, "ms": ms, "error": error});
            state.steps.push(done);
            let fail = fail.into_iter().map(|fail| format!("{name}: {fail}"));
            state.fail.extend(fail);
        });
    }

    pub(crate) fn in_background(self: &Arc<Self>, name: &str, step: &Value) {
        let (done, wait) = channel();
        let (host, step) = (self.clone(), step.clone());
        std::thread::spawn(move || {
            host.timed(&step);
            // Nobody may have waited for it.
            let _ = done.send(());
        });
        locked(&self.background).insert(name.into(), wait);
    }

    pub(crate) fn join(&self, name: &str, left: Duration) -> Result<(), StepError> {
        let Some(wait) = locked(&self.background).remove(name) else {
            return Err(StepError::other(format!(
                "{name:?} is not in the background"
            )));
        };
        wait.recv_timeout(left)
            .map_err(|_| StepError::timeout(left.as_millis() as u64))
    }

    /// A case that did not close: the checks want a finished process.
    fn last_close(&self) {
        let talk = locked(&self.talk).take();
        if let Some(talk) = talk {
            if let Err(error) = talk.close(Instant::now() + LAST_CLOSE) {
                self.record
                    .change(|state| state.fail.push(format!("final close: {}", error.text)));
            }
        }
    }

    fn settle_callbacks(&self) {
        self.record
            .wait_until(NOTICE, |state| state.running.is_empty());
    }

    fn write(&self, out: &Path) -> Result<(), String> {
        let text = self.record.text().map_err(|error| error.to_string())?;
        std::fs::write(out, text).map_err(|error| format!("{}: {error}", out.display()))
    }
}

/// A step's name: the step without what it is judged by, cut.
fn name(step: &Value) -> String {
    let mut step = step.clone();
    if let Value::Object(members) = &mut step {
        members.retain(|key, _| !["error", "max_ms", "timeout_ms"].contains(&key.as_str()));
    }
    step.to_string().chars().take(100).collect()
}

/// What is wrong with how a step ended.
fn judged(step: &Value, error: Option<&StepError>) -> Vec<String> {
    let wanted = step.get("error").filter(|wanted| !wanted.is_null());
    let shown = |error: &StepError| {
        let text: String = error.text.chars().take(300).collect();
        format!("{}: {text}", error.kind)
    };
    let mut fail = Vec::new();
    match (error, wanted) {
        (None, None) => {}
        (None, Some(wanted)) => {
            if wanted != "optional" {
                fail.push("no error".into());
            }
        }
        (Some(error), None) => fail.push(format!("unexpected {}", shown(error))),
        (Some(error), Some(Value::Object(wanted))) => {
            let parts = |key: &str| {
                let parts = wanted.get(key).and_then(Value::as_array);
                parts.into_iter().flatten().filter_map(Value::as_str)
            };
            for part in parts("contains").filter(|part| !error.text.contains(part)) {
                fail.push(format!("error lacks {part:?}: {}", shown(error)));
            }
            for part in parts("lacks").filter(|part| error.text.contains(part)) {
                fail.push(format!("error has {part:?}: {}", shown(error)));
            }
            if let Some(code) = wanted.get("exit_code") {
                if json!(error.exit_code) != *code {
                    let has = error.exit_code;
                    fail.push(format!(
                        "exit code {has:?}, wanted {code} ({})",
                        shown(error)
                    ));
                }
            }
            if error.timed_out() {
                fail.push("hung instead of an error".into());
            }
        }
        (Some(error), Some(wanted)) => {
            if error.timed_out() && wanted == "any" {
                fail.push("hung instead of an error".into());
            }
        }
    }
    fail
}
