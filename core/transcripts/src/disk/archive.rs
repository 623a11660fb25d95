//! The mark that a session is archived: `<session>/archived.json` beside its transcript.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use towline_protocol::json::{members, string};
use towline_protocol::launch::Dialect;

use crate::json::Object;
use crate::prompt::is_prompted_after;
use crate::time;
use crate::window::Windows;

/// A longer mark is none.
const MAX_LENGTH: u64 = 4096;

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Archived {
    archived: bool,
    /// When it was set, in milliseconds since 1970.
    at: i64,
}

impl Archived {
    /// The mark of a session, by its transcript.
    pub(super) fn read(transcript: &Path) -> Option<Self> {
        let file = File::open(mark_of(transcript)).ok()?;
        let mut text = String::new();
        file.take(MAX_LENGTH + 1).read_to_string(&mut text).ok()?;
        if text.len() as u64 > MAX_LENGTH {
            return None;
        }
        Self::parse(&text)
    }

    fn parse(text: &str) -> Option<Self> {
        let (mut archived, mut at) = (None, None);
        members(text, |key, value| match key {
            "archived" => archived = Some(value),
            "at" => at = string(value).and_then(|at| time::parse_iso(&at)),
            _ => {}
        })
        .ok()?;
        let archived = match archived? {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        Some(Archived { archived, at: at? })
    }

    /// Whether the session is archived: a prompt that came later takes it out of the archive.
    pub(super) fn holds(self, windows: &Windows<'_>, dialect: Dialect) -> bool {
        self.archived
            && !is_prompted_after(windows.tail, self.at, dialect)
            && !is_prompted_after(windows.other_head(), self.at, dialect)
    }
}

/// Where the mark of a session stands.
pub(super) fn mark_of(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("archived.json")
}

/// What a mark set now says.
pub(super) fn mark_text(archived: bool) -> String {
    let mut mark = Object::new();
    mark.raw("archived", if archived { "true" } else { "false" })
        .string("at", &time::iso(time::now()))
        .string("by", "sdk");
    mark.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks() {
        let mark = |text| Archived::parse(text);
        let at = 1_767_323_045_000;
        let text = r#"{"archived":true,"at":"2026-01-02T03:04:05.000Z","by":"sdk"}"#;
        assert_eq!(mark(text), Some(Archived { archived: true, at }));
        for text in [
            "",
            "{}",
            r#"{"archived":true}"#,
            r#"{"archived":1,"at":"2026-01-02T03:04:05.000Z"}"#,
            r#"{"archived":true,"at":"yesterday"}"#,
            r#"{"archived":true,"at":"2026-01-02T03:04:05.000Z""#,
        ] {
            assert_eq!(mark(text), None, "{text}");
        }
    }

    #[test]
    fn a_later_prompt_takes_a_session_out() {
        let holds = |line: &str, archived| {
            let windows = Windows {
                head: line.as_bytes(),
                tail: line.as_bytes(),
            };
            Archived { archived, at: 1000 }.holds(&windows, Dialect::Python)
        };
        let line = |more: &str, second: u32| {
            format!(
                r#"{{"type":"user","timestamp":"1970-01-01T00:00:0{second}Z","message":{{"content":"hi"}}{more}}}"#
            )
        };
        assert!(holds(&line("", 1), true));
        assert!(!holds(&line("", 2), true));
        assert!(!holds(&line("", 1), false));
        assert!(!holds(&line(r#","origin":{"kind":"human"}"#, 2), true));
        for more in [
            r#","isMeta":true"#,
            r#","isSidechain":true"#,
            r#","isCompactSummary":true"#,
            r#","origin":{"kind":"peer"}"#,
            r#","toolUseResult":{}"#,
        ] {
            assert!(holds(&line(more, 2), true), "{more}");
        }
        let marker = line("", 2).replace("\"hi\"", "\"<tick>\"");
        assert!(holds(&marker, true));
        let image = line("", 2).replace("\"hi\"", r#"[{"type":"image"}]"#);
        assert!(!holds(&image, true));
    }
}
