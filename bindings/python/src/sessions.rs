//! Saved sessions of this machine, and the functions over entries.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use towline::transcripts::{fold_summary, Error, OperationError, SavedOperation, SessionSummary};

use crate::json::loads;
use crate::message::saved_messages;

/// Does something with the sessions that the CLI has saved: a `SavedOperation`, as JSON text. Blocks,
/// with the interpreter free meanwhile.
#[pyfunction]
pub(crate) fn saved<'py>(py: Python<'py>, operation: &str) -> PyResult<Bound<'py, PyAny>> {
    let found = py.detach(|| SavedOperation::from_json(operation)?.run());
    match found {
        Ok(found) => loads(py, &found),
        Err(error) => Err(exception(&error)),
    }
}

/// The messages that a `SavedOperation` asks for, as `SessionMessage`s. Blocks as `saved` does.
#[pyfunction]
pub(crate) fn messages_of_saved(py: Python<'_>, operation: &str) -> PyResult<Py<PyList>> {
    let found = py.detach(|| {
        SavedOperation::from_json(operation)?.with_messages(|messages| {
            Python::attach(|py| saved_messages(py, messages).map(Bound::unbind))
        })
    });
    found.map_err(|error| exception(&error))?
}

/// The exception that the official functions raise for the same reason.
fn exception(error: &OperationError) -> PyErr {
    let text = error.to_string();
    match error {
        OperationError::Session(Error::NotFound { .. }) => PyFileNotFoundError::new_err(text),
        OperationError::Session(Error::Io { .. }) => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
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
