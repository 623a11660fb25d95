//! What a session is started with.

use std::sync::OnceLock;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use towline::protocol::mcp;
use towline::transcripts::mirror::FlushMode;
use towline::{
    DiagnosticTexts, HostLimits, HostTransport, LogLevel, OnFailure, Options, SessionBuilder, Tool,
    ToolServer, Watchdog,
};

use crate::errors::exception;
use crate::log::Log;
use crate::stores::{capabilities_of, Has, Materialized};

/// One for all sessions of the process: a small shell that ends their CLIs if the process dies.
static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();

/// Hook callbacks: event, matcher, seconds, what a failure means.
type Hook = (String, Option<String>, Option<f64>, Option<String>);

/// An object of `towline._engine.launch`.
#[derive(FromPyObject)]
pub(crate) struct Start {
    /// The options document, JSON text.
    document: String,
    permission: bool,
    hooks: Vec<Hook>,
    servers: Vec<Server>,
    bridged: Vec<String>,
    elicitation: bool,
    other: bool,
    stderr: bool,
    pub(crate) unknown: bool,
    trace_context: Vec<(String, String)>,
    /// Up to which level records of the log are wanted; 0 for none.
    log_level: i64,
    sdk_version: String,
    /// Which optional calls the store has that the transcript is mirrored to.
    store: Option<Has>,
    store_flush: String,
    /// The session to resume, from the store.
    materialized: Option<Py<Materialized>>,
}

/// An in-process MCP server.
#[derive(FromPyObject)]
struct Server {
    /// By which the CLI knows it.
    name: String,
    /// What it calls itself.
    own_name: String,
    version: String,
    instructions: Option<String>,
    timeout_ms: Option<u64>,
    tools: Vec<Definition>,
}

/// A tool; schemas and annotations are JSON text.
#[derive(FromPyObject)]
struct Definition {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: String,
    output_schema: Option<String>,
    annotations: Option<String>,
    meta: Option<String>,
}

impl Start {
    /// Starts the CLI. Its hooks have the ids `hook_0`, `hook_1`, … in their order.
    pub(crate) fn run(self, py: Python<'_>) -> PyResult<(towline::Session, Log)> {
        let (builder, log) = self.logged(py)?;
        let session = py.detach(|| builder.start());
        Ok((session.map_err(|error| exception(py, error))?, log))
    }

    /// How long the program's own transport may take.
    pub(crate) fn host_limits(&self) -> PyResult<HostLimits> {
        Ok(HostLimits::of(&self.options()?))
    }

    fn options(&self) -> PyResult<Options> {
        let options = Options::from_json(&self.document);
        options.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Opens a session with a CLI that the program has started.
    pub(crate) fn run_over(
        self,
        py: Python<'_>,
        transport: HostTransport,
    ) -> PyResult<(towline::Session, Log)> {
        let (builder, log) = self.logged(py)?;
        let session = py.detach(|| builder.start_over(transport));
        Ok((session.map_err(|error| exception(py, error))?, log))
    }

    /// A session that is not started yet, and puts its records there.
    fn logged(self, py: Python<'_>) -> PyResult<(SessionBuilder, Log)> {
        let options = self.options()?;
        let log = Log::new(DiagnosticTexts::of(&options));
        let level = LogLevel::numbered(self.log_level);
        let builder = self.builder_of(py, options)?;
        let builder = match level {
            Some(level) => builder.on_log(level, log.hook()),
            None => builder,
        };
        Ok((builder, log))
    }

    /// A session that is not started yet.
    pub(crate) fn builder(self, py: Python<'_>) -> PyResult<SessionBuilder> {
        let options = self.options()?;
        self.builder_of(py, options)
    }

    fn builder_of(self, py: Python<'_>, options: Options) -> PyResult<SessionBuilder> {
        let mut builder = towline::Session::builder(options)
            .watchdog(WATCHDOG.get_or_init(Watchdog::default))
            .sdk_version(&self.sdk_version)
            .trace_context(self.trace_context);
        if self.permission {
            builder = builder.permission_events();
        }
        if self.elicitation {
            builder = builder.elicitation_events();
        }
        if self.other {
            builder = builder.other_request_events();
        }
        if self.stderr {
            builder = builder.stderr_events();
        }
        for (event, matcher, seconds, on_failure) in &self.hooks {
            let on_failure = on_failure.as_deref().map(|choice| match choice {
                "continue" => OnFailure::Continue,
                // What is not known blocks, as in the CLI: it must not fail open.
                _ => OnFailure::Block,
            });
            builder.add_hook(event, matcher.as_deref(), *seconds, on_failure);
        }
        for server in self.servers {
            let server = server.build();
            builder = builder.tool_server(server.map_err(|error| exception(py, error))?);
        }
        for name in &self.bridged {
            builder = builder.bridged_server(name);
        }
        if let Some(has) = self.store {
            let flush = FlushMode::named(&self.store_flush).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "session_store_flush: {:?} is neither \"batched\" nor \"eager\"",
                    self.store_flush
                ))
            })?;
            builder = builder.store_events(capabilities_of(has), flush);
        }
        if let Some(folder) = self.materialized.and_then(|made| made.get().take()) {
            builder = builder.materialized(folder);
        }
        Ok(builder)
    }
}

impl Server {
    fn build(self) -> Result<ToolServer, towline::Error> {
        let mut server = ToolServer::new(self.name, self.version);
        server.server_mut().own_name(self.own_name);
        if let Some(instructions) = &self.instructions {
            server.server_mut().instructions(instructions);
        }
        if let Some(limit) = self.timeout_ms {
            server.timeout_ms(limit);
        }
        for tool in self.tools {
            server.add(Tool::without_handler(mcp::Tool {
                execution: None,
                name: tool.name,
                title: tool.title,
                description: tool.description,
                input_schema: tool.input_schema,
                output_schema: tool.output_schema,
                annotations: tool.annotations,
                meta: tool.meta,
            }))?;
        }
        Ok(server)
    }
}
