//! The answer to `can_use_tool` (`protocol.md §7`).

use alloc::borrow::Cow;
use alloc::string::String;

use super::check::{self, PERMISSION_FORMS};
use super::permission_update::PermissionUpdate;
use crate::control::envelope::push_json;
use crate::control::LocalError;
use crate::json::{push_string, string, Kind};
use crate::view::member;

const WHAT: &str = "the permission answer";

/// May the tool run?
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionResult<'a> {
    /// It runs.
    Allow {
        /// The input it runs with, JSON text of an object; `None` or `null`: the one it asked for.
        updated_input: Option<&'a str>,
        /// Changes to the permissions that go with the answer.
        updated_permissions: Option<PermissionUpdates<'a>>,
        /// What the person decided, for the CLI's statistics.
        decision_classification: Option<DecisionClassification>,
    },
    /// It does not run.
    Deny {
        /// Why; the model reads it.
        message: Cow<'a, str>,
        /// Ends the turn too; the model then does not get the message.
        interrupt: bool,
        /// What the person decided, for the CLI's statistics.
        decision_classification: Option<DecisionClassification>,
    },
}

/// Changes to the permissions, as text or typed.
#[derive(Debug, Clone, PartialEq)]
pub enum PermissionUpdates<'a> {
    /// JSON text of an array, such as a request's own `permission_suggestions`.
    Json(&'a str),
    /// Typed.
    List(&'a [PermissionUpdate]),
}

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DecisionClassification {
    /// Allowed this once.
    UserTemporary,
    /// Allowed for good.
    UserPermanent,
    /// Refused.
    UserReject,
}

impl DecisionClassification {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            DecisionClassification::UserTemporary => "user_temporary",
            DecisionClassification::UserPermanent => "user_permanent",
            DecisionClassification::UserReject => "user_reject",
        }
    }

    /// The value of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::UserTemporary, Self::UserPermanent, Self::UserReject]
            .into_iter()
            .find(|value| value.name() == name)
    }
}

impl<'a> PermissionResult<'a> {
    /// It runs as asked.
    pub fn allow() -> Self {
        PermissionResult::Allow {
            updated_input: None,
            updated_permissions: None,
            decision_classification: None,
        }
    }

    /// It does not run; the turn goes on.
    pub fn deny(message: impl Into<Cow<'a, str>>) -> Self {
        PermissionResult::Deny {
            message: message.into(),
            interrupt: false,
            decision_classification: None,
        }
    }

