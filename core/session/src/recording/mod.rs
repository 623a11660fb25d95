//! Recording a session's lines, and replaying them in the place of a CLI.
//!
//! A recording is a file of JSON lines, each an object of `t` (seconds since the start), `dir` and
//! `line`:
//!
//! | `dir` | `line` |
//! |---|---|
//! | `in` | what the host wrote to the CLI: the JSON of the line |
//! | `out` | what the CLI wrote: the JSON of the line, or a string where it was not JSON |
//! | `err` | a line of the CLI's stderr, a string |
//! | `start` | `{"args":[…],"towline":"…"}`: how the CLI was started |
//! | `eof` | `null`: the host ended the CLI's input |
//! | `exit` | `{"code":N}` or `{"signal":N}`: how the CLI ended |
//!
//! `in` and `out` are enough to replay one. Entries of other kinds are passed over; what stands behind
//! `exit` is not played.

mod entry;
mod file;
mod matching;
mod recorder;
mod redact;
mod replay;

pub(crate) use file::{is_same_file, open_private};
pub(crate) use recorder::Recorder;
pub use redact::Redactor;
pub(crate) use redact::{KeyLines, StreamRedactor, REDACTED};
pub(crate) use replay::Replay;
