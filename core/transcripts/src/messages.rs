//! The messages of a saved conversation.

use std::borrow::Cow;

use towline_protocol::json::{members, string};

use crate::chain;
use crate::entry::{Entry, EntryKind};
use crate::json::Object;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// The user's, a tool's result among them.
    User,
    /// Claude's.
    Assistant,
    /// A notice of the CLI; given on request only.
    System,
}

impl MessageKind {
    /// `user`, `assistant` or `system`.
    pub fn as_str(self) -> &'static str {
        match self {
            MessageKind::User => "user",
            MessageKind::Assistant => "assistant",
            MessageKind::System => "system",
        }
    }
}

/// A message of a saved conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionMessage<'a> {
    /// Whose message it is.
    pub kind: MessageKind,
    /// The id of the line.
    pub uuid: Cow<'a, str>,
    /// The session the line says it belongs to.
    pub session_id: Cow<'a, str>,
    /// The JSON text of the API's message as it was saved; `null` if the line has none.
    pub message: Cow<'a, str>,
    /// The call of the Agent tool that started the subagent whose message it is.
    pub parent_tool_use_id: Option<Cow<'a, str>>,
    /// The subagent that started the subagent whose message it is.
    pub parent_agent_id: Option<Cow<'a, str>>,
    /// When the line was written, as it says; none if it does not.
    pub timestamp: Option<Cow<'a, str>>,
}

impl SessionMessage<'_> {
    /// The same, independent of the text it was read from.
    pub fn into_owned(self) -> SessionMessage<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        SessionMessage {
            kind: self.kind,
            uuid: owned(self.uuid),
            session_id: owned(self.session_id),
            message: owned(self.message),
            parent_tool_use_id: self.parent_tool_use_id.map(owned),
            parent_agent_id: self.parent_agent_id.map(owned),
            timestamp: self.timestamp.map(owned),
        }
    }

    /// As a JSON object: `type`, `uuid`, `session_id`, `message`, `parent_tool_use_id`,
    /// `parent_agent_id`.
    pub fn to_json(&self) -> String {
        self.append_to(String::with_capacity(self.length()), false)
    }

    /// Several of them as a JSON array.
    pub fn list_to_json(list: &[SessionMessage<'_>]) -> String {
        Self::array(list, false)
    }

    /// The same, with a `timestamp` for each whose line has one.
    pub fn list_to_json_with_timestamps(list: &[SessionMessage<'_>]) -> String {
        Self::array(list, true)
    }

    fn array(list: &[SessionMessage<'_>], timestamps: bool) -> String {
        let length: usize = list.iter().map(SessionMessage::length).sum();
        let mut text = String::with_capacity(length + 2);
        text.push('[');
        for message in list {
            if text.len() > 1 {
                text.push(',');
            }
            text = message.append_to(text, timestamps);
        }
        text.push(']');
        text
    }

    /// About as many bytes as its JSON has.
    fn length(&self) -> usize {
        self.message.len() + 256
    }

    fn append_to(&self, text: String, timestamps: bool) -> String {
        let mut object = Object::behind(text);
        object
            .string("type", self.kind.as_str())
            .string("uuid", &self.uuid)
            .string("session_id", &self.session_id)
            .raw("message", &self.message)
            .string_or_null("parent_tool_use_id", self.parent_tool_use_id.as_deref())
            .string_or_null("parent_agent_id", self.parent_agent_id.as_deref());
        if let (true, Some(timestamp)) = (timestamps, &self.timestamp) {
            object.string("timestamp", timestamp);
        }
        object.end()
    }
}

/// Which messages are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// At most as many; none and 0 set no limit.
    pub limit: Option<usize>,
    /// Leave out as many from the start.
    pub offset: usize,
    /// Give the CLI's notices too (a compaction, for example).
    pub include_system: bool,
}

/// What a subagent's messages descend from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parents {
    /// The call of the Agent tool.
    pub tool_use_id: Option<String>,
    /// The subagent that made the call; none for the main conversation.
    pub agent_id: Option<String>,
}

