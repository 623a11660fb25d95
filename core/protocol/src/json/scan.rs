//! A validating scanner: one pass over the bytes, no tree, no recursion.

use alloc::string::String;
use alloc::vec::Vec;

use super::text;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at}")]
pub struct ScanError {
    /// Byte offset in the text.
    pub at: usize,
    /// What was found wrong there.
    pub what: &'static str,
}

type Scanned<T> = Result<T, ScanError>;

/// Checks that `text` is one JSON value with nothing but white space around it (RFC 8259).
///
/// Depth is limited by memory only: one bit a level.
pub fn validate(text: &str) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    scanner.value()?;
    scanner.end()
}

/// Validates `text` as one JSON object and calls `visit(key, value)` for each of its members, in
/// order, duplicates included. `key` is unescaped, `value` is the member's own JSON text.
///
/// `visit` may have been called for some members before an error is found.
pub fn members<'a>(text: &'a str, visit: impl FnMut(&str, &'a str)) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    scanner.object(text, visit, |scanner, _| scanner.value())?;
    scanner.end()
}

/// As [`members`], and in the same pass calls `visit_inner` for the members of the member named
/// `inner` when that is an object.
pub fn nested_members<'a>(
    text: &'a str,
    inner: &str,
    visit: impl FnMut(&str, &'a str),
    mut visit_inner: impl FnMut(&str, &'a str),
) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    let mut step = |scanner: &mut Scanner<'a>, key: &str| {
        if key == inner && scanner.peek() == Some(b'{') {
            scanner.object(text, &mut visit_inner, |scanner, _| scanner.value())
        } else {
            scanner.value()
        }
    };
    scanner.object(text, visit, &mut step)?;
    scanner.end()
}

/// Validates `text` as one JSON array and calls `visit(value)` for the JSON text of each element.
pub fn elements<'a>(text: &'a str, mut visit: impl FnMut(&'a str)) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text);
    scanner.space();
    if scanner.peek() != Some(b'[') {
        return Err(scanner.error("not an array"));
    }
    scanner.at += 1;
    scanner.space();
    if scanner.peek() == Some(b']') {
        scanner.at += 1;
        return scanner.end();
    }
    loop {
        let start = scanner.at;
        scanner.value()?;
        visit(text.get(start..scanner.at).unwrap_or_default());
        scanner.space();
        match scanner.peek() {
            Some(b',') => {
                scanner.at += 1;
                scanner.space();
            }
            Some(b']') => {
                scanner.at += 1;
                return scanner.end();
            }
            _ => return Err(scanner.error("expected ',' or ']'")),
        }
    }
}

/// The open containers, one bit each (set: object).
#[derive(Default)]
struct Open {
    bits: u64,
    depth: usize,
    full: Vec<u64>,
}

impl Open {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth % 64 == 0 {
            self.full.push(self.bits);
        }
        self.bits = (self.bits << 1) | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.bits >>= 1;
        if self.depth > 0 && self.depth % 64 == 0 {
            self.bits = self.full.pop().unwrap_or_default();
        }
    }

    fn in_object(&self) -> bool {
        self.bits & 1 == 1
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Scanner {
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[cold]
    fn error(&self, what: &'static str) -> ScanError {
        ScanError { at: self.at, what }
    }

    #[inline(always)]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    #[inline(always)]
    fn take(&mut self, byte: u8, what: &'static str) -> Scanned<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    /// Steps over an object, from its brace; `step(self, key)` steps over each value.
    #[inline(always)]
    fn object(
        &mut self,
        text: &'a str,
        mut visit: impl FnMut(&str, &'a str),
        mut step: impl FnMut(&mut Self, &str) -> Scanned<()>,
    ) -> Scanned<()> {
        if self.peek() != Some(b'{') {
            return Err(self.error("not an object"));
        }
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a member name"));
            }
            let start = self.at + 1;
            let escaped = self.string()?;
            let key = text.get(start..self.at - 1).unwrap_or_default();
            let mut plain = String::new();
            let key = if escaped {
                text::unescape(key, &mut plain);
                plain.as_str()
            } else {
                key
            };
            self.space();
            self.take(b':', "expected ':'")?;
            self.space();
            let start = self.at;
            step(self, key)?;
            visit(key, text.get(start..self.at).unwrap_or_default());
            self.space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.space();
                }
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                _ => return Err(self.error("expected ',' or '}'")),
            }
        }
    }

    fn end(&mut self) -> Scanned<()> {
        self.space();
        if self.at == self.bytes.len() {
            Ok(())
        } else {
            Err(self.error("text after the value"))
        }
    }

    /// Steps over one value; `at` stands on its first byte and ends behind its last.
    #[inline]
    fn value(&mut self) -> Scanned<()> {
        match self.peek() {
            Some(b'"') => self.string().map(|_| ()),
            Some(b'{' | b'[') => self.container(),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Scanned<()> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(_) => Err(self.error("expected a value")),
            None => Err(self.error("the text ends before a value")),
        }
    }

    #[inline(always)]
    fn member_name(&mut self) -> Scanned<()> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a member name"));
        }
        self.string()?;
        self.space();
        self.take(b':', "expected ':'")?;
        self.space();
        Ok(())
    }

    fn container(&mut self) -> Scanned<()> {
        let mut open = Open::default();
        loop {
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        open.push(true);
                        self.member_name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                Some(b'"') => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            loop {
                if open.depth == 0 {
                    return Ok(());
                }
                self.space();
                match (self.peek(), open.in_object()) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.space();
                        self.member_name()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        self.space();
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    (_, true) => return Err(self.error("expected ',' or '}'")),
                    (_, false) => return Err(self.error("expected ',' or ']'")),
                }
            }
        }
    }

    /// Steps over a string, from its opening quote; tells whether it has escapes.
    #[inline(always)]
    fn string(&mut self) -> Scanned<bool> {
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain_length(self.bytes.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("unterminated string")),
            }
        }
    }

    fn escape(&mut self) -> Scanned<()> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 2;
                Ok(())
            }
            Some(b'u') => match self.bytes.get(self.at + 2..self.at + 6) {
                Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => {
                    self.at += 6;
                    Ok(())
                }
                _ => Err(self.error("bad \\u escape")),
            },
            Some(_) => Err(self.error("unknown escape")),
            None => Err(self.error("unterminated string")),
        }
    }

    fn digits(&mut self) -> Scanned<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            Err(self.error("expected a digit"))
        } else {
            Ok(())
        }
    }

    fn number(&mut self) -> Scanned<()> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Scanned<()> {
        if self.bytes.get(self.at..self.at + word.len()) == Some(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.error("expected a value"))
        }
    }
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES * 0x80;

