//! Where the long strings of a JSON text stand, so that a host can build its value without a second
//! copy of them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use core::ops::Range;

use super::{elements, members, Kind};

/// Values deeper than this are not looked into: each level is one more pass over what is in it.
const DEEPEST: usize = 16;

/// A string value of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongString {
    /// Its text between the quotes, as bytes of the whole.
    pub body: Range<usize>,
    /// The keys and indices that lead to it, as JSON: `["content",0,"text"]`. They lead to it and
    /// to nothing else.
    pub path: String,
}

/// The string values of `least` bytes or more in a valid JSON text, in their order. One may be left
/// out whose path is not plain: very deep, behind a key with escapes, or behind a key that comes
/// again and hides it.
pub fn long_strings(text: &str, least: usize) -> Vec<LongString> {
    let mut search = Search {
        base: text.as_ptr().addr(),
        least,
        path: Vec::new(),
        found: Vec::new(),
    };
    search.value(text);
    search.found.into_iter().flatten().collect()
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

struct Search<'a> {
    base: usize,
    least: usize,
    path: Vec<Step<'a>>,
    /// `None` where a key has come again.
    found: Vec<Option<LongString>>,
}

impl<'a> Search<'a> {
    fn value(&mut self, text: &'a str) {
        if text.len() < self.least {
            return;
        }
        match Kind::of(text) {
            Some(Kind::String) => self.string(text),
            Some(Kind::Object) if self.path.len() < DEEPEST => self.object(text),
            Some(Kind::Array) if self.path.len() < DEEPEST => {
                let mut index = 0;
                // Valid, so there is no error.
                let _ = elements(text, |element| {
                    self.inner(Step::Index(index), element);
                    index += 1;
                });
            }
            _ => {}
        }
    }

    fn inner(&mut self, step: Step<'a>, value: &'a str) {
        self.path.push(step);
        self.value(value);
        self.path.pop();
    }

    fn object(&mut self, text: &'a str) {
        let span = text.as_bytes().as_ptr_range();
        let mut long: Vec<(&str, Range<usize>)> = Vec::new();
        // Valid, so there is no error.
        let _ = members(text, |key, value| {
            for (_, hidden) in long.iter().filter(|(earlier, _)| *earlier == key) {
                self.found[hidden.clone()].fill(None);
            }
            if value.len() < self.least || !span.contains(&key.as_ptr()) {
                return;
            }
            // The key as it stands in front of the value: one without escapes, see above.
            let start = key.as_ptr().addr() - text.as_ptr().addr();
            let Some(key) = text.get(start..start + key.len()) else {
                return;
            };
            let first = self.found.len();
            self.inner(Step::Key(key), value);
            if self.found.len() > first {
                long.push((key, first..self.found.len()));
            }
        });
    }

    fn string(&mut self, text: &str) {
        let text_start = text.as_ptr().addr() - self.base;
        let (Some(open), Some(close)) = (text.find('"'), text.rfind('"')) else {
            return;
        };
        let body = text_start + open + 1..text_start + close;
        if body.len() < self.least {
            return;
        }
        let mut path = String::from("[");
        for (at, step) in self.path.iter().enumerate() {
            path.push_str(if at == 0 { "" } else { "," });
            // Writing to a string does not fail. A key without escapes is JSON as it is.
            let _ = match step {
                Step::Key(key) => write!(path, "\"{key}\""),
                Step::Index(index) => write!(path, "{index}"),
            };
        }
        path.push(']');
        self.found.push(Some(LongString { body, path }));
    }
}

/// Where to cut the body of a JSON string into pieces of about `size` bytes: the start of each. No
/// cut is inside of an escape or a character; one may be between two escapes that are halves of one
/// character.
pub fn piece_starts(body: &str, size: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut start = 0;
    while start < body.len() {
        starts.push(start);
        let mut end = start.saturating_add(size.max(1));
        while end < body.len() && !(body.is_char_boundary(end) && is_between(body, start, end)) {
            end += 1;
        }
        start = end;
    }
    starts
}

