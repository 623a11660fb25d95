//! The CLI's arguments (`protocol.md §1.1`–`§1.3`).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::environment::{Environment, Limits, Platform};
use super::error::LaunchError;
use super::host::HostSide;
use super::options::{
    Delivery, Dialect, Options, Plugin, PromptForm, SystemPrompt, Thinking, ThinkingDisplay, Tools,
};

/// Arguments with the option each comes from.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    list: Vec<(&'static str, String)>,
}

impl Arguments {
    /// A flag without a value.
    pub(super) fn flag(&mut self, option: &'static str, flag: &str) {
        self.list.push((option, flag.to_string()));
    }

    /// A flag with its value in one argument: a value that starts with a dash stays a value.
    pub(super) fn value(&mut self, option: &'static str, flag: &str, value: impl AsRef<str>) {
        self.list
            .push((option, format!("{flag}={}", value.as_ref())));
    }

    fn text(&mut self, option: &'static str, flag: &str, value: &Option<String>) {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            self.value(option, flag, value);
        }
    }

    fn list(&mut self, option: &'static str, flag: &str, values: &[String]) {
        if !values.is_empty() {
            self.value(option, flag, values.join(","));
        }
    }

    fn switch(&mut self, option: &'static str, flag: &str, on: bool) {
        if on {
            self.flag(option, flag);
        }
    }

    /// Refuses what no command line of that length can hold.
    pub(super) fn check(&self, limits: &Limits, others: usize) -> Result<(), LaunchError> {
        let mut total = others;
        for (option, argument) in &self.list {
            if argument.contains('\0') {
                return Err(LaunchError::Nul { option });
            }
            let bytes = argument.len() + 1;
            if let Some(limit) = limits.argument.filter(|limit| bytes > *limit) {
                return Err(LaunchError::ArgumentTooLong {
                    option,
                    bytes,
                    limit,
                });
            }
            total += bytes + POINTER;
        }
        if let Some(limit) = limits.total.filter(|limit| total > *limit) {
            let of = |option: &str| -> usize {
                let same = self.list.iter().filter(|(other, _)| *other == option);
                same.map(|(_, argument)| argument.len() + 1).sum()
            };
            let (bytes, option) = self
                .list
                .iter()
                .map(|(option, _)| (of(option), *option))
                .max()
                .unwrap_or((0, "env"));
            return Err(LaunchError::CommandTooLong {
                option,
                bytes,
                total,
                limit,
            });
        }
        Ok(())
    }

    /// The options and the arguments, in step.
    pub(super) fn into_parts(self) -> (Vec<&'static str>, Vec<String>) {
        self.list.into_iter().unzip()
    }
}

/// What the kernel counts for the pointer to an argument or variable.
pub(super) const POINTER: usize = 8;

