//! The C ABI of Towline. Its reference is `include/towline.h`, which is generated from the
//! comments in here.
//!
//! Every exported body runs inside one boundary (`boundary.rs`): arguments are checked, panics
//! are caught, and errors become a status and a `towline_error`. Handles carry a magic word
//! (`handle.rs`).
#![allow(
    clippy::missing_safety_doc,
    reason = "what every pointer must be is said once, at the top of the header"
)]
#![allow(
    non_camel_case_types,
    reason = "the names of types are those that C programs see"
)]

mod boundary;
pub mod buffer;
pub mod callback;
pub mod connection;
pub mod error;
pub mod event;
pub mod event_values;
mod handle;
pub mod library;
pub mod options;
pub mod options_handlers;
pub mod pool;
pub mod request;
pub mod saved;
pub mod session;
pub mod session_control;
pub mod status;
pub mod store;
pub mod store_callbacks;
mod text;
pub mod transport;
mod values;
