//! The head and the tail of a transcript, searched without reading its lines.
//!
//! A session's metadata stands in its first and last 64 KiB. What is searched for are members with
//! a string value; a quote inside a JSON string is escaped, so that text in a message is not taken
//! for a member.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr2, memrchr};
use towline_protocol::json::{string, validate};
use towline_protocol::launch::Dialect;

use crate::prompt::{attachment_of_head, FirstPrompt};

/// How much of a transcript's start and of its end is looked at.
pub(crate) const WINDOW: usize = 64 * 1024;

/// The head and the tail of a transcript; the same bytes if it is short.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Windows<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) tail: &'a [u8],
}

/// A member's name with what stands around it.
struct Field(Finder<'static>);

macro_rules! fields {
    ($($name:ident = $member:literal;)*) => {$(
        static $name: LazyLock<Field> =
            LazyLock::new(|| Field(Finder::new(concat!("\"", $member, "\":"))));
    )*};
}

fields! {
    CUSTOM_TITLE = "customTitle";
    AI_TITLE = "aiTitle";
    LAST_PROMPT = "lastPrompt";
    SUMMARY = "summary";
    GIT_BRANCH = "gitBranch";
    CWD = "cwd";
    TAG = "tag";
    TIMESTAMP = "timestamp";
    ENTRYPOINT = "entrypoint";
    SESSION_KIND = "sessionKind";
}

/// What a list tells of a session, as far as the windows show it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Metadata {
    pub(crate) title: Option<String>,
    pub(crate) first_prompt: Option<String>,
    pub(crate) summary: String,
    pub(crate) git_branch: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) timestamp: Option<String>,
}

impl Windows<'_> {
    /// `None` for a session that no list shows: a subagent's, and one that nothing was said in.
    pub(crate) fn metadata(&self, dialect: Dialect) -> Option<Metadata> {
        if self.is_sidechain() {
            return None;
        }
        let title = self.title();
        let first_prompt = FirstPrompt::of_head(self.head, dialect);
        let summary = title
            .clone()
            .or_else(|| LAST_PROMPT.last(self.tail))
            .or_else(|| SUMMARY.last(self.tail))
            .or_else(|| first_prompt.clone())
            .or_else(|| match dialect {
                Dialect::TypeScript => attachment_of_head(self.head).map(str::to_owned),
                Dialect::Towline | Dialect::Python => None,
            })?;
        Some(Metadata {
            title,
            first_prompt,
            summary,
            git_branch: GIT_BRANCH
                .last(self.tail)
                .or_else(|| GIT_BRANCH.first(self.head)),
            cwd: CWD.first(self.head),
            tag: self.tag(),
            timestamp: TIMESTAMP.first(self.head),
        })
    }

    /// The title somebody gave the session, else the one the CLI made up.
    pub(crate) fn title(&self) -> Option<String> {
        CUSTOM_TITLE
            .last(self.tail)
            .or_else(|| CUSTOM_TITLE.last(self.other_head()))
            .or_else(|| AI_TITLE.last(self.tail))
            .or_else(|| AI_TITLE.last(self.other_head()))
    }

    /// The title, else the first prompt.
    pub(crate) fn title_or_prompt(&self, dialect: Dialect) -> Option<String> {
        self.title()
            .or_else(|| FirstPrompt::of_head(self.head, dialect))
    }

    /// Whether a program ran the session: one of the SDKs, or a daemon.
    pub(crate) fn is_programmatic(&self) -> bool {
        let entrypoint = ENTRYPOINT
            .first(self.head)
            .or_else(|| ENTRYPOINT.last(self.tail));
        matches!(entrypoint.as_deref(), Some("sdk-cli" | "sdk-ts" | "sdk-py"))
            || matches!(
                SESSION_KIND.first(self.head).as_deref(),
                Some("daemon" | "daemon-worker")
            )
    }

    /// The head, if it is not the tail too.
    pub(crate) fn other_head(&self) -> &[u8] {
        if std::ptr::eq(self.head, self.tail) {
            &[]
        } else {
            self.head
        }
    }

    fn is_sidechain(&self) -> bool {
        let line = self.head.split(|byte| *byte == b'\n').next();
        let line = line.unwrap_or_default();
        memchr::memmem::find(line, b"\"isSidechain\":true").is_some()
            || memchr::memmem::find(line, b"\"isSidechain\": true").is_some()
    }

    /// The value of the last tag line. Other lines are not looked at: the input of a tool may well
    /// have a member of that name.
    fn tag(&self) -> Option<String> {
        let mut rest = self.tail;
        loop {
            let start = memrchr(b'\n', rest).map_or(0, |at| at + 1);
            let line = rest.get(start..).unwrap_or_default();
            if line.starts_with(b"{\"type\":\"tag\"") {
                return TAG.last(line);
            }
            rest = rest.get(..start.checked_sub(1)?).unwrap_or_default();
        }
    }
}

/// How many bytes of a window are searched at once for the last of something, from the end.
const STRIDE: usize = 4096;

impl Field {
    /// The first value in a window; `None` if it is empty. One with a space before it counts if
    /// there is none without, as for the CLI.
    fn first(&self, window: &[u8]) -> Option<String> {
        let mut spaced = None;
        let mut at = 0;
        while let Some(found) = self.0.find(window.get(at..).unwrap_or_default()) {
            at += found + self.0.needle().len();
            if spaced.is_some() && window.get(at) != Some(&b'"') {
                continue;
            }
            match value_at(window, at) {
                Some(value) if window.get(at) == Some(&b'"') => {
                    return Some(value).filter(|value| !value.is_empty());
                }
                value => spaced = value,
            }
        }
        spaced.filter(|value| !value.is_empty())
    }

