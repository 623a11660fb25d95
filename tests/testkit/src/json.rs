//! JSON as the fake CLI and the cases need it: key order, the spelling of numbers and lone surrogates survive, which
//! a decoder into ordinary strings and maps would not allow.

use std::fmt;

use crate::bytes::replace;

/// Deeper nesting than any host would send on purpose.
const MAX_DEPTH: usize = 2_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// As it was spelled.
    Number(String),
    /// WTF-8: UTF-8 in which a lone surrogate escape stands as its three bytes.
    String(Vec<u8>),
    Array(Vec<Json>),
    /// In order; of equal keys the last counts.
    Object(Vec<(Vec<u8>, Json)>),
}

pub(crate) static NULL: Json = Json::Null;

#[derive(Debug, PartialEq)]
pub(crate) struct Malformed {
    what: &'static str,
    at: usize,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl Json {
    pub(crate) fn parse(text: &[u8]) -> Result<Json, Malformed> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.blanks();
        if parser.at < text.len() {
            return Err(parser.malformed("text after the value"));
        }
        Ok(value)
    }

    pub(crate) fn string(text: &str) -> Json {
        Json::String(text.as_bytes().to_vec())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => fields
                .iter()
                .rev()
                .find(|(name, _)| name == key.as_bytes())
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The member at a path of keys; null when there is none.
    pub(crate) fn at(&self, path: &[&str]) -> &Json {
        path.iter()
            .try_fold(self, |value, key| value.get(key))
            .unwrap_or(&NULL)
    }

    pub(crate) fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a string, lone surrogates replaced.
    pub(crate) fn as_text(&self) -> Option<String> {
        let text = self.as_bytes()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Characters of a string, items of an array, members of an object.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            // Of WTF-8 every byte that does not continue a character begins one.
            Json::String(text) => Some(text.iter().filter(|byte| *byte & 0xc0 != 0x80).count()),
            Json::Array(items) => Some(items.len()),
            Json::Object(members) => Some(members.len()),
            _ => None,
        }
    }

    /// For a reader: a string as it is, anything else as JSON; cut when it is long.
    pub(crate) fn shown(&self) -> String {
        const MOST: usize = 400;
        let text = match self {
            Json::String(text) => String::from_utf8_lossy(text).into_owned(),
            other => String::from_utf8_lossy(&other.ascii()).into_owned(),
        };
        match text.char_indices().nth(MOST) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }

