//! What a session lets others see of itself: log records for a hook of the host, spans for
//! `tracing`, a log of the wire.

mod clock;
mod diagnostics;
mod log;
mod wire_log;

#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
pub(crate) mod spans;
#[cfg(feature = "tracing")]
pub(crate) mod spans;

pub use diagnostics::DiagnosticTexts;
pub(crate) use log::{Fields, Log, LogHandler};
pub use log::{LogLevel, LogRecord};
pub(crate) use wire_log::{Way, WireLog, WireTarget};

/// A text is told no longer than this.
pub(crate) const LONGEST_TEXT: usize = 4096;

/// Leaves no more of a text than these bytes.
pub(crate) fn shorten(text: &mut String, length: usize) {
    let mut length = length.min(text.len());
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
}
