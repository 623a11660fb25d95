//! Errors of the core as JavaScript sees them: one JSON text, made into an error object there.

use serde_json::{json, Value};
use towline::protocol::launch::Dialect;
use towline::transcripts::store::TaskError;
use towline::{Error, Exit, Failure, LocalError, PoolError, RequestError, StartError};

/// The stable name of an error.
fn code(error: &Error) -> &'static str {
    match error {
        Error::Start(error) => match error {
            StartError::NoProgram | StartError::CliNotFound(_) | StartError::NotFound { .. } => {
                "CLI_NOT_FOUND"
            }
            StartError::NotExecutable { .. } | StartError::InterpreterMissing { .. } => {
                "CLI_NOT_EXECUTABLE"
            }
            StartError::CwdMissing { .. } | StartError::CwdNotAFolder { .. } => "CWD_MISSING",
            StartError::ArgumentsTooLong { .. } => "ARGUMENTS_TOO_LONG",
            StartError::Launch(_) => "INVALID_OPTIONS",
            StartError::Record { .. } | StartError::WireLog { .. } | StartError::Replay { .. } => {
                "RECORDING"
            }
            StartError::Tool(_) | StartError::BadSchema { .. } => "INVALID_TOOL",
            StartError::Store(TaskError::InvalidArgument(_)) => "INVALID_OPTIONS",
            StartError::Store(_) | StartError::OpenStore(_) | StartError::Materialize(_) => {
                "SESSION_STORE"
            }
            _ => "SPAWN_FAILED",
        },
        Error::Local(error) => match error {
            LocalError::Ended | LocalError::InputFinished | LocalError::InputLost => {
                "SESSION_CLOSED"
            }
            LocalError::QueueFull { .. } => "QUEUE_FULL",
            LocalError::Withdrawn | LocalError::AlreadyAnswered => "ANSWERED_ALREADY",
            LocalError::WrongAnswer { .. } => "WRONG_ANSWER",
            LocalError::DuplicateUuid(_) => "DUPLICATE_UUID",
            _ => "INVALID_ARGUMENT",
        },
        Error::Request(error) => match error {
            RequestError::Remote(_) => "REQUEST_REFUSED",
            RequestError::TimedOut { .. } => "REQUEST_TIMED_OUT",
            _ => "SESSION_CLOSED",
        },
        Error::ExitedBeforeInitialize(_) => "EXITED_BEFORE_INITIALIZE",
        Error::InitializeRefused { .. } | Error::InitializeTooLong { .. } => "INITIALIZE_REFUSED",
        Error::InitializeTimedOut { .. } => "INITIALIZE_TIMED_OUT",
        Error::Failed(_) => "PROCESS_FAILED",
        Error::ErrorResult(_) => "ERROR_RESULT",
        Error::Closed => "SESSION_CLOSED",
        Error::Pool(error) => match error {
            PoolError::Full { .. } => "POOL_FULL",
            PoolError::InUse { .. } => "SESSION_IN_USE",
            PoolError::NotReady { .. } => "TIMED_OUT",
            PoolError::Closed => "POOL_CLOSED",
            PoolError::Options(_) | PoolError::OneSession(_) | PoolError::OneFile(_) => {
                "INVALID_OPTIONS"
            }
            _ => "INVALID_ARGUMENT",
        },
        Error::Forked { .. } => "FORKED",
        Error::TimedOut { .. } => "TIMED_OUT",
        _ => "INTERNAL",
    }
}

/// `{"code","message"}`, with `errorCode` of the CLI's refusal or `failure` where there is one.
pub(crate) fn describe(error: &Error) -> Value {
    let mut described = json!({"code": code(error), "message": error.text(Dialect::TypeScript)});
    if let Some(failure) = error.failure() {
        described["failure"] = describe_failure(failure);
    }
    if let Error::Request(RequestError::Remote(refusal)) = error {
        described["message"] = refusal.message.clone().into();
        described["subtype"] = refusal.subtype.clone().into();
        described["errorCode"] = refusal.code.clone().into();
    }
    described
}

/// How a process ended: `{"exitCode","signal","result","stderr","transport"}`, the signal by its
/// number; `transport` says why a stream ended that is none to a process.
pub(crate) fn describe_failure(failure: &Failure) -> Value {
    let (exit_code, signal) = match failure.exit {
        Some(Exit::Code(code)) => (Some(code), None),
        Some(Exit::Signal(signal)) => (None, Some(signal)),
        _ => (None, None),
    };
    json!({
        "exitCode": exit_code,
        "signal": signal,
        "result": failure.result,
        "stderr": failure.stderr,
        "transport": failure.transport,
    })
}

/// The exception that JavaScript turns into a typed error.
pub(crate) fn to_js(error: impl Into<Error>) -> napi::Error {
    napi::Error::from_reason(describe(&error.into()).to_string())
}

/// The same, for what is wrong with an argument.
pub(crate) fn invalid(code: &str, message: impl std::fmt::Display) -> napi::Error {
    let described = json!({"code": code, "message": message.to_string()});
    napi::Error::from_reason(described.to_string())
}
