//! The plain way: structs that own their strings, derived with serde, with the members that the
//! crate's own types have and the recordings show.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::Value;

/// The head of a line, the rest unparsed.
#[derive(Deserialize)]
pub struct Envelope<'a> {
    #[serde(rename = "type")]
    pub message_type: &'a str,
    pub subtype: Option<&'a str>,
    pub request_id: Option<&'a str>,
    pub session_id: Option<&'a str>,
    pub uuid: Option<&'a str>,
    pub parent_tool_use_id: Option<&'a str>,
    #[serde(borrow)]
    pub event: &'a RawValue,
}

/// A `stream_event` with a text delta.
#[derive(Deserialize)]
pub struct StreamEvent {
    #[serde(rename = "type")]
    pub message_type: String,
    pub event: BlockDelta,
    pub session_id: String,
    pub uuid: String,
    pub parent_tool_use_id: Option<String>,
    pub api_message_id: Option<String>,
}

#[derive(Deserialize)]
pub struct BlockDelta {
    #[serde(rename = "type")]
    pub event_type: String,
    pub index: u64,
    pub delta: TextDelta,
}

#[derive(Deserialize)]
pub struct TextDelta {
    #[serde(rename = "type")]
    pub delta_type: String,
    pub text: String,
}

#[derive(Deserialize)]
pub struct Assistant {
    #[serde(rename = "type")]
    pub message_type: String,
    pub message: Reply,
    pub parent_tool_use_id: Option<String>,
    pub uuid: String,
    pub session_id: String,
    pub timestamp: Option<String>,
    pub request_id: Option<String>,
    pub error: Option<String>,
    pub user_message_uuid: Option<String>,
    pub agent_id: Option<String>,
    pub subagent_type: Option<String>,
}

#[derive(Deserialize)]
pub struct Reply {
    pub id: String,
    pub role: String,
    pub model: String,
    pub content: Vec<Block>,
    pub stop_reason: Option<String>,
    pub stop_sequence: Option<String>,
    pub usage: Usage,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
}

#[derive(Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation: Option<CacheCreation>,
    pub output_tokens_details: Option<OutputTokensDetails>,
    pub server_tool_use: Option<ServerToolUsage>,
    pub service_tier: Option<String>,
    pub inference_geo: Option<String>,
    pub speed: Option<String>,
    pub iterations: Option<Box<RawValue>>,
    pub fallback_credit: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub struct CacheCreation {
    pub ephemeral_1h_input_tokens: u64,
    pub ephemeral_5m_input_tokens: u64,
}

#[derive(Deserialize)]
pub struct OutputTokensDetails {
    pub thinking_tokens: u64,
}

#[derive(Deserialize)]
pub struct ServerToolUsage {
    pub web_search_requests: u64,
    pub web_fetch_requests: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub thinking_tokens: Option<u64>,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    #[serde(rename = "cacheCreationEphemeral5mInputTokens")]
    pub cache_creation_ephemeral_5m_input_tokens: Option<u64>,
    #[serde(rename = "cacheCreationEphemeral1hInputTokens")]
    pub cache_creation_ephemeral_1h_input_tokens: Option<u64>,
    pub web_search_requests: u64,
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    pub context_window: u64,
    pub max_output_tokens: u64,
    pub canonical_model: Option<String>,
    pub provider: Option<String>,
    pub cost_basis: Option<String>,
}

#[derive(Deserialize)]
pub struct Result {
    #[serde(rename = "type")]
    pub message_type: String,
    pub subtype: String,
    pub is_error: bool,
    pub result: Option<String>,
    #[serde(default)]
    pub errors: Vec<String>,
    pub terminal_reason: Option<String>,
    pub stop_reason: Option<String>,
    pub api_error_status: Option<u64>,
    pub api_error_type: Option<String>,
    pub session_id: String,
    pub uuid: String,
    pub duration_ms: u64,
    pub duration_api_ms: u64,
    pub num_turns: u64,
    pub total_cost_usd: f64,
    pub usage: Usage,
    #[serde(rename = "modelUsage")]
    pub model_usage: BTreeMap<String, ModelUsage>,
    pub model_usage_since_last_result: Option<Box<RawValue>>,
    pub permission_denials: Vec<PermissionDenial>,
    pub structured_output: Option<Box<RawValue>>,
    pub deferred_tool_use: Option<Box<RawValue>>,
    pub queued_turn_count: Option<u64>,
    pub result_index: Option<u64>,
    pub origin: Option<Origin>,
    pub user_message_uuid: Option<String>,
    #[serde(default)]
    pub user_message_uuids: Vec<String>,
    pub local_command: Option<String>,
    pub startup_failure_reason: Option<String>,
    pub ttft_ms: Option<u64>,
    pub ttft_stream_ms: Option<u64>,
    pub time_to_request_ms: Option<u64>,
    pub first_content_frame_ms: Option<u64>,
    pub subagent_stats: Option<Box<RawValue>>,
    pub safety_stops: Option<u64>,
    #[serde(default)]
    pub begun_message_ids: Vec<String>,
    pub fast_mode_state: Option<String>,
    pub fast_mode_disabled_reason: Option<String>,
}

#[derive(Deserialize)]
pub struct PermissionDenial {
    pub tool_name: String,
    pub tool_use_id: String,
    pub tool_input: Box<RawValue>,
}

#[derive(Deserialize)]
pub struct Origin {
    pub kind: String,
    #[serde(rename = "runId")]
    pub run_id: Option<String>,
}

#[derive(Deserialize)]
pub struct Init {
    #[serde(rename = "type")]
    pub message_type: String,
    pub subtype: String,
    pub session_id: String,
    pub uuid: String,
    pub cwd: String,
    pub model: String,
    pub claude_code_version: String,
    #[serde(rename = "permissionMode")]
    pub permission_mode: String,
    pub tools: Vec<String>,
    pub mcp_servers: Vec<McpServer>,
    pub slash_commands: Vec<String>,
    pub terminal_slash_commands: Vec<String>,
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    pub output_style: String,
    pub agents: Vec<String>,
    pub skills: Vec<String>,
    pub plugins: Vec<Plugin>,
    pub capabilities: Vec<String>,
}

#[derive(Deserialize)]
pub struct McpServer {
    pub name: String,
    pub status: String,
}

#[derive(Deserialize)]
pub struct Plugin {
    pub name: String,
    pub path: String,
}
