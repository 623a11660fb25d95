//! In-process MCP servers (`protocol.md §9`).
//!
//! The CLI speaks MCP to a host by `mcp_message` control requests: each carries one JSON-RPC
//! message, and each, notifications too, wants an answer under `mcp_response`. Two ways to serve
//! them stand here, both pure state machines:
//!
//! - [`Server`] is a whole MCP server. The host registers tools, resources and prompts and answers
//!   the [`Call`]s; everything else is answered here.
//! - [`Bridge`] is for a host that brings its own MCP server object: it only pairs requests with
//!   answers and leaves the content alone.
//!
//! What a server has to say by itself (`notifications/*`, requests to the client) waits in
//! `poll_outgoing` and goes to the CLI as an `mcp_message` request of the host's. Drain it before
//! writing an answer, so that progress arrives before the result it belongs to.
//!
//! Every text handed out is one JSON value without line breaks.

mod bridge;
mod catalog;
mod content;
mod jsonrpc;
mod result;
mod server;

pub use bridge::{Bridge, BridgeError, Forward, Sent};
pub use catalog::{Prompt, PromptArgument, RegisterError, Resource, ResourceTemplate, Tool};
pub use jsonrpc::RpcError;
pub(crate) use jsonrpc::{error_response, METHOD_NOT_FOUND, SERVER_CLOSED};
pub use result::{CallResult, ToolResult};
pub use server::{
    Call, CallId, Closed, Feature, FinishError, LogLevel, Operation, Received, RequestError,
    Server, ServerRequestId, PROTOCOL_VERSIONS,
};
