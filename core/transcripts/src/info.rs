//! What is known of a saved session without reading its conversation.

use towline_protocol::json::{members, string};
use towline_protocol::launch::Dialect;

use crate::json::{self, Object};
use crate::time;
use crate::window::{Metadata, Windows, WINDOW};

/// What a list tells of a saved session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// The session's id.
    pub session_id: String,
    /// The title, else the last prompt, a summary or the first prompt.
    pub summary: String,
    /// When the transcript was last written, in milliseconds since 1970.
    pub last_modified: i64,
    /// The size of the transcript in bytes.
    pub file_size: Option<u64>,
    /// The title that somebody gave the session, else the one the CLI made up.
    pub custom_title: Option<String>,
    /// The first prompt, on one line, cut at 200 characters.
    pub first_prompt: Option<String>,
    /// The git branch at the end of the session.
    pub git_branch: Option<String>,
    /// The directory the session ran in.
    pub cwd: Option<String>,
    /// The tag.
    pub tag: Option<String>,
    /// When the session began, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// Whether the session is archived; none if it never was.
    pub archived: Option<bool>,
}

impl SessionInfo {
    /// From the entries of a session that a store has loaded. `last_modified` is the store's own
    /// time of the last write, `project_path` what counts as the working directory if no entry
    /// tells one. `None` for a session that no list shows: a subagent's, and one without a title
    /// and a prompt.
    ///
    /// As on disk only the first and the last 64 KiB are looked at.
    pub fn from_entries<E: AsRef<str>>(
        session_id: &str,
        entries: &[E],
        last_modified: i64,
        project_path: Option<&str>,
    ) -> Option<Self> {
        let dialect = Dialect::default();
        Self::from_entries_in(dialect, session_id, entries, last_modified, project_path)
    }

    /// As [`from_entries`](SessionInfo::from_entries), for a package's users: what counts as the
    /// first prompt, and so which sessions have none, is not the same in both (see
    /// [`SavedSessions::in_dialect`](crate::SavedSessions::in_dialect)).
    pub fn from_entries_in<E: AsRef<str>>(
        dialect: Dialect,
        session_id: &str,
        entries: &[E],
        last_modified: i64,
        project_path: Option<&str>,
    ) -> Option<Self> {
        let size: usize = entries.iter().map(|entry| entry.as_ref().len() + 1).sum();
        let head = joined(entries.iter().map(AsRef::as_ref), false);
        let tail;
        let windows = if size <= WINDOW {
            Windows {
                head: &head,
                tail: &head,
            }
        } else {
            tail = joined(entries.iter().rev().map(AsRef::as_ref), true);
            Windows {
                head: head.get(..WINDOW).unwrap_or(&head),
                tail: tail
                    .get(tail.len().saturating_sub(WINDOW)..)
                    .unwrap_or(&tail),
            }
        };
        let mut info = Self::of_metadata(session_id, windows.metadata(dialect)?, project_path);
        info.last_modified = last_modified;
        info.file_size = u64::try_from(size).ok();
        Some(info)
    }

    /// When a session that a store has loaded was last written, by its last entry; now, if that
    /// tells no time.
    pub fn last_modified_of_entries<E: AsRef<str>>(entries: &[E]) -> i64 {
        let mut timestamp = None;
        if let Some(entry) = entries.last() {
            let scanned = members(entry.as_ref(), |key, value| {
                if key == "timestamp" {
                    timestamp = string(value);
                }
            });
            if scanned.is_err() {
                timestamp = None;
            }
        }
        timestamp
            .and_then(|timestamp| time::parse_iso(&timestamp))
            .unwrap_or_else(time::now)
    }

    pub(crate) fn of_metadata(
        session_id: &str,
        found: Metadata,
        project_path: Option<&str>,
    ) -> Self {
        SessionInfo {
            session_id: session_id.to_owned(),
            summary: found.summary,
            last_modified: 0,
            file_size: None,
            custom_title: found.title,
            first_prompt: found.first_prompt,
            git_branch: found.git_branch,
            cwd: found.cwd.or_else(|| project_path.map(str::to_owned)),
            tag: found.tag,
            created_at: found.timestamp.as_deref().and_then(time::parse_iso),
            archived: None,
        }
    }

