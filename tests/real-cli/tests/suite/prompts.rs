//! What prompts and answers can be beside plain text.

use serde_json::{json, Value};
use towline::protocol::control::envelope::UserMessage;
use towline::{fresh_uuid, Reply};
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Stage};

on_both_versions!(replayed_prompts);
on_the_current_version!(an_image, a_structured_answer);

/// A PNG of one pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn an_image(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
    let blocks = json!([
        {"type": "image", "source": source},
        {"type": "text", "text": "what is this"},
    ]);
    let turn = host.send_message(&UserMessage::blocks(blocks.to_string()));
    let text = host.finish(turn).text();
    assert!(text.contains("what is this"), "{text}");
    let asked = stage.api().requests();
    let shown = asked.iter().any(|request| {
        let messages = request.body["messages"].as_array();
        let blocks = messages
            .into_iter()
            .flatten()
            .filter_map(|message| message["content"].as_array())
            .flatten();
        blocks
            .filter(|block| block["type"] == "image")
            .any(|block| block["source"]["media_type"] == "image/png")
    });
    assert!(shown, "the model is shown the image");
    host.end().is_clean();
}

fn a_structured_answer(stage: &Stage) {
    let schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    });
    let mut host = stage.open(json!({"outputFormat": {"type": "json_schema", "schema": schema}}));
    let result = host.turn(r#"STRUCTURED {"n": 5}"#).result();
    assert_eq!(result["structured_output"], json!({"n": 5}));
    host.end().is_clean();
}

/// Beside the prompts, such a CLI also echoes the answers to its own requests.
fn replayed_prompts(stage: &Stage) {
    let builder = stage
        .builder(json!({"replayUserMessages": true}))
        .on_permission(|_| Reply::allow());
    let mut host = stage.start(builder);
    let uuid = fresh_uuid();
    let prompt = prompt_tool(
        "Bash",
        &json!({"command": "touch made", "description": "d"}),
    );
    let turn = host.send_message(&UserMessage {
        uuid: Some(uuid.as_str().into()),
        ..UserMessage::text(prompt.as_str())
    });
    let turn = host.finish(turn);
    let replayed: Vec<&Value> = turn
        .messages
        .iter()
        .filter(|message| message["isReplay"] == true)
        .collect();
    assert_eq!(replayed.len(), 1);
    assert_eq!(replayed[0]["uuid"], uuid);
    assert_eq!(replayed[0]["message"]["content"], prompt);
    host.end().is_clean();
}
