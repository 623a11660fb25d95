//! A request of the CLI.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use towline::protocol::mcp::CallResult;
use towline::{Answer, Error, LocalError, RequestHandle, RequestKind};

use crate::errors::exception;
use crate::json;

/// Something the CLI asks. Answer it once; unless it is, the safe answer goes out when it is
/// collected: a permission is denied, a hook reports an error.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct Request {
    handle: RequestHandle,
    data: PyOnceLock<Py<PyAny>>,
}

impl Request {
    pub(crate) fn new(handle: RequestHandle) -> Request {
        Request {
            handle,
            data: PyOnceLock::new(),
        }
    }

    /// `False` when the request was withdrawn meanwhile, which is nobody's fault.
    fn answered(py: Python<'_>, result: Result<(), Error>) -> PyResult<bool> {
        match result {
            Ok(()) => Ok(true),
            Err(Error::Local(
                LocalError::Withdrawn | LocalError::AlreadyAnswered | LocalError::Ended,
            ))
            | Err(Error::Closed) => Ok(false),
            Err(error) => Err(exception(py, error)),
        }
    }
}

#[pymethods]
impl Request {
    /// Its key, unique within the session.
    #[getter]
    fn key(&self) -> u64 {
        self.handle.key().0
    }

    /// `permission`, `hook`, `tool`, `resource`, `prompt`, `mcp`, `elicitation`, `dialog` or `other`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.handle.kind() {
            RequestKind::Permission => "permission",
            RequestKind::Hook { .. } => "hook",
            RequestKind::ToolCall { .. } => "tool",
            RequestKind::ResourceRead { .. } => "resource",
            RequestKind::PromptGet { .. } => "prompt",
            RequestKind::McpMessage { .. } => "mcp",
            RequestKind::Elicitation => "elicitation",
            RequestKind::Dialog => "dialog",
            _ => "other",
        }
    }

    /// The callback id of a hook; the server of what concerns one; the subtype of another request.
    #[getter]
    fn target(&self) -> Option<&str> {
        match self.handle.kind() {
            RequestKind::Hook { callback_id } => Some(callback_id),
            RequestKind::ToolCall { server, .. }
            | RequestKind::ResourceRead { server, .. }
            | RequestKind::PromptGet { server, .. }
            | RequestKind::McpMessage { server } => Some(server),
            RequestKind::Other { subtype } => Some(subtype),
            _ => None,
        }
    }

    /// The tool or prompt.
    #[getter]
    fn name(&self) -> Option<&str> {
        match self.handle.kind() {
            RequestKind::ToolCall { tool, .. } => Some(tool),
            RequestKind::PromptGet { prompt, .. } => Some(prompt),
            _ => None,
        }
    }

    /// The `request` object, decoded at the first use.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let data = self.data.get_or_try_init(py, || {
            json::loads(py, self.handle.json()).map(Bound::unbind)
        })?;
        Ok(data.bind(py).clone())
    }

    /// The arguments of a tool call or prompt.
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::loads(py, self.handle.arguments())
    }

    /// The trace context that the CLI gives a tool call of its own, as propagation headers.
    #[getter]
    fn trace_context(&self) -> Option<HashMap<&'static str, String>> {
        let context = self.handle.own_trace_context()?;
        let state = context.tracestate.map(|state| ("tracestate", state));
        let parent = ("traceparent", context.traceparent);
        Some(std::iter::once(parent).chain(state).collect())
    }

    /// Whether nobody waits for an answer any more.
    #[getter]
    fn cancelled(&self) -> bool {
        self.handle.is_cancelled()
    }

    /// Grants a permission; `input` and `permissions` are JSON text.
    #[pyo3(signature = (input=None, permissions=None))]
    fn allow(
        &self,
        py: Python<'_>,
        input: Option<&str>,
        permissions: Option<&str>,
    ) -> PyResult<bool> {
        Request::answered(py, self.handle.allow_with(input, permissions))
    }

    /// Denies a permission.
    #[pyo3(signature = (message, interrupt=false))]
    fn deny(&self, py: Python<'_>, message: &str, interrupt: bool) -> PyResult<bool> {
        Request::answered(py, self.handle.deny(message, interrupt))
    }

    /// Answers with a payload, JSON text.
    fn answer(&self, py: Python<'_>, payload: &str) -> PyResult<bool> {
        Request::answered(py, self.handle.respond(&Answer::Json(payload)))
    }

    /// Answers with an error.
    fn error(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        Request::answered(py, self.handle.respond(&Answer::Error(text)))
    }

    /// Answers a tool call, resource or prompt with its result, JSON text.
    fn finish(&self, py: Python<'_>, result: &str) -> PyResult<bool> {
        Request::answered(py, self.handle.finish(CallResult::json(result)))
    }

    /// Answers a tool call with an error that the model reads.
    fn fail(&self, py: Python<'_>, text: &str) -> PyResult<bool> {
        Request::answered(py, self.handle.finish(CallResult::error(text)))
    }

    /// Answers with a JSON-RPC message.
    fn rpc(&self, py: Python<'_>, message: &str) -> PyResult<bool> {
        Request::answered(py, self.handle.respond(&Answer::Mcp(message)))
    }

    /// Tells how far a tool call has come. `False` when the CLI asked for no progress.
    #[pyo3(signature = (progress, total=None, message=None))]
    fn progress(
        &self,
        py: Python<'_>,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> PyResult<bool> {
        self.handle
            .progress(progress, total, message)
            .map_err(|error| exception(py, error))
    }
}
