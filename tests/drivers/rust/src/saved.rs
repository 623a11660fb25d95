//! The steps about saved sessions.

use std::path::PathBuf;

use serde_json::Value;
use towline::transcripts::{
    Error, ListOptions, MessageOptions, SavedSessions, SessionInfo, SessionMessage,
};

use crate::error::StepError;
use crate::host::Host;

impl Host {
    /// Does a step about saved sessions; `None` if it is none.
    pub(crate) fn saved(&self, step: &Value) -> Option<Result<(), StepError>> {
        let saved = SavedSessions::of_process();
        let named = |key: &str| step.get(key).filter(|step| step.is_object());
        let text =
            |step: &Value, key: &str| step.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = |step: &Value| text(step, "id").unwrap_or_default();
        let dir = |step: &Value| text(step, "dir").map(PathBuf::from);
        let number = |step: &Value, key: &str| {
            step.get(key)
                .and_then(Value::as_u64)
                .map(|number| number as usize)
        };
        Some(if let Some(step) = named("list_sessions") {
            let found = saved.list(&ListOptions {
                directory: dir(step),
                limit: number(step, "limit"),
                offset: number(step, "offset").unwrap_or(0),
                ..ListOptions::default()
            });
            self.note_value(&SessionInfo::list_to_json(&found))
        } else if let Some(step) = named("session_messages") {
            let options = MessageOptions {
                limit: number(step, "limit"),
                offset: number(step, "offset").unwrap_or(0),
                include_system: false,
            };
            let found = saved.messages(&id(step), dir(step).as_deref(), &options);
            self.note_value(&SessionMessage::list_to_json(&found))
        } else if let Some(step) = named("rename_session") {
            let title = text(step, "title").unwrap_or_default();
            changed(saved.rename(&id(step), &title, dir(step).as_deref()))
        } else if let Some(step) = named("tag_session") {
            let tag = text(step, "tag");
            changed(saved.tag(&id(step), tag.as_deref(), dir(step).as_deref()))
        } else {
            return None;
        })
    }

    /// Keeps a list, the absent members of its items left out.
    fn note_value(&self, json: &str) -> Result<(), StepError> {
        let json = towline::protocol::json::surrogates_replaced(json);
        let mut list: Value =
            serde_json::from_str(&json).map_err(|error| StepError::other(error.to_string()))?;
        for item in list.as_array_mut().into_iter().flatten() {
            if let Value::Object(members) = item {
                members.retain(|_, value| !value.is_null());
            }
        }
        self.record.change(|state| state.values.push(list));
        Ok(())
    }
}

fn changed(result: Result<(), Error>) -> Result<(), StepError> {
    result.map_err(|error| StepError::other(error.to_string()))
}
