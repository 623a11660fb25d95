//! The real CLI in a sandbox, spoken to by hand-written lines.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{json, Value};
use towline_testkit::{RealCli, Sandbox, Version};

const SOON: Duration = Duration::from_secs(30);

struct Cli {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Cli {
    /// Fails with the hint when the CLI is not installed or the sandbox cannot be closed.
    fn start(sandbox: &Sandbox, version: Version, arguments: &[&str]) -> Self {
        sandbox
            .require_isolation()
            .unwrap_or_else(|hint| panic!("{hint}"));
        let path = RealCli::locate(version).unwrap_or_else(|hint| panic!("{hint}"));
        let mut child = sandbox
            .command(path)
            .args(["--output-format", "stream-json", "--verbose"])
            .args([
                "--input-format",
                "stream-json",
                "--model",
                "claude-sonnet-4-5",
            ])
            .args(arguments)
            .env("CLAUDE_CODE_MAX_RETRIES", "2")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Cli {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, message: Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn prompt(&mut self, text: &str) {
        self.send(json!({"type": "user", "parent_tool_use_id": null,
            "message": {"role": "user", "content": text}}));
    }

    /// All messages up to and with the first that is wanted.
    fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let mut line = String::new();
            let length = self.stdout.read_line(&mut line).unwrap();
            assert!(length > 0, "the CLI ended after {messages:#?}");
            let message: Value = serde_json::from_str(&line).unwrap();
            let found = wanted(&message);
            messages.push(message);
            if found {
                return messages;
            }
        }
    }

    /// Runs one turn and returns its messages; the last is the result.
    fn turn(&mut self, text: &str) -> Vec<Value> {
        self.prompt(text);
        self.until(|message| message["type"] == "result")
    }

    fn end(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Cli {
    fn drop(&mut self) {
        // Only when a test has failed is it still running here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn result(messages: &[Value]) -> &Value {
    messages.last().unwrap()
}

fn one_turn(version: Version) {
    let sandbox = Sandbox::enter().unwrap();
    let mut cli = Cli::start(&sandbox, version, &[]);
    cli.send(
        json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}),
    );
    let reply = cli.until(|message| message["type"] == "control_response");
    assert_eq!(reply.last().unwrap()["response"]["subtype"], "success");
    let messages = cli.turn("hello there");
    assert_eq!(result(&messages)["result"], "echo: hello there");
    let init = messages
        .iter()
        .find(|message| message["subtype"] == "init")
        .unwrap();
    assert_eq!(init["claude_code_version"], version.number());
    let asked = sandbox
        .api()
        .wait_for_request(|request| request.is_message(), SOON)
        .unwrap();
    assert_eq!(asked.user_text(), "hello there");
    assert_eq!(asked.header("x-api-key"), Some("dummy-not-a-key"));
    assert_eq!(cli.end(), Some(0));
}

#[test]
fn the_current_cli_holds_a_turn() {
    one_turn(Version::Current);
}

#[test]
fn the_older_cli_holds_a_turn() {
    one_turn(Version::Older);
}

#[test]
fn a_structured_answer_reaches_the_result() {
    let sandbox = Sandbox::enter().unwrap();
    let schema = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;
    let mut cli = Cli::start(&sandbox, Version::Current, &["--json-schema", schema]);
    let messages = cli.turn(r#"STRUCTURED {"n": 5}"#);
    assert_eq!(result(&messages)["structured_output"], json!({"n": 5}));
    assert_eq!(cli.end(), Some(0));
}

#[test]
fn the_prompt_of_a_subagent_steers_it() {
    let sandbox = Sandbox::enter().unwrap();
    let mut cli = Cli::start(
        &sandbox,
        Version::Current,
        &["--dangerously-skip-permissions"],
    );
    let input = json!({
        "description": "a job",
        "subagent_type": "general-purpose",
        "run_in_background": false,
        "prompt": r#"TOOL Bash {"command": "echo of-the-subagent", "description": "d"}"#,
    });
    let messages = cli.turn(&format!("TOOL Agent {input}"));
    assert_eq!(result(&messages)["result"], "done");
    let inner = |kind: &str| {
        messages
            .iter()
            .filter(|message| message["type"] == kind && !message["parent_tool_use_id"].is_null())
            .map(Value::to_string)
            .collect::<String>()
    };
    assert!(inner("assistant").contains(r#""name":"Bash""#));
    assert!(inner("user").contains("of-the-subagent"));
    assert_eq!(cli.end(), Some(0));
}

#[test]
fn a_chain_of_calls_takes_one_round_trip_each() {
    let sandbox = Sandbox::enter().unwrap();
    let mut cli = Cli::start(
        &sandbox,
        Version::Current,
        &["--dangerously-skip-permissions"],
    );
    let messages = cli.turn(
        r#"CHAIN [["Bash", {"command": "echo first"}], ["Bash", {"command": "echo second"}]]"#,
    );
    let outputs: Vec<&str> = messages
        .iter()
        .filter_map(|message| message["tool_use_result"]["stdout"].as_str())
        .collect();
    assert_eq!(outputs, ["first", "second"]);
    let asked = sandbox.api().requests();
    assert_eq!(
        asked.iter().filter(|request| request.is_message()).count(),
        3
    );
    assert_eq!(cli.end(), Some(0));
}

#[test]
fn failures_of_the_api_are_retried() {
    let sandbox = Sandbox::enter().unwrap();
    let mut cli = Cli::start(&sandbox, Version::Current, &[]);
    for prompt in ["ERROR 529 1", "CUT 1"] {
        let messages = cli.turn(prompt);
        assert!(
            messages
                .iter()
                .any(|message| message["subtype"] == "api_retry"),
            "{prompt}"
        );
        assert_eq!(result(&messages)["result"], format!("echo: {prompt}"));
    }
    let messages = cli.turn("ERROR 400");
    assert_eq!(result(&messages)["is_error"], true);
    assert_eq!(result(&messages)["api_error_status"], 400);
    assert_eq!(cli.end(), Some(1), "the last result was an error");
}

#[test]
fn a_gated_reply_can_be_interrupted_or_released() {
    let sandbox = Sandbox::enter().unwrap();
    let mut cli = Cli::start(&sandbox, Version::Current, &["--include-partial-messages"]);
    let delta = |message: &Value| message["event"]["delta"]["text"] == "before ";
    cli.prompt("GATE one");
    cli.until(delta);
    cli.send(
        json!({"type": "control_request", "request_id": "2", "request": {"subtype": "interrupt"}}),
    );
    let messages = cli.until(|message| message["type"] == "result");
    assert_eq!(result(&messages)["subtype"], "error_during_execution");
    cli.prompt("GATE two");
    cli.until(delta);
    sandbox.api().release("two");
    let messages = cli.until(|message| message["type"] == "result");
    assert_eq!(result(&messages)["result"], "before after");
    assert_eq!(cli.end(), Some(0));
}
