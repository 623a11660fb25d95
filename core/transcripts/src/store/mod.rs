//! Session stores: where transcripts are kept so that they outlive a machine.
//!
//! A store is anything that takes the calls of [`SessionStore`]. A host that cannot block (a Python
//! coroutine, a Node promise, a C callback that answers later) drives a [`StoreTask`] instead: it
//! asks for the next [`StoreCall`], does it in its own way and hands the [`StoreAnswer`] back.
//! Calls and answers have a JSON form with the official field names (`protocol.md §10`).

mod answer;
mod backend;
mod call;
mod capabilities;
pub mod conformance;
mod entry;
mod error;
mod folding;
mod key;
pub mod operations;
mod session_store;
mod task;

pub use answer::{SessionSummaryEntry, StoreAnswer, StoreListEntry};
#[cfg(feature = "postgres")]
pub use backend::PostgresStore;
#[cfg(feature = "sqlite")]
pub use backend::SqliteStore;
pub use backend::{open, open_existing, DirectoryStore, MemoryStore};
pub use call::{CallKind, StoreCall};
pub use capabilities::Capabilities;
pub use entry::{Entry, EntryError};
pub use error::{StoreError, StoreErrorKind, TaskError};
pub use key::SessionKey;
pub use session_store::{run, SessionStore};
pub use task::{CallId, Calls, PendingCall, StoreTask, CONCURRENT_LOADS};
