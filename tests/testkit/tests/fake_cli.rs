//! Every step of the fake CLI, seen from the host.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use serde_json::{json, Value};
use tempfile::TempDir;

const FAKE_CLI: &str = env!("CARGO_BIN_EXE_fake-cli");

struct Fake {
    folder: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<Box<dyn Read>>,
}

impl Fake {
    /// `script` as JSON text, so that it can hold what a decoder would change.
    fn start(script: &str) -> Self {
        Fake::start_with(script, |_| ())
    }

    fn start_with(script: &str, configure: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        fs::write(&path, script).unwrap();
        let mut command = Command::new(FAKE_CLI);
        command
            .env("FAKE_CLI_SCRIPT", &path)
            .env("FAKE_CLI_LOG", folder.path().join("log"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        configure(&mut command);
        let mut child = command.spawn().unwrap();
        Fake {
            stdin: child.stdin.take(),
            stdout: BufReader::new(Box::new(child.stdout.take().unwrap())),
            folder,
            child,
        }
    }

    fn bench(mode: &str) -> Self {
        Fake::start_with("[]", |command| {
            command.env("FAKE_CLI_BENCH", mode);
        })
    }

    fn send(&mut self, line: impl std::fmt::Display) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn user(&mut self, text: &str) {
        self.send(json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    fn initialize(&mut self, more: Value) -> Value {
        let mut request = json!({"subtype": "initialize"});
        request
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.send(json!({"type": "control_request", "request_id": "i", "request": request}));
        self.message()
    }

    fn line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        self.stdout.read_until(b'\n', &mut line).unwrap();
        line
    }

    fn message(&mut self) -> Value {
        serde_json::from_slice(&self.line()).unwrap()
    }

    /// Ends stdin; returns the rest of stdout, stderr and how the process ended.
    fn end(mut self) -> Ended {
        self.stdin = None;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.stdout.read_to_end(&mut stdout).unwrap();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_end(&mut stderr)
            .unwrap();
        let status = self.child.wait().unwrap();
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        Ended {
            stdout,
            stderr,
            status,
            log: log
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            _folder: std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap()),
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Ended {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: ExitStatus,
    log: Vec<Value>,
    _folder: TempDir,
}

impl Ended {
    fn events(&self) -> Vec<&str> {
        self.log
            .iter()
            .map(|event| event["ev"].as_str().unwrap())
            .collect()
    }

    fn failure(&self) -> &str {
        let failure = self.log.iter().find(|event| event["ev"] == "fail");
        failure.expect("a failure in the log")["why"]
            .as_str()
            .unwrap()
    }
}

fn run(script: &str) -> Ended {
    Fake::start(script).end()
}

#[test]
fn it_tells_its_version() {
    for flag in ["-v", "--version"] {
        let output = Command::new(FAKE_CLI).arg(flag).output().unwrap();
        assert_eq!(output.stdout, b"2.1.332 (Claude Code)\n");
    }
}

#[test]
fn it_writes_exactly_what_the_script_says() {
    for (step, bytes) in [
        (
            r#"{"emit": {"b": 1.50, "a": "é\ud83d\n"}}"#,
            &b"{\"b\":1.50,\"a\":\"\xc3\xa9\xed\xa0\xbd\\n\"}\n"[..],
        ),
        (r#"{"emit": [], "eol": "\r\n"}"#, b"[]\r\n"),
        (
            r#"{"emit": {"a": "xyz"}, "chunk": 2, "delay_ms": 1}"#,
            b"{\"a\":\"xyz\"}\n",
        ),
        (
            r#"{"emit_ascii": "é\ud83d\ude00\udc00"}"#,
            b"\"\\u00e9\\ud83d\\ude00\\udc00\"\n",
        ),
        (
            r#"{"emit_raw": "no end, {\u2028"}"#,
            "no end, {\u{2028}".as_bytes(),
        ),
        (r#"{"emit_raw_b64": "/wA="}"#, b"\xff\0"),
        (r#"{"emit_big": ["@FILL@"], "bytes": 3}"#, b"[\"xxx\"]\n"),
        (
            r#"{"emit_big": ["@FILL@"], "bytes": 2, "fill": "é", "eol": ""}"#,
            "[\"éé\"]".as_bytes(),
        ),
        (
            r#"{"emit_nested": {"a": "@NEST@"}, "depth": 3}"#,
            b"{\"a\":[[[]]]}\n",
        ),
        (r#"{"repeat": 2, "steps": [{"emit_raw": "$i,"}]}"#, b"0,1,"),
    ] {
        let ended = run(&format!("[{step}]"));
        assert_eq!(ended.stdout, bytes, "{step}");
        assert_eq!(ended.status.code(), Some(0));
        let mut events = ended.events();
        events.sort_unstable();
        assert_eq!(events, ["done", "eof", "start"], "{step}");
    }
}

#[test]
fn it_answers_initialize_unless_the_script_does() {
    let mut fake = Fake::start(r#"{"cli_script": []}"#);
    let reply = fake.initialize(json!({}));
    assert_eq!(reply["response"]["request_id"], "i");
    assert_eq!(reply["response"]["response"]["pid"], fake.child.id());
    assert_eq!(fake.end().status.code(), Some(0));

    let script = r#"[{"expect": {"request": {"subtype": "initialize"}}}, {"answer_error": "no"}]"#;
    let mut fake = Fake::start(script);
    let reply = fake.initialize(json!({}));
    assert_eq!(
        reply,
        json!({"type": "control_response",
            "response": {"subtype": "error", "request_id": "i", "error": "no"}})
    );
}

#[test]
fn lines_wait_until_a_step_takes_them() {
    let mut fake = Fake::start(
        r#"[{"expect": {"type": "control_request", "request": {"subtype": "b"}}, "save": "1"},
            {"answer": {"first": "$rid"}},
            {"expect": {"request": {"subtype": "a"}}}, {"answer": {"was": "$1", "is": "$rid"}},
            {"expect_next": {"type": "user", "message": {"content": {"$contains": "ell"}}}}]"#,
    );
    for (id, subtype) in [("id-a", "a"), ("id-b", "b")] {
        fake.send(
            json!({"type": "control_request", "request_id": id, "request": {"subtype": subtype}}),
        );
    }
    fake.user("hello");
    assert_eq!(
        fake.message()["response"]["response"],
        json!({"first": "id-b"})
    );
    assert_eq!(
        fake.message()["response"],
        json!({"subtype": "success", "request_id": "id-a", "response": {"was": "id-b", "is": "id-a"}})
    );
    let ended = fake.end();
    assert_eq!(ended.status.code(), Some(0));
    let matched = ended
        .events()
        .iter()
        .filter(|event| **event == "matched")
        .count();
    assert_eq!(matched, 3);
}

#[test]
fn an_expectation_that_does_not_hold_ends_it_with_97() {
    type Host = fn(&mut Fake);
    let nothing: Host = |_| ();
    let user: Host = |fake| fake.user("x");
    for (step, host, ends_stdin, why) in [
        (
            r#"{"expect": {"type": "x"}, "timeout_ms": 20}"#,
            user,
            false,
            "no line matched",
        ),
        (
            r#"{"expect": {"type": "x"}}"#,
            user,
            true,
            "stdin ended before",
        ),
        (
            r#"{"expect_next": {"type": "x"}}"#,
            user,
            false,
            "next line was",
        ),
        (
            r#"{"expect_none": {"type": "user"}, "for_ms": 10000}"#,
            user,
            false,
            "unwanted line",
        ),
        (
            r#"{"expect_eof": true, "timeout_ms": 20}"#,
            nothing,
            false,
            "stdin was not ended",
        ),
        (r#"{"no_such_step": 1}"#, nothing, true, "unknown step"),
        (r#"{"kill": "SIGNONE"}"#, nothing, true, "unknown signal"),
    ] {
        let mut fake = Fake::start(&format!("[{step}]"));
        host(&mut fake);
        if !ends_stdin {
            assert_eq!(fake.child.wait().unwrap().code(), Some(97), "{step}");
        }
        let ended = fake.end();
        assert_eq!(ended.status.code(), Some(97), "{step}");
        assert!(ended.failure().contains(why), "{step}: {}", ended.failure());
    }
}

#[test]
fn expectations_that_hold_let_it_go_on() {
    let mut fake = Fake::start(
        r#"[{"expect_none": {"type": "x"}, "for_ms": 20}, {"emit": 1}, {"expect_eof": true}, {"emit": 2}]"#,
    );
    fake.user("kept for nobody");
    assert_eq!(fake.line(), b"1\n");
    let ended = fake.end();
    assert_eq!(ended.stdout, b"2\n");
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn what_the_host_must_not_write_is_a_failure_in_the_log() {
    let mut fake = Fake::start("[]");
    for line in ["not json", "[1]", "", "  ", r#"{"ok": 1}"#] {
        fake.send(line);
    }
    write!(fake.stdin.as_mut().unwrap(), "{{\"unfinished\"").unwrap();
    let ended = fake.end();
    let mut seen = ended.events();
    // The script has ended at once, before or after the lines came.
    seen.retain(|event| *event != "done");
    assert_eq!(
        seen,
        [
            "start",
            "fail",
            "fail",
            "blank_line",
            "blank_line",
            "in",
            "fail",
            "eof"
        ]
    );
    let reasons: Vec<&str> = ended
        .log
        .iter()
        .filter_map(|event| event["why"].as_str())
        .collect();
    assert!(reasons[0].contains("not JSON") && reasons[1].contains("not an object"));
    assert!(reasons[2].contains("unfinished"));
}

#[test]
fn a_lone_surrogate_of_the_host_is_matched_and_logged() {
    let mut fake = Fake::start(r#"[{"expect": {"a": "\ud83d"}}]"#);
    fake.send(r#"{"a": "\ud83d"}"#);
    fake.stdin = None;
    assert_eq!(fake.child.wait().unwrap().code(), Some(0));
    let log = fs::read_to_string(fake.folder.path().join("log")).unwrap();
    assert!(log.contains(r#""line":{"a":"\ud83d"}"#), "{log}");
}

#[test]
fn the_log_has_what_a_case_checks() {
    let fake = Fake::start_with(r#"[{"log_env": ["CASE_VAR", "NOT_SET"]}]"#, |command| {
        command
            .args(["--model", "é"])
            .env("CASE_VAR", "v")
            .env_remove("CLAUDECODE");
    });
    let pid = fake.child.id();
    let ended = fake.end();
    let start = &ended.log[0];
    assert_eq!(start["argv"], json!(["--model", "é"]));
    assert_eq!(start["argv_bytes"], 8 + 3);
    assert_eq!(start["pid"], pid);
    assert_eq!(start["ppid"], std::process::id());
    assert_eq!(start["env"]["CASE_VAR"], "v");
    assert!(start["env"].get("CLAUDECODE").is_none());
    assert!(start["cwd"].is_string() && start["pgid"].is_number() && start["t"].is_number());
    let env = ended.log.iter().find(|event| event["ev"] == "env").unwrap();
    assert_eq!(env["env"], json!({"CASE_VAR": "v", "NOT_SET": null}));
}

#[test]
fn a_long_line_is_logged_by_its_length() {
    let mut fake = Fake::start(r#"[{"expect": {"message": {"content": {"$len": 300000}}}}]"#);
    fake.user(&"é".repeat(300_000));
    let ended = fake.end();
    assert_eq!(ended.status.code(), Some(0));
    let line = &ended.log.iter().find(|event| event["ev"] == "in").unwrap()["line"];
    assert_eq!(line["type"], "user");
    assert!(line["_bytes"].as_u64().unwrap() > 300_000);
}

#[test]
fn stderr_and_the_exit_status_are_the_scripts() {
    let ended =
        run(r#"[{"stderr": "ab", "times": 2}, {"stderr_b64": "/w=="}, {"exit": 3}, {"emit": 1}]"#);
    assert_eq!(ended.stderr, b"abab\xff");
    assert_eq!(ended.status.code(), Some(3));
    assert_eq!(ended.stdout, b"");
    assert_eq!(ended.log.last().unwrap()["how"], "exit 3");
}

#[test]
fn a_signal_ends_it_even_when_it_was_ignored() {
    for (name, number) in [("SIGTERM", 15), ("SIGKILL", 9), ("SIGPIPE", 13)] {
        let ended = run(&format!(
            r#"[{{"ignore_signals": ["SIGTERM"]}}, {{"kill": "{name}"}}]"#
        ));
        assert_eq!(ended.status.signal(), Some(number), "{name}");
    }
}

#[test]
fn ignored_signals_do_not_end_it() {
    let mut fake = Fake::start(r#"[{"ignore_signals": ["SIGTERM", "SIGINT"]}, {"emit": 1}]"#);
    assert_eq!(fake.line(), b"1\n");
    for name in ["TERM", "INT"] {
        let pid = fake.child.id().to_string();
        assert!(Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap()
            .success());
    }
    assert_eq!(fake.end().status.code(), Some(0));
}

#[test]
fn closed_descriptors_reach_the_host() {
    let mut fake = Fake::start(r#"[{"close_stdout": true}, {"close_stderr": true}]"#);
    assert_eq!(fake.line(), b"", "the end of stdout");
    assert_eq!(fake.end().status.code(), Some(0));

    let mut fake = Fake::start(r#"[{"close_stdin": true}, {"emit": 1}, {"on_eof": "ignore"}]"#);
    assert_eq!(fake.line(), b"1\n");
    // More than a pipe holds, as another test's child may have the other end for a moment.
    let error = fake
        .stdin
        .as_mut()
        .unwrap()
        .write_all(&[b'x'; 1_000_000])
        .unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);

    let ended = run(r#"[{"close_stdout": true}, {"emit": 1}]"#);
    assert_eq!(ended.status.code(), Some(98));
}

#[test]
fn a_host_that_closes_stdout_is_waited_for() {
    // More than a pipe holds: a child that another test is just starting may have it open for a moment.
    let mut fake = Fake::start(
        r#"[{"expect": {"type": "user"}}, {"emit_big": "@FILL@", "bytes": 1000000}, {"exit": 5}]"#,
    );
    fake.stdout = BufReader::new(Box::new(std::io::empty()));
    fake.user("x");
    let ended = fake.end();
    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.events().contains(&"host_closed_stdout"));
}

#[test]
fn stdin_is_not_read_while_the_script_ignores_it() {
    let mut fake = Fake::start(
        r#"[{"ignore_stdin": true}, {"expect_none": {"type": "user"}, "for_ms": 50}, {"emit": 1},
            {"read_stdin": true}, {"expect": {"type": "user"}}, {"emit": 2}]"#,
    );
    fake.user("x");
    assert_eq!(fake.line(), b"1\n");
    assert_eq!(fake.line(), b"2\n");
    assert_eq!(fake.end().status.code(), Some(0));
}

#[test]
fn reading_can_be_stopped_in_the_middle() {
    let mut fake = Fake::start(
        r#"[{"expect": {"n": 1}}, {"ignore_stdin": true}, {"emit": 1}, {"expect_none": {"n": 2}, "for_ms": 50},
            {"read_stdin": true}, {"expect": {"n": 2}}]"#,
    );
    fake.send(json!({"n": 1}));
    assert_eq!(fake.line(), b"1\n");
    fake.send(json!({"n": 2}));
    assert_eq!(fake.end().status.code(), Some(0));
}

#[test]
fn it_lives_on_when_the_script_says_so() {
    for script in [
        r#"[{"on_eof": "ignore"}, {"emit": 1}]"#,
        r#"[{"ignore_stdin": true}, {"emit": 1}]"#,
    ] {
        let mut fake = Fake::start(script);
        assert_eq!(fake.line(), b"1\n");
        fake.stdin = None;
        let pid = fake.child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        let status = fake.child.wait().unwrap();
        assert_eq!(
            status.signal(),
            Some(15),
            "{script}: only the signal ended it"
        );
    }
}

#[test]
fn a_slow_exit_leaves_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("left");
    let script = json!([{"on_eof": "slow", "ms": 5, "touch": file}]);
    let ended = run(&script.to_string());
    assert_eq!(ended.status.code(), Some(0));
    assert!(file.exists());
    assert_eq!(*ended.events().last().unwrap(), "slow_exit_done");
}

#[test]
fn files_are_touched_and_children_are_started() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("touched");
    let script = json!([{"touch": file}, {"spawn_child": 0.01}, {"sleep_ms": 1}]);
    let ended = run(&script.to_string());
    assert!(file.exists());
    let child = ended
        .log
        .iter()
        .find(|event| event["ev"] == "child")
        .unwrap();
    assert!(child["pid"].as_u64().unwrap() > 1);
}

#[test]
fn a_script_that_cannot_be_used_is_named() {
    let output = Command::new(FAKE_CLI)
        .env_remove("FAKE_CLI_SCRIPT")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(98));
    assert!(String::from_utf8_lossy(&output.stderr).contains("FAKE_CLI_SCRIPT"));
    for script in ["{", "{}", "3"] {
        let ended = run(script);
        assert_eq!(ended.status.code(), Some(98));
        assert!(String::from_utf8_lossy(&ended.stderr).contains("script.json"));
    }
}

/// The script of every case can be read.
#[test]
fn every_case_has_a_script() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("vectors");
    let mut cases = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        cases += 1;
        // With no host most scripts soon fail, with another status than one that cannot be read.
        let output = Command::new(FAKE_CLI)
            .env("FAKE_CLI_SCRIPT", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("fake-cli:"), "{path:?}: {said}");
    }
    assert_eq!(cases, 84);
}

#[test]
fn a_benchmark_streams_lines_and_a_result_a_turn() {
    let mut fake = Fake::bench("stream:1000");
    assert_eq!(fake.initialize(json!({}))["response"]["subtype"], "success");
    for _ in 0..2 {
        fake.user("go");
        let mut lengths = 0;
        for number in 0..1000 {
            let line = fake.line();
            lengths += line.len();
            let message: Value = serde_json::from_slice(&line).unwrap();
            assert_eq!(
                message["event"]["delta"]["text"],
                format!("token {number:012} ")
            );
        }
        assert!((280..330).contains(&(lengths / 1000)));
        assert_eq!(fake.message()["type"], "result");
    }
    assert_eq!(fake.end().status.code(), Some(0));
}

/// Answers `count` requests, each of which must only come after the answer to the one before.
fn answer_requests(fake: &mut Fake, count: usize, check: impl Fn(&Value), payload: &Value) {
    let mut ids = std::collections::HashSet::new();
    for _ in 0..count {
        let request = fake.message();
        assert_eq!(request["type"], "control_request");
        check(&request["request"]);
        assert_eq!(fake.stdout.buffer().len(), 0, "one at a time");
        let id = request["request_id"].as_str().unwrap();
        assert!(ids.insert(id.to_owned()));
        fake.send(json!({"type": "control_response",
            "response": {"subtype": "success", "request_id": id, "response": payload}}));
    }
    assert_eq!(fake.message()["type"], "result");
}

#[test]
fn a_benchmark_asks_for_permission_one_call_after_another() {
    let mut fake = Fake::bench("permission:5");
    fake.initialize(json!({}));
    fake.user("go");
    let asked = |request: &Value| {
        assert_eq!(request["subtype"], "can_use_tool");
        assert!(request["tool_use_id"]
            .as_str()
            .unwrap()
            .starts_with("toolu_bench-"));
    };
    answer_requests(
        &mut fake,
        5,
        asked,
        &json!({"behavior": "allow", "updatedInput": {}}),
    );
    assert_eq!(fake.end().status.code(), Some(0));
}

#[test]
fn a_benchmark_answers_what_the_host_asks_meanwhile() {
    let mut fake = Fake::bench("permission:1");
    fake.initialize(json!({}));
    fake.user("go");
    let request = fake.message();
    fake.send(
        json!({"type": "control_request", "request_id": "h", "request": {"subtype": "mcp_status"}}),
    );
    assert_eq!(fake.message()["response"]["request_id"], "h");
    let id = request["request_id"].clone();
    fake.send(json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "no"}}));
    assert_eq!(fake.message()["type"], "result");
}

#[test]
fn a_benchmark_calls_the_hook_that_is_registered() {
    let mut fake = Fake::bench("hook:3");
    fake.initialize(
        json!({"hooks": {"PostToolUse": [{"matcher": null, "hookCallbackIds": ["cb-7"]}]}}),
    );
    fake.user("go");
    let called = |request: &Value| {
        assert_eq!(request["callback_id"], "cb-7");
        assert_eq!(request["input"]["hook_event_name"], "PostToolUse");
    };
    answer_requests(&mut fake, 3, called, &json!({}));
}

#[test]
fn a_benchmark_shakes_hands_with_a_tool_server_and_calls_its_tool() {
    let mut fake = Fake::start_with("[]", |command| {
        command
            .env("FAKE_CLI_BENCH", "tool:3")
            .env("FAKE_CLI_BENCH_ARGUMENTS", r#"{"a": 1}"#)
            .arg(r#"--mcp-config={"mcpServers":{"out":{"type":"stdio"},"calc":{"type":"sdk"}}}"#);
    });
    fake.initialize(json!({}));
    // A prompt may come before the handshake is over.
    fake.user("go");
    for (method, result) in [
        ("initialize", json!({"capabilities": {"tools": {}}})),
        ("notifications/initialized", json!({})),
        (
            "tools/list",
            json!({"tools": [{"inputSchema": {"name": "no"}, "name": "add"}]}),
        ),
    ] {
        let request = fake.message();
        assert_eq!(request["request"]["server_name"], "calc");
        assert_eq!(request["request"]["message"]["method"], method);
        let payload = json!({"mcp_response": {"jsonrpc": "2.0", "id": 0, "result": result}});
        fake.send(json!({"type": "control_response", "response":
            {"subtype": "success", "request_id": request["request_id"], "response": payload}}));
    }
    let called = |request: &Value| {
        let params = &request["message"]["params"];
        assert_eq!(
            (&params["name"], &params["arguments"]),
            (&json!("add"), &json!({"a": 1}))
        );
    };
    answer_requests(&mut fake, 3, called, &json!({"mcp_response": {}}));
    assert_eq!(fake.end().status.code(), Some(0));
}

#[test]
fn a_benchmark_that_cannot_run_says_why() {
    for (mode, request, why) in [
        ("fast", json!({}), "expected stream:N"),
        ("hook:1", json!({}), "registers no hook"),
        ("tool:1", json!({}), "no in-process MCP server"),
    ] {
        let mut fake = Fake::bench(mode);
        if mode != "fast" {
            fake.initialize(request);
        }
        let ended = fake.end();
        assert_eq!(ended.status.code(), Some(98));
        assert!(
            String::from_utf8_lossy(&ended.stderr).contains(why),
            "{mode}"
        );
    }
}
