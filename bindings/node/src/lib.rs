//! The addon of the npm package `towline`: sessions of crate `towline` for Node's event loop.
//!
//! JavaScript owns callbacks, iterators and promises; everything that the CLI's protocol decides is
//! decided in the core. One thread of the process waits for all sessions and does nothing but wake
//! the JavaScript threads that own them; they do the I/O themselves, in batches. Texts are copied
//! across: no buffer of Rust's is ever lent to JavaScript, which Electron forbids.

mod batch;
mod config;
mod error;
mod host;
mod saved;
mod session;
mod starting;
mod store;
mod waiter;
