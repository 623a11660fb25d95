//! Functions over saved sessions as JSON documents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer};
use towline_protocol::launch::Dialect;

use super::{ListOptions, SavedSessions};
use crate::error::Error;
use crate::fork::ForkOptions;
use crate::info::SessionInfo;
use crate::json::Object;
use crate::messages::{MessageOptions, SessionMessage};

/// A function over saved sessions as a JSON document.
///
/// `{"operation": …}` and its arguments; names are snake_case, camelCase is read too, absent and
/// `null` are the same, an unknown name is refused. Each takes a `directory` to look in, all
/// projects without it, and says where the config directory is by `config_dir`, or by the
/// variables of `env`, which count before those of this process (`null` unsets one). `dialect` is
/// that of [`SavedSessions::in_dialect`].
///
/// | operation | arguments | gives |
/// |---|---|---|
/// | `list_sessions` | `limit`, `offset`, `include_worktrees`, `include_programmatic` (both `true` by default) | an array of session infos |
/// | `get_session_info` | `session_id` | a session info or `null` |
/// | `get_session_messages` | `session_id`, `limit`, `offset`, `include_system_messages` | an array of messages |
/// | `list_subagents` | `session_id` | an array of ids |
/// | `get_subagent_messages` | `session_id`, `agent_id`, `limit`, `offset` | an array of messages |
/// | `rename_session` | `session_id`, `title` | `null` |
/// | `tag_session` | `session_id`, `tag` (or `null`) | `null` |
/// | `archive_session`, `unarchive_session` | `session_id` | `null` |
/// | `delete_session` | `session_id` | `null` |
/// | `fork_session` | `session_id`, `up_to_message_id`, `title` | `{"session_id": …}` |
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedOperation {
    operation: Name,
    #[serde(default, alias = "dir")]
    directory: Option<PathBuf>,
    #[serde(default, alias = "configDir")]
    config_dir: Option<PathBuf>,
    #[serde(default)]
    env: Option<BTreeMap<String, Option<String>>>,
    #[serde(default, alias = "sessionId")]
    session_id: Option<String>,
    #[serde(default, alias = "agentId")]
    agent_id: Option<String>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<usize>,
    #[serde(default, deserialize_with = "count")]
    offset: Option<usize>,
    #[serde(default, alias = "includeWorktrees")]
    include_worktrees: Option<bool>,
    #[serde(default, alias = "includeProgrammatic")]
    include_programmatic: Option<bool>,
    #[serde(default, alias = "includeSystemMessages")]
    include_system_messages: Option<bool>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    tag: Option<String>,
    #[serde(default, alias = "upToMessageId")]
    up_to_message_id: Option<String>,
    #[serde(default)]
    dialect: Option<Dialect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    ListSessions,
    GetSessionInfo,
    GetSessionMessages,
    ListSubagents,
    GetSubagentMessages,
    RenameSession,
    TagSession,
    ArchiveSession,
    UnarchiveSession,
    DeleteSession,
    ForkSession,
}

/// Why an operation gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// The document is no operation, or an argument is missing or wrong.
    #[error("{0}")]
    InvalidArgument(String),
    /// The session could not be read or changed.
    #[error(transparent)]
    Session(#[from] Error),
}

/// Below zero counts as zero, as the official packages have it.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number: Option<i64> = Deserialize::deserialize(from)?;
    Ok(number.map(|number| usize::try_from(number.max(0)).unwrap_or(usize::MAX)))
}

impl SavedOperation {
    /// Reads the document.
    pub fn from_json(text: &str) -> Result<Self, OperationError> {
        serde_json::from_str(text).map_err(|error| {
            OperationError::InvalidArgument(format!("no operation over saved sessions: {error}"))
        })
    }

    /// Does it; what it gives is a JSON document.
    pub fn run(&self) -> Result<String, OperationError> {
        let saved = self.saved();
        let directory = self.directory.as_deref();
        if self.operation == Name::ListSessions {
            return Ok(SessionInfo::list_to_json(&saved.list(&self.list_options())));
        }
        let id = needed(&self.session_id, "session_id")?;
        let null = || "null".to_owned();
        Ok(match self.operation {
            Name::ListSessions | Name::GetSessionInfo => {
                let info = saved.info(id, directory);
                info.map_or_else(null, |info| info.to_json())
            }
            Name::GetSessionMessages | Name::GetSubagentMessages => {
                self.with_messages(SessionMessage::list_to_json)?
            }
            Name::ListSubagents => {
                let ids = saved.subagents(id, directory);
                serde_json::Value::from(ids).to_string()
            }
            Name::RenameSession => {
                let title = needed(&self.title, "title")?;
                saved.rename(id, title, directory).map(|()| null())?
            }
            Name::TagSession => {
                let tag = self.tag.as_deref();
                saved.tag(id, tag, directory).map(|()| null())?
            }
            Name::ArchiveSession => saved.archive(id, directory).map(|()| null())?,
            Name::UnarchiveSession => saved.unarchive(id, directory).map(|()| null())?,
            Name::DeleteSession => saved.delete(id, directory).map(|()| null())?,
            Name::ForkSession => {
                let options = ForkOptions {
                    up_to_message_id: self.up_to_message_id.clone(),
                    title: self.title.clone(),
                };
                let mut object = Object::new();
                object.string("session_id", &saved.fork(id, directory, &options)?);
                object.end()
            }
        })
    }

    /// Reads the messages that it asks for, for `work`; an error if it asks for something else.
    pub fn with_messages<T>(
        &self,
        work: impl FnOnce(&[SessionMessage<'_>]) -> T,
    ) -> Result<T, OperationError> {
        let saved = self.saved();
        let directory = self.directory.as_deref();
        let id = needed(&self.session_id, "session_id")?;
        match self.operation {
            Name::GetSessionMessages => Ok(saved.with_messages(id, directory, &self.page(), work)),
            Name::GetSubagentMessages => {
                let agent = needed(&self.agent_id, "agent_id")?;
                Ok(saved.with_subagent_messages(id, agent, directory, &self.page(), work))
            }
            _ => Err(OperationError::InvalidArgument(
                "the operation gives no messages".to_owned(),
            )),
        }
    }

    fn saved(&self) -> SavedSessions {
        let saved = match (&self.config_dir, &self.env) {
            (Some(config), _) => SavedSessions::in_config_dir(config),
            (None, None) => SavedSessions::of_process(),
            (None, Some(env)) => SavedSessions::find(|name| match env.get(name) {
                Some(value) => value.clone(),
                None => std::env::var(name).ok(),
            }),
        };
        saved.in_dialect(self.dialect.unwrap_or_default())
    }

    fn list_options(&self) -> ListOptions {
        ListOptions {
            directory: self.directory.clone(),
            limit: self.limit,
            offset: self.offset.unwrap_or_default(),
            include_worktrees: self.include_worktrees.unwrap_or(true),
            include_programmatic: self.include_programmatic.unwrap_or(true),
        }
    }

    fn page(&self) -> MessageOptions {
        MessageOptions {
            limit: self.limit,
            offset: self.offset.unwrap_or_default(),
            include_system: self.include_system_messages.unwrap_or_default(),
        }
    }
}

fn needed<'a>(value: &'a Option<String>, name: &str) -> Result<&'a str, OperationError> {
    value
        .as_deref()
        .ok_or_else(|| OperationError::InvalidArgument(format!("`{name}` is missing")))
}
