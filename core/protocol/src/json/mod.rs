//! JSON as text: validation and member spans in one pass, strings, JSON Pointer.
//!
//! The connection has to know that a line is well-formed and what stands in its head; it does not
//! need a tree. So values stay slices of the line until somebody asks for a typed body.

mod long;
mod members;
mod pointer;
mod scan;
mod text;
mod value;

pub use long::{long_strings, piece_starts, LongString};
pub(crate) use members::{array, members_and_escapes, object, whole, Visit};
pub use members::{elements, members, nested_members, Elements};
pub use pointer::{pointer, PointerError};
pub use scan::{validate, ScanError};
pub(crate) use scan::{value_and_escapes, Fault, Step};
pub(crate) use text::scanned_string;
pub use text::{push_string, string, surrogates_replaced, Kind};
pub use value::JsonText;
