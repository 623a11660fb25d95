//! A validating scanner: one pass over the bytes, no tree, no recursion.
//!
//! Every step takes the place where it begins and gives the place where it ends, so that the place
//! stays in a register.

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

/// What can be wrong, and [`WRONG`] in words.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
enum Wrong {
    NotAnObject,
    NotAnArray,
    Name,
    Colon,
    ObjectGoesOn,
    ArrayGoesOn,
    Value,
    NoValue,
    Trailing,
    Control,
    Unterminated,
    Unicode,
    Escape,
    Digit,
}

const WRONG: [(Wrong, &str); 14] = [
    (Wrong::NotAnObject, "not an object"),
    (Wrong::NotAnArray, "not an array"),
    (Wrong::Name, "expected a member name"),
    (Wrong::Colon, "expected ':'"),
    (Wrong::ObjectGoesOn, "expected ',' or '}'"),
    (Wrong::ArrayGoesOn, "expected ',' or ']'"),
    (Wrong::Value, "expected a value"),
    (Wrong::NoValue, "the text ends before a value"),
    (Wrong::Trailing, "text after the value"),
    (Wrong::Control, "control character in a string"),
    (Wrong::Unterminated, "unterminated string"),
    (Wrong::Unicode, "bad \\u escape"),
    (Wrong::Escape, "unknown escape"),
    (Wrong::Digit, "expected a digit"),
];

/// A [`ScanError`] in one word, the place above the reason, so that results are returned in
/// registers.
#[derive(Clone, Copy)]
struct Fault(u64);

impl Fault {
    const BITS: u32 = 4;

    #[cold]
    fn new(wrong: Wrong, at: usize) -> Fault {
        Fault((at as u64) << Fault::BITS | wrong as u64)
    }
}

impl From<Fault> for ScanError {
    fn from(fault: Fault) -> Self {
        let reason = fault.0 & ((1 << Fault::BITS) - 1);
        ScanError {
            at: (fault.0 >> Fault::BITS) as usize,
            what: WRONG.get(reason as usize).map_or("", |(_, what)| what),
        }
    }
}

/// Where a step ends.
type Step = Result<usize, Fault>;

fn wrong<T>(wrong: Wrong, at: usize) -> Result<T, Fault> {
    Err(Fault::new(wrong, at))
}

/// Checks that `text` is one JSON value with nothing but white space around it (RFC 8259).
///
/// Depth is limited by memory only: one bit a level.
pub fn validate(text: &str) -> Result<(), ScanError> {
    let bytes = text.as_bytes();
    let end = value(bytes, space(bytes, 0))?;
    Ok(finish(bytes, end)?)
}

/// Validates `text` as one JSON object and calls `visit(key, value)` for each of its members, in
/// order, duplicates included. `key` is unescaped, `value` is the member's own JSON text.
///
/// `visit` may have been called for some members before an error is found.
pub fn members<'a>(text: &'a str, mut visit: impl FnMut(&str, &'a str)) -> Result<(), ScanError> {
    members_and_escapes(text, |key, value, _| visit(key, value))
}

/// As [`members`]; tells also whether the value is a string with escapes in it.
#[inline(always)]
pub(crate) fn members_and_escapes<'a>(
    text: &'a str,
    visit: impl FnMut(&str, &'a str, bool),
) -> Result<(), ScanError> {
    whole(text, &mut Flat(visit))
}

/// As [`members`], and in the same pass calls `visit_inner` for the members of the member named
/// `inner` when that is an object.
pub fn nested_members<'a>(
    text: &'a str,
    inner: &str,
    visit: impl FnMut(&str, &'a str),
    visit_inner: impl FnMut(&str, &'a str),
) -> Result<(), ScanError> {
    let mut visitor = Nested {
        inner,
        visit,
        visit_inner,
    };
    whole(text, &mut visitor)
}

/// As [`members`], and in the same pass visits the members of the member named `path[0]`, of the
/// member named `path[1]` of that, and so on, where they are objects. `visit(depth, key, value,
/// escaped)` is told how deep a member stands; inner members come before the one they are in.
#[inline(always)]
pub(crate) fn members_along<'a>(
    text: &'a str,
    path: &[&str],
    mut visit: impl FnMut(usize, &str, &'a str, bool),
) -> Result<(), ScanError> {
    let mut visitor = Along {
        path,
        depth: 0,
        visit: &mut visit,
    };
    whole(text, &mut visitor)
}

/// What is done with the members of an object.
trait Visit<'a> {
    fn member(&mut self, key: &str, value: &'a str, escaped: bool);

    /// Steps over a member's value, from its first byte. Strings are stepped over without asking.
    #[inline(always)]
    fn step(&mut self, _key: &str, text: &'a str, at: usize) -> Step {
        value(text.as_bytes(), at)
    }
}

struct Flat<F>(F);

impl<'a, F: FnMut(&str, &'a str, bool)> Visit<'a> for Flat<F> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        (self.0)(key, value, escaped);
    }
}

