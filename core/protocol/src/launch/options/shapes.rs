//! The types of the options that are more than one scalar or list.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize, Serializer};

use super::field::{decode, Field};
use super::json::{members_of, Json, JsonObject};
use crate::json::{self, Kind};

/// Whose meaning an option has where the two official packages differ; the table stands at
/// [`crate::launch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Towline's own: the saner of the two.
    #[default]
    Towline,
    /// The Python package's.
    Python,
    /// The TypeScript package's.
    TypeScript,
}

impl Field for Dialect {
    const SHAPE: &'static str = "\"towline\", \"python\" or \"typescript\"";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// A limit in milliseconds, or none: `null` and `0` switch it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timeout(Option<u64>);

impl Timeout {
    /// No limit.
    pub const OFF: Timeout = Timeout(None);

    /// A limit of that many milliseconds; 0 is [`Timeout::OFF`].
    pub const fn from_millis(milliseconds: u64) -> Timeout {
        match milliseconds {
            0 => Timeout(None),
            limit => Timeout(Some(limit)),
        }
    }

    /// The limit in milliseconds, `None` when off.
    pub const fn millis(self) -> Option<u64> {
        self.0
    }

    /// The limit, `None` when off.
    pub fn duration(self) -> Option<Duration> {
        self.0.map(Duration::from_millis)
    }
}

impl Field for Timeout {
    const SHAPE: &'static str = "a whole number of milliseconds, or null or 0 for no limit";

    fn read(text: &str) -> Result<Self, String> {
        decode(text).map(Timeout::from_millis)
    }

    fn null(_: Self) -> Self {
        Timeout::OFF
    }
}

/// `systemPrompt`: what the model is told first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SystemPrompt {
    /// The whole prompt.
    Text(String),
    /// The whole prompt in blocks.
    Blocks(Vec<String>),
    /// One of the long forms.
    Form(PromptForm),
}

/// The object forms of `systemPrompt`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum PromptForm {
    /// `{"type":"custom","prompt":…}`
    Custom {
        /// The whole prompt, as one text or in blocks.
        prompt: PromptText,
        /// Whether the CLI records the prompt and repeats it as it was after a resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<bool>,
    },
    /// `{"type":"file","path":…}`
    File {
        /// The file that holds the prompt, for the CLI to read.
        path: String,
    },
    /// `{"type":"preset","preset":"claude_code",…}`
    Preset {
        /// The only preset is Claude Code's own prompt.
        preset: Preset,
        /// Text that follows the preset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        append: Option<String>,
        /// Whether what differs between users moves out of the prompt into the first message.
        #[serde(
            default,
            rename = "excludeDynamicSections",
            alias = "exclude_dynamic_sections",
            skip_serializing_if = "Option::is_none"
        )]
        exclude_dynamic_sections: Option<bool>,
        /// Whether the CLI records the prompt and repeats it as it was after a resume.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<bool>,
    },
}

/// A prompt as one text or in blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PromptText {
    /// One text.
    Text(String),
    /// Blocks.
    Blocks(Vec<String>),
}

/// Names of presets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// Claude Code's own.
    ClaudeCode,
}

impl Field for SystemPrompt {
    const SHAPE: &'static str = "a string, a list of strings, {\"type\":\"custom\",\"prompt\"}, \
        {\"type\":\"file\",\"path\"} or {\"type\":\"preset\",\"preset\":\"claude_code\"}";

    fn read(text: &str) -> Result<Self, String> {
        match Kind::of(text) {
            Some(Kind::String) => decode(text).map(SystemPrompt::Text),
            Some(Kind::Array) => decode(text).map(SystemPrompt::Blocks),
            _ => decode(text).map(SystemPrompt::Form),
        }
    }
}

/// `tools`: the built-in tools there are at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Tools {
    /// These only; an empty list is none.
    List(Vec<String>),
    /// `{"type":"preset","preset":"claude_code"}`: the CLI's default set.
    Preset(ToolsPreset),
}

/// The object form of `tools`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum ToolsPreset {
    /// A named set.
    Preset {
        /// Which.
        preset: Preset,
    },
}

impl Field for Tools {
    const SHAPE: &'static str =
        "a list of strings or {\"type\":\"preset\",\"preset\":\"claude_code\"}";

    fn read(text: &str) -> Result<Self, String> {
        match Kind::of(text) {
            Some(Kind::Array) => decode(text).map(Tools::List),
            _ => decode(text).map(Tools::Preset),
        }
    }
}

/// `skills`: which skills the main session lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skills {
    /// `"all"`: every one the CLI finds.
    All,
    /// These, by exact name.
    List(Vec<String>),
}

