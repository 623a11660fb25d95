//! `stream_event`: the API's own events while a reply is written (`protocol.md §5.1`).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use super::content::Block;
use super::conversation::ApiMessage;
use super::usage::Usage;
use crate::json::{
    object, scanned_string, string, value_and_escapes, whole, JsonText, ScanError, Step, Visit,
};
use crate::view::{member, view, Read};

/// `stream_event`, only with partial messages. The complete `assistant` message comes before its
/// block's `content_block_stop`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamEvent<'a> {
    /// The event.
    pub event: ApiEvent<'a>,
    /// The event as the API sent it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub event_json: JsonText<'a>,
    /// The tool call whose subagent speaks; `None` in the main conversation.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// The message's own id.
    pub uuid: Option<Cow<'a, str>>,
    /// The session.
    pub session_id: Option<Cow<'a, str>>,
    /// The API message that the event belongs to.
    pub api_message_id: Option<Cow<'a, str>>,
    /// Time to the first token in milliseconds, on `message_start`.
    pub ttft_ms: Option<u64>,
    /// The prompt that is answered.
    pub user_message_uuid: Option<Cow<'a, str>>,
    /// All prompts that are answered.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub user_message_uuids: Vec<Cow<'a, str>>,
    /// Why a turn was taken up again.
    pub resume_reason: Option<Cow<'a, str>>,
    /// How thinking is shown, such as `updates`.
    pub thinking_display: Option<Cow<'a, str>>,
    /// Blocks begun before that will not be finished: `api_message_id`, `from_block_index`.
    pub abandoned_blocks: Option<JsonText<'a>>,
    #[cfg_attr(feature = "schema", schemars(skip))]
    json: &'a str,
}

impl<'a> StreamEvent<'a> {
    /// Reads the fields and the event in one pass. Without an event, `event_json` is no object.
    pub(super) fn decode(json: &'a str) -> Result<Self, ScanError> {
        let mut message = StreamEvent {
            event: ApiEvent::Ping,
            event_json: JsonText::default(),
            parent_tool_use_id: None,
            uuid: None,
            session_id: None,
            api_message_id: None,
            ttft_ms: None,
            user_message_uuid: None,
            user_message_uuids: Vec::new(),
            resume_reason: None,
            thinking_display: None,
            abandoned_blocks: None,
            json,
        };
        let mut members = Members {
            message: &mut message,
            event: EventMembers::default(),
        };
        whole(json, &mut members)?;
        let event = members.event;
        message.event = event.decode(message.event_json);
        Ok(message)
    }

    /// The whole message as it came.
    pub fn json(&self) -> &'a str {
        self.json
    }

    /// The JSON text of a member, listed here or not.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        member(self.json, name)
    }

    /// The text that the event adds to a text block; `None` for any other event.
    pub fn text_delta(&self) -> Option<&Cow<'a, str>> {
        match &self.event {
            ApiEvent::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => Some(text),
            _ => None,
        }
    }
}

