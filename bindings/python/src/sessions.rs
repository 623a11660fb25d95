//! Saved sessions of this machine, and the functions over entries.
//!
//! The interpreter is free while files are read. What comes is JSON text that becomes Python
//! objects; its members have the names of the dataclasses' fields.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use towline::transcripts::{
    fold_summary, ListOptions, MessageOptions, SavedSessions, SessionInfo, SessionMessage,
    SessionSummary,
};

use crate::json::loads;

/// The saved sessions, newest first, as dicts.
#[pyfunction]
pub(crate) fn list_sessions(
    py: Python<'_>,
    directory: Option<PathBuf>,
    limit: Option<i64>,
    offset: i64,
    include_worktrees: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let listed = py.detach(|| {
        let sessions = SavedSessions::of_process().list(&ListOptions {
            directory,
            limit: limit.map(count),
            offset: count(offset),
            include_worktrees,
            ..ListOptions::default()
        });
        SessionInfo::list_to_json(&sessions)
    });
    loads(py, &listed)
}

/// A saved session as a dict, or `None`.
#[pyfunction]
pub(crate) fn session_info(
    py: Python<'_>,
    session_id: String,
    directory: Option<PathBuf>,
) -> PyResult<Option<Bound<'_, PyAny>>> {
    let info = py.detach(|| {
        let info = SavedSessions::of_process().info(&session_id, directory.as_deref());
        info.map(|info| info.to_json())
    });
    info.map(|info| loads(py, &info)).transpose()
}

/// The messages of a saved session, oldest first, as dicts.
#[pyfunction]
pub(crate) fn session_messages(
    py: Python<'_>,
    session_id: String,
    directory: Option<PathBuf>,
    limit: Option<i64>,
    offset: i64,
) -> PyResult<Bound<'_, PyAny>> {
    let messages = py.detach(|| {
        let messages = SavedSessions::of_process().messages(
            &session_id,
            directory.as_deref(),
            &page(limit, offset),
        );
        SessionMessage::list_to_json(&messages)
    });
    loads(py, &messages)
}

/// The ids of a saved session's subagents.
#[pyfunction]
pub(crate) fn subagents(
    py: Python<'_>,
    session_id: String,
    directory: Option<PathBuf>,
) -> Vec<String> {
    py.detach(|| SavedSessions::of_process().subagents(&session_id, directory.as_deref()))
}

/// The messages of a subagent of a saved session, oldest first, as dicts.
#[pyfunction]
pub(crate) fn subagent_messages(
    py: Python<'_>,
    session_id: String,
    agent_id: String,
    directory: Option<PathBuf>,
    limit: Option<i64>,
    offset: i64,
) -> PyResult<Bound<'_, PyAny>> {
    let messages = py.detach(|| {
        let messages = SavedSessions::of_process().subagent_messages(
            &session_id,
            &agent_id,
            directory.as_deref(),
            &page(limit, offset),
        );
        SessionMessage::list_to_json(&messages)
    });
    loads(py, &messages)
}

/// Below zero counts as zero, as the official package has it.
fn count(number: i64) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

fn page(limit: Option<i64>, offset: i64) -> MessageOptions {
    MessageOptions {
        limit: limit.map(count),
        offset: count(offset),
        ..MessageOptions::default()
    }
}

/// The directory name of a project, of its working directory (`None`: the process's).
#[pyfunction]
pub(crate) fn project_key(py: Python<'_>, directory: Option<PathBuf>) -> String {
    py.detach(|| {
        let directory = directory.unwrap_or_else(|| ".".into());
        towline::transcripts::project_key(&directory)
    })
}

/// The `data` of a summary after entries were added; `previous` and `entries` are JSON text.
#[pyfunction]
pub(crate) fn fold<'py>(
    py: Python<'py>,
    previous: Option<String>,
    session_id: String,
    entries: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let data = py.detach(|| {
        let entries = elements(entries)?;
        let previous = previous.map(|data| SessionSummary {
            session_id: session_id.clone(),
            mtime: 0,
            data,
        });
        PyResult::Ok(fold_summary(previous.as_ref(), &session_id, &entries).data)
    })?;
    loads(py, &data)
}

/// The elements of the JSON text of an array.
fn elements(text: &str) -> PyResult<Vec<&str>> {
    let mut found = Vec::new();
    towline::protocol::json::elements(text, |element| found.push(element))
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(found)
}
