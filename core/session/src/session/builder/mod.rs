//! Building a session: options, handlers, tools; then the start.

mod launch;
mod machine;
mod open;
mod watch;

use std::sync::Arc;
use std::time::Instant;

use towline_protocol::launch::{Hook, HostSide, OnFailure};

use super::handlers::Handlers;
use super::observing::Observer;
use super::store::StoreSide;
use super::{Reply, RequestHandle, ToolServer};
use crate::observe::{LogLevel, LogRecord, WireLog};
use crate::process::Watchdog;
use crate::recording::{Recorder, Redactor};
use crate::Options;

/// Everything a session starts with.
///
/// Handlers run on the thread that polls, with no lock held; they may call every function of the
/// session that does not wait. One that panics has failed: the safe answer is sent.
#[must_use]
pub struct SessionBuilder {
    pub(in crate::session) options: Options,
    pub(in crate::session) host: HostSide,
    handlers: Handlers,
    servers: Vec<ToolServer>,
    bridged: Vec<String>,
    watchdog: Watchdog,
    permission_events: bool,
    elicitation_events: bool,
    catch_all: bool,
    stderr_events: bool,
    pub(in crate::session) store: StoreSide,
    /// What works, but probably not as meant.
    warnings: Vec<String>,
    recorder: Option<Box<Recorder>>,
    wire_log: Option<Box<WireLog>>,
    redactor: Option<Arc<Redactor>>,
    log_level: Option<LogLevel>,
    observer: Option<Box<Observer>>,
    /// When the start was asked for.
    asked: Instant,
}

impl SessionBuilder {
    pub(in crate::session) fn new(options: Options) -> SessionBuilder {
        SessionBuilder {
            options,
            host: HostSide::default(),
            handlers: Handlers::default(),
            servers: Vec::new(),
            bridged: Vec::new(),
            watchdog: Watchdog::default(),
            permission_events: false,
            elicitation_events: false,
            catch_all: false,
            stderr_events: false,
            store: StoreSide::default(),
            warnings: Vec::new(),
            recorder: None,
            wire_log: None,
            redactor: None,
            log_level: None,
            observer: None,
            asked: Instant::now(),
        }
    }

    pub(crate) fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Asked before a tool runs that the permission rules do not settle (`protocol.md §7`).
    pub fn on_permission(
        mut self,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        self.handlers.permission = Some(Box::new(handler));
        self
    }

    /// Permission requests come as [`Event::Request`](super::Event::Request).
    pub fn permission_events(mut self) -> SessionBuilder {
        self.permission_events = true;
        self
    }

    /// Called at an event of the CLI (`protocol.md §6`): `PreToolUse`, `Stop`, … `matcher` picks
    /// some of them (`Bash`, `Edit|Write`), `None` is all. The reply is [`Reply::Json`] with a
    /// hook output, `{}` for no opinion.
    pub fn on_hook(
        self,
        event: &str,
        matcher: Option<&str>,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        self.on_hook_with(event, matcher, None, None, handler)
    }

    /// As [`on_hook`](SessionBuilder::on_hook), with how long the CLI waits (in seconds) and what
    /// a failure means.
    pub fn on_hook_with(
        mut self,
        event: &str,
        matcher: Option<&str>,
        timeout_seconds: Option<f64>,
        on_failure: Option<OnFailure>,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        let id = self.add_hook(event, matcher, timeout_seconds, on_failure);
        self.handlers.hooks.insert(id, Box::new(handler));
        self
    }

    /// Registers a hook whose calls come as [`Event::Request`](super::Event::Request) with the
    /// callback id that this returns.
    pub fn add_hook(
        &mut self,
        event: &str,
        matcher: Option<&str>,
        timeout_seconds: Option<f64>,
        on_failure: Option<OnFailure>,
    ) -> String {
        let mut ids = self.add_hooks(event, matcher, timeout_seconds, on_failure, 1);
        ids.pop().unwrap_or_default()
    }