impl Parents {
    /// From a subagent's metadata: the text of its `agent-<id>.meta.json`, or the
    /// `agent_metadata` entry that stands for that file in a store.
    pub fn from_metadata(metadata: &str) -> Self {
        let mut parents = Parents::default();
        let scanned = members(metadata, |key, value| {
            let value = || string(value).map(Cow::into_owned);
            match key {
                "toolUseId" => parents.tool_use_id = value(),
                "parentAgentId" => parents.agent_id = value(),
                _ => {}
            }
        });
        match scanned {
            Ok(()) => parents,
            Err(_) => Parents::default(),
        }
    }
}

/// The conversation of a session from its entries, oldest message first.
///
/// The newest branch counts. Entries that are damaged or stand for something else are skipped.
pub fn messages<'a, E: AsRef<str>>(
    entries: &'a [E],
    options: &MessageOptions,
) -> Vec<SessionMessage<'a>> {
    of_entries(&chain_entries(entries), options)
}

/// The conversation of a subagent from its entries, oldest message first. What it descends from is
/// read from the last `agent_metadata` entry, or given as `parents`.
pub fn subagent_messages<'a, E: AsRef<str>>(
    entries: &'a [E],
    parents: Option<&Parents>,
    options: &MessageOptions,
) -> Vec<SessionMessage<'a>> {
    let found;
    let parents = match parents {
        Some(parents) => parents,
        None => {
            found = entries
                .iter()
                .rev()
                .map(AsRef::as_ref)
                .find(|entry| is_metadata(entry))
                .map(Parents::from_metadata)
                .unwrap_or_default();
            &found
        }
    };
    subagent_of_entries(&chain_entries(entries), parents, options)
}

fn is_metadata(entry: &str) -> bool {
    let mut is_metadata = false;
    let scanned = members(entry, |key, value| {
        if key == "type" {
            is_metadata = string(value).as_deref() == Some("agent_metadata");
        }
    });
    scanned.is_ok() && is_metadata
}

fn chain_entries<E: AsRef<str>>(entries: &[E]) -> Vec<Entry<'_>> {
    entries
        .iter()
        .filter_map(|entry| Entry::read(entry.as_ref().trim()))
        .collect()
}

pub(crate) fn of_entries<'a>(
    entries: &[Entry<'a>],
    options: &MessageOptions,
) -> Vec<SessionMessage<'a>> {
    let visible = chain::conversation(entries)
        .into_iter()
        .filter_map(|at| entries.get(at))
        .filter(|entry| !entry.meta && !entry.sidechain && !entry.team);
    page(visible, &Parents::default(), options)
}

pub(crate) fn subagent_of_entries<'a>(
    entries: &[Entry<'a>],
    parents: &Parents,
    options: &MessageOptions,
) -> Vec<SessionMessage<'a>> {
    let chain = chain::subagent_conversation(entries);
    page(
        chain.into_iter().filter_map(|at| entries.get(at)),
        parents,
        options,
    )
}

fn page<'a: 'e, 'e>(
    entries: impl Iterator<Item = &'e Entry<'a>>,
    parents: &Parents,
    options: &MessageOptions,
) -> Vec<SessionMessage<'a>> {
    let parent = |id: &Option<String>| id.clone().map(Cow::Owned);
    entries
        .filter_map(|entry| {
            let kind = match entry.kind {
                EntryKind::User => MessageKind::User,
                EntryKind::Assistant => MessageKind::Assistant,
                EntryKind::System if options.include_system => MessageKind::System,
                _ => return None,
            };
            Some((kind, entry))
        })
        .skip(options.offset)
        .take(
            options
                .limit
                .filter(|limit| *limit > 0)
                .unwrap_or(usize::MAX),
        )
        .map(|(kind, entry)| SessionMessage {
            kind,
            uuid: entry.uuid.clone(),
            session_id: entry.session_id.clone(),
            message: Cow::Borrowed(entry.message),
            parent_tool_use_id: parent(&parents.tool_use_id),
            parent_agent_id: parent(&parents.agent_id),
            timestamp: Some(&entry.timestamp)
                .filter(|timestamp| !timestamp.is_empty())
                .cloned(),
        })
        .collect()
}
