use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::mcp::{CallResult, PromptArgument, Resource, ResourceTemplate};

const ACK: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;

fn server() -> Server {
    let mut server = Server::new("calc", "1.0.0");
    server
        .add_tool(Tool::new("add", "adds", r#"{"type":"object"}"#))
        .unwrap();
    server
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#)
}

fn reply(server: &mut Server, message: &str) -> String {
    match server.receive(message) {
        Received::Reply(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn result(server: &mut Server, method: &str, params: &str) -> String {
    let reply = reply(server, &request(method, params));
    let result = reply
        .strip_prefix(r#"{"jsonrpc":"2.0","id":7,"result":"#)
        .unwrap_or_else(|| panic!("{reply}"));
    result.strip_suffix('}').unwrap().into()
}

fn error(server: &mut Server, method: &str, params: &str) -> String {
    let reply = reply(server, &request(method, params));
    let error = reply
        .strip_prefix(r#"{"jsonrpc":"2.0","id":7,"error":"#)
        .unwrap_or_else(|| panic!("{reply}"));
    error.strip_suffix('}').unwrap().into()
}

fn call(server: &mut Server, message: &str) -> Call {
    match server.receive(message) {
        Received::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

fn outgoing(server: &mut Server) -> Vec<String> {
    core::iter::from_fn(|| server.poll_outgoing()).collect()
}

fn cancel(request_id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{request_id},"reason":"AbortError: remote-cancel"}}}}"#
    )
}

const ADD: &str = r#"{"method":"tools/call","params":{"name":"add","arguments":{"a":1, "b":"\ud83d"},"_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}},"jsonrpc":"2.0","id":2}"#;

#[test]
fn a_known_revision_is_agreed_to_and_another_is_answered_with_the_newest() {
    let mut server = server();
    assert_eq!(server.protocol_version(), None);
    for (asked, agreed) in [
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2024-11-05"),
        ("2031-01-01", "2025-11-25"),
    ] {
        let params = format!(
            r#"{{"protocolVersion":"{asked}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c"}}}}"#
        );
        assert_eq!(
            result(&mut server, "initialize", &params),
            format!(
                r#"{{"protocolVersion":"{agreed}","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"calc","version":"1.0.0"}}}}"#
            )
        );
        assert_eq!(server.protocol_version(), Some(agreed));
    }
    assert_eq!(server.client_capabilities(), Some(r#"{"roots":{}}"#));
    assert_eq!(server.client_info(), Some(r#"{"name":"c"}"#));
    assert!(result(&mut server, "initialize", "{}").contains("2025-11-25"));
}

#[test]
fn what_is_on_offer_or_declared_is_announced() {
    let mut server = Server::new("a\"b", "");
    server
        .instructions("use\nit")
        .declare(Feature::Prompts)
        .declare(Feature::Logging);
    let template = ResourceTemplate {
        uri_template: "u/{x}".into(),
        name: "x".into(),
        ..ResourceTemplate::default()
    };
    server.add_resource_template(template).unwrap();
    assert_eq!(
        result(&mut server, "initialize", "{}"),
        concat!(
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"#,
            r#""resources":{"listChanged":true},"prompts":{"listChanged":true},"logging":{}},"#,
            r#""serverInfo":{"name":"a\"b","version":""},"instructions":"use\nit"}"#
        )
    );
}

#[test]
fn a_server_may_call_itself_otherwise() {
    let mut server = Server::new("key", "1");
    server.own_name("box");
    let result = result(&mut server, "initialize", "{}");
    assert!(result.contains(r#""serverInfo":{"name":"box","version":"1"}"#));
    assert_eq!(server.name(), "key");
}

#[test]
fn small_requests_are_answered_here() {
    let mut server = server();
    assert_eq!(result(&mut server, "ping", "{}"), "{}");
    assert_eq!(
        reply(
            &mut server,
            r#"{"jsonrpc":"2.0","id":"x\n","method":"ping"}"#
        ),
        r#"{"jsonrpc":"2.0","id":"x\n","result":{}}"#
    );
    assert_eq!(
        result(&mut server, "completion/complete", "{}"),
        r#"{"completion":{"values":[],"hasMore":false}}"#
    );
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("prompts/list", "prompts"),
    ] {
        assert_eq!(
            result(&mut server, method, "{}"),
            format!(r#"{{"{member}":[]}}"#)
        );
    }
    assert_eq!(
        result(&mut server, "tools/list", r#"{"cursor":null}"#),
        r#"{"tools":[{"name":"add","description":"adds","inputSchema":{"type":"object"}}]}"#
    );
}

#[test]
fn lists_come_in_pages_when_asked_to() {
    let mut server = server();
    server.add_tool(Tool::new("sub", "", "{}")).unwrap();
    server.page_size(1);
    let first = result(&mut server, "tools/list", "{}");
    assert!(first.contains("add") && first.ends_with(r#","nextCursor":"1"}"#));
    let second = result(&mut server, "tools/list", r#"{"cursor":"1"}"#);
    assert!(second.contains("sub") && !second.contains("nextCursor"));
    assert_eq!(
        error(&mut server, "tools/list", r#"{"cursor":"9"}"#),
        r#"{"code":-32602,"message":"Invalid params: unknown cursor"}"#
    );
    assert_eq!(
        error(&mut server, "tools/list", r#"{"cursor":1}"#),
        r#"{"code":-32602,"message":"Invalid params: cursor is not a string"}"#
    );
}

#[test]
fn what_cannot_be_served_gets_its_code() {
    let mut server = server();
    for (method, params, wanted) in [
        (
            "no/such",
            "{}",
            r#"{"code":-32601,"message":"Method not found: no/such"}"#,
        ),
        (
            "ping",
            "[]",
            r#"{"code":-32602,"message":"Invalid params: params is not an object"}"#,
        ),
        (
            "tools/call",
            "{}",
            r#"{"code":-32602,"message":"Invalid params: name is not a string"}"#,
        ),
        (
            "tools/call",
            r#"{"name":"add","arguments":[1]}"#,
            r#"{"code":-32602,"message":"Invalid params: arguments is not an object"}"#,
        ),
        (
            "tools/call",
            r#"{"name":"nope","arguments":{}}"#,
            r#"{"code":-32602,"message":"Unknown tool: nope"}"#,
        ),
        (
            "resources/read",
            r#"{"uri":"file:///x"}"#,
            r#"{"code":-32002,"message":"Resource not found: file:///x","data":{"uri":"file:///x"}}"#,
        ),
        (
            "prompts/get",
            r#"{"name":"p"}"#,
            r#"{"code":-32602,"message":"Unknown prompt: p"}"#,
        ),
        (
            "logging/setLevel",
            r#"{"level":"loud"}"#,
            r#"{"code":-32602,"message":"Invalid params: unknown level \"loud\""}"#,
        ),
    ] {
        assert_eq!(error(&mut server, method, params), wanted);
    }
    assert_eq!(
        reply(&mut server, "nonsense"),
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: not an object at byte 0"}}"#
    );
}

#[test]
fn a_tool_call_carries_what_the_host_needs() {
    let mut server = server();
    let call = call(&mut server, ADD);
    assert_eq!(
        call,
        Call {
            id: CallId(1),
            rpc_id: "2".into(),
            operation: Operation::CallTool {
                name: "add".into(),
                arguments: r#"{"a":1, "b":"\ud83d"}"#.into()
            },
            progress_token: Some("2".into()),
            tool_use_id: Some("toolu_1".into()),
            meta: Some(r#"{"claudecode/toolUseId":"toolu_1","progressToken":2}"#.into()),
        }
    );
    assert!(server.is_open(call.id));
    assert_eq!(
        server.finish(call.id, &CallResult::text("3")).unwrap(),
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}]}}"#
    );
    assert!(!server.is_open(call.id));
}

#[test]
fn arguments_may_be_missing_and_ids_may_be_strings() {
    let mut server = server();
    for params in [
        r#"{"name":"add"}"#,
        r#"{"name":"add","arguments":null,"_meta":7}"#,
    ] {
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":"str-id","method":"tools/call","params":{params}}}"#);
        let call = call(&mut server, &message);
        assert!(
            matches!(&call.operation, Operation::CallTool { arguments, .. } if arguments == "{}")
        );
        assert!(server
            .finish(call.id, &CallResult::json("{}"))
            .unwrap()
            .starts_with(r#"{"jsonrpc":"2.0","id":"str-id","result":{"content":[]}"#));
    }
}

#[test]
fn calls_are_answered_once_and_in_any_order() {
    let mut server = server();
    let first = call(&mut server, ADD).id;
    let second = call(&mut server, &ADD.replace(r#""id":2"#, r#""id":3"#)).id;
    let text = CallResult::text("x");
    assert!(server.finish(second, &text).unwrap().contains(r#""id":3"#));
    assert!(server.finish(first, &text).unwrap().contains(r#""id":2"#));
    assert_eq!(
        server.finish(first, &text),
        Err(FinishError::AlreadyAnswered)
    );
    assert_eq!(server.finish(CallId(3), &text), Err(FinishError::Unknown));
    assert_eq!(server.finish(CallId(0), &text), Err(FinishError::Unknown));
}

#[test]
fn a_cancelled_call_takes_no_answer() {
    let mut server = server();
    let first = call(&mut server, ADD).id;
    let again = call(&mut server, ADD).id;
    assert_eq!(
        server.receive(&cancel("2")),
        Received::Cancelled {
            call: again,
            reason: Some("AbortError: remote-cancel".into()),
            ack: ACK
        }
    );
    assert_eq!(
        server.finish(again, &CallResult::text("late")),
        Err(FinishError::Cancelled)
    );
    assert!(!server.progress(again, 1.0, None, None));
    assert!(server.is_open(first));
    for other in [cancel("9"), cancel(r#""2""#), cancel("null")] {
        assert_eq!(server.receive(&other), Received::Accepted(ACK));
    }
    let string = call(&mut server, &ADD.replace(r#""id":2"#, r#""id":"\u0061""#)).id;
    assert!(
        matches!(server.receive(&cancel(r#""a""#)), Received::Cancelled { call, .. } if call == string)
    );
}

#[test]
fn notifications_are_acknowledged() {
    let mut server = server();
    for method in ["notifications/initialized", "notifications/x", "ping"] {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        assert_eq!(server.receive(&message), Received::Accepted(ACK));
    }
}

#[test]
fn resources_are_read_through_the_host() {
    let mut server = server();
    server
        .add_resource(Resource {
            uri: "file:///a".into(),
            name: "a".into(),
            mime_type: Some("text/plain".into()),
            ..Resource::default()
        })
        .unwrap();
    let known = call(
        &mut server,
        &request("resources/read", r#"{"uri":"file:///a"}"#),
    );
    assert_eq!(
        known.operation,
        Operation::ReadResource {
            uri: "file:///a".into()
        }
    );
    assert_eq!(
        server.finish(known.id, &CallResult::text("t")).unwrap(),
        r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"t"}]}}"#
    );
    let other = r#"{"uri":"file:///b"}"#;
    assert!(error(&mut server, "resources/read", other).contains("-32002"));
    server
        .add_resource_template(ResourceTemplate {
            uri_template: "file:///{x}".into(),
            name: "x".into(),
            ..ResourceTemplate::default()
        })
        .unwrap();
    let call = call(&mut server, &request("resources/read", other));
    let missing = CallResult::resource_not_found("file:///b");
    assert!(server.finish(call.id, &missing).unwrap().contains("-32002"));
    assert!(server.remove_resource_template("file:///{x}") && server.remove_resource("file:///a"));
    assert!(error(&mut server, "resources/read", r#"{"uri":"file:///a"}"#).contains("-32002"));
}

#[test]
fn prompts_need_their_required_arguments() {
    let mut server = server();
    server
        .add_prompt(Prompt {
            name: "review".into(),
            arguments: vec![PromptArgument {
                name: "file".into(),
                required: true,
                ..PromptArgument::default()
            }],
            ..Prompt::default()
        })
        .unwrap();
    assert_eq!(
        error(&mut server, "prompts/get", r#"{"name":"review"}"#),
        r#"{"code":-32602,"message":"Invalid params: argument \"file\" is missing"}"#
    );
    let params = r#"{"name":"review","arguments":{"file":"a.c"}}"#;
    let call = call(&mut server, &request("prompts/get", params));
    assert!(
        matches!(&call.operation, Operation::GetPrompt { name, arguments } if name == "review" && arguments == r#"{"file":"a.c"}"#)
    );
    assert!(server
        .finish(call.id, &CallResult::text("Review a.c"))
        .unwrap()
        .contains(r#""messages":[{"role":"user""#));
    assert!(server.remove_prompt("review") && !server.remove_prompt("review"));
}

#[test]
fn changes_are_told_once_and_only_after_the_handshake() {
    let mut server = server();
    server.add_tool(Tool::new("sub", "", "{}")).unwrap();
    assert!(outgoing(&mut server).is_empty());
    result(&mut server, "initialize", "{}");
    assert!(server.remove_tool("sub"));
    server.add_tool(Tool::new("mul", "", "{}")).unwrap();
    assert!(server.add_tool(Tool::new("mul", "", "{}")).is_err());
    assert!(!server.remove_tool("sub"));
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(outgoing(&mut server), [changed]);
    assert!(server.remove_tool("mul"));
    assert_eq!(outgoing(&mut server), [changed]);

    let prompt = |name: &str| Prompt {
        name: name.into(),
        ..Prompt::default()
    };
    server.add_prompt(prompt("a")).unwrap();
    assert!(
        outgoing(&mut server).is_empty(),
        "prompts were not announced"
    );
    result(&mut server, "initialize", "{}");
    server.add_prompt(prompt("b")).unwrap();
    assert_eq!(
        outgoing(&mut server),
        [r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#]
    );
}

#[test]
fn a_manifest_stands_for_the_handshake() {
    let mut server = server();
    assert_eq!(
        server.manifest(),
        concat!(
            r#"{"initializeResult":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"#,
            r#""serverInfo":{"name":"calc","version":"1.0.0"}},"toolsListResult":{"tools":[{"name":"add","#,
            r#""description":"adds","inputSchema":{"type":"object"}}]}}"#
        )
    );
    assert!(server.remove_tool("add"));
    assert_eq!(outgoing(&mut server).len(), 1);
}

#[test]
fn progress_needs_a_token_and_an_open_call() {
    let mut server = server();
    let with = call(&mut server, ADD).id;
    let without = call(&mut server, &request("tools/call", r#"{"name":"add"}"#)).id;
    assert!(server.progress(with, 0.5, Some(2.0), Some("half\nway")));
    assert!(server.progress(with, 1.0, None, None));
    assert!(!server.progress(with, f64::NAN, None, None));
    assert!(!server.progress(with, 1.0, Some(f64::INFINITY), None));
    assert!(!server.progress(without, 1.0, None, None));
    server.finish(with, &CallResult::text("x")).unwrap();
    assert!(!server.progress(with, 2.0, None, None));
    assert_eq!(
        outgoing(&mut server),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":0.5,"total":2,"message":"half\nway"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
        ]
    );
}

#[test]
fn log_messages_follow_the_level() {
    let mut server = server();
    result(&mut server, "initialize", "{}");
    assert_eq!(server.log(LogLevel::Error, None, "1"), Ok(false));
    server.declare(Feature::Logging);
    result(&mut server, "initialize", "{}");
    result(&mut server, "logging/setLevel", r#"{"level":"warning"}"#);
    assert_eq!(server.log(LogLevel::Notice, None, "1"), Ok(false));
    assert_eq!(
        server.log(LogLevel::Warning, Some("db"), "{\n\"a\":1}"),
        Ok(true)
    );
    assert!(server.log(LogLevel::Error, None, "plain").is_err());
    assert_eq!(
        outgoing(&mut server),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":{ "a":1}}}"#
        ]
    );
    for (name, level) in LogLevel::NAMES {
        assert_eq!(LogLevel::from_name(name), Some(level));
        assert_eq!(level.name(), name);
    }
}

#[test]
fn requests_of_the_server_are_matched_with_their_answers() {
    let mut server = server();
    let roots = server.request("roots/list", None).unwrap();
    let ask = server
        .request("elicitation/create", Some(r#"{"message":"?"}"#))
        .unwrap();
    assert_eq!(
        outgoing(&mut server),
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"elicitation/create","params":{"message":"?"}}"#
        ]
    );
    let refused =
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}"#;
    let Received::Response {
        request,
        outcome: Err(error),
        ack,
    } = server.receive(refused)
    else {
        panic!()
    };
    assert_eq!((request, error.code, ack), (ask, -32601, ACK));
    assert_eq!(server.receive(refused), Received::Accepted(ACK));
    assert_eq!(
        server.receive(r#"{"jsonrpc":"2.0","id":1.0,"result":{"roots":[]}}"#),
        Received::Response {
            request: roots,
            outcome: Ok(r#"{"roots":[]}"#.into()),
            ack: ACK
        }
    );

    let late = server.request("roots/list", Some("{}")).unwrap();
    assert!(server.cancel_request(late, Some("too late")));
    assert!(!server.cancel_request(late, None));
    assert!(outgoing(&mut server)[1].ends_with(
        r#""method":"notifications/cancelled","params":{"requestId":3,"reason":"too late"}}"#
    ));
    assert_eq!(
        server.receive(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
        Received::Accepted(ACK)
    );

    assert!(matches!(
        server.request("x", Some("[]")),
        Err(RequestError::Params(_))
    ));
    server
        .notify("notifications/resources/updated", Some(r#"{"uri":"u"}"#))
        .unwrap();
    assert_eq!(
        outgoing(&mut server),
        [r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u"}}"#]
    );
}

#[test]
fn closing_hands_back_what_is_open_and_refuses_the_rest() {
    let mut server = server();
    result(&mut server, "initialize", "{}");
    let open = call(&mut server, ADD).id;
    let request = server.request("roots/list", None).unwrap();
    assert_eq!(
        server.close(),
        Closed {
            calls: vec![open],
            requests: vec![request]
        }
    );
    assert_eq!(server.close(), Closed::default());
    assert_eq!(server.poll_outgoing(), None);
    assert_eq!(
        server.finish(open, &CallResult::text("late")),
        Err(FinishError::Cancelled)
    );
    assert!(server.remove_tool("add"));
    assert_eq!(server.poll_outgoing(), None);
    assert_eq!(
        error(&mut server, "ping", "{}"),
        r#"{"code":-32000,"message":"The MCP server is closed"}"#
    );
    assert_eq!(server.receive(&cancel("2")), Received::Accepted(ACK));
    assert_eq!(server.notify("x", None), Err(RequestError::Closed));
    assert_eq!(
        server.request("x", None).unwrap_err().to_string(),
        "the MCP server is closed"
    );
}

#[test]
fn a_second_handshake_is_served_by_the_same_server() {
    let mut server = server();
    let first = result(&mut server, "initialize", "{}");
    let open = call(&mut server, ADD).id;
    assert_eq!(result(&mut server, "initialize", "{}"), first);
    assert!(server.finish(open, &CallResult::text("3")).is_ok());
}

#[test]
fn many_cancelled_calls_are_forgotten_in_order() {
    let mut server = server();
    for _ in 0..=CANCELLED_REMEMBERED {
        call(&mut server, ADD);
        server.receive(&cancel("2"));
    }
    let text = CallResult::text("late");
    assert_eq!(
        server.finish(CallId(1), &text),
        Err(FinishError::AlreadyAnswered)
    );
    assert_eq!(server.finish(CallId(2), &text), Err(FinishError::Cancelled));
}