/// The high bit of each byte that is `"`, `\` or below 0x20; exact up to the lowest such byte.
#[inline(always)]
fn special(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    ((quote.wrapping_sub(ONES) & !quote)
        | (slash.wrapping_sub(ONES) & !slash)
        | (word.wrapping_sub(ONES * 0x20) & !word))
        & HIGH
}

/// How many bytes stand before the first `"`, `\` or control character.
#[inline(always)]
fn plain_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    for chunk in bytes.chunks_exact(8) {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        let found = special(u64::from_le_bytes(word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::{format, vec};
    use proptest::prelude::*;

    #[test]
    fn accepts_what_rfc_8259_accepts() {
        for text in [
            "{}",
            "[]",
            " null ",
            "true",
            "false",
            "0",
            "-0",
            "1.5e-7",
            "\"\"",
            "\"\\u00e9\\n\"",
            "[1,2,[3,{\"a\":[]}]]",
            "{\"a\":{\"b\":{}},\"c\":[{},[]]}",
            "\"\\ud800\"",
        ] {
            assert_eq!(validate(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn refuses_what_rfc_8259_refuses() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "[",
            "]",
            "[1,]",
            "{\"a\":1,}",
            "{\"a\"}",
            "{a:1}",
            "01",
            "1.",
            "-",
            "1e",
            ".5",
            "+1",
            "tru",
            "nul",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\u{1}\"",
            "{}{}",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "[}",
            "{]",
            "NaN",
            "{\"a\":}",
            "'a'",
            "\"\\",
            "\"\\u12",
        ] {
            assert!(validate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn depth_is_limited_by_memory_only() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 1000, 100_000] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(validate(&text), Ok(()), "{depth}");
            let mixed = format!("{}1{}", "[{\"a\":".repeat(depth), "}]".repeat(depth));
            assert_eq!(validate(&mixed), Ok(()), "{depth}");
            assert!(validate(&format!(
                "{}1{}",
                "[{\"a\":".repeat(depth),
                "]}".repeat(depth)
            ))
            .is_err());
        }
    }

    #[test]
    fn members_are_given_in_order_with_unescaped_keys() {
        let mut seen = vec![];
        members(
            " {\"\\u0074ype\" : \"a b\" , \"n\":[1, 2],\"n\":3} ",
            |key, value| {
                seen.push((key.to_string(), value));
            },
        )
        .unwrap();
        assert_eq!(
            seen,
            [
                ("type".into(), "\"a b\""),
                ("n".into(), "[1, 2]"),
                ("n".into(), "3")
            ]
        );
    }

    #[test]
    fn inner_members_come_in_the_same_pass() {
        for (text, outer, inner) in [
            (
                r#"{"a":1,"in":{"x":[{}],"\u0079":2} ,"b":{"x":3}}"#,
                vec!["a", "in", "b"],
                vec![("x", "[{}]"), ("y", "2")],
            ),
            (r#"{"in":[{"x":1}]}"#, vec!["in"], vec![]),
            (r#"{"in":{}}"#, vec!["in"], vec![]),
            (r#"{}"#, vec![], vec![]),
        ] {
            let (mut seen, mut seen_inner) = (vec![], vec![]);
            nested_members(
                text,
                "in",
                |key, _| seen.push(key.to_string()),
                |key, value| seen_inner.push((key.to_string(), value)),
            )
            .unwrap();
            assert_eq!(seen, outer);
            let inner: alloc::vec::Vec<_> = inner
                .into_iter()
                .map(|(key, value)| (key.to_string(), value))
                .collect();
            assert_eq!(seen_inner, inner);
        }
        for text in [
            "",
            "[]",
            r#"{"in":{"x":1}"#,
            r#"{"in":{"x":1,}}"#,
            r#"{"in":{"x"}}"#,
            r#"{"in":{}}}"#,
        ] {
            assert!(nested_members(text, "in", |_, _| {}, |_, _| {}).is_err());
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}\",:0-9a-z\\\\ .eE+-]{0,24}") {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(validate(&text).is_ok(), theirs, "{}", text);
        }

        #[test]
        fn strings_of_any_length_and_content(text in "\\PC{0,40}", pad in 0usize..24) {
            let value = format!("{}{text}\u{7f}\n\"\\", "x".repeat(pad));
            let json = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(validate(&json), Ok(()));
            let decoded = super::super::string(&json).unwrap();
            prop_assert_eq!(decoded.as_ref(), value.as_str());
        }
    }
}
