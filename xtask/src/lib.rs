//! Files that are generated from the Rust sources and committed: the C header, the JSON Schemas, the
//! README's examples.

pub mod files;
pub mod header;
pub mod readme;
pub mod schemas;
