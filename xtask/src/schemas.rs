//! `include/schema/*.json`: JSON Schemas of what hosts and the CLI write, from the Rust types.

use serde_json::{json, Map, Value};
use towline_protocol::control::{answer_schemas, incoming_schemas, request_schemas};
use towline_protocol::launch::Options;
use towline_protocol::message::Message;

use crate::files::Generated;

/// The schemas.
///
/// # Errors
/// Says what could not be written as JSON.
pub fn generate() -> Result<Vec<Generated>, String> {
    let options = schemars::schema_for!(Options).to_value();
    Ok(vec![
        document("include/schema/options.json", &options)?,
        document(
            "include/schema/messages.json",
            &schemars::schema_for!(Message<'_>).to_value(),
        )?,
        document(
            "include/schema/control-requests.json",
            &by_name(
                "Control requests of the host: the payload of each, by subtype.",
                request_schemas(),
            ),
        )?,
        document(
            "include/schema/incoming-requests.json",
            &by_name(
                "Requests of the CLI, by subtype, and the input of hooks.",
                incoming_schemas(),
            ),
        )?,
        document(
            "include/schema/answers.json",
            &by_name(
                "Answers to the requests of the CLI, by the request's subtype.",
                answer_schemas(),
            ),
        )?,
    ])
}

fn document(path: &'static str, value: &Value) -> Result<Generated, String> {
    let mut text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    text.push('\n');
    Ok(Generated { path, text })
}

/// One document: `#/$defs/NAME` is the schema of that name. What a schema defines for itself stands
/// under its own name, where its references, which are made whole, find it.
fn by_name(description: &str, schemas: Vec<(&'static str, schemars::Schema)>) -> Value {
    let mut definitions = Map::new();
    for (name, schema) in schemas {
        let mut schema = schema.to_value();
        if let Some(object) = schema.as_object_mut() {
            object.remove("$schema");
        }
        move_references(&mut schema, name);
        definitions.insert(name.into(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": description,
        "$defs": definitions,
    })
}

fn move_references(value: &mut Value, name: &str) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(reference)) = object.get_mut("$ref") {
                if let Some(own) = reference.strip_prefix("#/$defs/") {
                    *reference = format!("#/$defs/{name}/$defs/{own}");
                }
            }
            object
                .values_mut()
                .for_each(|value| move_references(value, name));
        }
        Value::Array(array) => array
            .iter_mut()
            .for_each(|value| move_references(value, name)),
        _ => {}
    }
}
