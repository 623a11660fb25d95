//! Errors: what failed, as a status, a sentence and a JSON document.

use std::any::Any;
use std::ffi::{c_char, CString};

use serde_json::{Map, Value};
use towline_core::protocol::connection::LocalError;
use towline_core::protocol::control;
use towline_core::{
    Error, Exit, Failure as CliFailure, OptionsError, PoolError, RequestError, StartError,
};

use crate::boundary;
use crate::handle::{self, handle};
use crate::status::towline_status;
use crate::status::towline_status::*;
use crate::text::View;

/// Why a call failed. Made by the library, freed with towline_error_free(). It can be read from
/// any thread.
pub struct towline_error {
    _opaque: [u8; 0],
}

pub(crate) struct ErrorObject {
    status: towline_status,
    message: CString,
    detail: CString,
}

handle!(towline_error, ErrorObject, b"tow_err\0");

/// A failure on its way to C.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: towline_status,
    pub(crate) message: String,
    /// More, for programs.
    pub(crate) detail: Map<String, Value>,
    /// Whether an error object comes with it.
    pub(crate) reported: bool,
}

impl Failure {
    pub(crate) fn new(status: towline_status, message: impl Into<String>) -> Failure {
        Failure {
            status,
            message: message.into(),
            detail: Map::new(),
            reported: true,
        }
    }

    /// A status that is no failure and has no error object.
    pub(crate) fn quiet(status: towline_status) -> Failure {
        Failure {
            reported: false,
            ..Failure::new(status, "")
        }
    }

    pub(crate) fn panic(panic: &(dyn Any + Send)) -> Failure {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_string())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "(no message)".into());
        Failure::new(
            TOWLINE_ERR_PANIC,
            format!("the library has failed inside: {text}"),
        )
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Failure {
        self.detail.insert(key.into(), value.into());
        self
    }

    fn with_end(self, end: &CliFailure) -> Failure {
        let failure = self
            .with("stderr", end.stderr.as_str())
            .with("result", end.result.as_str());
        let failure = match &end.transport {
            Some(text) => failure.with("transport", text.as_str()),
            None => failure,
        };
        match end.exit {
            Some(Exit::Code(code)) => failure.with("exitCode", code),
            Some(Exit::Signal(signal)) => failure.with("signal", signal),
            Some(Exit::Unknown) | None => failure,
        }
    }

    fn object(self) -> ErrorObject {
        let name = self.status.name().to_string_lossy().into_owned();
        let failure = self.with("code", name);
        let (status, message) = (failure.status, failure.message.clone());
        let failure = failure
            .with("status", status as i32)
            .with("message", message.as_str());
        ErrorObject {
            status,
            message: c_string(&message),
            detail: c_string(&Value::Object(failure.detail).to_string()),
        }
    }

    pub(crate) fn into_object(self) -> *mut towline_error {
        handle::create(self.object())
    }
}

/// The detail of an error object; null when it is none.
pub(crate) unsafe fn detail(error: *const towline_error) -> Value {
    let object = handle::enter::<ErrorObject>(error).ok();
    object.map_or(Value::Null, |object| {
        serde_json::from_slice(object.detail.to_bytes()).unwrap_or_default()
    })
}

/// A NUL inside a message cannot be shown in C.
fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl From<OptionsError> for Failure {
    fn from(error: OptionsError) -> Failure {
        let status = match &error {
            OptionsError::NotAnObject { .. } => TOWLINE_ERR_JSON,
            _ => TOWLINE_ERR_OPTION,
        };
        let message = error.to_string();
        match error {
            OptionsError::Unknown { key, .. }
            | OptionsError::NotData { key, .. }
            | OptionsError::WrongType { key, .. } => {
                Failure::new(status, message).with("option", key)
            }
            _ => Failure::new(status, message),
        }
    }
}

