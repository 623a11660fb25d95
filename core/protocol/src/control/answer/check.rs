//! Which answers the CLI would misread (`protocol.md §6`, `§7`, `§9`).

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::hook::HookOutput;
use super::hook_normal::{normalize_hook_output, null_fits};
use super::permission::{complete_permission, own_input};
use crate::control::error::shown;
use crate::control::incoming::{HookEvent, IncomingKind};
use crate::control::LocalError;
use crate::json::{self, string, Kind};
use crate::view::member;

pub(super) const PERMISSION_FORMS: &str = r#"the CLI takes {"behavior":"allow","updatedInput":{…},"updatedPermissions"?:[…]} or {"behavior":"deny","message":"…","interrupt"?:true}, and everything else for a denial"#;
const HOOK_FORMS: &str = r#"the CLI takes {} for no opinion, {"continue"?,"stopReason"?,"suppressOutput"?,"systemMessage"?,"decision"?:"block","reason"?,"hookSpecificOutput"?:{"hookEventName":"…",…}} or {"async":true,"asyncTimeout"?}, and lets the action go ahead after everything else"#;
const ELICITATION_FORMS: &str = r#"the CLI takes {"action":"accept","content"?:{…}}, {"action":"decline"} or {"action":"cancel"}"#;
const DIALOG_FORMS: &str =
    r#"the CLI takes {"behavior":"completed","result":…} or {"behavior":"cancelled"}"#;
const MCP_FORMS: &str =
    r#"the CLI takes {"mcp_response":{"jsonrpc":"2.0","id":…,"result":{…}}} or one with "error""#;
const OAUTH_FORMS: &str = r#"the CLI takes {"accessToken":"…"} or {"accessToken":null}"#;
const HOST_AUTH_FORMS: &str = r#"the CLI takes {"authToken":"…"} or {"authToken":null}"#;
const OBJECT_FORMS: &str = "a payload is an object";

/// Makes an answer given as JSON text ready to be written: a permission's missing input is filled
/// in ([`complete_permission`]), a hook's names are mapped ([`normalize_hook_output`]), and then it
/// is checked as by [`validate_answer`]. Borrows when nothing had to be changed.
///
/// `request` is the request's text.
pub fn prepare_answer<'a>(
    kind: IncomingKind,
    request: &str,
    answer: &'a str,
) -> Result<Cow<'a, str>, LocalError> {
    match kind {
        IncomingKind::CanUseTool => complete_permission(answer, own_input(request)),
        IncomingKind::HookCallback => {
            let answer = normalize_hook_output(answer);
            hook(request, &answer)?;
            Ok(answer)
        }
        IncomingKind::Elicitation => {
            let answer = without_null_content(answer);
            elicitation(&answer)?;
            Ok(answer)
        }
        _ => {
            validate_answer(kind, request, answer)?;
            Ok(Cow::Borrowed(answer))
        }
    }
}

/// An elicitation's answer whose `content` is null, as a serialiser writes it for a decline, has
/// none.
fn without_null_content(answer: &str) -> Cow<'_, str> {
    let mut action = None;
    let mut is_null = false;
    let read = json::members(answer, |name, value| match name {
        "action" => action = Some(value),
        "content" => is_null = value == "null",
        _ => {}
    });
    match action {
        Some(action) if read.is_ok() && is_null => Cow::Owned(format!("{{\"action\":{action}}}")),
        _ => Cow::Borrowed(answer),
    }
}

/// Whether the CLI would read this answer as it is meant; the error names the accepted forms.
///
/// `request` is the request's text: a hook's answer has to name the event it answers.
pub fn validate_answer(kind: IncomingKind, request: &str, answer: &str) -> Result<(), LocalError> {
    match kind {
        IncomingKind::CanUseTool => {
            permission(&object("the permission answer", answer, PERMISSION_FORMS)?)
        }
        IncomingKind::HookCallback => hook(request, answer),
        IncomingKind::Elicitation => elicitation(answer),
        IncomingKind::UserDialog => dialog(answer),
        IncomingKind::McpMessage => {
            let what = "the MCP answer";
            let members = object(what, answer, MCP_FORMS)?;
            expect(
                what,
                &members,
                "mcp_response",
                Kind::Object,
                true,
                MCP_FORMS,
            )
        }
        IncomingKind::OauthTokenRefresh => token(answer, "accessToken", OAUTH_FORMS),
        IncomingKind::HostAuthTokenRefresh => token(answer, "authToken", HOST_AUTH_FORMS),
        IncomingKind::Remote | IncomingKind::Unknown => {
            object("the answer", answer, OBJECT_FORMS).map(|_| ())
        }
    }
}

/// An object's members, unescaped name and text.
pub(super) type Members<'a> = Vec<(String, &'a str)>;

