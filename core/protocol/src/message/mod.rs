//! Typed messages: what the CLI writes, by `type` and `subtype` (`protocol.md §5`).
//!
//! A [`RawMessage`] is a line and its head; [`decode`](RawMessage::decode) looks at the rest of it
//! when somebody asks. A decoded message borrows from the line; what it allocates are a box, lists,
//! and strings that have escapes. Whoever wants to keep it keeps the `RawMessage`, which is cheap to
//! clone.
//!
//! Decoding is tolerant. A type, subtype, block, event or delta that is not known here is
//! `Unknown`, with its JSON. Unknown members are reached with `get`. A member of an unexpected kind
//! reads as absent; a string that the protocol promises is empty when the CLI left it out. Only a
//! message without the member that it is about is an error: see [`DecodeError`].
//!
//! Strings are Unicode: half a surrogate pair, which the CLI writes when it cuts text in the middle
//! of an emoji, reads as U+FFFD. Free-form values (tool arguments, results, …) stay
//! [`JsonText`](crate::json::JsonText), of any size and depth.

mod blocks;
mod content;
mod conversation;
mod other;
mod result;
#[cfg(feature = "schema")]
mod schema;
mod stream;
mod system;
#[cfg(test)]
mod tests;
mod usage;

use alloc::borrow::Cow;
use alloc::boxed::Box;

use crate::framing::{MessageType, RawMessage};
use crate::json::ScanError;

pub use blocks::*;
pub use content::{Block, Blocks, Content};
pub use conversation::*;
pub use other::*;
pub use result::*;
pub use stream::{ApiError, ApiEvent, Delta, MessageDelta, StopDelta, StreamEvent};
pub use system::*;
pub use usage::*;

/// Why a message could not be decoded. Its raw JSON is all there is of it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The text is not one JSON object.
    #[error("not a JSON object: {0}")]
    NotAnObject(#[from] ScanError),
    /// The member that the message is about is missing or of another kind.
    #[error("a message of type {message_type} without a usable `{member}`")]
    Missing {
        /// The message's type.
        message_type: &'static str,
        /// The member.
        member: &'static str,
    },
}

