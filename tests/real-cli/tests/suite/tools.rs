//! In-process tools (`protocol.md §9`).

use std::sync::mpsc;

use serde_json::{json, Value};
use towline::protocol::mcp::{self, CallResult};
use towline::{Error, LocalError, Reply, RequestHandle, Tool, ToolServer};
use towline_real_cli::{
    on_both_versions, on_the_current_version, prompt_tool, Record, Stage, LIMIT,
};

on_both_versions!(one_that_succeeds, one_that_fails, one_that_is_cancelled,);
on_the_current_version!(
    one_that_panics,
    bad_arguments_never_reach_it,
    one_that_answers_later_from_another_thread,
);

/// What the model calls the tool of these tests.
const TOOL: &str = "mcp__kit__count";
const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#;

/// The options, the prompt and the server of a session with the one tool `mcp__kit__count`.
fn kit(handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static) -> (Value, ToolServer) {
    let mut server = ToolServer::new("kit", "1.0.0");
    server
        .add(Tool::new("count", "Counts.", SCHEMA, handler))
        .expect("a good definition");
    (json!({"allowedTools": [TOOL]}), server)
}

fn call(n: Value) -> String {
    prompt_tool(TOOL, &json!({"n": n}))
}

fn one_that_succeeds(stage: &Stage) {
    let called = Record::new();
    let (options, server) = kit({
        let called = called.clone();
        move |request| {
            called.push(request.arguments().to_string());
            Reply::text("counted to three")
        }
    });
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.turn(&call(json!(3)));
    assert_eq!(turn.tool_results(), [("counted to three".into(), false)]);
    assert_eq!(turn.text(), "done");
    let called: Vec<Value> = called
        .take()
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(called, [json!({"n": 3})]);
    host.end().is_clean();
}

fn one_that_fails(stage: &Stage) {
    let (options, server) = kit(|_| Reply::tool_error("cannot count so far"));
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.turn(&call(json!(3)));
    let results = turn.tool_results();
    assert!(
        results[0].1 && results[0].0.contains("cannot count so far"),
        "{results:?}"
    );
    assert_eq!(turn.text(), "done");
    host.end().is_clean();
}

fn one_that_panics(stage: &Stage) {
    let (options, server) = kit(|_| panic!("out of numbers"));
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.turn(&call(json!(3)));
    assert!(turn.tool_results()[0].1);
    assert_eq!(turn.text(), "done");
    let said = host.diagnostics().concat();
    assert!(said.contains("out of numbers"), "{said}");
    host.end().is_clean();
}

fn one_that_is_cancelled(stage: &Stage) {
    let mut server = ToolServer::new("kit", "1.0.0");
    let definition = mcp::Tool::new("count", "Counts.", SCHEMA);
    server
        .add(Tool::without_handler(definition))
        .expect("a good definition");
    let options = json!({"allowedTools": [TOOL]});
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.send(&call(json!(3)));
    let request = host.request();
    assert_eq!(request.tool_name().as_deref(), Some("count"));
    assert!(!request.is_cancelled());
    host.session().interrupt().unwrap();
    host.withdrawal_of(request.key());
    assert!(request.is_cancelled());
    assert!(matches!(
        request.finish(CallResult::text("too late")),
        Err(Error::Local(LocalError::Withdrawn))
    ));
    let result = host.finish(turn).result();
    assert_eq!(result["subtype"], "error_during_execution");
    // The scripted model answers a prompt that follows a tool's result with that.
    assert_eq!(host.turn("and on").text(), "done");
    host.end().is_clean();
}

fn bad_arguments_never_reach_it(stage: &Stage) {
    let called = Record::new();
    let (options, server) = kit({
        let called = called.clone();
        move |_| {
            called.push(());
            Reply::text("counted")
        }
    });
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.turn(&call(json!("three")));
    let results = turn.tool_results();
    assert!(
        results[0].1 && results[0].0.contains("/n"),
        "the model is told where the problem is: {results:?}"
    );
    assert!(called.take().is_empty());
    assert_eq!(host.turn(&call(json!(3))).text(), "done");
    assert_eq!(called.take().len(), 1);
    host.end().is_clean();
}

fn one_that_answers_later_from_another_thread(stage: &Stage) {
    let (hand_over, handed) = mpsc::channel::<RequestHandle>();
    let answering = std::thread::spawn(move || {
        let request = handed.recv_timeout(LIMIT).expect("a call comes");
        request
            .finish(CallResult::text("from elsewhere"))
            .expect("the answer is taken");
    });
    let (options, server) = kit(move |request| {
        hand_over.send(request.clone()).expect("somebody answers");
        Reply::Later
    });
    let mut host = stage.start(stage.builder(options).tool_server(server));
    let turn = host.turn(&call(json!(3)));
    assert_eq!(turn.tool_results(), [("from elsewhere".into(), false)]);
    answering.join().unwrap();
    host.end().is_clean();
}
