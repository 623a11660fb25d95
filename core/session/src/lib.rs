//! Hold a conversation with the Claude Code CLI.
//!
//! A [`Session`] starts the CLI, speaks its control protocol and hands out what happens as
//! [`Event`]s. It starts no thread: [`Session::poll`] does the I/O on the caller's thread, or an
//! event loop watches [`Session::fd`]. Only a session store that blocks has a thread: its own, see
//! [`OpenStore`].
#![warn(missing_docs)]

mod discovery;
mod error;
mod observe;
pub mod pool;
mod process;
mod query;
mod reactor;
mod recording;
mod session;
mod store;
mod transport;

pub use error::{Error, Failure, LocalError, RemoteError, RequestError, StartError};
pub use observe::{DiagnosticTexts, LogLevel, LogRecord};
pub use pool::{Pool, PoolError, PoolOptions, PoolStats, PoolTicket, PooledSession, PutBackError};
pub use process::{Exit, Signal, Watchdog};
pub use query::{query, Query};
pub use recording::Redactor;
pub use session::{
    fresh_uuid, Closed, Event, Reply, RequestHandle, Session, SessionBuilder, Startup, Stats, Tool,
    ToolServer,
};
pub use store::{OpenStore, StoreCallHandle};
pub use towline_protocol as protocol;
pub use towline_protocol::connection::{
    Answer, CancelReason, Diagnostic, RequestId, RequestKey, RequestKind, Response, TurnDeadline,
    TurnId, TurnOutcome,
};
pub use towline_protocol::framing::{MessageType, RawMessage};
pub use towline_protocol::launch::{Dialect, OnFailure, Options, OptionsError, TraceContext};
pub use towline_transcripts as transcripts;
pub use towline_transcripts::materialize::Materialized;
pub use towline_transcripts::mirror::FlushMode;
pub use transport::{
    host_pipe, HostEnd, HostLimits, HostTransport, Launch, Notice, Transport, TransportEnd, Waker,
};
