//! Whatever comes in or is answered, the MCP server stays a server: every request with an id gets
//! exactly one response, and everything it writes is one JSON value on one line.

use proptest::prelude::*;
use serde_json::{json, Map, Number, Value};
use towline_protocol::json::push_string;
use towline_protocol::mcp::{
    Bridge, CallResult, Forward, Prompt, Received, Resource, ResourceTemplate, Sent, Server, Tool,
};

fn server() -> Server {
    let mut server = Server::new("calc", "1.0.0");
    server.add_tool(Tool::new("add", "adds", "{}")).unwrap();
    server
        .add_resource(Resource {
            uri: "add".into(),
            name: "a".into(),
            ..Resource::default()
        })
        .unwrap();
    server
        .add_resource_template(ResourceTemplate {
            uri_template: "{x}".into(),
            name: "x".into(),
            ..ResourceTemplate::default()
        })
        .unwrap();
    server
        .add_prompt(Prompt {
            name: "add".into(),
            ..Prompt::default()
        })
        .unwrap();
    server
}

/// Names that mean something to the server, so that random values reach its insides.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "tools/call", "tools/list", "resources/read", "resources/list", "prompts/get",
            "prompts/list", "initialize", "ping", "logging/setLevel", "completion/complete",
            "notifications/cancelled", "notifications/initialized", "no/such", "add", "2.0",
            "text", "image", "resource", "user", "error", "1", "",
        ])
        .prop_map(String::from),
        1 => any::<String>(),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "_meta",
            "uri", "cursor", "level", "requestId", "progressToken", "claudecode/toolUseId",
            "content", "type", "text", "data", "mimeType", "isError", "is_error", "blob",
            "structuredContent", "contents", "messages", "role", "resource", "code", "message",
        ])
        .prop_map(String::from),
        1 => any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| Number::from_f64(number).map_or(json!(1), Value::Number)),
        word().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Values that are nearly MCP results.
fn result() -> impl Strategy<Value = Value> {
    let member = prop_oneof![
        Just(Value::Null),
        Just(json!("aGk=")),
        Just(json!({"uri": "u", "text": "t", "mimeType": null})),
        value(),
    ];
    let kind = prop::sample::select(vec!["text", "image", "resource", "resource_link", "new"]);
    let block =
        (kind, prop::collection::hash_map(key(), member, 0..5)).prop_map(|(kind, members)| {
            let mut block: Map<_, _> = members.into_iter().collect();
            block.insert("type".into(), json!(kind));
            Value::Object(block)
        });
    let content = (prop::collection::vec(block, 0..3), value(), any::<bool>()).prop_map(
        |(content, other, is_error)| {
            json!({"content": content, "is_error": is_error, "_meta": null, "other": other})
        },
    );
    prop_oneof![value(), content]
}

fn id() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(|number| json!(number)),
        any::<String>().prop_map(Value::String),
    ]
}

