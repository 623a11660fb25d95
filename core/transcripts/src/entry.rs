//! A transcript line of the conversation chain, read in one pass over its text.

use std::borrow::Cow;

use memchr::memmem;
use towline_protocol::json::{elements, members, nested_members, string, Kind};

use crate::json::{filled_string, is_truthy};

/// Which of the five types of the chain a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
}

impl EntryKind {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "user" => EntryKind::User,
            "assistant" => EntryKind::Assistant,
            "system" => EntryKind::System,
            "attachment" => EntryKind::Attachment,
            "progress" => EntryKind::Progress,
            _ => return None,
        })
    }

    /// Whether it is one side's turn of the conversation.
    pub(crate) fn is_turn(self) -> bool {
        matches!(self, EntryKind::User | EntryKind::Assistant)
    }
}

/// A line with an id and a parent.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) kind: EntryKind,
    pub(crate) uuid: Cow<'a, str>,
    pub(crate) parent: Option<Cow<'a, str>>,
    pub(crate) session_id: Cow<'a, str>,
    /// The JSON text of the message, `null` if there is none.
    pub(crate) message: &'a str,
    /// The JSON text of the message's content, if the message is an object.
    content: Option<&'a str>,
    /// The API's id of an assistant's message: several lines share it.
    pub(crate) message_id: Option<Cow<'a, str>>,
    pub(crate) timestamp: Cow<'a, str>,
    /// The JSON text of the agent's id, compared as text.
    agent_id: &'a str,
    pub(crate) source: Option<Cow<'a, str>>,
    pub(crate) sidechain: bool,
    pub(crate) meta: bool,
    pub(crate) team: bool,
}

impl<'a> Entry<'a> {
    /// The entry of a line; `None` for a damaged line and for one outside the chain.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let mut kind = None;
        let mut uuid = None;
        let mut entry = Entry {
            kind: EntryKind::User,
            uuid: Cow::Borrowed(""),
            parent: None,
            session_id: Cow::Borrowed(""),
            message: "null",
            content: None,
            message_id: None,
            timestamp: Cow::Borrowed(""),
            agent_id: "null",
            source: None,
            sidechain: false,
            meta: false,
            team: false,
        };
        let mut content = None;
        let mut message_id = None;
        nested_members(
            text,
            "message",
            |key, value| match key {
                "type" => kind = string(value).and_then(|name| EntryKind::of(&name)),
                "uuid" => uuid = string(value),
                "parentUuid" => entry.parent = filled_string(value),
                "sessionId" => entry.session_id = string(value).unwrap_or_default(),
                "message" => entry.message = value,
                "timestamp" => entry.timestamp = string(value).unwrap_or_default(),
                "agentId" => entry.agent_id = value,
                "sourceToolAssistantUUID" => entry.source = string(value),
                "isSidechain" => entry.sidechain = is_truthy(value),
                "isMeta" => entry.meta = is_truthy(value),
                "teamName" => entry.team = is_truthy(value),
                _ => {}
            },
            |key, value| match key {
                "content" => content = Some(value),
                "id" => message_id = filled_string(value),
                _ => {}
            },
        )
        .ok()?;
        entry.kind = kind?;
        entry.uuid = uuid?;
        if entry.message.starts_with('{') {
            entry.content = content;
            entry.message_id = message_id.filter(|_| entry.kind == EntryKind::Assistant);
        }
        Some(entry)
    }

    /// The ids of the tools the message calls.
    pub(crate) fn calls(&self) -> Vec<Cow<'a, str>> {
        self.block_ids("tool_use", "id").1
    }

    /// The ids of the calls the message answers.
    pub(crate) fn answers(&self) -> Vec<Cow<'a, str>> {
        self.block_ids("tool_result", "tool_use_id").1
    }

    /// Whether it carries the result of a tool to the entry that is its parent.
    pub(crate) fn is_tool_result(&self) -> bool {
        self.kind == EntryKind::User
            && self.parent.is_some()
            && self.block_ids("tool_result", "tool_use_id").0
    }

    /// Whether both were written by the same agent.
    pub(crate) fn same_writer(&self, other: &Entry<'_>) -> bool {
        self.sidechain == other.sidechain && self.agent_id == other.agent_id
    }

    /// Whether there are content blocks of a type, and their ids.
    fn block_ids(&self, wanted: &str, id_field: &str) -> (bool, Vec<Cow<'a, str>>) {
        let mut found = false;
        let mut ids = Vec::new();
        let Some(content) = self.content.filter(|content| {
            content.starts_with('[')
                && memmem::find(content.as_bytes(), wanted.as_bytes()).is_some()
        }) else {
            return (found, ids);
        };
        let visited = elements(content, |block| {
            let mut kind = None;
            let mut id = None;
            let scanned = members(block, |key, value| {
                if key == "type" {
                    kind = string(value);
                } else if key == id_field {
                    id = string(value);
                }
            });
            if scanned.is_ok() && kind.as_deref() == Some(wanted) {
                found = true;
                ids.extend(id);
            }
        });
        debug_assert!(visited.is_ok(), "validated with the line it stands in");
        (found, ids)
    }
}

