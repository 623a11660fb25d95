//! What a session is built with to keep its transcript in a store, and to resume from one.

use std::path::{Path, PathBuf};
use std::sync::Weak;

use towline_protocol::launch::{Dialect, SessionStoreChoice};
use towline_transcripts::materialize::{ConfigSources, Materialized, Plan, ResumeRequest};
use towline_transcripts::mirror::{FlushMode, KeyNames, MirrorConfig};
use towline_transcripts::project_key;
use towline_transcripts::store::{Capabilities, StoreTask, TaskError};

use super::mirroring::{Mirroring, Way};
use super::SessionBuilder;
use crate::error::{Error, StartError};
use crate::process::account;
use crate::store::OpenStore;
use crate::Options;

/// The store of a session that is being built.
#[derive(Default)]
pub(super) struct StoreSide {
    way: Option<Way>,
    /// `None` is what the options say.
    flush: Option<FlushMode>,
    /// The session to resume, written for the CLI.
    pub(super) materialized: Option<Materialized>,
    /// Where transcripts are; empty when nobody knows.
    projects: Vec<String>,
    /// What works, but probably not as meant.
    pub(super) warnings: Vec<String>,
}

impl StoreSide {
    pub(super) fn is_set(&self) -> bool {
        self.way.is_some()
    }
}

impl SessionBuilder {
    /// Mirrors the transcript to this store, and lets options `resume` and `continue` find their
    /// session there (`protocol.md §10`).
    ///
    /// The store may block: it is called on one thread of its own, and the session goes on
    /// meanwhile. [`OpenStore`] lets sessions share store and thread; a plain `Arc` of a store gets
    /// a thread for this session. A result is delivered when the entries before it are stored,
    /// after 60 s at the latest, or when more than option `highWaterBytes` of messages wait behind
    /// it; requests of the CLI do not wait. [`Event::Closed`](super::Event::Closed) comes, and
    /// [`Session::close`](super::Session::close) returns, when all are; dropping the session gives
    /// the store five seconds. What could not be stored is told by a `system` message of subtype
    /// `mirror_error`.
    ///
    /// [`start`](SessionBuilder::start) then loads the session to resume, if any, before the CLI is
    /// started; option `loadTimeoutMs` limits each call. `flush` wins over option
    /// `sessionStoreFlush`, the store over one that option `sessionStore` names by URL.
    pub fn session_store(
        mut self,
        store: impl Into<OpenStore>,
        flush: impl Into<Option<FlushMode>>,
    ) -> SessionBuilder {
        self.store.way = Some(Way::Thread(store.into()));
        self.store.flush = flush.into();
        self
    }

    /// As [`session_store`](SessionBuilder::session_store), with a store that the host calls itself:
    /// each call comes as [`Event::StoreCall`](super::Event::StoreCall), one at a time, to be
    /// answered within 60 s from any thread. So a store can be asynchronous.
    ///
    /// To resume from the store, the host does the task that
    /// [`resume_task`](SessionBuilder::resume_task) gives before it starts the session. Calls go on
    /// coming after [`Session::close`](super::Session::close) has returned: poll until
    /// [`Event::Closed`](super::Event::Closed).
    pub fn store_events(
        mut self,
        capabilities: Capabilities,
        flush: impl Into<Option<FlushMode>>,
    ) -> SessionBuilder {
        self.store.way = Some(Way::Events(capabilities));
        self.store.flush = flush.into();
        self
    }

    /// What has to be asked of the store before the session is started, so that it can resume;
    /// `None` when nothing has. When the task gives a plan,
    /// [`materialize`](SessionBuilder::materialize) writes it and
    /// [`materialized`](SessionBuilder::materialized) takes what comes of that.
    ///
    /// Only for [`store_events`](SessionBuilder::store_events); another store is asked by
    /// [`start`](SessionBuilder::start). Fails when the store lacks a call that the options need.
    pub fn resume_task(&self) -> Result<Option<StoreTask<Option<Plan>>>, Error> {
        let Some(way) = &self.store.way else {
            return Ok(None);
        };
        let capabilities = way.capabilities();
        let request = self.resume_request();
        request.check(capabilities).map_err(StartError::Store)?;
        let asks = request.asks_the_store() && !self.options.runs_remotely();
        Ok(asks.then(|| request.task(capabilities)))
    }

    fn resume_request(&self) -> ResumeRequest {
        let options = &self.options;
        ResumeRequest {
            project_key: project_key(&folder_of_cli(options)),
            resume: options.resume.clone(),
            continue_conversation: options.continue_conversation,
            load_timeout_ms: options.load_timeout_ms,
        }
    }

    /// Writes a session from a store to a folder of its own, with what the CLI needs of the user's
    /// config directory. Blocks; may run on any thread.
    pub fn materialize(&self, plan: &Plan) -> Result<Materialized, Error> {
        let user = self.options.user.as_deref();
        let reader = user.map(account).transpose()?;
        let written = plan.write(&self.config_sources(), reader);
        Ok(written.map_err(StartError::Materialize)?)
    }

