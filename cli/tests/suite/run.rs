//! `towline run` with a scripted CLI.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::support::{Ran, Tree};
use rustix::process::{kill_process, Pid, Signal};
use rustix::pty::{grantpt, openpt, ptsname, unlockpt, OpenptFlags};
use serde_json::{json, Value};
use towline_testkit::Program;

/// A tree with a script for the CLI.
struct Stage {
    tree: Tree,
    directory: PathBuf,
}

fn piece(text: &str) -> Value {
    let delta = json!({"type": "text_delta", "text": text});
    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn event(event: Value) -> Value {
    json!({"emit": {
        "type": "stream_event", "event": event, "parent_tool_use_id": null,
        "session_id": "s", "uuid": "u",
    }})
}

fn assistant(content: Value) -> Value {
    json!({"emit": {
        "type": "assistant", "message": {"id": "m", "role": "assistant", "content": content},
        "parent_tool_use_id": null, "session_id": "s", "uuid": "u",
    }})
}

/// The result of the turn, and the rest that lets the host end.
fn result(more: Value) -> [Value; 2] {
    let mut result = json!({
        "type": "result", "subtype": "success", "is_error": false, "result": "x", "session_id": "the-session",
        "duration_ms": 1500, "total_cost_usd": 0.0125,
        "usage": {"input_tokens": 1000, "output_tokens": 20, "cache_read_input_tokens": 500},
    });
    for (name, value) in more.as_object().unwrap() {
        result[name] = value.clone();
    }
    let idle = json!({"type": "system", "subtype": "session_state_changed", "state": "idle", "session_id": "s"});
    [json!({"emit": result}), json!({"emit": idle})]
}

fn permission(tool: &str, input: Value, more: Value) -> Value {
    let mut request = json!({
        "subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "t",
    });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    json!({"emit": {"type": "control_request", "request_id": "p", "request": request}})
}

fn answer(response: Value) -> Value {
    json!({"expect": {"type": "control_response", "response": {"request_id": "p", "response": response}}})
}

impl Stage {
    fn new(steps: &[Value]) -> Stage {
        let tree = Tree::new();
        let directory = tree.directory("d");
        fs::write(tree.path("script.json"), json!(steps).to_string()).unwrap();
        Stage { tree, directory }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let cli = Program::FakeCli.locate().unwrap();
        let mut all = vec!["run", "--cli-path", cli.to_str().unwrap()];
        all.extend(arguments);
        let mut command = self.tree.command(&self.directory, &all);
        command
            .env("FAKE_CLI_SCRIPT", self.tree.path("script.json"))
            .env("FAKE_CLI_LOG", self.tree.path("log.jsonl"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let ran = Ran::of(self.command(arguments).output().unwrap());
        self.check(&ran);
        ran
    }

    /// The script has to have come to its end without a failed expectation.
    #[track_caller]
    fn check(&self, ran: &Ran) {
        let log = self.log();
        assert!(!log.contains(r#""ev":"fail""#), "{ran:?}\n{log}");
    }

    fn log(&self) -> String {
        fs::read_to_string(self.tree.path("log.jsonl")).unwrap_or_default()
    }

    fn argv(&self) -> Vec<String> {
        let log = self.log();
        let start = log.lines().next().expect("the CLI has started");
        let start: Value = serde_json::from_str(start).unwrap();
        let argv = start["argv"].as_array().unwrap().iter();
        argv.map(|word| word.as_str().unwrap().to_owned()).collect()
    }
}

fn prompted(text: &str) -> Value {
    json!({"expect": {"type": "user", "message": {"content": text}}})
}

#[test]
fn the_answer_is_streamed_and_the_rest_told_beside_it() {
    let mut steps = vec![
        prompted("hi"),
        event(json!({"type": "message_start", "message": {}})),
        piece("Hel"),
        piece("lo"),
        event(json!({"type": "content_block_stop", "index": 0})),
        assistant(json!([{"type": "text", "text": "Hello"}])),
        assistant(
            json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls\u{1b}[31m -l"}}]),
        ),
        json!({"emit": {
            "type": "user", "parent_tool_use_id": null, "session_id": "s",
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "no\nsuch file"},
            ]},
        }}),
        event(json!({"type": "message_start", "message": {}})),
        assistant(json!([{"type": "text", "text": "whole"}])),
        json!({"emit": {
            "type": "assistant", "parent_tool_use_id": "t", "session_id": "s",
            "message": {"id": "n", "role": "assistant", "content": [{"type": "text", "text": "a subagent's"}]},
        }}),
    ];
    steps.extend(result(json!({})));
    let stage = Stage::new(&steps);
    let ran = stage.run(&[
        "--model",
        "opus",
        "--max-turns",
        "3",
        "--system-prompt",
        "Be \"brief\"",
        "hi",
    ]);
    assert_eq!(ran.stdout, "Hello\nwhole\n", "{ran:?}");
    assert_eq!(
        ran.stderr,
        "● Bash ls -l\n  ✗ no such file\n1.5 s · 1,500 tokens in, 20 out · $0.0125 · session the-session\n"
    );
    assert_eq!(ran.status, 0);
    let argv = stage.argv();
    for option in ["--model=opus", "--max-turns=3"] {
        assert!(argv.iter().any(|word| word == option), "{argv:?}");
    }
    let quiet = stage.run(&["--quiet", "hi"]);
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("Hello\nwhole\n", "")
    );
}

#[test]
fn messages_are_printed_as_they_come() {
    let mut steps = vec![
        prompted("a\nb\n"),
        assistant(json!([{"type": "text", "text": "x"}])),
    ];
    steps.extend(result(json!({})));
    let stage = Stage::new(&steps);
    let mut child = stage
        .command(&["--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a\nb\n").unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    stage.check(&ran);
    let kinds: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone())
        .collect();
    assert_eq!(kinds, ["assistant", "result", "system"], "{ran:?}");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert!(!stage
        .argv()
        .contains(&"--include-partial-messages".to_owned()));
}

#[test]
fn what_nobody_can_be_asked_about_is_denied() {
    let mut steps = vec![
        prompted("hi"),
        permission("Bash", json!({"command": "ls"}), json!({})),
        answer(json!({"behavior": "deny"})),
    ];
    steps.extend(result(json!({})));
    let ran = Stage::new(&steps).run(&["hi"]);
    assert!(
        ran.stderr.contains("Bash ls: not allowed") && ran.stderr.contains("--allow Bash"),
        "{ran:?}"
    );
    assert_eq!(ran.status, 0);
}

#[test]
fn an_error_result_is_a_failure() {
    for (more, told) in [
        (
            json!({"is_error": true, "result": "API Error: 400"}),
            "towline: API Error: 400\n",
        ),
        (
            json!({"subtype": "error_max_turns", "is_error": true, "result": "", "errors": ["Reached 1"]}),
            "towline: Reached 1 (--max-turns)\n",
        ),
        (
            json!({"subtype": "error_during_execution", "is_error": true, "result": null}),
            "error during execution",
        ),
    ] {
        let mut steps = vec![prompted("hi")];
        steps.extend(result(more));
        let ran = Stage::new(&steps).run(&["hi"]);
        assert!(ran.stderr.contains(told), "{ran:?}");
        assert_eq!(ran.status, 1);
    }
    let gone = Stage::new(&[
        prompted("hi"),
        json!({"stderr": "out of memory\n"}),
        json!({"exit": 3}),
    ])
    .run(&["hi"]);
    assert!(
        gone.stderr.contains("out of memory") && gone.status == 1,
        "{gone:?}"
    );
    let silent = Stage::new(&[prompted("hi"), json!({"exit": 0})]).run(&["hi"]);
    assert!(
        silent.stderr.contains("without a result") && silent.status == 1,
        "{silent:?}"
    );
}

#[test]
fn what_cannot_start_says_what_to_do() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let run = |arguments: &[&str]| {
        let mut all = vec!["run"];
        all.extend(arguments);
        tree.run(&directory, &all)
    };
    let error = run(&["--cli-path", "/nonexistent/claude", "hi"]).failed(1);
    assert!(
        error.contains("/nonexistent/claude") && error.contains("npm install"),
        "{error}"
    );
    let error = run(&["--resume", "abc", "hi"]).failed(1);
    assert!(error.contains("no session of ."), "{error}");
    assert!(run(&["  "]).failed(2).contains("the prompt is empty"));
    assert!(run(&["-"]).failed(2).contains("the prompt is empty"));
    run(&["--resume", "abc", "--continue", "hi"]).failed(2);
    let error = run(&["--fork", "hi"]).failed(2);
    assert!(error.contains("--fork copies a session"), "{error}");
}

fn read_until(from: &mut impl Read, wanted: &str) -> String {
    let mut seen = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&seen).contains(wanted) {
        from.read_exact(&mut byte).unwrap_or_else(|error| {
            panic!(
                "{error} before {wanted:?}: {}",
                String::from_utf8_lossy(&seen)
            )
        });
        seen.push(byte[0]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

fn interrupt(child: &Child) {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

#[test]
fn ctrl_c_interrupts_the_turn() {
    let mut steps = vec![
        prompted("hi"),
        piece("Hel"),
        json!({"expect": {"type": "control_request", "request": {"subtype": "interrupt"}}}),
        json!({"answer": {}}),
    ];
    steps.extend(result(
        json!({"subtype": "error_during_execution", "is_error": true,
            "errors": ["[ede_diagnostic] result_type=user"]}),
    ));
    let stage = Stage::new(&steps);
    let mut command = stage.command(&["hi"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    read_until(child.stdout.as_mut().unwrap(), "Hel");
    interrupt(&child);
    let ran = Ran::of(child.wait_with_output().unwrap());
    stage.check(&ran);
    assert!(ran.stderr.contains("Interrupting"), "{ran:?}");
    assert!(ran.stderr.ends_with("towline: interrupted\n"), "{ran:?}");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, "\n"));
}

#[test]
fn a_second_ctrl_c_ends_the_session() {
    let stage = Stage::new(&[
        prompted("hi"),
        piece("Hel"),
        json!({"expect": {"type": "control_request", "request": {"subtype": "interrupt"}}}),
        json!({"on_eof": "ignore"}),
    ]);
    let mut command = stage.command(&["hi"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    read_until(child.stdout.as_mut().unwrap(), "Hel");
    interrupt(&child);
    read_until(child.stderr.as_mut().unwrap(), "Interrupting");
    interrupt(&child);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert!(ran.stderr.contains("Ended.") && ran.status == 1, "{ran:?}");
}

/// A terminal: the end that a person sits at, and the one that the program gets.
fn terminal() -> (File, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    (File::from(master), slave.into())
}

/// Runs with stdin and stderr on a terminal; `talk` sits at it.
fn at_a_terminal(steps: &[Value], talk: impl FnOnce(&mut File)) -> i32 {
    let stage = Stage::new(steps);
    let (mut person, slave) = terminal();
    let mut command = stage.command(&["hi"]);
    command
        .env("NO_COLOR", "1")
        .stdin(slave.try_clone().unwrap())
        .stderr(slave)
        .stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The program alone holds the terminal's other end now.
    drop(command);
    talk(&mut person);
    let status = child.wait().unwrap().code().unwrap_or(-1);
    let log = stage.log();
    assert!(!log.contains(r#""ev":"fail""#), "{log}");
    status
}

#[test]
fn permission_is_asked_on_a_terminal() {
    let suggestion = |destination: &str| {
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls *"}],
            "behavior": "allow", "destination": destination}])
    };
    for (typed, response) in [
        ("y\n", json!({"behavior": "allow"})),
        ("what?\nn\n", json!({"behavior": "deny"})),
        // The end of input: nobody is there any more.
        ("\u{4}", json!({"behavior": "deny"})),
        (
            "A\n",
            json!({"behavior": "allow", "updatedPermissions": suggestion("session")}),
        ),
    ] {
        let more = json!({
            "permission_suggestions": suggestion("localSettings"), "decision_reason": "no rule\u{1b}[2J",
        });
        let mut steps = vec![
            prompted("hi"),
            permission("Bash", json!({"command": "ls x"}), more),
            answer(response),
        ];
        steps.extend(result(json!({})));
        let status = at_a_terminal(&steps, |person| {
            let shown = read_until(person, "in this session (Bash(ls *)):");
            assert!(
                shown.contains("? Bash ls x") && shown.contains("no rule"),
                "{shown:?}"
            );
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
            person.write_all(typed.as_bytes()).unwrap();
            read_until(person, "the-session");
        });
        assert_eq!(status, 0, "{typed:?}");
    }
}

#[test]
fn questions_of_a_tool_are_answered_on_a_terminal() {
    let questions = json!([
        {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}], "multiSelect": false},
        {"question": "And why?", "options": [{"label": "so"}], "multiSelect": true},
    ]);
    let answers = json!({"Which colour?": "blue", "And why?": "just because"});
    let mut steps = vec![
        prompted("hi"),
        permission(
            "AskUserQuestion",
            json!({"questions": questions}),
            json!({}),
        ),
        answer(
            json!({"behavior": "allow", "updatedInput": {"questions": questions, "answers": answers}}),
        ),
    ];
    steps.extend(result(json!({})));
    let status = at_a_terminal(&steps, |person| {
        read_until(person, "of your own:");
        person.write_all(b"2\n").unwrap();
        read_until(person, "And why?");
        person.write_all(b"just because\n").unwrap();
        read_until(person, "the-session");
    });
    assert_eq!(status, 0);
}
