//! JSON Schemas of payloads, from the catalogue's own lines.

use alloc::vec::Vec;

use schemars::{json_schema, Schema};
use serde_json::{json, Map, Value};

use super::{FieldKind, FieldSpec, Presence, RequestSpec};

impl RequestSpec {
    /// The schema of the payload. More fields than listed are allowed: newer CLIs have more.
    pub fn payload_schema(&self) -> Schema {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in self.fields {
            properties.insert(field.wire.into(), field_schema(field));
            if matches!(field.presence, Presence::Required | Presence::OrNull) {
                required.push(field.wire);
            }
        }
        json_schema!({
            "description": self.doc,
            "type": "object",
            "properties": properties,
            "required": required,
        })
    }
}

fn field_schema(field: &FieldSpec) -> Value {
    let kind = match field.kind {
        FieldKind::String => json!({ "type": "string" }),
        FieldKind::OneOf(values) => json!({ "type": "string", "examples": values }),
        FieldKind::Boolean => json!({ "type": "boolean" }),
        FieldKind::Integer => json!({ "type": "integer" }),
        FieldKind::Number => json!({ "type": "number" }),
        FieldKind::Strings => json!({ "type": "array", "items": { "type": "string" } }),
        FieldKind::StringMap => {
            json!({ "type": "object", "additionalProperties": { "type": "string" } })
        }
        FieldKind::Object => json!({ "type": "object" }),
        FieldKind::Array => json!({ "type": "array" }),
        FieldKind::Any => json!({}),
    };
    let mut schema = match field.presence {
        Presence::Required | Presence::Optional => kind,
        Presence::Nullable | Presence::OrNull => json!({ "anyOf": [kind, { "type": "null" }] }),
    };
    if let Some(object) = schema.as_object_mut() {
        object.insert("description".into(), field.doc.into());
    }
    schema
}