struct Nested<'k, F, G> {
    inner: &'k str,
    visit: F,
    visit_inner: G,
}

impl<'a, F: FnMut(&str, &'a str), G: FnMut(&str, &'a str)> Visit<'a> for Nested<'_, F, G> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, _: bool) {
        (self.visit)(key, value);
    }

    #[inline(always)]
    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        if key != self.inner || text.as_bytes().get(at) != Some(&b'{') {
            return value(text.as_bytes(), at);
        }
        let visit_inner = &mut self.visit_inner;
        let mut inner = Flat(|key: &str, value, _| visit_inner(key, value));
        object(text, at, &mut inner)
    }
}

struct Along<'p, F> {
    path: &'p [&'p str],
    depth: usize,
    visit: &'p mut F,
}

impl<'a, F: FnMut(usize, &str, &'a str, bool)> Visit<'a> for Along<'_, F> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        (self.visit)(self.depth, key, value, escaped);
    }

    #[inline(always)]
    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        match self.path.split_first() {
            Some((first, path)) if key == *first && text.as_bytes().get(at) == Some(&b'{') => {
                let mut inner = Along {
                    path,
                    depth: self.depth + 1,
                    visit: &mut *self.visit,
                };
                object(text, at, &mut inner)
            }
            _ => value(text.as_bytes(), at),
        }
    }
}

/// Visits the members of `text`, which is one object and nothing else.
#[inline(always)]
fn whole<'a>(text: &'a str, visitor: &mut impl Visit<'a>) -> Result<(), ScanError> {
    let bytes = text.as_bytes();
    let end = object(text, space(bytes, 0), visitor)?;
    Ok(finish(bytes, end)?)
}

/// Validates `text` as one JSON array and calls `visit(value)` for the JSON text of each element.
pub fn elements<'a>(text: &'a str, mut visit: impl FnMut(&'a str)) -> Result<(), ScanError> {
    for element in Elements::of(text) {
        visit(element?);
    }
    Ok(())
}

/// The JSON text of each element of an array, scanned and validated one by one. An error is the
/// last item; without one, the text is one valid array.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    text: &'a str,
    at: usize,
    state: Reading,
}

#[derive(Debug, Clone, Copy)]
enum Reading {
    Start,
    Elements,
    Done,
}

impl<'a> Elements<'a> {
    /// The elements of `text`; nothing is scanned yet.
    pub fn of(text: &'a str) -> Self {
        Elements {
            text,
            at: 0,
            state: Reading::Start,
        }
    }

    /// Steps behind the comma, or to the end when there is no other element.
    fn separator(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        let first = matches!(self.state, Reading::Start);
        let mut at = space(bytes, self.at);
        if first {
            if bytes.get(at) != Some(&b'[') {
                return wrong(Wrong::NotAnArray, at);
            }
            at = space(bytes, at + 1);
        }
        match bytes.get(at) {
            Some(b']') => {
                self.state = Reading::Done;
                return finish(bytes, at + 1);
            }
            _ if first => self.at = at,
            Some(b',') => self.at = space(bytes, at + 1),
            _ => return wrong(Wrong::ArrayGoesOn, at),
        }
        self.state = Reading::Elements;
        Ok(())
    }

    fn element(&mut self) -> Result<Option<&'a str>, Fault> {
        self.separator()?;
        if let Reading::Done = self.state {
            return Ok(None);
        }
        let end = value(self.text.as_bytes(), self.at)?;
        let element = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        Ok(Some(element))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<&'a str, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Reading::Done = self.state {
            return None;
        }
        self.element()
            .map_err(|fault| {
                self.state = Reading::Done;
                ScanError::from(fault)
            })
            .transpose()
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
    #[inline(always)]
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth % 64 == 0 {
            self.full.push(self.bits);
        }
        self.bits = (self.bits << 1) | u64::from(object);
        self.depth += 1;
    }

    #[inline(always)]
    fn pop(&mut self) {
        self.depth -= 1;
        self.bits >>= 1;
        if self.depth > 0 && self.depth % 64 == 0 {
            self.bits = self.full.pop().unwrap_or_default();
        }
    }

    #[inline(always)]
    fn in_object(&self) -> bool {
        self.bits & 1 == 1
    }
}

