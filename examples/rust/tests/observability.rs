//! The example `observability` with a scripted CLI: its spans stand in one trace, in one another.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{json, Value};
use towline_testkit::Program;

/// A span as the example writes it.
#[derive(Debug, Default)]
struct Span {
    trace: String,
    id: String,
    parent: String,
}

/// The spans by name.
fn spans(text: &str) -> BTreeMap<String, Span> {
    let mut spans = BTreeMap::new();
    let (mut name, mut span) = (String::new(), Span::default());
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim().to_string();
        match key.trim() {
            "Name" if line.starts_with("\tName") => name = value,
            "TraceId" => span.trace = value,
            "SpanId" => span.id = value,
            "ParentSpanId" => {
                span.parent = value;
                spans.insert(std::mem::take(&mut name), std::mem::take(&mut span));
            }
            _ => {}
        }
    }
    spans
}

fn asks(id: &str, message: &Value) -> Value {
    json!({"emit": {"type": "control_request", "request_id": id, "request":
        {"subtype": "mcp_message", "server_name": "demo", "message": message}}})
}

#[test]
fn spans_of_the_host_the_session_and_a_tool_are_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let answered = |id: &str| json!({"expect": {"response": {"request_id": id}}});
    let script = json!([
        {"log_env": ["TRACEPARENT"]},
        {"expect": {"type": "user"}},
        asks("hello", &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params":
            {"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"}}})),
        answered("hello"),
        asks("call", &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": "weather", "arguments": {"city": "Oslo"}}})),
        answered("call"),
        {"emit": {"type": "result", "subtype": "success", "is_error": false, "result": "sunny",
            "num_turns": 1, "session_id": "s", "uuid": "u"}},
        {"expect_eof": true}
    ]);
    std::fs::write(path("script.json"), script.to_string()).unwrap();
    std::os::unix::fs::symlink(Program::FakeCli.locate().unwrap(), path("claude")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_observability"))
        .env("PATH", folder.path())
        .env("FAKE_CLI_SCRIPT", path("script.json"))
        .env("FAKE_CLI_LOG", path("log"))
        .env_remove("TRACEPARENT")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let log = std::fs::read_to_string(path("log")).unwrap();
    assert!(output.status.success(), "{output:?}\n{log}");
    let spans = spans(&text);
    let span = |name: &str| {
        let found = spans.get(name);
        found.unwrap_or_else(|| panic!("no {name} in {text}"))
    };
    let question = span("question");
    assert!(spans.values().all(|span| span.trace == question.trace));
    for (inner, outer) in [
        ("towline.session", "question"),
        ("towline.turn", "towline.session"),
        ("towline.callback tool mcp__demo__weather", "towline.turn"),
        (
            "towline.handler",
            "towline.callback tool mcp__demo__weather",
        ),
        ("look at the sky", "towline.handler"),
    ] {
        assert_eq!(span(inner).parent, span(outer).id, "{inner}: {text}");
    }
    let given = format!("00-{}-{}-01", question.trace, question.id);
    assert!(log.contains(&given), "{given} is not in {log}");
}
