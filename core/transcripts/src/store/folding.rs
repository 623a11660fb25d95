//! The summary that a store keeps up to date while it appends.

use crate::{fold_summary, SessionSummary};

/// The data of a session's summary after `entries` were added, from what it was before.
pub(super) fn fold<E: AsRef<str>>(
    previous: Option<&str>,
    session_id: &str,
    entries: &[E],
) -> String {
    let previous = previous.map(|data| SessionSummary {
        session_id: session_id.to_owned(),
        mtime: 0,
        data: data.to_owned(),
    });
    fold_summary(previous.as_ref(), session_id, entries).data
}