/// The lines of a JSONL text that belong to the chain.
pub(crate) fn of_lines(text: &str) -> Vec<Entry<'_>> {
    lines(text).filter_map(Entry::read).collect()
}

/// The lines of a JSONL text without those that are blank. Only a line feed ends a line: JSON may
/// contain other characters that end lines elsewhere.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || loop {
        if rest.is_empty() {
            return None;
        }
        let (line, behind) = match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(at) => (rest.get(..at)?, rest.get(at + 1..)?),
            None => (rest, ""),
        };
        rest = behind;
        let line = line.trim();
        if !line.is_empty() {
            return Some(line);
        }
    })
}

/// The texts of a user's message: the content itself or its text blocks.
pub(crate) fn user_texts(content: &str) -> Vec<Cow<'_, str>> {
    match Kind::of(content) {
        Some(Kind::String) => string(content).into_iter().collect(),
        Some(Kind::Array) => {
            let mut texts = Vec::new();
            let scanned = elements(content, |block| {
                let mut kind = None;
                let mut text = None;
                let scanned = members(block, |key, value| match key {
                    "type" => kind = string(value),
                    "text" => text = string(value),
                    _ => {}
                });
                if scanned.is_ok() && kind.as_deref() == Some("text") {
                    texts.extend(text);
                }
            });
            if scanned.is_err() {
                texts.clear();
            }
            texts
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_line_feeds_only() {
        let text = "a\u{2028}b\n\n  \nc\r\nd";
        assert_eq!(lines(text).collect::<Vec<_>>(), ["a\u{2028}b", "c", "d"]);
    }

    #[test]
    fn only_whole_lines_of_the_chain_are_entries() {
        for text in [
            "",
            "nonsense",
            "[]",
            r#"{"type":"user"}"#,
            r#"{"type":"user","uuid":1}"#,
            r#"{"type":"summary","uuid":"a"}"#,
            r#"{"type":"user","uuid":"a""#,
            r#"{"type":["user"],"uuid":"a"}"#,
        ] {
            assert!(Entry::read(text).is_none(), "{text}");
        }
        let entry = Entry::read(
            r#"{"message":{"id":"m","content":[{"type":"tool_use","id":"t1"},{"type":"text"},{"type":"tool_use","id":7},3]},"type":"assistant","uuid":"a","parentUuid":"","isSidechain":1}"#,
        )
        .unwrap();
        assert_eq!(entry.parent, None);
        assert_eq!(entry.message_id.as_deref(), Some("m"));
        assert_eq!(entry.calls(), ["t1"]);
        assert!(entry.sidechain);
        assert!(!entry.is_tool_result());
    }

    #[test]
    fn of_two_messages_the_last_one_counts() {
        let entry = Entry::read(
            r#"{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"t"}]},"message":"x"}"#,
        )
        .unwrap();
        assert_eq!(entry.message, "\"x\"");
        assert_eq!(entry.message_id, None);
        assert!(entry.calls().is_empty());
    }
}
