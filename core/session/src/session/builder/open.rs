//! The session itself, over a stream that is open, and its connection.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use towline_protocol::connection::{Config, Connection, Diagnostic, Limits};
use towline_protocol::launch::{
    plan, version_warnings, Dialect, Environment, InProcessServer, JsonObject, LaunchPlan,
    TraceContext,
};

use super::machine::machine;
use super::SessionBuilder;
use crate::error::{Error, StartError};
use crate::reactor::Reactor;
use crate::session::closing::{Closing, Graces};
use crate::session::handlers::Handlers;
use crate::session::io::Io;
use crate::session::observing::Observer;
use crate::session::stderr::Stderr;
use crate::session::tools::Tools;
use crate::session::wire::Wire;
use crate::session::{Core, End, Session, Shared, Startup, Stats, ToolServer, VersionCheck};
use crate::Options;

impl SessionBuilder {
    /// The compiled schemas of the tools, and what the launch has to know of the host.
    pub(super) fn tools(&mut self) -> Result<Tools, Error> {
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

    /// A session over an open stream.
    pub(super) fn open(
        mut self,
        plan: &LaunchPlan,
        (warnings, trace): (Vec<String>, Option<TraceContext>),
        tools: Tools,
        (wire, pid): (Wire, Option<u32>),
        reactor: Arc<Reactor>,
        version_check: VersionCheck,
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

/// The process is started before anything is waited for, so connecting and initialising end
/// together.
fn shorter(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Keeps only what the check looks at: many sessions may wait for their CLIs at once.
pub(super) fn version_check(
    cli: String,
    options: &Options,
    mut machine: Environment,
) -> VersionCheck {
    machine
        .inherited
        .retain(|name, _| name == "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK");
    let options = Box::new(Options {
        verbatim_prompts: options.verbatim_prompts,
        ..Options::default()
    });
    Box::new(move |version| version_warnings(version, &cli, &options, &machine.inherited))
}
