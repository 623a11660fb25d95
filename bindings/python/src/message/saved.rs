//! Messages of saved sessions, whose `message` is decoded when somebody asks for it.
//!
//! Until then `_raw` of the instance is its text, as `bytes`, and of the fields behind `message`
//! only those are set that have a value.

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString};
use towline::transcripts::{MessageKind, SessionMessage};

use super::shape::{delete_own, fields, own, set_own, Shape};
use crate::json::loads;

static SHAPE: PyOnceLock<Shape> = PyOnceLock::new();

/// These messages as instances of `towline.types.SessionMessage`.
pub(crate) fn saved_messages<'py>(
    py: Python<'py>,
    messages: &[SessionMessage<'_>],
) -> PyResult<Bound<'py, PyList>> {
    let shape = SHAPE.get_or_try_init(py, || {
        let class = py.import("towline.types")?.getattr("SessionMessage")?;
        Shape::of(&class, &[])
    })?;
    let list = PyList::empty(py);
    let mut session: Option<(&str, Bound<'py, PyString>)> = None;
    for message in messages {
        let instance = shape.undecoded(py, &message.message)?;
        let kind = match message.kind {
            MessageKind::User => pyo3::intern!(py, "user"),
            MessageKind::Assistant => pyo3::intern!(py, "assistant"),
            MessageKind::System => pyo3::intern!(py, "system"),
        };
        set_own(&instance, pyo3::intern!(py, "type"), kind)?;
        let uuid = PyString::new(py, &message.uuid);
        set_own(&instance, pyo3::intern!(py, "uuid"), &uuid)?;
        let id = match session.take() {
            Some(last) if last.0 == message.session_id => last.1,
            _ => PyString::new(py, &message.session_id),
        };
        set_own(&instance, pyo3::intern!(py, "session_id"), &id)?;
        session = Some((&message.session_id, id));
        let parents = [&message.parent_tool_use_id, &message.parent_agent_id];
        for (name, parent) in behind(py).into_iter().zip(parents) {
            if let Some(parent) = parent {
                set_own(&instance, name, &PyString::new(py, parent))?;
            }
        }
        list.append(instance)?;
    }
    Ok(list)
}

/// The fields behind `message`.
fn behind(py: Python<'_>) -> [&Bound<'_, PyString>; 2] {
    [
        pyo3::intern!(py, "parent_tool_use_id"),
        pyo3::intern!(py, "parent_agent_id"),
    ]
}

/// The descriptor that stands in the class for `message`.
#[pyclass(frozen, subclass, module = "towline._native")]
pub(crate) struct SavedField;

#[pymethods]
impl SavedField {
    #[new]
    fn new() -> SavedField {
        SavedField
    }

    /// Called for an instance whose own attributes have no `message`, and for the class.
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let missing =
            |of: &str| PyAttributeError::new_err(format!("{of} has no attribute 'message'"));
        let Some(instance) = instance else {
            return Err(missing("type object 'SessionMessage'"));
        };
        let Some(text) = text(instance)? else {
            return Err(missing("'SessionMessage' object"));
        };
        let message = decoded(&text)?;
        set_own(instance, pyo3::intern!(py, "message"), &message)?;
        finish(instance)?;
        Ok(message)
    }
}

/// Makes all fields of an instance. What was assigned before stays.
pub(crate) fn settle(instance: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = instance.py();
    let Some(text) = text(instance)? else {
        return Ok(());
    };
    let name = pyo3::intern!(py, "message");
    if !fields(instance)?.contains(name)? {
        set_own(instance, name, &decoded(&text)?)?;
    }
    finish(instance)
}

/// The text of an instance whose message is not decoded yet.
fn text<'py>(instance: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let raw = own(instance, pyo3::intern!(instance.py(), "_raw"))?;
    Ok(raw.and_then(|raw| raw.cast_into_exact().ok()))
}

fn decoded<'py>(text: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyAny>> {
    let plain = std::str::from_utf8(text.as_bytes())
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    loads(text.py(), plain)
}

/// Sets the fields behind `message`, so that all stand in their order, and lets go of the text.
fn finish(instance: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = instance.py();
    for name in behind(py) {
        let value = own(instance, name)?.unwrap_or_else(|| py.None().into_bound(py));
        if !value.is_none() {
            delete_own(instance, name)?;
        }
        set_own(instance, name, &value)?;
    }
    // Another thread, or a finaliser, may have been here while the text was decoded.
    match text(instance)? {
        Some(_) => delete_own(instance, pyo3::intern!(py, "_raw")),
        None => Ok(()),
    }
}
