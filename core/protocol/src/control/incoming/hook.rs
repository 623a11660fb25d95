//! `hook_callback`: a hook the host registered is due (`protocol.md §6`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::permission::McpServerProvenance;
use crate::control::JsonText;
use crate::json::ScanError;
use crate::view::{member, view};

view! {
    /// A call of one registered callback.
    ///
    /// All callbacks of an event are called at once and the CLI waits for all of them, so answers
    /// are independent of one another and of their order.
    pub struct HookCallback {
        /// The id given to the callback at registration.
        callback_id: Cow<'a, str>,
        /// The event's input; see [`HookCallback::hook_input`].
        input: JsonText<'a>,
        /// The tool call; a random UUID for events that are not about a tool.
        tool_use_id: Option<Cow<'a, str>>,
    }
}

impl<'a> HookCallback<'a> {
    /// The event's input, typed; an error when it is not an object.
    pub fn hook_input(&self) -> Result<HookInput<'a>, ScanError> {
        HookInput::decode(self.input.as_str())
    }
}

view! {
    /// What every hook input has.
    pub struct HookCommon {
        /// The session.
        session_id: Cow<'a, str>,
        /// The session's transcript file.
        transcript_path: Cow<'a, str>,
        /// The CLI's working directory.
        cwd: Cow<'a, str>,
        /// The event; see [`HookEvent`].
        hook_event_name: Cow<'a, str>,
        /// The prompt the event belongs to; absent before the first one.
        prompt_id: Option<Cow<'a, str>>,
        /// The permission mode, on most events.
        permission_mode: Option<Cow<'a, str>>,
        /// The subagent, for events inside one.
        agent_id: Option<Cow<'a, str>>,
        /// The subagent's type, or that of a session started with `--agent`.
        agent_type: Option<Cow<'a, str>>,
        /// The effort in force: an object with `level`.
        effort: Option<JsonText<'a>>,
    }
}

/// A hook's input: what all have, and the event's own part.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookInput<'a> {
    /// The common members.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub common: HookCommon<'a>,
    /// The event's own members.
    #[cfg_attr(feature = "schema", schemars(flatten))]
    pub event: HookEventInput<'a>,
}

impl<'a> HookInput<'a> {
    /// Reads the `input` of a hook callback; an error when it is not an object.
    pub fn decode(text: &'a str) -> Result<Self, ScanError> {
        let common = HookCommon::decode(text)?;
        let event = HookEventInput::decode(&common.hook_event_name, text)?;
        Ok(HookInput { common, event })
    }

    /// The event, when it is one of those known here.
    pub fn event(&self) -> Option<HookEvent> {
        HookEvent::from_name(&self.common.hook_event_name)
    }

    /// The whole input as it came.
    pub fn text(&self) -> &'a str {
        self.common.json()
    }

    /// The JSON text of a member of the input, listed or not.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        member(self.common.json(), name)
    }
}

