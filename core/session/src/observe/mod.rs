//! What a session lets others see of itself: log records for a hook of the host, spans for
//! `tracing`, a log of the wire.

mod clock;
mod log;
mod wire_log;

#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
pub(crate) mod spans;
#[cfg(feature = "tracing")]
pub(crate) mod spans;

pub(crate) use log::{Fields, Log, LogHandler};
pub use log::{LogLevel, LogRecord};
pub(crate) use wire_log::{Way, WireLog, WireTarget};
