//! The command as a person or a script runs it.

mod page;
mod real_cli;
mod run;
mod sessions;
mod support;
