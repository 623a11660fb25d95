//! The stream of a session whose CLI the program reaches by itself.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use towline::{Error, Exit, HostEnd, TransportEnd};

use crate::errors::exception;

/// The program's end of the stream: it feeds what the CLI writes, and takes what is to be written.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Pipe {
    end: HostEnd,
}

impl Pipe {
    pub(crate) fn new(end: HostEnd) -> Pipe {
        Pipe { end }
    }
}

#[pymethods]
impl Pipe {
    /// Output of the CLI, cut anywhere. `False` asks to stop until `wants_more`.
    fn feed(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        match self.end.feed(text.as_bytes()) {
            Err(Error::Closed) => Ok(true),
            fed => fed.map_err(|error| exception(py, error)),
        }
    }

    /// Whether there is room for more output.
    #[getter]
    fn wants_more(&self) -> bool {
        self.end.wants_more()
    }

    /// The output has ended: well, with an exit status, or with an error.
    #[pyo3(signature = (error=None, exit_code=None))]
    fn finish(&self, py: Python<'_>, error: Option<&str>, exit_code: Option<i32>) -> PyResult<()> {
        let end = match (exit_code, error) {
            (Some(code), _) if code < 0 => TransportEnd::exit(Exit::Signal(-code)),
            (Some(code), _) => TransportEnd::exit(Exit::Code(code)),
            (None, Some(error)) => TransportEnd::error(error),
            (None, None) => TransportEnd::default(),
        };
        self.end.finish(end).map_err(|error| exception(py, error))
    }

    /// Writing has failed, or else the end of the input. What is on its way is read; then, if it has
    /// not ended before, the stream ends with this error.
    fn fail_input(&self, py: Python<'_>, error: &str, ending: bool) -> PyResult<()> {
        let failed = match ending {
            true => self.end.fail_end_of_input(error),
            false => self.end.fail_input(error),
        };
        failed.map_err(|error| exception(py, error))
    }

    /// Whole lines to be written to the CLI, `None` when there are none.
    fn take_outgoing<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let bytes = self.end.take_outgoing()?;
        Some(PyBytes::new(py, &bytes))
    }

    /// Whether the CLI's input is to be ended, once everything was taken.
    #[getter]
    fn input_ended(&self) -> bool {
        self.end.input_ended()
    }

    /// Whether the session is done with the stream.
    #[getter]
    fn closed(&self) -> bool {
        self.end.is_closed()
    }

    /// Has this called when any of the above has changed.
    fn on_change(&self, py: Python<'_>, notice: Py<PyAny>) -> PyResult<()> {
        let notice = move || {
            // Not at the end of the interpreter.
            let _ = Python::try_attach(|py| {
                if let Err(error) = notice.call0(py) {
                    error.write_unraisable(py, None);
                }
            });
        };
        self.end
            .on_change(notice)
            .map_err(|error| exception(py, error))
    }
}
