//! JSON strings: reading one, writing one, and the surrogates that JavaScript lets through.

use alloc::borrow::Cow;
use alloc::string::String;

/// What kind of value a JSON text is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of a validated JSON text.
    pub fn of(text: &str) -> Option<Kind> {
        Some(match text.trim_start().as_bytes().first()? {
            b'n' => Kind::Null,
            b't' | b'f' => Kind::Bool,
            b'"' => Kind::String,
            b'[' => Kind::Array,
            b'{' => Kind::Object,
            _ => Kind::Number,
        })
    }
}

/// The value of a JSON string given as validated text with its quotes; `None` for any other kind.
///
/// Borrows when there is no escape. A lone surrogate escape, which `JSON.stringify` writes for
/// text that was cut in the middle of an emoji, becomes U+FFFD.
pub fn string(text: &str) -> Option<Cow<'_, str>> {
    let inner = quoted(text).or_else(|| quoted(text.trim()))?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    Some(Cow::Owned(unescaped(inner)))
}

/// The same for a text without white space around it of which is known whether it has escapes.
#[inline(always)]
pub(crate) fn scanned_string(text: &str, escaped: bool) -> Option<Cow<'_, str>> {
    let inner = quoted(text)?;
    Some(if escaped {
        Cow::Owned(unescaped(inner))
    } else {
        Cow::Borrowed(inner)
    })
}

#[inline(always)]
fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

#[inline(never)]
fn unescaped(body: &str) -> String {
    let mut plain = String::with_capacity(body.len());
    unescape(body, &mut plain);
    plain
}

/// Appends the value of a validated string body to `out`.
pub(super) fn unescape(mut body: &str, out: &mut String) {
    while let Some(at) = memchr::memchr(b'\\', body.as_bytes()) {
        let (plain, rest) = body.split_at(at);
        out.push_str(plain);
        let mut chars = rest.chars();
        chars.next();
        match chars.next() {
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let (character, length) = unicode_escape(rest);
                out.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
                body = rest.get(length..).unwrap_or_default();
                continue;
            }
            Some(other) => out.push(other),
            None => {}
        }
        body = chars.as_str();
    }
    out.push_str(body);
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// The character of the `\uXXXX` escape (or pair of them) at the start of `text`, `None` for a lone
/// surrogate, and the length of what was read.
fn unicode_escape(text: &str) -> (Option<char>, usize) {
    match hex4(text) {
        Some(high @ 0xd800..=0xdbff) => match text.get(6..).and_then(hex4) {
            Some(low @ 0xdc00..=0xdfff) => {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code), 12)
            }
            _ => (None, 6),
        },
        Some(code) => (char::from_u32(code), 6),
        None => (None, text.len().min(6)),
    }
}

/// The same JSON text with every lone surrogate escape replaced by `\ufffd`, so that a decoder that
/// insists on Unicode scalar values takes it. Borrows when there is none.
pub fn surrogates_replaced(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', text.as_bytes().get(at..).unwrap_or_default()) {
        let start = at + found;
        let rest = text.get(start..).unwrap_or_default();
        if !rest.starts_with("\\u") {
            at = start + 2;
            continue;
        }
        let (character, length) = unicode_escape(rest);
        if character.is_none() {
            let out = out.get_or_insert_with(|| String::with_capacity(text.len()));
            out.push_str(text.get(copied..start).unwrap_or_default());
            out.push_str("\\ufffd");
            copied = start + length;
        }
        at = start + length;
    }
    match out {
        None => Cow::Borrowed(text),
        Some(mut out) => {
            out.push_str(text.get(copied..).unwrap_or_default());
            Cow::Owned(out)
        }
    }
}

/// Appends `text` to `out` as a JSON string with its quotes.
pub fn push_string(out: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    let mut copied = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(copied..at).unwrap_or_default());
        if short.is_empty() {
            out.push_str("\\u00");
            out.push(char::from(HEX[usize::from(byte >> 4)]));
            out.push(char::from(HEX[usize::from(byte & 15)]));
        } else {
            out.push_str(short);
        }
        copied = at + 1;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        assert_eq!(string(r#""a\ud83d""#).unwrap(), "a\u{fffd}");
        assert_eq!(string(r#""\ude00b""#).unwrap(), "\u{fffd}b");
        assert_eq!(string(r#""\ud83d\ud83d\ude00""#).unwrap(), "\u{fffd}😀");
        assert_eq!(string(r#""\\ud83d\ud83d\ude00""#).unwrap(), "\\ud83d😀");
        assert_eq!(
            surrogates_replaced(r#"{"a":"\ud83dx","b":"\\ud83d\ud83d\ude00"}"#),
            r#"{"a":"\ufffdx","b":"\\ud83d\ud83d\ude00"}"#
        );
        assert!(matches!(
            surrogates_replaced(r#""\n\u00e9""#),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn other_kinds_are_no_string() {
        for text in ["null", "1", "[]", "{}", "true", "\""] {
            assert_eq!(string(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn written_strings_read_back(text in any::<String>()) {
            let mut json = String::new();
            push_string(&mut json, &text);
            let read = string(&json).unwrap();
            prop_assert_eq!(read.as_ref(), text.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
