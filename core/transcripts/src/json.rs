//! Writing JSON objects member by member, and small questions to JSON texts.

use std::borrow::Cow;

use towline_protocol::json::{push_string, string, Kind};

/// An object being written: `{"a":1,"b":null}`.
pub(crate) struct Object {
    text: String,
    /// Where its first member begins.
    start: usize,
}

impl Object {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self::behind(String::with_capacity(bytes))
    }

    /// One that is written behind a text.
    pub(crate) fn behind(mut text: String) -> Self {
        text.push('{');
        let start = text.len();
        Object { text, start }
    }

    pub(crate) fn new() -> Self {
        Self::with_capacity(128)
    }

    fn name(&mut self, name: &str) {
        if self.text.len() > self.start {
            self.text.push(',');
        }
        push_string(&mut self.text, name);
        self.text.push(':');
    }

    /// A member whose value is given as JSON text.
    pub(crate) fn raw(&mut self, name: &str, json: &str) -> &mut Self {
        self.name(name);
        self.text.push_str(json);
        self
    }

    pub(crate) fn string(&mut self, name: &str, value: &str) -> &mut Self {
        self.name(name);
        push_string(&mut self.text, value);
        self
    }

    pub(crate) fn string_or_null(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        match value {
            Some(value) => self.string(name, value),
            None => self.raw(name, "null"),
        }
    }

    pub(crate) fn number(&mut self, name: &str, value: impl std::fmt::Display) -> &mut Self {
        self.raw(name, &value.to_string())
    }

    pub(crate) fn number_or_null(
        &mut self,
        name: &str,
        value: Option<impl std::fmt::Display>,
    ) -> &mut Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.raw(name, "null"),
        }
    }

    pub(crate) fn boolean_or_null(&mut self, name: &str, value: Option<bool>) -> &mut Self {
        self.raw(
            name,
            match value {
                Some(true) => "true",
                Some(false) => "false",
                None => "null",
            },
        )
    }

    pub(crate) fn end(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

/// The JSON array of the items' JSON texts.
pub(crate) fn array(items: impl Iterator<Item = String>) -> String {
    let mut text = String::from("[");
    for item in items {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&item);
    }
    text.push(']');
    text
}

/// Whether a flag is set, as JavaScript and Python read it: not only `true` counts.
pub(crate) fn is_truthy(json: &str) -> bool {
    match Kind::of(json) {
        None | Some(Kind::Null) => false,
        Some(Kind::Bool) => json == "true",
        Some(Kind::String) => json.len() > 2,
        Some(Kind::Number) => json.parse::<f64>().is_ok_and(|number| number != 0.0),
        Some(Kind::Array | Kind::Object) => true,
    }
}

/// The value of a string that is not empty.
pub(crate) fn filled_string(json: &str) -> Option<Cow<'_, str>> {
    string(json).filter(|value| !value.is_empty())
}
