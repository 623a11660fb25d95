//! The control protocol of the Claude Code CLI as a pure state machine: bytes in, events out.
//!
//! Nothing here sees a file, a socket, a thread, a clock or a random number: time and ids are
//! inputs. The crate `towline` adds the process and the pipes.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

extern crate alloc;

pub mod connection;
pub mod control;
pub mod framing;
pub mod json;
pub mod launch;
pub mod mcp;
pub mod message;
mod view;
