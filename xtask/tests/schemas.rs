//! The committed schemas: generated from these sources, and right.

use serde_json::{json, Value};
use towline_xtask::{files, schemas};

#[test]
fn they_are_what_the_sources_say() {
    let generated = schemas::generate().unwrap();
    files::check(&generated, "cargo run -p xtask -- schemas").unwrap();
}

fn schema(name: &str) -> Value {
    let path = files::root().join("include/schema").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn part(name: &str, definition: &str) -> Value {
    let mut whole = schema(name);
    assert!(whole["$defs"][definition].is_object(), "{definition}");
    whole["$ref"] = format!("#/$defs/{definition}").into();
    whole
}

#[test]
fn every_document_is_a_schema() {
    for name in [
        "options.json",
        "messages.json",
        "control-requests.json",
        "incoming-requests.json",
        "answers.json",
    ] {
        let schema = schema(name);
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        if let Some(definitions) = schema["$defs"].as_object() {
            for definition in definitions.keys() {
                jsonschema::validator_for(&part(name, definition))
                    .unwrap_or_else(|error| panic!("{name}: {definition}: {error}"));
            }
        }
    }
}

#[test]
fn options() {
    let validator = jsonschema::validator_for(&schema("options.json")).unwrap();
    for good in [
        json!({}),
        json!({ "model": "opus", "maxTurns": 3, "env": { "A": "b", "C": null } }),
        json!({ "systemPrompt": { "type": "preset", "preset": "claude_code", "append": "x" } }),
    ] {
        assert!(validator.is_valid(&good), "{good}");
    }
    for bad in [
        json!([]),
        json!({ "modle": "x" }),
        json!({ "maxTurns": "3" }),
    ] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn messages() {
    let validator = jsonschema::validator_for(&schema("messages.json")).unwrap();
    for good in [
        json!({ "type": "assistant", "message": { "role": "assistant", "content": [{ "type": "text", "text": "x" }] }, "session_id": "s", "uuid": "u" }),
        json!({ "type": "of_tomorrow", "x": 1 }),
    ] {
        assert!(
            validator.is_valid(&good),
            "{good}: {:?}",
            validator
                .iter_errors(&good)
                .map(|e| e.to_string())
                .collect::<Vec<_>>()
        );
    }
    for bad in [json!({ "type": 5 }), json!({})] {
        assert!(!validator.is_valid(&bad), "{bad}");
    }
}

#[test]
fn control_requests_and_answers() {
    let toggle = part("control-requests.json", "mcp_toggle");
    let validator = jsonschema::validator_for(&toggle).unwrap();
    assert!(validator.is_valid(&json!({ "serverName": "x", "enabled": true })));
    assert!(!validator.is_valid(&json!({ "serverName": "x" })));
    let permission = part("answers.json", "can_use_tool");
    let validator = jsonschema::validator_for(&permission).unwrap();
    assert!(validator.is_valid(&json!({ "behavior": "deny", "message": "no" })));
    assert!(!validator.is_valid(&json!({ "behavior": "perhaps" })));
}
