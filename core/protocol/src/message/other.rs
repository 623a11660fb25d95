//! Messages of other types (`protocol.md §5.3`).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::json::JsonText;
use crate::view::view;

view! {
    /// `command_lifecycle`: what becomes of a prompt that had a `uuid` (`protocol.md §4.7`).
    pub struct CommandLifecycle {
        /// The prompt.
        command_uuid: Cow<'a, str>,
        /// `queued`, `started`, `completed`, `cancelled`, `discarded` or `refused`.
        state: Cow<'a, str>,
        /// What woke the session: `loop_wakeup` or `schedule_wakeup`; with `started`.
        wakeup_source: Option<Cow<'a, str>>,
        /// When a `loop_wakeup` was due, in milliseconds of the Unix epoch.
        scheduled_for: Option<u64>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `conversation_reset`: after `/clear` and the like. The session id changes with the next
    /// `init`, and that is not `new_conversation_id`.
    pub struct ConversationReset {
        /// The new conversation.
        new_conversation_id: Cow<'a, str>,
        /// `clear`, `plan_mode_exit`, `fresh_session` or `onboarding`.
        trigger: Option<Cow<'a, str>>,
        /// The prompt that did it.
        user_message_uuid: Option<Cow<'a, str>>,
        /// When (ISO 8601).
        timestamp: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `transcript_mirror`: lines written to a transcript file, for a session store
    /// (`protocol.md §10`).
    pub struct TranscriptMirror {
        /// The file.
        file_path as "filePath": Cow<'a, str>,
        /// The lines.
        entries: Vec<JsonText<'a>>,
    }
}

view! {
    /// `tool_progress`: a tool or an unanswered hook is still at it.
    pub struct ToolProgress {
        /// The call, with `-heartbeat-N` behind it in a heartbeat; see
        /// [`call_id`](ToolProgress::call_id).
        tool_use_id: Cow<'a, str>,
        /// The tool.
        tool_name: Cow<'a, str>,
        /// In a heartbeat the call or hook run itself, else the call whose subagent called.
        parent_tool_use_id: Option<Cow<'a, str>>,
        /// How long it has run, in seconds.
        elapsed_time_seconds [default]: f64,
        /// Whether it is only a sign of life, every 30 s.
        heartbeat [default]: bool,
        /// The task that it became.
        task_id: Option<Cow<'a, str>>,
        /// The subagent's type.
        subagent_type: Option<Cow<'a, str>>,
        /// An API request of the subagent that is tried again: `agent_id`, `attempt`, ….
        subagent_retry: Option<JsonText<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

impl<'a> ToolProgress<'a> {
    /// The tool call or hook run, also in a heartbeat.
    pub fn call_id(&self) -> &str {
        match &self.parent_tool_use_id {
            Some(call) if self.heartbeat && self.tool_use_id.contains("-heartbeat-") => call,
            _ => &self.tool_use_id,
        }
    }
}

view! {
    /// `auth_status`: how logging in goes.
    pub struct AuthStatus {
        /// Whether it is going on.
        is_authenticating as "isAuthenticating" [default]: bool,
        /// Lines for the user.
        output [default]: Vec<Cow<'a, str>>,
        /// What went wrong.
        error: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `rate_limit_event`, with logins of claude.ai only.
    pub struct RateLimitEvent {
        /// The limit.
        rate_limit_info [default]: RateLimitInfo<'a>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A rate limit of claude.ai.
    pub struct RateLimitInfo {
        /// `allowed`, `allowed_warning` or `rejected`.
        status: Cow<'a, str>,
        /// When it starts anew, in seconds of the Unix epoch.
        resets_at as "resetsAt": Option<f64>,
        /// `five_hour`, `seven_day`, `seven_day_opus`, `seven_day_sonnet`, `overage`, ….
        rate_limit_type as "rateLimitType": Option<Cow<'a, str>>,
        /// How much of it is used.
        utilization: Option<f64>,
        /// The state of paid overage, in the words of `status`.
        overage_status as "overageStatus": Option<Cow<'a, str>>,
        /// When overage starts anew, in seconds of the Unix epoch.
        overage_resets_at as "overageResetsAt": Option<f64>,
        /// Why there is no overage.
        overage_disabled_reason as "overageDisabledReason": Option<Cow<'a, str>>,
        /// Whether overage is being used.
        is_using_overage as "isUsingOverage": Option<bool>,
        /// Whether overage is in use.
        overage_in_use as "overageInUse": Option<bool>,
        /// Whether overage is switched on.
        overage_enabled as "overageEnabled": Option<bool>,
        /// The threshold that was passed.
        surpassed_threshold as "surpassedThreshold": Option<f64>,
        /// `service`, `channel` or `group_pool`.
        limit_scope as "limitScope": Option<Cow<'a, str>>,
        /// What went wrong, such as `credits_required`.
        error_code as "errorCode": Option<Cow<'a, str>>,
        /// Whether the user can buy credits.
        can_user_purchase_credits as "canUserPurchaseCredits": Option<bool>,
        /// Whether the user has a saved means of payment.
        has_chargeable_saved_payment_method as "hasChargeableSavedPaymentMethod": Option<bool>,
    }
}

view! {
    /// `tool_use_summary`: what some tool calls did.
    pub struct ToolUseSummary {
        /// The summary.
        summary: Cow<'a, str>,
        /// The calls.
        preceding_tool_use_ids [default]: Vec<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `prompt_suggestion`: what the user may want to say next.
    pub struct PromptSuggestion {
        /// The prompt.
        suggestion: Cow<'a, str>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `active_goal`: the goal that the session works towards.
    pub struct ActiveGoal {
        /// The goal; `None` when there is none any more.
        value: Option<Goal<'a>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A goal.
    pub struct Goal {
        /// When it is reached.
        condition: Cow<'a, str>,
        /// How often it was not.
        iterations [default]: u64,
        /// When it was set, in milliseconds of the Unix epoch.
        set_at [default]: u64,
        /// Tokens used before.
        tokens_at_start [default]: u64,
        /// Why it was not reached the last time.
        last_reason: Option<Cow<'a, str>>,
    }
}

view! {
    /// `autocompact_state`: when the context will be compacted. Not in the official listing.
    pub struct AutocompactState {
        /// The state.
        value [default]: Autocompact<'a>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// When the context will be compacted.
    pub struct Autocompact {
        /// Whether it will be at all.
        enabled [default]: bool,
        /// The window in tokens.
        effective_window [default]: u64,
        /// The tokens at which it happens.
        threshold [default]: u64,
        /// Whether it happens at the threshold.
        enforced [default]: bool,
        /// What set the window: `env`, `settings`, `model-default`, ….
        source: Cow<'a, str>,
    }
}

view! {
    /// `queued_notification`: a notification of the server that waits for the model. Not in the
    /// official listing.
    pub struct QueuedNotification {
        /// The notification.
        notification [default]: ServerNotification<'a>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// A notification of the server.
    pub struct ServerNotification {
        /// Its id; it may come more than once.
        notification_id: Cow<'a, str>,
        /// Where it comes from: `github_webhook`, `trigger_fire`, `mcp_send_message`, ….
        origin: Cow<'a, str>,
        /// Its text.
        content: Cow<'a, str>,
        /// `now`, `next` or `later`.
        priority: Cow<'a, str>,
        /// When it was queued (RFC 3339).
        queued_at: Cow<'a, str>,
        /// Why a trigger fired.
        fire_reason: Option<Cow<'a, str>>,
    }
}

view! {
    /// `keep_alive`: to be ignored.
    pub struct KeepAlive {
        /// A mark of the start-up, when an environment variable asks for it (`protocol.md §3`).
        startup_mark: Option<JsonText<'a>>,
    }
}

view! {
    /// A message of a type or subtype not known here.
    pub struct Unknown {
        /// Its type.
        message_type as "type": Cow<'a, str>,
        /// Its subtype.
        subtype: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
    }
}
