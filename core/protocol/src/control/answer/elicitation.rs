//! Answers to `elicitation` and `request_user_dialog` (`protocol.md §8`, `§9`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use alloc::string::String;

/// What the user made of an MCP server's question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ElicitationResult {
    /// The decision.
    pub action: ElicitationAction,
    /// What was filled in, by property of the requested schema; with `accept` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Map<String, Value>>,
}

/// The decision about an elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ElicitationAction {
    /// Answered.
    Accept,
    /// Refused.
    Decline,
    /// Dismissed without a decision.
    Cancel,
}

/// What the user made of a dialog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "behavior", rename_all = "lowercase")]
pub enum DialogResult {
    /// The user chose; the value's shape depends on the dialog's kind.
    Completed {
        /// The choice.
        result: Value,
    },
    /// Dismissed: the CLI does what it does by default.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_names_of_the_wire() {
        let mut content = Map::new();
        content.insert("name".into(), "Ann".into());
        for (result, text) in [
            (
                ElicitationResult {
                    action: ElicitationAction::Accept,
                    content: Some(content),
                },
                r#"{"action":"accept","content":{"name":"Ann"}}"#,
            ),
            (
                ElicitationResult {
                    action: ElicitationAction::Cancel,
                    content: None,
                },
                r#"{"action":"cancel"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&result).unwrap(), text);
            let back: ElicitationResult = serde_json::from_str(text).unwrap();
            assert_eq!(back, result);
        }
        let completed = DialogResult::Completed {
            result: Value::from(1),
        };
        assert_eq!(
            serde_json::to_string(&completed).unwrap(),
            r#"{"behavior":"completed","result":1}"#
        );
        assert_eq!(
            serde_json::to_string(&DialogResult::Cancelled).unwrap(),
            r#"{"behavior":"cancelled"}"#
        );
    }
}
