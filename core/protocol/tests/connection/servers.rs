//! In-process MCP servers.

use towline_protocol::connection::{
    Answer, CancelReason, Config, Connection, Event, LocalError, RequestKey, RequestKind,
};
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

fn call(id: &str, rpc: u32) -> String {
    let params = r#"{"name":"add","arguments":{}}"#;
    mcp(
        id,
        &format!(r#"{{"jsonrpc":"2.0","id":{rpc},"method":"tools/call","params":{params}}}"#),
    )
}

fn keys(connection: &mut Connection) -> Vec<RequestKey> {
    let asked = |event| match event {
        Event::Request(request) => Some(request.key),
        _ => None,
    };
    drain(connection).into_iter().filter_map(asked).collect()
}

/// `mcp_set_servers` names a server again that is there already, while a call of it runs.
#[test]
fn a_server_added_again_answers_the_calls_that_run() {
    let mut connection = open(Config::default());
    connection.add_server(calculator());
    line(&mut connection, &call("m1", 1));
    let first = keys(&mut connection);
    connection.add_server(calculator());
    line(&mut connection, &call("m2", 2));
    let second = keys(&mut connection);
    for (key, id, rpc) in [(second[0], "m2", 2), (first[0], "m1", 1)] {
        connection
            .respond(key, &Answer::Call(CallResult::text("3")))
            .unwrap();
        let answer = &written(&mut connection)[0]["response"];
        assert_eq!(answer["request_id"], id);
        assert_eq!(answer["response"]["mcp_response"]["id"], rpc);
        assert!(connection
            .respond(key, &Answer::Call(CallResult::text("3")))
            .is_err());
    }

    let mut connection = open(Config::default());
    connection.add_bridged_server("calc");
    line(&mut connection, &call("m1", 1));
    assert_eq!(keys(&mut connection).len(), 1);
    connection.add_bridged_server("calc");
    connection
        .mcp_send("calc", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .unwrap();
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "m1");
}

/// Whoever would have answered is gone: the CLI hears so, once.
#[test]
fn the_open_calls_of_a_server_that_goes_are_answered_with_an_error() {
    let own = |connection: &mut Connection| connection.add_server(calculator());
    let bridged = |connection: &mut Connection| connection.add_bridged_server("calc");
    let removed = |connection: &mut Connection| assert!(connection.remove_server("calc"));
    type Change<'a> = &'a dyn Fn(&mut Connection);
    let cases: [(Change<'_>, Change<'_>); 4] = [
        (&own, &removed),
        (&bridged, &removed),
        (&own, &bridged),
        (&bridged, &own),
    ];
    for (before, after) in cases {
        let mut connection = open(Config::default());
        before(&mut connection);
        line(&mut connection, &call("m1", 1));
        let asked = keys(&mut connection);
        after(&mut connection);
        let lines = written(&mut connection);
        assert_eq!(lines.len(), 1);
        let answer = &lines[0]["response"];
        assert_eq!(answer["request_id"], "m1");
        let reply = &answer["response"]["mcp_response"];
        assert_eq!(reply["id"], 1);
        assert_eq!(reply["error"]["message"], "The MCP server is closed");
        let withdrawn = Event::RequestCancelled {
            key: asked[0],
            reason: CancelReason::Withdrawn,
        };
        assert_eq!(drain(&mut connection), [withdrawn]);
        assert_eq!(
            connection.respond(asked[0], &Answer::Json("{}")),
            Err(LocalError::Withdrawn)
        );
        assert!(written(&mut connection).is_empty());
    }
    let mut connection = open(Config::default());
    assert!(!connection.remove_server("calc"));
    line(&mut connection, &call("m1", 1));
    assert_eq!(
        written(&mut connection)[0]["response"]["response"]["mcp_response"]["error"]["message"],
        "Server 'calc' not found"
    );
}
