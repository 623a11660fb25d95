//! The head of a line: what the connection must know of every message, found in one validating pass.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use bytestring::ByteString;

use super::Line;
use crate::json::{self, ScanError};

/// The `type` of a line from the CLI (`protocol.md §3`, `§5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MessageType {
    /// `assistant`
    Assistant,
    /// `user`
    User,
    /// `result`
    Result,
    /// `system`
    System,
    /// `stream_event`
    StreamEvent,
    /// `control_request`
    ControlRequest,
    /// `control_response`
    ControlResponse,
    /// `control_cancel_request`
    ControlCancelRequest,
    /// `keep_alive`
    KeepAlive,
    /// `transcript_mirror`
    TranscriptMirror,
    /// `command_lifecycle`
    CommandLifecycle,
    /// `conversation_reset`
    ConversationReset,
    /// `tool_progress`
    ToolProgress,
    /// `auth_status`
    AuthStatus,
    /// `rate_limit_event`
    RateLimitEvent,
    /// `tool_use_summary`
    ToolUseSummary,
    /// `prompt_suggestion`
    PromptSuggestion,
    /// `active_goal`
    ActiveGoal,
    /// `autocompact_state`
    AutocompactState,
    /// `queued_notification`
    QueuedNotification,
    /// Any other; [`RawMessage::message_type`] has its name.
    Other,
}

impl MessageType {
    /// The type with this name on the wire.
    pub fn of(name: &str) -> MessageType {
        match name {
            "assistant" => MessageType::Assistant,
            "user" => MessageType::User,
            "result" => MessageType::Result,
            "system" => MessageType::System,
            "stream_event" => MessageType::StreamEvent,
            "control_request" => MessageType::ControlRequest,
            "control_response" => MessageType::ControlResponse,
            "control_cancel_request" => MessageType::ControlCancelRequest,
            "keep_alive" => MessageType::KeepAlive,
            "transcript_mirror" => MessageType::TranscriptMirror,
            "command_lifecycle" => MessageType::CommandLifecycle,
            "conversation_reset" => MessageType::ConversationReset,
            "tool_progress" => MessageType::ToolProgress,
            "auth_status" => MessageType::AuthStatus,
            "rate_limit_event" => MessageType::RateLimitEvent,
            "tool_use_summary" => MessageType::ToolUseSummary,
            "prompt_suggestion" => MessageType::PromptSuggestion,
            "active_goal" => MessageType::ActiveGoal,
            "autocompact_state" => MessageType::AutocompactState,
            "queued_notification" => MessageType::QueuedNotification,
            _ => MessageType::Other,
        }
    }
}

/// Why a line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// The text is not one JSON object.
    #[error("not a JSON object: {0}")]
    NotAnObject(#[from] ScanError),
    /// A JSON object whose `type` is missing or not a string.
    #[error("a JSON object without a `type`")]
    NoType,
    /// More than 4 GiB, which the spans cannot address.
    #[error("longer than 4 GiB")]
    TooLong,
}

/// A member of the head: a span of the line, or an index into the texts that had escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    start: u32,
    length: u32,
}

impl Field {
    const ABSENT: Field = Field {
        start: u32::MAX,
        length: u32::MAX,
    };
    /// No member is as long as this, since its line is no longer.
    const OWNED: u32 = u32::MAX - 1;
}

/// The members that route a message; each only when it is a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The type.
    pub kind: MessageType,
    name: Field,
    subtype: Field,
    request_id: Field,
    session_id: Field,
    uuid: Field,
    parent_tool_use_id: Field,
    /// `request` or `response`: raw JSON of the control envelopes.
    body: Field,
    user_message_uuid: Field,
    user_message_uuids: Field,
    origin: Field,
    /// The values of members with escapes.
    owned: Option<Box<[Box<str>]>>,
}

