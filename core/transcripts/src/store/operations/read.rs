//! Reading conversations.

use std::collections::HashSet;

use super::Project;
use crate::project::is_session_id;
use crate::store::{Capabilities, Entry, SessionKey, StoreTask, TaskError};
use crate::{MessageOptions, SessionMessage};

const SUBAGENTS: &str = "subagents/";

/// The conversation of a session, oldest message first; empty if it is not there or its id is no
/// UUID.
pub fn messages(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    options: MessageOptions,
) -> StoreTask<Vec<SessionMessage<'static>>> {
    entries(capabilities, project, session_id).map(move |entries| {
        let messages = crate::messages(&entries, &options).into_iter();
        messages.map(SessionMessage::into_owned).collect()
    })
}

pub(super) fn entries(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
) -> StoreTask<Vec<Entry>> {
    StoreTask::new(capabilities, move |calls| async move {
        if !is_session_id(&session_id) {
            return Ok(Vec::new());
        }
        let entries = calls.load(project.session(&session_id)).await?;
        Ok(entries.unwrap_or_default())
    })
}

/// The ids of a session's subagents in the store's order; none if the session's id is no UUID.
/// A store without `list_subkeys` cannot tell them.
pub fn subagents(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
) -> StoreTask<Vec<String>> {
    StoreTask::new(capabilities, move |calls| async move {
        if !is_session_id(&session_id) {
            return Ok(Vec::new());
        }
        if !capabilities.list_subkeys {
            return Err(TaskError::Unsupported(
                "the session store does not implement list_subkeys(): it cannot list subagents"
                    .to_owned(),
            ));
        }
        let mut known = HashSet::new();
        let subkeys = calls.list_subkeys(project.session(&session_id)).await?;
        let ids = subkeys.iter().filter_map(|subpath| agent_id(subpath));
        let ids = ids.filter(|id| known.insert(*id));
        Ok(ids.map(str::to_owned).collect())
    })
}

/// The conversation of a subagent, oldest message first; empty if there is none. Subagents in
/// folders of their own are found where the store has `list_subkeys`.
pub fn subagent_messages(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    agent: String,
    options: MessageOptions,
) -> StoreTask<Vec<SessionMessage<'static>>> {
    subagent_entries(capabilities, project, session_id, agent).map(move |entries| {
        let messages = crate::subagent_messages(&entries, None, &options).into_iter();
        messages.map(SessionMessage::into_owned).collect()
    })
}

pub(super) fn subagent_entries(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    agent: String,
) -> StoreTask<Vec<Entry>> {
    StoreTask::new(capabilities, move |calls| async move {
        if !is_session_id(&session_id) || agent.is_empty() {
            return Ok(Vec::new());
        }
        let session = project.session(&session_id);
        let subpath = match capabilities.list_subkeys {
            true => {
                let subkeys = calls.list_subkeys(session.clone()).await?.into_iter();
                let mut fitting = subkeys.filter(|subpath| agent_id(subpath) == Some(&agent));
                fitting.next()
            }
            false => Some(format!("{SUBAGENTS}agent-{agent}")),
        };
        let Some(subpath) = subpath else {
            return Ok(Vec::new());
        };
        let key = SessionKey {
            subpath: Some(subpath),
            ..session
        };
        Ok(calls.load(key).await?.unwrap_or_default())
    })
}

/// The subagent whose transcript a subpath is.
fn agent_id(subpath: &str) -> Option<&str> {
    let (_, name) = subpath
        .strip_prefix(SUBAGENTS)
        .and(subpath.rsplit_once('/'))?;
    name.strip_prefix("agent-")
}
