//! Tools inside this program.

use std::sync::{Arc, Mutex};

use serde_json::{json, Value};
use towline::{
    CancelReason, Error, Event, LocalError, Reply, RequestHandle, StartError, Tool, ToolServer,
};

use crate::support::*;

const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"integer"},
    "b":{"type":"string","maxLength":3}},"required":["a"]}"#;

fn call(id: u64, tool: &str, arguments: Value) -> Value {
    mcp(
        &format!("m{id}"),
        "calc",
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": {"progressToken": id}}}),
    )
}

fn hello() -> [Value; 4] {
    [
        json!({"emit": mcp("hello", "calc", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"}}}))}),
        answered("hello"),
        json!({"emit": mcp("ready", "calc",
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))}),
        answered("ready"),
    ]
}

fn script(steps: Value) -> Fake {
    let mut all = Vec::from(hello());
    all.extend(steps.as_array().unwrap().iter().cloned());
    all.push(json!({"emit": result()}));
    Fake::new(all.into())
}

fn server(handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static) -> ToolServer {
    let mut server = ToolServer::new("calc", "1.0");
    server
        .add(Tool::new("add", "adds", SCHEMA, handler))
        .unwrap();
    server
}

fn tool_result(fake: &Fake, id: &str) -> Value {
    answer_to(fake, id)["response"]["mcp_response"]["result"].clone()
}

#[test]
fn a_call_is_served() {
    let fake = script(json!([{"emit": call(1, "add", json!({"a": 2}))}, answered("m1")]));
    let server = server(|request| {
        assert_eq!(request.tool_name().as_deref(), Some("add"));
        Reply::text(format!("got {}", request.arguments()))
    });
    let session = fake.builder().tool_server(server).begin().unwrap();
    message(&session, "result");
    session.close().unwrap();
    let answer = tool_result(&fake, "m1");
    assert_eq!(answer["content"][0]["text"], r#"got {"a":2}"#);
    assert_ne!(answer["isError"], true);
}

#[test]
fn arguments_are_checked() {
    let bad = [
        json!({}),
        json!({"a": "two"}),
        json!({"a": 1.5}),
        json!({"a": 1, "b": "long"}),
        json!([1]),
    ];
    let mut steps = Vec::new();
    for (n, arguments) in bad.iter().enumerate() {
        steps.push(json!({"emit": call(n as u64, "add", arguments.clone())}));
        steps.push(answered(&format!("m{n}")));
    }
    let fake = script(steps.into());
    let session = fake
        .builder()
        .tool_server(server(|_| unreachable!("arguments that do not fit")))
        .begin()
        .unwrap();
    message(&session, "result");
    session.begin_close().unwrap();
    let (events, _) = rest(&session);
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Diagnostic(_))),
        "{events:?}"
    );
    for n in 0..bad.len() {
        let answer = answer_to(&fake, &format!("m{n}"));
        let response = &answer["response"]["mcp_response"];
        let refused = response["result"]["isError"] == true || response["error"].is_object();
        assert!(refused, "{n}: {answer}");
    }
    let text = tool_result(&fake, "m1")["content"][0]["text"].to_string();
    assert!(text.contains("add") && text.contains("/a"), "{text}");
}

#[test]
fn a_bad_schema_fails_the_start() {
    let mut server = ToolServer::new("calc", "1");
    server
        .add(Tool::new(
            "odd",
            "x",
            r#"{"type":"object","properties":{"a":{"type":5}}}"#,
            |_| Reply::text("x"),
        ))
        .unwrap();
    let fake = Fake::new(json!([]));
    let error = fake.builder().tool_server(server).begin().unwrap_err();
    assert!(
        matches!(&error, Error::Start(StartError::BadSchema { tool, .. }) if tool == "odd"),
        "{error}"
    );
}

