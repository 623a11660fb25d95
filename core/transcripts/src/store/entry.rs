//! One transcript line.

use std::borrow::Cow;
use std::fmt;

use bytestring::ByteString;
use towline_protocol::json;

/// One transcript entry: the text of one JSON object, on one line. Cloning it copies no text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Entry(ByteString);

/// Why a text is no [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a transcript entry is one JSON object: {0}")]
pub struct EntryError(String);

impl Entry {
    /// Takes the text of one JSON object. Line breaks between its tokens become spaces, so that an
    /// entry is always one line.
    pub fn new(text: impl Into<ByteString>) -> Result<Self, EntryError> {
        let text = text.into();
        json::members(&text, |_, _| {}).map_err(|error| EntryError(error.to_string()))?;
        let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
        let one_line = if trimmed.contains(['\n', '\r']) {
            ByteString::from(trimmed.replace(['\n', '\r'], " "))
        } else if trimmed.len() < text.len() {
            text.slice_ref(trimmed)
        } else {
            text
        };
        Ok(Entry(one_line))
    }

    /// The entry with these members.
    pub(crate) fn of_members(members: serde_json::Map<String, serde_json::Value>) -> Self {
        // Without line breaks: those in texts are escaped.
        Entry(serde_json::Value::Object(members).to_string().into())
    }

    /// Takes an element of an array that was scanned, in a text of one line; `None` when it is no
    /// object.
    pub(crate) fn of_scanned(text: ByteString) -> Option<Self> {
        text.starts_with('{').then_some(Entry(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a cheap handle.
    pub fn text(&self) -> &ByteString {
        &self.0
    }

    /// The JSON text of a member of the object; the last one where a name is repeated.
    pub fn member(&self, name: &str) -> Option<&str> {
        let mut found = None;
        let scanned = json::members(&self.0, |key, value| {
            if key == name {
                found = Some(value);
            }
        });
        scanned.ok().and(found)
    }

    /// The value of a member that is a string.
    pub fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        self.member(name).and_then(json::string)
    }

    /// The entry's own id, by which a store recognises a repeated entry.
    pub fn uuid(&self) -> Option<Cow<'_, str>> {
        self.string("uuid").filter(|uuid| !uuid.is_empty())
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl AsRef<str> for Entry {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for Entry {
    type Error = EntryError;

    fn try_from(text: &str) -> Result<Self, EntryError> {
        Entry::new(text)
    }
}
