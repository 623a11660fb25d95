//! `system` messages, by their `subtype` (`protocol.md §5.1`, `§5.2`).

mod hooks;
mod init;
mod notices;
mod session;
mod tasks;

use alloc::boxed::Box;

use super::other::Unknown;
use crate::json::ScanError;

pub use hooks::*;
pub use init::*;
pub use notices::*;
pub use session::*;
pub use tasks::*;

macro_rules! system_messages {
    ($($wire:literal => $name:ident,)*) => {
        /// The `subtype` of a `system` message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SystemSubtype {
            $(#[doc = concat!("`", $wire, "`")] $name,)*
        }

        impl SystemSubtype {
            /// Every subtype known here.
            pub const ALL: &'static [SystemSubtype] = &[$(SystemSubtype::$name,)*];

            /// The subtype with this name on the wire; `None` for an unknown one.
            pub fn of(name: &str) -> Option<Self> {
                match name {
                    $($wire => Some(SystemSubtype::$name),)*
                    _ => None,
                }
            }

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(SystemSubtype::$name => $wire,)*
                }
            }
        }

        /// A `system` message.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum SystemMessage<'a> {
            $(#[doc = concat!("`", $wire, "`")] $name(Box<$name<'a>>),)*
            /// Any other subtype.
            Unknown(Box<Unknown<'a>>),
        }

        impl<'a> SystemMessage<'a> {
            /// Decodes a `system` message of this subtype; an error when `json` is not an object.
            pub fn decode(subtype: Option<&str>, json: &'a str) -> Result<Self, ScanError> {
                Ok(match subtype.and_then(SystemSubtype::of) {
                    $(Some(SystemSubtype::$name) => {
                        SystemMessage::$name(Box::new($name::decode(json)?))
                    })*
                    None => SystemMessage::Unknown(Box::new(Unknown::decode(json)?)),
                })
            }
        }

        #[cfg(feature = "schema")]
        pub(super) fn schemas(
            generator: &mut schemars::SchemaGenerator,
        ) -> alloc::vec::Vec<(&'static str, schemars::Schema)> {
            alloc::vec![$(($wire, generator.subschema_for::<$name<'static>>()),)*]
        }
    };
}

system_messages! {
    "init" => Init,
    "status" => Status,
    "compact_boundary" => CompactBoundary,
    "api_retry" => ApiRetry,
    "informational" => Informational,
    "notification" => Notification,
    "hook_started" => HookStarted,
    "hook_progress" => HookProgress,
    "hook_response" => HookResponse,
    "permission_denied" => PermissionDenied,
    "task_started" => TaskStarted,
    "task_progress" => TaskProgress,
    "task_updated" => TaskUpdated,
    "task_notification" => TaskNotification,
    "background_tasks_changed" => BackgroundTasksChanged,
    "session_state_changed" => SessionStateChanged,
    "session_title_changed" => SessionTitleChanged,
    "thinking_tokens" => ThinkingTokens,
    "control_request_progress" => ControlRequestProgress,
    "commands_changed" => CommandsChanged,
    "plugin_install" => PluginInstall,
    "files_persisted" => FilesPersisted,
    "memory_recall" => MemoryRecall,
    "elicitation_complete" => ElicitationComplete,
    "model_refusal_fallback" => ModelRefusalFallback,
    "model_refusal_no_fallback" => ModelRefusalNoFallback,
    "local_command_output" => LocalCommandOutput,
    "session_writes_lost" => SessionWritesLost,
    "worker_shutting_down" => WorkerShuttingDown,
    "mirror_error" => MirrorError,
}
