//! Operations over a store that the application brings: the core says what to ask the store,
//! JavaScript asks it.

use std::cell::RefCell;
use std::collections::HashMap;

use napi_derive::napi;
use serde_json::json;
use towline::transcripts::fold_summary;
use towline::transcripts::store::operations::Operation;
use towline::transcripts::store::{
    CallId, CallKind, Capabilities, StoreAnswer, StoreError, StoreTask, TaskError,
};
use towline::transcripts::SessionSummary;

use crate::error::invalid;

/// An operation under way.
#[napi]
pub struct NativeStoreTask {
    task: RefCell<StoreTask<String>>,
    open: RefCell<HashMap<u64, CallKind>>,
}

#[napi]
impl NativeStoreTask {
    /// `capabilities` and `operation` are JSON documents.
    #[napi(constructor)]
    pub fn new(capabilities: String, operation: String) -> napi::Result<NativeStoreTask> {
        let capabilities: Capabilities = serde_json::from_str(&capabilities)
            .map_err(|error| invalid("INVALID_ARGUMENT", error))?;
        let task = Operation::from_json(&operation)
            .and_then(|operation| operation.task(capabilities))
            .map_err(|error| failed(&error))?;
        Ok(NativeStoreTask {
            task: RefCell::new(task),
            open: RefCell::default(),
        })
    }

    /// The next call for the store: `{"id","timeoutMs","call"}`; `null` when there is none for now.
    #[napi]
    pub fn next_call(&self) -> Option<String> {
        let call = self.task.borrow_mut().next_call()?;
        let id = call.id.0;
        self.open.borrow_mut().insert(id, call.call.kind());
        let timeout = json!(call.timeout_ms);
        let asked = call.call.to_json();
        Some(format!(
            r#"{{"id":{id},"timeoutMs":{timeout},"call":{asked}}}"#
        ))
    }

    /// What the store gave, as JSON text.
    #[napi]
    pub fn answer(&self, id: f64, answer: String) {
        self.settle(id, |kind| StoreAnswer::from_json(kind, &answer));
    }

    /// The store failed, or was too slow.
    #[napi]
    pub fn refuse(&self, id: f64, message: String, timed_out_ms: Option<f64>) {
        self.settle(id, |kind| {
            Err(match timed_out_ms {
                Some(limit) => StoreError::timeout(kind.name(), limit as u64),
                None => StoreError::failed(message),
            })
        });
    }

    /// The result as JSON text, once everything is done; `null` before.
    #[napi]
    pub fn finished(&self) -> napi::Result<Option<String>> {
        let output = self.task.borrow_mut().finished();
        output.transpose().map_err(|error| failed(&error))
    }
}

impl NativeStoreTask {
    fn settle(&self, id: f64, answer: impl FnOnce(CallKind) -> Result<StoreAnswer, StoreError>) {
        let id = id as u64;
        if let Some(kind) = self.open.borrow_mut().remove(&id) {
            self.task.borrow_mut().answer(CallId(id), answer(kind));
        }
    }
}

fn failed(error: &TaskError) -> napi::Error {
    invalid("SESSION_STORE", error)
}

/// Folds entries into a summary, all of them JSON texts; gives `{"sessionId","mtime","data"}`.
#[napi]
pub(crate) fn fold_session_summary(
    session_id: String,
    previous: Option<String>,
    entries: Vec<String>,
    mtime: Option<f64>,
) -> napi::Result<String> {
    let previous = previous.map(|text| {
        let previous: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| invalid("INVALID_ARGUMENT", error))?;
        Ok::<_, napi::Error>(SessionSummary {
            session_id: session_id.clone(),
            mtime: previous["mtime"].as_f64().unwrap_or_default() as i64,
            data: previous["data"].to_string(),
        })
    });
    let mut summary = fold_summary(previous.transpose()?.as_ref(), &session_id, &entries);
    if let Some(mtime) = mtime {
        summary.mtime = mtime as i64;
    }
    Ok(format!(
        r#"{{"sessionId":{},"mtime":{},"data":{}}}"#,
        json!(summary.session_id),
        summary.mtime,
        summary.data
    ))
}
