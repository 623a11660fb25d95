//! The host's part of a field case, on crate `towline`: `case-driver [--asleep] CASE.json`, with the
//! environment that `towline_testkit::cases` describes. While a step sleeps, the session is polled as an
//! event loop would do it; with `--asleep` it is not, and nobody reads what the CLI writes.

mod callbacks;
mod host;
mod message;
mod record;
mod setup;
mod steps;

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