    /// As a JSON object with a member for each field.
    pub fn to_json(&self) -> String {
        let mut object = Object::with_capacity(512);
        object
            .string("session_id", &self.session_id)
            .string("summary", &self.summary)
            .number("last_modified", self.last_modified)
            .number_or_null("file_size", self.file_size)
            .string_or_null("custom_title", self.custom_title.as_deref())
            .string_or_null("first_prompt", self.first_prompt.as_deref())
            .string_or_null("git_branch", self.git_branch.as_deref())
            .string_or_null("cwd", self.cwd.as_deref())
            .string_or_null("tag", self.tag.as_deref())
            .number_or_null("created_at", self.created_at)
            .boolean_or_null("archived", self.archived);
        object.end()
    }

    /// Several of them as a JSON array.
    pub fn list_to_json(list: &[SessionInfo]) -> String {
        json::array(list.iter().map(SessionInfo::to_json))
    }
}

/// As many entries as fill a window, as lines.
fn joined<'a>(entries: impl Iterator<Item = &'a str>, from_the_end: bool) -> Vec<u8> {
    let mut lines = Vec::new();
    let mut length = 0;
    for entry in entries {
        let line = type_first(entry);
        length += line.len() + 1;
        lines.push(line);
        if length >= WINDOW {
            break;
        }
    }
    if from_the_end {
        lines.reverse();
    }
    let mut text = Vec::with_capacity(length);
    for line in lines {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    text
}

/// The entry as the CLI writes a line: compact, its type first. A store may have changed the order
/// of the members and the space between them.
fn type_first(entry: &str) -> String {
    let mut kind = None;
    let mut rest = Vec::new();
    let scanned = members(entry, |key, value| {
        if key == "type" {
            kind = Some(value);
        } else {
            rest.push((key.to_owned(), value));
        }
    });
    let (Ok(()), Some(kind)) = (scanned, kind) else {
        return entry.replace('\n', " ");
    };
    let mut object = Object::with_capacity(entry.len());
    object.raw("type", kind);
    for (name, value) in rest {
        if value.contains('\n') {
            object.raw(&name, &value.replace('\n', " "));
        } else {
            object.raw(&name, value);
        }
    }
    object.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "11111111-2222-4333-8444-555555555555";

    #[test]
    fn a_store_may_reorder_members() {
        let entries = [
            r#"{ "message": {"content": "hello", "role": "user"}, "type": "user", "cwd": "/w", "gitBranch": "main", "timestamp": "2026-01-02T03:04:05.000Z" }"#,
            r#"{"tag": "v1", "sessionId": "x", "type": "tag"}"#,
        ];
        let info = SessionInfo::from_entries(ID, &entries, 7, Some("/p")).unwrap();
        assert_eq!(info.summary, "hello");
        assert_eq!(info.cwd.as_deref(), Some("/w"));
        assert_eq!(info.git_branch.as_deref(), Some("main"));
        assert_eq!(info.tag.as_deref(), Some("v1"));
        assert_eq!(info.created_at, Some(1_767_323_045_000));
        assert_eq!(info.last_modified, 7);
        let json: serde_json::Value = serde_json::from_str(&info.to_json()).unwrap();
        assert_eq!(json["session_id"], ID);
        assert_eq!(json["custom_title"], serde_json::Value::Null);
        assert_eq!(json["file_size"], entries[0].len() + entries[1].len() + 2);
    }

    #[test]
    fn only_the_ends_of_a_long_session_are_looked_at() {
        let filler = format!(r#"{{"type":"x","text":"{}"}}"#, "y".repeat(WINDOW));
        let entries = [
            r#"{"type":"user","message":{"content":"first"}}"#.to_owned(),
            filler.clone(),
            r#"{"type":"custom-title","customTitle":"unseen"}"#.to_owned(),
            filler,
            r#"{"type":"last-prompt","lastPrompt":"last"}"#.to_owned(),
        ];
        let info = SessionInfo::from_entries(ID, &entries, 0, None).unwrap();
        assert_eq!(info.summary, "last");
        assert_eq!(info.custom_title, None);
        assert_eq!(info.first_prompt.as_deref(), Some("first"));
        assert_eq!(info.cwd, None);
    }

    #[test]
    fn the_last_entry_tells_the_time() {
        let entries = ["{}", r#"{"timestamp":"1970-01-01T00:00:01Z"}"#];
        assert_eq!(SessionInfo::last_modified_of_entries(&entries), 1000);
        assert!(SessionInfo::last_modified_of_entries(&["{}"]) > 1_700_000_000_000);
    }
}
