//! Session stores: operations over one that the application brings (the core says what to ask it,
//! JavaScript asks), and the core's own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Task};
use napi_derive::napi;
use serde_json::json;
use towline::transcripts::materialize::Plan;
use towline::transcripts::store::conformance::contracts;
use towline::transcripts::store::operations::Operation;
use towline::transcripts::store::{
    CallId, CallKind, Capabilities, SessionStore, StoreAnswer, StoreCall, StoreError,
    StoreErrorKind, StoreTask, TaskError,
};
use towline::transcripts::SessionSummary;
use towline::transcripts::{fold_summary_in, Dialect};
use towline::OpenStore;

use crate::error::invalid;

/// What an operation gives.
pub(crate) enum Output {
    /// JSON text.
    Json(String),
    /// What is to be written so that a session can be resumed.
    Plan(Option<Plan>),
}

/// An operation under way.
#[napi]
pub struct NativeStoreTask {
    task: RefCell<StoreTask<Output>>,
    open: RefCell<HashMap<u64, CallKind>>,
    plan: RefCell<Option<Plan>>,
}

#[napi]
impl NativeStoreTask {
    /// `capabilities` and `operation` are JSON documents.
    #[napi(constructor)]
    pub fn new(capabilities: String, operation: String) -> napi::Result<NativeStoreTask> {
        let capabilities = capabilities_of(&capabilities)?;
        let task = Operation::from_json(&operation)
            .and_then(|operation| operation.task(capabilities))
            .map_err(|error| failed(&error))?;
        Ok(NativeStoreTask::from(task.map(Output::Json)))
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

    /// The store failed, or had no more time.
    #[napi]
    pub fn refuse(&self, id: f64, message: String, late: bool) {
        let kind = match late {
            true => StoreErrorKind::Timeout,
            false => StoreErrorKind::Failed,
        };
        self.settle(id, |_| Err(StoreError { message, kind }));
    }

    /// The result as JSON text, once everything is done; `null` before. That of a resume is a
    /// boolean: whether there is a session to resume.
    #[napi]
    pub fn finished(&self) -> napi::Result<Option<String>> {
        let output = self.task.borrow_mut().finished();
        let output = output.transpose().map_err(|error| failed(&error))?;
        Ok(output.map(|output| match output {
            Output::Json(text) => text,
            Output::Plan(plan) => {
                let found = plan.is_some();
                *self.plan.borrow_mut() = plan;
                found.to_string()
            }
        }))
    }
}

impl From<StoreTask<Output>> for NativeStoreTask {
    fn from(task: StoreTask<Output>) -> NativeStoreTask {
        NativeStoreTask {
            task: RefCell::new(task),
            open: RefCell::default(),
            plan: RefCell::default(),
        }
    }
}

impl NativeStoreTask {
    /// What is to be written for a resume, if it has found something.
    pub(crate) fn take_plan(&self) -> Option<Plan> {
        self.plan.borrow_mut().take()
    }

    fn settle(&self, id: f64, answer: impl FnOnce(CallKind) -> Result<StoreAnswer, StoreError>) {
        let id = id as u64;
        if let Some(kind) = self.open.borrow_mut().remove(&id) {
            self.task.borrow_mut().answer(CallId(id), answer(kind));
        }
    }
}

/// With `call`, the id of the call that failed, if one has ended the operation.
fn failed(error: &TaskError) -> napi::Error {
    let call = match error {
        TaskError::Store { call, .. } => Some(call.0),
        _ => None,
    };
    let described = json!({"code": "SESSION_STORE", "message": error.to_string(), "call": call});
    napi::Error::from_reason(described.to_string())
}

/// One of the core's stores. Its calls may block and are made on libuv's threads.
#[napi]
pub struct NativeStore {
    store: OpenStore,
}

impl NativeStore {
    pub(crate) fn open(&self) -> &OpenStore {
        &self.store
    }
}

/// Opens a store by its URL.
#[napi]
pub(crate) fn open_store(url: String) -> AsyncTask<Opening> {
    AsyncTask::new(Opening(url))
}

/// A store that is being opened.
pub(crate) struct Opening(String);

impl Task for Opening {
    type Output = OpenStore;
    type JsValue = NativeStore;

    fn compute(&mut self) -> napi::Result<OpenStore> {
        OpenStore::open(&self.0).map_err(|error| invalid("SESSION_STORE", error))
    }

    fn resolve(&mut self, _: Env, store: OpenStore) -> napi::Result<NativeStore> {
        Ok(NativeStore { store })
    }
}

/// Has a store do a call, given and answered as JSON text.
#[napi]
pub(crate) fn call_store(store: &NativeStore, call: String) -> AsyncTask<Calling> {
    AsyncTask::new(Calling {
        store: Arc::clone(store.store.store()),
        call,
    })
}

/// A call under way.
pub(crate) struct Calling {
    store: Arc<dyn SessionStore>,
    call: String,
}

impl Task for Calling {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        let answer = StoreCall::from_json(&self.call).and_then(|call| self.store.call(&call));
        let answer = answer.map_err(|error| invalid("SESSION_STORE", error))?;
        Ok(answer.to_json())
    }

    fn resolve(&mut self, _: Env, answer: String) -> napi::Result<String> {
        Ok(answer)
    }
}

/// The names of what a store with these capabilities has to do. Texts that come back byte for byte
/// are not among it: JavaScript's stores see objects.
#[napi]
pub(crate) fn store_contracts(capabilities: String) -> napi::Result<Vec<String>> {
    let found = contracts(capabilities_of(&capabilities)?, false);
    Ok(found.iter().map(|one| one.name().to_owned()).collect())
}

/// The trial of a contract by its name, over an empty store.
#[napi]
pub(crate) fn contract_task(name: String, capabilities: String) -> napi::Result<NativeStoreTask> {
    let capabilities = capabilities_of(&capabilities)?;
    let all = contracts(capabilities, false);
    let contract = all.iter().find(|contract| contract.name() == name);
    let contract = contract.ok_or_else(|| {
        let text = format!("no contract of a store is called {name:?}");
        invalid("INVALID_ARGUMENT", text)
    })?;
    let task = contract.task(capabilities);
    Ok(NativeStoreTask::from(
        task.map(|()| Output::Json("null".into())),
    ))
}

fn capabilities_of(text: &str) -> napi::Result<Capabilities> {
    serde_json::from_str(text).map_err(|error| invalid("INVALID_ARGUMENT", error))
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
    let mut summary = fold_summary_in(
        Dialect::TypeScript,
        previous.transpose()?.as_ref(),
        &session_id,
        &entries,
    );
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