    /// Appends the payload to `out`. `input` is the request's own `input`, which an allow carries
    /// when it changes nothing: 2.1.197 refuses an allow without one, and no CLI takes `null`.
    /// `tool_use_id` is written as `toolUseID`, as the TypeScript SDK does.
    ///
    /// An error, with nothing appended, when a text given is not JSON of the right kind.
    pub fn write_payload(
        &self,
        input: &str,
        tool_use_id: Option<&str>,
        out: &mut String,
    ) -> Result<(), LocalError> {
        let start = out.len();
        let written = self.write(input, tool_use_id, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn write(
        &self,
        input: &str,
        tool_use_id: Option<&str>,
        out: &mut String,
    ) -> Result<(), LocalError> {
        let classification = match self {
            PermissionResult::Allow {
                updated_input,
                updated_permissions,
                decision_classification,
            } => {
                out.push_str(r#"{"behavior":"allow","updatedInput":"#);
                match updated_input.filter(|text| !is_null(text)) {
                    Some(text) => push_kind(out, text, Kind::Object, "updatedInput")?,
                    None => push_own_input(out, input),
                }
                match updated_permissions {
                    None => {}
                    Some(PermissionUpdates::Json(text)) if is_null(text) => {}
                    Some(PermissionUpdates::Json(text)) => {
                        out.push_str(r#","updatedPermissions":"#);
                        push_kind(out, text, Kind::Array, "updatedPermissions")?;
                    }
                    Some(PermissionUpdates::List(list)) => {
                        out.push_str(r#","updatedPermissions":"#);
                        match serde_json::to_string(list) {
                            Ok(text) => out.push_str(&text),
                            Err(error) => {
                                return Err(LocalError::malformed(
                                    WHAT,
                                    alloc::format!("updatedPermissions cannot be written: {error}"),
                                    PERMISSION_FORMS,
                                ))
                            }
                        }
                    }
                }
                decision_classification
            }
            PermissionResult::Deny {
                message,
                interrupt,
                decision_classification,
            } => {
                out.push_str(r#"{"behavior":"deny","message":"#);
                push_string(out, message);
                if *interrupt {
                    out.push_str(r#","interrupt":true"#);
                }
                decision_classification
            }
        };
        if let Some(id) = tool_use_id {
            out.push_str(r#","toolUseID":"#);
            push_string(out, id);
        }
        if let Some(classification) = classification {
            out.push_str(r#","decisionClassification":"#);
            push_string(out, classification.name());
        }
        out.push('}');
        Ok(())
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PermissionResult<'_> {
    fn schema_name() -> Cow<'static, str> {
        "PermissionResult".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let updates = generator.subschema_for::<alloc::vec::Vec<PermissionUpdate>>();
        let classification = generator.subschema_for::<DecisionClassification>();
        schemars::json_schema!({
            "description": "The answer to can_use_tool.",
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "behavior": { "const": "allow" },
                        "updatedInput": { "type": "object" },
                        "updatedPermissions": updates,
                        "toolUseID": { "type": "string" },
                        "decisionClassification": classification,
                    },
                    "required": ["behavior"],
                },
                {
                    "type": "object",
                    "properties": {
                        "behavior": { "const": "deny" },
                        "message": { "type": "string" },
                        "interrupt": { "type": "boolean" },
                        "toolUseID": { "type": "string" },
                        "decisionClassification": classification,
                    },
                    "required": ["behavior", "message"],
                },
            ],
        })
    }
}

/// Members whose null means "not given".
const OPTIONAL: [&str; 5] = [
    "updatedInput",
    "updatedPermissions",
    "interrupt",
    "toolUseID",
    "decisionClassification",
];

/// A permission answer given as JSON text, made whole: optional members that are null are left out,
/// and an allow without `updatedInput` gets the request's own `input`. An error for what the CLI
/// would take for malformed. Borrows when nothing had to be changed.
pub fn complete_permission<'a>(answer: &'a str, input: &str) -> Result<Cow<'a, str>, LocalError> {
    let mut members = check::object(WHAT, answer, PERMISSION_FORMS)?;
    let given = members.len();
    members.retain(|(name, value)| *value != "null" || !OPTIONAL.contains(&name.as_str()));
    check::permission(&members)?;
    let allow = check::get(&members, "behavior").and_then(string).as_deref() == Some("allow");
    let needs_input = allow && check::get(&members, "updatedInput").is_none();
    if !needs_input && members.len() == given {
        return Ok(Cow::Borrowed(answer));
    }
    let mut whole = String::with_capacity(answer.len() + input.len() + 24);
    whole.push('{');
    for (at, (name, value)) in members.iter().enumerate() {
        if at > 0 {
            whole.push(',');
        }
        push_string(&mut whole, name);
        whole.push(':');
        whole.push_str(value);
    }
    if needs_input {
        whole.push_str(r#","updatedInput":"#);
        push_own_input(&mut whole, input);
    }
    whole.push('}');
    Ok(Cow::Owned(whole))
}

/// The `input` of a `can_use_tool` request's text.
pub(super) fn own_input(request: &str) -> &str {
    member(request, "input").unwrap_or("null")
}

fn is_null(text: &str) -> bool {
    text.trim() == "null"
}

/// An empty object leaves the input as it was, for a request that has none of its own.
fn push_own_input(out: &mut String, input: &str) {
    match Kind::of(input) {
        Some(Kind::Object) => out.push_str(input),
        _ => out.push_str("{}"),
    }
}

fn push_kind(
    out: &mut String,
    text: &str,
    kind: Kind,
    name: &'static str,
) -> Result<(), LocalError> {
    if Kind::of(text) != Some(kind) {
        return Err(LocalError::malformed(
            WHAT,
            alloc::format!(
                "{name} is {}, not {}",
                check::kind_name(text),
                if kind == Kind::Array {
                    "an array"
                } else {
                    "an object"
                }
            ),
            PERMISSION_FORMS,
        ));
    }
    push_json(out, name, text)
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;
    use crate::control::answer::{
        prepare_answer, validate_answer, PermissionBehavior, PermissionRule,
        PermissionUpdateDestination,
    };
    use crate::control::incoming::IncomingKind;

    const INPUT: &str = r#"{"command":"ls","n":12345678901234567890123}"#;

    fn payload(result: &PermissionResult<'_>) -> String {
        let mut out = String::new();
        result.write_payload(INPUT, None, &mut out).unwrap();
        out
    }

    #[test]
    fn an_allow_always_carries_an_object() {
        let own = alloc::format!(r#"{{"behavior":"allow","updatedInput":{INPUT}}}"#);
        assert_eq!(payload(&PermissionResult::allow()), own);
        for given in ["null", " null "] {
            let allow = PermissionResult::Allow {
                updated_input: Some(given),
                updated_permissions: Some(PermissionUpdates::Json("null")),
                decision_classification: None,
            };
            assert_eq!(payload(&allow), own);
        }
        let changed = PermissionResult::Allow {
            updated_input: Some("{\n \"command\": \"pwd\"\r\n}"),
            updated_permissions: Some(PermissionUpdates::List(&[PermissionUpdate::AddRules {
                rules: alloc::vec![PermissionRule {
                    tool_name: "Bash".into(),
                    rule_content: None
                }],
                behavior: PermissionBehavior::Allow,
                destination: PermissionUpdateDestination::LocalSettings,
            }])),
            decision_classification: Some(DecisionClassification::UserPermanent),
        };
        let mut out = String::new();
        changed
            .write_payload(INPUT, Some("toolu_1"), &mut out)
            .unwrap();
        assert_eq!(
            out,
            concat!(
                r#"{"behavior":"allow","updatedInput":{  "command": "pwd"  },"#,
                r#""updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"#,
                r#""behavior":"allow","destination":"localSettings"}],"#,
                r#""toolUseID":"toolu_1","decisionClassification":"user_permanent"}"#
            )
        );
        let mut out = String::new();
        PermissionResult::allow()
            .write_payload("null", None, &mut out)
            .unwrap();
        assert_eq!(out, r#"{"behavior":"allow","updatedInput":{}}"#);
    }

    #[test]
    fn a_deny_always_carries_a_message() {
        assert_eq!(
            payload(&PermissionResult::deny("no\n\"way\"")),
            r#"{"behavior":"deny","message":"no\n\"way\""}"#
        );
        let deny = PermissionResult::Deny {
            message: "".into(),
            interrupt: true,
            decision_classification: Some(DecisionClassification::UserReject),
        };
        assert_eq!(
            payload(&deny),
            r#"{"behavior":"deny","message":"","interrupt":true,"decisionClassification":"user_reject"}"#
        );
    }

    #[test]
    fn texts_of_the_wrong_kind_are_refused_and_nothing_is_written() {
        for (input, permissions) in [
            (Some("[]"), None),
            (Some("\"x\""), None),
            (Some("{"), None),
            (Some(""), None),
            (None, Some("{}")),
            (None, Some("[1")),
        ] {
            let mut out = String::from("before");
            let refused = PermissionResult::Allow {
                updated_input: input,
                updated_permissions: permissions.map(PermissionUpdates::Json),
                decision_classification: None,
            }
            .write_payload(INPUT, None, &mut out);
            assert!(refused.is_err(), "{input:?} {permissions:?}");
            assert_eq!(out, "before");
        }
    }

    /// Each form that the CLI answers with "malformed result" or misreads (`protocol.md §7`).
    #[test]
    fn what_the_cli_takes_for_malformed_is_refused() {
        for answer in [
            "",
            "nope",
            "null",
            "\"allow\"",
            "[]",
            "{}",
            r#"{"allowed":false}"#,
            r#"{"allowed":true}"#,
            r#"{"behavior":"ask"}"#,
            r#"{"behavior":true}"#,
            r#"{"behavior":"deny"}"#,
            r#"{"behavior":"deny","message":null}"#,
            r#"{"behavior":"deny","message":"m","interrupt":null}"#,
            r#"{"behavior":"allow","updatedInput":null}"#,
            r#"{"behavior":"allow","updatedInput":[]}"#,
            r#"{"behavior":"allow","updatedInput":"x"}"#,
            r#"{"behavior":"allow","updated_input":{}}"#,
            r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":{}}"#,
            r#"{"behavior":"allow","updatedInput":{},"toolUseID":1}"#,
            r#"{"behavior":"allow","updatedInput":{},"decisionClassification":1}"#,
        ] {
            let error = validate_answer(IncomingKind::CanUseTool, "{}", answer).unwrap_err();
            let text = error.to_string();
            assert!(
                text.contains("behavior") || matches!(error, LocalError::NotJson { .. }),
                "{answer}: {text}"
            );
        }
        for answer in [
            r#"{"behavior":"allow"}"#,
            r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":[],"toolUseID":"x"}"#,
            r#"{"behavior":"allow","updatedInput":{},"interrupt":null,"decisionClassification":"new"}"#,
            r#"{"behavior":"deny","message":"m","interrupt":true,"extra":[],"updatedInput":null}"#,
        ] {
            assert_eq!(
                validate_answer(IncomingKind::CanUseTool, "{}", answer),
                Ok(()),
                "{answer}"
            );
        }
    }

    #[test]
    fn an_answer_in_json_is_made_whole() {
        let request = alloc::format!(r#"{{"subtype":"can_use_tool","input":{INPUT}}}"#);
        let prepare = |answer| {
            prepare_answer(IncomingKind::CanUseTool, &request, answer).map(Cow::into_owned)
        };
        for answer in [
            r#"{"behavior":"allow"}"#,
            r#"{"behavior":"allow","updatedInput":null}"#,
        ] {
            assert_eq!(
                prepare(answer).unwrap(),
                alloc::format!(r#"{{"behavior":"allow","updatedInput":{INPUT}}}"#)
            );
        }
        for (given, whole) in [
            (
                r#"{"behavior":"deny","interrupt":null,"message":"m","toolUseID":null}"#,
                r#"{"behavior":"deny","message":"m"}"#,
            ),
            (
                r#"{"behavior":"allow","updatedInput":{},"updatedPermissions":null}"#,
                r#"{"behavior":"allow","updatedInput":{}}"#,
            ),
        ] {
            assert_eq!(prepare(given).unwrap(), whole);
        }
        for whole in [
            r#"{"behavior":"allow","updatedInput":{"a":1}}"#,
            r#"{"behavior":"deny","message":"m"}"#,
        ] {
            assert_eq!(prepare(whole).unwrap(), whole);
        }
        for bad in [
            r#"{"behavior":"deny","message":null}"#,
            r#"{"behavior":"allow","updated_input":null}"#,
            r#"{"behavior":"allow","updatedInput":3}"#,
            r#"{"updatedInput":{}}"#,
        ] {
            assert!(prepare(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn updates_read_back_and_unknown_ones_stay_whole() {
        for text in [
            r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls:*"}],"behavior":"allow","destination":"session"}"#,
            r#"{"type":"replaceRules","rules":[],"behavior":"deny","destination":"userSettings"}"#,
            r#"{"type":"removeRules","rules":[{"toolName":"Read"}],"behavior":"ask","destination":"projectSettings"}"#,
            r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#,
            r#"{"type":"addDirectories","directories":["/tmp"],"destination":"localSettings"}"#,
            r#"{"type":"removeDirectories","directories":["/tmp"],"destination":"cliArg"}"#,
        ] {
            let update = PermissionUpdate::from_json(text).unwrap();
            assert!(!matches!(update, PermissionUpdate::Other(_)), "{text}");
            assert_eq!(serde_json::to_string(&update).unwrap(), text);
        }
        for text in [
            r#"{"new":true,"type":"grantOnce"}"#,
            r#"{"destination":"elsewhere","mode":"plan","type":"setMode"}"#,
        ] {
            let update = PermissionUpdate::from_json(text).unwrap();
            assert!(matches!(update, PermissionUpdate::Other(_)), "{text}");
            assert_eq!(serde_json::to_string(&update).unwrap(), text);
        }
        assert_eq!(PermissionUpdate::from_json("7"), None);
    }
}
