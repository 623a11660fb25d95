//! How a payload's values are written.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::control::RawJson;
use crate::json::push_string;

/// A field that can be left out, set to null, or set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Nullable<T> {
    /// Left out: the setting stays as it is.
    #[default]
    Absent,
    /// Null: the setting is reset.
    Null,
    /// Set.
    Value(T),
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Nullable::Value(value)
    }
}

impl<T> Nullable<T> {
    /// A value, or null for `None`.
    pub fn or_null(value: Option<T>) -> Self {
        value.map_or(Nullable::Null, Nullable::Value)
    }
}

/// A value that can be written as JSON.
pub(super) trait Write {
    fn push(&self, out: &mut String);
}

impl Write for String {
    fn push(&self, out: &mut String) {
        push_string(out, self);
    }
}

impl Write for bool {
    fn push(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl Write for i64 {
    fn push(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl Write for f64 {
    /// What is no number is written as null, which the CLI refuses.
    fn push(&self, out: &mut String) {
        out.push_str(&serde_json::Value::from(*self).to_string());
    }
}

impl Write for RawJson {
    fn push(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

impl Write for Vec<String> {
    fn push(&self, out: &mut String) {
        out.push('[');
        for (at, text) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            push_string(out, text);
        }
        out.push(']');
    }
}

impl Write for BTreeMap<String, String> {
    fn push(&self, out: &mut String) {
        out.push('{');
        for (at, (name, text)) in self.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            push_string(out, name);
            out.push(':');
            push_string(out, text);
        }
        out.push('}');
    }
}

impl<T: Write> Write for Option<T> {
    fn push(&self, out: &mut String) {
        match self {
            Some(value) => value.push(out),
            None => out.push_str("null"),
        }
    }
}

fn push_member(out: &mut String, name: &str, value: &dyn Write) {
    if !out.ends_with('{') {
        out.push(',');
    }
    push_string(out, name);
    out.push(':');
    value.push(out);
}

/// Writes one member, or nothing, as its presence says. `out` ends inside the payload's object.
pub(super) fn required(out: &mut String, name: &str, value: &dyn Write) {
    push_member(out, name, value);
}

pub(super) fn or_null(out: &mut String, name: &str, value: &dyn Write) {
    push_member(out, name, value);
}

pub(super) fn optional<T: Write>(out: &mut String, name: &str, value: &Option<T>) {
    if let Some(value) = value {
        push_member(out, name, value);
    }
}

pub(super) fn nullable<T: Write>(out: &mut String, name: &str, value: &Nullable<T>) {
    match value {
        Nullable::Absent => {}
        Nullable::Null => push_member(out, name, &None::<bool>),
        Nullable::Value(value) => push_member(out, name, value),
    }
}