impl Head {
    /// Scans `text`, a whole line. It is valid JSON when this succeeds.
    pub fn scan(text: &str) -> Result<Head, HeadError> {
        if text.len() >= Field::OWNED as usize {
            return Err(HeadError::TooLong);
        }
        let mut head = Head {
            kind: MessageType::Other,
            name: Field::ABSENT,
            subtype: Field::ABSENT,
            request_id: Field::ABSENT,
            session_id: Field::ABSENT,
            uuid: Field::ABSENT,
            parent_tool_use_id: Field::ABSENT,
            body: Field::ABSENT,
            user_message_uuid: Field::ABSENT,
            user_message_uuids: Field::ABSENT,
            origin: Field::ABSENT,
            owned: None,
        };
        let base = text.as_ptr() as usize;
        let span = |value: &str| Field {
            start: (value.as_ptr() as usize - base) as u32,
            length: value.len() as u32,
        };
        let mut owned: Vec<Box<str>> = Vec::new();
        let mut string = |value: &str, escaped: bool| {
            let Some(inner) = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) else {
                return Field::ABSENT;
            };
            if !escaped {
                return span(inner);
            }
            owned.push(Box::from(json::string(value).unwrap_or_default().as_ref()));
            Field {
                start: owned.len() as u32 - 1,
                length: Field::OWNED,
            }
        };
        json::members_and_escapes(text, |key, value, escaped| match key {
            "type" => head.name = string(value, escaped),
            "uuid" => head.uuid = string(value, escaped),
            "subtype" => head.subtype = string(value, escaped),
            "session_id" => head.session_id = string(value, escaped),
            "request_id" => head.request_id = string(value, escaped),
            "parent_tool_use_id" => head.parent_tool_use_id = string(value, escaped),
            "request" | "response" => head.body = span(value),
            "user_message_uuid" => head.user_message_uuid = string(value, escaped),
            "user_message_uuids" => head.user_message_uuids = span(value),
            "origin" => head.origin = span(value),
            _ => {}
        })?;
        head.owned = (!owned.is_empty()).then(|| owned.into_boxed_slice());
        head.kind = MessageType::of(head.get(head.name, text).ok_or(HeadError::NoType)?);
        Ok(head)
    }

    fn get<'a>(&'a self, field: Field, text: &'a str) -> Option<&'a str> {
        let start = field.start as usize;
        match field.length {
            u32::MAX => None,
            Field::OWNED => Some(self.owned.as_ref()?.get(start)?),
            length => text.get(start..start + length as usize),
        }
    }
}

fn without_nul(terminated: &str) -> &str {
    terminated.strip_suffix('\0').unwrap_or(terminated)
}

/// A line that is a message: its head, and the raw JSON it came as.
///
/// Cloning is cheap; the text stays alive as long as one clone does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawMessage {
    /// The line and the NUL that follows it.
    terminated: ByteString,
    head: Head,
}

impl RawMessage {
    /// Reads the head of a line. A line that is not UTF-8 is refused as
    /// [`HeadError::NotAnObject`]; see [`repaired`](RawMessage::repaired).
    pub fn scan(line: Line) -> Result<RawMessage, HeadError> {
        let terminated = ByteString::try_from(line.into_terminated()).map_err(|error| {
            HeadError::NotAnObject(ScanError {
                at: error.valid_up_to(),
                what: "not UTF-8",
            })
        })?;
        let head = Head::scan(without_nul(&terminated))?;
        Ok(RawMessage { terminated, head })
    }

    /// The message in a line with bytes that are not UTF-8, each bad sequence replaced by U+FFFD;
    /// `None` when it is no message even so.
    pub fn repaired(line: &Line) -> Option<RawMessage> {
        let text = String::from_utf8_lossy(line.as_bytes());
        RawMessage::scan(Line::copied_from(text.as_bytes())).ok()
    }

    /// A message from the host's own text.
    pub fn from_text(text: &str) -> Result<RawMessage, HeadError> {
        RawMessage::scan(Line::copied_from(text.as_bytes()))
    }

    /// The raw JSON.
    pub fn json(&self) -> &str {
        without_nul(&self.terminated)
    }

    /// A part of [`json`](RawMessage::json) that stays when this is gone; what is no part of it is
    /// copied.
    pub fn part(&self, text: &str) -> ByteString {
        let all = self.terminated.as_bytes().as_ptr_range();
        let part = text.as_bytes().as_ptr_range();
        match all.start <= part.start && part.end <= all.end {
            true => self.terminated.slice_ref(text),
            false => ByteString::from(text),
        }
    }

    /// The raw JSON, as UTF-8; no copy when nobody else holds the message.
    pub fn into_json(self) -> Vec<u8> {
        let mut bytes = Vec::from(self.terminated.into_bytes());
        bytes.truncate(bytes.strip_suffix(b"\0").map_or(bytes.len(), <[u8]>::len));
        bytes
    }

    /// The raw JSON and a NUL behind it.
    pub fn json_with_nul(&self) -> &[u8] {
        self.terminated.as_bytes()
    }

    /// The type.
    pub fn kind(&self) -> MessageType {
        self.head.kind
    }

    fn get(&self, field: Field) -> Option<&str> {
        self.head.get(field, &self.terminated)
    }

    /// `type`, as it stands.
    pub fn message_type(&self) -> &str {
        self.get(self.head.name).unwrap_or_default()
    }

