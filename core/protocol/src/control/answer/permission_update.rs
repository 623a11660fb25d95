//! Changes to the permission rules that go with an answer (`protocol.md §7`).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One change to the session's permissions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase")]
#[non_exhaustive]
pub enum PermissionUpdate {
    /// Adds rules.
    AddRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What the rules say.
        behavior: PermissionBehavior,
        /// Where they are kept.
        destination: PermissionUpdateDestination,
    },
    /// Puts rules in the place of all of that behaviour.
    ReplaceRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What the rules say.
        behavior: PermissionBehavior,
        /// Where they are kept.
        destination: PermissionUpdateDestination,
    },
    /// Removes rules.
    RemoveRules {
        /// The rules.
        rules: Vec<PermissionRule>,
        /// What the rules say.
        behavior: PermissionBehavior,
        /// Where they are kept.
        destination: PermissionUpdateDestination,
    },
    /// Changes the permission mode.
    SetMode {
        /// `default`, `acceptEdits`, `bypassPermissions`, `plan`, `dontAsk`, `auto`.
        mode: String,
        /// Where it is kept.
        destination: PermissionUpdateDestination,
    },
    /// Adds working directories.
    AddDirectories {
        /// The directories.
        directories: Vec<String>,
        /// Where they are kept.
        destination: PermissionUpdateDestination,
    },
    /// Removes working directories.
    RemoveDirectories {
        /// The directories.
        directories: Vec<String>,
        /// Where they are kept.
        destination: PermissionUpdateDestination,
    },
    /// An update of a form not known here.
    #[serde(untagged)]
    Other(serde_json::Map<String, serde_json::Value>),
}

impl PermissionUpdate {
    /// Reads one update; `None` when the text is not an object.
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(&crate::json::surrogates_replaced(text)).ok()
    }
}

/// A permission rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// The tool.
    pub tool_name: String,
    /// What of the tool: `npm run *`, `/src/**`, …; without it the whole tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PermissionBehavior {
    /// Run without asking.
    Allow,
    /// Do not run.
    Deny,
    /// Ask.
    Ask,
}

/// Where an update is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PermissionUpdateDestination {
    /// The user's settings file.
    UserSettings,
    /// The project's shared settings file.
    ProjectSettings,
    /// The project's local settings file.
    LocalSettings,
    /// This session only.
    Session,
    /// The rules given on the command line.
    CliArg,
}
