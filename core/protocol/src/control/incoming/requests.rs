//! The CLI's other requests: MCP messages, elicitations, dialogs, fresh tokens.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::control::JsonText;
use crate::view::view;

view! {
    /// `mcp_message`: a JSON-RPC message for an in-process MCP server (`protocol.md §9`).
    ///
    /// Every one is answered, notifications too, with `{"mcp_response": …}`.
    pub struct McpMessage {
        /// The server's name.
        server_name: Cow<'a, str>,
        /// The JSON-RPC message.
        message: JsonText<'a>,
    }
}

view! {
    /// `elicitation`: an external MCP server asks the user something (`protocol.md §9`).
    pub struct Elicitation {
        /// The server that asks.
        mcp_server_name: Cow<'a, str>,
        /// Its question.
        message: Cow<'a, str>,
        /// `form` or `url`.
        mode: Option<Cow<'a, str>>,
        /// The address to open, in `url` mode.
        url: Option<Cow<'a, str>>,
        /// The id that `elicitation_complete` refers to, in `url` mode.
        elicitation_id: Option<Cow<'a, str>>,
        /// JSON Schema of the answer's `content`, in `form` mode.
        requested_schema: Option<JsonText<'a>>,
        /// The schema's property names in the server's order.
        property_order: Option<Vec<Cow<'a, str>>>,
        /// A headline.
        title: Option<Cow<'a, str>>,
        /// A short label of the tool or server.
        display_name: Option<Cow<'a, str>>,
        /// A subtitle.
        description: Option<Cow<'a, str>>,
    }
}

view! {
    /// `request_user_dialog`: show a dialog of a kind the host declared.
    pub struct UserDialog {
        /// The kind; one that is not in `initialize`'s `supportedDialogKinds` is not answered.
        dialog_kind: Cow<'a, str>,
        /// What the dialog shows; its shape depends on the kind.
        payload: JsonText<'a>,
        /// The tool call it belongs to.
        tool_use_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `oauth_token_refresh`: the CLI wants a fresh OAuth access token; answered with
    /// `{"accessToken": string or null}`.
    pub struct OauthTokenRefresh {
        /// What the token is for.
        kind: Option<Cow<'a, str>>,
        /// SHA-256 of the tokens that were refused.
        refused_bearer_sha256: Option<Vec<Cow<'a, str>>>,
        /// `refused` or `not_refused`.
        token_state: Option<Cow<'a, str>>,
        /// `model`, `connector` or `other`.
        refused_call: Option<Cow<'a, str>>,
    }
}

view! {
    /// `host_auth_token_refresh`: the CLI wants a fresh token for the host's own authentication;
    /// answered with `{"authToken": string or null}`.
    pub struct HostAuthTokenRefresh {
        /// The HTTP status that refused the token, 401 or 403.
        status: Option<u64>,
        /// `not_refused` when the token was not turned down.
        token_state: Option<Cow<'a, str>>,
    }
}