    /// The last value in a window; `None` if it is empty.
    fn last(&self, window: &[u8]) -> Option<String> {
        let length = self.0.needle().len();
        let mut end = window.len();
        loop {
            let start = end.saturating_sub(STRIDE);
            // A name may lie across the border of two strides.
            let stop = (end + length - 1).min(window.len());
            let stride = window.get(start..stop).unwrap_or_default();
            let mut last = None;
            for found in self.0.find_iter(stride) {
                let value = start + found + length;
                last = value_at(window, value).or(last);
            }
            match last {
                Some(value) => return Some(value).filter(|value| !value.is_empty()),
                None if start == 0 => return None,
                None => end = start,
            }
        }
    }
}

/// The string behind a name, if it is one and has an end.
fn value_at(window: &[u8], at: usize) -> Option<String> {
    let rest = window.get(at..)?;
    let body = rest
        .strip_prefix(b"\"")
        .or_else(|| rest.strip_prefix(b" \""))?;
    let mut end = 0;
    loop {
        end += memchr2(b'"', b'\\', body.get(end..)?)?;
        if body.get(end) == Some(&b'"') {
            break;
        }
        end += 2;
    }
    Some(unescaped(body.get(..end)?))
}

fn unescaped(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    if !raw.contains('\\') {
        return raw.into_owned();
    }
    let quoted = format!("\"{raw}\"");
    match validate(&quoted) {
        Ok(()) => string(&quoted).map(Cow::into_owned).unwrap_or_default(),
        Err(_) => raw.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn whole(text: &str) -> Windows<'_> {
        let bytes = text.as_bytes();
        Windows {
            head: bytes,
            tail: bytes,
        }
    }

    #[test]
    fn titles_and_what_stands_for_one() {
        let title = |text: &str| {
            whole(text)
                .metadata(Dialect::Python)
                .map(|found| found.summary)
        };
        let prompt = r#"{"type":"user","message":{"content":"hi"}}"#;
        assert_eq!(title(prompt).as_deref(), Some("hi"));
        let lines = [
            (r#"{"type":"summary","summary":"s"}"#, "s"),
            (r#"{"type":"last-prompt","lastPrompt":"p"}"#, "p"),
            (r#"{"type":"ai-title","aiTitle":"a"}"#, "a"),
            (r#"{"type":"custom-title","customTitle":"c"}"#, "c"),
            (
                r#"{"type":"custom-title","customTitle": "d\n\u00e9"}"#,
                "d\né",
            ),
            // A cut value does not count.
            (r#"{"type":"custom-title","customTitle":"e"#, "d\né"),
        ];
        let mut text = prompt.to_owned();
        for (line, expected) in lines {
            text = format!("{text}\n{line}");
            assert_eq!(title(&text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(title("{}\n"), None);
        assert_eq!(title(""), None);
        let sidechain = format!("{{\"isSidechain\":true}}\n{prompt}");
        assert_eq!(title(&sidechain), None);
    }

    #[test]
    fn an_empty_title_gives_way() {
        let text = concat!(
            r#"{"aiTitle":"a"}"#,
            "\n",
            r#"{"customTitle":"c"}"#,
            "\n",
            r#"{"customTitle":""}"#
        );
        assert_eq!(whole(text).title().as_deref(), Some("a"));
    }

    #[test]
    fn tags_stand_in_lines_of_their_own() {
        let tag = |text| whole(text).tag();
        assert_eq!(tag(r#"{"input":{"tag":"v1"}}"#), None);
        assert_eq!(
            tag("{\"type\":\"tag\",\"tag\":\"v1\"}\n{}\n").as_deref(),
            Some("v1")
        );
        assert_eq!(
            tag("{\"type\":\"tag\",\"tag\":\"v1\"}\n{\"type\":\"tag\",\"tag\":\"\"}"),
            None
        );
        assert_eq!(tag("x{\"type\":\"tag\",\"tag\":\"v1\"}"), None);
    }

    #[test]
    fn escapes_that_are_none_are_kept() {
        assert_eq!(unescaped(br"a\x"), r"a\x");
        assert_eq!(unescaped(br"a\ud83d"), "a\u{fffd}");
        assert_eq!(unescaped(br#"a\"\\"#), "a\"\\");
    }

    proptest! {
        /// The last value is found wherever it stands, across the strides too.
        #[test]
        fn the_last_one_is_found(before in 0usize..9000, after in 0usize..9000, second in any::<bool>()) {
            let mut text = " ".repeat(before);
            text.push_str("\"tag\":\"one\"");
            if second {
                text.push_str(&" ".repeat(before / 2));
                text.push_str("\"tag\":\"two\"");
            }
            text.push_str(&" ".repeat(after));
            let expected = if second { "two" } else { "one" };
            let found = (TAG.first(text.as_bytes()), TAG.last(text.as_bytes()));
            prop_assert_eq!(found.1.as_deref(), Some(expected));
            prop_assert_eq!(found.0.as_deref(), Some("one"));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut noisy = b"{\"customTitle\":\"".to_vec();
            noisy.extend(bytes);
            Windows { head: &noisy, tail: &noisy }.metadata(Dialect::Python);
        }
    }
}