/// Whether `at` is not inside of an escape; `start` is not either.
fn is_between(body: &str, start: usize, at: usize) -> bool {
    // The longest escape, `\uXXXX`, has five bytes behind its first.
    let before = body.as_bytes().get(start..at).unwrap_or_default();
    let near = before.len().saturating_sub(5);
    let Some(found) = memchr::memrchr(b'\\', before.get(near..).unwrap_or_default()) else {
        return true;
    };
    let last = near + found;
    let others = before.get(..last).unwrap_or_default();
    let run = others
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count();
    // The second of a pair of them is the end of an escape.
    if run % 2 == 1 {
        return true;
    }
    let length = match body.as_bytes().get(start + last + 1) {
        Some(b'u') => 6,
        _ => 2,
    };
    last + length <= before.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;
    use serde_json::{json, Value};

    fn found(text: &str, least: usize) -> Vec<(String, &str)> {
        let all = long_strings(text, least).into_iter();
        all.map(|long| (long.path, &text[long.body])).collect()
    }

    #[test]
    fn paths_lead_to_the_long_strings() {
        let text =
            r#" { "a" : "long enough" , "b":[1,{"é":"just as long"},"short"]," ":"x\"yyyyyyyy"} "#;
        let expected = [
            (r#"["a"]"#, "long enough"),
            (r#"["b",1,"é"]"#, "just as long"),
            (r#"[" "]"#, r#"x\"yyyyyyyy"#),
        ];
        assert_eq!(
            found(text, 9),
            expected.map(|(path, body)| (path.to_string(), body))
        );
        assert_eq!(
            found("\"alone, and long\"", 5),
            [("[]".to_string(), "alone, and long")]
        );
        assert_eq!(found("\"alone\"", 6), []);
    }

    #[test]
    fn what_another_member_hides_is_left_out() {
        for (text, left) in [
            (r#"{"a":"long enough","a":1}"#, vec![]),
            (r#"{"a":"long enough","\u0061":1}"#, vec![]),
            (r#"{"\u0061":"long enough"}"#, vec![]),
            (r#"{"a":{"b":["long enough"]},"a":{"b":["x"]}}"#, vec![]),
            (
                r#"{"a":"long enough","a":"and this too","b":0}"#,
                vec!["and this too"],
            ),
            (
                r#"{"a":{"b":"long enough"},"b":"and this too"}"#,
                vec!["long enough", "and this too"],
            ),
            (r#"{"__proto__":"long enough"}"#, vec!["long enough"]),
        ] {
            let bodies: Vec<&str> = found(text, 9).into_iter().map(|(_, body)| body).collect();
            assert_eq!(bodies, left, "{text}");
        }
    }

    #[test]
    fn what_is_very_deep_is_left_out() {
        let nested =
            |depth: usize| format!("{}\"long enough\"{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(found(&nested(DEEPEST), 9).len(), 1);
        assert_eq!(found(&nested(DEEPEST + 1), 9), []);
        assert_eq!(found(&nested(100_000), 9), []);
    }

    /// The JSON of a value, with a long string at times.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
            ".{20,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-c\"é]{0,2}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Bodies of JSON strings.
    fn bodies() -> impl Strategy<Value = String> {
        let part = prop::sample::select(vec![
            "a", "é", "😀", "\\\\", "\\\"", "\\n", "\\u00e9", "\\ud83d", "\\ude00", "u0041", "\\/",
        ]);
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn a_value_is_put_together_again(value in values()) {
            let text = value.to_string();
            let mut skeleton = String::new();
            let mut end = 0;
            let longs = long_strings(&text, 12);
            for long in &longs {
                skeleton.push_str(&text[end..long.body.start]);
                end = long.body.end;
            }
            skeleton.push_str(&text[end..]);
            let mut again: Value = serde_json::from_str(&skeleton).unwrap();
            for long in &longs {
                let path: Vec<Value> = serde_json::from_str(&long.path).unwrap();
                let at = path.iter().fold(&mut again, |at, step| match step {
                    Value::String(key) => &mut at[key],
                    index => &mut at[index.as_u64().unwrap() as usize],
                });
                prop_assert_eq!(&*at, &json!(""));
                *at = serde_json::from_str(&text[long.body.start - 1..long.body.end + 1]).unwrap();
            }
            prop_assert_eq!(again, value);
        }

        #[test]
        fn no_piece_breaks_an_escape(body in bodies(), size in 1usize..20) {
            let starts = piece_starts(&body, size);
            let mut ends: Vec<usize> = starts.iter().skip(1).copied().collect();
            ends.push(body.len());
            let mut joined = String::new();
            for (&start, &end) in starts.iter().zip(&ends) {
                let piece = &body[start..end];
                prop_assert!(!piece.is_empty() && piece.len() < size + 9);
                joined.push_str(piece);
                let quoted = format!("\"{piece}\"");
                prop_assert!(super::super::validate(&quoted).is_ok(), "{quoted}");
            }
            prop_assert_eq!(joined, body);
        }
    }
}
