//! A copy of a session as a new one, with new ids.

use std::borrow::Cow;
use std::collections::HashMap;

use towline_protocol::json::{elements, members, string};
use towline_protocol::launch::Dialect;
use uuid::Uuid;

use crate::change::checked_id;
use crate::entry::EntryKind;
use crate::error::Error;
use crate::json::{filled_string, is_truthy, Object};
use crate::project::is_session_id;
use crate::prompt::{content_of_entry, FirstPrompt};
use crate::time;
use crate::unicode::stripped;

/// What a fork is to be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkOptions {
    /// The last message that is copied; none copies all.
    pub up_to_message_id: Option<String>,
    /// The new session's title; else the old one's title or first prompt with ` (fork)` behind it.
    pub title: Option<String>,
}

/// A new session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The new session's id.
    pub session_id: String,
    /// Its entries, one JSON object each.
    pub entries: Vec<String>,
}

/// The entries of a new session that goes on where another one stands, or stood at a message.
///
/// Every copied entry has a new id, new parents and a `forkedFrom`; subagents' entries, progress
/// and the undo history are not copied.
pub fn fork<E: AsRef<str>>(
    session_id: &str,
    entries: &[E],
    options: &ForkOptions,
) -> Result<Fork, Error> {
    fork_in(Dialect::default(), session_id, entries, options)
}

/// As [`fork`], for a package's users: the prompt that the fork may be called by is not the same in
/// both (see [`SavedSessions::in_dialect`](crate::SavedSessions::in_dialect)).
pub fn fork_in<E: AsRef<str>>(
    dialect: Dialect,
    session_id: &str,
    entries: &[E],
    options: &ForkOptions,
) -> Result<Fork, Error> {
    let title = || title_of_entries(entries, dialect);
    fork_titled(
        session_id,
        entries.iter().map(AsRef::as_ref),
        options,
        title,
    )
}

/// As [`fork`]; `derive_title` is asked if the options give no title.
pub(crate) fn fork_titled<'a>(
    session_id: &str,
    entries: impl Iterator<Item = &'a str>,
    options: &ForkOptions,
    derive_title: impl FnOnce() -> Option<String>,
) -> Result<Fork, Error> {
    checked_id(session_id)?;
    let up_to = options
        .up_to_message_id
        .as_deref()
        .filter(|id| !id.is_empty());
    if let Some(id) = up_to.filter(|id| !is_session_id(id)) {
        return Err(Error::InvalidMessageId(id.to_owned()));
    }
    let nothing = || Error::NothingToFork(session_id.to_owned());
    let mut source = Source::of(session_id, entries);
    if source.lines.is_empty() {
        return Err(nothing());
    }
    if let Some(id) = up_to {
        source.cut_behind(id, session_id)?;
    }
    let count = source.lines.iter().filter(|line| !line.is_progress).count();
    if count == 0 {
        return Err(nothing());
    }
    let new = NewSession {
        id: fresh_id(),
        from: session_id,
        now: time::iso(time::now()),
    };
    let ids = Ids::of(&source.lines);
    let copied = source.lines.iter().filter(|line| !line.is_progress);
    let mut written: Vec<String> = copied
        .enumerate()
        .map(|(at, line)| new.copy(line, &ids, at + 1 == count))
        .collect();
    written.extend(new.replacements(&source.replacements));
    let title = options.title.as_deref().map(stripped).unwrap_or_default();
    written.push(if title.is_empty() {
        let old = derive_title();
        new.title(&format!(
            "{} (fork)",
            old.as_deref().unwrap_or("Forked session")
        ))
    } else {
        new.title(title)
    });
    Ok(Fork {
        session_id: new.id,
        entries: written,
    })
}

fn fresh_id() -> String {
    Uuid::new_v4().to_string()
}

/// What is copied of a session.
struct Source<'a> {
    lines: Vec<Line<'a>>,
    /// The JSON texts of the replacements of tool results that were too large to keep.
    replacements: Vec<&'a str>,
}

/// A line of the chain.
struct Line<'a> {
    text: &'a str,
    uuid: Cow<'a, str>,
    parent: Option<Cow<'a, str>>,
    is_progress: bool,
}

impl<'a> Source<'a> {
    fn of(session_id: &str, entries: impl Iterator<Item = &'a str>) -> Self {
        let mut source = Source {
            lines: Vec::new(),
            replacements: Vec::new(),
        };
        for text in entries {
            let mut kind = None;
            let mut uuid = None;
            let mut parent = None;
            let mut sidechain = false;
            let mut session = None;
            let mut replacements = None;
            let scanned = members(text, |key, value| match key {
                "type" => kind = string(value),
                "uuid" => uuid = string(value),
                "parentUuid" => parent = filled_string(value),
                "isSidechain" => sidechain = is_truthy(value),
                "sessionId" => session = string(value),
                "replacements" => replacements = Some(value),
                _ => {}
            });
            let (Ok(()), Some(kind)) = (scanned, kind) else {
                continue;
            };
            match (EntryKind::of(&kind), uuid) {
                (Some(_), Some(_)) if sidechain => {}
                (Some(kind), Some(uuid)) => source.lines.push(Line {
                    text,
                    uuid,
                    parent,
                    is_progress: kind == EntryKind::Progress,
                }),
                _ if kind == "content-replacement" && session.as_deref() == Some(session_id) => {
                    let list = replacements.filter(|list| list.starts_with('['));
                    let _ = elements(list.unwrap_or("[]"), |one| source.replacements.push(one));
                }
                _ => {}
            }
        }
        source
    }

