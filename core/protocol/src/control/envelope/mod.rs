//! The lines that carry control requests, answers and user messages (`protocol.md §3`, `§4`).
//!
//! Writers append one whole line, its newline included, to a `String`. Readers take a line that is
//! known to be JSON.

mod read;
mod user;
mod write;

pub use read::{CancelRequest, EnvelopeError, IncomingRequest, RequestId, Response, ResponseBody};
pub use user::{Priority, UserContent, UserMessage};
pub use write::{
    write_answer, write_cancel_request, write_coded_error_response, write_error_response,
    write_keep_alive, write_permission_response, write_request, write_success_response,
    write_typed_request,
};

pub(crate) use write::push_json;