/// Parses what was written, and checks that it is one line.
fn written(text: &str) -> Value {
    assert!(!text.contains(['\n', '\r']), "{text}");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn is_response(text: &str) -> Value {
    let value = written(text);
    assert_eq!(value["jsonrpc"], "2.0");
    let answers =
        usize::from(value.get("result").is_some()) + usize::from(value.get("error").is_some());
    assert_eq!(answers, 1, "{text}");
    value
}

proptest! {
    #[test]
    fn anything_is_received(message in value(), garbage in any::<String>()) {
        let mut server = server();
        for text in [message.to_string(), garbage] {
            match server.receive(&text) {
                Received::Reply(text) => {
                    is_response(&text);
                }
                Received::Accepted(ack) => {
                    is_response(ack);
                }
                Received::Call(call) => prop_assert!(server.is_open(call.id)),
                Received::Cancelled { .. } | Received::Response { .. } => {
                    prop_assert!(false, "nothing was open")
                }
            }
        }
    }

    #[test]
    fn every_request_gets_one_response(
        id in id(),
        method in word(),
        params in value(),
        result in result(),
        pretty in any::<bool>(),
    ) {
        let mut server = server();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let print = |value: &Value| if pretty {
            serde_json::to_string_pretty(value).unwrap()
        } else {
            value.to_string()
        };
        match server.receive(&print(&request)) {
            Received::Reply(reply) => prop_assert_eq!(&is_response(&reply)["id"], &id),
            Received::Call(call) => {
                server.progress(call.id, 0.5, None, Some("\n"));
                let answer = server.finish(call.id, &CallResult::json(print(&result))).unwrap();
                prop_assert_eq!(&is_response(&answer)["id"], &id);
                prop_assert!(server.finish(call.id, &CallResult::text("x")).is_err());
                if let Some(progress) = server.poll_outgoing() {
                    written(&progress);
                }
            }
            other => prop_assert!(false, "{:?}", other),
        }
        prop_assert_eq!(server.poll_outgoing(), None);
    }

    #[test]
    fn a_result_given_as_json_is_an_mcp_result(result in result(), text in any::<String>()) {
        let mut server = server();
        for raw in [result.to_string(), text] {
            let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#;
            let Received::Call(call) = server.receive(request) else {
                panic!()
            };
            let answer = is_response(&server.finish(call.id, &CallResult::json(raw)).unwrap());
            let result = &answer["result"];
            for block in result["content"].as_array().unwrap() {
                prop_assert!(block["type"].is_string(), "{}", answer);
            }
            let is_error = result.get("isError").is_none_or(Value::is_boolean);
            prop_assert!(is_error && result.get("is_error").is_none(), "{}", answer);
        }
    }

    #[test]
    fn texts_survive(text in any::<String>()) {
        let mut server = server();
        let mut quoted = String::new();
        push_string(&mut quoted, &text);
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":{quoted},"method":"tools/call","params":{{"name":"add"}}}}"#
        );
        let Received::Call(call) = server.receive(&request) else {
            panic!()
        };
        let answer = server.finish(call.id, &CallResult::text(text.as_str())).unwrap();
        let answer = is_response(&answer);
        prop_assert_eq!(answer["id"].as_str(), Some(text.as_str()));
        prop_assert_eq!(
            answer.pointer("/result/content/0/text").and_then(Value::as_str),
            Some(text.as_str())
        );
    }

    #[test]
    fn tools_register_or_are_refused_by_name(schema in value(), annotations in value()) {
        let mut server = Server::new("s", "1");
        let tool = Tool {
            annotations: Some(annotations.to_string()),
            ..Tool::new("t", "", serde_json::to_string_pretty(&schema).unwrap())
        };
        match server.add_tool(tool) {
            Ok(()) => {
                let manifest = written(&server.manifest());
                let listed = &manifest["toolsListResult"]["tools"][0];
                prop_assert_eq!(&listed["inputSchema"]["type"], "object");
                prop_assert_eq!(&listed["annotations"], &written(&annotations.to_string()));
            }
            Err(error) => prop_assert!(error.to_string().starts_with("tool \"t\": "), "{}", error),
        }
    }

    #[test]
    fn the_bridge_returns_every_answer_to_its_request(
        ids in prop::collection::hash_set(id().prop_map(|id| id.to_string()), 1..8),
        noise in value(),
    ) {
        let mut bridge = Bridge::new();
        let mut open = Vec::new();
        for id in &ids {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let Forward::Request(exchange) = bridge.receive(&request) else {
                panic!("{request}")
            };
            open.push((exchange, id));
        }
        let noise = json!({"noise": noise}).to_string();
        prop_assert!(bridge.send(&noise).is_err());
        for (exchange, id) in open.into_iter().rev() {
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{noise}}}"#);
            prop_assert_eq!(
                bridge.send(&answer),
                Ok(Sent::Answer(exchange, answer.clone()))
            );
        }
        prop_assert!(bridge.close().is_empty());
    }
}
