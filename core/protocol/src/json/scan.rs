//! A validating scanner: one pass over the bytes, no tree, no recursion.
//!
//! Every step takes the place where it begins and gives the place where it ends, so that the place
//! stays in a register.

use alloc::vec::Vec;

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
pub(super) enum Wrong {
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
pub(crate) struct Fault(u64);

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
pub(crate) type Step = Result<usize, Fault>;

pub(super) fn wrong<T>(wrong: Wrong, at: usize) -> Result<T, Fault> {
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
pub(super) fn space(bytes: &[u8], at: usize) -> usize {
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

pub(super) fn finish(bytes: &[u8], at: usize) -> Result<(), Fault> {
    let at = space(bytes, at);
    if at == bytes.len() {
        Ok(())
    } else {
        wrong(Wrong::Trailing, at)
    }
}

/// Steps over the colon of a member and the space around it.
#[inline(always)]
pub(super) fn colon(bytes: &[u8], at: usize) -> Step {
    let at = space(bytes, at);
    if bytes.get(at) != Some(&b':') {
        return wrong(Wrong::Colon, at);
    }
    Ok(space(bytes, at + 1))
}

/// Steps over one value, from its first byte; tells whether it is a string with escapes.
#[inline(always)]
pub(crate) fn value_and_escapes(bytes: &[u8], at: usize) -> Result<(usize, bool), Fault> {
    match bytes.get(at) {
        Some(b'"') => string(bytes, at),
        _ => Ok((value(bytes, at)?, false)),
    }
}

/// Steps over one value, from its first byte.
#[inline(always)]
pub(super) fn value(bytes: &[u8], at: usize) -> Step {
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
pub(super) fn string(bytes: &[u8], at: usize) -> Result<(usize, bool), Fault> {
    let end = plain_end(bytes, at + 1);
    match bytes.get(end) {
        Some(b'"') => Ok((end + 1, false)),
        _ => Ok((escaped_string(bytes, end)?, true)),
    }
}

/// Steps over the rest of a string, from its first escape.
#[inline(never)]
fn escaped_string(bytes: &[u8], mut at: usize) -> Step {
    // Where it is worth a try to step over a block.
    let mut next = at;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(bytes, at)?,
            Some(_) => return wrong(Wrong::Control, at),
            None => return wrong(Wrong::Unterminated, at),
        }
        // Behind an escape, so what stands here stands for itself.
        while at >= next && bytes.get(at) != Some(&b'"') {
            match bytes.get(at - 1..).and_then(<[u8]>::first_chunk) {
                // The escape that its last byte begins is looked at too.
                Some(block) if is_usual(block) => {
                    at += BLOCK + usize::from(block.get(BLOCK) == Some(&b'\\'));
                }
                _ => next = at + BLOCK,
            }
        }
        at = plain_end(bytes, at);
    }
}

/// How many bytes of a string with escapes are stepped over at once.
const BLOCK: usize = 32;

/// Whether all bytes of a block but the first and the last, which is not of the block, belong to a
/// string that has only usual escapes there; the second stands for itself and is no quote.
///
/// Without a branch in between, so that a compiler takes many bytes at once: escapes come so often
/// in a text and so irregularly that to branch at each costs more than all the rest. A function of
/// its own, as in the middle of another one compilers do not see that.
#[inline(never)]
fn is_usual(block: &[u8; BLOCK + 2]) -> bool {
    let mut unusual = 0;
    for at in 0..BLOCK {
        let (before, byte, after) = (block[at], block[at + 1], block[at + 2]);
        let ends = (byte == b'"') & (before != b'\\');
        let usual = (after == b'"') | (after == b'n') | (after == b't');
        unusual |= u8::from(ends | ((byte == b'\\') & !usual) | (byte < 0x20));
    }
    unusual == 0
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

/// Where the digits at `at` end.
#[inline(always)]
fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Steps over at least one digit.
#[inline(always)]
fn digits(bytes: &[u8], at: usize) -> Step {
    let end = digits_end(bytes, at);
    if end == at {
        return wrong(Wrong::Digit, at);
    }
    Ok(end)
}

#[inline(always)]
fn number(bytes: &[u8], at: usize) -> Step {
    let start = at + usize::from(bytes.get(at) == Some(&b'-'));
    let end = match bytes.get(start) {
        Some(b'0') => start + 1,
        _ => digits(bytes, start)?,
    };
    match bytes.get(end) {
        Some(b'.' | b'e' | b'E') => fraction(bytes, end),
        _ => Ok(end),
    }
}

/// Steps over a number's fraction and exponent.
#[inline(never)]
fn fraction(bytes: &[u8], mut at: usize) -> Step {
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

#[inline(always)]
fn literal<const LENGTH: usize>(bytes: &[u8], at: usize, word: &[u8; LENGTH]) -> Step {
    match bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<LENGTH>())
    {
        Some(found) if found == word => Ok(at + LENGTH),
        _ => wrong(Wrong::Value, at),
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
    use alloc::format;
    use alloc::string::String;
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
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in "[\\[\\]{}\",:0-9a-z\\\\ .eE+-]{0,24}") {
            let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(validate(&text).is_ok(), theirs, "{}", text);
        }

        /// Strings of the parts that decide how far a block reaches.
        #[test]
        fn escapes_at_any_place(parts in proptest::collection::vec(0usize..24, 0..90)) {
            let names = [
                "\\n", "\\t", "\\\"", "\\\\", "\\u00e9", "\\r", "\\/", "é", "]", "#", "n", "u",
                "0000000", "0123456789012345678901234567890123456789",
                // Not valid in a string, or its end.
                "\"", "\\", "\u{1}", "\\x",
            ];
            for kinds in [names.len(), 14] {
                let kinds = parts.iter().map(|part| names.get(part % kinds).copied());
                let body: String = kinds.flatten().collect();
                for text in [format!("\"{body}\""), format!("\"{body}\",1")] {
                    let mut theirs = serde_json::Deserializer::from_str(&text)
                        .into_iter::<serde_json::Value>();
                    let end = theirs.next().and_then(Result::ok).map(|_| theirs.byte_offset());
                    let ours = string(text.as_bytes(), 0).ok().map(|(end, _)| end);
                    prop_assert_eq!(ours, end, "{}", text);
                }
            }
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
