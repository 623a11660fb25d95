//! The catalogue.
//!
//! An entry reads: type, subtype, where it is known from, whether 2.1.197 knows it (`older`) or not
//! (`newer`), and the answer's type; then the payload's fields.

use super::macros::requests;
use super::responses::*;
use crate::control::RawJson;

requests! {
    /// Opens the session: hooks, in-process servers, agents and prompts. Repeatable: in 2.1.332 a
    /// later one replaces the hooks, 2.1.197 ignores its hooks.
    Initialize("initialize", Seen, older) -> InitializeResponse {
        /// Hooks by event: arrays of {matcher?, hookCallbackIds, timeout?, onFailure?}.
        hooks: optional object,
        /// Names of the in-process MCP servers.
        sdk_mcp_servers as "sdkMcpServers": optional strings,
        /// Settings of in-process servers by name: {timeout?, tools?}.
        sdk_mcp_server_configs as "sdkMcpServerConfigs": optional object,
        /// Handshakes of in-process servers by name: {initializeResult, toolsListResult?}.
        sdk_mcp_server_manifests as "sdkMcpServerManifests": optional object,
        /// Says that the manifests were made for this very request.
        sdk_mcp_server_manifests_origin as "sdkMcpServerManifestsOrigin":
            optional one_of("host_per_send"),
        /// JSON Schema of the structured output.
        json_schema as "jsonSchema": optional object,
        /// The system prompt, in parts; `[""]` is an empty one.
        system_prompt as "systemPrompt": optional strings,
        /// Text after the CLI's own system prompt.
        append_system_prompt as "appendSystemPrompt": optional string,
        /// Whether the system prompt is recorded once and reused.
        system_prompt_snapshot as "systemPromptSnapshot": optional boolean,
        /// What plan mode tells the model to do.
        plan_mode_instructions as "planModeInstructions": optional string,
        /// Other names for tools: the model's name to the real one.
        tool_aliases as "toolAliases": optional string_map,
        /// Moves what differs by user out of the system prompt.
        exclude_dynamic_sections as "excludeDynamicSections": optional boolean,
        /// Subagents by name; their keys are in camel case.
        agents: optional object,
        /// The session's title; none is generated then.
        title: optional string,
        /// The skills to load; without it all.
        skills: optional strings,
        /// Whether the CLI suggests next prompts.
        prompt_suggestions as "promptSuggestions": optional boolean,
        /// Whether summaries of subagents' progress come.
        agent_progress_summaries as "agentProgressSummaries": optional boolean,
        /// Whether the text of subagents comes.
        forward_subagent_text as "forwardSubagentText": optional boolean,
        /// The kinds of dialogs the host can show; no others are asked for.
        supported_dialog_kinds as "supportedDialogKinds": optional strings,
        /// Whether the host offers to stop single tasks; an interrupt spares them then.
        per_task_stop_affordance as "perTaskStopAffordance": optional boolean,
        /// Plugins, under `--await-initialize` only: {type: local, path, skipMcpDiscovery?}.
        plugins: optional array,
        /// External MCP servers by name, under `--await-initialize` only.
        mcp_servers as "mcpServers": optional object,
    }

    /// Ends the running turn. The answer comes before the turn's result; when none runs, there is no
    /// result. Waiting prompts run next unless they are cancelled too.
    Interrupt("interrupt", Seen, older) -> InterruptResponse {
        /// Drops the waiting prompts; 2.1.197 ignores it.
        cancel_queued: optional boolean,
    }

    /// Changes the permission mode; a `status` message follows. `bypassPermissions` is refused unless
    /// the CLI was launched for it; 2.1.197 takes any word.
    SetPermissionMode("set_permission_mode", Seen, older) -> SetPermissionModeResponse {
        /// The mode; `manual` is `default`.
        mode: required one_of(
            "default", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"
        ),
    }

    /// Changes the model for what follows. The name is not checked.
    SetModel("set_model", Seen, older) -> SetModelResponse {
        /// The model; null, absent or `default` resets to the account's default, not to `--model`.
        model: nullable string,
    }

    /// Changes how much the model thinks.
    SetMaxThinkingTokens("set_max_thinking_tokens", Seen, older) -> Empty {
        /// The budget in tokens; null resets it, absent leaves it.
        max_thinking_tokens: nullable integer,
        /// How thinking is shown; null resets it, absent leaves it.
        thinking_display: nullable one_of("summarized", "omitted", "highlights"),
    }

    /// Tells the state of the MCP servers.
    McpStatus("mcp_status", Seen, older) -> McpStatusResponse {
        /// For cloud sessions: an answer that is not stored.
        live_reply as "liveReply": optional boolean,
    }

    /// Replaces all dynamic MCP servers, the in-process ones of `initialize` too: leave those in.
    McpSetServers("mcp_set_servers", Seen, older) -> McpSetServersResponse {
        /// The servers by name; a stdio server needs `args`.
        servers: required object,
    }

    /// Connects a server again; refused for in-process ones.
    McpReconnect("mcp_reconnect", Seen, older) -> Empty {
        /// The server.
        server_name as "serverName": required string,
    }

    /// Turns a server on or off. 2.1.197 cannot turn an in-process one on.
    McpToggle("mcp_toggle", Seen, older) -> Empty {
        /// The server.
        server_name as "serverName": required string,
        /// On or off.
        enabled: required boolean,
    }

    /// Carries a message of an in-process MCP server to the CLI. It succeeds for an unknown server
    /// too.
    SendMcpMessage("mcp_message", Seen, older) -> Empty {
        /// The server.
        server_name: required string,
        /// The JSON-RPC message.
        message: required object,
    }

    /// Calls a tool of an external MCP server without the model. A failing tool is an error answer
    /// unless `soft_error_result` is set.
    McpCall("mcp_call", Seen, older) -> McpCallResponse {
        /// The tool: `mcp__server__tool`.
        tool: required string,
        /// Its arguments.
        arguments: optional object,
        /// Gives the tool's own error result as a success with `isError`.
        soft_error_result: optional boolean,
        /// The time limit in milliseconds, 1000 to 600000; makes it a staged call.
        timeout_ms: optional integer,
        /// A deadline, RFC 3339; makes it a staged call.
        expires_at: optional string,
        /// The result goes to a program: content blocks come as the server sent them.
        result_not_for_model: optional boolean,
        /// Decides permission as for a call of the model's.
        check_permissions: optional boolean,
        /// Files staged for the tool: {name, lane_path}.
        input_files: optional array,
        /// Files the tool writes: {name, lane_path, if_match?}.
        output_files: optional array,
    }

    /// Reads a `ui://` resource of an external MCP server.
    McpReadResource("mcp_read_resource", Seen, newer) -> McpReadResourceResponse {
        /// The server.
        server_name as "serverName": required string,
        /// The resource; `ui://` only.
        uri: required string,
    }

    /// Tells what fills the context window.
    GetContextUsage("get_context_usage", Seen, older) -> ContextUsage {
        /// `full` (the default) counts by the API, `summary` estimates.
        detail: optional one_of("summary", "full"),
    }

    /// Tells the settings in force and each source's own.
    GetSettings("get_settings", Seen, older) -> SettingsResponse {}

    /// Changes settings for this session only.
    ApplyFlagSettings("apply_flag_settings", Seen, older) -> Empty {
        /// The settings to set.
        settings: required object,
    }

    /// Writes settings to a file.
    UpdateSettings("update_settings", Seen, newer) -> Empty {
        /// Which file; `userSettings` takes `effortLevel` only.
        source: required one_of("localSettings", "userSettings"),
        /// The settings to set.
        settings: required object,
    }

    /// Tells the session's cost in words.
    GetSessionCost("get_session_cost", Seen, older) -> SessionCost {}

    /// Tells the session's totals and the account's rate limits.
    GetUsage("get_usage", Seen, older) -> UsageResponse {
        /// Leaves out the scan of the transcripts.
        skip_behaviors: optional boolean,
    }

    /// Lists the models to choose from.
    ListModels("list_models", Seen, newer) -> ModelsResponse {}

    /// Tells the CLI's version.
    GetBinaryVersion("get_binary_version", Seen, older) -> BinaryVersion {}

    /// Lists the hooks of settings, session and plugins.
    GetHooksListing("get_hooks_listing", Seen, newer) -> HooksListing {}

    /// Lists the permission rules in force.
    ListPermissionRules("list_permission_rules", Seen, newer) -> PermissionRules {}

    /// Suggests files for the beginning of a path.
    FileSuggestions("file_suggestions", Seen, older) -> FileSuggestionsResponse {
        /// The beginning.
        query: required string,
    }

    /// Reads a file as the Read tool may. A missing file is "read denied".
    ReadFile("read_file", Seen, older) -> ReadFileResponse {
        /// The file.
        path: required string,
        /// How much of it at most.
        max_bytes: optional integer,
        /// `utf-8` (the default) or `base64`.
        encoding: optional one_of("utf-8", "base64"),
    }

    /// Says that the model has seen a file, so that it may edit it.
    SeedReadState("seed_read_state", Seen, older) -> Empty {
        /// The file.
        path: required string,
        /// Its modification time then, in milliseconds.
        mtime: required number,
    }

    /// Adds a working directory, strictly inside one there is.
    RegisterRepoRoot("register_repo_root", Seen, older) -> RegisterRepoRootResponse {
        /// The directory.
        directory: required string,
        /// Reads CLAUDE.md again.
        reload_claude_md: optional boolean,
        /// Loads plugins again.
        reload_plugins: optional boolean,
        /// Loads skills again.
        reload_skills: optional boolean,
    }

    /// Loads the plugins again.
    ReloadPlugins("reload_plugins", Seen, older) -> ReloadPluginsResponse {
        /// Holds it back when the tools would change under a warm prompt cache.
        hold_on_cache_impact: optional boolean,
        /// Plugins to load as well.
        add_plugins: optional array,
        /// Refuses (`reload_plugins_busy`) while the session works.
        refuse_if_busy: optional boolean,
    }

    /// Loads the skills again.
    ReloadSkills("reload_skills", Seen, older) -> ReloadSkillsResponse {}

    /// Loads the output styles again.
    ReloadOutputStyles("reload_output_styles", Seen, newer) -> ReloadOutputStylesResponse {}

    /// Takes file changes back to what they were before a user message. Needs file checkpointing;
    /// a file created since then is deleted.
    RewindFiles("rewind_files", Seen, older) -> RewindFilesResponse {
        /// The uuid of a user message.
        user_message_id: required string,
        /// Only tells what would change.
        dry_run: optional boolean,
    }

    /// Drops a prompt that still waits.
    CancelAsyncMessage("cancel_async_message", Seen, older) -> CancelAsyncMessageResponse {
        /// The prompt's uuid.
        message_uuid: required string,
    }

    /// Stops a task. It succeeds for an unknown one too.
    StopTask("stop_task", Seen, older) -> Empty {
        /// The task.
        task_id: required string,
    }

    /// Sends running commands and subagents to the background.
    BackgroundTasks("background_tasks", Seen, older) -> Empty {
        /// Only the one this tool call started.
        tool_use_id: optional string,
    }

    /// Reads the end of a background task's output.
    GetTaskOutput("get_task_output", Seen, newer) -> TaskOutput {
        /// The task.
        task_id: required string,
    }

    /// Names the session; a `session_title_changed` message follows.
    RenameSession("rename_session", Seen, older) -> Empty {
        /// The title.
        title: required string,
        /// Who chose it: `host`, or `remote` (the default).
        source: optional one_of("remote", "host"),
        /// Refuses when the process is in another session by now.
        session_id: optional string,
    }

    /// Says whether anybody is watching; matters only where the CLI joins stream events.
    SetHasSubscribers("set_has_subscribers", Seen, newer) -> Empty {
        /// Null is "not known" and counts as true.
        has_subscribers: or_null boolean,
    }

    /// Sets the session's colour; listed, but the CLI answers that it is unsupported.
    SetColor("set_color", Seen, newer) -> Empty {
        /// A colour's name, or `default`.
        color: required string,
    }

    /// Asks the model something beside the conversation.
    SideQuestion("side_question", Seen, older) -> SideQuestionResponse {
        /// The question.
        question: required string,
        /// Questions before it: {question, response}.
        history: optional array,
    }

    /// Makes a title from a description.
    GenerateSessionTitle("generate_session_title", Seen, older) -> SessionTitle {
        /// What the session is about.
        description: required string,
        /// Keeps it as the session's title.
        persist: optional boolean,
    }

    /// Ends the session: acknowledged, then the process exits 0 though its stdin is open.
    EndSession("end_session", Seen, older) -> Empty {
        /// Why.
        reason: optional string,
    }

    /// Overrides the permission mode for one MCP server's tools.
    SetMcpPermissionModeOverride("set_mcp_permission_mode_override", Binary, older) -> RawJson {
        /// The server.
        server_name as "serverName": required string,
        /// The mode; null ends the override.
        mode: or_null string,
        /// Tools that are asked for all the same: {name}.
        ask_for_tools as "askForTools": optional array,
    }

    /// Starts an MCP server's sign-in.
    McpAuthenticate("mcp_authenticate", Binary, older) -> RawJson {
        /// The server.
        server_name as "serverName": required string,
        /// Where the browser comes back to.
        redirect_uri as "redirectUri": optional string,
        /// Takes the answer through `redirectUri` only.
        redirect_uri_only as "redirectUriOnly": optional boolean,
    }

    /// Hands over the address the browser came back to.
    McpOauthCallbackUrl("mcp_oauth_callback_url", Binary, older) -> RawJson {
        /// The server.
        server_name as "serverName": required string,
        /// The whole address, with its code.
        callback_url as "callbackUrl": required string,
    }

    /// Forgets an MCP server's sign-in.
    McpClearAuth("mcp_clear_auth", Binary, older) -> Empty {
        /// The server.
        server_name as "serverName": required string,
    }

    /// Lets an MCP server send messages into the session.
    ChannelEnable("channel_enable", Binary, older) -> RawJson {
        /// The server.
        server_name as "serverName": required string,
    }

    /// Loads the account's connectors again.
    ReloadConnectors("reload_connectors", Binary, newer) -> RawJson {}

    /// Cuts the conversation before a message.
    RewindConversation("rewind_conversation", Binary, older) -> RewindConversationResponse {
        /// The message.
        target_message_uuid: required string,
        /// The newest user message the host knows.
        last_seen_user_message_uuid: optional string,
        /// Allows a message that a compaction summarised.
        allow_summarized_target: optional boolean,
        /// Allows an assistant message.
        allow_assistant_target: optional boolean,
    }

    /// Changes the working directory. A directory not trusted yet is answered `needs_trust`.
    SetCwd("set_cwd", Binary, newer) -> SetCwdResponse {
        /// The directory.
        path: required string,
        /// Whether the user trusts it.
        trust_accepted: optional boolean,
        /// The directory the trust is for.
        trusted_directory: optional string,
    }

    /// Gives a process started with `--await-claim` its session.
    ClaimSession("claim_session", Binary, newer) -> RawJson {
        /// The working directory.
        cwd: required string,
        /// Environment variables.
        env: optional string_map,
        /// More working directories.
        additional_directories: optional strings,
        /// The permission mode.
        permission_mode: optional string,
        /// The system prompt, in parts.
        system_prompt: optional strings,
        /// Text after the CLI's own system prompt.
        append_system_prompt: optional string,
        /// Subagents by name.
        agents: optional object,
        /// The session's title.
        title: optional string,
        /// Names of in-process MCP servers.
        sdk_mcp_servers: optional strings,
        /// Answers with what `initialize` answers.
        include_initialize: optional boolean,
        /// Whether the directory is trusted: {accepted, directory}.
        workspace_trust: optional object,
    }

    /// Rates a message.
    MessageRated("message_rated", Binary, older) -> Empty {
        /// The message.
        message_uuid as "messageUuid": required string,
        /// The rating.
        sentiment: required one_of("positive", "negative"),
        /// What was rated.
        surface: optional one_of("tool_use", "assistant_text"),
        /// Takes the rating back.
        cleared: optional boolean,
    }

    /// Sends feedback to Anthropic.
    SubmitFeedback("submit_feedback", Binary, older) -> FeedbackResponse {
        /// What the user says.
        description: required string,
        /// Where it was written.
        surface: optional one_of("cli", "ccd", "ccr", "ide", "sdk", "cowork"),
        /// A draft it finishes.
        draft_id: optional string,
        /// What kind of feedback.
        feedback_type as "type": optional one_of("bug", "idea", "missing_capability"),
        /// A headline.
        title: optional string,
        /// What it is about.
        area: optional string,
        /// Sends the transcript with it.
        attach_transcript: optional boolean,
        /// Keeps it on this machine.
        save_locally: optional boolean,
    }

    /// Answers a survey.
    SubmitSurveyFeedback("submit_survey_feedback", Binary, newer) -> FeedbackResponse {
        /// What the user says.
        description: required string,
        /// The survey's showing.
        appearance_id: required string,
        /// The rating.
        survey_response: required one_of("bad", "fine", "good"),
        /// Which survey.
        survey_type: required one_of("session", "post_compact", "memory", "long_context"),
        /// Where it was shown.
        surface: optional one_of("cli", "ccd", "ccr", "ide", "sdk", "cowork"),
    }

    /// Starts a review in the cloud.
    UltrareviewLaunch("ultrareview_launch", Binary, older) -> RawJson {
        /// What the slash command would take.
        args: optional string,
        /// The user has agreed.
        confirm: optional boolean,
    }

    /// Turns remote control on or off.
    RemoteControl("remote_control", Binary, older) -> RawJson {
        /// On or off.
        enabled: required boolean,
        /// The session's name there.
        name: optional string,
        /// A session to go on with.
        reattach_session_id: optional string,
        /// Keeps the session when the process ends.
        keep_session_on_exit: optional boolean,
    }

    /// Starts the account's sign-in.
    ClaudeAuthenticate("claude_authenticate", Binary, older) -> RawJson {
        /// By claude.ai (the default), or by the console.
        login_with_claude_ai as "loginWithClaudeAi": optional boolean,
        /// Signs in with a console profile.
        console_profile as "consoleProfile": optional boolean,
    }

    /// Hands over the sign-in's code.
    ClaudeOauthCallback("claude_oauth_callback", Binary, older) -> RawJson {
        /// The code.
        authorization_code as "authorizationCode": required string,
        /// The sign-in's state.
        state: required string,
    }

    /// Waits for the sign-in's end.
    ClaudeOauthWaitForCompletion("claude_oauth_wait_for_completion", Binary, older) -> RawJson {}

    /// Tells what `/status` shows.
    GetStatus("get_status", Binary, newer) -> RawJson {}

    /// Tells the plan of plan mode.
    GetPlan("get_plan", Binary, newer) -> PlanResponse {}

    /// Tells what the working directory's changes are.
    GetWorkspaceDiff("get_workspace_diff", Binary, newer) -> WorkspaceDiff {
        /// With the hunks of changes not committed.
        uncommitted_hunks: optional boolean,
    }

    /// Exports the conversation as text.
    ExportConversation("export_conversation", Binary, newer) -> ExportedConversation {}

    /// Tells what `/memory` shows.
    GetMemoryDialog("get_memory_dialog", Binary, newer) -> RawJson {}

    /// Tells what `/skills` shows.
    GetSkillsDialog("get_skills_dialog", Binary, newer) -> RawJson {}

    /// Tells what `/sandbox` shows.
    GetSandboxDialog("get_sandbox_dialog", Binary, newer) -> RawJson {
        /// With the lists.
        lists: optional boolean,
    }

    /// Tells what `/chrome` shows.
    GetChromeDialog("get_chrome_dialog", Binary, newer) -> RawJson {}

    /// Lists the browsers connected.
    GetChromeBrowsers("get_chrome_browsers", Binary, newer) -> RawJson {}

    /// Chooses a browser.
    SelectChromeBrowser("select_chrome_browser", Binary, newer) -> RawJson {
        /// The browser.
        device_id: required string,
    }

    /// Says which browsers are near; in remote sessions only.
    SetChromeBrowserHints("set_chrome_browser_hints", Binary, newer) -> RawJson {
        /// The browser to prefer; null for none.
        preferred_device_id as "preferredDeviceId": nullable string,
        /// The browsers on the host's machine.
        local_device_ids as "localDeviceIds": required strings,
        /// The host's system.
        host_platform as "hostPlatform": optional one_of("darwin", "win32", "linux"),
    }

    /// Holds prompt suggestions back, or lets them come again.
    SetPromptSuggestionsPaused("set_prompt_suggestions_paused", Binary, newer) -> Empty {
        /// Whether they are held back.
        paused: required boolean,
    }

    /// Says that the user is writing.
    PromptDraftActivity("prompt_draft_activity", Binary, newer) -> Empty {}

    /// Changes how much the session does unasked.
    SetProactivityLevel("set_proactivity_level", Binary, newer) -> RawJson {
        /// The level.
        level: required one_of("ask", "default", "proactive"),
    }
}