/// Everything that stands on the command line whatever the delivery of other values is.
pub(super) fn arguments(
    options: &Options,
    host: &HostSide,
    environment: &Environment,
    allowed_tools: &[String],
    mirrored: bool,
) -> Result<Arguments, LaunchError> {
    let mut out = Arguments::default();
    out.value("outputFormat", "--output-format", "stream-json");
    out.flag("verbose", "--verbose");
    out.value("inputFormat", "--input-format", "stream-json");

    if let Some(SystemPrompt::Form(PromptForm::File { path })) = &options.system_prompt {
        out.value("systemPrompt", "--system-prompt-file", path);
    }
    match &options.tools {
        None => {}
        Some(Tools::List(tools)) => out.value("tools", "--tools", tools.join(",")),
        Some(Tools::Preset(_)) => out.value("tools", "--tools", "default"),
    }
    out.list("allowedTools", "--allowedTools", allowed_tools);
    out.list(
        "disallowedTools",
        "--disallowedTools",
        &options.disallowed_tools,
    );
    if let Some(turns) = options.max_turns.filter(|turns| *turns > 0) {
        out.value("maxTurns", "--max-turns", turns.to_string());
    }
    if let Some(budget) = options.max_budget_usd {
        out.value("maxBudgetUsd", "--max-budget-usd", budget.to_string());
    }
    if let Some(budget) = &options.task_budget {
        out.value("taskBudget", "--task-budget", budget.total.to_string());
    }
    models(&mut out, options)?;
    out.list("betas", "--betas", &options.betas);
    thinking(&mut out, options)?;
    out.text("effort", "--effort", &options.effort);

    permissions(&mut out, options, host)?;
    session(&mut out, options, environment, mirrored)?;

    if let Some(sources) = setting_sources(options) {
        out.value("settingSources", "--setting-sources", sources.join(","));
    }
    for directory in &options.additional_directories {
        out.value("additionalDirectories", "--add-dir", directory);
    }
    if let Some(root) = &options.project_config_root {
        out.value("projectConfigRoot", "--project-config-root", root);
    }
    out.switch(
        "strictMcpConfig",
        "--strict-mcp-config",
        options.strict_mcp_config,
    );
    if options.plugin_delivery != Some(Delivery::Initialize) {
        for Plugin::Local {
            path,
            skip_mcp_discovery,
        } in &options.plugins
        {
            let flag = if *skip_mcp_discovery {
                "--plugin-dir-no-mcp"
            } else {
                "--plugin-dir"
            };
            out.value("plugins", flag, path);
        }
    }
    out.text("agent", "--agent", &options.agent);
    out.switch(
        "includePartialMessages",
        "--include-partial-messages",
        options.include_partial_messages,
    );
    out.switch(
        "includeHookEvents",
        "--include-hook-events",
        options.include_hook_events,
    );
    out.switch(
        "replayUserMessages",
        "--replay-user-messages",
        options.replay_user_messages,
    );
    match options
        .debug_file
        .as_deref()
        .filter(|file| !file.is_empty())
    {
        Some(file) => out.value("debugFile", "--debug-file", file),
        None => out.switch("debug", "--debug", options.debug),
    }
    Ok(out)
}

/// `extraArgs` come last, where they win over flags of the same name; `settings` among them are
/// the settings.
pub(super) fn extra_arguments(out: &mut Arguments, options: &Options) -> Result<(), LaunchError> {
    for (flag, value) in &options.extra_args.0 {
        if flag.is_empty() {
            return Err(LaunchError::FlagWithoutName);
        }
        match value {
            Some(_) if flag == "settings" => {}
            Some(value) => out.value("extraArgs", &format!("--{flag}"), value),
            None => out.flag("extraArgs", &format!("--{flag}")),
        }
    }
    Ok(())
}

fn models(out: &mut Arguments, options: &Options) -> Result<(), LaunchError> {
    out.text("model", "--model", &options.model);
    if let (Some(model), Some(fallback)) = (&options.model, &options.fallback_model) {
        if model == fallback && !model.is_empty() && options.dialect != Dialect::Python {
            return Err(LaunchError::FallbackIsModel {
                model: model.clone(),
            });
        }
    }
    out.text("fallbackModel", "--fallback-model", &options.fallback_model);
    Ok(())
}

fn thinking(out: &mut Arguments, options: &Options) -> Result<(), LaunchError> {
    let python = options.dialect == Dialect::Python;
    let mut shown: Option<&ThinkingDisplay> = None;
    match (&options.thinking, options.max_thinking_tokens) {
        (Some(Thinking::Adaptive { display }), _) => {
            out.value("thinking", "--thinking", "adaptive");
            shown = display.as_ref();
        }
        (
            Some(Thinking::Enabled {
                budget_tokens,
                display,
            }),
            _,
        ) => {
            match budget_tokens {
                Some(budget) => {
                    out.value("thinking", "--max-thinking-tokens", budget.to_string());
                }
                None if python => return Err(LaunchError::ThinkingBudget),
                None => out.value("thinking", "--thinking", "adaptive"),
            }
            shown = display.as_ref();
        }
        (Some(Thinking::Disabled {}), _) => out.value("thinking", "--thinking", "disabled"),
        (None, Some(0)) if !python => {
            out.value("maxThinkingTokens", "--thinking", "disabled");
        }
        (None, Some(tokens)) => {
            out.value(
                "maxThinkingTokens",
                "--max-thinking-tokens",
                tokens.to_string(),
            );
        }
        (None, None) => {}
    }
    if let Some(ThinkingDisplay(display)) = shown {
        out.value("thinking", "--thinking-display", display);
    }
    Ok(())
}