    /// `subtype`
    pub fn subtype(&self) -> Option<&str> {
        self.get(self.head.subtype)
    }

    /// `request_id`, at the top level.
    pub fn request_id(&self) -> Option<&str> {
        self.get(self.head.request_id)
    }

    /// `session_id`
    pub fn session_id(&self) -> Option<&str> {
        self.get(self.head.session_id)
    }

    /// `uuid`
    pub fn uuid(&self) -> Option<&str> {
        self.get(self.head.uuid)
    }

    /// `parent_tool_use_id`: set on what belongs to a subagent.
    pub fn parent_tool_use_id(&self) -> Option<&str> {
        self.get(self.head.parent_tool_use_id)
    }

    /// JSON text of `request` or `response`, whichever came last.
    pub fn body(&self) -> Option<&str> {
        self.get(self.head.body)
    }

    /// `user_message_uuid`: the prompt that this message answers (`protocol.md §4.7`).
    pub fn user_message_uuid(&self) -> Option<&str> {
        self.get(self.head.user_message_uuid)
    }

    /// JSON text of `user_message_uuids`: all prompts merged into this turn.
    pub fn user_message_uuids(&self) -> Option<&str> {
        self.get(self.head.user_message_uuids)
    }

    /// JSON text of `origin`: who asked for this turn.
    pub fn origin(&self) -> Option<&str> {
        self.get(self.head.origin)
    }

    /// JSON text of the value that an RFC 6901 pointer names.
    pub fn pointer(&self, path: &str) -> Result<Option<&str>, json::PointerError> {
        json::pointer(self.json(), path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn the_head_in_any_key_order() {
        let message = RawMessage::from_text(
            r#" {"duration_api_ms":1,"uuid":"u","type":"result","usage":{"type":"x"},"subtype":"success","session_id":"s"} "#,
        )
        .unwrap();
        assert_eq!(message.kind(), MessageType::Result);
        assert_eq!(message.uuid(), Some("u"));
        assert_eq!(message.subtype(), Some("success"));
        assert_eq!(message.session_id(), Some("s"));
        assert_eq!(message.parent_tool_use_id(), None);
    }

    #[test]
    fn escapes_nulls_and_other_kinds() {
        let message = RawMessage::from_text(
            r#"{"\u0074ype":"\u0061ssistant","subtype":null,"uuid":5,"session_id":"a\ud83d\"","type2":[]}"#,
        )
        .unwrap();
        assert_eq!(message.kind(), MessageType::Assistant);
        assert_eq!(message.subtype(), None);
        assert_eq!(message.uuid(), None);
        assert_eq!(message.session_id(), Some("a\u{fffd}\""));
    }

    #[test]
    fn a_part_outlives_its_message() {
        let message = RawMessage::from_text(r#"{"type":"x","a":{"b":1}}"#).unwrap();
        let inner = message.pointer("/a").unwrap().unwrap();
        let part = message.part(inner);
        assert_eq!(part.as_ptr(), inner.as_ptr(), "no copy");
        let copy = message.part("elsewhere");
        drop(message);
        assert_eq!(part, r#"{"b":1}"#);
        assert_eq!(copy, "elsewhere");
    }

    #[test]
    fn a_message_nobody_else_holds_is_not_copied() {
        let text = format!(r#"{{"type":"x","a":"{}"}}"#, "a".repeat(1000));
        let message = RawMessage::from_text(&text).unwrap();
        let at = message.json().as_ptr();
        let other = message.clone();
        assert_eq!(other.into_json(), text.as_bytes());
        let bytes = message.into_json();
        assert_eq!((bytes.as_ptr(), bytes.as_slice()), (at, text.as_bytes()));
    }

    #[test]
    fn what_is_no_message() {
        for text in ["[]", "null", "3", "\"x\"", "{", "hello", ""] {
            assert!(
                matches!(RawMessage::from_text(text), Err(HeadError::NotAnObject(_))),
                "{text}"
            );
        }
        for text in ["{}", r#"{"type":null}"#, r#"{"type":{"type":"user"}}"#] {
            assert_eq!(
                RawMessage::from_text(text),
                Err(HeadError::NoType),
                "{text}"
            );
        }
    }

    #[test]
    fn bad_bytes_are_replaced() {
        let line = Line::copied_from(b"{\"type\":\"system\",\"x\":\"a\xff\"}");
        assert!(RawMessage::scan(line.clone()).is_err());
        let message = RawMessage::repaired(&line).unwrap();
        assert_eq!(message.pointer("/x"), Ok(Some("\"a\u{fffd}\"")));
        assert_eq!(RawMessage::repaired(&Line::copied_from(b"log \xff")), None);
    }
}
