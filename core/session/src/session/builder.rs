//! Building a session: options, handlers, tools; then the start.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use towline_protocol::connection::{Config, Connection, Diagnostic, Limits};
use towline_protocol::launch::{
    plan, version_warnings, Dialect, Environment, Hook, HostSide, InProcessServer, JsonObject,
    LaunchPlan, OnFailure, TraceContext,
};
use towline_transcripts::materialize::Materialized;

use super::closing::{Closing, Graces};
use super::handlers::Handlers;
use super::host::Host;
use super::io::Io;
use super::observing::Observer;
use super::pipes::Pipes;
use super::stderr::Stderr;
use super::store::StoreSide;
use super::tools::Tools;
use super::wire::Wire;
use super::{Core, End, Reply, RequestHandle, Session, Shared, Startup, Stats, ToolServer};
use crate::error::{Error, StartError};
use crate::observe::{LogLevel, LogRecord, WireLog, WireTarget};
use crate::process::{account, spawn, PrivateFiles, Start, Watchdog};
use crate::reactor::Reactor;
use crate::recording::{Recorder, Redactor, Replay};
use crate::transport::{start_portable, Launch, Transport};
use crate::{discovery, Options};

/// Everything a session starts with.
///
/// Handlers run on the thread that polls, with no lock held; they may call every function of the
/// session that does not wait. One that panics has failed: the safe answer is sent.
#[must_use]
pub struct SessionBuilder {
    pub(super) options: Options,
    pub(super) host: HostSide,
    handlers: Handlers,
    servers: Vec<ToolServer>,
    bridged: Vec<String>,
    watchdog: Watchdog,
    permission_events: bool,
    elicitation_events: bool,
    catch_all: bool,
    stderr_events: bool,
    pub(super) store: StoreSide,
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
    pub(super) fn new(options: Options) -> SessionBuilder {
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

    /// Starts the CLI and opens the session: `initialize` is written, its answer comes inside
    /// [`Session::poll`]. Fails with [`Error::Start`] when there is no process in the end.
    pub fn start(self) -> Result<Session, Error> {
        let own_group = self.options.process_group;
        let watchdog = self.options.watchdog.then(|| self.watchdog.clone());
        self.launch(|launch, folder, reactor| {
            let spawned = spawn(Start {
                argv: launch.argv,
                env: launch.env,
                cwd: launch.cwd,
                user: launch.user,
                own_group,
                watchdog,
                private_folder: folder.as_ref().map(|files| files.folder().into()),
            })?;
            let pid = spawned.child.id();
            let pipes = Pipes::new(spawned, folder, reactor).map_err(StartError::Pipes)?;
            Ok((Wire::Process(pipes), Some(pid)))
        })
    }

    /// As [`start`](SessionBuilder::start), with a CLI that the host starts itself: in a container,
    /// on another machine, by a process API of its own. Every option holds; `watchdog` and
    /// `processGroup` are the host's to see to.
    ///
    /// `start` gets the command line and the environment and returns the stream to the CLI. The
    /// files that the command line names exist until the end of the session.
    pub fn start_with<T: Transport + 'static>(
        self,
        start: impl FnOnce(Launch) -> Result<T, Error>,
    ) -> Result<Session, Error> {
        self.launch(|launch, folder, reactor| {
            let transport = Box::new(start(launch)?);
            let host = Host::new(transport, folder, reactor);
            let host = host.map_err(|error| StartError::Transport(error.to_string()))?;
            let pid = host.pid();
            Ok((Wire::Host(host), pid))
        })
    }

    /// As [`start`](SessionBuilder::start), with nothing but the standard library: four threads of the
    /// session's own read and write the pipes and wait for the end. For systems where `start` does
    /// not work.
    ///
    /// The CLI is in the host's own process group and ended without SIGTERM; what it leaves behind, and
    /// a host that dies, are not looked after (`processGroup` and `watchdog` have no effect); option
    /// `user` is refused.
    pub fn start_portable(self) -> Result<Session, Error> {
        self.start_with(start_portable)
    }

    /// Opens a session with a CLI that runs already, or with whatever else speaks its protocol at
    /// the other end of this stream.
    ///
    /// Everything that `initialize` carries, the deadlines and the limits hold. Options that only a
    /// command line, the environment or a working directory can carry are the business of whoever
    /// started the CLI; a [`Diagnostic::Options`] names them. Nothing is resumed from a session
    /// store, and what is mirrored to one is what the CLI gives of itself (`--session-mirror`).
    pub fn start_over(self, transport: impl Transport + 'static) -> Result<Session, Error> {
        self.observed(|builder| builder.attach(transport))
    }