impl From<towline_core::protocol::mcp::RegisterError> for Failure {
    fn from(error: towline_core::protocol::mcp::RegisterError) -> Failure {
        Failure::new(TOWLINE_ERR_TOOL, error.to_string())
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        let (status, path) = match &error {
            StartError::NoProgram | StartError::CliNotFound(_) => (TOWLINE_ERR_CLI_NOT_FOUND, None),
            StartError::NotFound { path } => (TOWLINE_ERR_CLI_NOT_FOUND, Some(path)),
            StartError::NotExecutable { path, .. }
            | StartError::InterpreterMissing { path, .. } => {
                (TOWLINE_ERR_NOT_EXECUTABLE, Some(path))
            }
            StartError::CwdMissing { path, .. } | StartError::CwdNotAFolder { path } => {
                (TOWLINE_ERR_CWD, Some(path))
            }
            StartError::ArgumentsTooLong { .. } => (TOWLINE_ERR_ARGUMENTS_TOO_LONG, None),
            StartError::Launch(_) => (TOWLINE_ERR_LAUNCH, None),
            StartError::BadSchema { .. } => (TOWLINE_ERR_TOOL, None),
            StartError::Store(_) | StartError::OpenStore(_) => (TOWLINE_ERR_STORE, None),
            StartError::Materialize(_) => (TOWLINE_ERR_FILE, None),
            StartError::Spawn { path, .. } => (TOWLINE_ERR_START, Some(path)),
            _ => (TOWLINE_ERR_START, None),
        };
        let failure = Failure::new(status, error.to_string());
        let failure = match path {
            Some(path) => failure.with("path", path.to_string_lossy()),
            None => failure,
        };
        match &error {
            StartError::Launch(launch) => failure.with("option", launch.option()),
            StartError::BadSchema { tool, .. } => failure.with("tool", tool.as_str()),
            _ => failure,
        }
    }
}

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Failure {
        let status = match &error {
            LocalError::Ended => TOWLINE_ERR_ENDED,
            LocalError::InputFinished | LocalError::InputLost => TOWLINE_ERR_INPUT_ENDED,
            LocalError::AlreadyInitialized => TOWLINE_ERR_STATE,
            LocalError::QueueFull { .. } => TOWLINE_ERR_QUEUE_FULL,
            LocalError::UnknownRequest(_) => TOWLINE_ERR_UNKNOWN_REQUEST,
            LocalError::AlreadyAnswered => TOWLINE_ERR_ANSWERED,
            LocalError::Withdrawn => TOWLINE_ERR_WITHDRAWN,
            LocalError::WrongAnswer { .. } => TOWLINE_ERR_WRONG_ANSWER,
            LocalError::InvalidJson { .. } | LocalError::WrongShape { .. } => TOWLINE_ERR_JSON,
            LocalError::InvalidMessage(_) => TOWLINE_ERR_MESSAGE,
            LocalError::DuplicateUuid(_) => TOWLINE_ERR_DUPLICATE_UUID,
            LocalError::UnknownTurn(_) => TOWLINE_ERR_UNKNOWN_TURN,
            LocalError::UnknownServer(_) => TOWLINE_ERR_UNKNOWN_SERVER,
            LocalError::Mcp(_) | LocalError::Text(control::LocalError::NotJson { .. }) => {
                TOWLINE_ERR_JSON
            }
            LocalError::Text(_) => TOWLINE_ERR_MESSAGE,
            _ => TOWLINE_ERR_STATE,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Failure {
        let message = error.to_string();
        match error {
            RequestError::Remote(remote) => {
                let failure = Failure::new(TOWLINE_ERR_REMOTE, message)
                    .with("subtype", remote.subtype)
                    .with("error", remote.message);
                match remote.code {
                    Some(code) => failure.with("errorCode", code),
                    None => failure,
                }
            }
            RequestError::TimedOut { subtype, limit_ms } => {
                Failure::new(TOWLINE_ERR_REQUEST_TIMEOUT, message)
                    .with("subtype", subtype)
                    .with("limitMs", limit_ms)
            }
            RequestError::SessionEnded { subtype, reason } => {
                Failure::new(TOWLINE_ERR_REQUEST_ENDED, message)
                    .with("subtype", subtype)
                    .with("result", reason)
            }
            _ => Failure::new(TOWLINE_ERR_STATE, message),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Failure {
        let message = error.to_string();
        match error {
            PoolError::Full { waited_ms, .. } => {
                Failure::new(TOWLINE_ERR_POOL_FULL, message).with("limitMs", waited_ms)
            }
            PoolError::NotReady { waited_ms } => {
                Failure::new(TOWLINE_TIMEOUT, message).with("limitMs", waited_ms)
            }
            PoolError::InUse { waited_ms, .. } => {
                Failure::new(TOWLINE_ERR_IN_USE, message).with("limitMs", waited_ms)
            }
            PoolError::Closed => Failure::new(TOWLINE_ERR_CLOSED, message),
            PoolError::Options(_) => Failure::new(TOWLINE_ERR_OPTION, message),
            PoolError::OneSession(option) | PoolError::OneFile(option) => {
                Failure::new(TOWLINE_ERR_LAUNCH, message).with("option", option)
            }
            _ => Failure::new(TOWLINE_ERR_STATE, message),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let message = error.to_string();
        match error {
            Error::Start(error) => error.into(),
            Error::Local(error) => error.into(),
            Error::Request(error) => error.into(),
            Error::ExitedBeforeInitialize(end) => {
                Failure::new(TOWLINE_ERR_EXITED_EARLY, message).with_end(&end)
            }
            Error::InitializeRefused {
                message: text,
                failure,
            } => Failure::new(TOWLINE_ERR_REFUSED, message)
                .with("error", text)
                .with_end(&failure),
            Error::InitializeTimedOut {
                limit_ms, failure, ..
            } => Failure::new(TOWLINE_ERR_INITIALIZE_TIMEOUT, message)
                .with("limitMs", limit_ms)
                .with_end(&failure),
            Error::InitializeTooLong { failure, .. } => {
                Failure::new(TOWLINE_ERR_FAILED, message).with_end(&failure)
            }
            Error::Failed(end) => Failure::new(TOWLINE_ERR_FAILED, message).with_end(&end),
            Error::Closed => Failure::new(TOWLINE_ERR_CLOSED, message),
            Error::Reentrant => Failure::new(TOWLINE_ERR_REENTRANT, message),
            Error::Busy => Failure::new(TOWLINE_ERR_BUSY, message),
            Error::Forked { .. } => Failure::new(TOWLINE_ERR_FORKED, message),
            Error::TimedOut { limit_ms } => {
                Failure::new(TOWLINE_TIMEOUT, message).with("limitMs", limit_ms)
            }
            Error::Pool(error) => error.into(),
            Error::Wait(_) => Failure::new(TOWLINE_ERR_SYSTEM, message),
            _ => Failure::new(TOWLINE_ERR_STATE, message),
        }
    }
}

/// The status that the failed call returned; TOWLINE_ERR_NULL or TOWLINE_ERR_HANDLE when `error`
/// is no error object.
#[no_mangle]
pub unsafe extern "C" fn towline_error_code(error: *const towline_error) -> towline_status {
    boundary::value(TOWLINE_ERR_HANDLE, || {
        if error.is_null() {
            return Ok(TOWLINE_ERR_NULL);
        }
        Ok(handle::enter::<ErrorObject>(error)?.status)
    })
}

/// What went wrong and what to do, in English, for people. Never NULL; the view belongs to the
/// error object.
#[no_mangle]
pub unsafe extern "C" fn towline_error_message(error: *const towline_error) -> *const c_char {
    boundary::value(c"not an error object".as_ptr(), || {
        let message = &handle::enter::<ErrorObject>(error)?.message;
        Ok(View::terminated(message.as_bytes_with_nul()).give(std::ptr::null_mut()))
    })
}

/// The same for programs: a JSON object with `code` (the name of the status), `status`, `message`,
/// and what is known of `exitCode`, `signal`, `stderr` (the end of what the CLI wrote there),
/// `transport` (how a transport of the host ended), `result` (the text of its last error result), `subtype`, `error` and `errorCode` (of a control
/// request the CLI refused), `limitMs`, `option`, `path`, `tool`. Never NULL; the view belongs to
/// the error object.
#[no_mangle]
pub unsafe extern "C" fn towline_error_detail_json(error: *const towline_error) -> *const c_char {
    boundary::value(c"{}".as_ptr(), || {
        let detail = &handle::enter::<ErrorObject>(error)?.detail;
        Ok(View::terminated(detail.as_bytes_with_nul()).give(std::ptr::null_mut()))
    })
}

/// Frees an error object. NULL is fine. Those that towline_event_error() shows belong to their
/// event and must not be freed.
#[no_mangle]
pub unsafe extern "C" fn towline_error_free(error: *mut towline_error) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<ErrorObject>(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(failure: Failure) -> Value {
        let object = failure.object();
        serde_json::from_str(object.detail.to_str().unwrap()).unwrap()
    }

    #[test]
    fn a_failed_cli_tells_everything() {
        let end = CliFailure {
            transport: None,
            exit: Some(Exit::Code(3)),
            result: "limit".into(),
            stderr: "tail\n".into(),
        };
        let failure = Failure::from(Error::Failed(end));
        assert_eq!(failure.status, TOWLINE_ERR_FAILED);
        let detail = detail(failure);
        assert_eq!(detail["code"], "TOWLINE_ERR_FAILED");
        assert_eq!(detail["status"], 53);
        assert_eq!(detail["exitCode"], 3);
        assert_eq!(detail["stderr"], "tail\n");
        assert_eq!(detail["result"], "limit");
        assert!(detail["message"]
            .as_str()
            .unwrap()
            .contains("exit status 3"));
    }

    #[test]
    fn options_errors_name_the_option() {
        let error = towline_core::Options::from_json(r#"{"modle":"x"}"#).unwrap_err();
        let failure = Failure::from(error);
        assert_eq!(failure.status, TOWLINE_ERR_OPTION);
        assert_eq!(detail(failure)["option"], "modle");
    }

    #[test]
    fn a_nul_in_a_message_does_not_cut_it() {
        let object = Failure::new(TOWLINE_ERR_JSON, "a\0b").object();
        assert_eq!(object.message.to_str(), Ok("a\u{fffd}b"));
    }
}
