//! The stream of a session whose CLI the program reaches by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use towline::{Error, Exit, HostEnd, HostLimits, TransportEnd};

use crate::errors::exception;

/// The program's end of the stream: it feeds what the CLI writes, and takes what is to be written.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Pipe {
    end: HostEnd,
    limits: HostLimits,
    call: Call,
}

impl Pipe {
    pub(crate) fn new(end: HostEnd, limits: HostLimits, call: Call) -> Pipe {
        Pipe { end, limits, call }
    }
}

/// Which method of the program's transport has been called and has not returned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call(Arc<AtomicUsize>);

const METHODS: [&str; 4] = ["connect", "write", "end_input", "close"];

impl Call {
    fn method(&self) -> Option<&'static str> {
        let number = self.0.load(Ordering::Relaxed);
        METHODS.get(number.checked_sub(1)?).copied()
    }

    /// A text with what may be the reason that something took too long.
    pub(crate) fn blamed(&self, text: String) -> String {
        match self.method() {
            Some(method) => format!("{text} (the transport's {method}() has not returned)"),
            None => text,
        }
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

    /// The method of the transport that has been called and has not returned; `None` for none.
    #[getter]
    fn call(&self) -> Option<&'static str> {
        self.call.method()
    }

    #[setter]
    fn set_call(&self, method: Option<&str>) {
        let number = METHODS.iter().position(|known| Some(*known) == method);
        let number = number.map_or(0, |number| number + 1);
        self.call.0.store(number, Ordering::Relaxed);
    }

    /// Seconds that writing, and ending the input, may take; `None` is without a limit.
    #[getter]
    fn call_limit(&self) -> Option<f64> {
        self.limits.call.map(|limit| limit.as_secs_f64())
    }

    /// Seconds from `closed` within which the transport has to have ended.
    #[getter]
    fn end_limit(&self) -> f64 {
        self.limits.end.as_secs_f64()
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
