//! The recorded MCP traffic of the real CLI, served by `mcp::Server` and by `mcp::Bridge`.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;
use towline_protocol::json::{elements, pointer, string};
use towline_protocol::mcp::{
    Bridge, Call, CallResult, Feature, Forward, Operation, Received, Sent, Server, Tool,
};

/// One line of a recording that belongs to the in-process server.
enum Step {
    /// The CLI sent an `mcp_message`; with the recorded host's answer under `mcp_response`, if any.
    FromCli {
        message: String,
        answer: Option<String>,
    },
    /// The host sent an `mcp_message` of its own.
    FromHost { message: String },
}

fn recording(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/transcripts")
        .join(name)
        .with_extension("jsonl");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn at<'a>(line: &'a str, path: &str) -> Option<&'a str> {
    pointer(line, path).unwrap()
}

fn text_at(line: &str, path: &str) -> Option<String> {
    Some(string(at(line, path)?)?.into_owned())
}

fn steps(name: &str) -> Vec<Step> {
    let recording = recording(name);
    let answers: HashMap<String, &str> = recording
        .lines()
        .filter_map(|line| {
            Some((
                text_at(line, "/line/response/request_id")?,
                at(line, "/line/response/response/mcp_response")?,
            ))
        })
        .collect();
    let mut steps = Vec::new();
    for line in recording.lines() {
        if text_at(line, "/line/request/subtype").as_deref() != Some("mcp_message")
            || text_at(line, "/line/request/server_name").as_deref() != Some("calc")
        {
            continue;
        }
        let message = at(line, "/line/request/message").unwrap().to_owned();
        steps.push(if text_at(line, "/dir").as_deref() == Some("out") {
            let id = text_at(line, "/line/request_id").unwrap();
            let answer = answers.get(&id).map(|answer| answer.to_string());
            Step::FromCli { message, answer }
        } else {
            Step::FromHost { message }
        });
    }
    steps
}

