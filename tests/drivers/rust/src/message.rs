//! A message as it stands in the record: as it came, with the text of an assistant's blocks added.

use serde_json::value::RawValue;
use towline::protocol::json;
use towline::{MessageType, RawMessage};

pub(crate) fn recorded(message: &RawMessage) -> Box<RawValue> {
    let mut line = message.json().trim().to_string();
    if matches!(message.kind(), MessageType::Assistant) {
        let text = text(message.json());
        line.pop();
        if line.trim_end() != "{" {
            line.push(',');
        }
        line.push_str("\"text\":");
        json::push_string(&mut line, &text);
        line.push_str(&format!(",\"text_len\":{}}}", text.chars().count()));
    }
    // What the session delivers is JSON.
    RawValue::from_string(line).unwrap_or_default()
}

/// The type as the CLI spells it.
pub(crate) fn type_name(message: &RawMessage) -> String {
    let name = json::pointer(message.json(), "/type").ok().flatten();
    name.and_then(json::string).unwrap_or_default().into_owned()
}

fn text(message: &str) -> String {
    let mut out = String::new();
    let content = json::pointer(message, "/message/content").ok().flatten();
    // A string in place of blocks has no elements.
    let _ = json::elements(content.unwrap_or("[]"), |block| {
        let member = |path| {
            json::pointer(block, path)
                .ok()
                .flatten()
                .and_then(json::string)
        };
        if member("/type").as_deref() == Some("text") {
            out.push_str(&member("/text").unwrap_or_default());
        }
    });
    out
}