impl Field for Skills {
    const SHAPE: &'static str = "a list of skill names or \"all\"";

    fn read(text: &str) -> Result<Self, String> {
        if Kind::of(text) == Some(Kind::String) {
            return match json::string(text).as_deref() {
                Some("all") => Ok(Skills::All),
                other => Err(alloc::format!(
                    "did you mean [\"{}\"]?",
                    other.unwrap_or_default()
                )),
            };
        }
        decode(text).map(Skills::List)
    }
}

impl Serialize for Skills {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Skills::All => serializer.serialize_str("all"),
            Skills::List(names) => names.serialize(serializer),
        }
    }
}

/// `taskBudget`: tokens the model knows it has for the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TaskBudget {
    /// Tokens.
    pub total: u64,
}

impl Field for TaskBudget {
    const SHAPE: &'static str = "{\"total\": a whole number of tokens}";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// `thinking`: how the model thinks before it answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Thinking {
    /// The model decides.
    Adaptive {
        /// Whether the thinking is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    /// A fixed budget.
    Enabled {
        /// Tokens.
        #[serde(
            default,
            rename = "budgetTokens",
            alias = "budget_tokens",
            skip_serializing_if = "Option::is_none"
        )]
        budget_tokens: Option<u64>,
        /// Whether the thinking is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display: Option<ThinkingDisplay>,
    },
    /// No thinking.
    Disabled {},
}

/// How thinking is shown, in the CLI's words (`summarized`, `omitted`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ThinkingDisplay(pub String);

impl Field for Thinking {
    const SHAPE: &'static str = "{\"type\":\"adaptive\"}, \
        {\"type\":\"enabled\",\"budgetTokens\": a whole number} or {\"type\":\"disabled\"}";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// `outputFormat`: the shape of the final answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputFormat {
    /// `{"type":"json_schema","schema":{…}}`
    JsonSchema {
        /// A JSON Schema.
        schema: JsonObject,
    },
}

impl Field for OutputFormat {
    const SHAPE: &'static str = "{\"type\":\"json_schema\",\"schema\": an object}";

    fn read(text: &str) -> Result<Self, String> {
        let members = members_of(text);
        let member = |name: &str| {
            members
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| *value)
        };
        match member("type").and_then(json::string).as_deref() {
            Some("json_schema") => {}
            _ => return Err("\"type\" is not \"json_schema\"".to_string()),
        }
        let schema = member("schema").ok_or_else(|| "\"schema\" is missing".to_string())?;
        Ok(OutputFormat::JsonSchema {
            schema: JsonObject::parse(schema)
                .map_err(|reason| alloc::format!("schema: {reason}"))?,
        })
    }
}

/// `settings`: a file of settings, or the settings themselves. `Debug` shows a path, but no
/// settings.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Settings {
    /// A path, or JSON text that starts with `{` and ends with `}`.
    Text(String),
    /// Settings.
    Object(JsonObject),
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settings::Text(text) => path_only(text, f),
            Settings::Object(object) => object.fmt(f),
        }
    }
}

/// Shows a text that may be JSON instead of a path.
fn path_only(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if text.trim_start().starts_with('{') {
        write!(f, "<{} bytes of JSON>", text.len())
    } else {
        fmt::Debug::fmt(text, f)
    }
}

impl Field for Settings {
    const SHAPE: &'static str = "a path, JSON text or an object";

    fn read(text: &str) -> Result<Self, String> {
        match Kind::of(text) {
            Some(Kind::String) => decode(text).map(Settings::Text),
            _ => JsonObject::parse(text).map(Settings::Object),
        }
    }
}

/// `mcpServers`: MCP servers the CLI starts or connects to. `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum McpServers {
    /// A path, or JSON text that starts with `{`, for the CLI as it is.
    Text(String),
    /// Name to configuration.
    Map(JsonObject),
}

impl Field for McpServers {
    const SHAPE: &'static str = "an object of server configurations, a path or JSON text";

    fn read(text: &str) -> Result<Self, String> {
        if Kind::of(text) == Some(Kind::String) {
            return decode(text).map(McpServers::Text);
        }
        let servers = JsonObject::parse(text)?;
        for (name, configuration) in servers.members() {
            if Kind::of(configuration) != Some(Kind::Object) {
                return Err(alloc::format!("server \"{name}\" is not an object"));
            }
        }
        Ok(McpServers::Map(servers))
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpServers::Text(text) => path_only(text, f),
            McpServers::Map(servers) => f
                .debug_list()
                .entries(servers.members().iter().map(|(name, _)| name))
                .finish(),
        }
    }
}

