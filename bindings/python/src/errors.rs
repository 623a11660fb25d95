//! Errors of the core as exceptions of `towline._errors`.

use pyo3::exceptions::{PyBlockingIOError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use towline::protocol::launch::{Dialect, LaunchError};
use towline::{
    Error, Exit, Failure, LocalError, PoolError, RawMessage, RequestError, StartError, TurnDeadline,
};

use crate::json;
use crate::pipe::Call;

/// Another way than the text to end up with an exception.
fn raise(py: Python<'_>, class: &str, arguments: impl IntoArguments) -> PyErr {
    match make(py, class, arguments) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

fn make<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl IntoArguments,
) -> PyResult<Bound<'py, PyAny>> {
    let class = py.import("towline._errors")?.getattr(class)?;
    arguments.call(&class)
}

trait IntoArguments {
    fn call<'py>(self, class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>;
}

impl IntoArguments for String {
    fn call<'py>(self, class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        class.call1((self,))
    }
}

/// A text, and the exception behind it.
impl IntoArguments for (String, PyErr) {
    fn call<'py>(self, class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (text, cause) = self;
        class.call1((text, cause.into_value(class.py())))
    }
}

/// A message, an exit status and the end of stderr.
impl IntoArguments for (String, Option<i32>, Option<String>) {
    fn call<'py>(self, class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        class.call1(self)
    }
}

/// What a function of a session fails with.
pub(crate) fn exception(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Start(error) => start(py, error),
        Error::Request(error) => request(py, error, None, &Call::default()),
        Error::ExitedBeforeInitialize(failure)
        | Error::Failed(failure)
        | Error::ErrorResult(failure) => ended(py, &failure, None),
        // The program waits and tries again.
        Error::Local(LocalError::QueueFull { .. }) => PyBlockingIOError::new_err(error.to_string()),
        Error::InitializeTooLong { length, limit, .. } => {
            let text = format!("a message of {length} bytes exceeds max_buffer_size ({limit})");
            let cause = PyValueError::new_err(error.to_string());
            raise(py, "CLIJSONDecodeError", (text, cause))
        }
        Error::Pool(error) => pool(py, error),
        error => raise(py, "CLIConnectionError", error.text(Dialect::Python)),
    }
}

/// A pool has no session to give.
fn pool(py: Python<'_>, error: PoolError) -> PyErr {
    let text = error.text(Dialect::Python);
    match error {
        PoolError::Options(_) | PoolError::OneSession(_) | PoolError::OneFile(_) => {
            PyValueError::new_err(text)
        }
        _ => raise(py, "CLIConnectionError", text),
    }
}

fn start(py: Python<'_>, error: StartError) -> PyErr {
    let text = Dialect::Python.reword(&error.to_string());
    match error {
        StartError::CliNotFound(_) | StartError::NotFound { .. } => {
            raise(py, "CLINotFoundError", text)
        }
        StartError::Launch(
            LaunchError::SettingsFile { .. }
            | LaunchError::BatchFile { .. }
            | LaunchError::NotJson {
                option: "settings", ..
            },
        ) => raise(py, "CLIConnectionError", text),
        StartError::Launch(_) | StartError::Tool(_) | StartError::BadSchema { .. } => {
            PyValueError::new_err(text)
        }
        _ => raise(py, "CLIConnectionError", text),
    }
}

/// Why a control request has no answer; `call` is what the program's transport is in.
pub(crate) fn request(
    py: Python<'_>,
    error: RequestError,
    end: Option<PyErr>,
    call: &Call,
) -> PyErr {
    match error {
        RequestError::Remote(error) => raise(py, "ClaudeSDKError", error.message),
        RequestError::TimedOut { subtype, .. } => {
            let text = format!("Control request timeout: {subtype}");
            raise(py, "ClaudeSDKError", call.blamed(text))
        }
        error => end.unwrap_or_else(|| raise(py, "CLIConnectionError", error.to_string())),
    }
}

/// A turn that nobody holds has reached a limit.
pub(crate) fn turn_too_long(py: Python<'_>, limit: TurnDeadline, call: &Call) -> PyErr {
    let option = Dialect::Python.option_name(limit.option());
    let text = format!("the turn reached the limit of option {option}");
    raise(py, "CLIConnectionError", call.blamed(text))
}

/// The exit status as Python tells it: negative is a signal.
fn exit_code(exit: Option<Exit>) -> Option<i32> {
    match exit? {
        Exit::Code(code) => Some(code),
        Exit::Signal(signal) => Some(-signal),
        Exit::Unknown => None,
    }
}

/// The end of a CLI that failed; `result` is its last message, when that was an error result.
pub(crate) fn ended(py: Python<'_>, failure: &Failure, result: Option<&RawMessage>) -> PyErr {
    let code = exit_code(failure.exit);
    if !failure.result.is_empty() {
        return match result_error(py, failure, result, code) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        };
    }
    let message = match failure.exit {
        Some(Exit::Code(0)) => "The CLI ended before it had answered".to_string(),
        Some(Exit::Code(code)) => format!("Command failed with exit code {code}"),
        Some(Exit::Signal(signal)) => format!("Command was ended by signal {signal}"),
        Some(Exit::Unknown) | None => match &failure.transport {
            Some(end) => end.clone(),
            None => "Command ended".to_string(),
        },
    };
    let stderr = failure.stderr.trim();
    let stderr = (!stderr.is_empty()).then(|| stderr.to_string());
    raise(py, "ProcessError", (message, code, stderr))
}

/// The end of a CLI that has not failed and yet left a prompt without a result.
pub(crate) fn ended_in_turn(py: Python<'_>, failure: &Failure) -> PyErr {
    let what = match &failure.transport {
        Some(_) => "The transport",
        None => "The CLI",
    };
    let message = format!("{what} ended before the turn had a result");
    let stderr = failure.stderr.trim();
    let stderr = (!stderr.is_empty()).then(|| stderr.to_string());
    let code = exit_code(failure.exit);
    raise(py, "ProcessError", (message, code, stderr))
}

fn result_error<'py>(
    py: Python<'py>,
    failure: &Failure,
    result: Option<&RawMessage>,
    code: Option<i32>,
) -> PyResult<Bound<'py, PyAny>> {
    let text = format!("Claude Code returned an error result: {}", failure.result);
    let data = match result {
        Some(result) => json::loads(py, result.json())?,
        None => PyDict::new(py).into_any(),
    };
    let class = py.import("towline._errors")?.getattr("ResultError")?;
    class.call1((text, data, code))
}