/// Steps over white space, which the CLI does not write.
#[inline(always)]
fn space(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at) {
        Some(0..=b' ') => long_space(bytes, at),
        _ => at,
    }
}

#[cold]
fn long_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(at) {
        at += 1;
    }
    at
}

fn finish(bytes: &[u8], at: usize) -> Result<(), Fault> {
    let at = space(bytes, at);
    if at == bytes.len() {
        Ok(())
    } else {
        wrong(Wrong::Trailing, at)
    }
}

/// Steps over the colon of a member and the space around it.
#[inline(always)]
fn colon(bytes: &[u8], at: usize) -> Step {
    let at = space(bytes, at);
    if bytes.get(at) != Some(&b':') {
        return wrong(Wrong::Colon, at);
    }
    Ok(space(bytes, at + 1))
}

/// Steps over an object, from its brace, and visits its members.
#[inline]
fn object<'a>(text: &'a str, mut at: usize, visitor: &mut impl Visit<'a>) -> Step {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return wrong(Wrong::NotAnObject, at);
    }
    at = space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        if bytes.get(at) != Some(&b'"') {
            return wrong(Wrong::Name, at);
        }
        let (end, escaped) = string(bytes, at)?;
        let mut key = text.get(at + 1..end - 1).unwrap_or_default();
        let mut plain = String::new();
        if escaped {
            text::unescape(key, &mut plain);
            key = &plain;
        }
        at = colon(bytes, end)?;
        let (end, escaped) = match bytes.get(at) {
            Some(b'"') => string(bytes, at)?,
            _ => (visitor.step(key, text, at)?, false),
        };
        visitor.member(key, text.get(at..end).unwrap_or_default(), escaped);
        at = space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return wrong(Wrong::ObjectGoesOn, at),
        }
    }
}

/// Steps over one value, from its first byte.
#[inline(always)]
fn value(bytes: &[u8], at: usize) -> Step {
    match bytes.get(at) {
        Some(b'"') => string(bytes, at).map(|(end, _)| end),
        Some(b'{' | b'[') => container(bytes, at),
        _ => scalar(bytes, at),
    }
}

fn scalar(bytes: &[u8], at: usize) -> Step {
    match bytes.get(at) {
        Some(b'-' | b'0'..=b'9') => number(bytes, at),
        Some(b't') => literal(bytes, at, b"true"),
        Some(b'f') => literal(bytes, at, b"false"),
        Some(b'n') => literal(bytes, at, b"null"),
        Some(_) => wrong(Wrong::Value, at),
        None => wrong(Wrong::NoValue, at),
    }
}

/// Steps over a member's name and its colon.
#[inline(always)]
fn member_name(bytes: &[u8], at: usize) -> Step {
    if bytes.get(at) != Some(&b'"') {
        return wrong(Wrong::Name, at);
    }
    let (end, _) = string(bytes, at)?;
    colon(bytes, end)
}

#[inline(never)]
fn container(bytes: &[u8], mut at: usize) -> Step {
    let mut open = Open::default();
    loop {
        match bytes.get(at) {
            Some(b'{') => {
                at = space(bytes, at + 1);
                if bytes.get(at) == Some(&b'}') {
                    at += 1;
                } else {
                    open.push(true);
                    at = member_name(bytes, at)?;
                    continue;
                }
            }
            Some(b'[') => {
                at = space(bytes, at + 1);
                if bytes.get(at) == Some(&b']') {
                    at += 1;
                } else {
                    open.push(false);
                    continue;
                }
            }
            Some(b'"') => (at, _) = string(bytes, at)?,
            _ => at = scalar(bytes, at)?,
        }
        loop {
            if open.depth == 0 {
                return Ok(at);
            }
            at = space(bytes, at);
            match (bytes.get(at), open.in_object()) {
                (Some(b','), true) => {
                    at = member_name(bytes, space(bytes, at + 1))?;
                    break;
                }
                (Some(b','), false) => {
                    at = space(bytes, at + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    at += 1;
                    open.pop();
                }
                (_, true) => return wrong(Wrong::ObjectGoesOn, at),
                (_, false) => return wrong(Wrong::ArrayGoesOn, at),
            }
        }
    }
}

/// Steps over a string, from its opening quote; tells whether it has escapes.
#[inline(always)]
fn string(bytes: &[u8], at: usize) -> Result<(usize, bool), Fault> {
    let end = plain_end(bytes, at + 1);
    match bytes.get(end) {
        Some(b'"') => Ok((end + 1, false)),
        _ => Ok((escaped_string(bytes, end)?, true)),
    }
}

/// Steps over the rest of a string, from its first escape.
#[inline(never)]
fn escaped_string(bytes: &[u8], mut at: usize) -> Step {
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = plain_end(bytes, escape(bytes, at)?),
            Some(_) => return wrong(Wrong::Control, at),
            None => return wrong(Wrong::Unterminated, at),
        }
    }
}

