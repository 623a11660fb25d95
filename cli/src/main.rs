//! `towline`: saved sessions of the Claude Code CLI, and single prompts, from a terminal.
//!
//! The command only presents; what there is to know about sessions is the library's.

mod args;
mod conversation;
mod document;
mod failure;
mod file;
mod markdown;
mod page;
mod place;
mod run;
mod sessions;
mod terminal;
mod words;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Sessions(command) => sessions::run(command),
        Command::Run(run) => run::run(*run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Failure::Failed(text) | Failure::Usage(text) = &failure {
                terminal::complain(text);
            }
            failure.exit_code()
        }
    }
}