/// A message of the CLI.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "stream events are the many, and they are not to allocate"
)]
pub enum Message<'a> {
    /// `assistant`
    Assistant(Box<AssistantMessage<'a>>),
    /// `user`
    User(Box<UserMessage<'a>>),
    /// `result`
    Result(Box<ResultMessage<'a>>),
    /// `stream_event`
    StreamEvent(StreamEvent<'a>),
    /// `system`
    System(SystemMessage<'a>),
    /// `command_lifecycle`
    CommandLifecycle(Box<CommandLifecycle<'a>>),
    /// `conversation_reset`
    ConversationReset(Box<ConversationReset<'a>>),
    /// `transcript_mirror`
    TranscriptMirror(Box<TranscriptMirror<'a>>),
    /// `tool_progress`
    ToolProgress(Box<ToolProgress<'a>>),
    /// `auth_status`
    AuthStatus(Box<AuthStatus<'a>>),
    /// `rate_limit_event`
    RateLimitEvent(Box<RateLimitEvent<'a>>),
    /// `tool_use_summary`
    ToolUseSummary(Box<ToolUseSummary<'a>>),
    /// `prompt_suggestion`
    PromptSuggestion(Box<PromptSuggestion<'a>>),
    /// `active_goal`
    ActiveGoal(Box<ActiveGoal<'a>>),
    /// `autocompact_state`
    AutocompactState(Box<AutocompactState<'a>>),
    /// `queued_notification`
    QueuedNotification(Box<QueuedNotification<'a>>),
    /// `keep_alive`
    KeepAlive(Box<KeepAlive<'a>>),
    /// Any other type, and the control envelopes, which are no messages.
    Unknown(Box<Unknown<'a>>),
}

impl<'a> Message<'a> {
    /// Decodes the text of a message whose type and subtype are known.
    pub fn decode(
        kind: MessageType,
        subtype: Option<&str>,
        json: &'a str,
    ) -> Result<Self, DecodeError> {
        Ok(match kind {
            MessageType::StreamEvent => {
                let message = StreamEvent::decode(json)?;
                required(message.event_json.is_object(), "stream_event", "event")?;
                Message::StreamEvent(message)
            }
            MessageType::Assistant => {
                let message = AssistantMessage::decode(json)?;
                required(!message.message.json().is_empty(), "assistant", "message")?;
                Message::Assistant(Box::new(message))
            }
            MessageType::User => {
                let message = UserMessage::decode(json)?;
                required(!message.message.json().is_empty(), "user", "message")?;
                Message::User(Box::new(message))
            }
            MessageType::Result => {
                let message = ResultMessage::decode(json)?;
                required(!message.subtype.is_empty(), "result", "subtype")?;
                Message::Result(Box::new(message))
            }
            MessageType::System => Message::System(SystemMessage::decode(subtype, json)?),
            MessageType::TranscriptMirror => {
                let message = TranscriptMirror::decode(json)?;
                required(
                    !message.file_path.is_empty(),
                    "transcript_mirror",
                    "filePath",
                )?;
                Message::TranscriptMirror(Box::new(message))
            }
            MessageType::CommandLifecycle => {
                Message::CommandLifecycle(Box::new(CommandLifecycle::decode(json)?))
            }
            MessageType::ConversationReset => {
                Message::ConversationReset(Box::new(ConversationReset::decode(json)?))
            }
            MessageType::ToolProgress => {
                Message::ToolProgress(Box::new(ToolProgress::decode(json)?))
            }
            MessageType::AuthStatus => Message::AuthStatus(Box::new(AuthStatus::decode(json)?)),
            MessageType::RateLimitEvent => {
                Message::RateLimitEvent(Box::new(RateLimitEvent::decode(json)?))
            }
            MessageType::ToolUseSummary => {
                Message::ToolUseSummary(Box::new(ToolUseSummary::decode(json)?))
            }
            MessageType::PromptSuggestion => {
                Message::PromptSuggestion(Box::new(PromptSuggestion::decode(json)?))
            }
            MessageType::ActiveGoal => Message::ActiveGoal(Box::new(ActiveGoal::decode(json)?)),
            MessageType::AutocompactState => {
                Message::AutocompactState(Box::new(AutocompactState::decode(json)?))
            }
            MessageType::QueuedNotification => {
                Message::QueuedNotification(Box::new(QueuedNotification::decode(json)?))
            }
            MessageType::KeepAlive => Message::KeepAlive(Box::new(KeepAlive::decode(json)?)),
            MessageType::ControlRequest
            | MessageType::ControlResponse
            | MessageType::ControlCancelRequest
            | MessageType::Other => Message::Unknown(Box::new(Unknown::decode(json)?)),
        })
    }

    /// The text that a user sees: that of an assistant message's text blocks, or what a stream event
    /// adds to a text block; empty for any other message.
    ///
    /// With partial messages both come, and the assistant message repeats the stream events' text.
    pub fn visible_text(&self) -> Cow<'a, str> {
        match self {
            Message::Assistant(message) => message.message.content.text(),
            Message::StreamEvent(message) => message.text_delta().cloned().unwrap_or_default(),
            _ => Cow::Borrowed(""),
        }
    }
}

fn required(
    there: bool,
    message_type: &'static str,
    member: &'static str,
) -> Result<(), DecodeError> {
    if there {
        Ok(())
    } else {
        Err(DecodeError::Missing {
            message_type,
            member,
        })
    }
}

impl RawMessage {
    /// Decodes the whole message. It borrows from this one.
    pub fn decode(&self) -> Result<Message<'_>, DecodeError> {
        Message::decode(self.kind(), self.subtype(), self.json())
    }
}
