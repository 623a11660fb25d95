//! Listing the sessions of a project.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::Project;
use crate::project::is_session_id;
use crate::store::{
    Calls, Capabilities, SessionKey, StoreErrorKind, StoreListEntry, StoreTask, TaskError,
};
use crate::{SessionInfo, SessionSummary};

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Page {
    /// At most as many; none and 0 set no limit.
    pub limit: Option<usize>,
    /// Leave out as many from the start.
    pub offset: usize,
}

impl Page {
    fn of<T>(self, all: Vec<T>) -> Vec<T> {
        let limit = self.limit.filter(|limit| *limit > 0);
        all.into_iter()
            .skip(self.offset)
            .take(limit.unwrap_or(usize::MAX))
            .collect()
    }
}

/// The sessions of a project, newest first.
///
/// A store that keeps summaries is asked for them all at once; only sessions of the page whose
/// summary is missing, or older than the session, are loaded. From a store without, every session
/// is loaded, a bounded number at a time; one that cannot be loaded is listed by its id alone.
/// Sessions that no list shows (subagents', those without title and prompt) are left out.
pub fn list(
    capabilities: Capabilities,
    project: Project,
    page: Page,
) -> StoreTask<Vec<SessionInfo>> {
    StoreTask::new(capabilities, move |calls| async move {
        if capabilities.list_session_summaries {
            if let Some(listed) = from_summaries(&calls, &project, page).await? {
                return Ok(listed);
            }
        }
        if !capabilities.list_sessions {
            return Err(TaskError::Unsupported(
                "the session store implements neither list_session_summaries() nor \
                 list_sessions(): it cannot list sessions"
                    .to_owned(),
            ));
        }
        let listing = calls.list_sessions(project.key().to_owned()).await?;
        let mut infos: Vec<SessionInfo> = loaded(&calls, &project, listing)
            .await
            .into_iter()
            .flatten()
            .collect();
        infos.sort_by_key(|info| Reverse(info.last_modified));
        Ok(page.of(infos))
    })
}

/// A session that is to be listed.
enum Slot {
    Known(SessionInfo),
    ToBeLoaded(StoreListEntry),
}

impl Slot {
    fn mtime(&self) -> i64 {
        match self {
            Slot::Known(info) => info.last_modified,
            Slot::ToBeLoaded(entry) => entry.mtime,
        }
    }
}

/// `None` if the store does not have summaries after all.
async fn from_summaries(
    calls: &Calls,
    project: &Project,
    page: Page,
) -> Result<Option<Vec<SessionInfo>>, TaskError> {
    let asked = calls.list_session_summaries(project.key().to_owned()).await;
    let summaries = match asked {
        Ok(summaries) => summaries,
        Err(TaskError::Store { error, .. }) if error.kind == StoreErrorKind::Unsupported => {
            return Ok(None)
        }
        Err(error) => return Err(error),
    };
    let listing = match calls.capabilities().list_sessions {
        true => Some(calls.list_sessions(project.key().to_owned()).await?),
        false => None,
    };
    let mut slots = Vec::new();
    let mut fresh = HashSet::new();
    {
        let times: Option<HashMap<&str, i64>> = listing.as_ref().map(|listing| {
            let times = listing.iter();
            times
                .map(|entry| (entry.session_id.as_str(), entry.mtime))
                .collect()
        });
        for summary in summaries {
            if let Some(times) = &times {
                match times.get(summary.session_id.as_str()) {
                    // Gone, or written to since it was summarised.
                    None => continue,
                    Some(mtime) if summary.mtime < *mtime => continue,
                    Some(_) => {}
                }
            }
            let summary = SessionSummary {
                session_id: summary.session_id,
                mtime: summary.mtime,
                data: summary.data.get().to_owned(),
            };
            slots.extend(summary.info(project.path()).map(Slot::Known));
            fresh.insert(summary.session_id);
        }
    }
    let rest = listing.into_iter().flatten();
    let rest = rest.filter(|entry| !fresh.contains(&entry.session_id));
    slots.extend(rest.map(Slot::ToBeLoaded));
    slots.sort_by_key(|slot| Reverse(slot.mtime()));
    let slots = page.of(slots);

    let to_be_loaded = slots.iter().filter_map(|slot| match slot {
        Slot::ToBeLoaded(entry) => Some(entry.clone()),
        Slot::Known(_) => None,
    });
    let mut loaded = loaded(calls, project, to_be_loaded.collect())
        .await
        .into_iter();
    let infos = slots.into_iter().filter_map(|slot| match slot {
        Slot::Known(info) => Some(info),
        Slot::ToBeLoaded(_) => loaded.next().flatten(),
    });
    Ok(Some(infos.collect()))
}

/// What the entries of each session tell; `None` for one that no list shows.
async fn loaded(
    calls: &Calls,
    project: &Project,
    listing: Vec<StoreListEntry>,
) -> Vec<Option<SessionInfo>> {
    let keys: Vec<SessionKey> = listing
        .iter()
        .map(|entry| project.session(&entry.session_id))
        .collect();
    let each = |index: usize, loaded: Result<Option<Vec<_>>, TaskError>| {
        let entry: &StoreListEntry = listing.get(index)?;
        match loaded {
            Ok(entries) => SessionInfo::from_entries_in(
                project.dialect,
                &entry.session_id,
                &entries.filter(|entries| !entries.is_empty())?,
                entry.mtime,
                project.path(),
            ),
            Err(_) => Some(SessionInfo {
                session_id: entry.session_id.clone(),
                last_modified: entry.mtime,
                ..SessionInfo::default()
            }),
        }
    };
    calls.load_each(keys, each).await
}

/// What a list would tell of one session; `None` if it is not there, not to be listed, or its id
/// no UUID. The time is that of its last entry.
pub fn info(
    capabilities: Capabilities,
    project: Project,
    session_id: String,
) -> StoreTask<Option<SessionInfo>> {
    StoreTask::new(capabilities, move |calls| async move {
        if !is_session_id(&session_id) {
            return Ok(None);
        }
        let entries = calls.load(project.session(&session_id)).await?;
        let Some(entries) = entries.filter(|entries| !entries.is_empty()) else {
            return Ok(None);
        };
        let time = SessionInfo::last_modified_of_entries(&entries);
        Ok(SessionInfo::from_entries_in(
            project.dialect,
            &session_id,
            &entries,
            time,
            project.path(),
        ))
    })
}
