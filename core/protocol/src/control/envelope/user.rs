//! A user message (`protocol.md §4.4`).

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::write::push_json;
use crate::control::LocalError;
use crate::json::{elements, members, push_string, string, Kind};

const WHAT: &str = "the user message";
const CONTENT_FORMS: &str = "content is a string or an array of content blocks, which are objects";
const MESSAGE_FORMS: &str =
    r#"the CLI takes {"type":"user","message":{"role":"user","content":…},…}"#;

/// When the CLI takes up a message that comes while a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Priority {
    /// At once: the running turn is aborted and ends as a success with `aborted_streaming`.
    Now,
    /// After the step that runs.
    Next,
    /// After everything else.
    Later,
}

impl Priority {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Now => "now",
            Priority::Next => "next",
            Priority::Later => "later",
        }
    }
}

/// What a user message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserContent<'a> {
    /// Text.
    Text(Cow<'a, str>),
    /// Content blocks of the Messages API: JSON text of an array.
    Blocks(Cow<'a, str>),
}

/// A message from the host to the CLI.
///
/// [`write`](UserMessage::write) refuses what the CLI would drop without a word or die on
/// (`protocol.md §2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserMessage<'a> {
    /// What it says.
    pub content: UserContent<'a>,
    /// The subagent's tool call, for a message to a subagent; written as null when unset.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// Written when set; the CLI ignores it.
    pub session_id: Option<Cow<'a, str>>,
    /// The message's id, echoed in the reply and the result. One that was used before in the
    /// session makes the CLI drop the message.
    pub uuid: Option<Cow<'a, str>>,
    /// When it is taken up.
    pub priority: Option<Priority>,
    /// `false`: kept for the next turn, no model call.
    pub should_query: Option<bool>,
    /// The text is taken as written: no file mentions, no slash commands.
    pub client_composed: bool,
    /// The CLI tells the model that the text does not come from the user.
    pub is_synthetic: bool,
    /// JSON text of an object, such as `{"kind":"human"}`.
    pub origin: Option<Cow<'a, str>>,
    /// When it was written, ISO 8601.
    pub timestamp: Option<Cow<'a, str>>,
    /// More members: name and JSON text.
    pub extra: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> UserMessage<'a> {
    /// A message of that content and nothing else.
    pub fn new(content: UserContent<'a>) -> Self {
        UserMessage {
            content,
            parent_tool_use_id: None,
            session_id: None,
            uuid: None,
            priority: None,
            should_query: None,
            client_composed: false,
            is_synthetic: false,
            origin: None,
            timestamp: None,
            extra: Vec::new(),
        }
    }

    /// A message of text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::new(UserContent::Text(text.into()))
    }

    /// A message of content blocks, JSON text of an array.
    pub fn blocks(json: impl Into<Cow<'a, str>>) -> Self {
        Self::new(UserContent::Blocks(json.into()))
    }

    /// Appends the message's line to `out`; an error, with nothing appended, for a message that the
    /// CLI would drop or die on.
    pub fn write(&self, out: &mut String) -> Result<(), LocalError> {
        let start = out.len();
        let written = self.write_line(out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    fn write_line(&self, out: &mut String) -> Result<(), LocalError> {
        out.push_str(r#"{"type":"user","message":{"role":"user","content":"#);
        match &self.content {
            UserContent::Text(text) => push_string(out, text),
            UserContent::Blocks(json) => {
                check_content(json)?;
                push_json(out, "content", json)?;
            }
        }
        out.push_str(r#"},"parent_tool_use_id":"#);
        match &self.parent_tool_use_id {
            Some(id) => push_string(out, id),
            None => out.push_str("null"),
        }
        for (name, text) in [
            ("session_id", self.session_id.as_deref()),
            ("uuid", self.uuid.as_deref()),
            ("priority", self.priority.map(Priority::name)),
            ("timestamp", self.timestamp.as_deref()),
        ] {
            if let Some(text) = text {
                push_name(out, name);
                push_string(out, text);
            }
        }
        if let Some(should_query) = self.should_query {
            push_name(out, "shouldQuery");
            out.push_str(if should_query { "true" } else { "false" });
        }
        for (name, set) in [
            ("client_composed", self.client_composed),
            ("isSynthetic", self.is_synthetic),
        ] {
            if set {
                push_name(out, name);
                out.push_str("true");
            }
        }
        if let Some(origin) = &self.origin {
            push_name(out, "origin");
            push_json(out, "origin", origin)?;
        }
        for (name, json) in &self.extra {
            if NAMES.contains(&name.as_ref()) {
                return Err(LocalError::malformed(
                    WHAT,
                    alloc::format!("{name} is no extra member, it has a field of its own"),
                    MESSAGE_FORMS,
                ));
            }
            push_name(out, name);
            push_json(out, "an extra member", json)?;
        }
        out.push_str("}\n");
        Ok(())
    }

    /// Appends the line of a message given whole as JSON text, after checking that the CLI takes
    /// it: type and role `user`, content a string or an array of blocks. A missing
    /// `parent_tool_use_id` is added as null.
    pub fn write_json(message: &str, out: &mut String) -> Result<(), LocalError> {
        let (mut kind, mut body, mut parent) = (None, None, false);
        members(message, |name, value| match name {
            "type" => kind = string(value),
            "message" => body = Some(value),
            "parent_tool_use_id" => parent = true,
            _ => {}
        })
        .map_err(|error| LocalError::NotJson { what: WHAT, error })?;
        let bad = |problem| Err(LocalError::malformed(WHAT, problem, MESSAGE_FORMS));
        if kind.as_deref() != Some("user") {
            return bad("type is not \"user\"");
        }
        let Some(body) = body.filter(|body| Kind::of(body) == Some(Kind::Object)) else {
            return bad("message is missing or not an object");
        };
        let (mut role, mut content) = (None, None);
        members(body, |name, value| match name {
            "role" => role = string(value),
            "content" => content = Some(value),
            _ => {}
        })
        .map_err(|error| LocalError::NotJson { what: WHAT, error })?;
        if role.as_deref() != Some("user") {
            return bad("the message's role is not \"user\"");
        }
        match content {
            None => return bad("the message's content is missing"),
            Some(text) if Kind::of(text) == Some(Kind::String) => {}
            Some(text) => check_content(text)?,
        }
        push_json(out, WHAT, message)?;
        if !parent {
            out.pop();
            out.push_str(r#","parent_tool_use_id":null}"#);
        }
        out.push('\n');
        Ok(())
    }
}

const NAMES: [&str; 11] = [
    "type",
    "message",
    "parent_tool_use_id",
    "session_id",
    "uuid",
    "priority",
    "timestamp",
    "shouldQuery",
    "client_composed",
    "isSynthetic",
    "origin",
];

fn push_name(out: &mut String, name: &str) {
    out.push(',');
    push_string(out, name);
    out.push(':');
}

/// The CLI drops a message whose content is of another type, without a word (`protocol.md §2`); so
/// it does when an element of the array is no object.
fn check_content(json: &str) -> Result<(), LocalError> {
    let bad = |problem| Err(LocalError::malformed(WHAT, problem, CONTENT_FORMS));
    if Kind::of(json) != Some(Kind::Array) {
        return bad("content is neither a string nor an array");
    }
    let mut objects = true;
    elements(json, |block| {
        objects &= Kind::of(block) == Some(Kind::Object)
    })
    .map_err(|error| LocalError::NotJson {
        what: "content",
        error,
    })?;
    if !objects {
        return bad("a content block is not an object");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn line(message: &UserMessage<'_>) -> String {
        let mut out = String::new();
        message.write(&mut out).unwrap();
        out
    }

    #[test]
    fn a_plain_message() {
        assert_eq!(
            line(&UserMessage::text("a\n\"b\"")),
            concat!(
                r#"{"type":"user","message":{"role":"user","content":"a\n\"b\""},"#,
                r#""parent_tool_use_id":null}"#,
                "\n"
            )
        );
    }

    #[test]
    fn every_member() {
        let message = UserMessage {
            parent_tool_use_id: Some("toolu_1".into()),
            session_id: Some("s".into()),
            uuid: Some("u".into()),
            priority: Some(Priority::Now),
            should_query: Some(false),
            client_composed: true,
            is_synthetic: true,
            origin: Some("{\n\"kind\":\"human\"}".into()),
            timestamp: Some("2026-01-01T00:00:00Z".into()),
            extra: alloc::vec![("pasted_content".into(), "[\"x\"]".into())],
            ..UserMessage::blocks("[{\"type\":\"text\",\n\"text\":\"t\"}]")
        };
        assert_eq!(
            line(&message),
            concat!(
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text", "text":"t"}]},"#,
                r#""parent_tool_use_id":"toolu_1","session_id":"s","uuid":"u","priority":"now","#,
                r#""timestamp":"2026-01-01T00:00:00Z","shouldQuery":false,"client_composed":true,"#,
                r#""isSynthetic":true,"origin":{ "kind":"human"},"pasted_content":["x"]}"#,
                "\n"
            )
        );
    }

    #[test]
    fn what_the_cli_drops_or_dies_on_is_refused() {
        for content in [
            "5",
            "null",
            "{}",
            "true",
            "\"text\"",
            "[1]",
            "[\"a\"]",
            r#"[{"type":"text","text":"t"},7]"#,
            "[",
            "",
        ] {
            let mut out = String::from("kept");
            let refused = UserMessage::blocks(content).write(&mut out);
            assert!(refused.is_err(), "{content}");
            assert_eq!(out, "kept");
        }
        for message in [
            "",
            "[]",
            "{}",
            r#"{"type":"user"}"#,
            r#"{"type":"user","message":null}"#,
            r#"{"type":"assistant","message":{"role":"user","content":"x"}}"#,
            r#"{"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"user","message":{"content":"x"}}"#,
            r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
            r#"{"type":"user","message":{"role":"user"}}"#,
            r#"{"type":"user","message":{"role":"user","content":5}}"#,
            r#"{"type":"user","content":"x"}"#,
        ] {
            let mut out = String::from("kept");
            let refused = UserMessage::write_json(message, &mut out);
            assert!(refused.is_err(), "{message}");
            assert_eq!(out, "kept");
        }
        for (name, json) in [("type", "1"), ("uuid", "\"x\""), ("a", "{")] {
            let message = UserMessage {
                extra: alloc::vec![(name.into(), json.into())],
                ..UserMessage::text("x")
            };
            assert!(message.write(&mut String::new()).is_err(), "{name}");
        }
        let error = UserMessage::blocks("5")
            .write(&mut String::new())
            .unwrap_err();
        assert!(error.to_string().contains("array of content blocks"));
        for content in ["[]", "[{}]"] {
            assert_eq!(
                UserMessage::blocks(content).write(&mut String::new()),
                Ok(())
            );
        }
    }

    #[test]
    fn a_message_in_json_goes_out_on_one_line() {
        let mut out = String::new();
        UserMessage::write_json(
            "{\"type\":\"user\",\n\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n",
            &mut out,
        )
        .unwrap();
        assert_eq!(
            out,
            concat!(
                r#"{"type":"user", "message":{"role":"user","content":"x"},"parent_tool_use_id":null}"#,
                "\n"
            )
        );
    }
}
