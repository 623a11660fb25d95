//! The verdict on a case, from the host's record and the fake CLI's log.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::matching::matches;
use crate::bytes::find;
use crate::json::{Json, NULL};
use crate::sys;

/// How long the CLI may outlive the host.
const AFTER_THE_END: Duration = Duration::from_secs(3);

/// What a case found wrong: what must hold and what should.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) must: Vec<String>,
    pub(super) should: Vec<String>,
}

/// The events of a log that begin with this name.
pub(super) fn events<'a>(log: &'a [Json], name: &'a str) -> impl Iterator<Item = &'a Json> {
    log.iter()
        .filter(move |event| event.get("ev").is_some_and(|ev| ev.is(name)))
}

/// The process that an event of the log is about.
pub(super) fn pid(event: &Json) -> Option<i32> {
    event
        .get("pid")
        .and_then(Json::as_f64)
        .map(|pid| pid as i32)
}

pub(super) fn check(case: &Json, record: Option<&Json>, log: &[Json], findings: &mut Findings) {
    let is_set = |key: &str| !matches!(case.get(key), None | Some(Json::Null | Json::Bool(false)));
    if let Some(record) = record {
        let failed = record.at(&["fail"]).items();
        findings.must.extend(failed.iter().map(Json::shown));
    }
    if !is_set("cli_may_fail") {
        for event in events(log, "fail") {
            let why = event.at(&["why"]).shown();
            findings.must.push(format!("fake CLI: {why}"));
        }
    }
    let Some(record) = record else { return };
    let seen = Seen::new(record, log);
    for wanted in case.at(&["expect"]).items() {
        if let Err(bad) = seen.expectation(wanted) {
            match wanted.get("level") {
                Some(level) if level.is("should") => findings.should.push(bad),
                _ => findings.must.push(bad),
            }
        }
    }
    if !is_set("orphan_ok") {
        let steps = case.at(&["host"]).items();
        let closes = !steps
            .iter()
            .any(|step| step.get("exit_without_close").is_some());
        for pid in events(log, "start").filter_map(pid) {
            findings.must.extend(left_over(pid, closes));
        }
    }
}

/// Waits for the process to go; what is wrong when it does not. A zombie is what a host that `closes`
/// has not waited for; one that was gone before could not, and then it is up to init.
fn left_over(pid: i32, closes: bool) -> Option<String> {
    let until = Instant::now() + AFTER_THE_END;
    while sys::is_running(pid) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    if sys::is_running(pid) {
        Some("the CLI process is still running after close".into())
    } else if closes && sys::is_zombie(pid) {
        Some("the CLI process is a zombie after close".into())
    } else {
        None
    }
}

/// Checks the value of an expectation's first key, with the whole expectation beside it.
type Expectation<'a> = fn(&Seen<'a>, &Json, &Json) -> Result<(), String>;

/// Whether a number keeps a limit.
type Limit = fn(f64, f64) -> bool;

struct Seen<'a> {
    record: &'a Json,
    log: &'a [Json],
    start: Option<&'a Json>,
    /// The text of all assistant messages.
    text: Vec<u8>,
}

