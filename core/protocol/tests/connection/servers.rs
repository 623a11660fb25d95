//! In-process MCP servers.

use towline_protocol::connection::{Answer, CancelReason, Config, Event, LocalError, RequestKind};
use towline_protocol::mcp::{CallResult, Server, Tool};

use crate::support::*;

fn calculator() -> Server {
    let mut server = Server::new("calc", "1");
    server
        .add_tool(Tool::new("add", "adds", r#"{"type":"object"}"#))
        .unwrap();
    server
}

fn mcp(id: &str, message: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"mcp_message","server_name":"calc","message":{message}}}}}"#
    )
}

#[test]
fn tool_calls_reach_the_host_and_their_cancellation_too() {
    let mut connection = open(Config::default());
    connection.add_server(calculator());
    line(
        &mut connection,
        &mcp(
            "m0",
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
    );
    line(
        &mut connection,
        &mcp(
            "m1",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
    );
    assert_eq!(
        written(&mut connection).len(),
        2,
        "a notification is acknowledged"
    );
    for (id, rpc) in [("m2", 1), ("m3", 2)] {
        line(
            &mut connection,
            &mcp(
                id,
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{rpc},"method":"tools/call","params":{{"name":"add","arguments":{{}}}}}}"#
                ),
            ),
        );
    }
    let events = drain(&mut connection);
    let keys: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Request(request) => Some(request.key),
            _ => None,
        })
        .collect();
    assert_eq!(keys.len(), 2);
    line(
        &mut connection,
        &mcp(
            "m4",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#,
        ),
    );
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "m4");
    let cancelled = Event::RequestCancelled {
        key: keys[1],
        reason: CancelReason::Withdrawn,
    };
    assert_eq!(drain(&mut connection), [cancelled]);
    assert_eq!(
        connection.respond(keys[1], &Answer::Call(CallResult::text("x"))),
        Err(LocalError::Withdrawn)
    );
    connection
        .respond(keys[0], &Answer::Call(CallResult::text("3")))
        .unwrap();
    let answer = &written(&mut connection)[0]["response"];
    assert_eq!(answer["request_id"], "m2");
    assert_eq!(
        answer["response"]["mcp_response"]["result"]["content"][0]["text"],
        "3"
    );
}

#[test]
fn a_server_of_the_host_is_bridged() {
    let mut connection = open(Config::default());
    connection.add_bridged_server("calc");
    line(
        &mut connection,
        &mcp("m1", r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#),
    );
    let events = drain(&mut connection);
    assert!(
        matches!(&events[..], [Event::Request(request)] if matches!(request.kind, RequestKind::McpMessage { .. }))
    );
    connection
        .mcp_send("calc", r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#)
        .unwrap();
    assert_eq!(
        written(&mut connection)[0]["response"]["response"]["mcp_response"]["id"],
        7
    );
    connection
        .mcp_send(
            "calc",
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        )
        .unwrap();
    assert_eq!(
        written(&mut connection)[0]["request"]["server_name"],
        "calc"
    );
    line(
        &mut connection,
        &mcp(
            "m2",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
    );
    assert!(matches!(
        drain(&mut connection)[..],
        [Event::McpNotification { .. }]
    ));
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "m2");
}
