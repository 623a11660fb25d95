//! Operations as JSON documents.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use towline_protocol::launch::Dialect;

use super::read::{entries, subagent_entries};
use super::{
    delete, fork, import, info, list, rename, subagents, tag, ImportOptions, Page, Project,
};
use crate::json::Object;
use crate::store::{Capabilities, StoreTask, TaskError};
use crate::{ForkOptions, MessageOptions, SavedSessions, SessionInfo, SessionMessage};

/// An operation over a store as a JSON document.
///
/// `{"operation": …}` and its arguments; names are snake_case, camelCase is read too, absent and
/// `null` are the same. The sessions are those of `project_key`, or of the project of `directory`,
/// by default the current one. `dialect` (`"python"` or `"typescript"`) says whose rules tell the
/// first prompt of a session, as [`Project::in_dialect`] does:
///
/// | operation | arguments | gives |
/// |---|---|---|
/// | `list_sessions` | `limit`, `offset` | an array of session infos |
/// | `get_session_info` | `session_id` | a session info or `null` |
/// | `get_session_messages` | `session_id`, `limit`, `offset`, `include_system_messages`, `timestamps` | an array of messages, with `timestamps` each with its own |
/// | `list_subagents` | `session_id` | an array of ids |
/// | `get_subagent_messages` | `session_id`, `agent_id`, `limit`, `offset`, `timestamps` | an array of messages |
/// | `rename_session` | `session_id`, `title` | `null` |
/// | `tag_session` | `session_id`, `tag` (or `null`) | `null` |
/// | `delete_session` | `session_id` | `null` |
/// | `fork_session` | `session_id`, `up_to_message_id`, `title` | `{"session_id": …}` |
/// | `import_session` | `session_id`, `include_subagents`, `batch_size`, `config_dir`; `directory` is where it is looked for, all projects without it | `{"project_key","entries","skipped_lines"}` |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    name: Name,
    arguments: Arguments,
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
    DeleteSession,
    ForkSession,
    ImportSession,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Arguments {
    #[serde(default, alias = "projectKey")]
    project_key: Option<String>,
    #[serde(default, alias = "dir")]
    directory: Option<PathBuf>,
    #[serde(default, alias = "sessionId")]
    session_id: Option<String>,
    #[serde(default, alias = "agentId")]
    agent_id: Option<String>,
    #[serde(default, deserialize_with = "count")]
    limit: Option<usize>,
    #[serde(default, deserialize_with = "count")]
    offset: Option<usize>,
    #[serde(default, alias = "includeSystemMessages")]
    include_system_messages: Option<bool>,
    #[serde(default)]
    timestamps: Option<bool>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    tag: Option<String>,
    #[serde(default, alias = "upToMessageId")]
    up_to_message_id: Option<String>,
    #[serde(default, alias = "includeSubagents")]
    include_subagents: Option<bool>,
    #[serde(default, alias = "batchSize", deserialize_with = "count")]
    batch_size: Option<usize>,
    #[serde(default, alias = "configDir")]
    config_dir: Option<PathBuf>,
    #[serde(default)]
    dialect: Option<Dialect>,
}

#[derive(Deserialize)]
struct Document {
    operation: Name,
    #[serde(flatten)]
    arguments: Arguments,
}

/// Below zero counts as zero, as the official packages have it.
fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<usize>, D::Error> {
    let number: Option<i64> = Deserialize::deserialize(from)?;
    Ok(number.map(|number| usize::try_from(number.max(0)).unwrap_or(usize::MAX)))
}

impl Operation {
    /// Reads the document.
    pub fn from_json(text: &str) -> Result<Self, TaskError> {
        let document: Document = serde_json::from_str(text)
            .map_err(|error| TaskError::InvalidArgument(format!("no store operation: {error}")))?;
        Ok(Operation {
            name: document.operation,
            arguments: document.arguments,
        })
    }

    /// The operation over a store that has these calls; what it gives is a JSON document.
    pub fn task(self, capabilities: Capabilities) -> Result<StoreTask<String>, TaskError> {
        let Operation { name, arguments } = self;
        let needed = |value: Option<String>, name: &str| {
            value.ok_or_else(|| TaskError::InvalidArgument(format!("`{name}` is missing")))
        };
        let project = arguments.project();
        let page = arguments.page();
        let messages = arguments.messages();
        let to_json = match arguments.timestamps {
            Some(true) => SessionMessage::list_to_json_with_timestamps,
            _ => SessionMessage::list_to_json,
        };
        if let Name::ListSessions = name {
            let listed = list(capabilities, project, page);
            return Ok(listed.map(|infos| SessionInfo::list_to_json(&infos)));
        }
        let id = needed(arguments.session_id, "session_id")?;
        Ok(match name {
            Name::ListSessions | Name::GetSessionInfo => info(capabilities, project, id)
                .map(|info| info.map_or_else(null, |info| info.to_json())),
            Name::GetSessionMessages => entries(capabilities, project, id)
                .map(move |entries| to_json(&crate::messages(&entries, &messages))),
            Name::ListSubagents => subagents(capabilities, project, id)
                .map(|ids| serde_json::to_string(&ids).unwrap_or_default()),
            Name::GetSubagentMessages => {
                let agent = needed(arguments.agent_id, "agent_id")?;
                subagent_entries(capabilities, project, id, agent).map(move |entries| {
                    let messages = crate::subagent_messages(&entries, None, &messages);
                    to_json(&messages)
                })
            }
            Name::RenameSession => {
                let title = needed(arguments.title, "title")?;
                rename(capabilities, project, id, title).map(|()| null())
            }
            Name::TagSession => tag(capabilities, project, id, arguments.tag).map(|()| null()),
            Name::DeleteSession => delete(capabilities, project, id).map(|()| null()),
            Name::ForkSession => {
                let options = ForkOptions {
                    up_to_message_id: arguments.up_to_message_id,
                    title: arguments.title,
                };
                fork(capabilities, project, id, options).map(|session_id| {
                    let mut object = Object::new();
                    object.string("session_id", &session_id);
                    object.end()
                })
            }
            Name::ImportSession => {
                let options = ImportOptions {
                    directory: arguments.directory,
                    include_subagents: arguments.include_subagents.unwrap_or(true),
                    batch_size: arguments.batch_size.unwrap_or_default(),
                };
                let saved = match arguments.config_dir {
                    Some(config) => SavedSessions::in_config_dir(&config),
                    None => SavedSessions::of_process(),
                };
                import(capabilities, saved, id, options).map(|imported| {
                    let mut object = Object::new();
                    object
                        .string("project_key", &imported.project_key)
                        .number("entries", imported.entries)
                        .number("skipped_lines", imported.skipped_lines);
                    object.end()
                })
            }
        })
    }
}

impl Arguments {
    fn project(&self) -> Project {
        let project = match &self.project_key {
            Some(key) => Project::of_key(key),
            None => Project::of_directory(self.directory.as_deref().map(Path::new)),
        };
        project.in_dialect(self.dialect.unwrap_or_default())
    }

    fn page(&self) -> Page {
        Page {
            limit: self.limit,
            offset: self.offset.unwrap_or_default(),
        }
    }

    fn messages(&self) -> MessageOptions {
        MessageOptions {
            limit: self.limit,
            offset: self.offset.unwrap_or_default(),
            include_system: self.include_system_messages.unwrap_or_default(),
        }
    }
}

fn null() -> String {
    "null".to_owned()
}