impl<'a> Seen<'a> {
    fn new(record: &'a Json, log: &'a [Json]) -> Seen<'a> {
        let messages = record.at(&["messages"]).items().iter();
        let text = messages
            .filter(|message| message.at(&["type"]).is("assistant"))
            .filter_map(|message| message.get("text").and_then(Json::as_bytes))
            .collect::<Vec<_>>()
            .concat();
        Seen {
            record,
            log,
            start: events(log, "start").next(),
            text,
        }
    }

    fn expectation(&self, wanted: &Json) -> Result<(), String> {
        let known: &[(&str, Expectation<'a>)] = &[
            ("text", Seen::text),
            ("text_sha256", Seen::text_sha256),
            ("text_contains", Seen::text_contains),
            ("count", Seen::count),
            ("order", Seen::order),
            ("cli", Seen::cli),
            ("cli_argv_has", Seen::argv_has),
            ("cli_argv_lacks", Seen::argv_lacks),
            ("cli_argv_bytes_max", Seen::argv_bytes),
            ("cli_env", Seen::environment),
            ("calls", Seen::calls),
            ("callback_cancelled", Seen::cancelled),
            ("stderr_contains", Seen::stderr_contains),
            ("stderr_lines", Seen::stderr_lines),
            ("file_exists", Seen::file_exists),
            ("cpu_ms_max", Seen::cpu),
            ("no_loop_errors", Seen::no_loop_errors),
            ("values", Seen::values),
            ("no_children", Seen::no_children),
        ];
        for (name, expectation) in known {
            if let Some(value) = wanted.get(name) {
                return expectation(self, value, wanted);
            }
        }
        Err(format!("unknown expectation {}", wanted.shown()))
    }

    fn text(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        holds(wanted.as_bytes() == Some(&self.text), || {
            let text = Json::String(self.text.clone()).shown();
            format!("assistant text is {text}, wanted {}", wanted.shown())
        })
    }

    fn text_sha256(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let digest = Sha256::digest(&self.text);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        holds(wanted.is(&digest), || {
            format!("assistant text ({} bytes) differs", self.text.len())
        })
    }

    fn text_contains(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let part = wanted.as_bytes();
        let found = part.is_some_and(|part| find(&self.text, part).is_some());
        holds(found, || {
            let text = Json::String(self.text.clone()).shown();
            format!("assistant text lacks {}: {text}", wanted.shown())
        })
    }

    fn count(&self, wanted: &Json, limits: &Json) -> Result<(), String> {
        let messages = self.record.at(&["messages"]).items().iter();
        let n = messages.filter(|message| matches(wanted, message)).count();
        within(n, limits).map_err(|wants| {
            let wanted = wanted.shown();
            format!("{n} messages match {wanted}, wanted {wants}")
        })
    }

    /// Each part matches one message, in this order, and no other message matches any.
    fn order(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let parts = wanted.items();
        let messages = self.record.at(&["messages"]).items().iter();
        let found: Vec<usize> = messages
            .filter_map(|message| parts.iter().position(|part| matches(part, message)))
            .collect();
        let right = (0..parts.len()).collect::<Vec<_>>();
        holds(found == right, || {
            format!("{} came in the order {found:?}", wanted.shown())
        })
    }

    fn cli(&self, wanted: &Json, limits: &Json) -> Result<(), String> {
        let lines = events(self.log, "in").map(|event| event.at(&["line"]));
        let n = lines.filter(|line| matches(wanted, line)).count();
        within(n, limits).map_err(|wants| {
            let wanted = wanted.shown();
            format!("CLI got {n} lines matching {wanted}, wanted {wants}")
        })
    }

    fn argv(&self) -> &[Json] {
        self.start.map_or(&[], |start| start.at(&["argv"]).items())
    }

    fn argv_has(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        holds(self.argv().contains(wanted), || {
            format!("argv lacks {}", wanted.shown())
        })
    }

    fn argv_lacks(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let part = wanted.as_bytes().unwrap_or_default();
        let found = self.argv().iter().filter_map(Json::as_bytes);
        let found = found.filter(|argument| find(argument, part).is_some());
        holds(found.count() == 0, || {
            format!("argv has {}", wanted.shown())
        })
    }

    fn argv_bytes(&self, most: &Json, _: &Json) -> Result<(), String> {
        let bytes = self
            .start
            .and_then(|start| start.at(&["argv_bytes"]).as_f64());
        let fits = bytes.is_some_and(|bytes| Some(bytes) <= most.as_f64());
        holds(fits, || format!("argv has {bytes:?} bytes"))
    }

    fn environment(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let found = self.start.map_or(&NULL, |start| start.at(&["env"]));
        for (name, value) in wanted.fields() {
            let name = String::from_utf8_lossy(name);
            let is = found.get(&name).unwrap_or(&NULL);
            holds(is == value, || {
                let (is, value) = (is.shown(), value.shown());
                format!("environment {name}={is}, wanted {value}")
            })?;
        }
        Ok(())
    }

    fn calls(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        for (name, times) in wanted.fields() {
            let name = String::from_utf8_lossy(name);
            let ran = self.record.at(&["calls", &name]).as_f64().unwrap_or(0.0);
            holds(times.as_f64() == Some(ran), || {
                format!("{name} callback ran {ran} times, wanted {}", times.shown())
            })?;
        }
        Ok(())
    }

    fn cancelled(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let cancelled = self.record.at(&["cancelled"]);
        holds(matches(wanted, cancelled), || {
            let (is, wanted) = (cancelled.shown(), wanted.shown());
            format!("{is} callbacks cancelled, wanted {wanted}")
        })
    }

    fn stderr(&self) -> Vec<&[u8]> {
        let lines = self.record.at(&["stderr"]).items();
        lines.iter().filter_map(Json::as_bytes).collect()
    }

    fn stderr_contains(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let text = self.stderr().join(&b"\n"[..]);
        let part = wanted.as_bytes();
        let found = part.is_some_and(|part| find(&text, part).is_some());
        holds(found, || {
            format!("stderr callback lacks {}", wanted.shown())
        })
    }

    fn stderr_lines(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let lines = self.stderr().len();
        holds(wanted.as_f64() == Some(lines as f64), || {
            let wanted = wanted.shown();
            format!("stderr callback got {lines} lines, wanted {wanted}")
        })
    }

    fn file_exists(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let path = wanted.as_bytes().map(std::ffi::OsStr::from_bytes);
        let exists = path.is_some_and(|path| Path::new(path).exists());
        holds(exists, || format!("no file {}", wanted.shown()))
    }

    fn cpu(&self, most: &Json, _: &Json) -> Result<(), String> {
        let used = self.record.at(&["cpu_ms"]).as_f64();
        let fits = used.is_some_and(|used| Some(used) <= most.as_f64());
        holds(fits, || format!("host used {used:?} ms of CPU"))
    }

    fn no_loop_errors(&self, _: &Json, _: &Json) -> Result<(), String> {
        match self.record.at(&["loop_errors"]).items().first() {
            None => Ok(()),
            Some(error) => Err(format!("unhandled error in the host: {}", error.shown())),
        }
    }

    fn values(&self, wanted: &Json, _: &Json) -> Result<(), String> {
        let values = self.record.at(&["values"]).items();
        for (place, wanted) in wanted.items().iter().enumerate() {
            let found = values.get(place).unwrap_or(&NULL);
            let all = match wanted {
                Json::Array(wanted) => wanted.len() == found.items().len(),
                _ => true,
            };
            holds(all && matches(wanted, found), || {
                format!("value {place} is {}", found.shown())
            })?;
        }
        Ok(())
    }

    fn no_children(&self, _: &Json, _: &Json) -> Result<(), String> {
        let alive = events(self.log, "child").filter_map(pid);
        match alive.into_iter().find(|pid| sys::is_running(*pid)) {
            None => Ok(()),
            Some(pid) => Err(format!("grandchild {pid} is still alive")),
        }
    }
}

