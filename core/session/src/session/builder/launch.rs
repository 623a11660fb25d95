//! Starting the CLI, or taking what stands in its place.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use towline_protocol::launch::plan;

use super::machine::{environment, machine, private_files, reactor, trace_of};
use super::open::version_check;
use super::SessionBuilder;
use crate::discovery;
use crate::error::{Error, StartError};
use crate::process::{spawn, PrivateFiles, Start};
use crate::reactor::Reactor;
use crate::recording::Replay;
use crate::session::host::Host;
use crate::session::pipes::Pipes;
use crate::session::wire::Wire;
use crate::session::Session;
use crate::transport::{start_portable, Launch, Transport};

impl SessionBuilder {
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
    /// started the CLI; a [`Diagnostic::Options`](crate::Diagnostic::Options) names them. Nothing is resumed from a session
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
}