    fn attach(mut self, transport: impl Transport + 'static) -> Result<Session, Error> {
        self.prepare_store_of_stream()?;
        let tools = self.tools()?;
        let machine = machine(&self.options);
        let mut plan = plan(&self.options, &self.host, &machine).map_err(StartError::Launch)?;
        let mut lost = plan.launch_options();
        let given = |option, given: bool| given.then_some(option);
        lost.extend(given(
            "env",
            self.options
                .env
                .as_ref()
                .is_some_and(|env| !env.0.is_empty()),
        ));
        lost.extend(given("launcher", !self.options.launcher.is_empty()));
        lost.extend(given("replay", self.options.replay.is_some()));
        let reactor = reactor()?;
        let host = Host::new(Box::new(transport), None, &reactor);
        let host = host.map_err(|error| StartError::Transport(error.to_string()))?;
        let pid = host.pid();
        let check = version_check(
            "the other end of the transport".into(),
            &self.options,
            machine,
        );
        let mut warnings: Vec<String> = plan.warnings.drain(..).map(|w| w.to_string()).collect();
        if !lost.is_empty() {
            warnings.push(format!(
                "{}: not passed on, since the CLI was not started by this session; it has to be \
                 started with them",
                lost.join(", ")
            ));
        }
        self.record(&[])?;
        let trace = self.trace_given();
        self.open(
            &plan,
            (warnings, trace),
            tools,
            (Wire::Host(host), pid),
            reactor,
            check,
        )
    }

    /// Begins to watch the start of a session, and tells when it fails.
    fn observed(
        mut self,
        start: impl FnOnce(SessionBuilder) -> Result<Session, Error>,
    ) -> Result<Session, Error> {
        self.asked = Instant::now();
        let mut observer = Box::new(Observer::new(self.log_level));
        let watched = observer.is_on();
        if watched || self.options.wire_log.is_some() {
            let redactor = self.redactor();
            self.open_wire_log(&redactor)?;
            observer.redact_with(redactor);
        }
        let failing = watched.then(|| observer.starting());
        self.observer = Some(observer);
        let started = start(self);
        if let (Err(error), Some(observer)) = (&started, failing) {
            observer.not_started(error);
        }
        started
    }

    /// One for all that is told and written of this session.
    fn redactor(&mut self) -> Arc<Redactor> {
        let options = &self.options;
        let redactor = &mut self.redactor;
        redactor
            .get_or_insert_with(|| Arc::new(Redactor::of(options)))
            .clone()
    }

    /// Opens the wire log that the options ask for.
    fn open_wire_log(&mut self, redactor: &Arc<Redactor>) -> Result<(), StartError> {
        let Some(target) = &self.options.wire_log else {
            return Ok(());
        };
        let target = WireTarget::named(target);
        if matches!(target, WireTarget::Log) && self.log_level != Some(LogLevel::Trace) {
            self.warnings.push(
                "wireLog: \"log\" gives nothing, since no log hook takes records of level trace"
                    .into(),
            );
            return Ok(());
        }
        let shown = usize::try_from(self.options.wire_log_line_bytes).unwrap_or(usize::MAX);
        let log = WireLog::open(target, redactor.clone(), shown)?;
        self.wire_log = Some(Box::new(log));
        Ok(())
    }