pub(super) fn object<'a>(
    what: &'static str,
    text: &'a str,
    accepted: &'static str,
) -> Result<Members<'a>, LocalError> {
    let mut list = Vec::new();
    match json::members(text, |name, value| list.push((name.into(), value))) {
        Ok(()) => Ok(list),
        Err(_) if json::validate(text).is_ok() => Err(LocalError::malformed(
            what,
            format!(
                "{} is {}, not an object",
                shown(text.trim()),
                kind_name(text)
            ),
            accepted,
        )),
        Err(error) => Err(LocalError::NotJson { what, error }),
    }
}

pub(super) fn get<'a>(members: &Members<'a>, name: &str) -> Option<&'a str> {
    let found = members.iter().rev().find(|(key, _)| key == name);
    found.map(|(_, value)| *value)
}

pub(super) fn kind_name(text: &str) -> &'static str {
    match Kind::of(text) {
        Some(Kind::Null) => "null",
        Some(Kind::Bool) => "a boolean",
        Some(Kind::Number) => "a number",
        Some(Kind::String) => "a string",
        Some(Kind::Array) => "an array",
        Some(Kind::Object) => "an object",
        None => "empty",
    }
}

fn expect(
    what: &'static str,
    members: &Members<'_>,
    name: &'static str,
    kind: Kind,
    required: bool,
    accepted: &'static str,
) -> Result<(), LocalError> {
    let problem = match get(members, name) {
        None if required => format!("{name} is missing"),
        Some(value) if Kind::of(value) != Some(kind) => {
            format!("{name} is {}", kind_name(value))
        }
        _ => return Ok(()),
    };
    Err(LocalError::malformed(what, problem, accepted))
}

/// `allow` without `updatedInput` passes: 2.1.332 takes it, and [`complete_permission`] adds it for
/// older ones.
pub(super) fn permission(members: &Members<'_>) -> Result<(), LocalError> {
    let what = "the permission answer";
    let bad = |problem: String| Err(LocalError::malformed(what, problem, PERMISSION_FORMS));
    let expect =
        |name, kind, required| expect(what, members, name, kind, required, PERMISSION_FORMS);
    for (wrong, right) in [
        ("updated_input", "updatedInput"),
        ("updated_permissions", "updatedPermissions"),
        ("decision_classification", "decisionClassification"),
    ] {
        if get(members, wrong).is_some() {
            return bad(format!("{wrong} would be ignored, the name is {right}"));
        }
    }
    let Some(behavior) = get(members, "behavior") else {
        return bad("behavior is missing".into());
    };
    match string(behavior).as_deref() {
        Some("allow") => {
            expect("updatedInput", Kind::Object, false)?;
            expect("updatedPermissions", Kind::Array, false)?;
        }
        Some("deny") => {
            expect("message", Kind::String, true)?;
            expect("interrupt", Kind::Bool, false)?;
        }
        _ => {
            return bad(format!(
                "behavior is {}, not \"allow\" or \"deny\"",
                shown(behavior)
            ))
        }
    }
    expect("toolUseID", Kind::String, false)?;
    expect("decisionClassification", Kind::String, false)
}

fn hook(request: &str, answer: &str) -> Result<(), LocalError> {
    let what = "the hook answer";
    let bad = |problem: String| Err(LocalError::malformed(what, problem, HOOK_FORMS));
    let members = object(what, answer, HOOK_FORMS)?;
    for (wrong, right) in [("continue_", "continue"), ("async_", "async")] {
        if get(&members, wrong).is_some() {
            return bad(format!("{wrong} would be ignored, the name is {right}"));
        }
    }
    let specific = match get(&members, "hookSpecificOutput") {
        Some(text) => Some(object(what, text, HOOK_FORMS)?),
        None => None,
    };
    let decision = specific
        .as_ref()
        .and_then(|specific| get(specific, "decision"))
        .map(|text| object(what, text, HOOK_FORMS))
        .transpose()?;
    let inner = specific.iter().chain(&decision).flatten();
    for (name, value) in members.iter().chain(inner) {
        if *value == "null" && !null_fits(name) {
            return bad(format!("{name} is null; leave it out instead"));
        }
    }
    if let Some(specific) = &specific {
        expect(
            what,
            specific,
            "hookEventName",
            Kind::String,
            true,
            HOOK_FORMS,
        )?;
        let named = get(specific, "hookEventName").and_then(string);
        let event = member(request, "input")
            .and_then(|input| member(input, "hook_event_name"))
            .and_then(string);
        if let (Some(named), Some(event)) = (&named, &event) {
            if named != event {
                return bad(format!(
                    "hookEventName is {named}, but the event is {event}"
                ));
            }
        }
        // An event of a newer CLI: its own fields are not known here.
        if event.is_some_and(|event| HookEvent::from_name(&event).is_none()) {
            return Ok(());
        }
    }
    match serde_json::from_str::<HookOutput>(&json::surrogates_replaced(answer)) {
        Ok(_) => Ok(()),
        Err(error) => bad(format!("{error}")),
    }
}

