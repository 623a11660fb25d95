//! The payload of `initialize` (`protocol.md §1.3`, `§8`).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::agents;
use super::host::{Hook, HostSide, InProcessServer};
use super::options::json::{members_of, quoted, ObjectWriter};
use super::options::{
    Dialect, Options, OutputFormat, PromptForm, PromptText, Skills, SystemPrompt,
};
use super::LaunchError;

/// What goes in `initialize` because of how it is delivered, not what it is.
#[derive(Default)]
pub(super) struct Delivered {
    pub(super) mcp_servers: Option<String>,
    pub(super) plugins: bool,
    /// Members of one more object each, `settings` and `managedSettings`.
    pub(super) settings: Vec<(&'static str, String)>,
}

pub(super) fn payload(
    options: &Options,
    host: &HostSide,
    servers: &[InProcessServer],
    delivered: &Delivered,
) -> Result<String, LaunchError> {
    let mut out = ObjectWriter::new();
    if !host.hooks.is_empty() {
        out.raw("hooks", &hooks(&host.hooks));
    }
    in_process_servers(&mut out, servers);
    if let Some(OutputFormat::JsonSchema { schema }) = &options.output_format {
        out.raw("jsonSchema", schema.text());
    }
    system_prompt(&mut out, options);
    if let Some(text) = &options.plan_mode_instructions {
        out.string("planModeInstructions", text);
    }
    if let Some(aliases) = &options.tool_aliases {
        let mut object = ObjectWriter::new();
        for (name, target) in aliases {
            object.string(name, target);
        }
        out.raw("toolAliases", &object.finish());
    }
    if let Some(definitions) = &options.agents {
        out.raw("agents", &agents::agents(definitions));
    }
    if let Some(title) = &options.title {
        out.string("title", title);
    }
    if let Some(Skills::List(names)) = &options.skills {
        out.strings("skills", names);
    }
    if let Some(value) = options.prompt_suggestions {
        out.bool("promptSuggestions", value);
    }
    if let Some(value) = options.agent_progress_summaries {
        out.bool("agentProgressSummaries", value);
    }
    if options.forward_subagent_text {
        out.bool("forwardSubagentText", true);
    }
    let mut dialogs = options.supported_dialog_kinds.clone();
    for kind in &host.dialog_kinds {
        if !dialogs.contains(kind) {
            dialogs.push(kind.clone());
        }
    }
    if !dialogs.is_empty() {
        out.strings("supportedDialogKinds", &dialogs);
    }
    if let Some(value) = options.per_task_stop_affordance {
        out.bool("perTaskStopAffordance", value);
    }
    if delivered.plugins {
        let plugins =
            serde_json::to_string(&options.plugins).map_err(|error| LaunchError::NotJson {
                option: "plugins",
                reason: error.to_string(),
            })?;
        out.raw("plugins", &plugins);
    }
    for (key, value) in &delivered.settings {
        out.raw(key, value);
    }
    if let Some(servers) = &delivered.mcp_servers {
        out.raw("mcpServers", servers);
    }
    let payload = out.finish();
    if options.extra_initialize.is_empty() {
        return Ok(payload);
    }
    let mut out = ObjectWriter::new();
    for (key, value) in members_of(&payload) {
        if !options.extra_initialize.contains_key(&key) {
            out.raw(&key, value);
        }
    }
    for (key, value) in &options.extra_initialize {
        out.raw(key, value.text());
    }
    Ok(out.finish())
}

fn system_prompt(out: &mut ObjectWriter, options: &Options) {
    let text = |out: &mut ObjectWriter, text: &String| out.strings("systemPrompt", &[text]);
    let snapshot = |out: &mut ObjectWriter, snapshot: &Option<bool>| {
        if let Some(snapshot) = snapshot {
            out.bool("systemPromptSnapshot", *snapshot);
        }
    };
    match &options.system_prompt {
        None if options.dialect == Dialect::Towline => {}
        None => out.strings("systemPrompt", &[""]),
        Some(SystemPrompt::Text(prompt)) => text(out, prompt),
        Some(SystemPrompt::Blocks(blocks)) => out.strings("systemPrompt", blocks),
        Some(SystemPrompt::Form(PromptForm::Custom {
            prompt,
            snapshot: recorded,
        })) => {
            match prompt {
                PromptText::Text(prompt) => text(out, prompt),
                PromptText::Blocks(blocks) => out.strings("systemPrompt", blocks),
            }
            snapshot(out, recorded);
        }
        Some(SystemPrompt::Form(PromptForm::File { .. })) => {}
        Some(SystemPrompt::Form(PromptForm::Preset {
            append,
            exclude_dynamic_sections,
            snapshot: recorded,
            ..
        })) => {
            if let Some(append) = append {
                out.string("appendSystemPrompt", append);
            }
            if let Some(exclude) = exclude_dynamic_sections {
                out.bool("excludeDynamicSections", *exclude);
            }
            snapshot(out, recorded);
        }
    }
}

/// Event to its entries, events in the order of their first registration.
fn hooks(hooks: &[Hook]) -> String {
    let mut events: Vec<(&str, Vec<String>)> = Vec::new();
    for hook in hooks {
        let mut entry = ObjectWriter::new();
        if let Some(matcher) = &hook.matcher {
            entry.string("matcher", matcher);
        }
        entry.strings("hookCallbackIds", &hook.callback_ids);
        if let Some(timeout) = hook.timeout_seconds.filter(|timeout| timeout.is_finite()) {
            entry.raw("timeout", &timeout.to_string());
        }
        if let Some(on_failure) = hook.on_failure {
            entry.string("onFailure", on_failure.wire());
        }
        let entry = entry.finish();
        match events.iter_mut().find(|(event, _)| *event == hook.event) {
            Some((_, entries)) => entries.push(entry),
            None => events.push((&hook.event, Vec::from([entry]))),
        }
    }
    let mut out = ObjectWriter::new();
    for (event, entries) in events {
        out.raw(event, &format!("[{}]", entries.join(",")));
    }
    out.finish()
}

fn in_process_servers(out: &mut ObjectWriter, servers: &[InProcessServer]) {
    if servers.is_empty() {
        return;
    }
    let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
    out.strings("sdkMcpServers", &names);
    let mut configurations = ObjectWriter::new();
    let mut manifests = ObjectWriter::new();
    for server in servers {
        let mut configuration = ObjectWriter::new();
        if let Some(timeout) = server.timeout_ms {
            configuration.raw("timeout", &timeout.to_string());
        }
        if let Some(policies) = &server.tool_policies {
            configuration.raw("tools", policies.text());
        }
        if !configuration.is_empty() {
            configurations.raw(&server.name, &configuration.finish());
        }
        if let Some(manifest) = &server.manifest {
            manifests.raw(&server.name, manifest.text());
        }
    }
    for (key, object) in [
        ("sdkMcpServerConfigs", configurations),
        ("sdkMcpServerManifests", manifests),
    ] {
        if !object.is_empty() {
            out.raw(key, &object.finish());
        }
    }
}

/// `{"mcpServers":…}` as a configuration file has it.
pub(super) fn mcp_file(servers: &str) -> String {
    format!("{{{}:{servers}}}", quoted("mcpServers"))
}