    /// The trace that the options or the host name.
    fn trace_given(&self) -> Option<TraceContext> {
        let header = |wanted: &str| {
            let mut headers = self.host.trace_context.iter();
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.as_str())
        };
        match &self.options.traceparent {
            Some(parent) => TraceContext::new(parent, self.options.tracestate.as_deref()),
            None => TraceContext::new(header("traceparent")?, header("tracestate")),
        }
    }

    /// The compiled schemas of the tools, and what the launch has to know of the host.
    fn tools(&mut self) -> Result<Tools, Error> {
        let mut tools = Tools::default();
        // The TypeScript package keeps stdin open until the result, for its control requests.
        let stays_open = self.options.dialect == Dialect::TypeScript;
        tools.needs_host = self.complete_host() || stays_open;
        tools.verbatim_prompts = self.options.verbatim_prompts;
        tools.serves_unchecked = self.options.dialect != Dialect::Towline;
        for server in &self.servers {
            self.warnings.extend(tools.add(server)?);
        }
        Ok(tools)
    }

    /// Plans the launch of a CLI, has it started, and opens the session.
    fn launch(
        self,
        start: impl FnOnce(
            Launch,
            Option<PrivateFiles>,
            &Arc<Reactor>,
        ) -> Result<(Wire, Option<u32>), Error>,
    ) -> Result<Session, Error> {
        self.observed(|builder| builder.launch_observed(start))
    }

    fn launch_observed(
        mut self,
        start: impl FnOnce(
            Launch,
            Option<PrivateFiles>,
            &Arc<Reactor>,
        ) -> Result<(Wire, Option<u32>), Error>,
    ) -> Result<Session, Error> {
        if let Some(recording) = self.options.replay.take() {
            return self.replay(Path::new(&recording));
        }
        self.prepare_store()?;
        let tools = self.tools()?;
        let machine = machine(&self.options);
        let plan = plan(&self.options, &self.host, &machine).map_err(StartError::Launch)?;
        let cli = discovery::find(&self.options, &machine)?;
        let (folder, files) = private_files(&plan, self.store.materialized.take())?;
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let command = plan.command(&cli, &files).map_err(StartError::Launch)?;
        self.record(command.get(1..).unwrap_or_default())?;
        let launch = Launch {
            argv: command.into_iter().map(OsString::from).collect(),
            env: environment(&plan.env),
            cwd: plan.cwd.clone().map(Into::into),
            user: plan.user.clone(),
        };
        let reactor = reactor()?;
        let trace = trace_of(&launch.env);
        let behind_launcher = !self.options.launcher.is_empty();
        let wire = start(launch, folder, &reactor).map_err(|error| match error {
            Error::Start(error) if behind_launcher => error.of_launcher().into(),
            error => error,
        })?;
        let check = version_check(cli, &self.options, machine);
        let warnings = plan.warnings.iter().map(ToString::to_string).collect();
        self.open(&plan, (warnings, trace), tools, wire, reactor, check)
    }

    /// A session with a recording in the place of the CLI.
    fn replay(mut self, recording: &Path) -> Result<Session, Error> {
        let replay = Replay::open(recording, self.redactor())?;
        self.prepare_store_of_stream()?;
        let tools = self.tools()?;
        let machine = machine(&self.options);
        let plan = plan(&self.options, &self.host, &machine).map_err(StartError::Launch)?;
        let reactor = reactor()?;
        let host = Host::new(Box::new(replay), None, &reactor);
        let host = host.map_err(|error| StartError::Transport(error.to_string()))?;
        let check = Box::new(|_: Option<&str>| Vec::new());
        let warnings = plan.warnings.iter().map(ToString::to_string).collect();
        let wire = (Wire::Host(host), None);
        self.record(&[])?;
        let trace = self.trace_given();
        self.open(&plan, (warnings, trace), tools, wire, reactor, check)
    }

    /// Begins the recording that the options ask for, of a CLI with these arguments.
    fn record(&mut self, args: &[String]) -> Result<(), StartError> {
        let options = &self.options;
        let Some(path) = &options.record else {
            return Ok(());
        };
        let path = PathBuf::from(path);
        let limit = usize::try_from(options.max_line_bytes).unwrap_or(usize::MAX);
        let redactor = options.record_redacted.then(|| self.redactor());
        let mut recorder = Recorder::create(&path, redactor, limit)?;
        recorder.started(args);
        self.recorder = Some(Box::new(recorder));
        Ok(())
    }

    /// A session over an open stream.
    fn open(
        mut self,
        plan: &LaunchPlan,
        (warnings, trace): (Vec<String>, Option<TraceContext>),
        tools: Tools,
        (wire, pid): (Wire, Option<u32>),
        reactor: Arc<Reactor>,
        version_check: super::VersionCheck,
    ) -> Result<Session, Error> {
        let options = &self.options;
        let graces = Graces {
            close: Some(options.close_grace_ms),
            terminate: Some(options.terminate_grace_ms),
        };
        let wants_stderr = self.stderr_events || self.handlers.stderr.is_some();
        let tail = usize::try_from(options.stderr_tail_bytes).unwrap_or(usize::MAX);
        let (connect, initialize) = (&options.connect_timeout_ms, &plan.initialize_timeout);
        let connecting = match (connect.millis(), initialize.millis()) {
            (Some(connect), Some(initialize)) => connect < initialize,
            (connect, _) => connect.is_some(),
        };
        let mut connection = Connection::new(self.config(plan.initialize_timeout.millis()), 0);
        for server in &mut self.servers {
            let server = std::mem::replace(server, ToolServer::new("", ""));
            let name = server.server.name().to_string();
            for (tool, handler) in server.tools {
                self.handlers.tools.insert((name.clone(), tool), handler);
            }
            connection.add_server(server.server);
        }
        for name in &self.bridged {
            connection.add_bridged_server(name);
        }
        connection.initialize(&plan.initialize)?;
        let warnings = warnings
            .into_iter()
            .chain(std::mem::take(&mut self.store.warnings))
            .chain(std::mem::take(&mut self.warnings));
        let warnings: Vec<String> = warnings.collect();
        let high_water = usize::try_from(self.options.high_water_bytes).unwrap_or(usize::MAX);
        let in_transport = wire.in_transport();
        let observer = self.observer.take();
        let observer = observer.unwrap_or_else(|| Box::new(Observer::new(None)));
        let mut wire_log = self.wire_log.take();
        if let Some(wire_log) = &mut wire_log {
            wire_log.of_process(pid);
        }
        let mut core = Core {
            connection,
            epoch: Instant::now(),
            io: Io::new(wire),
            closing: Closing::new(graces),
            deferred: VecDeque::new(),
            deferred_weight: 0,
            high_water,
            read_limit: usize::MAX,
            waiters: BTreeMap::new(),
            blocked: false,
            polled_by_host: false,
            polls_waiting: 0,
            onlookers: 0,
            exported: false,
            watched: false,
            told: None,
            armed: false,
            asked: self.asked,
            stats: Stats {
                startup: Startup {
                    spawned: Some(self.asked.elapsed()),
                    ..Startup::default()
                },
                ..Stats::default()
            },
            stderr: Stderr::new(
                tail,
                wants_stderr,
                observer.wants_stderr(),
                observer.is_on(),
            ),
            recorder: self.recorder.take(),
            wire_log,
            observer,
            end: End::NotYet,
            mirroring: self.mirroring(high_water),
            version_check: Some(version_check),
            connecting,
        };
        core.note_started(pid);
        for warning in warnings {
            core.diagnose(Diagnostic::Options(warning));
        }
        let handlers = self.handlers;
        let shared = Arc::new_cyclic(|shared| {
            if let Some(mirroring) = &mut core.mirroring {
                mirroring.shared = shared.clone();
            }
            Shared {
                owner: std::process::id(),
                pid,
                reactor,
                core: Mutex::new(core),
                handlers: Mutex::new(Handlers {
                    shared: shared.clone(),
                    ..handlers
                }),
                poller: AtomicUsize::new(0),
                in_transport,
                progress: Condvar::new(),
                tools,
                trace,
            }
        });
        shared.lock_core().flush(&shared.reactor);
        Ok(Session { shared })
    }

    /// The connection that a session would have, and how the CLI would be launched, for a host that
    /// owns the process and its pipes: `initialize` is queued. Handlers are not called and arguments
    /// of tools are not checked: every request comes as an event.
    pub fn connection(mut self, now: u64) -> Result<(Connection, LaunchPlan), Error> {
        self.complete_host();
        let plan =
            plan(&self.options, &self.host, &machine(&self.options)).map_err(StartError::Launch)?;
        let mut connection = Connection::new(self.config(plan.initialize_timeout.millis()), now);
        for server in self.servers {
            connection.add_server(server.server);
        }
        for name in &self.bridged {
            connection.add_bridged_server(name);
        }
        connection.initialize(&plan.initialize)?;
        Ok((connection, plan))
    }

    /// Tells the launch what was registered; returns whether the CLI needs this host while it
    /// works.
    fn complete_host(&mut self) -> bool {
        self.host.permission_handler = self.permission_events || self.handlers.permission.is_some();
        // The TypeScript package saves the CLI the handshake with servers that have tools.
        let listed = self.options.dialect == Dialect::TypeScript;
        for server in &mut self.servers {
            let has_tools = server.server.tools().next().is_some();
            let manifest = (listed && has_tools).then(|| server.server.manifest());
            self.host.servers.push(InProcessServer {
                name: server.server.name().into(),
                timeout_ms: server.timeout_ms,
                manifest: manifest.and_then(|manifest| JsonObject::parse(&manifest).ok()),
                ..InProcessServer::default()
            });
        }
        for name in &self.bridged {
            self.host.servers.push(InProcessServer {
                name: name.clone(),
                ..InProcessServer::default()
            });
        }
        self.host.permission_handler || !self.host.hooks.is_empty() || !self.host.servers.is_empty()
    }

    fn config(&self, initialize: Option<u64>) -> Config {
        let options = &self.options;
        let bytes = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
        let callbacks = self
            .host
            .hooks
            .iter()
            .flat_map(|hook| hook.callback_ids.iter().cloned());
        let mut dialog_kinds = self.host.dialog_kinds.clone();
        dialog_kinds.extend(options.supported_dialog_kinds.iter().cloned());
        Config {
            line_limit: bytes(options.max_line_bytes),
            queue_limit: bytes(options.max_queued_bytes),
            limits: Limits {
                initialize: shorter(initialize, options.connect_timeout_ms.millis()),
                control_request: options.control_timeout_ms.millis(),
                first_message: options.first_message_timeout_ms.millis(),
                idle: options.idle_timeout_ms.millis(),
                turn: options.turn_timeout_ms.millis(),
                handler: options.handler_timeout_ms.millis(),
            },
            hook_callbacks: Some(callbacks.collect::<BTreeSet<_>>()),
            catch_all: self.catch_all || self.handlers.other.is_some(),
            dialog_kinds,
            elicitation: self.elicitation_events || self.handlers.elicitation.is_some(),
            permission: self.host.permission_handler,
            dialect: options.dialect,
            mirror: self.store.is_set(),
        }
    }
}

