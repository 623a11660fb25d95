//! Framing: one JSON object a line (`protocol.md §2`), and the head of each.

mod framer;
mod head;

pub use framer::{Frame, Framer, Line};
pub use head::{Head, HeadError, MessageType, RawMessage};
