//! The answer nobody gave: it lets nothing pass.

use alloc::string::String;

use super::{Answer, PermissionResult};
use crate::control::incoming::IncomingKind;
use crate::json::{push_string, string};
use crate::view::member;

/// What goes to the CLI when no handler answers, a handler fails, or the session closes.
///
/// `request` is the request's text, `reason` says why there is no real answer. A permission is
/// denied, a hook reports an error (so that its `onFailure` decides), an MCP call gets a JSON-RPC
/// error, an elicitation is cancelled, an unknown request gets an error. A dialog is cancelled when
/// its kind is among `declared_dialogs` and else not answered, nor is the `remote_*` family
/// (`protocol.md §8`).
pub fn safe_answer(
    kind: IncomingKind,
    request: &str,
    reason: &str,
    declared_dialogs: &[&str],
) -> Answer {
    match kind {
        IncomingKind::CanUseTool => {
            let mut payload = String::new();
            match PermissionResult::deny(reason).write_payload("null", None, &mut payload) {
                Ok(()) => Answer::Success(payload),
                Err(error) => Answer::Error(alloc::format!("{error}")),
            }
        }
        IncomingKind::McpMessage => Answer::Success(mcp_error(request, reason)),
        IncomingKind::Elicitation => Answer::Success(r#"{"action":"cancel"}"#.into()),
        IncomingKind::UserDialog => {
            let dialog = member(request, "dialog_kind").and_then(string);
            match dialog {
                Some(dialog) if declared_dialogs.contains(&dialog.as_ref()) => {
                    Answer::Success(r#"{"behavior":"cancelled"}"#.into())
                }
                _ => Answer::Nothing,
            }
        }
        IncomingKind::Remote => Answer::Nothing,
        IncomingKind::HookCallback
        | IncomingKind::OauthTokenRefresh
        | IncomingKind::HostAuthTokenRefresh
        | IncomingKind::Unknown => Answer::Error(reason.into()),
    }
}

/// A JSON-RPC internal error under the message's id; an empty result for a notification, which has
/// none and cannot fail.
fn mcp_error(request: &str, reason: &str) -> String {
    let message = member(request, "message").unwrap_or("null");
    let method = member(message, "method");
    let mut out = String::from(r#"{"mcp_response":{"jsonrpc":"2.0","#);
    match member(message, "id") {
        None if method.is_some() => out.push_str(r#""result":{}}}"#),
        id => {
            out.push_str(r#""id":"#);
            out.push_str(id.unwrap_or("null"));
            out.push_str(r#","error":{"code":-32603,"message":"#);
            push_string(&mut out, reason);
            out.push_str("}}}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::answer::validate_answer;

    fn safe(subtype: &str, request: &str) -> Answer {
        safe_answer(
            IncomingKind::of(subtype),
            request,
            "no \"host\"",
            &["known"],
        )
    }

    #[test]
    fn nothing_passes_and_every_payload_is_well_formed() {
        for (subtype, request, answer) in [
            (
                "can_use_tool",
                r#"{"input":{}}"#,
                r#"{"behavior":"deny","message":"no \"host\""}"#,
            ),
            ("elicitation", "{}", r#"{"action":"cancel"}"#),
            (
                "request_user_dialog",
                r#"{"dialog_kind":"known"}"#,
                r#"{"behavior":"cancelled"}"#,
            ),
            (
                "mcp_message",
                r#"{"message":{"jsonrpc":"2.0","id":"a\n","method":"tools/call"}}"#,
                r#"{"mcp_response":{"jsonrpc":"2.0","id":"a\n","error":{"code":-32603,"message":"no \"host\""}}}"#,
            ),
            (
                "mcp_message",
                r#"{"message":{"jsonrpc":"2.0","method":"notifications/initialized"}}"#,
                r#"{"mcp_response":{"jsonrpc":"2.0","result":{}}}"#,
            ),
            (
                "mcp_message",
                r#"{"message":5}"#,
                r#"{"mcp_response":{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"no \"host\""}}}"#,
            ),
        ] {
            assert_eq!(safe(subtype, request), Answer::Success(answer.into()));
            let kind = IncomingKind::of(subtype);
            assert_eq!(validate_answer(kind, request, answer), Ok(()));
        }
    }

    #[test]
    fn hooks_and_unknown_requests_get_an_error() {
        for subtype in [
            "hook_callback",
            "oauth_token_refresh",
            "host_auth_token_refresh",
            "brand_new",
            "",
        ] {
            assert_eq!(safe(subtype, "{}"), Answer::Error("no \"host\"".into()));
        }
    }

    #[test]
    fn what_is_not_the_hosts_stays_unanswered() {
        for (subtype, request) in [
            ("remote_tool_call", "{}"),
            ("remote_anything", "{}"),
            ("request_user_dialog", r#"{"dialog_kind":"other"}"#),
            ("request_user_dialog", "{}"),
        ] {
            assert_eq!(safe(subtype, request), Answer::Nothing);
        }
    }
}
