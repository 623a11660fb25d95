//! The JSON Schemas of messages: what the derived ones of their parts add up to.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

use super::*;

/// The objects of a schema whose `tag` has this value.
fn tagged(tag: &str, value: &str, schema: Schema) -> Schema {
    json_schema!({
        "allOf": [schema],
        "properties": { tag: { "const": value } },
        "required": [tag]
    })
}

/// One of the types, or an object of another type.
fn open_union(types: Vec<(&'static str, Schema)>) -> Schema {
    let known: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
    let unknown = json_schema!({
        "type": "object",
        "properties": { "type": { "type": "string", "not": { "enum": known } } },
        "required": ["type"]
    });
    let mut variants: Vec<Schema> = types
        .into_iter()
        .map(|(name, schema)| tagged("type", name, schema))
        .collect();
    variants.push(unknown);
    json_schema!({ "oneOf": variants })
}

impl JsonSchema for Message<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        open_union(alloc::vec![
            ("assistant", generator.subschema_for::<AssistantMessage>()),
            ("user", generator.subschema_for::<UserMessage>()),
            ("result", generator.subschema_for::<ResultMessage>()),
            ("stream_event", generator.subschema_for::<StreamEvent>()),
            ("system", generator.subschema_for::<SystemMessage>()),
            (
                "command_lifecycle",
                generator.subschema_for::<CommandLifecycle>()
            ),
            (
                "conversation_reset",
                generator.subschema_for::<ConversationReset>()
            ),
            (
                "transcript_mirror",
                generator.subschema_for::<TranscriptMirror>()
            ),
            ("tool_progress", generator.subschema_for::<ToolProgress>()),
            ("auth_status", generator.subschema_for::<AuthStatus>()),
            (
                "rate_limit_event",
                generator.subschema_for::<RateLimitEvent>()
            ),
            (
                "tool_use_summary",
                generator.subschema_for::<ToolUseSummary>()
            ),
            (
                "prompt_suggestion",
                generator.subschema_for::<PromptSuggestion>()
            ),
            ("active_goal", generator.subschema_for::<ActiveGoal>()),
            (
                "autocompact_state",
                generator.subschema_for::<AutocompactState>()
            ),
            (
                "queued_notification",
                generator.subschema_for::<QueuedNotification>()
            ),
            ("keep_alive", generator.subschema_for::<KeepAlive>()),
        ])
    }
}

impl JsonSchema for SystemMessage<'_> {
    fn schema_name() -> Cow<'static, str> {
        "SystemMessage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let known: Vec<&str> = SystemSubtype::ALL
            .iter()
            .map(|known| known.name())
            .collect();
        let mut variants: Vec<Schema> = system::schemas(generator)
            .into_iter()
            .map(|(subtype, schema)| tagged("subtype", subtype, schema))
            .collect();
        variants.push(json_schema!({
            "properties": { "subtype": { "not": { "enum": known } } }
        }));
        json_schema!({ "type": "object", "oneOf": variants })
    }
}

impl JsonSchema for Content<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": ["string", "null"] },
                { "type": "array", "items": generator.subschema_for::<Block>() }
            ]
        })
    }
}

impl JsonSchema for Block<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Block".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        open_union(Block::schemas(generator))
    }
}

impl JsonSchema for ApiEvent<'_> {
    fn schema_name() -> Cow<'static, str> {
        "ApiEvent".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let index = json_schema!({ "type": "integer", "minimum": 0 });
        let block_event = |member: &str, schema: Schema| {
            json_schema!({
                "type": "object",
                "properties": { "index": index, member: schema },
                "required": ["index", member]
            })
        };
        let about = |member: &str, schema: Schema| json_schema!({ "properties": { member: schema }, "required": [member] });
        let block = generator.subschema_for::<Block>();
        let delta = generator.subschema_for::<Delta>();
        open_union(alloc::vec![
            (
                "message_start",
                about("message", generator.subschema_for::<ApiMessage>())
            ),
            ("content_block_start", block_event("content_block", block)),
            ("content_block_delta", block_event("delta", delta)),
            ("content_block_stop", about("index", index.clone())),
            ("message_delta", generator.subschema_for::<MessageDelta>()),
            ("message_stop", json_schema!({ "type": "object" })),
            ("ping", json_schema!({ "type": "object" })),
            (
                "error",
                about("error", generator.subschema_for::<ApiError>())
            ),
        ])
    }
}

impl JsonSchema for Delta<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Delta".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let text = |member: &str| {
            json_schema!({
                "type": "object",
                "properties": { member: { "type": "string" } },
                "required": [member]
            })
        };
        open_union(alloc::vec![
            ("text_delta", text("text")),
            ("input_json_delta", text("partial_json")),
            ("thinking_delta", text("thinking")),
            ("signature_delta", text("signature")),
            ("citations_delta", json_schema!({ "type": "object" })),
            ("compaction_delta", json_schema!({ "type": "object" })),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_and_subtype_is_described() {
        let schema = schemars::schema_for!(Message).to_value();
        let tags = |schema: &serde_json::Value, tag: &str| -> Vec<alloc::string::String> {
            let variants = schema["oneOf"].as_array().unwrap();
            let tags = variants
                .iter()
                .map(|variant| &variant["properties"][tag]["const"]);
            tags.filter_map(|tag| tag.as_str().map(Into::into))
                .collect()
        };
        for name in tags(&schema, "type") {
            assert_ne!(MessageType::of(&name), MessageType::Other, "{name}");
        }
        assert_eq!(tags(&schema, "type").len(), 17);
        let subtypes = tags(&schema["$defs"]["SystemMessage"], "subtype");
        let known: Vec<&str> = SystemSubtype::ALL
            .iter()
            .map(|known| known.name())
            .collect();
        assert_eq!(subtypes, known);
        assert_eq!(
            schema["$defs"]["ResultMessage"]["required"],
            serde_json::json!(["subtype", "is_error"])
        );
    }
}
