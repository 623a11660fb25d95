//! `system/init`: what the session has at hand (`protocol.md §5.1`).

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// `init`: comes at the start of every turn.
    pub struct Init {
        /// The session.
        session_id: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The working directory.
        cwd: Cow<'a, str>,
        /// The model.
        model: Cow<'a, str>,
        /// The CLI's version.
        claude_code_version: Cow<'a, str>,
        /// The permission mode.
        permission_mode as "permissionMode": Cow<'a, str>,
        /// The tools; the subagent tool is listed as `Task`, while the model calls it `Agent`.
        tools [default]: Vec<Cow<'a, str>>,
        /// The MCP servers.
        mcp_servers [default]: Vec<McpServer<'a>>,
        /// MCP servers whose configuration is wrong.
        mcp_server_errors [default]: Vec<McpServerError<'a>>,
        /// The slash commands.
        slash_commands [default]: Vec<Cow<'a, str>>,
        /// Slash commands that need a terminal.
        terminal_slash_commands [default]: Vec<Cow<'a, str>>,
        /// Where the API key comes from: `ANTHROPIC_API_KEY`, `apiKeyHelper`, `oauth`, `none`, ….
        api_key_source as "apiKeySource": Cow<'a, str>,
        /// The output style.
        output_style: Option<Cow<'a, str>>,
        /// The subagent types.
        agents [default]: Vec<Cow<'a, str>>,
        /// The skills.
        skills [default]: Vec<Cow<'a, str>>,
        /// The plugins.
        plugins [default]: Vec<Plugin<'a>>,
        /// Plugins that could not be loaded.
        plugin_errors [default]: Vec<PluginError<'a>>,
        /// Features of the CLI, the way to detect them: `interrupt_receipt_v1`, ….
        capabilities [default]: Vec<Cow<'a, str>>,
        /// Beta features of the API.
        betas [default]: Vec<Cow<'a, str>>,
        /// The prompts of the turn.
        user_message_uuids [default]: Vec<Cow<'a, str>>,
        /// The working directory at launch.
        original_cwd: Option<Cow<'a, str>>,
        /// Other directories the session may use.
        additional_directories [default]: Vec<Cow<'a, str>>,
        /// Folders of memories, by kind.
        memory_paths [default]: BTreeMap<String, Cow<'a, str>>,
        /// The socket for messages between sessions.
        messaging_socket_path: Option<Cow<'a, str>>,
        /// `off`, `cooldown` or `on`.
        fast_mode_state: Option<Cow<'a, str>>,
        /// Why fast mode is off.
        fast_mode_disabled_reason: Option<Cow<'a, str>>,
        /// `low`, `medium`, `high`, `xhigh` or `max`.
        effort: Option<Cow<'a, str>>,
        /// `focus` or `default`.
        view_mode: Option<Cow<'a, str>>,
        /// Whether commands run in a sandbox.
        sandbox_enabled: Option<bool>,
        /// Whether analytics are off.
        analytics_disabled: Option<bool>,
        /// Whether feedback on the product is off.
        product_feedback_disabled: Option<bool>,
        /// Whether the API is the vendor's own.
        served_by_anthropic: Option<bool>,
    }
}

view! {
    /// An MCP server.
    pub struct McpServer {
        /// Its name.
        name: Cow<'a, str>,
        /// `connected`, `failed`, `needs-auth`, `pending`, `disabled`, ….
        status: Cow<'a, str>,
        /// Where it is configured, such as `dynamic`.
        source: Option<Cow<'a, str>>,
    }
}

view! {
    /// An MCP server whose configuration is wrong.
    pub struct McpServerError {
        /// Its name.
        name: Cow<'a, str>,
        /// What kind of error, such as `invalid_config`.
        kind as "type": Cow<'a, str>,
        /// What is wrong.
        message: Cow<'a, str>,
    }
}

view! {
    /// A plugin.
    pub struct Plugin {
        /// Its name.
        name: Cow<'a, str>,
        /// Where it is; `builtin` for one of the CLI's own.
        path: Cow<'a, str>,
        /// Its name and marketplace.
        source: Option<Cow<'a, str>>,
        /// Its version.
        version: Option<Cow<'a, str>>,
    }
}

view! {
    /// A plugin that could not be loaded.
    pub struct PluginError {
        /// Its name.
        plugin: Cow<'a, str>,
        /// What kind of error.
        kind as "type": Cow<'a, str>,
        /// What is wrong.
        message: Cow<'a, str>,
        /// The file in question.
        path: Option<Cow<'a, str>>,
        /// The managed setting that stands against it.
        managed_lock: Option<JsonText<'a>>,
    }
}
