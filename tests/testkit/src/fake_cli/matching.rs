//! Whether a line of the host contains what a step wants.

use crate::bytes::find;
use crate::json::Json;

/// `wanted` is a part: of an object the named members, of an array the first items; else equal. An
/// object with one of these keys asks for something else: `$absent` (no such member, or null), `$any`
/// (any value), `$contains` (a string with that text), `$len` (length in characters, items or members).
pub(super) fn contains(wanted: &Json, found: &Json) -> bool {
    match wanted {
        Json::Object(members) => {
            if wanted.get("$absent").is_some() {
                return false;
            }
            if let Some(part) = wanted.get("$contains") {
                return match (part.as_bytes(), found.as_bytes()) {
                    (Some(part), Some(text)) => find(text, part).is_some(),
                    _ => false,
                };
            }
            if let Some(wanted) = wanted.get("$len") {
                return found.length().map(|length| length as f64) == wanted.as_f64();
            }
            if wanted.get("$any").is_some() {
                return true;
            }
            matches!(found, Json::Object(_))
                && members.iter().all(|(key, wanted)| {
                    let key = String::from_utf8_lossy(key);
                    match found.get(&key) {
                        None => asks_for_absence(wanted),
                        Some(Json::Null) if asks_for_absence(wanted) => true,
                        Some(_) if asks_for_absence(wanted) => false,
                        Some(value) => contains(wanted, value),
                    }
                })
        }
        Json::Array(items) => match found {
            Json::Array(values) => {
                values.len() >= items.len()
                    && items
                        .iter()
                        .zip(values)
                        .all(|(wanted, found)| contains(wanted, found))
            }
            _ => false,
        },
        Json::Number(wanted) => match found {
            Json::Number(found) => same_number(wanted, found),
            _ => false,
        },
        wanted => wanted == found,
    }
}

fn asks_for_absence(wanted: &Json) -> bool {
    !matches!(
        wanted.get("$absent"),
        None | Some(Json::Null | Json::Bool(false))
    )
}

/// Whole numbers are equal digit by digit, others by value; 1 and 1.0 are two things.
fn same_number(a: &str, b: &str) -> bool {
    let whole = |text: &str| !text.contains(['.', 'e', 'E']);
    match (whole(a), whole(b)) {
        (true, true) => a == b,
        (false, false) => a.parse::<f64>() == b.parse::<f64>(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(wanted: &str, found: &str) -> bool {
        contains(
            &Json::parse(wanted.as_bytes()).unwrap(),
            &Json::parse(found.as_bytes()).unwrap(),
        )
    }

    #[test]
    fn a_part_is_enough() {
        for (wanted, found) in [
            (r#"{"a":1}"#, r#"{"b":2,"a":1}"#),
            (r#"{"a":{"b":[1]}}"#, r#"{"a":{"b":[1,2],"c":0}}"#),
            ("{}", r#"{"x":1}"#),
            ("[]", "[1]"),
            ("1.50", "1.5"),
            (r#"{"a":{"$absent":true}}"#, "{}"),
            (r#"{"a":{"$absent":true}}"#, r#"{"a":null}"#),
            (r#"{"a":{"$any":true}}"#, r#"{"a":null}"#),
            (r#"{"a":{"$contains":"b"}}"#, r#"{"a":"abc"}"#),
            (r#"{"a":{"$len":2}}"#, r#"{"a":"é\ud83d"}"#),
            (r#"{"$len":1}"#, r#"{"a":1}"#),
            ("null", "null"),
        ] {
            assert!(matches(wanted, found), "{wanted} in {found}");
        }
    }

    #[test]
    fn what_differs_does_not_match() {
        for (wanted, found) in [
            (r#"{"a":1}"#, r#"{"a":1.0}"#),
            (r#"{"a":1}"#, r#"{"a":true}"#),
            (r#"{"a":1}"#, "{}"),
            (r#"{"a":null}"#, "{}"),
            ("{}", "[]"),
            ("[1,2]", "[1]"),
            ("[2]", "[1,2]"),
            (r#""a""#, r#""ab""#),
            (r#"{"a":{"$absent":true}}"#, r#"{"a":0}"#),
            (r#"{"a":{"$any":true}}"#, "{}"),
            (r#"{"a":{"$contains":"b"}}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"$len":2}}"#, r#"{"a":2}"#),
            (r#"{"$absent":true}"#, "null"),
        ] {
            assert!(!matches(wanted, found), "{wanted} in {found}");
        }
    }
}
