//! Every message of every recording of the real CLI decodes to the type that `protocol.md §5` gives
//! it, with nothing unknown inside.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use towline_protocol::framing::RawMessage;
use towline_protocol::message::{ApiEvent, Block, Content, Delta, Message, SystemMessage};

/// The messages of all recordings, with the recording's name.
fn messages() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut messages = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("tests/transcripts") {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let mut record: Value = serde_json::from_str(line).unwrap();
            let kind = record["line"]["type"].as_str().unwrap_or_default();
            let envelope = [
                "control_request",
                "control_response",
                "control_cancel_request",
            ];
            if record["dir"] == "out" && !envelope.contains(&kind) {
                messages.push((name.clone(), record["line"].take()));
            }
        }
    }
    assert!(messages.len() > 1000, "{} messages", messages.len());
    messages
}

fn known_blocks(content: &Content<'_>, sent: &Value, name: &str) {
    let blocks: Vec<Block<'_>> = content.blocks().collect();
    match sent {
        Value::String(text) => assert_eq!(content.as_string().as_deref(), Some(text.as_str())),
        Value::Array(sent) => assert_eq!(blocks.len(), sent.len(), "{name}"),
        Value::Null => assert!(blocks.is_empty(), "{name}"),
        other => panic!("{name}: {other}"),
    }
    for (index, block) in blocks.iter().enumerate() {
        match block {
            Block::Unknown(block) => panic!("{name}: {}", block.json()),
            Block::ToolResult(block) => {
                known_blocks(&block.content, &sent[index]["content"], name);
            }
            Block::ToolUse(block) => {
                let input: Value = serde_json::from_str(block.input.as_str()).unwrap();
                assert_eq!(input, sent[index]["input"], "{name}");
            }
            _ => {}
        }
    }
}

#[test]
fn every_message_has_its_type() {
    let mut counts = BTreeMap::new();
    for (name, sent) in messages() {
        let raw = RawMessage::from_text(&sent.to_string()).unwrap();
        let message = raw
            .decode()
            .unwrap_or_else(|error| panic!("{name}: {error}: {sent}"));
        let kind = match &message {
            Message::Unknown(_) | Message::System(SystemMessage::Unknown(_)) => {
                panic!("{name}: {sent}")
            }
            Message::Assistant(message) => {
                known_blocks(&message.message.content, &sent["message"]["content"], &name);
                assert_eq!(message.session_id.as_deref(), sent["session_id"].as_str());
                assert_eq!(message.error.as_deref(), sent["error"].as_str());
                "assistant"
            }
            Message::User(message) => {
                known_blocks(&message.message.content, &sent["message"]["content"], &name);
                assert_eq!(message.is_replay, sent["isReplay"] == true);
                assert_eq!(
                    message.tool_use_result.is_some(),
                    !sent["tool_use_result"].is_null()
                );
                "user"
            }
            Message::Result(result) => {
                assert_eq!(result.failed(), sent["is_error"] == true, "{name}");
                assert_eq!(
                    Some(result.total_cost_usd),
                    sent["total_cost_usd"].as_f64(),
                    "{name}"
                );
                assert_eq!(
                    result.model_usage.len(),
                    sent["modelUsage"].as_object().unwrap().len()
                );
                match result.error_text() {
                    Some(text) => assert!(
                        !text.is_empty() && !text.contains("ede_diagnostic"),
                        "{name}: {text}"
                    ),
                    None => assert!(!result.failed()),
                }
                "result"
            }
            Message::StreamEvent(message) => {
                match &message.event {
                    ApiEvent::Unknown { json, .. } => panic!("{name}: {json:?}"),
                    ApiEvent::ContentBlockDelta { delta, .. } => {
                        assert!(!matches!(delta, Delta::Unknown { .. }), "{name}: {delta:?}");
                    }
                    ApiEvent::ContentBlockStart { block, .. } => {
                        assert!(!matches!(**block, Block::Unknown(_)), "{name}: {block:?}");
                    }
                    _ => {}
                }
                "stream_event"
            }
            Message::System(message) => {
                if let SystemMessage::Init(init) = message {
                    assert_eq!(init.session_id, sent["session_id"].as_str().unwrap());
                    assert_eq!(init.tools.len(), sent["tools"].as_array().unwrap().len());
                    assert_eq!(
                        init.permission_mode,
                        sent["permissionMode"].as_str().unwrap()
                    );
                }
                sent["subtype"].as_str().unwrap()
            }
            Message::CommandLifecycle(message) => {
                assert!(!message.command_uuid.is_empty() && !message.state.is_empty());
                "command_lifecycle"
            }
            Message::ConversationReset(_) => "conversation_reset",
            Message::TranscriptMirror(message) => {
                assert_eq!(
                    message.entries.len(),
                    sent["entries"].as_array().unwrap().len()
                );
                "transcript_mirror"
            }
            Message::ToolProgress(message) => {
                assert_eq!(
                    message.call_id(),
                    sent["parent_tool_use_id"].as_str().unwrap()
                );
                "tool_progress"
            }
            other => panic!("{name}: {other:?}"),
        };
        *counts.entry(kind.to_string()).or_insert(0) += 1;
    }
    for kind in [
        "assistant",
        "user",
        "result",
        "stream_event",
        "init",
        "status",
        "compact_boundary",
        "api_retry",
        "informational",
        "notification",
        "hook_started",
        "hook_response",
        "permission_denied",
        "task_started",
        "task_progress",
        "task_updated",
        "task_notification",
        "background_tasks_changed",
        "session_state_changed",
        "session_title_changed",
        "thinking_tokens",
        "control_request_progress",
        "command_lifecycle",
        "conversation_reset",
        "transcript_mirror",
        "tool_progress",
    ] {
        assert!(counts.contains_key(kind), "no recording has {kind}");
    }
}

#[test]
fn streamed_text_is_the_text_of_the_message() {
    let mut streamed = String::new();
    let mut replies = 0;
    for (name, sent) in messages() {
        if name != "partial_messages" {
            continue;
        }
        let raw = RawMessage::from_text(&sent.to_string()).unwrap();
        match raw.decode().unwrap() {
            Message::StreamEvent(message) if matches!(message.event, ApiEvent::MessageStart(_)) => {
                streamed.clear();
            }
            message @ Message::StreamEvent(_) => streamed.push_str(&message.visible_text()),
            message @ Message::Assistant(_) if !message.visible_text().is_empty() => {
                assert_eq!(message.visible_text(), streamed, "{name}");
                replies += 1;
            }
            _ => {}
        }
    }
    assert!(replies > 0, "no recording with partial messages");
}