macro_rules! hook_events {
    ($($(#[$meta:meta])* $event:ident => $input:ident { $($fields:tt)* })*) => {
        /// The events a hook can be registered for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum HookEvent {
            $($(#[$meta])* $event,)*
        }

        impl HookEvent {
            /// Every event, in the CLI's own order.
            pub const ALL: &'static [HookEvent] = &[$(HookEvent::$event,)*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(HookEvent::$event => stringify!($event),)*
                }
            }

            /// The event of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $(stringify!($event) => Some(HookEvent::$event),)*
                    _ => None,
                }
            }
        }

        $(
            view! {
                $(#[$meta])*
                pub struct $input { $($fields)* }
            }
        )*

        /// The part of a hook's input that belongs to its event.
        #[derive(Debug, Clone, PartialEq)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(untagged))]
        #[non_exhaustive]
        pub enum HookEventInput<'a> {
            $($(#[$meta])* $event($input<'a>),)*
            /// An event not known here: the whole input.
            Unknown(JsonText<'a>),
        }

        impl<'a> HookEventInput<'a> {
            fn decode(event: &str, text: &'a str) -> Result<Self, ScanError> {
                Ok(match event {
                    $(stringify!($event) => HookEventInput::$event($input::decode(text)?),)*
                    _ => HookEventInput::Unknown(JsonText::of(text)),
                })
            }
        }
    };
}

hook_events! {
    /// Before a tool runs.
    PreToolUse => PreToolUseInput {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
    }
    /// After a tool ran.
    PostToolUse => PostToolUseInput {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// What it gave back.
        tool_response: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// How long it ran, in milliseconds, prompts and hooks not counted.
        duration_ms: Option<f64>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
    }
    /// After a tool failed.
    PostToolUseFailure => PostToolUseFailureInput {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// What went wrong.
        error: Cow<'a, str>,
        /// Whether an interrupt ended it.
        is_interrupt: Option<bool>,
        /// How long it ran, in milliseconds.
        duration_ms: Option<f64>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
    }
    /// After all tool calls of one reply, before the model is asked again.
    PostToolBatch => PostToolBatchInput {
        /// The calls.
        tool_calls: Vec<BatchedToolCall<'a>>,
    }
    /// A notification for the user.
    Notification => NotificationInput {
        /// Its text.
        message: Cow<'a, str>,
        /// Its headline.
        title: Option<Cow<'a, str>>,
        /// Its kind.
        notification_type: Cow<'a, str>,
    }
    /// A prompt arrived, before the model sees it. Unanswered, the CLI waits 30 s.
    UserPromptSubmit => UserPromptSubmitInput {
        /// The prompt's text.
        prompt: Cow<'a, str>,
        /// Who wrote it: `user`, `sdk`, `system`, …
        source: Option<Cow<'a, str>>,
        /// The session's title.
        session_title: Option<Cow<'a, str>>,
    }
    /// A slash command or MCP prompt is expanded.
    UserPromptExpansion => UserPromptExpansionInput {
        /// `slash_command` or `mcp_prompt`.
        expansion_type: Cow<'a, str>,
        /// The command.
        command_name: Cow<'a, str>,
        /// Its arguments.
        command_args: Cow<'a, str>,
        /// Where the command comes from.
        command_source: Option<Cow<'a, str>>,
        /// The prompt.
        prompt: Cow<'a, str>,
    }
    /// A session started. Callbacks only get later starts: after a compaction or `/clear`.
    SessionStart => SessionStartInput {
        /// `startup`, `resume`, `clear`, `compact` or `fork`.
        source: Cow<'a, str>,
        /// The model.
        model: Option<Cow<'a, str>>,
        /// The session's title.
        session_title: Option<Cow<'a, str>>,
        /// Resume, fork: seconds since the last reply.
        seconds_since_last_response: Option<f64>,
        /// Resume, fork: tokens of the last reply's context.
        context_tokens: Option<f64>,
        /// Resume, fork: whether the prompt cache has probably expired.
        prompt_cache_likely_expired: Option<bool>,
        /// Resume, fork: what filling the cache again would cost.
        estimated_cache_write_usd: Option<f64>,
    }
    /// A session ended. Callbacks only get ends by `/clear`.
    SessionEnd => SessionEndInput {
        /// `clear`, `resume`, `logout`, `prompt_input_exit` or `other`.
        reason: Cow<'a, str>,
    }
    /// The turn is about to end.
    Stop => StopInput {
        /// Whether the turn goes on only because a Stop hook blocked its end before.
        stop_hook_active: bool,
        /// The text of the last reply.
        last_assistant_message: Option<Cow<'a, str>>,
        /// Background work still running.
        background_tasks: Option<JsonText<'a>>,
        /// Timers that will wake the session.
        session_crons: Option<JsonText<'a>>,
    }
    /// The turn ended on an API error; `Stop` does not come then.
    StopFailure => StopFailureInput {
        /// The kind of error.
        error: Cow<'a, str>,
        /// More about it.
        error_details: Option<Cow<'a, str>>,
        /// The text of the last reply.
        last_assistant_message: Option<Cow<'a, str>>,
    }
    /// A subagent started.
    SubagentStart => SubagentStartInput {
        /// The subagent.
        agent_id: Cow<'a, str>,
        /// Its type.
        agent_type: Cow<'a, str>,
    }
    /// A subagent is about to end. A compaction fires it too.
    SubagentStop => SubagentStopInput {
        /// The subagent.
        agent_id: Cow<'a, str>,
        /// Its type.
        agent_type: Cow<'a, str>,
        /// The subagent's transcript file.
        agent_transcript_path: Cow<'a, str>,
        /// Whether it goes on only because a hook blocked its end before.
        stop_hook_active: bool,
        /// The text of its last reply.
        last_assistant_message: Option<Cow<'a, str>>,
        /// Background work still running.
        background_tasks: Option<JsonText<'a>>,
        /// Timers that will wake the session.
        session_crons: Option<JsonText<'a>>,
    }
    /// The conversation is about to be compacted.
    PreCompact => PreCompactInput {
        /// `manual` or `auto`.
        trigger: Cow<'a, str>,
        /// What the user wants kept.
        custom_instructions: Option<Cow<'a, str>>,
    }
    /// The conversation was compacted.
    PostCompact => PostCompactInput {
        /// `manual` or `auto`.
        trigger: Cow<'a, str>,
        /// The summary that stands for the conversation now.
        compact_summary: Cow<'a, str>,
    }
    /// The model is about to be changed.
    PreModelSwitch => PreModelSwitchInput {
        /// The model in use.
        from_model: Cow<'a, str>,
        /// The model asked for, resolved.
        to_model: Cow<'a, str>,
        /// What was asked for; null for the default.
        requested_model: Option<Cow<'a, str>>,
        /// `command`, `picker` or `sdk`.
        source: Cow<'a, str>,
        /// Tokens the next request sends again.
        context_tokens: Option<f64>,
        /// Whether a warm prompt cache would be lost.
        prompt_cache_warm: Option<bool>,
        /// `5m` or `1h`.
        cache_ttl: Option<Cow<'a, str>>,
        /// What filling the new model's cache would cost.
        estimated_cache_write_usd: Option<f64>,
        /// Where the price is from: `configured`, `catalog` or `default`.
        pricing: Option<Cow<'a, str>>,
    }
    /// The model was changed.
    PostModelSwitch => PostModelSwitchInput {
        /// The model before.
        from_model: Cow<'a, str>,
        /// The model now.
        to_model: Cow<'a, str>,
        /// What was asked for; null for the default.
        requested_model: Option<Cow<'a, str>>,
        /// `command`, `picker`, `sdk`, `auto` or `resume`.
        source: Cow<'a, str>,
        /// Tokens the next request sends again.
        context_tokens: Option<f64>,
        /// Whether a warm prompt cache was lost.
        prompt_cache_warm: Option<bool>,
        /// `5m` or `1h`.
        cache_ttl: Option<Cow<'a, str>>,
        /// What filling the new model's cache costs.
        estimated_cache_write_usd: Option<f64>,
        /// Where the price is from: `configured`, `catalog` or `default`.
        pricing: Option<Cow<'a, str>>,
    }
    /// A permission is asked for, at the same time as `can_use_tool`: whoever decides first wins.
    PermissionRequest => PermissionRequestInput {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// Updates that would spare the question next time.
        permission_suggestions: Option<JsonText<'a>>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
    }
    /// A tool call was denied.
    PermissionDenied => PermissionDeniedInput {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// Why.
        reason: Cow<'a, str>,
        /// Where an MCP tool comes from.
        mcp_server: Option<McpServerProvenance<'a>>,
    }
    /// The setup of a project runs.
    Setup => SetupInput {
        /// `init` or `maintenance`.
        trigger: Cow<'a, str>,
    }
    /// A teammate has nothing to do.
    TeammateIdle => TeammateIdleInput {
        /// The teammate.
        teammate_name: Cow<'a, str>,
        /// Its team.
        team_name: Cow<'a, str>,
    }
    /// A task was put on the task list.
    TaskCreated => TaskCreatedInput {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its headline.
        task_subject: Cow<'a, str>,
        /// What is to be done.
        task_description: Option<Cow<'a, str>>,
        /// The teammate.
        teammate_name: Option<Cow<'a, str>>,
        /// Its team.
        team_name: Option<Cow<'a, str>>,
    }
    /// A task of the task list was done.
    TaskCompleted => TaskCompletedInput {
        /// The task.
        task_id: Cow<'a, str>,
        /// Its headline.
        task_subject: Cow<'a, str>,
        /// What was to be done.
        task_description: Option<Cow<'a, str>>,
        /// The teammate.
        teammate_name: Option<Cow<'a, str>>,
        /// Its team.
        team_name: Option<Cow<'a, str>>,
    }
    /// An MCP server asks the user, before the host is asked.
    Elicitation => ElicitationInput {
        /// The server.
        mcp_server_name: Cow<'a, str>,
        /// Its question.
        message: Cow<'a, str>,
        /// `form` or `url`.
        mode: Option<Cow<'a, str>>,
        /// The address, in `url` mode.
        url: Option<Cow<'a, str>>,
        /// The elicitation's id, in `url` mode.
        elicitation_id: Option<Cow<'a, str>>,
        /// JSON Schema of the answer, in `form` mode.
        requested_schema: Option<JsonText<'a>>,
    }
    /// The user's answer to an MCP server, before it is sent.
    ElicitationResult => ElicitationResultInput {
        /// The server.
        mcp_server_name: Cow<'a, str>,
        /// The elicitation's id.
        elicitation_id: Option<Cow<'a, str>>,
        /// `form` or `url`.
        mode: Option<Cow<'a, str>>,
        /// `accept`, `decline` or `cancel`.
        action: Cow<'a, str>,
        /// What the user filled in.
        content: Option<JsonText<'a>>,
    }
    /// A settings file changed.
    ConfigChange => ConfigChangeInput {
        /// `user_settings`, `project_settings`, `local_settings`, `policy_settings` or `skills`.
        source: Cow<'a, str>,
        /// The file.
        file_path: Option<Cow<'a, str>>,
    }
    /// A worktree is to be created.
    WorktreeCreate => WorktreeCreateInput {
        /// Its name.
        name: Cow<'a, str>,
    }
    /// A worktree is to be removed.
    WorktreeRemove => WorktreeRemoveInput {
        /// Its folder.
        worktree_path: Cow<'a, str>,
    }
    /// A file of instructions (CLAUDE.md) was loaded.
    InstructionsLoaded => InstructionsLoadedInput {
        /// The file.
        file_path: Cow<'a, str>,
        /// `User`, `Project`, `Local` or `Managed`.
        memory_type: Cow<'a, str>,
        /// `session_start`, `nested_traversal`, `path_glob_match`, `include` or `compact`.
        load_reason: Cow<'a, str>,
        /// The patterns that matched.
        globs: Option<Vec<Cow<'a, str>>>,
        /// The file whose reading made it load.
        trigger_file_path: Option<Cow<'a, str>>,
        /// The file that includes it.
        parent_file_path: Option<Cow<'a, str>>,
    }
    /// The working directory changed.
    CwdChanged => CwdChangedInput {
        /// Before.
        old_cwd: Cow<'a, str>,
        /// Now.
        new_cwd: Cow<'a, str>,
    }
    /// A watched file changed.
    FileChanged => FileChangedInput {
        /// The file.
        file_path: Cow<'a, str>,
        /// `change`, `add` or `unlink`.
        event: Cow<'a, str>,
    }
    /// A working directory was added.
    DirectoryAdded => DirectoryAddedInput {
        /// The directory.
        directory: Cow<'a, str>,
        /// `slash_command` or `register_repo_root`.
        source: Cow<'a, str>,
    }
    /// A reply's next lines are about to be shown.
    MessageDisplay => MessageDisplayInput {
        /// The turn.
        turn_id: Cow<'a, str>,
        /// The message, the same for all its parts.
        message_id: Cow<'a, str>,
        /// The part's number, from 0.
        index: u64,
        /// Whether it is the message's last part.
        is_final as "final": bool,
        /// The new lines.
        delta: Cow<'a, str>,
    }
    /// A shell command inside a skill's text is about to run.
    PreSkillShellCommand => PreSkillShellCommandInput {
        /// The shell tool.
        tool_name: Cow<'a, str>,
        /// An object with `command`.
        tool_input: JsonText<'a>,
        /// The command's id; it names no tool call of the transcript.
        tool_use_id: Cow<'a, str>,
        /// The skill or command.
        command_name: Cow<'a, str>,
        /// Where it comes from.
        command_source: Option<Cow<'a, str>>,
        /// `user`, `claude` or `other`.
        invoked_by: Cow<'a, str>,
    }
}

view! {
    /// One call of a `PostToolBatch` event.
    pub struct BatchedToolCall {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// Its input.
        tool_input: JsonText<'a>,
        /// The id of the tool_use block.
        tool_use_id: Cow<'a, str>,
        /// What it gave back.
        tool_response: Option<JsonText<'a>>,
    }
}