    fn cut_behind(&mut self, message_id: &str, session_id: &str) -> Result<(), Error> {
        match self.lines.iter().position(|line| line.uuid == message_id) {
            Some(at) => {
                self.lines.truncate(at + 1);
                Ok(())
            }
            None => Err(Error::MessageNotFound {
                message_id: message_id.to_owned(),
                session_id: session_id.to_owned(),
            }),
        }
    }
}

/// The new ids, and the way over lines that are not copied.
struct Ids<'s, 'a> {
    by_uuid: HashMap<&'s str, (&'s Line<'a>, String)>,
}

impl<'s, 'a> Ids<'s, 'a> {
    fn of(lines: &'s [Line<'a>]) -> Self {
        Ids {
            by_uuid: lines
                .iter()
                .map(|line| (line.uuid.as_ref(), (line, fresh_id())))
                .collect(),
        }
    }

    fn new_id(&self, uuid: &str) -> Option<&str> {
        self.by_uuid.get(uuid).map(|(_, id)| id.as_str())
    }

    /// The new id of the nearest ancestor that is copied.
    fn parent(&self, line: &Line<'_>) -> Option<&str> {
        let mut parent = line.parent.as_deref()?;
        // A damaged file may hold a circle.
        for _ in 0..=self.by_uuid.len() {
            let (line, id) = self.by_uuid.get(parent)?;
            if !line.is_progress {
                return Some(id);
            }
            parent = line.parent.as_deref()?;
        }
        None
    }
}

struct NewSession<'s> {
    id: String,
    from: &'s str,
    now: String,
}

/// Members that belong to the old session's surroundings.
const DROPPED: [&str; 4] = ["teamName", "agentName", "slug", "sourceToolAssistantUUID"];

impl NewSession<'_> {
    fn copy(&self, line: &Line<'_>, ids: &Ids<'_, '_>, is_last: bool) -> String {
        let mut logical_parent = None;
        let mut timestamp = None;
        let mut kept = Vec::new();
        // The text was scanned before: it is an object.
        let _ = members(line.text, |key, value| {
            match key {
                "logicalParentUuid" => logical_parent = Some(value),
                "timestamp" => timestamp = Some(value),
                _ => {}
            }
            kept.push((key.to_owned(), value));
        });
        let logical_parent = match logical_parent.unwrap_or("null") {
            value if !is_truthy(value) => value.to_owned(),
            value => quoted_or_null(string(value).and_then(|uuid| ids.new_id(&uuid))),
        };
        let timestamp = match timestamp.filter(|_| !is_last) {
            Some(timestamp) => timestamp.to_owned(),
            None => quoted(&self.now),
        };
        let mut forked_from = Object::new();
        forked_from
            .string("sessionId", self.from)
            .string("messageUuid", &line.uuid);
        let mut changed = vec![
            ("uuid", quoted_or_null(ids.new_id(&line.uuid))),
            ("parentUuid", quoted_or_null(ids.parent(line))),
            ("logicalParentUuid", logical_parent),
            ("sessionId", quoted(&self.id)),
            ("timestamp", timestamp),
            ("isSidechain", "false".to_owned()),
            ("forkedFrom", forked_from.end()),
        ];
        let mut object = Object::with_capacity(line.text.len() + 256);
        let mut done = Vec::new();
        for (name, value) in kept {
            if DROPPED.contains(&name.as_str()) || done.contains(&name) {
                continue;
            }
            match changed.iter().position(|(changed, _)| *changed == name) {
                Some(at) => {
                    let (_, value) = changed.remove(at);
                    object.raw(&name, &value);
                    done.push(name);
                }
                None => {
                    object.raw(&name, value);
                }
            }
        }
        for (name, value) in changed {
            object.raw(name, &value);
        }
        object.end()
    }

    fn replacements(&self, replacements: &[&str]) -> Option<String> {
        if replacements.is_empty() {
            return None;
        }
        let mut entry = Object::new();
        entry
            .string("type", "content-replacement")
            .string("sessionId", &self.id)
            .raw("replacements", &format!("[{}]", replacements.join(",")))
            .string("uuid", &fresh_id())
            .string("timestamp", &self.now);
        Some(entry.end())
    }

    fn title(&self, title: &str) -> String {
        let mut entry = Object::new();
        entry
            .string("type", "custom-title")
            .string("sessionId", &self.id)
            .string("customTitle", title)
            .string("uuid", &fresh_id())
            .string("timestamp", &self.now);
        entry.end()
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    towline_protocol::json::push_string(&mut json, text);
    json
}

fn quoted_or_null(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), quoted)
}

/// The last title somebody gave, else the last one the CLI made up, else the first prompt.
fn title_of_entries<E: AsRef<str>>(entries: &[E], dialect: Dialect) -> Option<String> {
    let (mut custom, mut made_up) = (None, None);
    for entry in entries {
        let mut found = (None, None);
        let scanned = members(entry.as_ref(), |key, value| match key {
            "customTitle" => found.0 = filled_string(value),
            "aiTitle" => found.1 = filled_string(value),
            _ => {}
        });
        if scanned.is_ok() {
            custom = found.0.or(custom);
            made_up = found.1.or(made_up);
        }
    }
    custom.or(made_up).map(Cow::into_owned).or_else(|| {
        let mut search = FirstPrompt::new(dialect);
        for content in entries
            .iter()
            .filter_map(|entry| content_of_entry(entry.as_ref()))
        {
            search.consider(content);
            if search.found.is_some() {
                break;
            }
        }
        search.end()
    })
}
