//! What the CLI asks the host: typed views of a request's own text.
//!
//! Views borrow from the request and are decoded when somebody asks. They are tolerant: an unknown
//! member is reachable raw, a member of an unexpected kind reads as absent, a string that the
//! protocol promises is empty when the CLI left it out.

mod hook;
mod permission;
mod requests;
#[cfg(test)]
mod tests;

pub use hook::*;
pub use permission::{CanUseTool, MatchedAskRule, McpServerProvenance};
pub use requests::{Elicitation, HostAuthTokenRefresh, McpMessage, OauthTokenRefresh, UserDialog};

use crate::json::ScanError;

/// The kinds of requests that the CLI sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncomingKind {
    /// `can_use_tool`
    CanUseTool,
    /// `hook_callback`
    HookCallback,
    /// `mcp_message`
    McpMessage,
    /// `elicitation`
    Elicitation,
    /// `request_user_dialog`
    UserDialog,
    /// `oauth_token_refresh`
    OauthTokenRefresh,
    /// `host_auth_token_refresh`
    HostAuthTokenRefresh,
    /// The `remote_*` family, which the official TypeScript SDK leaves unanswered.
    Remote,
    /// Any other subtype.
    Unknown,
}

impl IncomingKind {
    /// The kind of a request's subtype.
    pub fn of(subtype: &str) -> Self {
        match subtype {
            "can_use_tool" => IncomingKind::CanUseTool,
            "hook_callback" => IncomingKind::HookCallback,
            "mcp_message" => IncomingKind::McpMessage,
            "elicitation" => IncomingKind::Elicitation,
            "request_user_dialog" => IncomingKind::UserDialog,
            "oauth_token_refresh" => IncomingKind::OauthTokenRefresh,
            "host_auth_token_refresh" => IncomingKind::HostAuthTokenRefresh,
            remote if remote.starts_with("remote_") => IncomingKind::Remote,
            _ => IncomingKind::Unknown,
        }
    }
}

/// A request of the CLI, typed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Incoming<'a> {
    /// May this tool run?
    CanUseTool(CanUseTool<'a>),
    /// A registered hook callback is due.
    HookCallback(HookCallback<'a>),
    /// A JSON-RPC message for an in-process MCP server.
    McpMessage(McpMessage<'a>),
    /// An external MCP server asks the user.
    Elicitation(Elicitation<'a>),
    /// Show a dialog.
    UserDialog(UserDialog<'a>),
    /// A fresh OAuth access token is wanted.
    OauthTokenRefresh(OauthTokenRefresh<'a>),
    /// A fresh token of the host's own authentication is wanted.
    HostAuthTokenRefresh(HostAuthTokenRefresh<'a>),
    /// Anything else; the text has all there is.
    Other(&'a str),
}

impl<'a> Incoming<'a> {
    /// Decodes the `request` object of a control request; an error when `request` is not an object.
    pub fn decode(subtype: &str, request: &'a str) -> Result<Self, ScanError> {
        Ok(match IncomingKind::of(subtype) {
            IncomingKind::CanUseTool => Incoming::CanUseTool(CanUseTool::decode(request)?),
            IncomingKind::HookCallback => Incoming::HookCallback(HookCallback::decode(request)?),
            IncomingKind::McpMessage => Incoming::McpMessage(McpMessage::decode(request)?),
            IncomingKind::Elicitation => Incoming::Elicitation(Elicitation::decode(request)?),
            IncomingKind::UserDialog => Incoming::UserDialog(UserDialog::decode(request)?),
            IncomingKind::OauthTokenRefresh => {
                Incoming::OauthTokenRefresh(OauthTokenRefresh::decode(request)?)
            }
            IncomingKind::HostAuthTokenRefresh => {
                Incoming::HostAuthTokenRefresh(HostAuthTokenRefresh::decode(request)?)
            }
            IncomingKind::Remote | IncomingKind::Unknown => Incoming::Other(request),
        })
    }
}
