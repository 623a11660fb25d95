//! How steps fail.

use towline::{Error, Exit};

/// How a step failed.
pub(crate) struct StepError {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) exit_code: Option<i32>,
}

impl StepError {
    pub(crate) fn timeout(limit: u64) -> StepError {
        StepError {
            kind: "Timeout",
            text: format!("step did not finish within {limit} ms"),
            exit_code: None,
        }
    }

    pub(crate) fn other(text: impl Into<String>) -> StepError {
        StepError {
            kind: "Driver",
            text: text.into(),
            exit_code: None,
        }
    }

    pub(crate) fn timed_out(&self) -> bool {
        self.kind == "Timeout"
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> StepError {
        let failure = match &error {
            Error::TimedOut { limit_ms } => return StepError::timeout(*limit_ms),
            Error::ExitedBeforeInitialize(failure)
            | Error::InitializeRefused { failure, .. }
            | Error::InitializeTimedOut { failure, .. }
            | Error::InitializeTooLong { failure, .. }
            | Error::Failed(failure)
            | Error::ErrorResult(failure) => failure.exit,
            _ => None,
        };
        StepError {
            kind: "Error",
            text: error.to_string(),
            exit_code: match failure {
                Some(Exit::Code(code)) => Some(code),
                _ => None,
            },
        }
    }
}
