//! Every request a host can send (`protocol.md §8`), in one table.
//!
//! [`CATALOGUE`] describes the requests for whoever generates methods, documentation or schemas
//! from it; a typed struct a request, such as [`SetModel`], comes from the same lines.
//!
//! Any other subtype can be sent too, as text with
//! [`write_request`](super::envelope::write_request): the CLI answers one it does not know with an
//! error. Left out here are the binary's requests that only its own user interface, the cloud
//! service or a remote worker sends (`ui_*`, `*_cloud_session`, `remote_tools_*`, …).

mod macros;
mod requests;
mod responses;
#[cfg(feature = "schema")]
mod schema;
mod value;

pub use requests::*;
pub use responses::*;
pub use value::Nullable;

use alloc::string::String;

use crate::json::ScanError;

/// A typed request to the CLI.
pub trait ControlRequest {
    /// The subtype on the wire.
    const SUBTYPE: &'static str;
    /// What a success carries.
    type Response: ControlResponse;

    /// Appends the payload: an object with the fields that are set. An unset one is left out and
    /// never null, but where null has a meaning of its own.
    fn write_payload(&self, out: &mut String);

    /// The payload.
    fn payload(&self) -> String {
        let mut out = String::new();
        self.write_payload(&mut out);
        out
    }
}

/// The payload of a success, read tolerantly: a field that is missing, null or of another kind than
/// expected is `None`.
pub trait ControlResponse: Sized {
    /// The fields known.
    const FIELDS: &'static [FieldSpec];

    /// Reads a payload; an error when it is not an object.
    fn read(payload: &str) -> Result<Self, ScanError>;
}

/// Where the knowledge of a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Seen on the real 2.1.332.
    Seen,
    /// The type listing of the official TypeScript package, not tried.
    Listed,
    /// The binary and the official package's code, not tried.
    Binary,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A string.
    String,
    /// A string, one of these as far as known.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// An array of strings.
    Strings,
    /// An object whose values are strings.
    StringMap,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Any value.
    Any,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Always.
    Required,
    /// It may be left out.
    Optional,
    /// It may be left out, and null says something else than leaving it out or resets.
    Nullable,
    /// It is always there but may be null.
    OrNull,
}

/// One field of a request or its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    /// The name on the wire.
    pub wire: &'static str,
    /// The name in snake case.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it must be there.
    pub presence: Presence,
    /// What it means.
    pub doc: &'static str,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSpec {
    /// The subtype on the wire; also the name of a method.
    pub subtype: &'static str,
    /// The name of the Rust type.
    pub type_name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where the knowledge is from.
    pub source: Source,
    /// Whether 2.1.197 knows it (`protocol.md §13`).
    pub since_older: bool,
    /// The payload's fields.
    pub fields: &'static [FieldSpec],
    /// The fields of a success, as far as known.
    pub response: &'static [FieldSpec],
}

/// The description of a subtype.
pub fn spec(subtype: &str) -> Option<&'static RequestSpec> {
    CATALOGUE.iter().find(|spec| spec.subtype == subtype)
}
