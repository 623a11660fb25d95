//! A JSON value kept as the text it came in.

use alloc::borrow::Cow;
use core::fmt;

use super::{string, Kind};

/// The text of one JSON value, a slice of the line it stood in. `null` by default.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct JsonText<'a>(&'a str);

impl<'a> JsonText<'a> {
    /// Takes a text that is known to be one JSON value.
    pub(crate) fn of(text: &'a str) -> Self {
        JsonText(text)
    }

    /// The text.
    pub fn as_str(&self) -> &'a str {
        self.0
    }

    /// What kind of value it is.
    pub fn kind(&self) -> Kind {
        Kind::of(self.0).unwrap_or(Kind::Null)
    }

    /// Whether the value is `null` (also when the member was absent).
    pub fn is_null(&self) -> bool {
        self.0 == "null"
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// The value of a string; `None` for any other kind.
    pub fn string(&self) -> Option<Cow<'a, str>> {
        string(self.0)
    }
}

impl Default for JsonText<'_> {
    fn default() -> Self {
        JsonText("null")
    }
}

impl fmt::Debug for JsonText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl AsRef<str> for JsonText<'_> {
    fn as_ref(&self) -> &str {
        self.0
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for JsonText<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Any".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}
