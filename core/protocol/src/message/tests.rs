use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::json::JsonText;

fn decode(json: &str) -> Result<Message<'_>, DecodeError> {
    let head = crate::framing::Head::scan(json).unwrap();
    let subtype = crate::view::member(json, "subtype").and_then(crate::json::string);
    Message::decode(head.kind, subtype.as_deref(), json)
}

fn assistant(content: &str) -> String {
    format!(r#"{{"message":{{"content":{content},"id":"m"}},"type":"assistant","uuid":"u"}}"#)
}

/// The blocks of an assistant message with this content.
fn blocks(json: &str) -> Vec<Block<'_>> {
    let Ok(Message::Assistant(message)) = decode(json) else {
        panic!("{json}");
    };
    message.message.content.blocks().collect()
}

fn event(event: &str) -> String {
    format!(r#"{{"uuid":"u","event":{event},"type":"stream_event"}}"#)
}

fn api_event(json: &str) -> ApiEvent<'_> {
    let Ok(Message::StreamEvent(message)) = decode(json) else {
        panic!("{json}");
    };
    message.event
}

#[test]
fn unknown_types_and_subtypes_come_with_their_json() {
    let json = r#"{"x":1,"type":"from_the_future","subtype":"s","uuid":"u"}"#;
    let Ok(Message::Unknown(message)) = decode(json) else {
        panic!();
    };
    assert_eq!(message.message_type, "from_the_future");
    assert_eq!(message.subtype.as_deref(), Some("s"));
    assert_eq!(message.json(), json);
    assert_eq!(message.get("x"), Some("1"));

    for json in [
        r#"{"type":"system","subtype":"from_the_future","y":[2]}"#,
        r#"{"type":"system","subtype":7,"y":[2]}"#,
        r#"{"type":"system","y":[2]}"#,
    ] {
        let Ok(Message::System(SystemMessage::Unknown(message))) = decode(json) else {
            panic!("{json}");
        };
        assert_eq!(message.get("y"), Some("[2]"));
    }
}

#[test]
fn every_subtype_has_its_own_variant() {
    for subtype in SystemSubtype::ALL {
        assert_eq!(SystemSubtype::of(subtype.name()), Some(*subtype));
        let json = format!(r#"{{"type":"system","subtype":"{}"}}"#, subtype.name());
        match decode(&json) {
            Ok(Message::System(SystemMessage::Unknown(_))) | Err(_) => panic!("{json}"),
            Ok(message) => assert!(matches!(message, Message::System(_)), "{json}"),
        }
    }
}

#[test]
fn the_member_a_message_is_about_has_to_be_there() {
    for (json, message_type, member) in [
        (r#"{"type":"assistant"}"#, "assistant", "message"),
        (
            r#"{"type":"assistant","message":"x"}"#,
            "assistant",
            "message",
        ),
        (r#"{"type":"user","message":[]}"#, "user", "message"),
        (r#"{"type":"result"}"#, "result", "subtype"),
        (r#"{"type":"stream_event"}"#, "stream_event", "event"),
        (
            r#"{"type":"stream_event","event":null}"#,
            "stream_event",
            "event",
        ),
        (
            r#"{"type":"transcript_mirror","entries":[]}"#,
            "transcript_mirror",
            "filePath",
        ),
    ] {
        let missing = DecodeError::Missing {
            message_type,
            member,
        };
        assert_eq!(decode(json), Err(missing), "{json}");
    }
    assert!(matches!(
        Message::decode(MessageType::User, None, "[]"),
        Err(DecodeError::NotAnObject(_))
    ));
}

#[test]
fn other_members_of_the_wrong_kind_read_as_absent() {
    let json = r#"{"type":"result","subtype":"success","is_error":"no","result":{"a":1},
        "duration_ms":"5","num_turns":2.0,"total_cost_usd":null,"usage":[],"modelUsage":7,
        "permission_denials":{"tool_name":"x"},"errors":"oops","api_error_status":"404",
        "ttft_ms":-1,"origin":"me","structured_output":null,
        "user_message_uuids":["a",5,"b"]}"#;
    let Ok(Message::Result(result)) = decode(json) else {
        panic!();
    };
    assert!(!result.is_error && !result.failed());
    assert_eq!(result.result, None);
    assert_eq!(result.duration_ms, 0);
    assert_eq!(result.num_turns, 2);
    assert_eq!(result.total_cost_usd, 0.0);
    assert_eq!(result.usage, None);
    assert!(result.model_usage.is_empty());
    assert!(result.permission_denials.is_empty() && result.errors.is_empty());
    assert_eq!(result.api_error_status, None);
    assert_eq!(result.ttft_ms, None);
    assert_eq!(result.origin, None);
    assert_eq!(result.structured_output, None);
    assert_eq!(result.user_message_uuids, ["a", "b"]);
    assert_eq!(result.get("total_cost_usd"), Some("null"));

    let json = r#"{"type":"assistant","uuid":1,"parent_tool_use_id":[],"aborted":null,"error":{},
        "message":{"id":null,"content":{},"usage":{"input_tokens":null,"output_tokens":3}}}"#;
    let Ok(Message::Assistant(message)) = decode(json) else {
        panic!();
    };
    assert_eq!(message.uuid, None);
    assert_eq!(message.error, None);
    assert!(!message.aborted);
    assert_eq!(message.message.content.blocks().count(), 0);
    let usage = message.message.usage.as_ref().unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (0, 3));

    let json = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected",
        "resetsAt":1795984059.5,"utilization":1,"isUsingOverage":0}}"#;
    let Ok(Message::RateLimitEvent(message)) = decode(json) else {
        panic!();
    };
    let info = &message.rate_limit_info;
    assert_eq!(info.status, "rejected");
    assert_eq!(info.resets_at, Some(1_795_984_059.5));
    assert_eq!(info.utilization, Some(1.0));
    assert_eq!(info.is_using_overage, None);
}