/// An event of the Messages API.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ApiEvent<'a> {
    /// `message_start`: a reply begins; its content is empty.
    MessageStart(Box<ApiMessage<'a>>),
    /// `content_block_start`
    ContentBlockStart {
        /// The block's place in the reply.
        index: u64,
        /// The block as it begins.
        block: Box<Block<'a>>,
    },
    /// `content_block_delta`
    ContentBlockDelta {
        /// The block's place in the reply.
        index: u64,
        /// What is added to it.
        delta: Delta<'a>,
    },
    /// `content_block_stop`
    ContentBlockStop {
        /// The block's place in the reply.
        index: u64,
    },
    /// `message_delta`: how the reply ended.
    MessageDelta(Box<MessageDelta<'a>>),
    /// `message_stop`
    MessageStop,
    /// `ping`
    Ping,
    /// `error`: the API failed in mid-reply.
    Error(ApiError<'a>),
    /// Any other.
    Unknown {
        /// Its type, empty when it has none.
        event_type: Cow<'a, str>,
        /// The event as it came.
        json: JsonText<'a>,
    },
}

/// What a `content_block_delta` adds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// `text_delta`: text.
    Text(Cow<'a, str>),
    /// `input_json_delta`: a piece of the JSON text of a tool's arguments.
    InputJson(Cow<'a, str>),
    /// `thinking_delta`: thoughts.
    Thinking(Cow<'a, str>),
    /// `signature_delta`: the signature of a thinking block.
    Signature(Cow<'a, str>),
    /// `citations_delta`: a citation.
    Citation(JsonText<'a>),
    /// `compaction_delta`: a summary; `None` when it is encrypted.
    Compaction(Option<Cow<'a, str>>),
    /// Any other.
    Unknown {
        /// Its type, empty when it has none.
        delta_type: Cow<'a, str>,
        /// The delta as it came.
        json: JsonText<'a>,
    },
}

view! {
    /// `message_delta`
    pub struct MessageDelta {
        /// Why the reply ended.
        delta [default]: StopDelta<'a>,
        /// Tokens used, final.
        usage: Option<Usage<'a>>,
        /// What was taken out of the context.
        context_management: Option<JsonText<'a>>,
    }
}

view! {
    /// Why a reply ended.
    pub struct StopDelta {
        /// `end_turn`, `tool_use`, `max_tokens`, `stop_sequence`, `refusal`, ….
        stop_reason: Option<Cow<'a, str>>,
        /// The stop sequence that was met.
        stop_sequence: Option<Cow<'a, str>>,
        /// More on why it stopped.
        stop_details: Option<JsonText<'a>>,
        /// The code execution container.
        container: Option<JsonText<'a>>,
    }
}

view! {
    /// An error of the Messages API.
    pub struct ApiError {
        /// Its type, such as `overloaded_error`.
        error_type as "type": Cow<'a, str>,
        /// Its text.
        message: Cow<'a, str>,
    }
}

/// The members of the message, of its event and of that event's delta, found in one pass.
struct Members<'m, 'a> {
    message: &'m mut StreamEvent<'a>,
    event: EventMembers<'a>,
}

impl<'a> Visit<'a> for Members<'_, 'a> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        let message = &mut *self.message;
        let optional = || Read::read_member(value, escaped).unwrap_or_default();
        match key {
            "event" => message.event_json = JsonText::of(value),
            "uuid" => message.uuid = optional(),
            "session_id" => message.session_id = optional(),
            "parent_tool_use_id" => message.parent_tool_use_id = optional(),
            "api_message_id" => message.api_message_id = optional(),
            "ttft_ms" => message.ttft_ms = u64::read(value),
            "user_message_uuid" => message.user_message_uuid = optional(),
            "user_message_uuids" => {
                message.user_message_uuids = Read::read(value).unwrap_or_default();
            }
            "resume_reason" => message.resume_reason = optional(),
            "thinking_display" => message.thinking_display = optional(),
            "abandoned_blocks" => message.abandoned_blocks = Read::read(value).flatten(),
            _ => {}
        }
    }

    #[inline(always)]
    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        if key != "event" || text.as_bytes().get(at) != Some(&b'{') {
            return Ok(value_and_escapes(text.as_bytes(), at)?.0);
        }
        self.event = EventMembers::default();
        object(text, at, &mut self.event)
    }
}

/// The members of an event that mean something to one type or another, as JSON.
#[derive(Default)]
struct EventMembers<'a> {
    event_type: Option<&'a str>,
    index: Option<&'a str>,
    content_block: Option<&'a str>,
    message: Option<&'a str>,
    error: Option<&'a str>,
    delta: Option<&'a str>,
    delta_members: DeltaMembers<'a>,
}

impl<'a> Visit<'a> for EventMembers<'a> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, _: bool) {
        match key {
            "type" => self.event_type = Some(value),
            "index" => self.index = Some(value),
            "delta" => {
                self.delta = Some(value);
                if !value.starts_with('{') {
                    self.delta_members = DeltaMembers::default();
                }
            }
            "content_block" => self.content_block = Some(value),
            "message" => self.message = Some(value),
            "error" => self.error = Some(value),
            _ => {}
        }
    }

    #[inline(always)]
    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        if key != "delta" || text.as_bytes().get(at) != Some(&b'{') {
            return Ok(value_and_escapes(text.as_bytes(), at)?.0);
        }
        self.delta_members = DeltaMembers::default();
        object(text, at, &mut self.delta_members)
    }
}