/// The tools of a recorded list, as a host would register them.
fn tools(list: &str) -> Vec<Tool> {
    let mut tools = Vec::new();
    elements(list, |tool| {
        tools.push(Tool {
            annotations: at(tool, "/annotations").map(str::to_owned),
            ..Tool::new(
                text_at(tool, "/name").unwrap(),
                text_at(tool, "/description").unwrap(),
                at(tool, "/inputSchema").unwrap(),
            )
        });
    })
    .unwrap();
    tools
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// What the recorded host said, with the one thing more that ours announces.
fn with_list_changed(answer: &str, capabilities: &str) -> Value {
    let mut answer = value(answer);
    if let Some(Value::Object(capabilities)) = answer.pointer_mut(capabilities) {
        for capability in capabilities.values_mut() {
            capability["listChanged"] = Value::Bool(true);
        }
    }
    answer
}

/// Serves the CLI's side of a recording and compares every answer with the recorded one.
/// Returns how many calls and cancellations it had.
fn serve(name: &str) -> (usize, usize) {
    let mut server = Server::new("calc", "1.0.0");
    let (mut calls, mut cancelled) = (0, 0);
    let mut open: Vec<Call> = Vec::new();
    let steps = steps(name);
    assert!(!steps.is_empty(), "{name}: no MCP traffic");
    for step in steps {
        let Step::FromCli { message, answer } = step else {
            continue;
        };
        let recorded = answer.as_deref().unwrap_or("null");
        for tool in at(recorded, "/result/tools").map(tools).unwrap_or_default() {
            if server.tool(&tool.name).is_none() {
                server.add_tool(tool).unwrap();
            }
        }
        if message.contains("tools/call") && server.tool("add").is_none() {
            server.add_tool(Tool::new("add", "", "{}")).unwrap();
        }
        let ours = match server.receive(&message) {
            Received::Reply(reply) => reply,
            Received::Accepted(ack) => ack.to_owned(),
            Received::Cancelled { call, reason, ack } => {
                cancelled += 1;
                assert_eq!(open.pop().map(|call| call.id), Some(call), "{name}");
                assert!(reason.is_some(), "{name}");
                ack.to_owned()
            }
            Received::Call(call) => {
                calls += 1;
                let Operation::CallTool { name, arguments } = &call.operation else {
                    panic!("{call:?}");
                };
                assert_eq!(
                    (name.as_str(), value(arguments)["b"].as_i64()),
                    ("add", Some(2))
                );
                assert!(call.tool_use_id.as_deref().unwrap().starts_with("toolu_"));
                assert_eq!(call.progress_token.as_deref(), Some(call.rpc_id.as_str()));
                let result = match (at(recorded, "/result"), at(recorded, "/error")) {
                    (Some(result), _) => CallResult::json(result),
                    (None, Some(error)) => CallResult::rpc_error(
                        at(error, "/code").unwrap().parse().unwrap(),
                        text_at(error, "/message").unwrap(),
                    ),
                    (None, None) => {
                        open.push(call);
                        continue;
                    }
                };
                server.finish(call.id, &result).unwrap()
            }
            other => panic!("{name}: {other:?}"),
        };
        if answer.is_some() {
            let wanted = with_list_changed(recorded, "/result/capabilities");
            assert_eq!(value(&ours), wanted, "{name}: {message}");
        } else {
            assert!(ours.contains(r#""serverInfo""#), "{name}: {ours}");
        }
    }
    (calls, cancelled)
}

#[test]
fn the_answers_are_those_of_the_recorded_host() {
    for (name, calls, cancelled) in [
        ("sdk_mcp_error", 3, 0),
        ("sdk_mcp_init_error", 0, 0),
        ("sdk_mcp_init_only", 1, 0),
        ("sdk_mcp_interrupt", 1, 1),
        ("sdk_mcp_manifest", 1, 0),
        ("sdk_mcp_results", 1, 0),
        ("sdk_mcp_silent", 0, 0),
        ("sdk_mcp_timeout", 1, 1),
        ("sdk_mcp_tool", 1, 0),
        ("sdk_mcp_unnamed", 1, 0),
    ] {
        assert_eq!(serve(name), (calls, cancelled), "{name}");
    }
}

#[test]
fn the_manifest_is_the_recorded_one() {
    let recording = recording("sdk_mcp_manifest");
    let path = "/line/request/sdkMcpServerManifests/calc";
    let recorded = recording.lines().find_map(|line| at(line, path)).unwrap();
    let mut server = Server::new("calc", "1.0.0");
    for tool in tools(at(recorded, "/toolsListResult/tools").unwrap()) {
        server.add_tool(tool).unwrap();
    }
    assert_eq!(
        value(&server.manifest()),
        with_list_changed(recorded, "/initializeResult/capabilities")
    );
}

#[test]
fn the_server_pushes_what_the_recorded_host_pushed() {
    let mut server = Server::new("calc", "1.0.0");
    server.declare(Feature::Resources).declare(Feature::Prompts);
    let mut lists: Vec<String> = Vec::new();
    let mut asked = None;
    let mut refused = false;
    for step in steps("sdk_mcp_server_push") {
        match step {
            Step::FromHost { message } => {
                let wanted = value(&message);
                if wanted["id"].is_null() {
                    server
                        .add_tool(Tool::new(
                            "sub",
                            "adds two numbers",
                            at(lists.last().unwrap(), "/0/inputSchema").unwrap(),
                        ))
                        .unwrap();
                    assert_eq!(value(&server.poll_outgoing().unwrap()), wanted);
                } else {
                    let params = at(&message, "/params");
                    asked = Some(server.request("elicitation/create", params).unwrap());
                    let mut ours = value(&server.poll_outgoing().unwrap());
                    ours["id"] = wanted["id"].clone();
                    assert_eq!(ours, wanted);
                }
            }
            Step::FromCli { message, answer } => {
                let recorded = answer.unwrap();
                if let Some(list) = at(&recorded, "/result/tools") {
                    lists.push(list.to_owned());
                    if lists.len() == 1 {
                        for tool in tools(list) {
                            server.add_tool(tool).unwrap();
                        }
                        // Tools that are there before the first list are no news.
                        server.poll_outgoing();
                    }
                }
                match (asked, message.contains(r#""e1""#)) {
                    (Some(asked), true) => {
                        let message = message.replace(r#""e1""#, &asked.0.to_string());
                        let Received::Response {
                            request,
                            outcome: Err(error),
                            ..
                        } = server.receive(&message)
                        else {
                            panic!("{message}")
                        };
                        assert_eq!((request, error.code), (asked, -32601));
                        refused = true;
                    }
                    _ => match server.receive(&message) {
                        Received::Reply(ours) => assert_eq!(
                            value(&ours),
                            with_list_changed(&recorded, "/result/capabilities")
                        ),
                        Received::Accepted(ack) => assert_eq!(value(ack), value(&recorded)),
                        other => panic!("{other:?}"),
                    },
                }
            }
        }
    }
    assert_eq!(lists.len(), 2);
    assert!(refused);
}

#[test]
fn the_bridge_pairs_what_the_recorded_host_answered() {
    for (name, requests, cancelled) in [
        ("sdk_mcp_error", 5, 0),
        ("sdk_mcp_interrupt", 3, 1),
        ("sdk_mcp_results", 3, 0),
        ("sdk_mcp_server_push", 3, 0),
        ("sdk_mcp_timeout", 3, 1),
        ("sdk_mcp_tool", 3, 0),
    ] {
        let mut bridge = Bridge::new();
        let mut seen = (0, 0);
        for step in steps(name) {
            match step {
                Step::FromHost { message } => {
                    assert_eq!(bridge.send(&message), Ok(Sent::Outgoing(message)));
                }
                Step::FromCli { message, answer } => match bridge.receive(&message) {
                    Forward::Request(exchange) => {
                        seen.0 += 1;
                        if let Some(answer) = answer {
                            assert_eq!(
                                bridge.send(&answer),
                                Ok(Sent::Answer(exchange, answer.clone()))
                            );
                            assert_eq!(bridge.send(&answer), Ok(Sent::Unmatched));
                        }
                    }
                    Forward::Notification(ack) => {
                        if message.contains("notifications/") {
                            assert_eq!(value(ack), value(&answer.unwrap()));
                        }
                    }
                    Forward::Cancelled(_, ack) => {
                        seen.1 += 1;
                        assert_eq!(value(ack), value(&answer.unwrap()));
                    }
                    Forward::Refused(text) => panic!("{name}: {text}"),
                },
            }
        }
        assert_eq!(seen, (requests, cancelled), "{name}");
    }
}
