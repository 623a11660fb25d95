//! The table of all options.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::field::Field;
use super::json::{Json, JsonObject};
use super::shapes::{
    Delivery, Dialect, EnvMap, ExtraArgs, McpServers, OutputFormat, Plugin, SessionStoreChoice,
    Settings, Skills, SystemPrompt, TaskBudget, Thinking, Timeout, Tools,
};

macro_rules! options {
    ($(
        $(#[doc = $doc:literal])*
        $key:literal $(| $alias:literal)* => $field:ident: $type:ty = $default:expr;
    )*) => {
        /// What a session is started with: one document, the same in every language.
        ///
        /// Keys are those of the official TypeScript `Options`; every name of the Python package is
        /// taken as well. Rust programs set the fields and fill up with `..Options::default()`.
        /// It serialises to such a document, of the options that differ from their defaults.
        /// `Debug` shows no values of variables, MCP servers, settings and extra arguments.
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(default, deny_unknown_fields))]
        pub struct Options {$(
            $(#[doc = $doc])*
            #[cfg_attr(feature = "schema", schemars(rename = $key))]
            pub $field: $type,
        )*}

        impl Default for Options {
            fn default() -> Options {
                Options { $($field: $default,)* }
            }
        }

        impl Options {
            /// The name of every option, as a document has it.
            pub const KEYS: &'static [&'static str] = &[$($key),*];

            /// Sets the option of that name from validated JSON; `None` when there is none, else
            /// the shape it must have and what was found.
            pub(super) fn assign(
                &mut self,
                key: &str,
                value: &str,
            ) -> Option<Result<(), (&'static str, String)>> {
                match key {
                    $($key $(| $alias)* => Some(
                        assign_field(&mut self.$field, $default, value)
                            .map_err(|reason| (<$type as Field>::SHAPE, reason)),
                    ),)*
                    _ => None,
                }
            }
        }

        impl Serialize for Options {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let defaults = Options::default();
                let mut map = serializer.serialize_map(None)?;
                $(
                    if self.$field != defaults.$field {
                        map.serialize_entry($key, &self.$field)?;
                    }
                )*
                map.end()
            }
        }
    };
}

fn assign_field<T: Field>(field: &mut T, default: T, value: &str) -> Result<(), String> {
    *field = match value {
        "null" => T::null(default),
        value => T::read(value)?,
    };
    Ok(())
}