#[test]
fn of_duplicate_members_the_last_counts() {
    let json = r#"{"type":"assistant","uuid":"a","message":5,"uuid":"b",
        "message":{"content":"one","content":"two"}}"#;
    let message = decode(json).unwrap();
    assert_eq!(message.visible_text(), "two");
    let Message::Assistant(message) = message else {
        panic!();
    };
    assert_eq!(message.uuid.as_deref(), Some("b"));

    let json = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":4,
        "delta":{"type":"text_delta","text":"first"}},"event":{"type":"content_block_stop"}}"#;
    assert_eq!(api_event(json), ApiEvent::ContentBlockStop { index: 0 });
    let json = event(
        r#"{"delta":{"text":"first","type":"text_delta"},"type":"content_block_delta",
        "delta":{"text":"last"},"index":1}"#,
    );
    assert_eq!(
        api_event(&json),
        ApiEvent::ContentBlockDelta {
            index: 1,
            delta: Delta::Unknown {
                delta_type: "".into(),
                json: JsonText::of(r#"{"text":"last"}"#),
            },
        }
    );
    let json = event(
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"first"},"delta":5}"#,
    );
    assert!(matches!(
        api_event(&json),
        ApiEvent::ContentBlockDelta { delta: Delta::Unknown { json, .. }, .. } if json.as_str() == "5"
    ));
}

