//! Whether something in a record or a log is what a case wants.

use crate::bytes::find;
use crate::json::{Json, NULL};

/// As the steps of the fake CLI match, except that a member that is missing is the same as null:
/// records of languages that cannot tell the two apart must do too.
pub(super) fn matches(wanted: &Json, found: &Json) -> bool {
    match wanted {
        Json::Object(members) => {
            if let Some(part) = wanted.get("$contains") {
                return match (part.as_bytes(), found.as_bytes()) {
                    (Some(part), Some(text)) => find(text, part).is_some(),
                    _ => false,
                };
            }
            if wanted.get("$any").is_some() {
                return *found != NULL;
            }
            if let Some(length) = wanted.get("$len") {
                return found.length().map(|length| length as f64) == length.as_f64();
            }
            matches!(found, Json::Object(_))
                && members.iter().all(|(key, wanted)| {
                    let value = found.get(&String::from_utf8_lossy(key)).unwrap_or(&NULL);
                    if asks_for_absence(wanted) {
                        return *value == NULL;
                    }
                    matches(wanted, value)
                })
        }
        Json::Array(wanted) => match found {
            Json::Array(found) => {
                found.len() >= wanted.len() && wanted.iter().zip(found).all(|(a, b)| matches(a, b))
            }
            _ => false,
        },
        Json::Number(_) => found.as_f64().is_some() && wanted.as_f64() == found.as_f64(),
        wanted => wanted == found,
    }
}

fn asks_for_absence(wanted: &Json) -> bool {
    !matches!(
        wanted.get("$absent"),
        None | Some(Json::Null | Json::Bool(false))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(wanted: &str, found: &str) -> bool {
        let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
        matches(&json(wanted), &json(found))
    }

    #[test]
    fn a_part_is_enough_and_null_is_nothing() {
        for (wanted, found) in [
            (r#"{"a":1}"#, r#"{"a":1.0,"b":2}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":{"$absent":true}}"#, r#"{"a":null}"#),
            (r#"{"a":{"$any":true}}"#, r#"{"a":0}"#),
            (r#"{"a":{"$contains":"b"}}"#, r#"{"a":"abc"}"#),
            (r#"{"$len":2}"#, r#""é\ud83d""#),
            ("[1]", "[1,2]"),
        ] {
            assert!(matched(wanted, found), "{wanted} in {found}");
        }
    }

    #[test]
    fn what_differs_does_not_match() {
        for (wanted, found) in [
            (r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":{"$absent":true}}"#, r#"{"a":0}"#),
            (r#"{"a":{"$any":true}}"#, r#"{"a":null}"#),
            (r#"{"a":{"$any":true}}"#, "{}"),
            (r#"{"$len":2}"#, "null"),
            ("[1,2]", "[1]"),
            ("{}", "[]"),
            (r#""a""#, r#""ab""#),
        ] {
            assert!(!matched(wanted, found), "{wanted} in {found}");
        }
    }
}