fn holds(good: bool, bad: impl FnOnce() -> String) -> Result<(), String> {
    if good {
        Ok(())
    } else {
        Err(bad())
    }
}

/// Whether `n` is what the expectation asks for; else what it asks for.
fn within(n: usize, limits: &Json) -> Result<(), String> {
    let n = n as f64;
    let limit = |key: &str| limits.get(key).and_then(Json::as_f64);
    let mut wants = Vec::new();
    let checks: [(&str, Limit); 3] = [
        ("eq", |n, limit| n == limit),
        ("ge", |n, limit| n >= limit),
        ("le", |n, limit| n <= limit),
    ];
    let mut good = true;
    for (name, check) in checks {
        if let Some(limit) = limit(name) {
            wants.push(format!("{name} {limit}"));
            good &= check(n, limit);
        }
    }
    holds(good && !wants.is_empty(), || wants.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    fn verdict(case: &str, record: &str, log: &[&str]) -> Findings {
        let log: Vec<Json> = log.iter().map(|line| json(line)).collect();
        let mut findings = Findings::default();
        check(&json(case), Some(&json(record)), &log, &mut findings);
        findings
    }

    const RECORD: &str = r#"{"messages":[{"type":"assistant","text":"ab"},{"type":"result","result":"r"}],
        "calls":{"hook":1},"cancelled":1,"stderr":["one","two"],"values":[[{"a":1}]],"cpu_ms":10,
        "loop_errors":["boom"]}"#;
    const START: &str = r#"{"ev":"start","argv":["--x=1"],"argv_bytes":6,"env":{"CASE_VAR":"v"}}"#;

    #[test]
    fn what_holds_and_what_does_not() {
        for (wanted, good) in [
            (r#"{"text":"ab"}"#, true),
            (r#"{"text":"a"}"#, false),
            (r#"{"text_contains":"b"}"#, true),
            (r#"{"text_contains":"c"}"#, false),
            (
                r#"{"text_sha256":"fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603"}"#,
                true,
            ),
            (r#"{"text_sha256":"00"}"#, false),
            (r#"{"count":{"type":"result","result":"r"},"eq":1}"#, true),
            (r#"{"count":{"type":"result"},"ge":2}"#, false),
            (r#"{"count":{"type":"result"},"le":0}"#, false),
            (r#"{"count":{"type":"result"}}"#, false),
            (
                r#"{"order":[{"type":"assistant"},{"type":"result"}]}"#,
                true,
            ),
            (
                r#"{"order":[{"type":"result"},{"type":"assistant"}]}"#,
                false,
            ),
            (r#"{"order":[{"type":"assistant"},{"type":"x"}]}"#, false),
            (r#"{"cli":{"type":"user"},"eq":1}"#, true),
            (r#"{"cli":{"type":"user"},"eq":0}"#, false),
            (r#"{"cli_argv_has":"--x=1"}"#, true),
            (r#"{"cli_argv_has":"--x"}"#, false),
            (r#"{"cli_argv_lacks":"--y"}"#, true),
            (r#"{"cli_argv_lacks":"x="}"#, false),
            (r#"{"cli_argv_bytes_max":6}"#, true),
            (r#"{"cli_argv_bytes_max":5}"#, false),
            (r#"{"cli_env":{"CASE_VAR":"v","CLAUDECODE":null}}"#, true),
            (r#"{"cli_env":{"CASE_VAR":null}}"#, false),
            (r#"{"calls":{"hook":1,"tool":0}}"#, true),
            (r#"{"calls":{"hook":2}}"#, false),
            (r#"{"callback_cancelled":1}"#, true),
            (r#"{"callback_cancelled":0}"#, false),
            (r#"{"stderr_contains":"tw"}"#, true),
            (r#"{"stderr_contains":"three"}"#, false),
            (r#"{"stderr_lines":2}"#, true),
            (r#"{"stderr_lines":1}"#, false),
            (r#"{"file_exists":"/"}"#, true),
            (r#"{"file_exists":"/no/such/file"}"#, false),
            (r#"{"cpu_ms_max":10}"#, true),
            (r#"{"cpu_ms_max":9}"#, false),
            (r#"{"no_loop_errors":true}"#, false),
            (r#"{"values":[[{"a":1}]]}"#, true),
            (r#"{"values":[[]]}"#, false),
            (r#"{"no_children":true}"#, true),
            (r#"{"something":true}"#, false),
        ] {
            let case = format!(r#"{{"expect":[{wanted}]}}"#);
            let log = [START, r#"{"ev":"in","line":{"type":"user"}}"#];
            let found = verdict(&case, RECORD, &log);
            assert_eq!(found.must.is_empty(), good, "{wanted}: {:?}", found.must);
        }
    }

    #[test]
    fn levels_and_failures_of_either_side() {
        let log = [r#"{"ev":"fail","why":"w"}"#];
        let record = r#"{"fail":["f"]}"#;
        let found = verdict(r#"{"expect":[]}"#, record, &log);
        assert_eq!(found.must, ["f", "fake CLI: w"]);
        let case = r#"{"cli_may_fail":true,"expect":[{"text":"x","level":"should"}]}"#;
        let found = verdict(case, "{}", &log);
        assert!(found.must.is_empty());
        assert_eq!(found.should.len(), 1);
    }

    #[test]
    fn a_process_that_stays_is_told() {
        let own = format!(r#"{{"ev":"start","pid":{}}}"#, std::process::id());
        let found = verdict(r#"{"expect":[]}"#, "{}", &[&own]);
        assert!(found.must[0].contains("still running"));
        let found = verdict(r#"{"expect":[],"orphan_ok":true}"#, "{}", &[&own]);
        assert!(found.must.is_empty());
    }

    #[test]
    fn a_zombie_is_told_when_the_host_could_have_waited() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        sys::wait_without_reaping(child.id());
        let start = format!(r#"{{"ev":"start","pid":{}}}"#, child.id());
        let found = verdict(r#"{"expect":[]}"#, "{}", &[&start]);
        assert_eq!(found.must, ["the CLI process is a zombie after close"]);
        let case = r#"{"expect":[],"host":[{"exit_without_close":true}]}"#;
        assert!(verdict(case, "{}", &[&start]).must.is_empty());
        child.wait().unwrap();
    }
}
