//! Errors of a session. Each names the thing and the remedy.

use std::io;
use std::path::PathBuf;

pub use towline_protocol::connection::{LocalError, RemoteError, RequestError};

use towline_protocol::connection::TurnDeadline;
use towline_protocol::launch::Dialect;

use crate::process::Exit;

/// Why the CLI could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No executable was given.
    #[error("no program to start: the path of the CLI is empty")]
    NoProgram,
    /// Discovery found no CLI.
    #[error("{0}")]
    CliNotFound(String),
    /// The named executable does not exist.
    #[error("Claude Code not found at {}: there is no such file; check option cliPath, or install it with: npm install -g @anthropic-ai/claude-code", path.display())]
    NotFound {
        /// The path looked at.
        path: PathBuf,
    },
    /// The program in front of the CLI does not exist.
    #[error("the launcher {} was not found; check option launcher", path.display())]
    LauncherNotFound {
        /// The path looked at.
        path: PathBuf,
    },
    /// The named executable cannot be executed.
    #[error("{} cannot be executed: {reason}", path.display())]
    NotExecutable {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The CLI is a script whose interpreter does not exist.
    #[error("{} is a script for {interpreter:?}, which is not installed; install it, or point option cliPath at a native build", path.display())]
    InterpreterMissing {
        /// The script.
        path: PathBuf,
        /// What stands on its `#!` line.
        interpreter: String,
    },
    /// The working directory does not exist.
    #[error("Working directory does not exist: {}: {error} (option cwd)", path.display())]
    CwdMissing {
        /// The path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The working directory is no folder.
    #[error("Working directory is not a folder: {} (option cwd)", path.display())]
    CwdNotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// No such user to run the CLI as.
    #[error("there is no user {user:?} on this system (option user)")]
    UnknownUser {
        /// The name given.
        user: String,
    },
    /// Arguments and environment are more than the system takes.
    #[error("the arguments and environment of the CLI are too long for this system: {error}; pass large values by file or through options that do not travel on the command line")]
    ArgumentsTooLong {
        /// What the system says.
        error: io::Error,
    },
    /// No pipes could be made.
    #[error("cannot make the pipes to the CLI: {0}")]
    Pipes(io::Error),
    /// The watchdog could not be started.
    #[error("cannot start the watchdog that ends the CLI when this program dies: {0}; option watchdog turns it off")]
    Watchdog(io::Error),
    /// A private file could not be written.
    #[error("cannot write a private file for the CLI: {0}")]
    PrivateFile(io::Error),
    /// The recording could not be begun.
    #[error("cannot write the recording {}: {error} (option record)", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The wire log could not be begun.
    #[error("cannot write the wire log {}: {error} (option wireLog)", path.display())]
    WireLog {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A recording could not be read.
    #[error("cannot replay {}: {reason} (option replay)", path.display())]
    Replay {
        /// The file.
        path: PathBuf,
        /// Why, with the line.
        reason: String,
    },
    /// A transport of the host could not be started.
    #[error("the transport could not be started: {0}")]
    Transport(String),
    /// A session could not be loaded from the store, or the store cannot do what the options ask.
    #[error(transparent)]
    Store(#[from] towline_transcripts::store::TaskError),
    /// The store that option `sessionStore` names could not be opened.
    #[error("cannot open the session store: {0} (option sessionStore)")]
    OpenStore(towline_transcripts::store::StoreError),
    /// A session that was loaded from the store could not be written for the CLI.
    #[error("cannot write the session from the store for the CLI: {0}")]
    Materialize(io::Error),
    /// Any other refusal of the system.
    #[error("cannot start {}: {error}", path.display())]
    Spawn {
        /// The executable.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The options contradict each other or cannot be carried out.
    #[error(transparent)]
    Launch(#[from] towline_protocol::launch::LaunchError),
    /// A tool's definition was refused.
    #[error(transparent)]
    Tool(#[from] towline_protocol::mcp::RegisterError),
    /// A tool's JSON Schema is no schema. In the dialects of the official packages such a tool is
    /// served with its arguments unchecked, and a diagnostic says so.
    #[error("the input schema of tool {tool:?} is not a JSON Schema: {reason}")]
    BadSchema {
        /// The tool.
        tool: String,
        /// Why.
        reason: String,
    },
}

impl StartError {
    /// The same of a program that stands in front of the CLI.
    pub(crate) fn of_launcher(self) -> StartError {
        match self {
            StartError::NotFound { path } => StartError::LauncherNotFound { path },
            StartError::InterpreterMissing { path, interpreter } => StartError::NotExecutable {
                path,
                reason: format!("it is a script for {interpreter:?}, which is not installed"),
            },
            other => other,
        }
    }
}

/// The end of a CLI that failed, with everything that helps to tell why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// How the process ended; `None` while it still runs, and for a transport of the host that does
    /// not tell.
    pub exit: Option<Exit>,
    /// How the host's own transport ended, in words; `None` for a process, and while it runs.
    pub transport: Option<String>,
    /// The error text of the CLI's last error result, or empty.
    pub result: String,
    /// The last of what it wrote to stderr (64 KiB unless set otherwise), bad bytes replaced.
    pub stderr: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.transport, self.exit) {
            (Some(end), _) => f.write_str(end)?,
            (None, Some(exit)) => write!(f, "{exit}")?,
            (None, None) => f.write_str("still running")?,
        }
        if !self.result.is_empty() {
            write!(f, "; it reported: {}", self.result)?;
        }
        if !self.stderr.trim().is_empty() {
            write!(f, "; the end of its stderr:\n{}", self.stderr.trim_end())?;
        }
        Ok(())
    }
}

fn limit_of_opening(connecting: bool) -> &'static str {
    match connecting {
        true => "connectTimeoutMs",
        false => "initializeTimeoutMs",
    }
}

/// What a session's functions fail with.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The CLI could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The host broke a rule.
    #[error(transparent)]
    Local(#[from] LocalError),
    /// A control request of the host has no answer.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A pool has no session to give.
    #[error(transparent)]
    Pool(#[from] crate::pool::PoolError),
    /// The CLI ended before it had answered `initialize`.
    #[error("the CLI ended before the session was open: {0}")]
    ExitedBeforeInitialize(Failure),
    /// The CLI refused `initialize`.
    #[error("the CLI refused to open the session: {message} ({failure})")]
    InitializeRefused {
        /// The CLI's text.
        message: String,
        /// Its end.
        failure: Failure,
    },
    /// The CLI did not answer `initialize` in time.
    #[error("the CLI did not open the session within {limit_ms} ms ({failure}); option {}", limit_of_opening(*.connecting))]
    InitializeTimedOut {
        /// Whether option `connectTimeoutMs` sets the limit, and not `initializeTimeoutMs`.
        connecting: bool,
        /// The limit.
        limit_ms: u64,
        /// Its end.
        failure: Failure,
    },
    /// A line that came before the answer to `initialize`, most likely the answer itself, was longer
    /// than a line may be.
    #[error("the CLI did not open the session: a line of {length} bytes is longer than the {limit} that option maxLineBytes allows; raise it")]
    InitializeTooLong {
        /// Of the line.
        length: u64,
        /// What it may have.
        limit: usize,
        /// The end of the CLI.
        failure: Failure,
    },
    /// The CLI ended by itself with an error.
    #[error("the CLI failed: {0}")]
    Failed(Failure),
    /// A single prompt ended with an error result; it was delivered before.
    #[error("the CLI reported an error: {}", .0.result)]
    ErrorResult(Failure),
    /// The turn of a single prompt reached one of its limits.
    #[error("the turn reached the limit of option {}", .0.option())]
    TurnTimedOut(TurnDeadline),
    /// The conversation is over.
    #[error("the session is closed")]
    Closed,
    /// The call would block the polling thread on itself, or two polls at once.
    #[error(
        "this call would wait for the very poll it is made in; use the form that does not wait"
    )]
    Reentrant,
    /// Another thread is in `poll`.
    #[error("another thread is polling this session")]
    Busy,
    /// The program has forked; the session belongs to the parent process.
    #[error("this session belongs to the process that started it (process {owner}); after fork() the child cannot use it, it must start its own")]
    Forked {
        /// The process that started it.
        owner: u32,
    },
    /// Nothing happened within the caller's own time limit.
    #[error("timed out after {limit_ms} ms")]
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
    /// The system refused a wait.
    #[error("cannot wait for the CLI: {0}")]
    Wait(io::Error),
}

impl Error {
    /// How the CLI ended, of an error that tells.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Error::ExitedBeforeInitialize(failure)
            | Error::InitializeRefused { failure, .. }
            | Error::InitializeTimedOut { failure, .. }
            | Error::InitializeTooLong { failure, .. }
            | Error::Failed(failure)
            | Error::ErrorResult(failure) => Some(failure),
            _ => None,
        }
    }

    /// The same, to be told another way.
    pub(crate) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Error::ExitedBeforeInitialize(failure)
            | Error::InitializeRefused { failure, .. }
            | Error::InitializeTimedOut { failure, .. }
            | Error::InitializeTooLong { failure, .. }
            | Error::Failed(failure)
            | Error::ErrorResult(failure) => Some(failure),
            _ => None,
        }
    }

    /// The text for users of a dialect: with the names that options have there. What the CLI has
    /// written stays as it is.
    pub fn text(&self, dialect: Dialect) -> String {
        if let Error::Pool(error) = self {
            return error.text(dialect);
        }
        let text = self.to_string();
        let written = self.failure().map(Failure::to_string);
        match written.as_deref().and_then(|part| text.split_once(part)) {
            Some((before, after)) => {
                let written = written.as_deref().unwrap_or_default();
                format!(
                    "{}{written}{}",
                    dialect.reword(before),
                    dialect.reword(after)
                )
            }
            None => dialect.reword(&text),
        }
    }
}