fn permissions(out: &mut Arguments, options: &Options, host: &HostSide) -> Result<(), LaunchError> {
    out.text(
        "permissionMode",
        "--permission-mode",
        &options.permission_mode,
    );
    out.switch(
        "allowDangerouslySkipPermissions",
        "--allow-dangerously-skip-permissions",
        options.allow_dangerously_skip_permissions,
    );
    let tool = options
        .permission_prompt_tool_name
        .as_deref()
        .filter(|tool| !tool.is_empty());
    match tool {
        Some(tool) if host.permission_handler => {
            return Err(LaunchError::TwoPermissionAnswers {
                tool: tool.to_string(),
            })
        }
        Some(tool) => out.value("permissionPromptToolName", "--permission-prompt-tool", tool),
        None if host.permission_handler => {
            out.value("canUseTool", "--permission-prompt-tool", "stdio");
        }
        None => {}
    }
    out.text(
        "permissionPrompts",
        "--permission-prompts",
        &options.permission_prompts,
    );
    Ok(())
}

fn session(
    out: &mut Arguments,
    options: &Options,
    environment: &Environment,
    mirrored: bool,
) -> Result<(), LaunchError> {
    let resume = options.resume.as_deref().unwrap_or_default();
    let session_id = options.session_id.as_deref().unwrap_or_default();
    if options.dialect == Dialect::Towline && !session_id.is_empty() && !options.fork_session {
        let other = match (resume.is_empty(), options.continue_conversation) {
            (false, _) => Some("resume"),
            (true, true) => Some("continue"),
            (true, false) => None,
        };
        if let Some(other) = other {
            return Err(LaunchError::SessionIdWithResume { other });
        }
    }
    if mirrored && !options.persist_session {
        return Err(LaunchError::StoreWithoutPersistence);
    }
    if mirrored && options.enable_file_checkpointing {
        return Err(LaunchError::StoreWithCheckpointing);
    }

    // With a store, what to continue is found there and comes as `resume`.
    out.switch(
        "continue",
        "--continue",
        options.continue_conversation && !mirrored,
    );
    let identifiers = [
        ("resume", "--resume", &options.resume),
        ("sessionId", "--session-id", &options.session_id),
        (
            "resumeSessionAt",
            "--resume-session-at",
            &options.resume_session_at,
        ),
    ];
    for (option, flag, value) in identifiers {
        if let Some(value) = value.as_deref() {
            safe_on_windows(option, value, environment.platform)?;
        }
        out.text(option, flag, value);
    }
    if let Some(turn) = &options.resume_drops_turn {
        safe_on_windows("resumeDropsTurn", turn, environment.platform)?;
        out.value("resumeDropsTurn", "--resume-drops-turn", turn);
    }
    out.switch("forkSession", "--fork-session", options.fork_session);
    out.switch(
        "persistSession",
        "--no-session-persistence",
        !options.persist_session,
    );
    out.switch("sessionStore", "--session-mirror", mirrored);
    Ok(())
}

fn setting_sources(options: &Options) -> Option<Vec<String>> {
    match (&options.setting_sources, &options.skills) {
        (Some(sources), _) => Some(sources.clone()),
        (None, Some(_)) if options.dialect == Dialect::Python => {
            Some(Vec::from(["user".to_string(), "project".to_string()]))
        }
        (None, _) => None,
    }
}

/// Values that programs take from outside stay inert even if a command interpreter comes to stand
/// between the host and the CLI.
fn safe_on_windows(
    option: &'static str,
    value: &str,
    platform: Platform,
) -> Result<(), LaunchError> {
    if platform != Platform::Windows {
        return Ok(());
    }
    let mut characters = String::new();
    for character in value.chars() {
        if "&|<>^%!\"\r\n".contains(character) && !characters.contains(character) {
            characters.push(character);
        }
    }
    if characters.is_empty() {
        return Ok(());
    }
    Err(LaunchError::UnsafeOnWindows {
        option,
        value: value.to_string(),
        characters: characters.escape_debug().to_string(),
    })
}
