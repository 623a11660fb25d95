//! Where a test runs: a sandbox with one of the pinned CLIs in it.

use std::path::{Path, PathBuf};

use serde_json::{json, Map, Value};
use towline::{Options, Session, SessionBuilder};
use towline_testkit::{RealCli, Sandbox, ScriptedApi, Version};

use crate::Host;

/// A sandbox, a CLI and a working directory. It belongs to the thread that made it: sessions are
/// started there.
#[derive(Debug)]
pub struct Stage {
    sandbox: Sandbox,
    version: Version,
    cli: PathBuf,
    project: PathBuf,
}

impl Stage {
    /// Enters a sandbox on the calling thread.
    ///
    /// # Panics
    /// With what to do about it: the CLI is not installed, or no network namespace can be made.
    pub fn new(version: Version) -> Stage {
        let sandbox = Sandbox::enter().expect("a sandbox can be set up");
        sandbox
            .require_isolation()
            .unwrap_or_else(|hint| panic!("{hint}"));
        let cli = RealCli::locate(version).unwrap_or_else(|hint| panic!("{hint}"));
        let project = sandbox.home().join("project");
        std::fs::create_dir(&project).expect("a working directory can be made");
        Stage {
            sandbox,
            version,
            cli,
            project,
        }
    }

    /// The version under test.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether this is the version that names prompts and does the rest of `protocol.md §13`.
    pub fn is_current(&self) -> bool {
        self.version == Version::Current
    }

    /// The API that the CLI speaks to.
    pub fn api(&self) -> &ScriptedApi {
        self.sandbox.api()
    }

    /// The sandbox itself.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The CLI's executable.
    pub fn cli(&self) -> &Path {
        &self.cli
    }

    /// The working directory of the sessions.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The options every session here needs, with `more` over them; its `env` is added to the
    /// sandbox's.
    pub fn options(&self, more: Value) -> Options {
        let mut env: Map<String, Value> = self
            .sandbox
            .inherited_to_unset()
            .into_iter()
            .map(|name| (name, Value::Null))
            .collect();
        env.extend(
            self.sandbox
                .env()
                .into_iter()
                .map(|(name, value)| (name, Value::String(value))),
        );
        env.insert("CLAUDE_CODE_MAX_RETRIES".into(), "1".into());
        let mut all = json!({
            "cliPath": self.cli,
            "cwd": self.project,
            "model": "claude-sonnet-4-5",
            "settingSources": [],
        });
        for (name, value) in more.as_object().expect("options are an object") {
            match (name.as_str(), value) {
                ("env", Value::Object(more)) => env.extend(more.clone()),
                (name, value) => all[name] = value.clone(),
            }
        }
        all["env"] = Value::Object(env);
        Options::from_json(&all.to_string()).expect("the options are valid")
    }

    /// A builder with these options, to add handlers to.
    pub fn builder(&self, more: Value) -> SessionBuilder {
        Session::builder(self.options(more))
    }

    /// Starts what was built.
    pub fn start(&self, builder: SessionBuilder) -> Host {
        let session = builder.start().expect("the CLI can be started");
        Host::new(session)
    }

    /// Starts a session without handlers.
    pub fn open(&self, more: Value) -> Host {
        self.start(self.builder(more))
    }
}
