//! Finding the CLI (`protocol.md §1.5`).

use towline_protocol::launch::{Environment, Options};

use crate::error::StartError;

/// The path of the CLI to start.
pub(crate) fn find(options: &Options, machine: &Environment) -> Result<String, StartError> {
    let _ = machine;
    match options.cli_path.as_deref() {
        Some(path) => Ok(path.into()),
        None => Err(StartError::CliNotFound("".into())),
    }
}