fn elicitation(answer: &str) -> Result<(), LocalError> {
    let what = "the elicitation answer";
    let members = object(what, answer, ELICITATION_FORMS)?;
    expect(
        what,
        &members,
        "action",
        Kind::String,
        true,
        ELICITATION_FORMS,
    )?;
    let action = get(&members, "action").unwrap_or_default();
    if !matches!(
        string(action).as_deref(),
        Some("accept" | "decline" | "cancel")
    ) {
        return Err(LocalError::malformed(
            what,
            format!("action is {}", shown(action)),
            ELICITATION_FORMS,
        ));
    }
    expect(
        what,
        &members,
        "content",
        Kind::Object,
        false,
        ELICITATION_FORMS,
    )
}

fn dialog(answer: &str) -> Result<(), LocalError> {
    let what = "the dialog answer";
    let members = object(what, answer, DIALOG_FORMS)?;
    let behavior = get(&members, "behavior").unwrap_or("missing");
    let problem = match string(behavior).as_deref() {
        Some("cancelled") => return Ok(()),
        Some("completed") if get(&members, "result").is_some() => return Ok(()),
        Some("completed") => Cow::Borrowed("result is missing"),
        _ => Cow::Owned(format!("behavior is {}", shown(behavior))),
    };
    Err(LocalError::malformed(what, problem, DIALOG_FORMS))
}

fn token(answer: &str, name: &'static str, accepted: &'static str) -> Result<(), LocalError> {
    let what = "the token answer";
    let members = object(what, answer, accepted)?;
    if get(&members, name) == Some("null") {
        return Ok(());
    }
    expect(what, &members, name, Kind::String, true, accepted)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn each_kind_has_its_forms() {
        for (kind, taken, refused) in [
            (
                IncomingKind::Elicitation,
                &[
                    r#"{"action":"accept","content":{"a":1}}"#,
                    r#"{"action":"accept"}"#,
                    r#"{"action":"decline"}"#,
                    r#"{"action":"cancel","extra":1}"#,
                ][..],
                &[
                    "{}",
                    r#"{"action":"ok"}"#,
                    r#"{"action":true}"#,
                    r#"{"action":"accept","content":[]}"#,
                    r#"{"content":null}"#,
                    "null",
                ][..],
            ),
            (
                IncomingKind::UserDialog,
                &[
                    r#"{"behavior":"completed","result":null}"#,
                    r#"{"behavior":"cancelled"}"#,
                ],
                &[
                    "{}",
                    r#"{"behavior":"completed"}"#,
                    r#"{"behavior":"done"}"#,
                    "5",
                ],
            ),
            (
                IncomingKind::McpMessage,
                &[r#"{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{}}}"#],
                &[
                    "{}",
                    r#"{"mcp_response":null}"#,
                    r#"{"jsonrpc_response":{}}"#,
                    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                ],
            ),
            (
                IncomingKind::OauthTokenRefresh,
                &[r#"{"accessToken":"t"}"#, r#"{"accessToken":null}"#],
                &["{}", r#"{"accessToken":1}"#],
            ),
            (
                IncomingKind::HostAuthTokenRefresh,
                &[r#"{"authToken":"t"}"#, r#"{"authToken":null}"#],
                &["{}", r#"{"accessToken":"t"}"#],
            ),
            (
                IncomingKind::Unknown,
                &["{}", r#"{"anything":[1]}"#],
                &["[]", "", "null"],
            ),
        ] {
            for answer in taken {
                let prepared = prepare_answer(kind, "{}", answer);
                assert!(
                    matches!(&prepared, Ok(Cow::Borrowed(text)) if text == answer),
                    "{kind:?} {answer}: {prepared:?}"
                );
            }
            for answer in refused {
                let error = validate_answer(kind, "{}", answer).unwrap_err();
                assert!(prepare_answer(kind, "{}", answer).is_err());
                if let LocalError::Malformed { accepted, .. } = &error {
                    assert!(error.to_string().ends_with(accepted));
                }
            }
        }
    }

    #[test]
    fn null_content_of_an_elicitation_is_none() {
        let answer = r#"{"content":null,"action":"decline"}"#;
        assert!(validate_answer(IncomingKind::Elicitation, "{}", answer).is_err());
        assert_eq!(
            prepare_answer(IncomingKind::Elicitation, "{}", answer).as_deref(),
            Ok(r#"{"action":"decline"}"#)
        );
    }

    #[test]
    fn the_last_of_two_members_counts() {
        let twice = r#"{"behavior":"deny","behavior":"allow","updatedInput":{}}"#;
        assert_eq!(
            validate_answer(IncomingKind::CanUseTool, "{}", twice),
            Ok(())
        );
        let twice = r#"{"behavior":"allow","updatedInput":{},"behavior":"deny"}"#;
        assert!(validate_answer(IncomingKind::CanUseTool, "{}", twice).is_err());
    }

    #[test]
    fn a_long_value_is_cut_in_the_error() {
        let answer = format!(r#"{{"behavior":"{}"}}"#, "ä".repeat(100));
        let error = validate_answer(IncomingKind::CanUseTool, "{}", &answer).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains('…') && !text.contains(&"ä".repeat(60)),
            "{text}"
        );
    }
}
