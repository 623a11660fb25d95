//! A JSON value kept as the text it came in, owned; [`JsonText`](crate::json::JsonText) borrows.

use alloc::string::String;
use core::fmt;

use super::LocalError;

/// The text of one JSON value, owned. `null` by default.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RawJson(String);

impl RawJson {
    /// Takes a text after checking that it is one JSON value.
    pub fn new(text: impl Into<String>) -> Result<Self, LocalError> {
        let text = text.into();
        match crate::json::validate(&text) {
            Ok(()) => Ok(RawJson(text)),
            Err(error) => Err(LocalError::NotJson {
                what: "a JSON value",
                error,
            }),
        }
    }

    /// Takes a text that is known to be one JSON value.
    pub(crate) fn of(text: &str) -> Self {
        RawJson(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for RawJson {
    fn default() -> Self {
        RawJson("null".into())
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for RawJson {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        RawJson(alloc::string::ToString::to_string(&value))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