/// The official packages serve what their validators know of.
#[test]
fn a_dialect_serves_a_tool_with_a_schema_of_another_kind() {
    let schemas = [
        r#"{"type":"object","properties":{"a":{"type":5}}}"#,
        r#"{"type":"object","properties":{"a":{"pattern":"(?P<name>x)(?(name)y)"}}}"#,
        r#"{"type":"object","$schema":"https://example.com/no-such-draft"}"#,
        r#"{"type":"object","properties":{"a":{"$ref":"https://example.com/elsewhere"}}}"#,
    ];
    for (dialect, schema) in ["python", "typescript"]
        .iter()
        .zip(&schemas)
        .chain(["typescript", "python"].iter().zip(&schemas[2..]))
    {
        let mut odd = server(|_| Reply::text("checked"));
        odd.add(Tool::new("odd", "x", *schema, |_| Reply::text("served")))
            .unwrap();
        let fake = script(json!([
            {"emit": call(1, "odd", json!({"a": 1}))}, answered("m1"),
            {"emit": call(2, "add", json!({"a": "no number"}))}, answered("m2"),
        ]))
        .set("dialect", *dialect);
        let session = fake.builder().tool_server(odd).begin().unwrap();
        let said = diagnostic(&session).to_string();
        assert!(
            said.contains(r#""odd""#) && said.contains("not checked"),
            "{said}"
        );
        message(&session, "result");
        session.close().unwrap();
        assert_eq!(tool_result(&fake, "m1")["content"][0]["text"], "served");
        let refused = answer_to(&fake, "m2")["response"]["mcp_response"].clone();
        let refused = refused["result"]["isError"] == true || refused["error"].is_object();
        assert!(refused, "the other tool is checked as ever");
    }
}

#[test]
fn a_tool_that_panics_and_one_that_fails() {
    let fake = script(json!([
        {"emit": call(1, "add", json!({"a": 1}))}, answered("m1"),
        {"emit": call(2, "add", json!({"a": 2}))}, answered("m2"),
        {"emit": call(3, "add", json!({"a": 3}))}, answered("m3"),
    ]));
    let session = fake
        .builder()
        .tool_server(server(|request| match request.arguments() {
            r#"{"a":1}"# => std::panic::panic_any("ouch"),
            r#"{"a":2}"# => Reply::tool_error("no such thing"),
            _ => Reply::Failed("disk full".into()),
        }))
        .begin()
        .unwrap();
    message(&session, "result");
    session.close().unwrap();
    for (id, part) in [("m1", "ouch"), ("m2", "no such thing"), ("m3", "disk full")] {
        let answer = tool_result(&fake, id);
        assert_eq!(answer["isError"], true, "{id}");
        assert!(
            answer["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains(part),
            "{answer}"
        );
    }
}

#[test]
fn two_at_once_with_progress_and_out_of_order() {
    let fake = script(json!([
        {"emit": call(1, "add", json!({"a": 1}))},
        {"emit": call(2, "add", json!({"a": 2}))},
        {"expect": {"request": {"subtype": "mcp_message", "message": {
            "method": "notifications/progress", "params": {"progress": {"$any": true}}}}}},
        answered("m2"),
        answered("m1"),
    ]));
    let waiting = Arc::new(Mutex::new(Vec::new()));
    let kept = waiting.clone();
    let session = fake
        .builder()
        .tool_server(server(move |request| {
            let mut kept = kept.lock().unwrap();
            kept.push(request.clone());
            if kept.len() == 2 {
                assert!(kept[1].progress(1.0, Some(2.0), Some("half")).unwrap());
                for request in kept.drain(..).rev() {
                    let text = request.arguments().to_owned();
                    request
                        .finish(towline::protocol::mcp::CallResult::text(text))
                        .unwrap();
                }
                return Reply::Answered;
            }
            Reply::Later
        }))
        .begin()
        .unwrap();
    message(&session, "result");
    session.close().unwrap();
    fake.check();
    assert_eq!(tool_result(&fake, "m1")["content"][0]["text"], r#"{"a":1}"#);
    assert_eq!(tool_result(&fake, "m2")["content"][0]["text"], r#"{"a":2}"#);
    assert!(waiting.lock().unwrap().is_empty());
}

#[test]
fn a_cancelled_call() {
    let cancel = mcp(
        "cancel",
        "calc",
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    let fake = script(json!([
        {"emit": call(1, "add", json!({"a": 1}))},
        {"expect": {"type": "user"}},
        {"emit": cancel},
        {"expect": {"type": "user"}},
    ]));
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let session = fake
        .builder()
        .tool_server(server(move |request| {
            *keep.lock().unwrap() = Some(request.clone());
            Reply::Later
        }))
        .begin()
        .unwrap();
    while kept.lock().unwrap().is_none() {
        session
            .poll(Some(std::time::Duration::from_millis(1)))
            .unwrap();
    }
    session.send("cancel").unwrap();
    let reason = until(&session, |event| match event {
        Event::RequestCancelled { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(reason, CancelReason::Withdrawn);
    let request = kept.lock().unwrap().take().unwrap();
    assert!(request.is_cancelled());
    let late = request
        .finish(towline::protocol::mcp::CallResult::text("late"))
        .unwrap_err();
    assert!(
        matches!(late, Error::Local(LocalError::Withdrawn)),
        "{late}"
    );
    session.send("go on").unwrap();
    message(&session, "result");
    session.close().unwrap();
    fake.check();
}

/// Closing while a tool runs is prompt and quiet.
#[test]
fn closing_while_a_tool_runs() {
    let fake = script(json!([{"emit": call(1, "add", json!({"a": 1}))}, answered("m1")]));
    let mut own = ToolServer::new("calc", "1");
    own.add(Tool::without_handler(towline::protocol::mcp::Tool::new(
        "add", "adds", SCHEMA,
    )))
    .unwrap();
    let session = fake.builder().tool_server(own).begin().unwrap();
    let request = until(&session, |event| match event {
        Event::Request(request) => Some(request),
        _ => None,
    });
    session.close().unwrap();
    assert!(request.is_cancelled());
    let (events, closed) = rest(&session);
    assert!(closed.error.is_none());
    assert!(events.iter().any(|event| matches!(
        event,
        Event::RequestCancelled {
            reason: CancelReason::SessionEnded,
            ..
        }
    )));
    assert!(request
        .finish(towline::protocol::mcp::CallResult::text("late"))
        .is_err());
}
