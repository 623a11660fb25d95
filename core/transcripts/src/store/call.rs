//! What a store is asked.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Entry, SessionKey, StoreError};

/// Which call it is. As JSON its snake_case name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Add entries to a transcript.
    Append,
    /// Give all entries of a transcript.
    Load,
    /// Give ids and times of the sessions of a project.
    ListSessions,
    /// Give the folded summaries of the sessions of a project.
    ListSessionSummaries,
    /// Forget a transcript.
    Delete,
    /// Give the subpaths below a session.
    ListSubkeys,
}

impl CallKind {
    /// All calls.
    pub const ALL: [CallKind; 6] = [
        CallKind::Append,
        CallKind::Load,
        CallKind::ListSessions,
        CallKind::ListSessionSummaries,
        CallKind::Delete,
        CallKind::ListSubkeys,
    ];

    /// The official Python method's name.
    pub fn name(self) -> &'static str {
        match self {
            CallKind::Append => "append",
            CallKind::Load => "load",
            CallKind::ListSessions => "list_sessions",
            CallKind::ListSessionSummaries => "list_session_summaries",
            CallKind::Delete => "delete",
            CallKind::ListSubkeys => "list_subkeys",
        }
    }
}

/// One call to a store.
///
/// As JSON an object whose member `call` is the call's name; its other members are the arguments:
/// `{"call":"append","key":{"project_key":…,"session_id":…,"subpath":…},"entries":[…]}`,
/// `{"call":"load","key":…}`, `{"call":"list_sessions","project_key":…}`,
/// `{"call":"list_session_summaries","project_key":…}`, `{"call":"delete","key":…}`,
/// `{"call":"list_subkeys","key":{"project_key":…,"session_id":…}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreCall {
    /// Adds entries to the end of a transcript, in order; one whose `uuid` is already there is
    /// skipped. Returns when they are safe.
    Append {
        /// The transcript.
        key: SessionKey,
        /// What is added; nothing happens when there is none.
        entries: Vec<Entry>,
    },
    /// All entries of a transcript, in order.
    Load {
        /// The transcript.
        key: SessionKey,
    },
    /// The sessions of a project, in any order.
    ListSessions {
        /// The project.
        project_key: String,
    },
    /// The summaries of a project's sessions, in any order.
    ListSessionSummaries {
        /// The project.
        project_key: String,
    },
    /// Forgets a transcript; a session's own takes its subagents' along.
    Delete {
        /// The transcript.
        key: SessionKey,
    },
    /// The subpaths below a session.
    ListSubkeys {
        /// The session; `subpath` is `None`.
        key: SessionKey,
    },
}

#[derive(Serialize)]
struct Written<'a> {
    call: CallKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a SessionKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project_key: Option<&'a str>,
}

#[derive(Deserialize)]
struct Read<'a> {
    call: CallKind,
    key: Option<SessionKey>,
    #[serde(alias = "projectKey")]
    project_key: Option<String>,
    #[serde(borrow)]
    entries: Option<Vec<&'a RawValue>>,
}

impl StoreCall {
    /// Which call it is.
    pub fn kind(&self) -> CallKind {
        match self {
            StoreCall::Append { .. } => CallKind::Append,
            StoreCall::Load { .. } => CallKind::Load,
            StoreCall::ListSessions { .. } => CallKind::ListSessions,
            StoreCall::ListSessionSummaries { .. } => CallKind::ListSessionSummaries,
            StoreCall::Delete { .. } => CallKind::Delete,
            StoreCall::ListSubkeys { .. } => CallKind::ListSubkeys,
        }
    }

    /// The JSON document.
    pub fn to_json(&self) -> String {
        let (key, project_key) = match self {
            StoreCall::Append { key, .. }
            | StoreCall::Load { key }
            | StoreCall::Delete { key }
            | StoreCall::ListSubkeys { key } => (Some(key), None),
            StoreCall::ListSessions { project_key }
            | StoreCall::ListSessionSummaries { project_key } => (None, Some(project_key.as_str())),
        };
        let head = Written {
            call: self.kind(),
            key,
            project_key,
        };
        let mut out = serde_json::to_string(&head).unwrap_or_default();
        if let StoreCall::Append { entries, .. } = self {
            out.pop();
            out.push_str(",\"entries\":");
            push_entries(&mut out, entries);
            out.push('}');
        }
        out
    }

    /// Reads the JSON document. Official camelCase names are read too.
    pub fn from_json(text: &str) -> Result<Self, StoreError> {
        let read: Read<'_> = serde_json::from_str(text)
            .map_err(|error| StoreError::failed(format_args!("not a store call: {error}")))?;
        let lacks = |name| StoreError::failed(format_args!("a store call lacks `{name}`"));
        Ok(match read.call {
            CallKind::Append => StoreCall::Append {
                key: read.key.ok_or_else(|| lacks("key"))?,
                entries: entries_of(&read.entries.ok_or_else(|| lacks("entries"))?)?,
            },
            CallKind::Load => StoreCall::Load {
                key: read.key.ok_or_else(|| lacks("key"))?,
            },
            CallKind::Delete => StoreCall::Delete {
                key: read.key.ok_or_else(|| lacks("key"))?,
            },
            CallKind::ListSubkeys => StoreCall::ListSubkeys {
                key: read.key.ok_or_else(|| lacks("key"))?,
            },
            CallKind::ListSessions => StoreCall::ListSessions {
                project_key: read.project_key.ok_or_else(|| lacks("project_key"))?,
            },
            CallKind::ListSessionSummaries => StoreCall::ListSessionSummaries {
                project_key: read.project_key.ok_or_else(|| lacks("project_key"))?,
            },
        })
    }
}

/// Writes entries as a JSON array.
pub(super) fn push_entries(out: &mut String, entries: &[Entry]) {
    out.reserve(entries.iter().map(|entry| entry.as_str().len() + 1).sum());
    out.push('[');
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(entry.as_str());
    }
    out.push(']');
}

/// Reads the elements of a JSON array as entries.
pub(super) fn entries_of(raw: &[&RawValue]) -> Result<Vec<Entry>, StoreError> {
    raw.iter()
        .map(|text| Entry::new(text.get()).map_err(StoreError::failed))
        .collect()
}