    /// Resumes this session, whatever options `resume` and `continue` say. Its folder is removed
    /// when the CLI has gone, when the start fails, and by the watchdog when this program dies.
    pub fn materialized(mut self, materialized: Materialized) -> SessionBuilder {
        self.store.materialized = Some(materialized);
        self
    }

    fn config_sources(&self) -> ConfigSources {
        let given = self.options.env.as_ref();
        // There option `env` is the whole environment.
        let replaces = self.options.dialect == Dialect::TypeScript;
        if let (true, Some(given)) = (replaces, given) {
            return ConfigSources::find(|name| {
                let found = given.0.iter().find(|(key, _)| *key == name);
                found.and_then(|(_, value)| value.clone())
            });
        }
        ConfigSources::find(|name| {
            match given.and_then(|given| given.0.iter().find(|(key, _)| *key == name)) {
                Some((_, Some(value))) if value.is_empty() => std::env::var(name).ok(),
                Some((_, value)) => value.clone(),
                None => std::env::var(name).ok(),
            }
        })
    }

    /// Opens the store that an option names, if the host gave none, and tells the launch. `false`
    /// without a store.
    fn open_store(&mut self) -> Result<bool, Error> {
        let store = &mut self.store;
        if let (None, SessionStoreChoice::Url(url)) = (&store.way, &self.options.session_store) {
            let opened = OpenStore::open(url).map_err(StartError::OpenStore)?;
            store.way = Some(Way::Thread(opened));
        }
        if store.way.is_none() {
            return Ok(false);
        }
        self.host.store_mirror = true;
        if store.flush.is_none() {
            store.flush = named_flush(&self.options)?;
        }
        Ok(true)
    }

    /// Before a launch: loads the session to resume, and finds out where transcripts will be.
    pub(super) fn prepare_store(&mut self) -> Result<(), Error> {
        if !self.open_store()? {
            return Ok(());
        }
        if self.store.materialized.is_none() {
            if let (Some(task), Some(Way::Thread(store))) = (self.resume_task()?, &self.store.way) {
                if let Some(plan) = store.run(task).map_err(StartError::Store)? {
                    self.store.materialized = Some(self.materialize(&plan)?);
                }
            }
        }
        if let Some(materialized) = &self.store.materialized {
            let config_dir = materialized.config_dir();
            self.options.resume = Some(materialized.session_id().into());
            self.options.continue_conversation = false;
            self.host.config_dir = Some(config_dir.to_string_lossy().into_owned());
            self.store.projects = names_of(&config_dir.join("projects"));
            let warnings = materialized.warnings();
            self.store.warnings.extend_from_slice(warnings);
        } else if !self.options.runs_remotely() {
            self.find_projects();
        } else if self.resume_request().asks_the_store() {
            self.store.warnings.push(
                "the session to resume is not taken from the store: the CLI behind the launcher \
                 could not see its files"
                    .into(),
            );
        }
        Ok(())
    }

    /// Before a session over a stream to a CLI that runs already: what it resumes is not ours to
    /// say.
    pub(super) fn prepare_store_of_stream(&mut self) -> Result<(), Error> {
        if self.open_store()? {
            self.find_projects();
        }
        Ok(())
    }

    fn find_projects(&mut self) {
        if let Some(projects) = self.config_sources().projects() {
            self.store.projects = names_of(&folder_of_cli(&self.options).join(projects));
        }
    }

    /// The store side of the session.
    pub(super) fn mirroring(&mut self, most_held: usize) -> Option<Mirroring> {
        let way = self.store.way.take()?;
        let config = MirrorConfig {
            projects: std::mem::take(&mut self.store.projects),
            flush: self.store.flush.unwrap_or_default(),
            ..MirrorConfig::new("")
        };
        let names = match self.options.dialect {
            Dialect::Python => KeyNames::SnakeCase,
            _ => KeyNames::CamelCase,
        };
        Some(Mirroring::new(config, way, names, most_held, Weak::new()))
    }
}

/// Where the CLI runs.
fn folder_of_cli(options: &Options) -> PathBuf {
    let given = options.cwd.as_deref().filter(|cwd| !cwd.is_empty());
    let folder = given.map_or_else(std::env::current_dir, std::path::absolute);
    folder.unwrap_or_default()
}

/// A folder as it is named, and by its real path if that is another.
fn names_of(folder: &Path) -> Vec<String> {
    let mut names = vec![folder.to_string_lossy().into_owned()];
    if let Ok(real) = folder.canonicalize() {
        names.push(real.to_string_lossy().into_owned());
    }
    names
}

/// The flush mode that option `sessionStoreFlush` names.
fn named_flush(options: &Options) -> Result<Option<FlushMode>, StartError> {
    let Some(name) = options.session_store_flush.as_deref() else {
        return Ok(None);
    };
    match FlushMode::named(name) {
        None => Err(StartError::Store(TaskError::InvalidArgument(format!(
            "sessionStoreFlush: {name:?} is neither \"batched\" nor \"eager\""
        )))),
        mode => Ok(mode),
    }
}
