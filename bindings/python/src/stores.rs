//! Session stores: operations over one that Python does call by call, and the core's own.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{
    PyFileNotFoundError, PyNotImplementedError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use towline::transcripts::materialize::{self, Plan};
use towline::transcripts::store::operations::Operation;
use towline::transcripts::store::{
    self, run, CallId, CallKind, Capabilities, PendingCall, SessionKey, StoreAnswer, StoreError,
    StoreErrorKind, StoreTask as Task, TaskError,
};
use towline::{OpenStore, StoreCallHandle};

use crate::errors;
use crate::json::loads;
use crate::start::Start;

/// What an operation gives.
enum Output {
    /// JSON text.
    Json(String),
    /// What is to be written so that a session can be resumed.
    Plan(Option<Plan>),
}

impl Output {
    fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Output::Json(text) => loads(py, &text),
            Output::Plan(None) => Ok(py.None().into_bound(py)),
            Output::Plan(Some(plan)) => Ok(Bound::new(py, ResumePlan { plan })?.into_any()),
        }
    }
}

/// An operation over a store.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct StoreTask {
    task: Mutex<Option<Task<Output>>>,
}

impl StoreTask {
    /// Does something with the task while Python does something else.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Task<Output>) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| {
            let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.as_mut().map(work)
        })
        .ok_or_else(|| PyRuntimeError::new_err("the operation is over"))
    }
}

#[pymethods]
impl StoreTask {
    /// An operation, of the JSON text of an `Operation` and which of the optional calls the store
    /// has: `list_sessions`, `list_session_summaries`, `delete`, `list_subkeys`.
    #[new]
    fn new(py: Python<'_>, operation: &str, capabilities: Has) -> PyResult<StoreTask> {
        let capabilities = capabilities_of(capabilities);
        let task = py
            .detach(|| Operation::from_json(operation)?.task(capabilities))
            .map_err(|error| exception(&error))?;
        Ok(StoreTask {
            task: Mutex::new(Some(task.map(Output::Json))),
        })
    }

    /// The next call that can be done: `(id, name, argument, entries, timeout_ms)`. `argument` is a
    /// key, or the project of a listing; `entries` is `None` but for `append`.
    fn next_call<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(pending) = self.with(py, Task::next_call)? else {
            return Ok(None);
        };
        let PendingCall {
            id,
            call,
            timeout_ms,
        } = pending;
        let (argument, entries) = arguments(py, &call)?;
        (id.0, call.kind().name(), argument, entries, timeout_ms)
            .into_pyobject(py)
            .map(Some)
    }

    /// What a call returned, as JSON text.
    fn answer(&self, py: Python<'_>, id: u64, call: &str, value: &str) -> PyResult<()> {
        let kind = kind_of(call)?;
        self.with(py, |task| {
            task.answer(CallId(id), StoreAnswer::from_json(kind, value));
        })
    }

    /// What a call failed with: `failed`, `timeout` or `unsupported`, and words.
    fn fail(&self, py: Python<'_>, id: u64, kind: &str, message: String) -> PyResult<()> {
        let kind = match kind {
            "timeout" => StoreErrorKind::Timeout,
            "unsupported" => StoreErrorKind::Unsupported,
            _ => StoreErrorKind::Failed,
        };
        let error = StoreError { message, kind };
        self.with(py, |task| {
            task.answer(CallId(id), Err(error));
        })
    }

    /// The outcome: `None` as long as there is none, then `(value, None, None)`, or `(None, id,
    /// words)` where a call that failed has ended the operation. Raises what else has ended it.
    fn finished<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.with(py, Task::finished)? {
            None => Ok(None),
            Some(outcome) => outcome_of(py, outcome).map(Some),
        }
    }

    /// Does all of it with one of the core's stores. Blocks.
    fn run<'py>(&self, py: Python<'py>, store: &Store) -> PyResult<Bound<'py, PyAny>> {
        let outcome = py.detach(|| {
            let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.take().map(|task| run(task, &**store.store.store()))
        });
        let outcome = outcome.ok_or_else(|| PyRuntimeError::new_err("the operation is over"))?;
        match outcome {
            Ok(output) => output.into_object(py),
            Err(error) => Err(exception(&error)),
        }
    }
}

fn outcome_of<'py>(
    py: Python<'py>,
    outcome: Result<Output, TaskError>,
) -> PyResult<Bound<'py, PyTuple>> {
    match outcome {
        Ok(output) => (output.into_object(py)?, py.None(), py.None()).into_pyobject(py),
        Err(TaskError::Store { call, error }) => {
            (py.None(), call.0, error.message).into_pyobject(py)
        }
        Err(error) => Err(exception(&error)),
    }
}

