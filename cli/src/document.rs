//! Values in JSON text. What is missing or of another type is absent: transcripts come from
//! anywhere.

use towline::protocol::json::{elements, members, pointer, push_string, string, Kind};

/// The JSON text of the value that a pointer names.
pub(crate) fn value<'a>(text: &'a str, path: &str) -> Option<&'a str> {
    pointer(text, path).ok().flatten()
}

/// The text of a string that is not empty.
pub(crate) fn text(json: &str, path: &str) -> Option<String> {
    let text = value(json, path).and_then(string)?;
    (!text.is_empty()).then(|| text.into_owned())
}

/// A number.
pub(crate) fn number(json: &str, path: &str) -> Option<f64> {
    let number: f64 = value(json, path)?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// A whole number, 0 or more.
pub(crate) fn count(json: &str, path: &str) -> Option<u64> {
    let number = number(json, path)?;
    (number >= 0.0).then_some(number as u64)
}

/// Whether it is `true`.
pub(crate) fn is_true(json: &str, path: &str) -> bool {
    value(json, path) == Some("true")
}

/// The JSON texts of the elements of an array; nothing of anything else.
pub(crate) fn list(json: &str) -> Vec<&str> {
    let mut found = Vec::new();
    match Kind::of(json) {
        Some(Kind::Array) if elements(json, |one| found.push(one)).is_ok() => found,
        _ => Vec::new(),
    }
}

/// The members of an object in order.
pub(crate) fn object(json: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    match members(json, |key, value| found.push((key.to_owned(), value))) {
        Ok(()) => found,
        Err(_) => Vec::new(),
    }
}

/// A string as JSON text.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

/// A JSON text on several lines, its members in their order. What lies deeper than any reader
/// follows stays on one line.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    push_pretty(&mut out, json.trim(), 0);
    out
}

const DEEPEST: usize = 24;

fn push_pretty(out: &mut String, json: &str, depth: usize) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    let (open, parts, close): (char, Vec<(Option<String>, &str)>, char) = match Kind::of(json) {
        Some(Kind::Object) if depth < DEEPEST => {
            let named = object(json).into_iter();
            (
                '{',
                named.map(|(key, value)| (Some(key), value)).collect(),
                '}',
            )
        }
        Some(Kind::Array) if depth < DEEPEST => (
            '[',
            list(json).into_iter().map(|value| (None, value)).collect(),
            ']',
        ),
        _ => return out.push_str(json),
    };
    if parts.is_empty() {
        return out.push_str(json);
    }
    out.push(open);
    for (at, (key, value)) in parts.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        line(out, depth + 1);
        if let Some(key) = key {
            push_string(out, key);
            out.push_str(": ");
        }
        push_pretty(out, value, depth + 1);
    }
    line(out, depth);
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let json = r#"{"b":[1,{"z":null,"a":"x\ny"}],"a":{},"c":[]}"#;
        let expected = "{\n  \"b\": [\n    1,\n    {\n      \"z\": null,\n      \"a\": \"x\\ny\"\n    }\n  ],\n  \"a\": {},\n  \"c\": []\n}";
        assert_eq!(pretty(json), expected);
        let deep = "[".repeat(5000) + &"]".repeat(5000);
        assert!(pretty(&deep).contains(&"[".repeat(4000)));
    }

    #[test]
    fn what_is_of_another_type_is_absent() {
        let json = r#"{"a":"","b":7,"c":"x","d":true,"e":-1}"#;
        assert_eq!(text(json, "/a"), None);
        assert_eq!(text(json, "/b"), None);
        assert_eq!(text(json, "/c").as_deref(), Some("x"));
        assert_eq!(count(json, "/b"), Some(7));
        assert_eq!(count(json, "/e"), None);
        assert!(is_true(json, "/d") && !is_true(json, "/c"));
        assert!(list(json).is_empty() && object("[]").is_empty());
    }
}
