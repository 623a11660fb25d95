//! Which transcript is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names one transcript in a store (`protocol.md §10`): a session's own, or with `subpath` one of
/// its subagents'.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SessionKey {
    /// The scope of the session; by default the name of its project directory.
    #[serde(alias = "projectKey")]
    pub project_key: String,
    /// The session's id, usually a UUID.
    #[serde(alias = "sessionId")]
    pub session_id: String,
    /// Where the subagent's file would stand below the session's folder, joined by `/`, without
    /// `.jsonl`; `None` for the session's own transcript. An empty text means `None`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "not_empty"
    )]
    pub subpath: Option<String>,
}

fn not_empty<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.filter(|subpath| !subpath.is_empty()))
}

impl SessionKey {
    /// The key of a session's own transcript.
    pub fn main(project_key: impl Into<String>, session_id: impl Into<String>) -> Self {
        SessionKey {
            project_key: project_key.into(),
            session_id: session_id.into(),
            subpath: None,
        }
    }

    /// The key of a transcript below this session.
    pub fn with_subpath(&self, subpath: impl Into<String>) -> Self {
        SessionKey {
            subpath: Some(subpath.into()),
            ..self.clone()
        }
    }

    /// The subpath, `None` where it is empty too.
    pub fn subpath(&self) -> Option<&str> {
        self.subpath
            .as_deref()
            .filter(|subpath| !subpath.is_empty())
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.project_key, self.session_id)?;
        match self.subpath() {
            Some(subpath) => write!(formatter, "/{subpath}"),
            None => Ok(()),
        }
    }
}
