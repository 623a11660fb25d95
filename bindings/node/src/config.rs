//! What JavaScript gives a session at the start, one JSON document, as a builder of the core.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use towline::protocol::mcp;
use towline::transcripts::store::Capabilities;
use towline::{
    Error, LogLevel, LogRecord, OnFailure, Options, SessionBuilder, Tool, ToolServer, Watchdog,
};

use crate::error::{invalid, to_js};

/// Everything but the options proper.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config<'a> {
    /// The options document of the core.
    #[serde(borrow)]
    options: &'a RawValue,
    /// Whether permission questions come to JavaScript.
    #[serde(default)]
    permission: bool,
    #[serde(default)]
    elicitation: bool,
    /// Requests of unknown subtypes.
    #[serde(default)]
    other: bool,
    #[serde(default)]
    stderr: bool,
    /// Up to which level records of the log come to JavaScript.
    log: Option<String>,
    /// The active span as propagation headers.
    #[serde(default)]
    trace_context: Vec<(String, String)>,
    #[serde(default)]
    hooks: Vec<HookEntry>,
    #[serde(default, borrow)]
    servers: Vec<ServerEntry<'a>>,
    /// Which calls a store of JavaScript's has; its calls come as events.
    store: Option<Capabilities>,
}

/// A matcher of a hook, in the order of registration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookEntry {
    event: String,
    matcher: Option<String>,
    timeout: Option<f64>,
    on_failure: Option<String>,
    /// How many functions it calls.
    callbacks: usize,
}

/// An in-process server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerEntry<'a> {
    pub(crate) name: String,
    /// JavaScript runs it itself: the core passes JSON-RPC through.
    #[serde(default)]
    pub(crate) bridged: bool,
    version: Option<String>,
    instructions: Option<String>,
    timeout: Option<u64>,
    #[serde(default, borrow)]
    tools: Vec<ToolEntry<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolEntry<'a> {
    name: String,
    description: Option<String>,
    #[serde(borrow)]
    input_schema: &'a RawValue,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
    #[serde(rename = "_meta", borrow)]
    meta: Option<&'a RawValue>,
}

/// A builder, and the callback ids of the hooks in their order.
pub(crate) struct Prepared {
    pub(crate) builder: SessionBuilder,
    pub(crate) hooks: Vec<String>,
    pub(crate) log: Log,
}

/// Records of the log that wait to be drained: JavaScript is not called while a session polls.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<LogRecord>>>);

impl Log {
    fn hook(&self) -> impl FnMut(&LogRecord) + Send + 'static {
        let log = self.clone();
        move |record| log.records().push(record.clone())
    }

    fn records(&self) -> MutexGuard<'_, Vec<LogRecord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn take(&self) -> Vec<LogRecord> {
        std::mem::take(&mut *self.records())
    }
}

impl<'a> Config<'a> {
    pub(crate) fn read(text: &'a str) -> napi::Result<Config<'a>> {
        serde_json::from_str(text).map_err(|error| invalid("INVALID_OPTIONS", error))
    }

    pub(crate) fn prepare(self, watchdog: &Watchdog) -> napi::Result<Prepared> {
        let options = Options::from_json(self.options.get())
            .map_err(|error| invalid("INVALID_OPTIONS", error))?;
        let mut builder = towline::Session::builder(options)
            .watchdog(watchdog)
            .trace_context(self.trace_context);
        let log = Log::default();
        if let Some(level) = &self.log {
            let level = LogLevel::named(level).ok_or_else(|| {
                let text = format!("logLevel: {level:?} is none; take \"debug\"");
                invalid("INVALID_OPTIONS", text)
            })?;
            builder = builder.on_log(level, log.hook());
        }
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
        for server in self.servers {
            builder = match server.bridged {
                true => builder.bridged_server(&server.name),
                false => builder.tool_server(server.build().map_err(to_js)?),
            };
        }
        if let Some(capabilities) = self.store {
            builder = builder.store_events(capabilities, None);
        }
        let mut hooks = Vec::new();
        for hook in self.hooks {
            let on_failure = match hook.on_failure.as_deref() {
                Some("block") => Some(OnFailure::Block),
                Some("continue") => Some(OnFailure::Continue),
                None => None,
                Some(other) => {
                    let text = format!("onFailure is \"continue\" or \"block\", not {other:?}");
                    return Err(invalid("INVALID_OPTIONS", text));
                }
            };
            let matcher = hook.matcher.as_deref();
            let ids = builder.add_hooks(
                &hook.event,
                matcher,
                hook.timeout,
                on_failure,
                hook.callbacks,
            );
            hooks.extend(ids);
        }
        Ok(Prepared {
            builder,
            hooks,
            log,
        })
    }
}

impl ServerEntry<'_> {
    pub(crate) fn build(self) -> Result<ToolServer, Error> {
        let version = self.version.unwrap_or_else(|| "1.0.0".into());
        let mut server = ToolServer::new(self.name, version);
        if let Some(instructions) = self.instructions {
            server.server_mut().instructions(instructions);
        }
        if let Some(timeout) = self.timeout {
            server.timeout_ms(timeout);
        }
        for tool in self.tools {
            server.add(Tool::without_handler(mcp::Tool {
                name: tool.name,
                description: tool.description,
                input_schema: tool.input_schema.get().into(),
                annotations: tool.annotations.map(|json| json.get().into()),
                // As the servers of the MCP SDK list theirs.
                execution: Some(r#"{"taskSupport":"forbidden"}"#.into()),
                meta: tool.meta.map(|json| json.get().into()),
                ..mcp::Tool::default()
            }))?;
        }
        Ok(server)
    }
}
