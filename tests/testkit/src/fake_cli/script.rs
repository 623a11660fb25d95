//! Runs a script, step by step.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::log::Log;
use super::matching::contains;
use super::output::{Output, Pieces};
use super::start::environment_value;
use super::stdin::{Next, Stdin};
use super::{control_response, STDERR, STDOUT};
use crate::bytes::{decode_base64, replace};
use crate::json::Json;
use crate::sys;

/// What ends a script before its end.
pub(super) enum Stop {
    /// Something the script expects does not hold.
    Fail(String),
    Io(io::Error),
    /// An `exit` step.
    Exit(i32),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Io(error)
    }
}

fn fail(why: impl Into<String>) -> Stop {
    Stop::Fail(why.into())
}

/// What happens when the script has ended and stdin ends.
#[derive(Clone)]
pub(super) enum OnEof {
    Exit,
    /// Lives on.
    Ignore,
    /// Takes that long, touches the file, then exits.
    Slow(Duration, Option<Json>),
}

pub(super) struct Runner {
    pub(super) log: Arc<Log>,
    pub(super) output: Arc<Output>,
    pub(super) stdin: Stdin,
    pub(super) on_eof: OnEof,
    pub(super) ignores_stdin: bool,
    /// Lines taken off stdin that no step has matched.
    waiting: Vec<Json>,
    /// Names that stand for request ids in the strings of later steps.
    saved: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Runner {
    pub(super) fn new(log: Arc<Log>, output: Arc<Output>, stdin: Stdin, ignores: bool) -> Self {
        Runner {
            log,
            output,
            stdin,
            on_eof: OnEof::Exit,
            ignores_stdin: ignores,
            waiting: Vec::new(),
            saved: vec![(b"rid".to_vec(), Vec::new())],
        }
    }

    /// `round` is the number of the repetition that `$i` stands for.
    pub(super) fn run(&mut self, steps: &[Json], round: Option<usize>) -> Result<(), Stop> {
        steps.iter().try_for_each(|step| self.step(step, round))
    }

    fn step(&mut self, step: &Json, round: Option<usize>) -> Result<(), Stop> {
        const NAMES: [&str; 28] = [
            "emit",
            "emit_ascii",
            "emit_raw",
            "emit_raw_b64",
            "emit_big",
            "emit_nested",
            "expect",
            "expect_next",
            "expect_none",
            "expect_eof",
            "answer",
            "answer_error",
            "sleep_ms",
            "stderr",
            "stderr_b64",
            "exit",
            "kill",
            "close_stdout",
            "close_stderr",
            "close_stdin",
            "ignore_stdin",
            "read_stdin",
            "ignore_signals",
            "on_eof",
            "spawn_child",
            "touch",
            "await_file",
            "log_env",
        ];
        let named = NAMES
            .iter()
            .find_map(|name| step.get(name).map(|argument| (*name, argument)));
        let Some((name, argument)) = named else {
            return self.repeat(step);
        };
        let filled = || self.fill(argument, round);
        let pieces = Pieces {
            length: number(step, "chunk").unwrap_or(0.0) as usize,
            pause: milliseconds(step, "delay_ms").unwrap_or_default(),
        };
        match name {
            "emit" => {
                let bytes = with_end(filled().compact(), step);
                self.output.write(&bytes, pieces)?;
            }
            "emit_ascii" => {
                let mut bytes = filled().ascii();
                bytes.push(b'\n');
                self.output.write(&bytes, pieces)?;
            }
            "emit_raw" => self.output.write(text(&filled())?, pieces)?,
            "emit_raw_b64" => self.output.write(&base64(argument)?, pieces)?,
            "emit_big" => {
                let fill = step.get("fill").and_then(Json::as_bytes).unwrap_or(b"x");
                let count = number(step, "bytes").unwrap_or(0.0) as usize;
                let line = replace(&filled().compact(), b"@FILL@", &fill.repeat(count));
                self.output.write(&with_end(line, step), pieces)?;
            }
            "emit_nested" => {
                let depth = number(step, "depth").unwrap_or(0.0) as usize;
                let nest = [b"[".repeat(depth), b"]".repeat(depth)].concat();
                let mut line = replace(&filled().compact(), br#""@NEST@""#, &nest);
                line.push(b'\n');
                self.output.write(&line, pieces)?;
            }
            "expect" | "expect_next" => {
                let wanted = filled();
                self.expect(step, &wanted, name == "expect_next")?;
            }
            "expect_none" => {
                let wanted = filled();
                let end = Instant::now() + milliseconds(step, "for_ms").unwrap_or_default();
                self.expect_none(&wanted, end)?;
            }
            "expect_eof" => {
                if !self.stdin.ended(Some(deadline(step))) {
                    return Err(fail("stdin was not ended"));
                }
            }
            "answer" => self.respond("success", "response", filled())?,
            "answer_error" => self.respond("error", "error", filled())?,
            "sleep_ms" => thread::sleep(milliseconds(step, "sleep_ms").unwrap_or_default()),
            "stderr" => {
                let times = number(step, "times").unwrap_or(1.0) as usize;
                sys::write_all(STDERR, &text(&filled())?.repeat(times))?;
            }
            "stderr_b64" => sys::write_all(STDERR, &base64(argument)?)?,
            "exit" => return Err(Stop::Exit(argument.as_f64().unwrap_or(0.0) as i32)),
            "kill" => {
                self.log.event("done", [("how", argument.clone())]);
                sys::die_of_signal(signal(argument)?)?;
                // A signal that only stops the process comes here when it goes on.
                thread::sleep(Duration::from_secs(5));
            }
            "close_stdout" => sys::close_standard(STDOUT)?,
            "close_stderr" => sys::close_standard(STDERR)?,
            "close_stdin" => self.stdin.close()?,
            "ignore_stdin" => {
                self.stdin.pause();
                self.ignores_stdin = true;
            }
            "read_stdin" => {
                self.stdin.resume();
                self.ignores_stdin = false;
            }
            "ignore_signals" => {
                for name in argument.items() {
                    sys::ignore_signal(signal(name)?)?;
                }
            }
            "on_eof" => self.on_eof = on_eof(step, argument)?,
            "spawn_child" => {
                let seconds = String::from_utf8_lossy(&argument.compact()).into_owned();
                let child = Command::new("sleep")
                    .arg(seconds)
                    .stdin(Stdio::null())
                    .spawn()?;
                let pid = Json::Number(child.id().to_string());
                self.log.event("child", [("pid", pid)]);
            }
            "touch" => touch(argument)?,
            "await_file" => await_file(argument, deadline(step))?,
            "log_env" => {
                let values = argument
                    .items()
                    .iter()
                    .filter_map(Json::as_bytes)
                    .map(|name| {
                        let value = std::env::var_os(String::from_utf8_lossy(name).as_ref());
                        (name.to_vec(), environment_value(value))
                    });
                let values = Json::Object(values.collect());
                self.log.event("env", [("env", values)]);
            }
            other => return Err(fail(format!("unknown step {other}"))),
        }
        Ok(())
    }

    fn repeat(&mut self, step: &Json) -> Result<(), Stop> {
        let Some(count) = number(step, "repeat") else {
            return Err(fail(format!("unknown step {}", excerpt(step))));
        };
        let steps = step.at(&["steps"]).items();
        (0..count as usize).try_for_each(|round| self.run(steps, Some(round)))
    }

    fn respond(&self, subtype: &str, key: &str, payload: Json) -> Result<(), Stop> {
        let id = Json::String(self.saved[0].1.clone());
        self.output
            .line(&control_response(subtype, id, key, payload))?;
        Ok(())
    }

    fn expect(&mut self, step: &Json, wanted: &Json, next: bool) -> Result<(), Stop> {
        let deadline = deadline(step);
        let mut looked_at = 0;
        loop {
            while let Some(line) = self.waiting.get(looked_at) {
                if contains(wanted, line) {
                    let line = self.waiting.remove(looked_at);
                    return self.matched(step, wanted, &line);
                }
                if next {
                    return Err(fail(format!(
                        "next line was {}, wanted {}",
                        excerpt(line),
                        excerpt(wanted)
                    )));
                }
                looked_at += 1;
            }
            match self.stdin.next(deadline) {
                Next::Line(line) => self.waiting.push(line),
                Next::Late => return Err(fail(format!("no line matched {}", excerpt(wanted)))),
                Next::Ended => {
                    return Err(fail(format!(
                        "stdin ended before a line matched {}",
                        excerpt(wanted)
                    )))
                }
            }
        }
    }

    fn matched(&mut self, step: &Json, wanted: &Json, line: &Json) -> Result<(), Stop> {
        if line.at(&["type"]).is("control_request") {
            let id = match line.get("request_id") {
                Some(Json::String(id)) => id.clone(),
                Some(id) => id.compact(),
                None => return Err(fail("the host sent a control_request without request_id")),
            };
            self.saved[0].1.clone_from(&id);
            if let Some(name) = step.get("save").and_then(Json::as_bytes) {
                self.saved.retain(|(saved, _)| saved != name);
                self.saved.push((name.to_vec(), id));
            }
        }
        self.log.event("matched", [("want", wanted.clone())]);
        Ok(())
    }

    fn expect_none(&mut self, wanted: &Json, end: Instant) -> Result<(), Stop> {
        let mut looked_at = 0;
        loop {
            while let Some(line) = self.waiting.get(looked_at) {
                if contains(wanted, line) {
                    return Err(fail(format!("unwanted line: {}", excerpt(line))));
                }
                looked_at += 1;
            }
            match self.stdin.next(end) {
                Next::Line(line) => self.waiting.push(line),
                Next::Late => return Ok(()),
                Next::Ended => {
                    thread::sleep(end.saturating_duration_since(Instant::now()));
                    return Ok(());
                }
            }
        }
    }

    /// The value with saved ids and the number of the round put into its strings.
    fn fill(&self, value: &Json, round: Option<usize>) -> Json {
        match value {
            Json::String(text) if text.contains(&b'$') => {
                let mut text = text.clone();
                for (name, id) in &self.saved {
                    text = replace(&text, &[b"$", name.as_slice()].concat(), id);
                }
                if let Some(round) = round {
                    text = replace(&text, b"$i", round.to_string().as_bytes());
                }
                Json::String(text)
            }
            Json::Array(items) => {
                Json::Array(items.iter().map(|item| self.fill(item, round)).collect())
            }
            Json::Object(fields) => Json::Object(
                fields
                    .iter()
                    .map(|(key, value)| (key.clone(), self.fill(value, round)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }
}

fn number(step: &Json, key: &str) -> Option<f64> {
    step.get(key).and_then(Json::as_f64)
}

fn milliseconds(step: &Json, key: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(number(step, key)? / 1000.0).ok()
}

fn deadline(step: &Json) -> Instant {
    Instant::now() + milliseconds(step, "timeout_ms").unwrap_or(Duration::from_secs(10))
}

fn text(value: &Json) -> Result<&[u8], Stop> {
    value
        .as_bytes()
        .ok_or_else(|| fail(format!("expected a string: {}", excerpt(value))))
}

fn base64(value: &Json) -> Result<Vec<u8>, Stop> {
    decode_base64(text(value)?).ok_or_else(|| fail("malformed base64"))
}

fn excerpt(value: &Json) -> String {
    String::from_utf8_lossy(&value.ascii())
        .chars()
        .take(300)
        .collect()
}

fn with_end(mut line: Vec<u8>, step: &Json) -> Vec<u8> {
    line.extend_from_slice(step.get("eol").and_then(Json::as_bytes).unwrap_or(b"\n"));
    line
}

fn signal(name: &Json) -> Result<libc::c_int, Stop> {
    let name = String::from_utf8_lossy(text(name)?);
    sys::signal_number(&name).ok_or_else(|| fail(format!("unknown signal {name}")))
}

fn on_eof(step: &Json, mode: &Json) -> Result<OnEof, Stop> {
    match mode.as_bytes() {
        Some(b"exit") => Ok(OnEof::Exit),
        Some(b"ignore") => Ok(OnEof::Ignore),
        Some(b"slow") => Ok(OnEof::Slow(
            milliseconds(step, "ms").unwrap_or_default(),
            step.get("touch").cloned(),
        )),
        _ => Err(fail(format!("unknown step {}", excerpt(step)))),
    }
}

pub(super) fn touch(path: &Json) -> Result<(), Stop> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::OsStr::from_bytes(text(path)?);
    File::create(path)?;
    Ok(())
}

/// Looks for a file that another process makes.
fn await_file(path: &Json, deadline: Instant) -> Result<(), Stop> {
    use std::os::unix::ffi::OsStrExt;
    let file = Path::new(std::ffi::OsStr::from_bytes(text(path)?));
    while !file.exists() {
        if Instant::now() >= deadline {
            return Err(fail(format!("{} was not made", file.display())));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Whether some step, at any depth, expects an `initialize` request itself.
pub(super) fn expects_initialize(steps: &[Json]) -> bool {
    steps.iter().any(|step| {
        ["expect", "expect_next"]
            .iter()
            .any(|key| step.at(&[key, "request", "subtype"]).is("initialize"))
            || expects_initialize(step.at(&["steps"]).items())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_initialize_step_is_found_at_any_depth() {
        let steps = |text: &str| Json::parse(text.as_bytes()).unwrap();
        let nested = steps(
            r#"[{"emit":1},{"repeat":2,"steps":[{"expect_next":{"request":{"subtype":"initialize"}}}]}]"#,
        );
        assert!(expects_initialize(nested.items()));
        let other = steps(r#"[{"expect":{"request":{"subtype":"interrupt"}}},{"expect":1}]"#);
        assert!(!expects_initialize(other.items()));
    }
}
