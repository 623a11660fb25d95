//! What has to hold of any input. Each function is the body of a fuzz target of the same name, and is
//! called with every input that is kept in `../corpus` by the tests.

mod c;
mod connection;
mod framer;
mod mcp;
mod messages;
mod options;
mod redactor;
mod transcripts;

pub use c::c;
pub use connection::connection;
pub use framer::framer;
pub use mcp::mcp;
pub use messages::messages;
pub use options::options;
pub use redactor::redactor;
pub use transcripts::transcripts;

/// A target: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 8] = [
    ("framer", framer),
    ("connection", connection),
    ("messages", messages),
    ("mcp", mcp),
    ("options", options),
    ("redactor", redactor),
    ("transcripts", transcripts),
    ("c", c),
];
