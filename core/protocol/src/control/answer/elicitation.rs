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
