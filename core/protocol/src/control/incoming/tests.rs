use alloc::vec::Vec;

use super::*;

#[test]
fn a_permission_question_of_the_listing() {
    let text = r#"{"subtype":"can_use_tool","tool_name":"mcp__a__b","title":"T","tool_use_id":"t",
        "input":{"x":1},"default_to_no":true,"mcp_server":{"name":"a","source":"sdk"},
        "matched_ask_rule":{"source":"userSettings","tool_name":"Bash"},
        "server_policy_ask_only":true,"permission_suggestions":[5,{"type":"later"}]}"#;
    let Incoming::CanUseTool(ask) = Incoming::decode("can_use_tool", text).unwrap() else {
        panic!("{text}");
    };
    assert_eq!(ask.title.as_deref(), Some("T"));
    assert_eq!(ask.default_to_no, Some(true));
    assert_eq!(ask.mcp_server.as_ref().unwrap().source, "sdk");
    assert_eq!(ask.matched_ask_rule.as_ref().unwrap().tool_name, "Bash");
    assert_eq!(ask.matched_ask_rule.as_ref().unwrap().rule_content, None);
    assert_eq!(ask.get("server_policy_ask_only"), Some("true"));
    assert_eq!(ask.get("nope"), None);
    assert_eq!(ask.suggestions().len(), 1);
    assert_eq!(ask.json(), text);
}

#[test]
fn members_of_another_kind_read_as_absent() {
    let ask = CanUseTool::decode(
        r#"{"tool_name":5,"title":null,"default_to_no":"yes","mcp_server":[],"tool_use_id":"\ud83dx"}"#,
    )
    .unwrap();
    assert_eq!(ask.tool_name, "");
    assert_eq!(ask.title, None);
    assert_eq!(ask.default_to_no, None);
    assert_eq!(ask.mcp_server, None);
    assert_eq!(ask.tool_use_id, "\u{fffd}x");
    assert!(ask.input.is_null());
    assert!(ask.suggestions().is_empty());
    assert!(CanUseTool::decode("[]").is_err());
    let callback = HookCallback::decode(r#"{"callback_id":"c"}"#).unwrap();
    assert!(callback.hook_input().is_err());
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let text = r#"{"tool_name":"Bash","description":"a\nb"}"#;
    let ask = CanUseTool::decode(text).unwrap();
    assert!(matches!(ask.tool_name, alloc::borrow::Cow::Borrowed(_)));
    assert_eq!(ask.description.as_deref(), Some("a\nb"));
}

#[test]
fn every_event_has_its_name_and_its_type() {
    assert_eq!(HookEvent::ALL.len(), 34);
    for event in HookEvent::ALL {
        assert_eq!(HookEvent::from_name(event.name()), Some(*event));
        let text = alloc::format!(
            r#"{{"hook_event_name":"{}","session_id":"s"}}"#,
            event.name()
        );
        let input = HookInput::decode(&text).unwrap();
        assert_eq!(input.event(), Some(*event));
        assert!(!matches!(input.event, HookEventInput::Unknown(_)));
        assert_eq!(input.common.session_id, "s");
    }
}

/// The events that no recording has.
#[test]
fn events_of_the_listing() {
    let decode = |text| HookInput::decode(text).unwrap().event;
    let HookEventInput::Notification(input) = decode(
        r#"{"hook_event_name":"Notification","message":"m","notification_type":"t","title":"h"}"#,
    ) else {
        panic!()
    };
    assert_eq!(
        (input.message.as_ref(), input.notification_type.as_ref()),
        ("m", "t")
    );
    let HookEventInput::PermissionDenied(input) =
        decode(r#"{"hook_event_name":"PermissionDenied","reason":"r","tool_input":[1]}"#)
    else {
        panic!()
    };
    assert_eq!(
        (input.reason.as_ref(), input.tool_input.as_str()),
        ("r", "[1]")
    );
    let HookEventInput::FileChanged(input) =
        decode(r#"{"hook_event_name":"FileChanged","file_path":"/f","event":"unlink"}"#)
    else {
        panic!()
    };
    assert_eq!(
        (input.file_path.as_ref(), input.event.as_ref()),
        ("/f", "unlink")
    );
    let HookEventInput::UserPromptExpansion(input) = decode(
        r#"{"hook_event_name":"UserPromptExpansion","expansion_type":"slash_command","command_name":"c","command_args":"a","prompt":"p"}"#,
    ) else {
        panic!()
    };
    assert_eq!(input.command_name, "c");
    let HookEventInput::InstructionsLoaded(input) =
        decode(r#"{"hook_event_name":"InstructionsLoaded","globs":["*.rs",5]}"#)
    else {
        panic!()
    };
    assert_eq!(input.globs.unwrap(), ["*.rs"]);
}

#[test]
fn an_unknown_event_stays_raw() {
    let text = r#"{"hook_event_name":"BrandNew","cwd":"/c","thing":[1]}"#;
    let input = HookInput::decode(text).unwrap();
    assert_eq!(input.event(), None);
    assert_eq!(input.common.cwd, "/c");
    assert_eq!(input.get("thing"), Some("[1]"));
    let HookEventInput::Unknown(raw) = input.event else {
        panic!("{input:?}");
    };
    assert_eq!(raw.as_str(), text);
}

#[test]
fn the_requests_that_no_recording_has() {
    let text = r#"{"dialog_kind":"k","payload":{"a":1},"tool_use_id":"t"}"#;
    let Incoming::UserDialog(dialog) = Incoming::decode("request_user_dialog", text).unwrap()
    else {
        panic!()
    };
    assert_eq!(dialog.dialog_kind, "k");
    assert_eq!(dialog.payload.as_str(), r#"{"a":1}"#);
    let text = r#"{"kind":"sessions","refused_bearer_sha256":["x"],"refused_call":"model"}"#;
    let Incoming::OauthTokenRefresh(refresh) =
        Incoming::decode("oauth_token_refresh", text).unwrap()
    else {
        panic!()
    };
    assert_eq!(refresh.refused_bearer_sha256.unwrap(), ["x"]);
    let Incoming::HostAuthTokenRefresh(refresh) =
        Incoming::decode("host_auth_token_refresh", r#"{"status":401}"#).unwrap()
    else {
        panic!()
    };
    assert_eq!(refresh.status, Some(401));
    let text = r#"{"mode":"url","url":"https://x","elicitation_id":"e"}"#;
    let Incoming::Elicitation(ask) = Incoming::decode("elicitation", text).unwrap() else {
        panic!()
    };
    assert_eq!(ask.url.as_deref(), Some("https://x"));
    for subtype in ["remote_tool_call", "brand_new"] {
        assert_eq!(
            Incoming::decode(subtype, "{}").unwrap(),
            Incoming::Other("{}")
        );
    }
    let kinds: Vec<_> = ["remote_x", "brand_new", "hook_callback"]
        .into_iter()
        .map(IncomingKind::of)
        .collect();
    assert_eq!(
        kinds,
        [
            IncomingKind::Remote,
            IncomingKind::Unknown,
            IncomingKind::HookCallback
        ]
    );
}
