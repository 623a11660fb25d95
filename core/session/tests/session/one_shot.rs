//! A single prompt: stdin stays open as long as the CLI may need the host (`protocol.md §11`).

use serde_json::{json, Value};
use towline::{Error, Reply, Tool, ToolServer};

use crate::support::*;

fn task(subtype: &str, more: Value) -> Value {
    let mut step = json!({"emit": {"type": "system", "subtype": subtype, "task_id": "t1",
        "uuid": "u", "session_id": "s"}});
    step["emit"]
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    step
}

fn state(state: &str) -> Value {
    json!({"emit": {"type": "system", "subtype": "session_state_changed", "state": state}})
}

fn texts(query: towline::Query) -> String {
    query
        .map(|message| message.unwrap())
        .filter(|message| message.message_type() == "assistant")
        .map(|message| {
            let message: Value = serde_json::from_str(message.json()).unwrap();
            message["message"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn with_hook(fake: &Fake) -> towline::SessionBuilder {
    fake.builder()
        .on_hook("PreToolUse", None, |_| Reply::Json("{}".into()))
}

/// A background agent asks a hook after the first result.
#[test]
fn it_stays_open_for_a_background_agent() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        task("task_started", json!({"task_type": "local_agent"})),
        {"emit": assistant("first")},
        {"emit": result()},
        {"expect_none": {"never": 1}, "for_ms": 100},
        {"emit": hook("h1", "hook_0")},
        answered("h1"),
        task("task_notification", json!({"status": "completed"})),
        {"emit": assistant("second")},
        {"emit": result()},
        {"expect_eof": true}
    ]));
    assert_eq!(texts(with_hook(&fake).query("go").unwrap()), "firstsecond");
    fake.check();
}

/// Shells in the background never hold it.
#[test]
fn it_does_not_stay_open_for_a_shell() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        task("task_started", json!({"task_type": "local_bash"})),
        {"emit": result()},
        {"expect_eof": true, "timeout_ms": 5000}
    ]));
    texts(with_hook(&fake).query("go").unwrap());
    fake.check();
}

#[test]
fn it_ends_after_the_only_result() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": assistant("x")},
        {"emit": result()},
        {"expect_eof": true, "timeout_ms": 5000},
        {"exit": 0}
    ]));
    assert_eq!(texts(with_hook(&fake).query("go").unwrap()), "x");
    fake.check();
}

/// Nobody to ask: it ends behind the prompt.
#[test]
fn it_ends_at_once_without_anybody_to_ask() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect_eof": true, "timeout_ms": 5000},
        {"emit": assistant("x")},
        {"emit": result()},
        {"exit": 0}
    ]));
    assert_eq!(texts(towline::query("go", fake.options()).unwrap()), "x");
    fake.check();
}

/// A tool server that is first spoken to long after the prompt.
#[test]
fn it_waits_for_a_server_that_starts_late() {
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}}});
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect_none": {"never": 1}, "for_ms": 150},
        {"emit": mcp("m1", "calc", hello)},
        {"expect": {"response": {"request_id": "m1", "subtype": "success",
            "response": {"mcp_response": {"id": 0, "result": {"serverInfo": {"name": "calc"}}}}}}},
        {"emit": assistant("x")},
        {"emit": result()},
        {"expect_eof": true}
    ]));
    let mut server = ToolServer::new("calc", "1");
    server
        .add(Tool::new("add", "adds", r#"{"type":"object"}"#, |_| {
            Reply::text("3")
        }))
        .unwrap();
    assert_eq!(
        texts(fake.builder().tool_server(server).query("go").unwrap()),
        "x"
    );
    fake.check();
}

/// CLI 2.1.332 says itself when it is idle, after the result.
#[test]
fn it_waits_for_idle_where_the_cli_tells() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        state("running"),
        {"emit": assistant("x")},
        {"emit": result()},
        {"expect_none": {"never": 1}, "for_ms": 50},
        {"emit": hook("h1", "hook_0")},
        answered("h1"),
        state("idle"),
        {"expect_eof": true}
    ]));
    assert_eq!(texts(with_hook(&fake).query("go").unwrap()), "x");
    fake.check();
}

/// An error result is delivered first; then the iteration fails with its text.
#[test]
fn an_error_result_comes_first() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}}, {"emit": error_result("max turns")},
        {"expect_eof": true}, {"exit": 1}
    ]));
    let items: Vec<_> = towline::query("go", fake.options()).unwrap().collect();
    assert_eq!(items.len(), 2);
    assert_eq!(items[0].as_ref().unwrap().message_type(), "result");
    let error = items[1].as_ref().unwrap_err();
    assert!(
        matches!(error, Error::ErrorResult(failure) if failure.result == "max turns"),
        "{error}"
    );
}

#[test]
fn a_limit_of_its_turn_ends_it() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"on_eof": "ignore"}
    ]))
    .graces(100)
    .set("turnTimeoutMs", 100);
    let mut query = fake.builder().query("go").unwrap();
    let error = query.next().unwrap().unwrap_err();
    assert!(error.to_string().contains("turnTimeoutMs"), "{error}");
    assert!(query.next().is_none());
}