/// The exception that the official functions raise for the same reason.
pub(crate) fn exception(error: &TaskError) -> PyErr {
    let text = error.to_string();
    match error {
        TaskError::NotFound(_) => PyFileNotFoundError::new_err(text),
        TaskError::Io(_) => PyOSError::new_err(text),
        TaskError::InvalidArgument(_) | TaskError::Unsupported(_) => PyValueError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// Which of the optional calls a store has: `list_sessions`, `list_session_summaries`, `delete`,
/// `list_subkeys`.
pub(crate) type Has = (bool, bool, bool, bool);

pub(crate) fn capabilities_of(has: Has) -> Capabilities {
    let (list_sessions, list_session_summaries, delete, list_subkeys) = has;
    Capabilities {
        list_sessions,
        list_session_summaries,
        delete,
        list_subkeys,
    }
}

/// What has to be asked of the store so that a session can be resumed from it; `None` is nothing.
#[pyfunction]
pub(crate) fn resume_task(py: Python<'_>, start: Start) -> PyResult<Option<StoreTask>> {
    let task = start.builder(py)?.resume_task();
    let task = task.map_err(|error| errors::exception(py, error))?;
    Ok(task.map(|task| StoreTask {
        task: Mutex::new(Some(task.map(Output::Plan))),
    }))
}

/// What is to be written so that a session can be resumed from a store.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct ResumePlan {
    plan: Plan,
}

/// A session from a store, written for the CLI. The folder goes with this object, unless a session
/// was started with it.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Materialized {
    folder: Mutex<Option<materialize::Materialized>>,
}

impl Materialized {
    pub(crate) fn take(&self) -> Option<materialize::Materialized> {
        let mut folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        folder.take()
    }
}

/// Writes a session from a store. Blocks.
#[pyfunction]
pub(crate) fn materialize_session(
    py: Python<'_>,
    start: Start,
    plan: &ResumePlan,
) -> PyResult<Materialized> {
    let builder = start.builder(py)?;
    let plan = &plan.plan;
    let written = py.detach(move || {
        let builder = builder;
        builder.materialize(plan)
    });
    let folder = written.map_err(|error| errors::exception(py, error))?;
    Ok(Materialized {
        folder: Mutex::new(Some(folder)),
    })
}

/// Entries for the store of a session.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct StoreCall {
    handle: StoreCallHandle,
}

impl StoreCall {
    pub(crate) fn new(handle: StoreCallHandle) -> StoreCall {
        StoreCall { handle }
    }
}

#[pymethods]
impl StoreCall {
    /// The call's name, its argument, and entries for `append`.
    fn call<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let call = self.handle.call();
        let (argument, entries) = arguments(py, call)?;
        (call.kind().name(), argument, entries).into_pyobject(py)
    }

    /// How many milliseconds the store has.
    #[getter]
    fn timeout_ms(&self) -> Option<u64> {
        self.handle.timeout_ms()
    }

    /// What the store returned, as JSON text.
    fn answer(&self, returned: &str) {
        // Too late is nobody's fault, and has been told of already.
        let _ = self.handle.answer_json(returned);
    }

    /// What the store failed with.
    fn fail(&self, message: &str) {
        let _ = self.handle.fail(message);
    }

    /// Nobody waits for the store any more. The call is not tried again: it may still land.
    fn give_up(&self, message: String) {
        let kind = StoreErrorKind::Timeout;
        let _ = self.handle.answer(Err(StoreError { message, kind }));
    }

    /// Does it with one of the core's stores. Blocks.
    fn run(&self, py: Python<'_>, store: &Store) {
        py.detach(|| {
            let _ = self
                .handle
                .answer(store.store.store().call(self.handle.call()));
        });
    }
}

fn kind_of(name: &str) -> PyResult<CallKind> {
    CallKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
        .ok_or_else(|| PyValueError::new_err(format!("no call of a store: {name}")))
}

type Arguments<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyList>>);

fn arguments<'py>(py: Python<'py>, call: &store::StoreCall) -> PyResult<Arguments<'py>> {
    Ok(match call {
        store::StoreCall::Append { key, entries } => {
            let list = PyList::empty(py);
            for entry in entries {
                list.append(loads(py, entry.as_str())?)?;
            }
            (dict(py, key)?, Some(list))
        }
        store::StoreCall::Load { key }
        | store::StoreCall::Delete { key }
        | store::StoreCall::ListSubkeys { key } => (dict(py, key)?, None),
        store::StoreCall::ListSessions { project_key }
        | store::StoreCall::ListSessionSummaries { project_key } => {
            (project_key.into_pyobject(py)?.into_any(), None)
        }
    })
}

fn dict<'py>(py: Python<'py>, key: &SessionKey) -> PyResult<Bound<'py, PyAny>> {
    let made = PyDict::new(py);
    made.set_item("project_key", &key.project_key)?;
    made.set_item("session_id", &key.session_id)?;
    if let Some(subpath) = key.subpath() {
        made.set_item("subpath", subpath)?;
    }
    Ok(made.into_any())
}

/// One of the core's stores. Its calls block, with the interpreter free meanwhile.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Store {
    store: OpenStore,
}

#[pymethods]
impl Store {
    /// Opens the store that a URL names.
    #[staticmethod]
    fn open(py: Python<'_>, url: &str) -> PyResult<Store> {
        let opened = py.detach(|| OpenStore::open(url));
        match opened {
            Ok(store) => Ok(Store { store }),
            Err(error) => Err(PyValueError::new_err(error.to_string())),
        }
    }

    /// Does a call, given as the JSON text of a `StoreCall`.
    fn call<'py>(&self, py: Python<'py>, call: &str) -> PyResult<Bound<'py, PyAny>> {
        let answer = py.detach(|| {
            let call = store::StoreCall::from_json(call)?;
            self.store
                .store()
                .call(&call)
                .map(|answer| answer.to_json())
        });
        match answer {
            Ok(answer) => loads(py, &answer),
            Err(error) if error.kind == StoreErrorKind::Unsupported => {
                Err(PyNotImplementedError::new_err(error.message))
            }
            Err(error) => Err(PyOSError::new_err(error.message)),
        }
    }
}