#[test]
fn the_blocks_by_type() {
    let json = assistant(
        r#"[{"type":"text","text":"a\n","citations":null},
        {"signature":"s","thinking":"hm","type":"thinking"},
        {"type":"redacted_thinking","data":"xx"},
        {"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}},
        {"type":"server_tool_use","id":"t","name":"web_search","input":{}},
        {"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result"}]},
        {"type":"mcp_tool_use","id":"t","name":"add","server_name":"calc","input":[1]},
        {"type":"mcp_tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"3"}]},
        {"type":"tool_result","tool_use_id":"t","content":"plain"},
        {"type":"tool_result","tool_use_id":"t"},
        {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}},
        {"type":"document","title":"D","source":{"type":"url","url":"http://d"}},
        {"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]},
        {"type":"tool_reference","tool_name":"Grep"},
        {"type":"container_upload","file_id":"f"},
        {"type":"compaction","content":null,"encrypted_content":"e"},
        {"type":"fallback","from":{"model":"a"},"to":{"model":"b"}}]"#,
    );
    let blocks = blocks(&json);
    assert_eq!(blocks.len(), 17);
    assert!(matches!(&blocks[0], Block::Text(b) if b.text == "a\n" && b.citations.is_none()));
    assert!(matches!(&blocks[1], Block::Thinking(b)
        if b.thinking == "hm" && b.signature.as_deref() == Some("s")));
    assert!(matches!(&blocks[2], Block::RedactedThinking(b) if b.data == "xx"));
    assert!(matches!(&blocks[3], Block::ToolUse(b)
        if b.id == "t" && b.name == "Bash" && b.input.as_str() == r#"{"command":"ls"}"#));
    assert!(matches!(&blocks[4], Block::ServerToolUse(b) if b.name == "web_search"));
    assert!(matches!(&blocks[5], Block::ServerToolResult(b)
        if b.block_type == "web_search_tool_result" && b.tool_use_id == "t"));
    assert!(matches!(&blocks[6], Block::McpToolUse(b)
        if b.server_name == "calc" && b.input.as_str() == "[1]"));
    assert!(matches!(&blocks[7], Block::McpToolResult(b) if b.is_error && b.content.text() == "3"));
    assert!(matches!(&blocks[8], Block::ToolResult(b)
        if !b.is_error && b.content.as_string().as_deref() == Some("plain")));
    assert!(matches!(&blocks[9], Block::ToolResult(b) if b.content.blocks().count() == 0));
    assert!(matches!(&blocks[10], Block::Image(b)
        if b.source.kind == "base64" && b.source.data.as_deref() == Some("iVBO")));
    assert!(matches!(&blocks[11], Block::Document(b)
        if b.title.as_deref() == Some("D") && b.source.url.as_deref() == Some("http://d")));
    assert!(matches!(&blocks[12], Block::SearchResult(b) if b.content.text() == "found"));
    assert!(matches!(&blocks[13], Block::ToolReference(b) if b.tool_name == "Grep"));
    assert!(matches!(&blocks[14], Block::ContainerUpload(b) if b.file_id == "f"));
    assert!(matches!(&blocks[15], Block::Compaction(b)
        if b.content.is_none() && b.encrypted_content.as_deref() == Some("e")));
    assert!(matches!(&blocks[16], Block::Fallback(b) if b.to.as_str() == r#"{"model":"b"}"#));
}

#[test]
fn unknown_blocks_are_delivered() {
    let json = assistant(r#"[{"type":"hologram","z":1},5,{"text":"typeless"},null,{"type":3}]"#);
    let blocks: Vec<_> = blocks(&json)
        .into_iter()
        .map(|block| match block {
            Block::Unknown(block) => (block.block_type.to_string(), block.json()),
            other => panic!("{other:?}"),
        })
        .collect();
    let blocks: Vec<_> = blocks
        .iter()
        .map(|(kind, json)| (kind.as_str(), *json))
        .collect();
    assert_eq!(
        blocks,
        [
            ("hologram", r#"{"type":"hologram","z":1}"#),
            ("", "5"),
            ("", r#"{"text":"typeless"}"#),
            ("", "null"),
            ("", r#"{"type":3}"#),
        ]
    );
}

#[test]
fn stream_events_by_type() {
    let json = event(
        r#"{"message":{"id":"m","content":[],"usage":{"input_tokens":9}},"type":"message_start"}"#,
    );
    assert!(matches!(api_event(&json), ApiEvent::MessageStart(message)
        if message.id.as_deref() == Some("m")
            && message.usage.as_ref().is_some_and(|usage| usage.input_tokens == 9)));

    let json = event(
        r#"{"type":"content_block_start","content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}},"index":2}"#,
    );
    assert!(
        matches!(api_event(&json), ApiEvent::ContentBlockStart { index: 2, block }
        if matches!(&*block, Block::ToolUse(block) if block.name == "Bash"))
    );

    for (delta, expected) in [
        (
            r#"{"type":"text_delta","text":"h\u00e9"}"#,
            Delta::Text("hé".into()),
        ),
        (
            r#"{"partial_json":"{\"a\":","type":"input_json_delta"}"#,
            Delta::InputJson("{\"a\":".into()),
        ),
        (
            r#"{"type":"thinking_delta","thinking":"hm","estimated_tokens":1}"#,
            Delta::Thinking("hm".into()),
        ),
        (
            r#"{"type":"signature_delta","signature":"s"}"#,
            Delta::Signature("s".into()),
        ),
        (
            r#"{"type":"citations_delta","citation":{"type":"page_location"}}"#,
            Delta::Citation(JsonText::of(r#"{"type":"page_location"}"#)),
        ),
        (
            r#"{"type":"compaction_delta","content":"c"}"#,
            Delta::Compaction(Some("c".into())),
        ),
        (
            r#"{"type":"smell_delta","text":"no text"}"#,
            Delta::Unknown {
                delta_type: "smell_delta".into(),
                json: JsonText::of(r#"{"type":"smell_delta","text":"no text"}"#),
            },
        ),
        (
            r#"{"type":"text_delta","text":5}"#,
            Delta::Unknown {
                delta_type: "text_delta".into(),
                json: JsonText::of(r#"{"type":"text_delta","text":5}"#),
            },
        ),
        (
            "7",
            Delta::Unknown {
                delta_type: "".into(),
                json: JsonText::of("7"),
            },
        ),
    ] {
        let json = event(&format!(
            r#"{{"delta":{delta},"index":1,"type":"content_block_delta"}}"#
        ));
        let expected = ApiEvent::ContentBlockDelta {
            index: 1,
            delta: expected,
        };
        assert_eq!(api_event(&json), expected, "{delta}");
    }

    let json = event(r#"{"type":"content_block_stop","index":3}"#);
    assert_eq!(api_event(&json), ApiEvent::ContentBlockStop { index: 3 });

    let json = event(
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}"#,
    );
    assert!(matches!(api_event(&json), ApiEvent::MessageDelta(delta)
        if delta.delta.stop_reason.as_deref() == Some("end_turn")
            && delta.usage.as_ref().is_some_and(|usage| usage.output_tokens == 5)));

    assert_eq!(
        api_event(&event(r#"{"type":"message_stop"}"#)),
        ApiEvent::MessageStop
    );
    assert_eq!(api_event(&event(r#"{"type":"ping"}"#)), ApiEvent::Ping);
    let json =
        event(r#"{"error":{"type":"overloaded_error","message":"Overloaded"},"type":"error"}"#);
    assert!(matches!(api_event(&json), ApiEvent::Error(error)
        if error.error_type == "overloaded_error" && error.message == "Overloaded"));

    for unknown in [
        r#"{"type":"from_the_future","delta":{"type":"text_delta","text":"x"}}"#,
        r#"{"type":"message_start"}"#,
        r#"{"type":"content_block_delta"}"#,
        r#"{"delta":{}}"#,
        r#"{"type":7}"#,
    ] {
        let json = event(unknown);
        let ApiEvent::Unknown { json, .. } = api_event(&json) else {
            panic!("{unknown}");
        };
        assert_eq!(json.as_str(), unknown);
    }
}

#[test]
fn half_a_surrogate_pair_is_replaced() {
    let json =
        assistant(r#"[{"type":"text","text":"cut \ud83d"},{"type":"text","text":"\ude00 x"}]"#);
    assert_eq!(
        decode(&json).unwrap().visible_text(),
        "cut \u{fffd}\u{fffd} x"
    );
    let json = event(
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}"#,
    );
    assert_eq!(decode(&json).unwrap().visible_text(), "\u{fffd}");
    let json = r#"{"type":"result","subtype":"success","result":"\ud83d","errors":["\ude00"],"uuid":"\ud83d\ude00"}"#;
    let Ok(Message::Result(result)) = decode(json) else {
        panic!();
    };
    assert_eq!(result.result.as_deref(), Some("\u{fffd}"));
    assert_eq!(result.errors, ["\u{fffd}"]);
    assert_eq!(result.uuid.as_deref(), Some("😀"));
}

#[test]
fn escaped_names_of_members_are_known() {
    let json = r#"{"\u0074ype":"assistant","m\u0065ssage":{"content":[{"typ\u0065":"t\u0065xt","text":"x"}]}}"#;
    assert_eq!(decode(json).unwrap().visible_text(), "x");
}

#[test]
fn arguments_of_any_size_and_depth() {
    const DEPTH: usize = 100_000;
    let deep = format!(r#"{}1{}"#, r#"[{"a":"#.repeat(DEPTH), "}]".repeat(DEPTH));
    let huge = format!(r#"{{"content":"{}"}}"#, "\\n0123456789".repeat(500_000));
    for input in [&deep, &huge] {
        let json = assistant(&format!(
            r#"[{{"type":"tool_use","id":"t","name":"X","input":{input}}}]"#
        ));
        let blocks = blocks(&json);
        let [Block::ToolUse(block)] = blocks.as_slice() else {
            panic!();
        };
        assert_eq!(block.input.as_str(), input);
    }
    let json = format!(r#"{{"type":"user","message":{{}},"tool_use_result":{deep}}}"#);
    let Ok(Message::User(message)) = decode(&json) else {
        panic!();
    };
    assert_eq!(message.tool_use_result.unwrap().as_str(), deep);
    let json = format!(r#"{{"type":"system","subtype":"from_the_future","x":{deep}}}"#);
    assert!(decode(&json).is_ok());
}

#[test]
fn strings_borrow_unless_they_have_escapes() {
    let json = assistant(r#"[{"type":"text","text":"plain"}]"#);
    assert!(matches!(
        decode(&json).unwrap().visible_text(),
        Cow::Borrowed("plain")
    ));
    let json = assistant(r#""plain""#);
    assert!(matches!(
        decode(&json).unwrap().visible_text(),
        Cow::Borrowed("plain")
    ));
    let json =
        assistant(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"\tb"}]"#);
    assert_eq!(decode(&json).unwrap().visible_text(), "a\tb");
    let json = r#"{"type":"user","message":{"content":"a prompt"}}"#;
    assert_eq!(decode(json).unwrap().visible_text(), "");
}

#[test]
fn the_text_of_a_failed_result() {
    for (members, expected) in [
        (
            r#""subtype":"success","is_error":false,"result":"fine""#,
            None,
        ),
        (
            r#""subtype":"success","is_error":true,"result":"API Error: 400","terminal_reason":"api_error""#,
            Some("API Error: 400"),
        ),
        (
            r#""subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]"#,
            Some("Reached maximum number of turns (1)"),
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"errors":["one","","two\n"]"#,
            Some("one\ntwo\n"),
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] result_type=user"]"#,
            Some("The turn was interrupted."),
        ),
        (
            r#""subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools","errors":["[ede_diagnostic] x","real"]"#,
            Some("real"),
        ),
        (
            r#""subtype":"error_max_budget_usd""#,
            Some("The session reached its budget."),
        ),
        (
            r#""subtype":"error_during_execution","terminal_reason":"prompt_too_long","errors":[]"#,
            Some("The turn failed: prompt_too_long."),
        ),
        (
            r#""subtype":"error_from_the_future","errors":[1]"#,
            Some("The turn failed: error_from_the_future."),
        ),
        (
            r#""subtype":"success","is_error":true,"result":" ""#,
            Some("The turn failed."),
        ),
    ] {
        let json = format!(r#"{{"type":"result",{members}}}"#);
        let Ok(Message::Result(result)) = decode(&json) else {
            panic!("{json}");
        };
        assert_eq!(result.error_text().as_deref(), expected, "{json}");
        assert_eq!(result.failed(), expected.is_some(), "{json}");
    }
    let json = r#"{"type":"result","subtype":"success","is_error":true}"#;
    let Ok(Message::Result(result)) = decode(json) else {
        panic!();
    };
    assert!(result.is_api_error() && !result.interrupted());
}

#[test]
fn a_heartbeat_names_the_call() {
    for (members, call) in [
        (
            r#""tool_use_id":"toolu_1-heartbeat-0","parent_tool_use_id":"toolu_1","heartbeat":true"#,
            "toolu_1",
        ),
        (
            r#""tool_use_id":"toolu_2","parent_tool_use_id":"toolu_1","heartbeat":false"#,
            "toolu_2",
        ),
        (
            r#""tool_use_id":"toolu_2","parent_tool_use_id":"toolu_1","heartbeat":true"#,
            "toolu_2",
        ),
        (r#""tool_use_id":"toolu_2","heartbeat":true"#, "toolu_2"),
    ] {
        let json = format!(r#"{{"type":"tool_progress",{members}}}"#);
        let Ok(Message::ToolProgress(message)) = decode(&json) else {
            panic!("{json}");
        };
        assert_eq!(message.call_id(), call);
    }
}

#[test]
fn types_that_no_recording_has() {
    let messages = [
        r#"{"type":"auth_status","isAuthenticating":true,"output":["Open"],"error":"e"}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}"#,
        r#"{"type":"tool_use_summary","summary":"s","preceding_tool_use_ids":["a"]}"#,
        r#"{"type":"prompt_suggestion","suggestion":"go on"}"#,
        r#"{"type":"active_goal","value":{"condition":"c","iterations":2,"set_at":1,"tokens_at_start":0}}"#,
        r#"{"type":"active_goal","value":null}"#,
        r#"{"type":"autocompact_state","value":{"enabled":true,"effective_window":9,"threshold":8,"source":"env"}}"#,
        r#"{"type":"queued_notification","notification":{"notification_id":"n","origin":"o","content":"c"}}"#,
        r#"{"type":"keep_alive","startup_mark":{"a":1}}"#,
    ];
    let seen: Vec<String> = messages
        .iter()
        .map(|json| match decode(json).unwrap() {
            Message::AuthStatus(m) => format!("{} {:?}", m.output[0], m.error),
            Message::RateLimitEvent(m) => m.rate_limit_info.status.to_string(),
            Message::ToolUseSummary(m) => m.preceding_tool_use_ids[0].to_string(),
            Message::PromptSuggestion(m) => m.suggestion.to_string(),
            Message::ActiveGoal(m) => format!("{:?}", m.value.as_ref().map(|goal| goal.iterations)),
            Message::AutocompactState(m) => m.value.threshold.to_string(),
            Message::QueuedNotification(m) => m.notification.content.to_string(),
            Message::KeepAlive(m) => m.startup_mark.unwrap().as_str().to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        seen,
        [
            "Open Some(\"e\")",
            "allowed",
            "a",
            "go on",
            "Some(2)",
            "None",
            "8",
            "c",
            "{\"a\":1}"
        ]
    );
}
