//! JSON Schemas of what goes over the control channel, by name.

use alloc::vec;
use alloc::vec::Vec;

use schemars::{schema_for, Schema};

use super::answer::{DialogResult, ElicitationResult, HookOutput, PermissionResult};
use super::catalogue::CATALOGUE;
use super::incoming::{
    CanUseTool, Elicitation, HookCallback, HookInput, HostAuthTokenRefresh, McpMessage,
    OauthTokenRefresh, UserDialog,
};

/// The payloads of the host's requests, by subtype, in the catalogue's order.
pub fn request_schemas() -> Vec<(&'static str, Schema)> {
    CATALOGUE
        .iter()
        .map(|spec| (spec.subtype, spec.payload_schema()))
        .collect()
}

/// The CLI's requests, by subtype, and the input of hooks, `hook_input`.
pub fn incoming_schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("can_use_tool", schema_for!(CanUseTool<'_>)),
        ("hook_callback", schema_for!(HookCallback<'_>)),
        ("hook_input", schema_for!(HookInput<'_>)),
        ("mcp_message", schema_for!(McpMessage<'_>)),
        ("elicitation", schema_for!(Elicitation<'_>)),
        ("request_user_dialog", schema_for!(UserDialog<'_>)),
        ("oauth_token_refresh", schema_for!(OauthTokenRefresh<'_>)),
        (
            "host_auth_token_refresh",
            schema_for!(HostAuthTokenRefresh<'_>),
        ),
    ]
}

/// The answers to the CLI's requests, by the request's subtype.
pub fn answer_schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("can_use_tool", schema_for!(PermissionResult<'_>)),
        ("hook_callback", schema_for!(HookOutput)),
        ("elicitation", schema_for!(ElicitationResult)),
        ("request_user_dialog", schema_for!(DialogResult)),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn find(schemas: Vec<(&str, Schema)>, name: &str) -> Value {
        let found = schemas.into_iter().find(|(given, _)| *given == name);
        found.unwrap().1.to_value()
    }

    #[test]
    fn requests_name_their_fields_as_the_wire_does() {
        assert_eq!(request_schemas().len(), CATALOGUE.len());
        let toggle = find(request_schemas(), "mcp_toggle");
        assert_eq!(
            toggle["required"],
            serde_json::json!(["serverName", "enabled"])
        );
        assert_eq!(toggle["properties"]["enabled"]["type"], "boolean");
        let model = find(request_schemas(), "set_model");
        assert_eq!(model["required"], serde_json::json!([]));
        assert_eq!(
            model["properties"]["model"]["anyOf"],
            serde_json::json!([{ "type": "string" }, { "type": "null" }])
        );
        let same = schema_for!(crate::control::catalogue::McpToggle).to_value();
        assert_eq!(same["properties"], toggle["properties"]);
    }

    #[test]
    fn hook_inputs_have_the_common_fields_and_one_form_an_event() {
        let input = find(incoming_schemas(), "hook_input");
        let required = input["required"].as_array().unwrap();
        for name in ["session_id", "transcript_path", "cwd", "hook_event_name"] {
            assert!(required.contains(&name.into()), "{input}");
        }
        let forms = input["anyOf"].as_array().unwrap();
        assert_eq!(
            forms.len(),
            crate::control::incoming::HookEvent::ALL.len() + 1
        );
        let display = input["$defs"]["MessageDisplayInput"]["properties"]
            .as_object()
            .unwrap();
        assert!(display.contains_key("final") && !display.contains_key("text"));
    }

    #[test]
    fn answers_have_the_names_of_the_wire() {
        let hook = find(answer_schemas(), "hook_callback");
        let properties = hook["properties"].as_object().unwrap();
        for name in ["continue", "async", "asyncTimeout", "hookSpecificOutput"] {
            assert!(properties.contains_key(name), "{name}");
        }
        let permission = find(answer_schemas(), "can_use_tool");
        assert_eq!(permission["oneOf"][1]["required"][1], "message");
        assert!(permission["$defs"]["PermissionUpdate"].is_object());
        let elicitation = find(answer_schemas(), "elicitation");
        assert_eq!(elicitation["required"], serde_json::json!(["action"]));
    }
}
