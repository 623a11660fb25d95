//! Hook answers as the CLI wants to read them.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{members, push_string};

/// A hook's output with the names of the wire: `continue_` and `async_`, which Python has to write,
/// become `continue` and `async`.
///
/// Members that are null, at the top and in `hookSpecificOutput`, are left out: to the CLI null is
/// a wrong type, the whole answer fails and the action goes ahead (`protocol.md §6`). What is not
/// an object comes back as it is. Borrows when there is nothing to change.
pub fn normalize_hook_output(json: &str) -> Cow<'_, str> {
    normalize(json, Level::Top)
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Top,
    Specific,
    Decision,
}

fn normalize(json: &str, level: Level) -> Cow<'_, str> {
    let mut list: Vec<(String, Cow<'_, str>)> = Vec::new();
    let mut changed = false;
    let read = members(json, |given, value| {
        let (name, inner) = match (level, given) {
            (Level::Top, "continue_") => ("continue", None),
            (Level::Top, "async_") => ("async", None),
            (Level::Top, "hookSpecificOutput") => (given, Some(Level::Specific)),
            (Level::Specific, "decision") => (given, Some(Level::Decision)),
            _ => (given, None),
        };
        changed |= name != given;
        if value == "null" && !null_fits(name) {
            changed = true;
            return;
        }
        let value = inner.map_or(Cow::Borrowed(value), |level| normalize(value, level));
        changed |= matches!(value, Cow::Owned(_));
        list.push((name.into(), value));
    });
    if read.is_err() || !changed {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for (name, value) in &list {
        out.push(if out.is_empty() { '{' } else { ',' });
        push_string(&mut out, name);
        out.push(':');
        out.push_str(value);
    }
    if out.is_empty() {
        out.push('{');
    }
    out.push('}');
    Cow::Owned(out)
}

/// Members whose null is a value and not a wrong type.
pub(super) fn null_fits(name: &str) -> bool {
    matches!(name, "updatedToolOutput" | "updatedMCPToolOutput")
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::control::answer::*;
    use crate::control::incoming::IncomingKind::HookCallback;

    fn request(event: &str) -> String {
        alloc::format!(
            r#"{{"subtype":"hook_callback","callback_id":"c","input":{{"hook_event_name":"{event}"}}}}"#
        )
    }

    #[test]
    fn names_of_python_become_those_of_the_wire() {
        for (given, wire) in [
            (r#"{"continue_":false}"#, r#"{"continue":false}"#),
            (
                r#"{"async_":true,"asyncTimeout":5}"#,
                r#"{"async":true,"asyncTimeout":5}"#,
            ),
            (
                r#"{"reason":null,"decision":"block","hookSpecificOutput":null}"#,
                r#"{"decision":"block"}"#,
            ),
            (r#"{"reason":null}"#, "{}"),
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":null,"permissionDecision":"deny"}}"#,
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#,
            ),
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":null}}}"#,
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}"#,
            ),
        ] {
            assert_eq!(normalize_hook_output(given), wire);
        }
        for kept in [
            "{}",
            r#"{"continue":true,"reason":"continue_"}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":null,"async_":{"x":null}}}"#,
            r#"{"systemMessage":"async_"}"#,
            "no json",
            "[1]",
            "null",
        ] {
            assert!(
                matches!(normalize_hook_output(kept), Cow::Borrowed(text) if text == kept),
                "{kept}"
            );
        }
    }

    #[test]
    fn answers_that_would_let_the_action_go_ahead_are_refused() {
        for (event, answer, told) in [
            ("PreToolUse", "null", "not an object"),
            ("PreToolUse", "[]", "not an object"),
            ("PreToolUse", "{", "not JSON"),
            ("PreToolUse", r#"{"decision":"deny"}"#, "deny"),
            ("PreToolUse", r#"{"continue":"no"}"#, "bool"),
            ("PreToolUse", r#"{"reason":5}"#, "string"),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":"x"}"#,
                "not an object",
            ),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":{}}"#,
                "hookEventName is missing",
            ),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}"#,
                "the event is PreToolUse",
            ),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"no"}}"#,
                "`no`",
            ),
            (
                "PreToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":[]}}"#,
                "map",
            ),
            (
                "PermissionRequest",
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#,
                "decision",
            ),
            (
                "Stop",
                r#"{"hookSpecificOutput":{"hookEventName":"Nope"}}"#,
                "Nope",
            ),
        ] {
            let error = prepare_answer(HookCallback, &request(event), answer).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(told), "{answer}: {text}");
        }
        for answer in [
            r#"{"continue_":true}"#,
            r#"{"async_":true}"#,
            r#"{"reason":null}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":null}}"#,
        ] {
            let refused = validate_answer(HookCallback, &request("PreToolUse"), answer);
            assert!(refused.is_err(), "{answer}");
            assert!(prepare_answer(HookCallback, &request("PreToolUse"), answer).is_ok());
        }
        for (event, answer) in [
            ("PreToolUse", "{}"),
            (
                "PreToolUse",
                r#"{"decision":"block","reason":"r","extra":[null]}"#,
            ),
            ("Stop", r#"{"async":true,"asyncTimeout":1000}"#),
            (
                "BrandNew",
                r#"{"hookSpecificOutput":{"hookEventName":"BrandNew","field":[1]}}"#,
            ),
            (
                "PostToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":null}}"#,
            ),
        ] {
            let taken = prepare_answer(HookCallback, &request(event), answer);
            assert_eq!(taken.as_deref(), Ok(answer));
        }
    }

    #[test]
    fn typed_outputs_have_the_names_of_the_wire() {
        let output = HookOutput {
            continue_: Some(false),
            stop_reason: Some("done".into()),
            hook_specific_output: Some(HookSpecificOutput::PreToolUse(PreToolUseOutput {
                permission_decision: Some(HookPermissionDecision::Defer),
                ..Default::default()
            })),
            ..Default::default()
        };
        let text = r#"{"continue":false,"stopReason":"done","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#;
        assert_eq!(serde_json::to_string(&output).unwrap(), text);
        assert_eq!(serde_json::from_str::<HookOutput>(text).unwrap(), output);
        let output = HookOutput {
            async_: Some(true),
            async_timeout: Some(2000.0),
            hook_specific_output: Some(HookSpecificOutput::PostToolUse(PostToolUseOutput {
                updated_mcp_tool_output: Some(serde_json::Value::Null),
                ..Default::default()
            })),
            ..Default::default()
        };
        assert_eq!(
            serde_json::to_string(&output).unwrap(),
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedMCPToolOutput":null},"async":true,"asyncTimeout":2000.0}"#
        );
    }
}
