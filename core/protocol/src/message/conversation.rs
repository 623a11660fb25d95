//! `assistant` and `user` messages (`protocol.md §5.1`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::content::Content;
use super::usage::Usage;
use crate::json::JsonText;
use crate::view::view;

view! {
    /// `assistant`: one content block of the model's reply.
    pub struct AssistantMessage {
        /// The reply, in the shape of the Messages API.
        message: ApiMessage<'a>,
        /// The tool call whose subagent speaks; `None` in the main conversation.
        parent_tool_use_id: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
        /// When it was written (ISO 8601).
        timestamp: Option<Cow<'a, str>>,
        /// The API request it answers.
        request_id: Option<Cow<'a, str>>,
        /// What went wrong: `authentication_failed`, `rate_limit`, `overloaded`, `invalid_request`,
        /// `server_error`, `unknown`, …; the text is then the error's.
        error: Option<Cow<'a, str>>,
        /// Whether the text is an API error's.
        is_api_error_message [default]: bool,
        /// The API error's HTTP status.
        api_error_status: Option<u64>,
        /// The API error's type.
        api_error_type: Option<Cow<'a, str>>,
        /// Whether the reply was cut off.
        aborted [default]: bool,
        /// The prompt it answers; on the first message of a turn.
        user_message_uuid: Option<Cow<'a, str>>,
        /// All prompts it answers.
        user_message_uuids [default]: Vec<Cow<'a, str>>,
        /// Why a turn was taken up again.
        resume_reason: Option<Cow<'a, str>>,
        /// Whether it goes on from thinking that was cut off.
        resumed_from_incomplete_thinking [default]: bool,
        /// Messages that it replaces.
        supersedes [default]: Vec<Cow<'a, str>>,
        /// The subagent that speaks.
        agent_id: Option<Cow<'a, str>>,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// The subagent's task.
        task_description: Option<Cow<'a, str>>,
        /// Names to show for the MCP tools it calls.
        tool_use_meta [default]: Vec<ToolUseMeta<'a>>,
        /// How long the model thought, in milliseconds.
        thinking_duration_ms: Option<u64>,
        /// How thinking is shown, such as `updates`.
        thinking_display: Option<Cow<'a, str>>,
        /// The output of a local command, when that is what the message is.
        local_command_source: Option<Cow<'a, str>>,
        /// The local command: `command` and `args`.
        local_command_run: Option<JsonText<'a>>,
        /// How it ended: `kind`.
        local_command_outcome: Option<JsonText<'a>>,
        /// What fills the context window, after `/context`.
        context_usage: Option<JsonText<'a>>,
        /// Cost and limits, after `/usage`.
        usage_report: Option<JsonText<'a>>,
    }
}

view! {
    /// A reply of the Messages API.
    pub struct ApiMessage {
        /// Its id; the messages that carry the blocks of one reply share it.
        id: Option<Cow<'a, str>>,
        /// `assistant`
        role: Option<Cow<'a, str>>,
        /// The model.
        model: Option<Cow<'a, str>>,
        /// The content.
        content [default]: Content<'a>,
        /// Why the model stopped; not yet known in an `assistant` message.
        stop_reason: Option<Cow<'a, str>>,
        /// The stop sequence that was met.
        stop_sequence: Option<Cow<'a, str>>,
        /// More on why it stopped.
        stop_details: Option<JsonText<'a>>,
        /// Tokens used; not final in an `assistant` message.
        usage: Option<Usage<'a>>,
        /// The code execution container.
        container: Option<JsonText<'a>>,
        /// What was taken out of the context.
        context_management: Option<JsonText<'a>>,
        /// Diagnostics of the API.
        diagnostics: Option<JsonText<'a>>,
    }
}

view! {
    /// How a called MCP tool is shown.
    pub struct ToolUseMeta {
        /// The call.
        id: Cow<'a, str>,
        /// The tool's name to show.
        display_name: Option<Cow<'a, str>>,
        /// The server's name to show.
        server_display_name: Option<Cow<'a, str>>,
        /// The tool's name on its server.
        tool_name: Option<Cow<'a, str>>,
    }
}