options! {
    /// Whose meaning the other options have where the two official packages differ.
    "dialect" => dialect: Dialect = Dialect::Towline;

    /// What the model is told first. Unset: Claude Code's own prompt, or, in the dialects of the
    /// official packages, an empty one.
    "systemPrompt" | "system_prompt" => system_prompt: Option<SystemPrompt> = None;
    /// The built-in tools there are at all; an empty list is none. Unset: the CLI's default set.
    "tools" => tools: Option<Tools> = None;
    /// Tools and rules that need no permission (`Read`, `Bash(git log:*)`).
    "allowedTools" | "allowed_tools" => allowed_tools: Vec<String> = Vec::new();
    /// Tools and rules that are taken away.
    "disallowedTools" | "disallowed_tools" => disallowed_tools: Vec<String> = Vec::new();
    /// Tool name to the name that is called instead (`{"Bash":"mcp__box__bash"}`).
    "toolAliases" | "tool_aliases" => tool_aliases: Option<BTreeMap<String, String>> = None;
    /// Settings of single built-in tools; known: `askUserQuestion.previewFormat`.
    "toolConfig" | "tool_config" => tool_config: Option<JsonObject> = None;
    /// Skills of the main session: exact names, or `"all"`. Unset: the CLI's own default, which
    /// is not "none".
    "skills" => skills: Option<Skills> = None;

    /// Most model turns of a prompt; 0 is no limit.
    "maxTurns" | "max_turns" => max_turns: Option<u64> = None;
    /// Most US dollars the process may spend.
    "maxBudgetUsd" | "max_budget_usd" => max_budget_usd: Option<f64> = None;
    /// Tokens the model knows it has.
    "taskBudget" | "task_budget" => task_budget: Option<TaskBudget> = None;

    /// The model. Unset: the CLI's default.
    "model" => model: Option<String> = None;
    /// Used when the model is overloaded or gone; several with commas between.
    "fallbackModel" | "fallback_model" => fallback_model: Option<String> = None;
    /// Beta features of the API.
    "betas" => betas: Vec<String> = Vec::new();
    /// How the model thinks.
    "thinking" => thinking: Option<Thinking> = None;
    /// The older way to say it, in tokens; `thinking` wins.
    "maxThinkingTokens" | "max_thinking_tokens" => max_thinking_tokens: Option<u64> = None;
    /// `low`, `medium`, `high`, `xhigh` or `max`.
    "effort" => effort: Option<String> = None;
    /// The shape of the final answer.
    "outputFormat" | "output_format" => output_format: Option<OutputFormat> = None;

    /// `default`, `acceptEdits`, `plan`, `bypassPermissions`, `dontAsk`, `auto`, …
    "permissionMode" | "permission_mode" => permission_mode: Option<String> = None;
    /// Permits `bypassPermissions`, now or later.
    "allowDangerouslySkipPermissions" | "allow_dangerously_skip_permissions" =>
        allow_dangerously_skip_permissions: bool = false;
    /// An MCP tool that answers permission questions in place of a permission handler.
    "permissionPromptToolName" | "permission_prompt_tool_name" =>
        permission_prompt_tool_name: Option<String> = None;
    /// `host`, or `none`: nobody is asked, what would ask is denied.
    "permissionPrompts" | "permission_prompts" => permission_prompts: Option<String> = None;

    /// Continues the newest conversation of the working directory.
    "continue" | "continue_conversation" | "continueConversation" =>
        continue_conversation: bool = false;
    /// The session to go on with, by id or title.
    "resume" => resume: Option<String> = None;
    /// Whether the resumed session goes on under a new id.
    "forkSession" | "fork_session" => fork_session: bool = false;
    /// The last message of the resumed session to keep, by uuid.
    "resumeSessionAt" | "resume_session_at" => resume_session_at: Option<String> = None;
    /// The prompt whose turn a truncating resume means to drop, by uuid; an empty one is passed on
    /// for the CLI to refuse.
    "resumeDropsTurn" | "resume_drops_turn" => resume_drops_turn: Option<String> = None;
    /// The id of the new session, a UUID.
    "sessionId" | "session_id" => session_id: Option<String> = None;
    /// The session's title.
    "title" => title: Option<String> = None;
    /// Whether the session is saved on disk.
    "persistSession" | "persist_session" => persist_session: bool = true;
    /// A store the transcript is mirrored to.
    "sessionStore" | "session_store" => session_store: SessionStoreChoice =
        SessionStoreChoice::None;
    /// `batched` or `eager`.
    "sessionStoreFlush" | "session_store_flush" => session_store_flush: Option<String> = None;
    /// Limit of each call of a store while a session is loaded from it, in ms.
    "loadTimeoutMs" | "load_timeout_ms" => load_timeout_ms: u64 = 60_000;

    /// Settings above those of the user, the project and the local file: a path or the settings.
    "settings" => settings: Option<Settings> = None;
    /// Sandbox settings; they become `settings.sandbox`.
    "sandbox" => sandbox: Option<JsonObject> = None;
    /// How inline `settings`, and a `sandbox`, reach the CLI. Unset: by a private file.
    "settingsDelivery" | "settings_delivery" => settings_delivery: Option<Delivery> = None;
    /// Policy settings of the embedding program.
    "managedSettings" | "managed_settings" => managed_settings: Option<JsonObject> = None;
    /// How `managedSettings` reach the CLI. Unset: on the command line, since the CLI reads no file
    /// of them and takes no secrets from them.
    "managedSettingsDelivery" | "managed_settings_delivery" => managed_settings_delivery: Option<Delivery> = None;
    /// Which settings files are read: `user`, `project`, `local`; an empty list is none.
    "settingSources" | "setting_sources" => setting_sources: Option<Vec<String>> = None;
    /// More directories the tools may use.
    "additionalDirectories" | "additional_directories" | "add_dirs" | "addDirs" =>
        additional_directories: Vec<String> = Vec::new();
    /// The trusted checkout that project settings come from in place of `cwd`.
    "projectConfigRoot" | "project_config_root" => project_config_root: Option<String> = None;

    /// MCP servers the CLI starts or connects to; in-process ones are registered at the host.
    "mcpServers" | "mcp_servers" => mcp_servers: Option<McpServers> = None;
    /// Whether no other MCP servers are used.
    "strictMcpConfig" | "strict_mcp_config" => strict_mcp_config: bool = false;
    /// How `mcpServers` reach the CLI. Unset: by a private file.
    "mcpServersDelivery" | "mcp_servers_delivery" => mcp_servers_delivery: Option<Delivery> = None;
    /// Plugins.
    "plugins" => plugins: Vec<Plugin> = Vec::new();
    /// How `plugins` reach the CLI. Unset: one flag each.
    "pluginDelivery" | "plugin_delivery" => plugin_delivery: Option<Delivery> = None;
    /// Subagents: name to definition.
    "agents" => agents: Option<JsonObject> = None;
    /// The agent the main thread runs as.
    "agent" => agent: Option<String> = None;

    /// Whether the API's stream events are passed on.
    "includePartialMessages" | "include_partial_messages" => include_partial_messages: bool = false;
    /// Whether the life of settings hooks is reported.
    "includeHookEvents" | "include_hook_events" => include_hook_events: bool = false;
    /// Whether the text of subagents is passed on.
    "forwardSubagentText" | "forward_subagent_text" => forward_subagent_text: bool = false;
    /// Whether prompts are echoed with their uuid.
    "replayUserMessages" | "replay_user_messages" => replay_user_messages: bool = false;
    /// Whether every prompt is delivered as written, with no file mentions and no commands.
    "verbatimPrompts" | "verbatim_prompts" => verbatim_prompts: bool = false;
    /// Whether a next prompt is suggested after each turn.
    "promptSuggestions" | "prompt_suggestions" => prompt_suggestions: Option<bool> = None;
    /// Whether running subagents are summed up now and then.
    "agentProgressSummaries" | "agent_progress_summaries" => agent_progress_summaries: Option<bool> =
        None;
    /// The workflow text of plan mode.
    "planModeInstructions" | "plan_mode_instructions" => plan_mode_instructions: Option<String> =
        None;
    /// Kinds of dialog the host can show, beside those it has handlers for.
    "supportedDialogKinds" | "supported_dialog_kinds" => supported_dialog_kinds: Vec<String> =
        Vec::new();
    /// Whether the host lets its user stop single background tasks.
    "perTaskStopAffordance" | "per_task_stop_affordance" => per_task_stop_affordance: Option<bool> =
        None;
    /// Whether files can be rewound to what they were at a prompt.
    "enableFileCheckpointing" | "enable_file_checkpointing" => enable_file_checkpointing: bool =
        false;

    /// More flags, without their dashes: name to value, `null` for a flag without one.
    "extraArgs" | "extra_args" => extra_args: ExtraArgs = ExtraArgs(Vec::new());
    /// More fields of `initialize`; they win over those made from other options.
    "extraInitialize" | "extra_initialize" => extra_initialize: BTreeMap<String, Json> =
        BTreeMap::new();
    /// Variables for the CLI; `null` takes one away. Merged over the inherited ones, or, in the
    /// TypeScript dialect, instead of them.
    "env" => env: Option<EnvMap> = None;
    /// The working directory. Unset: the host's.
    "cwd" => cwd: Option<String> = None;
    /// The user the CLI runs as, by name or number.
    "user" => user: Option<String> = None;
    /// Names the program to the API.
    "clientApp" | "client_app" => client_app: Option<String> = None;
    /// Whether the CLI writes a debug log.
    "debug" => debug: bool = false;
    /// Where to.
    "debugFile" | "debug_file" => debug_file: Option<String> = None;

    /// The CLI. Unset: it is looked for.
    "cliPath" | "cli_path" | "pathToClaudeCodeExecutable" | "path_to_claude_code_executable" =>
        cli_path: Option<String> = None;
    /// What runs a CLI that is a script (`.js`, `.mjs`, `.ts`): `node`, `bun`, `deno` or a path.
    "executable" => executable: Option<String> = None;
    /// Arguments of that.
    "executableArgs" | "executable_args" => executable_args: Vec<String> = Vec::new();
    /// What stands before the CLI on the command line (`["docker","exec","-i","box"]`).
    "launcher" => launcher: Vec<String> = Vec::new();
    /// Whether the launcher hands its arguments to a shell, so that each is quoted for one.
    /// Unset: for `ssh` only.
    "launcherShell" | "launcher_shell" => launcher_shell: Option<bool> = None;
    /// Whether the CLI behind the launcher is on another machine or in a container: it sees
    /// neither this one's files nor its variables. Unset: for `ssh`, `docker`, `podman`,
    /// `nerdctl`, `kubectl`, `lxc` and `wsl`.
    "launcherRemote" | "launcher_remote" => launcher_remote: Option<bool> = None;

    /// A file that both directions of the session are written to, as JSON lines; in a folder, each
    /// session gets a file of its own.
    "record" => record: Option<String> = None;
    /// Whether keys, tokens, account data and home folders are taken out of the recording.
    "recordRedacted" | "record_redacted" => record_redacted: bool = true;
    /// A recording that takes the CLI's place: nothing is started.
    "replay" => replay: Option<String> = None;
    /// Where every line of both directions is noted, redacted and cut short: a file that is added to,
    /// a folder in which each session gets a file of its own, `stderr`, or `log` for the log hook
    /// (at level `trace`).
    "wireLog" | "wire_log" => wire_log: Option<String> = None;
    /// How much of a line the wire log shows, in bytes.
    "wireLogLineBytes" | "wire_log_line_bytes" => wire_log_line_bytes: u64 = 2048;
    /// The W3C trace context that the session belongs to: `TRACEPARENT` of the CLI, unless `env`
    /// gives one.
    "traceparent" => traceparent: Option<String> = None;
    /// What tracing systems add to it: `TRACESTATE` of the CLI. Only with `traceparent`.
    "tracestate" => tracestate: Option<String> = None;

    /// Limit from start to the first byte from the CLI, in ms.
    "connectTimeoutMs" | "connect_timeout_ms" => connect_timeout_ms: Timeout = Timeout::OFF;
    /// Limit from start to the answer to `initialize`, in ms.
    "initializeTimeoutMs" | "initialize_timeout_ms" => initialize_timeout_ms: Timeout =
        Timeout::from_millis(60_000);
    /// Limit of each other control request, in ms.
    "controlTimeoutMs" | "control_timeout_ms" => control_timeout_ms: Timeout =
        Timeout::from_millis(60_000);
    /// Limit from sending a prompt to the first message of its turn, in ms.
    "firstMessageTimeoutMs" | "first_message_timeout_ms" => first_message_timeout_ms: Timeout =
        Timeout::OFF;
    /// Limit of silence within a turn, in ms.
    "idleTimeoutMs" | "idle_timeout_ms" => idle_timeout_ms: Timeout = Timeout::OFF;
    /// Limit of a whole turn, in ms.
    "turnTimeoutMs" | "turn_timeout_ms" => turn_timeout_ms: Timeout = Timeout::OFF;
    /// Limit for a host's answer to a request of the CLI, in ms; then the safe answer is sent.
    "handlerTimeoutMs" | "handler_timeout_ms" => handler_timeout_ms: Timeout = Timeout::OFF;
    /// How long the CLI has to end by itself once its input is closed, in ms; 0 is not at all.
    "closeGraceMs" | "close_grace_ms" => close_grace_ms: u64 = 5_000;
    /// How long it has from SIGTERM to SIGKILL, in ms; 0 is not at all.
    "terminateGraceMs" | "terminate_grace_ms" => terminate_grace_ms: u64 = 5_000;

    /// The longest line that is read, in bytes; a longer one is skipped and reported.
    "maxLineBytes" | "max_line_bytes" | "maxBufferSize" | "max_buffer_size" => max_line_bytes: u64 =
        64 * 1024 * 1024;
    /// Bytes of undelivered events above which reading stops.
    "highWaterBytes" | "high_water_bytes" => high_water_bytes: u64 = 4 * 1024 * 1024;
    /// The most bytes that wait to be written; a write above that is refused.
    "maxQueuedBytes" | "max_queued_bytes" => max_queued_bytes: u64 = 64 * 1024 * 1024;
    /// How much of the CLI's last stderr is kept for errors, in bytes.
    "stderrTailBytes" | "stderr_tail_bytes" => stderr_tail_bytes: u64 = 64 * 1024;
    /// Whether a watchdog process ends the CLI and its children when the host dies.
    "watchdog" => watchdog: bool = true;
    /// Whether the CLI gets a process group of its own.
    "processGroup" | "process_group" => process_group: bool = true;
}
