//! What a hook callback answers (`protocol.md §6`).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ElicitationAction, PermissionUpdate};

/// A hook's output. All unset is "no opinion".
///
/// For an output that is JSON text already, see
/// [`normalize_hook_output`](super::normalize_hook_output).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct HookOutput {
    /// `false` ends the turn. From PreToolUse it does not stop the tool: the tool runs, if
    /// permitted, and then the turn ends.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub continue_: Option<bool>,
    /// Why the turn ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Keeps the hook's output out of the transcript.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// A line for the user, which comes back as an `informational` message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Blocks the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// Why it is blocked; the model reads it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A notification or title escape sequence for the terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_sequence: Option<String>,
    /// The part that belongs to the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// The hook goes on by itself and is not waited for.
    #[serde(rename = "async", skip_serializing_if = "Option::is_none")]
    pub async_: Option<bool>,
    /// How long it may take then, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<f64>,
}

/// The decision at the top of a hook's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookDecision {
    /// Legacy.
    Approve,
    /// The action is blocked.
    Block,
}

/// A hook's decision about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HookPermissionDecision {
    /// Runs without asking, with `updatedInput` if given.
    Allow,
    /// Does not run.
    Deny,
    /// The host is asked by `can_use_tool`.
    Ask,
    /// The turn ends at once with `stop_reason` `tool_deferred`.
    Defer,
}

/// A hook's decision about a permission request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    tag = "behavior",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum PermissionRequestDecision {
    /// It runs.
    Allow {
        /// The input it runs with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Map<String, Value>>,
        /// Changes to the permissions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<Vec<PermissionUpdate>>,
    },
    /// It does not run.
    Deny {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Ends the turn too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<bool>,
    },
}

impl Default for PermissionRequestDecision {
    fn default() -> Self {
        PermissionRequestDecision::Deny {
            message: None,
            interrupt: None,
        }
    }
}

/// The fields in braces are optional, the one in brackets is required.
macro_rules! specific_outputs {
    ($($(#[$meta:meta])* $event:ident => $output:ident $([
        $(#[$required_meta:meta])* $required:ident: $required_type:ty
    ])? {
        $($(#[$field_meta:meta])* $field:ident $(as $wire:literal)? : $type:ty,)*
    })*) => {
        /// The part of a hook's output that belongs to its event.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "hookEventName")]
        #[non_exhaustive]
        pub enum HookSpecificOutput {
            $($(#[$meta])* $event($output),)*
        }

        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
            #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
            #[serde(rename_all = "camelCase")]
            pub struct $output {
                $($(#[$required_meta])* pub $required: $required_type,)?
                $(
                    $(#[$field_meta])*
                    #[serde(default, skip_serializing_if = "Option::is_none" $(, rename = $wire)?)]
                    pub $field: Option<$type>,
                )*
            }
        )*
    };
}

specific_outputs! {
    /// For `PreToolUse`.
    PreToolUse => PreToolUseOutput {
        /// The decision about the call.
        permission_decision: HookPermissionDecision,
        /// Why; the model reads it.
        permission_decision_reason: String,
        /// The input the tool runs with.
        updated_input: Map<String, Value>,
        /// Something more for the model.
        additional_context: String,
    }
    /// For `UserPromptSubmit`.
    UserPromptSubmit => UserPromptSubmitOutput {
        /// Added to the prompt.
        additional_context: String,
        /// A title for the session.
        session_title: String,
        /// Keeps a blocked prompt out of the message about it.
        suppress_original_prompt: bool,
    }
    /// For `UserPromptExpansion`.
    UserPromptExpansion => UserPromptExpansionOutput {
        /// Something more for the model.
        additional_context: String,
        /// Keeps a blocked prompt out of the message about it.
        suppress_original_prompt: bool,
    }
    /// For `SessionStart`.
    SessionStart => SessionStartOutput {
        /// Something more for the model.
        additional_context: String,
        /// A first prompt.
        initial_user_message: String,
        /// A title for the session.
        session_title: String,
        /// Files to watch for `FileChanged`.
        watch_paths: Vec<String>,
        /// Reads the skill folders again.
        reload_skills: bool,
    }
    /// For `Setup`.
    Setup => SetupOutput {
        /// Something more for the model.
        additional_context: String,
    }
    /// For `PreModelSwitch`.
    PreModelSwitch => PreModelSwitchOutput {
        /// Allow, deny or ask; a session without a terminal refuses on ask.
        permission_decision: HookPermissionDecision,
        /// Why.
        permission_decision_reason: String,
    }
    /// For `PostModelSwitch`.
    PostModelSwitch => PostModelSwitchOutput {
        /// Something more for the new model.
        additional_context: String,
    }
    /// For `SubagentStart`.
    SubagentStart => SubagentStartOutput {
        /// Something more for the subagent.
        additional_context: String,
    }
    /// For `PostToolUse`.
    PostToolUse => PostToolUseOutput {
        /// Something more for the model.
        additional_context: String,
        /// A statement for the permission classifier of auto mode, at most 2000 UTF-16 units.
        classifier_context: String,
        /// Stands for the tool's output.
        updated_tool_output: Value,
        /// Stands for an MCP tool's output.
        updated_mcp_tool_output as "updatedMCPToolOutput": Value,
    }
    /// For `PostToolUseFailure`.
    PostToolUseFailure => PostToolUseFailureOutput {
        /// Something more for the model.
        additional_context: String,
    }
    /// For `PostToolBatch`.
    PostToolBatch => PostToolBatchOutput {
        /// Something more for the model.
        additional_context: String,
    }
    /// For `Stop`.
    Stop => StopOutput {
        /// Feedback for the model; the turn goes on.
        additional_context: String,
    }
    /// For `SubagentStop`.
    SubagentStop => SubagentStopOutput {
        /// Feedback for the subagent, which goes on.
        additional_context: String,
    }
    /// For `PermissionDenied`.
    PermissionDenied => PermissionDeniedOutput {
        /// Whether the call may be tried again.
        retry: bool,
    }
    /// For `Notification`.
    Notification => NotificationOutput {
        /// Something more for the model.
        additional_context: String,
    }
    /// For `PermissionRequest`.
    PermissionRequest => PermissionRequestOutput [
        /// The decision.
        decision: PermissionRequestDecision
    ] {}
    /// For `Elicitation`.
    Elicitation => ElicitationOutput {
        /// The answer in the user's place.
        action: ElicitationAction,
        /// What is filled in.
        content: Map<String, Value>,
    }
    /// For `ElicitationResult`.
    ElicitationResult => ElicitationResultOutput {
        /// Another decision than the user's.
        action: ElicitationAction,
        /// Other content than the user's.
        content: Map<String, Value>,
    }
    /// For `CwdChanged`.
    CwdChanged => CwdChangedOutput {
        /// Files to watch for `FileChanged`.
        watch_paths: Vec<String>,
    }
    /// For `FileChanged`.
    FileChanged => FileChangedOutput {
        /// Files to watch from now on.
        watch_paths: Vec<String>,
    }
    /// For `WorktreeCreate`.
    WorktreeCreate => WorktreeCreateOutput [
        /// The folder of the worktree made, absolute.
        worktree_path: String
    ] {}
    /// For `MessageDisplay`.
    MessageDisplay => MessageDisplayOutput {
        /// Shown in place of the new lines.
        display_content: String,
    }
    /// For `PreSkillShellCommand`.
    PreSkillShellCommand => PreSkillShellCommandOutput {
        /// All but allow keep the command from running.
        permission_decision: HookPermissionDecision,
        /// Why.
        permission_decision_reason: String,
    }
}
