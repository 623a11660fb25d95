//! What the host registered with a session, as far as the launch has to know.

use alloc::string::String;
use alloc::vec::Vec;

use super::options::JsonObject;

/// What the host brings to a session beside its options.
#[derive(Debug, Clone, Default)]
pub struct HostSide {
    /// Whether permission questions come to the host.
    pub permission_handler: bool,
    /// Hooks, in the order of registration.
    pub hooks: Vec<Hook>,
    /// In-process MCP servers.
    pub servers: Vec<InProcessServer>,
    /// Kinds of dialog the host shows.
    pub dialog_kinds: Vec<String>,
    /// Whether a store of the host gets the transcript; the same as `sessionStore: true`.
    pub store_mirror: bool,
    /// What `CLAUDE_CONFIG_DIR` is, whatever the options say: the folder that a session is resumed
    /// from which a store held.
    pub config_dir: Option<String>,
    /// What `CLAUDE_AGENT_SDK_VERSION` says; this crate's version when `None`.
    pub sdk_version: Option<String>,
    /// The active span as propagation headers (`traceparent`, `tracestate`), empty without one.
    pub trace_context: Vec<(String, String)>,
}

/// One entry of `initialize`'s `hooks` (`protocol.md §6`).
#[derive(Debug, Clone)]
pub struct Hook {
    /// The event, such as `PreToolUse`.
    pub event: String,
    /// Which of them (`Bash`, `Edit|Write`); `None` is all.
    pub matcher: Option<String>,
    /// The ids that the CLI calls back with.
    pub callback_ids: Vec<String>,
    /// How long the CLI waits for the answer, in seconds; `None` is its default.
    pub timeout_seconds: Option<f64>,
    /// What a failure of the hook means; `None` is the CLI's default, which is to go on.
    pub on_failure: Option<OnFailure>,
}

/// What the CLI does when a hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Goes on as if there were no hook.
    Continue,
    /// Does not do what the hook was asked about.
    Block,
}

impl OnFailure {
    pub(super) fn wire(self) -> &'static str {
        match self {
            OnFailure::Continue => "continue",
            OnFailure::Block => "block",
        }
    }
}

/// An MCP server inside the host (`protocol.md §9`).
#[derive(Debug, Clone, Default)]
pub struct InProcessServer {
    /// Its name; its tools are `mcp__name__tool`.
    pub name: String,
    /// Limit of a tool call in ms; the CLI ignores one below 1000.
    pub timeout_ms: Option<u64>,
    /// Permission policies of single tools, as JSON for `sdkMcpServerConfigs.NAME.tools`.
    pub tool_policies: Option<super::Json>,
    /// The handshake in advance, `{"initializeResult","toolsListResult"?}`; the CLI then sends
    /// none.
    pub manifest: Option<JsonObject>,
}
