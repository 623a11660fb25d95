//! The addon of the npm package `towline`: sessions of crate `towline` for Node's event loop.
//!
//! JavaScript owns callbacks, iterators and promises; everything that the CLI's protocol decides is
//! decided in the core. Sessions are watched by the event loop of the JavaScript thread that owns
//! them, which does their I/O itself, in batches; one thread of the process looks after their
//! deadlines, and after sessions whose owner is gone. Texts are copied
//! across: no buffer of Rust's is ever lent to JavaScript, which Electron forbids.

mod batch;
mod config;
mod error;
mod host;
mod long;
mod pool;
mod saved;
mod session;
mod starting;
mod store;
mod uv;
mod waiter;
