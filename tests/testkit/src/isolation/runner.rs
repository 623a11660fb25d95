//! Runs a command, and everything it starts, in isolation.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use super::namespace::{isolate_process, Isolation};
use super::places::Places;
use crate::{sys, ScriptedApi};

/// What to run, and with what.
#[derive(Debug, Default)]
pub struct Runner {
    /// Requests to the API are appended to this file.
    pub api_log: Option<PathBuf>,
    /// The home; a temporary one when there is none.
    pub home: Option<PathBuf>,
    /// Environment variables beside those of [`Sandbox::env`](super::Sandbox::env).
    pub env: Vec<(OsString, OsString)>,
    pub command: Vec<OsString>,
}

impl Runner {
    /// Moves this process, which must have one thread, into isolation and runs the command there.
    /// Returns the status to exit with: the command's own, 128 + n when signal n ended it.
    ///
    /// The command stays in this process group, so what a terminal sends reaches it. This process
    /// outlives SIGINT and SIGQUIT, as the command may handle them, and passes SIGTERM and SIGHUP on.
    ///
    /// # Errors
    /// What could not be set up, naming it.
    pub fn run(self) -> io::Result<u8> {
        let program = self.command.first().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "there is no command to run")
        })?;
        if let Isolation::None(reason) = isolate_process()? {
            eprintln!("isolated: running without a network namespace ({reason})");
        }
        let places = Places::new(self.home.as_deref())?;
        let api = ScriptedApi::start_with(0, self.api_log.as_deref())
            .map_err(|error| about(&error, "scripted API", "127.0.0.1"))?;

        let signals = sys::OutlivedSignals::install()?;
        let mut child = Command::new(program)
            .args(&self.command[1..])
            .env_clear()
            .envs(places.environment(&api.url()))
            .envs(self.env)
            .spawn()
            .map_err(|error| about(&error, "command", &program.to_string_lossy()))?;
        signals.pass_on_to(child.id());
        sys::wait_without_reaping(child.id());
        signals.pass_on_to(0);
        child.wait().map(exit_status)
    }
}

fn about(error: &io::Error, what: &str, name: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what} {name}: {error}"))
}

fn exit_status(status: ExitStatus) -> u8 {
    let code = match (status.code(), status.signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => 128 + signal,
        (None, None) => 1,
    };
    u8::try_from(code).unwrap_or(1)
}