    /// As [`add_hook`](SessionBuilder::add_hook), with that many callbacks under one matcher.
    pub fn add_hooks(
        &mut self,
        event: &str,
        matcher: Option<&str>,
        timeout_seconds: Option<f64>,
        on_failure: Option<OnFailure>,
        callbacks: usize,
    ) -> Vec<String> {
        let hooks = &mut self.host.hooks;
        let first: usize = hooks.iter().map(|hook| hook.callback_ids.len()).sum();
        let ids: Vec<String> = (first..first + callbacks)
            .map(|number| format!("hook_{number}"))
            .collect();
        hooks.push(Hook {
            event: event.into(),
            matcher: matcher.map(String::from),
            callback_ids: ids.clone(),
            timeout_seconds,
            on_failure,
        });
        ids
    }

    /// Adds an MCP server inside this program.
    pub fn tool_server(mut self, server: ToolServer) -> SessionBuilder {
        self.servers.push(server);
        self
    }

    /// Adds an MCP server object that the host runs itself: its requests come as
    /// [`Event::Request`](super::Event::Request) of kind `McpMessage`.
    pub fn bridged_server(mut self, name: &str) -> SessionBuilder {
        self.bridged.push(name.into());
        self
    }

    /// Asked when an external MCP server wants something of the user (`protocol.md §9`).
    pub fn on_elicitation(
        mut self,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        self.handlers.elicitation = Some(Box::new(handler));
        self
    }

    /// Elicitations come as [`Event::Request`](super::Event::Request).
    pub fn elicitation_events(mut self) -> SessionBuilder {
        self.elicitation_events = true;
        self
    }

    /// Shows dialogs of these kinds.
    pub fn on_dialog(
        mut self,
        kinds: &[&str],
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        self.host
            .dialog_kinds
            .extend(kinds.iter().map(|kind| (*kind).to_string()));
        self.handlers.dialog = Some(Box::new(handler));
        self
    }

    /// Asked about requests of every other subtype. Without it they are answered with an error, so
    /// that the CLI never hangs.
    pub fn on_request(
        mut self,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> SessionBuilder {
        self.handlers.other = Some(Box::new(handler));
        self
    }

    /// Requests of every other subtype come as [`Event::Request`](super::Event::Request).
    pub fn other_request_events(mut self) -> SessionBuilder {
        self.catch_all = true;
        self
    }

    /// Gets every line of the CLI's stderr.
    pub fn on_stderr(mut self, handler: impl FnMut(&str) + Send + 'static) -> SessionBuilder {
        self.handlers.stderr = Some(Box::new(handler));
        self
    }

    /// Lines of stderr come as [`Event::Stderr`](super::Event::Stderr).
    pub fn stderr_events(mut self) -> SessionBuilder {
        self.stderr_events = true;
        self
    }

    /// Gets a record of what happens in the session, up to this level: that it has started, opened,
    /// ended; turns, requests both ways, tool calls and store calls with their outcomes and how long
    /// they took; steps of the end; diagnostics; lines of stderr; with option `wireLog` set to `log`
    /// also those of the wire. Nothing secret stands in it.
    ///
    /// Runs on the thread that polls, connects, waits for an answer or closes, with no lock held, and
    /// not while the session is dropped. One that panics gets no more.
    pub fn on_log(
        mut self,
        level: LogLevel,
        hook: impl FnMut(&LogRecord) + Send + 'static,
    ) -> SessionBuilder {
        self.log_level = Some(level);
        self.handlers.log = Some(Box::new(hook));
        self
    }

    /// Shares a watchdog with other sessions; otherwise the session has one of its own.
    pub fn watchdog(mut self, watchdog: &Watchdog) -> SessionBuilder {
        self.watchdog = watchdog.clone();
        self
    }

    /// What `CLAUDE_AGENT_SDK_VERSION` says; this crate's version otherwise.
    pub fn sdk_version(mut self, version: &str) -> SessionBuilder {
        self.host.sdk_version = Some(version.into());
        self
    }

    /// The active span as propagation headers (`traceparent`, `tracestate`); what the options say of
    /// them wins.
    pub fn trace_context(mut self, headers: Vec<(String, String)>) -> SessionBuilder {
        self.host.trace_context = headers;
        self
    }
}