fn reactor() -> Result<Arc<Reactor>, Error> {
    Ok(Arc::new(Reactor::new().map_err(StartError::Pipes)?))
}

/// Writes what may not stand on the command line, beside the session from a store if there is one;
/// the paths in order.
fn private_files(
    plan: &LaunchPlan,
    materialized: Option<Materialized>,
) -> Result<(Option<PrivateFiles>, Vec<String>), Error> {
    let reader = || plan.user.as_deref().map(account).transpose();
    let mut paths = Vec::new();
    let mut folder = match materialized {
        Some(whole) => Some(PrivateFiles::beside(whole, reader()?)),
        None => None,
    };
    for file in &plan.private_files {
        let folder = match &folder {
            Some(folder) => folder,
            None => {
                folder.insert(PrivateFiles::create(reader()?).map_err(StartError::PrivateFile)?)
            }
        };
        let path = folder
            .write(file.name, &file.contents)
            .map_err(StartError::PrivateFile)?;
        paths.push(path.to_string_lossy().into_owned());
    }
    Ok((folder, paths))
}

/// The process is started before anything is waited for, so connecting and initialising end
/// together.
fn shorter(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Keeps only what the check looks at: many sessions may wait for their CLIs at once.
fn version_check(cli: String, options: &Options, mut machine: Environment) -> super::VersionCheck {
    machine
        .inherited
        .retain(|name, _| name == "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK");
    let options = Box::new(Options {
        verbatim_prompts: options.verbatim_prompts,
        ..Options::default()
    });
    Box::new(move |version| version_warnings(version, &cli, &options, &machine.inherited))
}

/// What the launch has to know of this machine.
fn machine(options: &Options) -> Environment {
    let inherited = std::env::vars_os().map(|(name, value)| {
        (
            name.to_string_lossy().into_owned(),
            value.to_string_lossy().into_owned(),
        )
    });
    Environment {
        inherited: inherited.collect(),
        settings_file: options.settings_to_read().map(|path| {
            let folder = Path::new(options.cwd.as_deref().unwrap_or_default());
            std::fs::read_to_string(folder.join(path)).map_err(|error| error.to_string())
        }),
        ..Environment::default()
    }
}

/// The trace that a CLI with this environment works for.
fn trace_of(env: &[(OsString, OsString)]) -> Option<TraceContext> {
    let variable = |wanted: &str| {
        let found = env.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| value.to_str())
    };
    TraceContext::new(variable("TRACEPARENT")?, variable("TRACESTATE"))
}

/// The whole environment, with inherited values that are no Unicode left as they are.
fn environment(plan: &towline_protocol::launch::EnvPlan) -> Vec<(OsString, OsString)> {
    let mut all: BTreeMap<OsString, OsString> = BTreeMap::new();
    if plan.inherit {
        all.extend(std::env::vars_os());
        all.retain(|name, _| !name.to_str().is_some_and(|name| plan.unset.contains(name)));
    }
    all.extend(
        plan.set
            .iter()
            .map(|(name, value)| (name.into(), value.into())),
    );
    all.into_iter().collect()
}
