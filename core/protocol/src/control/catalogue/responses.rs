//! What a success carries (`protocol.md §8`).

use super::macros::responses;
use super::{ControlResponse, FieldSpec};
use crate::control::RawJson;
use crate::json::{members, ScanError};

/// A success that says no more than that; a missing payload counts as `{}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Empty {}

impl ControlResponse for Empty {
    const FIELDS: &'static [FieldSpec] = &[];

    fn read(payload: &str) -> Result<Self, ScanError> {
        members(payload, |_, _| {})?;
        Ok(Empty {})
    }
}

/// A success whose shape is not known here: the payload's text.
impl ControlResponse for RawJson {
    const FIELDS: &'static [FieldSpec] = &[];

    fn read(payload: &str) -> Result<Self, ScanError> {
        members(payload, |_, _| {})?;
        Ok(RawJson::of(payload))
    }
}

responses! {
    /// The answer to `initialize`.
    InitializeResponse {
        /// The slash commands.
        commands: list(SlashCommand),
        /// The subagents.
        agents: list(AgentInfo),
        /// The name of the output style in use, not an output format.
        output_style: string,
        /// The output styles there are.
        available_output_styles: strings,
        /// The models to choose from.
        models: list(ModelInfo),
        /// The account: email, organization, subscriptionType, tokenSource, apiKeySource, apiProvider.
        account: object,
        /// The CLI's process id.
        pid: integer,
        /// The CLI's version; absent in older ones.
        claude_code_version: string,
        /// The permission mode.
        current_permission_mode: string,
        /// Whether the hooks sent were registered.
        hooks_applied: boolean,
        /// Whether `onFailure` of a hook is honoured; absent in CLIs that ignore it.
        hook_on_failure_supported: boolean,
        /// Whether every plugin sent is loaded.
        plugins_applied: boolean,
        /// Whether the MCP servers sent are those read at launch.
        mcp_servers_applied: boolean,
        /// What became of each manifest sent, by server name.
        sdk_mcp_manifests_parked: string_map,
        /// `running`, `requires_action` or `idle`.
        session_state: string,
        /// Names of features, such as `interrupt_receipt_v1`.
        capabilities: strings,
        /// `off`, `cooldown` or `on`.
        fast_mode_state: string,
        /// Why there is no fast mode.
        fast_mode_disabled_reason: string,
    }

    /// A slash command.
    SlashCommand {
        /// Its name, without the slash.
        name: string,
        /// What it does.
        description: string,
        /// A hint about its arguments.
        argument_hint as "argumentHint": string,
        /// Other names.
        aliases: strings,
        /// Whether it belongs to the CLI.
        builtin: boolean,
    }

    /// A subagent that can be called.
    AgentInfo {
        /// Its name.
        name: string,
        /// What it is for.
        description: string,
        /// Its model, `inherit` for the session's.
        model: string,
    }

    /// A model to choose from.
    ModelInfo {
        /// What `set_model` takes.
        value: string,
        /// The model it stands for.
        resolved_model as "resolvedModel": string,
        /// The name to show.
        display_name as "displayName": string,
        /// What it is for.
        description: string,
        /// Whether it takes an effort level.
        supports_effort as "supportsEffort": boolean,
        /// Which ones.
        supported_effort_levels as "supportedEffortLevels": strings,
        /// Whether it decides by itself how much to think.
        supports_adaptive_thinking as "supportsAdaptiveThinking": boolean,
        /// Whether it has a fast mode.
        supports_fast_mode as "supportsFastMode": boolean,
        /// Whether it serves the permission mode `auto`.
        supports_auto_mode as "supportsAutoMode": boolean,
    }

    /// The answer to `interrupt`; 2.1.197 sends no payload.
    InterruptResponse {
        /// UUIDs of the prompts that are still waiting and run next.
        still_queued: strings,
        /// UUIDs of the prompts dropped, with `cancel_queued`.
        cancelled: strings,
    }

    /// The answer to `set_permission_mode`.
    SetPermissionModeResponse {
        /// The mode in force, which can be another than asked for.
        mode: string,
    }

    /// The answer to `set_model`.
    SetModelResponse {
        /// The model's resolved name.
        model: string,
    }

    /// The answer to `mcp_status`.
    McpStatusResponse {
        /// The servers; in-process ones only once they connect.
        mcp_servers as "mcpServers": list(McpServerStatus),
    }

    /// One MCP server's state.
    McpServerStatus {
        /// Its name.
        name: string,
        /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
        status: string,
        /// What it says it is: name and version.
        server_info as "serverInfo": object,
        /// Why it failed.
        error: string,
        /// How it is configured.
        config: object,
        /// The scope of its configuration.
        scope: string,
        /// Who configured it.
        source: string,
        /// `stdio`, `http`, `sse`, `sdk` or another.
        transport: string,
        /// Its tools: name, description, annotations.
        tools: array,
    }

    /// The answer to `mcp_set_servers`.
    McpSetServersResponse {
        /// Names of the servers added.
        added: strings,
        /// Names of those removed.
        removed: strings,
        /// What went wrong, by server name.
        errors: string_map,
    }

    /// The answer to `mcp_call`.
    McpCallResponse {
        /// The result's content, a string or blocks.
        content: any,
        /// The structured result.
        structured_content as "structuredContent": any,
        /// Whether the tool failed, with `soft_error_result`.
        is_error as "isError": boolean,
    }

    /// The answer to `mcp_read_resource`.
    McpReadResourceResponse {
        /// The contents: uri, mimeType, text or blob.
        contents: array,
    }

    /// The answer to `get_context_usage`.
    ContextUsage {
        /// What fills the window: id, name, tokens, color, kind (used, free, buffer, deferred).
        categories: array,
        /// Tokens in use.
        total_tokens as "totalTokens": number,
        /// Tokens there can be.
        max_tokens as "maxTokens": number,
        /// The model's own limit.
        raw_max_tokens as "rawMaxTokens": number,
        /// How full it is, in percent.
        percentage: number,
        /// A picture of it, rows of squares.
        grid_rows as "gridRows": array,
        /// The model.
        model: string,
        /// Files of instructions: path, type, tokens.
        memory_files as "memoryFiles": array,
        /// MCP tools: name, serverName, tokens.
        mcp_tools as "mcpTools": array,
        /// Subagents: agentType, source, tokens.
        agents: array,
        /// Slash commands: totalCommands, includedCommands, tokens.
        slash_commands as "slashCommands": object,
        /// Skills: totalSkills, includedSkills, tokens, skillFrontmatter.
        skills: object,
        /// The number of tokens at which the conversation is compacted.
        auto_compact_threshold as "autoCompactThreshold": number,
        /// Whether it is compacted by itself.
        is_auto_compact_enabled as "isAutoCompactEnabled": boolean,
        /// Tokens by kind of message.
        message_breakdown as "messageBreakdown": object,
        /// The last reply's usage; null before the first.
        api_usage as "apiUsage": object,
    }

    /// The answer to `get_settings`.
    SettingsResponse {
        /// The settings in force.
        effective: object,
        /// Each source's own.
        sources: any,
        /// What the session made of them.
        applied: object,
    }

    /// The answer to `get_session_cost`.
    SessionCost {
        /// The cost, in words.
        text: string,
    }

    /// The answer to `get_usage`.
    UsageResponse {
        /// The session's totals: total_cost_usd, durations, lines, model_usage.
        session: object,
        /// `pro`, `max`, `team`, `enterprise`; null with an API key.
        subscription_type: string,
        /// Whether rate limits apply.
        rate_limits_available: boolean,
        /// The windows: five_hour, seven_day and others.
        rate_limits: object,
        /// What the use is made of, by day and week.
        behaviors: object,
    }

    /// The answer to `list_models`.
    ModelsResponse {
        /// The models to choose from.
        models: list(ModelInfo),
    }

    /// The answer to `get_binary_version`.
    BinaryVersion {
        /// The CLI's version.
        version: string,
        /// When it was built.
        build_time as "buildTime": string,
    }

    /// The answer to `get_hooks_listing`.
    HooksListing {
        /// Events that have hooks.
        events: array,
        /// The hooks.
        hooks: array,
        /// All events there are.
        event_catalog as "eventCatalog": array,
        /// What the managed settings say about hooks.
        policy: object,
    }

    /// The answer to `list_permission_rules`.
    PermissionRules {
        /// rules, workspaceDirectories, originalCwd, managedOnly, errors.
        state: object,
    }

    /// The answer to `file_suggestions`.
    FileSuggestionsResponse {
        /// The suggestions, each with `path`.
        suggestions: array,
        /// The directory they are relative to.
        cwd: string,
    }

    /// The answer to `read_file`.
    ReadFileResponse {
        /// The file's text, or base64.
        contents: string,
        /// The file's absolute path.
        abs_path as "absPath": string,
        /// Whether it was cut.
        truncated: boolean,
        /// `base64` when asked for.
        encoding: string,
        /// Whether bytes were replaced because they are not UTF-8.
        lossy: boolean,
    }

    /// The answer to `register_repo_root`.
    RegisterRepoRootResponse {
        /// The directory, absolute.
        directory: string,
    }

    /// The answer to `reload_plugins`.
    ReloadPluginsResponse {
        /// The slash commands.
        commands: list(SlashCommand),
        /// The subagents.
        agents: list(AgentInfo),
        /// The plugins: name, path, source, version.
        plugins: array,
        /// The MCP servers.
        mcp_servers as "mcpServers": list(McpServerStatus),
        /// How many plugins failed.
        error_count: integer,
        /// Whether the reload was held back, with `hold_on_cache_impact`.
        held: boolean,
        /// What applying it would change.
        cache_impact: object,
    }

    /// The answer to `reload_skills`.
    ReloadSkillsResponse {
        /// The skills.
        skills: list(SlashCommand),
    }

    /// The answer to `reload_output_styles`.
    ReloadOutputStylesResponse {
        /// The output styles there are.
        available_output_styles: strings,
    }

    /// The answer to `rewind_files`.
    RewindFilesResponse {
        /// Whether files can be, or were, rewound.
        can_rewind as "canRewind": boolean,
        /// Why not.
        error: string,
        /// The files concerned, on a dry run.
        files_changed as "filesChanged": strings,
        /// Lines that come back, on a dry run.
        insertions: integer,
        /// Lines that go, on a dry run.
        deletions: integer,
        /// How many files were left alone because of links, on a real run.
        skipped_links as "skippedLinks": integer,
    }

    /// The answer to `cancel_async_message`.
    CancelAsyncMessageResponse {
        /// Whether it was still waiting and is dropped now.
        cancelled: boolean,
        /// The message.
        message_uuid: string,
    }

    /// The answer to `get_task_output`.
    TaskOutput {
        /// The end of the output, at most 8 KiB, with escape sequences.
        output: string,
        /// The size of the whole output in bytes.
        total_bytes: integer,
        /// Whether the beginning is missing.
        truncated: boolean,
    }

    /// The answer to `side_question`; a `control_request_progress` message comes before it.
    SideQuestionResponse {
        /// The reply; null when there is none.
        response: string,
        /// Whether the CLI wrote it and not the model.
        synthetic: boolean,
    }

    /// The answer to `generate_session_title`.
    SessionTitle {
        /// The title.
        title: string,
    }

    /// The answer to `rewind_conversation`.
    RewindConversationResponse {
        /// Whether the conversation was cut.
        rewound: boolean,
        /// The message it was cut before.
        target_message_uuid as "targetMessageUuid": string,
        /// That message's text, to be edited and sent again.
        prefill_text as "prefillText": string,
        /// The assistant message before it.
        preceding_assistant_uuid as "precedingAssistantUuid": string,
        /// Why it was not cut.
        error: string,
        /// The same as a word, such as `target_not_found`; 2.1.197 sends none.
        reason: string,
    }

    /// The answer to `set_cwd`.
    SetCwdResponse {
        /// What came of it, such as `needs_trust`.
        status: string,
        /// The directory.
        directory: string,
    }

    /// The answer to `submit_feedback` and `submit_survey_feedback`.
    FeedbackResponse {
        /// The feedback's id; null when it was not sent.
        feedback_id: string,
        /// Why it could not be sent.
        unavailable_reason: string,
    }

    /// The answer to `get_plan`.
    PlanResponse {
        /// Whether there is a plan.
        exists: boolean,
        /// The plan.
        content: string,
        /// Its file.
        path: string,
    }

    /// The answer to `get_workspace_diff`.
    WorkspaceDiff {
        /// The changes; null when there are none to tell.
        diff: any,
        /// Why not, such as `no-repository`.
        no_diff_reason as "noDiffReason": string,
    }

    /// The answer to `export_conversation`.
    ExportedConversation {
        /// The conversation.
        text: string,
        /// A name for its file.
        default_filename: string,
    }
}
