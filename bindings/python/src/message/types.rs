//! The classes that messages become.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::shape::Shape;

macro_rules! types {
    ($($(#[$doc:meta])* $field:ident: $class:literal [$($name:literal),*],)*) => {
        /// The classes of `towline.types`.
        pub(crate) struct Types {
            $($(#[$doc])* pub(super) $field: Shape,)*
            /// `towline._errors.MessageParseError`
            pub(super) parse_error: Py<PyAny>,
        }

        impl Types {
            fn load(py: Python<'_>) -> PyResult<Types> {
                let types = py.import("towline.types")?;
                Ok(Types {
                    $($field: Shape::of(&types.getattr($class)?, &[$($name),*])?,)*
                    parse_error: py
                        .import("towline._errors")?
                        .getattr("MessageParseError")?
                        .unbind(),
                })
            }
        }
    };
}

types! {
    text: "TextBlock" ["text"],
    thinking: "ThinkingBlock" ["thinking", "signature"],
    tool_use: "ToolUseBlock" ["id", "name", "input"],
    tool_result: "ToolResultBlock" ["tool_use_id", "content", "is_error"],
    server_tool_use: "ServerToolUseBlock" ["id", "name", "input"],
    server_tool_result: "ServerToolResultBlock" ["tool_use_id", "content"],
    user: "UserMessage" ["content", "uuid", "parent_tool_use_id", "tool_use_result", "origin"],
    assistant: "AssistantMessage" [
        "content", "model", "parent_tool_use_id", "error", "usage", "message_id", "stop_reason",
        "session_id", "uuid", "user_message_uuid", "user_message_uuids"
    ],
    system: "SystemMessage" ["subtype", "data"],
    task_started: "TaskStartedMessage" [
        "subtype", "data", "task_id", "description", "uuid", "session_id", "tool_use_id",
        "task_type"
    ],
    task_progress: "TaskProgressMessage" [
        "subtype", "data", "task_id", "description", "usage", "uuid", "session_id", "tool_use_id",
        "last_tool_name"
    ],
    task_notification: "TaskNotificationMessage" [
        "subtype", "data", "task_id", "status", "output_file", "summary", "uuid", "session_id",
        "tool_use_id", "usage"
    ],
    task_updated: "TaskUpdatedMessage" [
        "subtype", "data", "task_id", "patch", "status", "session_id", "uuid"
    ],
    mirror_error: "MirrorErrorMessage" ["subtype", "data", "key", "error"],
    hook_event: "HookEventMessage" ["subtype", "data", "hook_event_name", "session_id", "uuid"],
    deferred_tool_use: "DeferredToolUse" ["id", "name", "input"],
    result: "ResultMessage" [
        "subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id",
        "stop_reason", "total_cost_usd", "usage", "result", "structured_output", "model_usage",
        "permission_denials", "deferred_tool_use", "errors", "api_error_status", "uuid",
        "terminal_reason", "origin", "user_message_uuid", "user_message_uuids"
    ],
    stream_event: "StreamEvent" [
        "uuid", "session_id", "event", "parent_tool_use_id", "user_message_uuid",
        "user_message_uuids"
    ],
    rate_limit_info: "RateLimitInfo" [
        "status", "resets_at", "rate_limit_type", "utilization", "overage_status",
        "overage_resets_at", "overage_disabled_reason", "raw"
    ],
    rate_limit: "RateLimitEvent" ["rate_limit_info", "uuid", "session_id"],
    permission_context: "ToolPermissionContext" [
        "signal", "suggestions", "tool_use_id", "agent_id", "blocked_path", "decision_reason",
        "title", "display_name", "description"
    ],
    unknown: "UnknownMessage" ["type"],
    conversation_reset: "ConversationResetMessage" ["new_conversation_id", "uuid", "session_id"],
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

impl Types {
    /// The classes, loaded at the first use.
    pub(crate) fn get(py: Python<'_>) -> PyResult<&Types> {
        TYPES.get_or_try_init(py, || Types::load(py))
    }

    /// Whether this is a `ResultMessage`.
    pub(crate) fn is_result(&self, message: &Bound<'_, PyAny>) -> bool {
        self.result.makes(message)
    }
}
