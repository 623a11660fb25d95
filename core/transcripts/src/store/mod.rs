//! Session stores: where transcripts are kept so that they outlive a machine.

mod entry;

pub use entry::{Entry, EntryError};
