//! JSON that options carry through unread.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::{self, Kind};

/// A JSON value kept as text, in the order it was written and without white space between tokens,
/// so that it can stand in one line. `Debug` shows its size only: it may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Takes `text` if it is one JSON value.
    pub fn parse(text: &str) -> Result<Json, json::ScanError> {
        json::validate(text)?;
        Ok(Json(compact(text)))
    }

    /// The value as JSON text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} bytes of JSON>", self.0.len())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.clone())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

/// A JSON object kept as text; see [`Json`].
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct JsonObject(Json);

impl JsonObject {
    /// Takes `text` if it is one JSON object.
    pub fn parse(text: &str) -> Result<JsonObject, String> {
        let value = Json::parse(text).map_err(|error| error.to_string())?;
        match Kind::of(value.text()) {
            Some(Kind::Object) => Ok(JsonObject(value)),
            _ => Err("not an object".to_string()),
        }
    }

    /// The object as JSON text.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// Names and values, in order; of duplicate names the last one counts, at its first place.
    pub fn members(&self) -> Vec<(String, &str)> {
        members_of(self.text())
    }
}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The members of a JSON text that is an object; of any other text, none.
pub(in crate::launch) fn members_of(text: &str) -> Vec<(String, &str)> {
    let mut members: Vec<(String, &str)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let scanned = json::members(text, |key, value| {
        let known = places.get(key).and_then(|at| members.get_mut(*at));
        match known {
            Some(member) => member.1 = value,
            None => {
                places.insert(key.to_string(), members.len());
                members.push((key.to_string(), value));
            }
        }
    });
    match scanned {
        Ok(()) => members,
        Err(_) => Vec::new(),
    }
}

/// Writes one JSON object, member by member.
pub(in crate::launch) struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    pub(in crate::launch) fn new() -> ObjectWriter {
        ObjectWriter {
            text: String::from("{"),
        }
    }

    pub(in crate::launch) fn raw(&mut self, key: &str, value: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        json::push_string(&mut self.text, key);
        self.text.push(':');
        self.text.push_str(value);
    }

    pub(in crate::launch) fn string(&mut self, key: &str, value: &str) {
        self.raw(key, &quoted(value));
    }

    pub(in crate::launch) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    pub(in crate::launch) fn strings<S: AsRef<str>>(&mut self, key: &str, values: &[S]) {
        self.raw(key, &string_array(values));
    }

    pub(in crate::launch) fn is_empty(&self) -> bool {
        self.text.len() == 1
    }

    pub(in crate::launch) fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

pub(in crate::launch) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    json::push_string(&mut out, text);
    out
}

pub(in crate::launch) fn string_array<S: AsRef<str>>(values: &[S]) -> String {
    let mut out = String::from("[");
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        json::push_string(&mut out, value.as_ref());
    }
    out.push(']');
    out
}

fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut escaped = false;
    for character in text.chars() {
        if inside {
            out.push(character);
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => inside = false,
                _ => {}
            }
        } else if !matches!(character, ' ' | '\t' | '\r' | '\n') {
            inside = character == '"';
            out.push(character);
        }
    }
    out
}

#[cfg(feature = "schema")]
mod schema {
    use alloc::borrow::Cow;

    use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

    impl JsonSchema for super::Json {
        fn schema_name() -> Cow<'static, str> {
            "Json".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!(true)
        }
    }

    impl JsonSchema for super::JsonObject {
        fn schema_name() -> Cow<'static, str> {
            "JsonObject".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "object" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_goes_but_not_inside_strings() {
        let value = Json::parse("{ \"a b\" :\n [1, \"x \\\" \\\\\", 2 ] }").unwrap();
        assert_eq!(value.text(), r#"{"a b":[1,"x \" \\",2]}"#);
        assert_eq!(serde_json::to_string(&value).unwrap(), value.text());
    }

    #[test]
    fn of_duplicate_members_the_last_counts() {
        let value = JsonObject::parse(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(
            value.members(),
            [("a".to_string(), "3"), ("b".to_string(), "2")]
        );
        assert!(JsonObject::parse("[]").is_err());
    }

    #[test]
    fn debug_shows_no_content() {
        let value = JsonObject::parse(r#"{"key":"secret"}"#).unwrap();
        assert_eq!(alloc::format!("{value:?}"), "<16 bytes of JSON>");
    }
}
