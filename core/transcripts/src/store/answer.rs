//! What a store answers.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::call::{entries_of, push_entries};
use super::{CallKind, Entry, StoreError};

/// A session of a project, as `list_sessions` gives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreListEntry {
    /// The session's id.
    #[serde(alias = "sessionId")]
    pub session_id: String,
    /// When it was last written to: Unix time in milliseconds by the store's clock.
    #[serde(deserialize_with = "milliseconds")]
    pub mtime: i64,
}

/// A session's folded summary, as `list_session_summaries` gives it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionSummaryEntry {
    /// The session's id.
    #[serde(alias = "sessionId")]
    pub session_id: String,
    /// When the summary was written: milliseconds on the clock of [`StoreListEntry::mtime`].
    #[serde(deserialize_with = "milliseconds")]
    pub mtime: i64,
    /// What folding keeps: the text of a JSON object that a store does not interpret.
    pub data: Box<RawValue>,
}

impl PartialEq for SessionSummaryEntry {
    fn eq(&self, other: &Self) -> bool {
        self.session_id == other.session_id
            && self.mtime == other.mtime
            && self.data.get() == other.data.get()
    }
}

impl Eq for SessionSummaryEntry {}

impl SessionSummaryEntry {
    /// A summary whose data is the JSON object `data`.
    pub fn new(
        session_id: impl Into<String>,
        mtime: i64,
        data: String,
    ) -> Result<Self, StoreError> {
        let data = Entry::new(data).map_err(StoreError::failed)?;
        Ok(SessionSummaryEntry {
            session_id: session_id.into(),
            mtime,
            data: RawValue::from_string(data.as_str().to_owned()).map_err(StoreError::failed)?,
        })
    }
}

/// Hosts whose only number is a float give `1.7e12`.
fn milliseconds<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Whole(i64),
        Float(f64),
    }
    Ok(match Number::deserialize(from)? {
        Number::Whole(whole) => whole,
        Number::Float(float) => float as i64,
    })
}

/// What a call gives. As JSON what the official method returns: `null`, an array of entries or
/// `null`, an array of `{"session_id","mtime"}`, of `{"session_id","mtime","data"}`, of strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAnswer {
    /// To `append` and `delete`.
    Done,
    /// To `load`; `None` for a transcript that was never written.
    Entries(Option<Vec<Entry>>),
    /// To `list_sessions`.
    Sessions(Vec<StoreListEntry>),
    /// To `list_session_summaries`.
    Summaries(Vec<SessionSummaryEntry>),
    /// To `list_subkeys`.
    Subkeys(Vec<String>),
}

impl StoreAnswer {
    /// The JSON document.
    pub fn to_json(&self) -> String {
        match self {
            StoreAnswer::Done | StoreAnswer::Entries(None) => "null".to_owned(),
            StoreAnswer::Entries(Some(entries)) => {
                let mut out = String::new();
                push_entries(&mut out, entries);
                out
            }
            StoreAnswer::Sessions(sessions) => serde_json::to_string(sessions).unwrap_or_default(),
            StoreAnswer::Summaries(summaries) => {
                serde_json::to_string(summaries).unwrap_or_default()
            }
            StoreAnswer::Subkeys(subkeys) => serde_json::to_string(subkeys).unwrap_or_default(),
        }
    }

    /// Reads what a host's store returned for a call of this kind. Official camelCase names are
    /// read too; what `append` and `delete` return does not matter.
    pub fn from_json(call: CallKind, text: &str) -> Result<Self, StoreError> {
        fn read<'a, T: Deserialize<'a>>(call: CallKind, text: &'a str) -> Result<T, StoreError> {
            serde_json::from_str(text).map_err(|error| {
                StoreError::failed(format_args!("what {}() returned: {error}", call.name()))
            })
        }
        Ok(match call {
            CallKind::Append | CallKind::Delete => StoreAnswer::Done,
            CallKind::Load => {
                let entries: Option<Vec<&RawValue>> = read(call, text)?;
                StoreAnswer::Entries(entries.map(|raw| entries_of(&raw)).transpose()?)
            }
            CallKind::ListSessions => StoreAnswer::Sessions(read(call, text)?),
            CallKind::ListSessionSummaries => StoreAnswer::Summaries(read(call, text)?),
            CallKind::ListSubkeys => StoreAnswer::Subkeys(read(call, text)?),
        })
    }
}
