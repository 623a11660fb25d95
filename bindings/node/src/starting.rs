//! Sessions whose start may wait for a store: they are started on one of libuv's threads.

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Task};
use napi_derive::napi;
use towline::transcripts::materialize::Plan;
use towline::OpenStore;

use crate::error::to_js;
use crate::host::NativeHost;
use crate::session::{prepare, start, NativeSession, Started};
use crate::store::{NativeStore, NativeStoreTask, Output};

/// Checks a configuration as a start would, so that what is wrong with it is known at once. Gives
/// what has to be asked of the store before the session can be started; `null` when nothing has.
#[napi]
pub(crate) fn resume_task(
    config: String,
    store: Option<&NativeStore>,
) -> napi::Result<Option<NativeStoreTask>> {
    let mut builder = prepare(&config)?.builder;
    if let Some(store) = store {
        builder = builder.session_store(store.open().clone(), None);
    }
    let task = builder.resume_task().map_err(to_js)?;
    builder.connection(0).map_err(to_js)?;
    Ok(task.map(|task| NativeStoreTask::from(task.map(Output::Plan))))
}

/// A start under way.
pub(crate) struct Starting {
    host: u64,
    config: String,
    piped: bool,
    store: Option<OpenStore>,
    plan: Option<Plan>,
}

impl Task for Starting {
    type Output = (Vec<String>, Started);
    type JsValue = NativeSession;

    fn compute(&mut self) -> napi::Result<Self::Output> {
        let prepared = prepare(&self.config)?;
        let mut builder = prepared.builder;
        if let Some(store) = self.store.take() {
            builder = builder.session_store(store, None);
        }
        if let Some(plan) = &self.plan {
            let materialized = builder.materialize(plan).map_err(to_js)?;
            builder = builder.materialized(materialized);
        }
        let started = start(builder, prepared.log, self.piped).map_err(to_js)?;
        Ok((prepared.hooks, started))
    }

    fn resolve(&mut self, _: Env, (hooks, started): Self::Output) -> napi::Result<NativeSession> {
        NativeSession::open(self.host, std::mem::take(&mut self.config), hooks, started)
    }
}

/// As the constructor of [`NativeSession`], off the JavaScript thread: opens the store that the
/// options name, or takes the one that is given, and resumes from what `resume` has found.
#[napi]
pub(crate) fn start_session(
    host: &NativeHost,
    config: String,
    piped: bool,
    store: Option<&NativeStore>,
    resume: Option<&NativeStoreTask>,
) -> AsyncTask<Starting> {
    AsyncTask::new(Starting {
        host: host.id(),
        config,
        piped,
        store: store.map(|store| store.open().clone()),
        plan: resume.and_then(NativeStoreTask::take_plan),
    })
}