/// How something reaches the CLI that can go two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// By a flag; every CLI takes it. What is secret stands in a private file, not in the flag.
    Argv,
    /// In `initialize`, with `--await-initialize`; the CLI must be 2.1.261 or newer.
    Initialize,
}

impl Field for Delivery {
    const SHAPE: &'static str = "\"argv\" or \"initialize\"";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// One of `plugins`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum Plugin {
    /// A plugin in a directory.
    Local {
        /// The directory, absolute or relative to `cwd`.
        path: String,
        /// Whether its MCP servers are left alone.
        #[serde(
            default,
            rename = "skipMcpDiscovery",
            alias = "skip_mcp_discovery",
            skip_serializing_if = "core::ops::Not::not"
        )]
        skip_mcp_discovery: bool,
    },
}

impl Field for Vec<Plugin> {
    const SHAPE: &'static str = "a list of {\"type\":\"local\",\"path\"}";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// `env`: name to value, `null` to take a variable away. `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct EnvMap(pub BTreeMap<String, Option<String>>);

impl fmt::Debug for EnvMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Field for EnvMap {
    const SHAPE: &'static str = "an object of strings, with null to take a variable away";

    fn read(text: &str) -> Result<Self, String> {
        decode(text)
    }
}

/// `extraArgs`: flag without its dashes to value, `null` for a flag without one. `Debug` shows
/// names only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ExtraArgs(pub Vec<(String, Option<String>)>);

impl Serialize for ExtraArgs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(flag, value)| (flag, value)))
    }
}

impl fmt::Debug for ExtraArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(flag, _)| flag))
            .finish()
    }
}

impl Field for ExtraArgs {
    const SHAPE: &'static str = "an object of strings, numbers and nulls";

    fn read(text: &str) -> Result<Self, String> {
        let object = JsonObject::parse(text)?;
        let mut arguments = Vec::new();
        for (flag, value) in object.members() {
            let value = match Kind::of(value) {
                Some(Kind::Null) => None,
                Some(Kind::String) => Some(decode(value)?),
                Some(Kind::Number) => Some(value.to_string()),
                _ => return Err(alloc::format!("\"{flag}\" is none of these")),
            };
            arguments.push((flag, value));
        }
        Ok(ExtraArgs(arguments))
    }
}

/// `sessionStore`: whether the transcript is mirrored to a store, and to which. `Debug` hides the
/// user part of a URL.
#[derive(Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum SessionStoreChoice {
    /// No store.
    #[default]
    None,
    /// Whether a store that the host brings as an object is mirrored to.
    Host(bool),
    /// A store by URL.
    Url(String),
}

impl SessionStoreChoice {
    /// Whether transcripts are mirrored.
    pub fn mirrored(&self) -> bool {
        matches!(
            self,
            SessionStoreChoice::Host(true) | SessionStoreChoice::Url(_)
        )
    }
}

impl fmt::Debug for SessionStoreChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionStoreChoice::None => f.write_str("None"),
            SessionStoreChoice::Host(mirrored) => write!(f, "Host({mirrored})"),
            SessionStoreChoice::Url(url) => match (url.split_once("://"), url.rsplit_once('@')) {
                (Some((scheme, _)), Some((_, place))) => write!(f, "{scheme}://…@{place}"),
                _ => f.write_str(url),
            },
        }
    }
}

impl Field for SessionStoreChoice {
    const SHAPE: &'static str = "true, false or a store's URL";

    fn read(text: &str) -> Result<Self, String> {
        match Kind::of(text) {
            Some(Kind::String) => decode(text).map(SessionStoreChoice::Url),
            _ => decode(text).map(SessionStoreChoice::Host),
        }
    }
}

impl Field for BTreeMap<String, Json> {
    const SHAPE: &'static str = "an object";

    fn read(text: &str) -> Result<Self, String> {
        JsonObject::parse(text)?
            .members()
            .into_iter()
            .map(|(name, value)| Ok((name, Json::read(value)?)))
            .collect()
    }
}

#[cfg(feature = "schema")]
mod schema {
    use alloc::borrow::Cow;

    use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

    impl JsonSchema for super::Skills {
        fn schema_name() -> Cow<'static, str> {
            "Skills".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "anyOf": [
                    { "const": "all" },
                    { "type": "array", "items": { "type": "string" } }
                ]
            })
        }
    }

    impl JsonSchema for super::ExtraArgs {
        fn schema_name() -> Cow<'static, str> {
            "ExtraArgs".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "null"] }
            })
        }
    }
}