view! {
    /// `user`: tool results, and prompts that the CLI repeats or makes itself.
    pub struct UserMessage {
        /// Role and content.
        message: UserContent<'a>,
        /// The tool call whose subagent is spoken to; `None` in the main conversation.
        parent_tool_use_id: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
        /// When it was written (ISO 8601).
        timestamp: Option<Cow<'a, str>>,
        /// Whether the CLI made it: feedback of a Stop hook, a reminder, a continuation.
        is_synthetic as "isSynthetic" [default]: bool,
        /// Whether it repeats a prompt of the host.
        is_replay as "isReplay" [default]: bool,
        /// What the tool itself gave: its own object, a list for an MCP tool, or an error text.
        tool_use_result: Option<JsonText<'a>>,
        /// How the calls were permitted.
        tool_result_meta [default]: Vec<ToolResultMeta<'a>>,
        /// Who speaks.
        origin: Option<MessageOrigin<'a>>,
        /// `now`, `next` or `later`.
        priority: Option<Cow<'a, str>>,
        /// Whether the model is asked; absent means yes.
        should_query as "shouldQuery": Option<bool>,
        /// Whether the host wrote the text itself.
        client_composed [default]: bool,
        /// The subagent that is spoken to.
        agent_id: Option<Cow<'a, str>>,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// The subagent's task.
        task_description: Option<Cow<'a, str>>,
        /// Files that came with a repeated prompt.
        file_attachments: Option<JsonText<'a>>,
        /// What the user pasted.
        pasted_content: Option<JsonText<'a>>,
        /// Pasted texts that stand in the prompt.
        inline_pastes [default]: Vec<Cow<'a, str>>,
        /// The reply that was refused, when this asks again.
        refused_message_id: Option<Cow<'a, str>>,
        /// Whether this asks again after a refusal.
        refusal_retry [default]: bool,
    }
}

view! {
    /// Role and content of a `user` message.
    pub struct UserContent {
        /// `user`
        role: Option<Cow<'a, str>>,
        /// The content.
        content [default]: Content<'a>,
    }
}

view! {
    /// How a tool call was permitted.
    pub struct ToolResultMeta {
        /// The call.
        id: Cow<'a, str>,
        /// The decision.
        permission_decision: Option<PermissionDecision<'a>>,
    }
}

view! {
    /// A decision on a tool call.
    pub struct PermissionDecision {
        /// `accept` or `reject`.
        decision: Cow<'a, str>,
        /// Who decided: `config`, `hook`, `user_temporary`, `user_reject`, ….
        source: Option<Cow<'a, str>>,
        /// By what, such as `rule`.
        reason_type: Option<Cow<'a, str>>,
    }
}

view! {
    /// Who a `user` message or a turn comes from.
    pub struct MessageOrigin {
        /// `human`, `channel`, `peer`, `task-notification`, `coordinator`, `unclassified`,
        /// `observer`, `auto-continuation`, `observer-activity`, ….
        kind: Cow<'a, str>,
        /// The channel's server.
        server: Option<Cow<'a, str>>,
        /// The peer or observer.
        from: Option<Cow<'a, str>>,
        /// Whether the sender asks before it runs tools: `bypass` or `prompting`.
        from_mode as "fromMode": Option<Cow<'a, str>>,
        /// The sender's name to show.
        name: Option<Cow<'a, str>>,
        /// The sender's session.
        from_session as "fromSession": Option<Cow<'a, str>>,
        /// The sender's task.
        sender_task_id as "senderTaskId": Option<Cow<'a, str>>,
        /// What the sender said, without its envelope.
        body: Option<Cow<'a, str>>,
        /// The process at the other end of the messaging socket.
        verified_peer_pid as "verifiedPeerPid": Option<u64>,
        /// What kind of task notification: `scheduled-trigger`, `peer-send-message`, ….
        subkind: Option<Cow<'a, str>>,
        /// Why a scheduled task fired.
        fire_reason as "fireReason": Option<Cow<'a, str>>,
        /// The run of the task that is notified of.
        run_id as "runId": Option<Cow<'a, str>>,
        /// What made the notification, such as `session-task`.
        producer: Option<Cow<'a, str>>,
    }
}
