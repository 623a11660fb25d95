//! The host's part of a field case, on crate `towline`: `case-driver [FLAG] CASE.json`, with the
//! environment that `towline_testkit::cases` describes.
//!
//! - Without a flag the host waits inside the session's functions, and polls it while a step sleeps.
//! - `--asleep`: it does not poll while a step sleeps, so that nobody reads what the CLI writes.
//! - `--event-loop`: it polls when the session's descriptor or time limit says so, and never waits
//!   inside the session.
//! - `--portable`: the CLI is started with the standard library alone.

mod callbacks;
mod error;
mod host;
mod message;
mod record;
mod saved;
mod setup;
mod steps;
mod talk;

use std::process::ExitCode;

fn main() -> ExitCode {
    match host::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("case-driver: {problem}");
            ExitCode::FAILURE
        }
    }
}