/// The members of a delta that mean something to one type or another.
#[derive(Default)]
struct DeltaMembers<'a> {
    delta_type: Option<&'a str>,
    text: Option<Piece<'a>>,
    partial_json: Option<Piece<'a>>,
    thinking: Option<Piece<'a>>,
    signature: Option<Piece<'a>>,
    citation: Option<&'a str>,
    content: Option<Piece<'a>>,
}

impl<'a> Visit<'a> for DeltaMembers<'a> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        let piece = Piece { value, escaped };
        match key {
            "type" => self.delta_type = Some(value),
            "text" => self.text = Some(piece),
            "partial_json" => self.partial_json = Some(piece),
            "thinking" => self.thinking = Some(piece),
            "signature" => self.signature = Some(piece),
            "citation" => self.citation = Some(value),
            "content" => self.content = Some(piece),
            _ => {}
        }
    }
}

/// A piece of a streamed text, and whether it has escapes.
#[derive(Clone, Copy)]
struct Piece<'a> {
    value: &'a str,
    escaped: bool,
}

impl<'a> Piece<'a> {
    fn string(self) -> Option<Cow<'a, str>> {
        scanned_string(self.value, self.escaped)
    }
}

impl<'a> DeltaMembers<'a> {
    fn decode(&self, json: &'a str) -> Delta<'a> {
        let delta_type = self.delta_type.and_then(string).unwrap_or_default();
        let text = |piece: Option<Piece<'a>>| piece.and_then(Piece::string);
        let decoded = match &*delta_type {
            "text_delta" => text(self.text).map(Delta::Text),
            "input_json_delta" => text(self.partial_json).map(Delta::InputJson),
            "thinking_delta" => text(self.thinking).map(Delta::Thinking),
            "signature_delta" => text(self.signature).map(Delta::Signature),
            "citations_delta" => self
                .citation
                .map(|json| Delta::Citation(JsonText::of(json))),
            "compaction_delta" => Some(Delta::Compaction(text(self.content))),
            _ => None,
        };
        decoded.unwrap_or(Delta::Unknown {
            delta_type,
            json: JsonText::of(json),
        })
    }
}

impl<'a> EventMembers<'a> {
    /// Never fails: what cannot be decoded is [`Unknown`](ApiEvent::Unknown).
    fn decode(&self, json: JsonText<'a>) -> ApiEvent<'a> {
        let event_type = self.event_type.and_then(string).unwrap_or_default();
        let index = self.index.and_then(u64::read).unwrap_or_default();
        let decoded = match &*event_type {
            "content_block_delta" => self.delta.map(|json| ApiEvent::ContentBlockDelta {
                index,
                delta: self.delta_members.decode(json),
            }),
            "content_block_start" => self.content_block.map(|json| ApiEvent::ContentBlockStart {
                index,
                block: Box::new(Block::decode(json)),
            }),
            "content_block_stop" => Some(ApiEvent::ContentBlockStop { index }),
            "message_start" => self
                .message
                .and_then(Read::read)
                .map(ApiEvent::MessageStart),
            "message_delta" => Read::read(json.as_str()).map(ApiEvent::MessageDelta),
            "message_stop" => Some(ApiEvent::MessageStop),
            "ping" => Some(ApiEvent::Ping),
            "error" => self.error.and_then(Read::read).map(ApiEvent::Error),
            _ => None,
        };
        decoded.unwrap_or(ApiEvent::Unknown { event_type, json })
    }
}
