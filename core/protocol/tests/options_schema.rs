//! The JSON Schema of the options document says what the reader takes.
#![cfg(feature = "schema")]

use std::collections::BTreeSet;

use serde_json::Value;
use towline_protocol::launch::Options;

#[test]
fn the_schema_has_every_key_and_no_other() {
    let schema = serde_json::to_value(schemars::schema_for!(Options)).unwrap();
    let properties: BTreeSet<&str> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(properties, Options::KEYS.iter().copied().collect());
    assert_eq!(schema["additionalProperties"], Value::Bool(false));
    assert!(
        schema.get("required").is_none(),
        "every option may be left out"
    );
    for (key, property) in schema["properties"].as_object().unwrap() {
        assert!(property["description"].is_string(), "{key} is described");
    }
}

#[test]
fn the_schema_tells_defaults() {
    let schema = serde_json::to_value(schemars::schema_for!(Options)).unwrap();
    let default = |key: &str| schema["properties"][key]["default"].clone();
    assert_eq!(default("initializeTimeoutMs"), 60_000);
    assert_eq!(default("closeGraceMs"), 5_000);
    assert_eq!(default("watchdog"), true);
    assert_eq!(default("idleTimeoutMs"), Value::Null);
}
