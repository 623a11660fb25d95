//! Sessions of the Claude Code CLI saved on disk, and stores that outlive a machine.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod materialize;
pub mod mirror;
pub mod store;