    /// Replaces a part of every string, keys included.
    pub(crate) fn replace_text(&mut self, part: &[u8], by: &[u8]) {
        match self {
            Json::String(text) => *text = replace(text, part, by),
            Json::Array(items) => {
                for item in items {
                    item.replace_text(part, by);
                }
            }
            Json::Object(fields) => {
                for (key, value) in fields {
                    *key = replace(key, part, by);
                    value.replace_text(part, by);
                }
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.as_bytes() == Some(text.as_bytes())
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> &[Json] {
        match self {
            Json::Array(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn fields(&self) -> &[(Vec<u8>, Json)] {
        match self {
            Json::Object(fields) => fields,
            _ => &[],
        }
    }

    /// One line without blanks; every character that need not be escaped stands for itself.
    pub(crate) fn compact(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, false);
        out
    }

    /// The same in ASCII.
    pub(crate) fn ascii(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out, true);
        out
    }

    fn write(&self, out: &mut Vec<u8>, ascii: bool) {
        match self {
            Json::Null => out.extend(b"null"),
            Json::Bool(true) => out.extend(b"true"),
            Json::Bool(false) => out.extend(b"false"),
            Json::Number(text) => out.extend(text.as_bytes()),
            Json::String(text) => write_string(text, out, ascii),
            Json::Array(items) => {
                out.push(b'[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    item.write(out, ascii);
                }
                out.push(b']');
            }
            Json::Object(fields) => {
                out.push(b'{');
                for (place, (key, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    write_string(key, out, ascii);
                    out.push(b':');
                    value.write(out, ascii);
                }
                out.push(b'}');
            }
        }
    }
}

/// An object of a few fields.
pub(crate) fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(
        fields
            .into_iter()
            .map(|(key, value)| (key.as_bytes().to_vec(), value))
            .collect(),
    )
}

fn write_string(text: &[u8], out: &mut Vec<u8>, ascii: bool) {
    out.push(b'"');
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        match byte {
            b'"' => out.extend(b"\\\""),
            b'\\' => out.extend(b"\\\\"),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            0x08 => out.extend(b"\\b"),
            0x0c => out.extend(b"\\f"),
            0..=0x1f => write_escape(byte.into(), out),
            0x80.. if ascii => {
                let (code, length) = code_point(rest);
                if code < 0x1_0000 {
                    write_escape(code, out);
                } else {
                    write_escape(0xd800 + ((code - 0x1_0000) >> 10), out);
                    write_escape(0xdc00 + (code & 0x3ff), out);
                }
                rest = &rest[length..];
                continue;
            }
            _ => out.push(byte),
        }
        rest = after;
    }
    out.push(b'"');
}

fn write_escape(unit: u32, out: &mut Vec<u8>) {
    out.extend(format!("\\u{unit:04x}").as_bytes());
}

/// The code point at the start of WTF-8 text that does not begin with ASCII, and its length.
fn code_point(text: &[u8]) -> (u32, usize) {
    let (length, first) = match text[0] {
        0xf0.. => (4, text[0] & 0x07),
        0xe0.. => (3, text[0] & 0x0f),
        _ => (2, text[0] & 0x1f),
    };
    let length = length.min(text.len());
    let code = text[1..length].iter().fold(u32::from(first), |code, byte| {
        code << 6 | u32::from(byte & 0x3f)
    });
    (code, length)
}

fn push_code_point(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(character) => out.extend(character.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend([
            0xe0 | (code >> 12) as u8,
            0x80 | (code >> 6 & 0x3f) as u8,
            0x80 | (code & 0x3f) as u8,
        ]),
    }
}

/// Text of the system, which may hold any bytes, as a JSON string: a byte that is not UTF-8 becomes the
/// lone surrogate U+DC00 + byte.
pub(crate) fn system_string(bytes: &[u8]) -> Json {
    let mut out = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            push_code_point(0xdc00 + u32::from(*byte), &mut out);
        }
    }
    Json::String(out)
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, Malformed> {
        if depth > MAX_DEPTH {
            return Err(self.malformed("too deep"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.malformed("no value")),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, Malformed> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return Err(self.malformed("no value"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn object(&mut self, depth: usize) -> Result<Json, Malformed> {
        self.at += 1;
        let mut fields = Vec::new();
        self.blanks();
        if self.take(b'}') {
            return Ok(Json::Object(fields));
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(self.malformed("no key"));
            }
            let key = self.string()?;
            self.blanks();
            if !self.take(b':') {
                return Err(self.malformed("no colon after a key"));
            }
            fields.push((key, self.value(depth + 1)?));
            self.blanks();
            if self.take(b'}') {
                return Ok(Json::Object(fields));
            }
            if !self.take(b',') {
                return Err(self.malformed("no comma in an object"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Malformed> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return Err(self.malformed("no comma in an array"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.malformed("no digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Json, Malformed> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let text = &self.text[start..self.at];
        Ok(Json::Number(
            text.iter().map(|byte| char::from(*byte)).collect(),
        ))
    }

    fn string(&mut self) -> Result<Vec<u8>, Malformed> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let start = self.at;
            while self
                .peek()
                .is_some_and(|byte| byte != b'"' && byte != b'\\' && byte >= b' ')
            {
                self.at += 1;
            }
            let plain = &self.text[start..self.at];
            if std::str::from_utf8(plain).is_err() {
                return Err(Malformed {
                    what: "bytes that are not UTF-8 in the string",
                    at: start,
                });
            }
            out.extend(plain);
            if self.take(b'"') {
                return Ok(out);
            }
            if !self.take(b'\\') {
                return Err(self.malformed("unfinished string"));
            }
            self.escape(&mut out)?;
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let letter = self
            .peek()
            .ok_or_else(|| self.malformed("unfinished string"))?;
        self.at += 1;
        out.push(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.unit()?;
                if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with(b"\\u") {
                    let after_high = self.at;
                    self.at += 2;
                    match self.unit()? {
                        low @ 0xdc00..0xe000 => {
                            code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                        }
                        _ => self.at = after_high,
                    }
                }
                push_code_point(code, out);
                return Ok(());
            }
            _ => return Err(self.malformed("unknown escape")),
        });
        Ok(())
    }

    fn unit(&mut self) -> Result<u32, Malformed> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.malformed("malformed escape"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn round(text: &str) -> String {
        String::from_utf8(Json::parse(text.as_bytes()).unwrap().compact()).unwrap()
    }

    #[test]
    fn order_numbers_and_equal_keys_survive() {
        for text in [
            r#"{"b":1,"a":[0.0,1E+5,-0,123456789012345678901234567890],"b":null}"#,
            r#"[true,false,null,{},[],""]"#,
        ] {
            assert_eq!(round(text), text);
        }
        let twice = Json::parse(br#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(twice.get("a"), Some(&Json::Number("2".into())));
    }

    #[test]
    fn strings_keep_lone_surrogates_and_are_escaped_sparingly() {
        let text = Json::parse(br#""\ud83d \udc00\ud83d\ude00 \u00e9\u0001\/\u2028""#).unwrap();
        assert_eq!(
            text.ascii(),
            br#""\ud83d \udc00\ud83d\ude00 \u00e9\u0001/\u2028""#
        );
        let mut raw = b"\"\xed\xa0\xbd \xed\xb0\x80".to_vec();
        raw.extend("😀 é\\u0001/\u{2028}\"".as_bytes());
        assert_eq!(text.compact(), raw);
        assert_eq!(round(r#""\b\f\n\r\t\"\\""#), r#""\b\f\n\r\t\"\\""#);
        assert_eq!(
            Json::parse(br#""\ud83dx""#).unwrap().ascii(),
            br#""\ud83dx""#
        );
    }

    #[test]
    fn malformed_text_is_refused() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "1e",
            "tru",
            "\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\ud83d\\u12\"",
            "\"\n\"",
            "1 2",
            "NaN",
            "'a'",
        ] {
            assert!(Json::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert!(Json::parse(deep(1_000).as_bytes()).is_ok());
        assert!(Json::parse(deep(100_000).as_bytes()).is_err());
    }

    #[test]
    fn bytes_of_the_system_are_kept_apart() {
        assert_eq!(system_string(b"a\xffb").ascii(), br#""a\udcffb""#);
    }

    /// Every line of every recording means the same to another parser, before and after.
    #[test]
    fn it_agrees_with_another_parser_on_all_recordings() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("transcripts");
        let mut lines = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_none_or(|extension| extension != "jsonl")
            {
                continue;
            }
            for line in fs::read_to_string(path).unwrap().lines() {
                let expected: serde_json::Value = serde_json::from_str(line).unwrap();
                let ours = Json::parse(line.as_bytes()).unwrap();
                for written in [ours.compact(), ours.ascii()] {
                    let read: serde_json::Value = serde_json::from_slice(&written).unwrap();
                    assert_eq!(read, expected);
                }
                lines += 1;
            }
        }
        assert!(lines > 2_000);
    }
}
