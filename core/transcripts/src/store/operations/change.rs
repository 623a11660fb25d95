//! Changing sessions.

use super::{checked, not_found, Project};
use crate::project::is_session_id;
use crate::store::{Capabilities, Entry, StoreError, StoreTask, TaskError};
use crate::{tag_entry, title_entry, Error, ForkOptions};

/// Gives a session a title. White space around it is dropped; an empty one is refused. Whether the
/// session is there is not looked at.
pub fn rename(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    title: String,
) -> StoreTask<()> {
    StoreTask::new(capabilities, move |calls| async move {
        let entry = written(title_entry(&session_id, &title)?)?;
        calls
            .append(project.session(&session_id), vec![entry])
            .await
    })
}

/// Tags a session; `None` takes its tag away. Characters that cannot be seen are dropped; a tag
/// of nothing else is refused. Whether the session is there is not looked at.
pub fn tag(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    tag: Option<String>,
) -> StoreTask<()> {
    StoreTask::new(capabilities, move |calls| async move {
        let entry = written(tag_entry(&session_id, tag.as_deref())?)?;
        calls
            .append(project.session(&session_id), vec![entry])
            .await
    })
}

/// Deletes a session. A store without `delete` keeps it: one that only ever grows is right to.
pub fn delete(capabilities: Capabilities, project: Project, session_id: String) -> StoreTask<()> {
    StoreTask::new(capabilities, move |calls| async move {
        checked(&session_id)?;
        match capabilities.delete {
            true => calls.delete(project.session(&session_id)).await,
            false => Ok(()),
        }
    })
}

/// Copies a session, or its beginning, to a new one in the same project; gives the new one's id.
/// All entries of the copy are appended by one call.
pub fn fork(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
    options: ForkOptions,
) -> StoreTask<String> {
    StoreTask::new(capabilities, move |calls| async move {
        checked(&session_id)?;
        let up_to = options.up_to_message_id.as_deref();
        if let Some(id) = up_to.filter(|id| !id.is_empty() && !is_session_id(id)) {
            return Err(Error::InvalidMessageId(id.to_owned()).into());
        }
        let entries = calls.load(project.session(&session_id)).await?;
        let Some(entries) = entries.filter(|entries| !entries.is_empty()) else {
            return Err(not_found(&session_id));
        };
        let fork = crate::fork_in(project.dialect, &session_id, &entries, &options)?;
        let copied: Result<Vec<Entry>, TaskError> = fork.entries.into_iter().map(written).collect();
        calls
            .append(project.session(&fork.session_id), copied?)
            .await?;
        Ok(fork.session_id)
    })
}

/// An entry that was written here.
fn written(text: String) -> Result<Entry, TaskError> {
    Entry::new(text).map_err(|error| TaskError::InvalidArgument(StoreError::failed(error).message))
}
