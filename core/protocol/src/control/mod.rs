//! Control requests in both directions, from one catalogue (`protocol.md §3`, `§6`–`§9`).
//!
//! - [`catalogue`]: every request the host can send, typed and described.
//! - [`incoming`]: what the CLI asks the host, as borrowed views of the request's own text.
//! - [`answer`]: what the host says to it, checked before it is written.
//! - [`envelope`]: the lines that carry requests, answers, withdrawals and user messages.

pub mod answer;
pub mod catalogue;
pub mod envelope;
mod error;
pub mod incoming;
mod raw;
#[cfg(feature = "schema")]
mod schema;

pub use crate::json::JsonText;
pub use error::LocalError;
pub use raw::RawJson;
#[cfg(feature = "schema")]
pub use schema::{answer_schemas, incoming_schemas, request_schemas};
