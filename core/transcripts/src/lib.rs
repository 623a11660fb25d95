//! Sessions of the Claude Code CLI saved on disk, and stores that outlive a machine.
//!
//! The functions over entries ([`messages`], [`subagent_messages`], [`fork`],
//! [`fold_summary`], [`SessionInfo::from_entries`], [`title_entry`], [`tag_entry`], [`project_key`])
//! take the JSON text of one transcript line per entry, wherever it was loaded from.
//! [`SavedSessions`] reads and changes what the CLI has saved on this machine.
//!
//! Results turn into JSON with `to_json`. Members are named in snake_case, an absent value is
//! `null`. Times are whole milliseconds since 1970 (UTC).
//!
//! Facts: `protocol.md §10`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod chain;
mod change;
mod disk;
mod entry;
mod error;
mod fork;
mod info;
mod json;
pub mod materialize;
mod messages;
pub mod mirror;
mod parallel;
mod project;
mod prompt;
pub mod store;
mod summary;
pub mod time;
mod unicode;
mod window;

pub use change::{tag_entry, title_entry};
pub use disk::{ListOptions, OperationError, SavedOperation, SavedSessions};
pub use error::Error;
pub use fork::{fork, fork_in, Fork, ForkOptions};
pub use info::SessionInfo;
pub use messages::{
    messages, subagent_messages, MessageKind, MessageOptions, Parents, SessionMessage,
};
pub use project::{is_session_id, project_key, project_key_of_path};
pub use summary::{fold_summary, fold_summary_in, SessionSummary};
pub use towline_protocol::launch::Dialect;
