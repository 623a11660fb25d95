//! `result`: the end of a turn (`protocol.md §5.1`).

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::conversation::MessageOrigin;
use super::usage::{ModelUsage, Usage};
use crate::json::JsonText;
use crate::view::{view, Read};

view! {
    /// `result`: how a turn ended and what it cost.
    pub struct ResultMessage {
        /// `success`, `error_during_execution`, `error_max_turns`, `error_max_budget_usd` or
        /// `error_max_structured_output_retries`. A `success` may be an error; see
        /// [`error_text`](ResultMessage::error_text).
        subtype: Cow<'a, str>,
        /// Whether the turn failed.
        is_error: bool,
        /// The final text; of an API error, its text. Only with `success`.
        result: Option<Cow<'a, str>>,
        /// What went wrong. Only with the other subtypes.
        errors [default]: Vec<Cow<'a, str>>,
        /// Why the turn ended: `completed`, `max_turns`, `api_error`, `aborted_streaming`,
        /// `aborted_tools`, `hook_stopped`, `tool_deferred`, `budget_exhausted`, …; absent for local
        /// commands and prompts that a hook blocked.
        terminal_reason: Option<Cow<'a, str>>,
        /// Why the model stopped.
        stop_reason: Option<Cow<'a, str>>,
        /// The API error's HTTP status.
        api_error_status: Option<u64>,
        /// The API error's type.
        api_error_type: Option<Cow<'a, str>>,
        /// The session.
        session_id: Option<Cow<'a, str>>,
        /// The message's own id.
        uuid: Option<Cow<'a, str>>,
        /// How long the turn took, in milliseconds.
        duration_ms [default]: u64,
        /// How long the API took, in milliseconds.
        duration_api_ms [default]: u64,
        /// Model calls of the turn.
        num_turns [default]: u64,
        /// Cost in US dollars, a running total of the process and of the resumed session.
        total_cost_usd [default]: f64,
        /// Tokens of this turn.
        usage: Option<Usage<'a>>,
        /// Running totals by model.
        model_usage as "modelUsage" [default]: BTreeMap<String, ModelUsage<'a>>,
        /// The same since the last result; see
        /// [`model_usage_since_last`](ResultMessage::model_usage_since_last).
        model_usage_since_last_result: Option<JsonText<'a>>,
        /// Tool calls that were denied.
        permission_denials [default]: Vec<PermissionDenial<'a>>,
        /// The answer by the host's JSON Schema.
        structured_output: Option<JsonText<'a>>,
        /// The tool call at which the turn was put off.
        deferred_tool_use: Option<DeferredToolUse<'a>>,
        /// Prompts that still wait.
        queued_turn_count: Option<u64>,
        /// The number of this result in the process.
        result_index: Option<u64>,
        /// Who asked for the turn, when it was no prompt of the host.
        origin: Option<MessageOrigin<'a>>,
        /// The prompt.
        user_message_uuid: Option<Cow<'a, str>>,
        /// All prompts of the turn.
        user_message_uuids [default]: Vec<Cow<'a, str>>,
        /// Why a turn was taken up again.
        resume_reason: Option<Cow<'a, str>>,
        /// The local command that was the turn, such as `clear`.
        local_command: Option<Cow<'a, str>>,
        /// Why the CLI could not start.
        startup_failure_reason: Option<Cow<'a, str>>,
        /// The configuration file that is invalid.
        invalid_config_file: Option<JsonText<'a>>,
        /// Time to the first token, in milliseconds.
        ttft_ms: Option<u64>,
        /// Time to the first streamed event, in milliseconds.
        ttft_stream_ms: Option<u64>,
        /// Time to the API request, in milliseconds.
        time_to_request_ms: Option<u64>,
        /// Time to the first content written here, in milliseconds.
        first_content_frame_ms: Option<u64>,
        /// What subagents did.
        subagent_stats: Option<JsonText<'a>>,
        /// Stops for safety.
        safety_stops: Option<u64>,
        /// API messages that were begun.
        begun_message_ids [default]: Vec<Cow<'a, str>>,
        /// `off`, `cooldown` or `on`.
        fast_mode_state: Option<Cow<'a, str>>,
        /// Why fast mode is off.
        fast_mode_disabled_reason: Option<Cow<'a, str>>,
        /// When the credential expires (ISO 8601).
        credential_expires_at: Option<Cow<'a, str>>,
    }
}

view! {
    /// A tool call that was denied.
    pub struct PermissionDenial {
        /// The tool.
        tool_name: Cow<'a, str>,
        /// The call.
        tool_use_id: Cow<'a, str>,
        /// The arguments.
        tool_input: JsonText<'a>,
    }
}

view! {
    /// A tool call that waits for a later process.
    pub struct DeferredToolUse {
        /// The call.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// The arguments.
        input: JsonText<'a>,
    }
}

/// Begins the line that the CLI puts into `errors` for whoever debugs it.
const DIAGNOSTIC: &str = "[ede_diagnostic]";

impl<'a> ResultMessage<'a> {
    /// Whether the turn failed: `is_error`, which an API failure sets although its subtype is
    /// `success`, or any other subtype.
    pub fn failed(&self) -> bool {
        self.is_error || self.subtype != "success"
    }

    /// Whether the API failed, and not the turn: a `success` with `is_error`.
    pub fn is_api_error(&self) -> bool {
        self.is_error && self.subtype == "success"
    }

    /// What each model used since the last result; `None` when the CLI does not tell.
    pub fn model_usage_since_last(&self) -> Option<BTreeMap<String, ModelUsage<'a>>> {
        Read::read(self.model_usage_since_last_result?.as_str())
    }

    /// Whether the turn was interrupted.
    pub fn interrupted(&self) -> bool {
        matches!(
            self.terminal_reason.as_deref(),
            Some("aborted_streaming" | "aborted_tools")
        )
    }

    /// What to tell the user of a failed turn; `None` for a good one. Never empty.
    ///
    /// That is the text of `errors`, a line each, without the diagnostic that an interrupt leaves
    /// there; else `result`; else a sentence for the reason or the subtype.
    pub fn error_text(&self) -> Option<Cow<'a, str>> {
        if !self.failed() {
            return None;
        }
        let mut text = Cow::Borrowed("");
        let errors = self.errors.iter().filter(|error| {
            let error = error.trim();
            !error.is_empty() && !error.starts_with(DIAGNOSTIC)
        });
        for error in errors {
            if text.is_empty() {
                text = error.clone();
            } else {
                let text = text.to_mut();
                text.push('\n');
                text.push_str(error);
            }
        }
        if text.is_empty() {
            text = self.result.clone().unwrap_or_default();
        }
        if text.trim().is_empty() {
            text = match self.sentence() {
                Some(sentence) => Cow::Borrowed(sentence),
                None => self.reason(),
            };
        }
        Some(text)
    }

    fn sentence(&self) -> Option<&'static str> {
        if self.interrupted() {
            return Some("The turn was interrupted.");
        }
        Some(match &*self.subtype {
            "error_max_turns" => "The turn reached its limit of model calls.",
            "error_max_budget_usd" => "The session reached its budget.",
            "error_max_structured_output_retries" => "The model gave no valid structured output.",
            _ => return None,
        })
    }

    fn reason(&self) -> Cow<'a, str> {
        let reason = self.terminal_reason.as_ref().unwrap_or(&self.subtype);
        match &**reason {
            "" | "success" | "completed" => Cow::Borrowed("The turn failed."),
            reason => Cow::Owned(alloc::format!("The turn failed: {reason}.")),
        }
    }
}
