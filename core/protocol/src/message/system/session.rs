//! `system` messages about the session and its turns (`protocol.md §5.2`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// `status`: what the CLI is doing.
    pub struct Status {
        /// `compacting`, `requesting`, or `None` for nothing of the kind.
        status: Option<Cow<'a, str>>,
        /// The permission mode, when it has changed.
        permission_mode as "permissionMode": Option<Cow<'a, str>>,
        /// How compaction ended: `success` or `failed`.
        compact_result: Option<Cow<'a, str>>,
        /// Why compaction failed.
        compact_error: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `compact_boundary`: what came before was put into a summary.
    pub struct CompactBoundary {
        /// How it went.
        compact_metadata [default]: CompactMetadata<'a>,
        /// The message that stands before it in the conversation.
        logical_parent_uuid: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// How a compaction went.
    pub struct CompactMetadata {
        /// `manual` or `auto`.
        trigger: Cow<'a, str>,
        /// Tokens in the context before.
        pre_tokens [default]: u64,
        /// Tokens in the context afterwards.
        post_tokens: Option<u64>,
        /// Tokens dropped by all compactions.
        cumulative_dropped_tokens: Option<u64>,
        /// How long it took, in milliseconds.
        duration_ms: Option<u64>,
        /// What was kept: `head_uuid`, `anchor_uuid`, `tail_uuid`.
        preserved_segment: Option<JsonText<'a>>,
        /// What was kept: `anchor_uuid`, `uuids`, `all_uuids`.
        preserved_messages: Option<JsonText<'a>>,
    }
}

view! {
    /// `api_retry`: an API request failed and is tried again.
    pub struct ApiRetry {
        /// The number of this retry.
        attempt [default]: u64,
        /// The most retries there are.
        max_retries [default]: u64,
        /// The pause before it, in milliseconds.
        retry_delay_ms [default]: f64,
        /// The HTTP status; `None` when there was no answer.
        error_status: Option<u64>,
        /// What went wrong, in the words of an `assistant` message's `error`.
        error: Option<Cow<'a, str>>,
        /// How long was waited in vain: `waited_ms`, `retry_wait_ms`.
        no_response: Option<JsonText<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `control_request_progress`: a control request of the host takes its time.
    pub struct ControlRequestProgress {
        /// The request.
        request_id: Cow<'a, str>,
        /// `started` or `api_retry`.
        status: Cow<'a, str>,
        /// The number of the retry.
        attempt: Option<u64>,
        /// The most retries there are.
        max_retries: Option<u64>,
        /// The pause before it, in milliseconds.
        retry_delay_ms: Option<f64>,
        /// The HTTP status.
        error_status: Option<u64>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `session_state_changed`; the CLI sends it when an environment variable asks for it.
    pub struct SessionStateChanged {
        /// `running`, `requires_action` or `idle`.
        state: Cow<'a, str>,
        /// Whether it is meant for the host alone and not for a user.
        sdk_host_only [default]: bool,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `session_title_changed`
    pub struct SessionTitleChanged {
        /// The new title.
        title: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `thinking_tokens`: how much the model has thought.
    pub struct ThinkingTokens {
        /// Tokens so far, estimated.
        estimated_tokens [default]: u64,
        /// Tokens since the last message of this kind.
        estimated_tokens_delta [default]: u64,
        /// The prompt that is answered.
        user_message_uuid: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `model_refusal_fallback`: a model refused and another takes over.
    pub struct ModelRefusalFallback {
        /// `refusal`
        trigger: Cow<'a, str>,
        /// `retry`, `revert` or `sticky`.
        direction: Cow<'a, str>,
        /// `session` or `local`.
        scope: Option<Cow<'a, str>>,
        /// The model that refused.
        original_model: Cow<'a, str>,
        /// The model that takes over.
        fallback_model: Cow<'a, str>,
        /// The API request.
        request_id: Option<Cow<'a, str>>,
        /// What kind of refusal.
        api_refusal_category: Option<Cow<'a, str>>,
        /// Why.
        api_refusal_explanation: Option<Cow<'a, str>>,
        /// Messages that no longer count.
        retracted_message_uuids [default]: Vec<Cow<'a, str>>,
        /// The prompt that was refused.
        refused_user_message_uuid: Option<Cow<'a, str>>,
        /// A text for the user.
        content: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `model_refusal_no_fallback`: a model refused and no other takes over.
    pub struct ModelRefusalNoFallback {
        /// The model that refused.
        original_model: Cow<'a, str>,
        /// The API request.
        request_id: Option<Cow<'a, str>>,
        /// What kind of refusal.
        api_refusal_category: Option<Cow<'a, str>>,
        /// Why.
        api_refusal_explanation: Option<Cow<'a, str>>,
        /// The prompt that was refused.
        refused_user_message_uuid: Option<Cow<'a, str>>,
        /// A text for the user.
        content: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `commands_changed`: all slash commands; replaces what was known.
    pub struct CommandsChanged {
        /// The commands.
        commands: Vec<SlashCommand<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A slash command.
    pub struct SlashCommand {
        /// Its name, without the slash.
        name: Cow<'a, str>,
        /// What it does.
        description: Cow<'a, str>,
        /// What it takes.
        argument_hint as "argumentHint": Cow<'a, str>,
        /// Other names.
        aliases [default]: Vec<Cow<'a, str>>,
        /// Whether it is one of the CLI's own.
        builtin [default]: bool,
    }
}

view! {
    /// `plugin_install`
    pub struct PluginInstall {
        /// `started`, `installed`, `failed` or `completed`.
        status: Cow<'a, str>,
        /// The plugin.
        name: Option<Cow<'a, str>>,
        /// What went wrong.
        error: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `worker_shutting_down`: the CLI's process will end.
    pub struct WorkerShuttingDown {
        /// Why.
        reason: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}
