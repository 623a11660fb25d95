//! Which calls a store has.

use serde::{Deserialize, Serialize};

use super::CallKind;

/// Which of the optional calls a store has; `append` and `load` every store has. As JSON an object
/// of booleans, absent ones false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// `list_sessions`: without it there is no listing and no `continue`, unless there are summaries.
    #[serde(alias = "listSessions")]
    pub list_sessions: bool,
    /// `list_session_summaries`: a listing without loading every session.
    #[serde(alias = "listSessionSummaries")]
    pub list_session_summaries: bool,
    /// `delete`: without it deleting does nothing.
    pub delete: bool,
    /// `list_subkeys`: without it a resume brings back no subagents.
    #[serde(alias = "listSubkeys")]
    pub list_subkeys: bool,
}

impl Capabilities {
    /// Every call.
    pub const ALL: Capabilities = Capabilities {
        list_sessions: true,
        list_session_summaries: true,
        delete: true,
        list_subkeys: true,
    };

    /// Whether the store has this call.
    pub fn has(&self, call: CallKind) -> bool {
        match call {
            CallKind::Append | CallKind::Load => true,
            CallKind::ListSessions => self.list_sessions,
            CallKind::ListSessionSummaries => self.list_session_summaries,
            CallKind::Delete => self.delete,
            CallKind::ListSubkeys => self.list_subkeys,
        }
    }
}
