//! Files that are generated from the Rust sources and committed: the C header and the JSON Schemas.

pub mod files;
pub mod header;
