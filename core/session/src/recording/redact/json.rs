//! Secrets in JSON: in its texts, in JSON that stands in its texts, and in what is left of it when it was cut.

use std::borrow::Cow;

use towline_protocol::json;

use super::names::is_secret_member;
use super::{Redactor, DEEPEST, REDACTED};

/// Of `\u0041`.
const CODE_LENGTH: usize = 6;

impl Redactor {
    /// A line of the protocol without its secrets. Of one that is not JSON, or was cut, the text is
    /// looked at, and what of JSON stands in it.
    pub fn line(&self, line: &str) -> String {
        match json::validate(line) {
            Ok(()) => self.json(line, DEEPEST),
            Err(_) => self.cut(line, DEEPEST).into_owned(),
        }
    }

    /// A text that may be JSON itself.
    pub(super) fn value<'a>(&self, text: &'a str, depth: usize) -> Cow<'a, str> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.text(text);
        };
        let is_json =
            text.trim_start().starts_with(['{', '[', '"']) && json::validate(text).is_ok();
        match is_json {
            true => Cow::Owned(self.json(text, depth)),
            false => self.cut(text, depth),
        }
    }

    /// A text that may hold JSON, whole or cut.
    fn cut<'a>(&self, text: &'a str, depth: usize) -> Cow<'a, str> {
        let begins = match text.trim_start().starts_with('"') {
            true => Some(0),
            false => text.find(['{', '[']),
        };
        // Without a name in quotes there is no more in it than in any text.
        let Some((before, rest)) = begins.and_then(|at| text.split_at_checked(at)) else {
            return self.text(text);
        };
        if !rest.contains('"') {
            return self.text(text);
        }
        let clean = self.json(rest, depth);
        match clean == rest {
            true => self.text(text),
            false => {
                let clean = format!("{before}{clean}");
                Cow::Owned(self.text(&clean).into_owned())
            }
        }
    }

    /// One pass over JSON, which may be cut, or only look like it. Recursion is for JSON in texts alone,
    /// `depth` deep.
    fn json(&self, text: &str, depth: usize) -> String {
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len());
        // For each open container, whether every text in it is secret.
        let mut open: Vec<bool> = Vec::new();
        // Whether the value of the member that is being read is.
        let mut secret = false;
        let mut copied = 0;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    open.push(secret || open.last().copied().unwrap_or(false));
                    secret = false;
                    at += 1;
                }
                b'}' | b']' => {
                    open.pop();
                    secret = false;
                    at += 1;
                }
                b',' => {
                    secret = false;
                    at += 1;
                }
                b'"' => {
                    let (end, is_whole) = string_end(bytes, at);
                    let quoted = text.get(at..end).unwrap_or_default();
                    let hidden = secret || open.last().copied().unwrap_or(false);
                    // No string of JSON: what follows may begin one.
                    if !hidden {
                        if let Some(control) = quoted.bytes().position(|byte| byte < b' ') {
                            at += control;
                            continue;
                        }
                    }
                    let is_name = followed_by_colon(bytes, end);
                    let value = match is_whole {
                        true => json::string(quoted),
                        false => beginning(quoted).map(Cow::Owned),
                    };
                    let value = value.unwrap_or_default();
                    let clean = match hidden && !is_name && !value.is_empty() {
                        true => Cow::Borrowed(REDACTED),
                        false => self.value(&value, depth),
                    };
                    if clean != value {
                        out.push_str(text.get(copied..at).unwrap_or_default());
                        json::push_string(&mut out, &clean);
                        if !is_whole {
                            out.pop();
                        }
                        copied = end;
                    }
                    if is_name {
                        secret = is_secret_member(&value);
                    }
                    at = end;
                }
                _ => at += 1,
            }
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    }
}

/// The end of a string, from its opening quote, and whether its closing one is there.
fn string_end(bytes: &[u8], start: usize) -> (usize, bool) {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return (at + 1, true),
            Some(_) => at += 1,
            None => return (bytes.len(), false),
        }
    }
}

/// The text of a string that was cut, without an escape that was cut too.
fn beginning(quoted: &str) -> Option<String> {
    let bytes = quoted.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => CODE_LENGTH,
            (b'\\', _) => 2,
            _ => 0,
        };
        if at + escape > bytes.len() {
            break;
        }
        at += escape.clamp(1, 2);
    }
    let closed = format!("{}\"", quoted.get(..at)?);
    json::string(&closed).map(Cow::into_owned)
}

fn followed_by_colon(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    rest.iter()
        .find(|byte| !byte.is_ascii_whitespace())
        .is_some_and(|byte| *byte == b':')
}
