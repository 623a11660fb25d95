//! Texts that are secrets wherever they stand.

use std::borrow::Cow;

use regex_lite::Regex;

use super::keys::Keys;
use super::values::value_at;
use super::REDACTED;

/// What a terminal's colours begin with.
const ESCAPE: char = '\x1b';

/// What such texts look like.
pub(super) struct Pattern {
    /// One of these stands in every such text: the rest need not be looked at closely.
    pub(super) marks: &'static [&'static str],
    /// Matched against the text as [`without_escapes`] shows it.
    pub(super) pattern: &'static str,
    found: Found,
}

/// What of a match is the secret.
#[derive(Clone, Copy)]
pub(super) enum Found {
    /// Its first group, or all of it.
    Text(&'static str),
    /// All of it, and the private key that follows.
    Key,
    /// The value that follows it.
    Value,
    /// The value that follows it, where it looks like one: the name may stand in a sentence.
    LikelyValue,
}

pub(super) static PATTERNS: [Pattern; 15] = [
    Pattern {
        marks: &["PRIVATE KEY"],
        pattern: "-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----",
        found: Found::Key,
    },
    // One whose beginning was cut off.
    Pattern {
        marks: &["PRIVATE KEY"],
        pattern: concat!(
            r#"(?:[A-Za-z0-9+/=]{40,}\s+)+(?:[A-Za-z0-9+/=]+\s+)?"#,
            r#"-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &[
            "sk-",
            "sk_",
            "pk-",
            "pk_",
            "rk-",
            "rk_",
            "gh",
            "glpat-",
            "npm_",
            "pypi-",
            "xox",
            "AKIA",
            "ASIA",
            "AIza",
            "hf_",
            "ya29.",
            "SG.",
            "hooks.slack.com/",
        ],
        pattern: r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}|\bhf_[A-Za-z0-9]{20,}|\bya29\.[A-Za-z0-9_-]{20,}|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bhooks\.slack\.com/services/[A-Za-z0-9/_-]+",
        found: Found::Text(REDACTED),
    },
    // One that was cut is known by its first two parts.
    Pattern {
        marks: &["eyJ"],
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["earer", "EARER", "asic", "ASIC"],
        pattern: r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})",
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &[
            "KEY",
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "CREDENTIALS",
        ],
        pattern: concat!(
            r#"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)"#,
            r#"["'\x01]*[ \t]*[=:][ \t]*"#,
        ),
        found: Found::Value,
    },
    Pattern {
        marks: &["ey", "EY", "oken", "OKEN", "ecret", "ECRET", "assw", "ASSW"],
        pattern: concat!(
            r#"(?i)(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|auth[-_]?key"#,
            r#"|account[-_]?key|session[-_]?key"#,
            r#"|token|secret|password|passwd|passphrase)["'\x01]*[ \t]*(?::=|=>|[=:])[ \t]*"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["--"],
        pattern: concat!(
            r#"(?i)--[a-z0-9_-]*(?:api[-_]?key|access[-_]?key|secret[-_]?key"#,
            r#"|token|secret|password|passwd|passphrase)[ \t]+"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["uthorization", "UTHORIZATION"],
        pattern: concat!(
            r#"(?i)authorization["'\x01]*[ \t]*[=:][ \t]*"#,
            r#"(?:(?:basic|bearer|digest|negotiate|token)[ \t]+)?"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["ookie", "OOKIE"],
        pattern: concat!(
            r#"(?i)\bcookie["'\x01]*[ \t]*:[ \t]*["'\x01]*"#,
            r#"([^\s"'\x01=;:,]+=[^\r\n"'\x01]+)"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["curl"],
        pattern: concat!(
            r#"\bcurl\b[^\r\n]*?\s(?:-[A-Za-z]*u|--user|--proxy-user)[\s=]*"#,
            r#"(?:["'\x01]+([^:"'\x01\r\n]+:[^"'\x01\r\n]+)["'\x01]"#,
            r#"|["'\x01]*([^\s:"'\x01]+:[^\s"'\x01]+))"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["://"],
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:"'\x01]*:([^\s/"'\x01]+)@"#,
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["@"],
        pattern: r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b",
        found: Found::Text("user@example.com"),
    },
    Pattern {
        marks: &["home/", "Users/"],
        pattern: concat!(
            r"/(?:home|Users)/+([^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]+",
            r"(?: [A-Z][^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]*){1,2})(?:[/\\\x01\x22']|$)",
            r"|/(?:home|Users)/+([^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]+)",
        ),
        found: Found::Text("user"),
    },
    // As many backslashes before the name as before the folder: a further one begins an escape.
    Pattern {
        marks: &["\\Users\\", "\\users\\"],
        pattern: concat!(
            r"[A-Za-z]:(?:\\[Uu]sers\\|\\{2}[Uu]sers\\{2}|\\{4}[Uu]sers\\{4}|\\{8}[Uu]sers\\{8}|\\{16}[Uu]sers\\{16})",
            r"(?:([^/\\\s:;,<>|*?\x22'`()\[\]{}]+(?: [A-Z][^/\\\s:;,<>|*?\x22'`()\[\]{}]*){1,2})",
            r"(?:[/\\\x22']|$)|([^/\\\s:;,<>|*?\x22'`()\[\]{}]+))",
        ),
        found: Found::Text("user"),
    },
];

/// Replaces what this pattern finds.
pub(super) fn replace(text: &str, regex: &Regex, pattern: &Pattern) -> Option<String> {
    let view = without_escapes(text);
    let mut out = String::new();
    let mut copied = 0;
    // Tells where the next secret may begin.
    let mut hide = |range: std::ops::Range<usize>, with: &str| {
        if range.start >= copied && text.get(range.clone()).is_some_and(|old| old != with) {
            out.push_str(text.get(copied..range.start).unwrap_or_default());
            out.push_str(with);
            copied = range.end;
        }
        copied
    };
    match pattern.found {
        Found::Text(with) => {
            for found in regex.captures_iter(&view) {
                let group = (1..found.len()).find_map(|index| found.get(index));
                if let Some(secret) = group.or(found.get(0)) {
                    hide(secret.range(), with);
                }
            }
        }
        Found::Key => {
            let mut keys = Keys::default();
            let mut next = 0;
            for found in regex.find_iter(&view) {
                if found.start() >= next {
                    next = hide(found.start()..keys.end(&view, found.end()), REDACTED);
                }
            }
        }
        Found::Value | Found::LikelyValue => {
            let likely = matches!(pattern.found, Found::LikelyValue);
            let mut next = 0;
            for found in regex.find_iter(&view) {
                // What stands within a value is not measured again, or much would take for ever.
                if found.end() < next {
                    continue;
                }
                if let Some(value) = value_at(&view, found.end(), likely) {
                    next = hide(value, REDACTED);
                }
            }
        }
    }
    (copied > 0).then(|| {
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    })
}

/// The text with blanks in the place of escapes, as they stand in JSON, of any depth, and of a
/// terminal's colours; every other byte stays in its place. Backslashes before a quote become `\x01`.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut view = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        if *byte == ESCAPE as u8 {
            view.push_str(text.get(copied..start).unwrap_or_default());
            at += 1 + colour_length(bytes, at + 1);
            view.extend(std::iter::repeat_n(' ', at - start));
            copied = at;
            continue;
        }
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        while bytes.get(at) == Some(&b'\\') {
            at += 1;
        }
        // A folder of Windows is no escape.
        let is_folder = text
            .get(..start)
            .is_some_and(|before| before.ends_with("Users") || before.ends_with("users"));
        let (blank, letters) = match bytes.get(at) {
            Some(b'"') => ('\x01', 0),
            Some(b'/') => ('/', 0),
            _ if is_folder => continue,
            Some(b't') => ('\t', 1),
            Some(b'b' | b'f' | b'n' | b'r') => ('\n', 1),
            Some(b'u') if is_escape(bytes.get(at + 1..at + 5)) => {
                (' ', 5 + colour_length(bytes, at + 5))
            }
            Some(b'u') if is_code(bytes.get(at + 1..at + 5)) => ('\n', 5),
            _ => continue,
        };
        view.push_str(text.get(copied..start).unwrap_or_default());
        at += letters;
        view.extend(std::iter::repeat_n(blank, at - start));
        copied = at;
    }
    view.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(view)
}

fn is_escape(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.eq_ignore_ascii_case(b"001b"))
}

/// How long what follows a terminal's escape is: `[01;31m`.
fn colour_length(bytes: &[u8], start: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let Some((b'[', sequence)) = rest.split_first() else {
        return 0;
    };
    let parameters = sequence
        .iter()
        .take_while(|byte| matches!(byte, 0x20..=0x3f))
        .count();
    match sequence.get(parameters) {
        Some(0x40..=0x7e) => parameters + 2,
        _ => 1 + parameters,
    }
}

fn is_code(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}
