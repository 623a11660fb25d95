//! Why the command did not do what it was asked to.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// What ends the command.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something failed; the text is for people.
    Failed(String),
    /// The command was used wrongly.
    Usage(String),
    /// It failed, and what is to be said has been said.
    Said,
    /// Nobody reads stdout any more.
    NobodyReads,
}

impl Failure {
    pub(crate) fn new(what: impl Display) -> Failure {
        Failure::Failed(what.to_string())
    }

    /// A file could not be read or written.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Failure {
        Failure::Failed(format!("{}: {error}", path.display()))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Failed(_) | Failure::Said => ExitCode::from(1),
            Failure::Usage(_) => ExitCode::from(2),
            Failure::NobodyReads => ExitCode::SUCCESS,
        }
    }
}

/// An error of stdout; those of files are told with their path.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Failed(format!("stdout: {error}")),
        }
    }
}

impl From<towline::Error> for Failure {
    fn from(error: towline::Error) -> Failure {
        Failure::new(error)
    }
}

impl From<towline::transcripts::Error> for Failure {
    fn from(error: towline::transcripts::Error) -> Failure {
        Failure::new(error)
    }
}

impl From<towline::transcripts::store::TaskError> for Failure {
    fn from(error: towline::transcripts::store::TaskError) -> Failure {
        Failure::Failed(format!("the session store: {error}"))
    }
}

impl From<towline::transcripts::store::StoreError> for Failure {
    fn from(error: towline::transcripts::store::StoreError) -> Failure {
        Failure::Failed(format!("the session store: {error} (option --store)"))
    }
}
