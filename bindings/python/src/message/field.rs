//! The fields of a stream event, made when somebody asks for them.
//!
//! Until then `_raw` of the instance is the line, as `bytes`; behind that a tuple of the line.

use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

use super::shape::{fields, own, set_own};
use super::{event_alone, stream_event};

/// For how many more stream events the program is taken for one that looks at `event`.
static AHEAD: AtomicU32 = AtomicU32::new(0);

/// How far one look reaches. The next event is left undecoded, to see whether it is looked at too.
const REACH: u32 = 31;

/// Whether the next stream event is given out with its `event` made, which costs less than making it
/// when it is asked for.
#[inline]
pub(super) fn is_read() -> bool {
    let ahead = AHEAD.load(Ordering::Relaxed);
    if ahead > 0 {
        AHEAD.store(ahead - 1, Ordering::Relaxed);
    }
    ahead > 0
}

/// A descriptor that stands in the class for a field: its name, and its default if there is one.
#[pyclass(frozen, subclass, module = "towline._native")]
pub(crate) struct StreamField {
    name: Py<PyString>,
    default: Py<PyTuple>,
    is_event: bool,
}

#[pymethods]
impl StreamField {
    #[new]
    #[pyo3(signature = (name, *default))]
    fn new(name: &Bound<'_, PyString>, default: Bound<'_, PyTuple>) -> PyResult<StreamField> {
        let text = name.to_str()?;
        Ok(StreamField {
            name: PyString::intern(name.py(), text).unbind(),
            default: default.unbind(),
            is_event: text == "event",
        })
    }

    /// The default; empty for none.
    #[getter]
    fn default(&self, py: Python<'_>) -> Py<PyTuple> {
        self.default.clone_ref(py)
    }

    /// Called for an instance whose own attributes have none of this name, and for the class.
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = self.name.bind(py);
        let Some(instance) = instance else {
            return self.instead(py, "type object 'StreamEvent'");
        };
        // Who reads a stream asks for nothing else.
        if self.is_event {
            if let Some(line) = line(instance)? {
                if let Some(event) = event_alone(py, text(&line)?)? {
                    set_own(instance, name, &event)?;
                    AHEAD.store(REACH, Ordering::Relaxed);
                    return Ok(event);
                }
            }
        }
        if let Some(fields) = fill(instance)? {
            if let Some(value) = fields.get_item(name)? {
                return Ok(value);
            }
        }
        self.instead(py, "'StreamEvent' object")
    }
}

impl StreamField {
    fn instead<'py>(&self, py: Python<'py>, of: &str) -> PyResult<Bound<'py, PyAny>> {
        self.default.bind(py).get_item(0).map_err(|_| {
            let name = self.name.bind(py);
            PyAttributeError::new_err(format!("{of} has no attribute '{name}'"))
        })
    }
}

/// The line of an instance whose fields are not made yet.
fn line<'py>(instance: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let raw = own(instance, pyo3::intern!(instance.py(), "_raw"))?;
    Ok(raw.and_then(|raw| raw.cast_into_exact().ok()))
}

fn text<'a>(line: &'a Bound<'_, PyBytes>) -> PyResult<&'a str> {
    std::str::from_utf8(line.as_bytes()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Makes the fields of an instance and gives its attributes; `None` if they are made already. What
/// was assigned before stays.
pub(crate) fn fill<'py>(instance: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = instance.py();
    let Some(line) = line(instance)? else {
        return Ok(None);
    };
    let made = stream_event(py, text(&line)?)?;
    let present = fields(instance)?;
    made.update(present.as_mapping())?;
    present.update(made.as_mapping())?;
    let kept = PyTuple::new(py, [line])?;
    set_own(instance, pyo3::intern!(py, "_raw"), kept.as_any())?;
    Ok(Some(made))
}
