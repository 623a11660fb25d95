//! Sessions against the fake CLI, a room a file.

mod closing;
mod deadlines;
mod event_loop;
mod flood;
mod fork;
mod handlers;
mod host_pipe;
mod launcher;
mod memory;
mod observing;
mod one_shot;
mod polling;
mod pool;
mod pool_policy;
mod process;
mod recording;
mod sizes;
#[cfg(feature = "tracing")]
mod spans;
mod start;
mod stderr;
mod stdin;
mod stdout;
mod stores;
mod support;
mod threads;
mod tools;
mod transport;
mod watchdog;

/// Sessions start their CLI with everything that this system has.
const PORTABLE: bool = false;