fn escape(bytes: &[u8], at: usize) -> Step {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            _ => wrong(Wrong::Unicode, at),
        },
        Some(_) => wrong(Wrong::Escape, at),
        None => wrong(Wrong::Unterminated, at),
    }
}

fn digits(bytes: &[u8], mut at: usize) -> Step {
    if !matches!(bytes.get(at), Some(b'0'..=b'9')) {
        return wrong(Wrong::Digit, at);
    }
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    Ok(at)
}

fn number(bytes: &[u8], mut at: usize) -> Step {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Ok(at)
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Step {
    if bytes.get(at..at + word.len()) == Some(word) {
        Ok(at + word.len())
    } else {
        wrong(Wrong::Value, at)
    }
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES * 0x80;

/// The high bit of each byte that is `"`, `\` or below 0x20; exact up to the lowest such byte.
#[inline(always)]
fn special(word: u64) -> u64 {
    // With bit 1 flipped, `"` becomes 0x20, and below 0x21 are just it and the control characters.
    let low = word ^ (ONES * 2);
    let slash = word ^ (ONES * b'\\' as u64);
    (low.wrapping_sub(ONES * 0x21) | slash.wrapping_sub(ONES)) & !word & HIGH
}

/// Where the first `"`, `\` or control character at or behind `at` stands; the length if there is
/// none.
#[inline(always)]
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
            break;
        }
        at += 1;
    }
    at
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
    fn every_reason_has_its_words() {
        for (index, (wrong, _)) in WRONG.iter().enumerate() {
            assert_eq!(*wrong as usize, index);
        }
        for (text, at, what) in [
            ("[1,2", 4, "expected ',' or ']'"),
            ("[1,]", 3, "expected a value"),
            ("{\"a\":tru}", 5, "expected a value"),
            ("[\"\\x\"]", 2, "unknown escape"),
            ("[] ]", 3, "text after the value"),
        ] {
            assert_eq!(validate(text), Err(ScanError { at, what }), "{text}");
        }
        let not_an_array = ScanError {
            at: 1,
            what: "not an array",
        };
        assert_eq!(elements(" {}", |_| {}), Err(not_an_array));
    }

    #[test]
    fn elements_one_by_one() {
        let all = |text| Elements::of(text).collect::<Result<Vec<&str>, ScanError>>();
        assert_eq!(all(" [ ] ").unwrap(), [""; 0]);
        assert_eq!(
            all("[1 , [2,3],\"]\",{}]").unwrap(),
            ["1", "[2,3]", "\"]\"", "{}"]
        );
        for text in ["", "[", "[,1]", "[1,]", "[1 2]", "[1]]", "{}", "[1}"] {
            assert!(all(text).is_err(), "{text}");
            let count = Elements::of(text).count();
            assert!(count < 3, "{text}: nothing comes after an error");
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

    #[test]
    fn members_along_a_path_come_in_the_same_pass() {
        let mut seen = vec![];
        let text = r#"{"a":{"b":{"b":{"x":1},"y":"\n"},"c":[]},"b":{"z":2},"d":"s"}"#;
        members_along(text, &["a", "b"], |depth, key, value, escaped| {
            seen.push((depth, key.to_string(), value, escaped));
        })
        .unwrap();
        let seen: Vec<_> = seen
            .iter()
            .map(|(depth, key, value, escaped)| (*depth, key.as_str(), *value, *escaped))
            .collect();
        assert_eq!(
            seen,
            [
                (2, "b", r#"{"x":1}"#, false),
                (2, "y", r#""\n""#, true),
                (1, "b", r#"{"b":{"x":1},"y":"\n"}"#, false),
                (1, "c", "[]", false),
                (0, "a", r#"{"b":{"b":{"x":1},"y":"\n"},"c":[]}"#, false),
                (0, "b", r#"{"z":2}"#, false),
                (0, "d", "\"s\"", false),
            ]
        );
        assert!(members_along(r#"{"a":{"b":{"x":1,}}}"#, &["a", "b"], |_, _, _, _| {}).is_err());
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
