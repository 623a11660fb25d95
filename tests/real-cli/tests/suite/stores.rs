//! Transcripts in a store, and sessions resumed from there on what is another machine to the CLI.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{json, Value};
use towline::transcripts::store::operations::{self, import, ImportOptions, Page, Project};
use towline::transcripts::store::{
    Capabilities, Entry, SessionKey, SessionStore, StoreError, StoreListEntry,
};
use towline::transcripts::{fork, project_key, ForkOptions};
use towline::{FlushMode, OpenStore};
use towline_real_cli::processes::Watched;
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Host, Stage, LIMIT};
use towline_testkit::TemporaryPostgres;

on_both_versions!(
    resumed_on_another_machine,
    the_newest_is_continued,
    a_cli_that_is_killed_leaves_what_was_stored,
);
on_the_current_version!(
    forked_in_the_store,
    from_one_disk_to_another_through_postgres,
    subagents_come_along,
    a_full_store_stops_nothing
);

/// A store in memory.
#[derive(Default)]
struct Store {
    transcripts: Mutex<BTreeMap<SessionKey, (i64, Vec<Entry>)>>,
    full: bool,
}

impl Store {
    fn keys(&self) -> Vec<SessionKey> {
        self.transcripts.lock().unwrap().keys().cloned().collect()
    }

    fn entries(&self, key: &SessionKey) -> Vec<Entry> {
        let transcripts = self.transcripts.lock().unwrap();
        transcripts
            .get(key)
            .map(|(_, entries)| entries.clone())
            .unwrap_or_default()
    }

    fn types(&self, key: &SessionKey) -> Vec<String> {
        let of = |entry: &Entry| entry.string("type").unwrap_or_default().into_owned();
        self.entries(key).iter().map(of).collect()
    }
}

impl SessionStore for Store {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if self.full {
            return Err(StoreError::failed("no space left"));
        }
        let mut transcripts = self.transcripts.lock().unwrap();
        let time = transcripts
            .values()
            .map(|(time, _)| time + 1)
            .max()
            .unwrap_or(1);
        let (written, kept) = transcripts.entry(key.clone()).or_default();
        *written = time;
        for entry in entries {
            let repeated = |other: &Entry| entry.uuid().is_some() && other.uuid() == entry.uuid();
            if !kept.iter().any(repeated) {
                kept.push(entry.clone());
            }
        }
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let found = self.entries(key);
        Ok((!found.is_empty()).then_some(found))
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let transcripts = self.transcripts.lock().unwrap();
        let sessions = transcripts
            .iter()
            .filter(|(key, _)| key.project_key == project_key && key.subpath().is_none());
        Ok(sessions
            .map(|(key, (mtime, _))| StoreListEntry {
                session_id: key.session_id.clone(),
                mtime: *mtime,
            })
            .collect())
    }

    fn list_subkeys(&self, project: &str, session: &str) -> Result<Vec<String>, StoreError> {
        let keys = self.keys().into_iter();
        let below = keys.filter(|key| key.project_key == project && key.session_id == session);
        Ok(below.filter_map(|key| key.subpath).collect())
    }
}

/// A session that is mirrored, with a home of its own: nothing there is from another session.
fn elsewhere(stage: &Stage, name: &str, store: &Arc<Store>, options: Value) -> Host {
    over(stage, name, Arc::clone(store).into(), options)
}

/// As [`elsewhere`], over any store.
fn over(stage: &Stage, name: &str, store: OpenStore, mut options: Value) -> Host {
    let home = stage.sandbox().home().join(name);
    std::fs::create_dir_all(&home).unwrap();
    options["env"] = json!({"HOME": home, "CLAUDE_CONFIG_DIR": null});
    let builder = stage.builder(options);
    stage.start(builder.session_store(store, FlushMode::Batched))
}

/// A mirrored session with one prompt, closed; its id.
fn earlier(stage: &Stage, store: &Arc<Store>, text: &str) -> String {
    let mut host = elsewhere(stage, "first", store, json!({}));
    assert_eq!(host.turn(text).text(), format!("echo: {text}"));
    let id = host.session().session_id().expect("known after a turn");
    assert!(store.types(&key(stage, &id)).contains(&"assistant".into()));
    let ending = host.end();
    ending.is_clean();
    let mirror = |seen: &_| format!("{seen:?}").contains("transcript_mirror");
    assert!(!ending.log.iter().any(mirror));
    id
}

fn key(stage: &Stage, id: &str) -> SessionKey {
    SessionKey::main(project_key(stage.project()), id)
}

/// Holds a turn that has to know the earlier one; the session's id.
fn goes_on(stage: &Stage, mut host: Host, text: &str, remembered: &str) -> String {
    assert_eq!(host.turn(text).text(), format!("echo: {text}"));
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    let asked = stage.api().requests();
    let last = asked
        .iter()
        .find(|request| request.is_message() && request.user_text() == text)
        .expect("the model was asked");
    let messages = last.body["messages"].to_string();
    assert!(messages.contains(remembered), "{messages}");
    id
}

fn resumed_on_another_machine(stage: &Stage) {
    let store = Arc::new(Store::default());
    let id = earlier(stage, &store, "remember me");
    let before = store.entries(&key(stage, &id)).len();
    let host = elsewhere(stage, "second", &store, json!({"resume": id}));
    assert_eq!(goes_on(stage, host, "going on", "remember me"), id);
    assert!(store.entries(&key(stage, &id)).len() > before);
    let host = elsewhere(stage, "third", &store, json!({"resume": id}));
    assert_eq!(goes_on(stage, host, "and on", "going on"), id);
    assert_eq!(store.keys(), [key(stage, &id)]);
}

fn the_newest_is_continued(stage: &Stage) {
    let store = Arc::new(Store::default());
    let older = earlier(stage, &store, "the older");
    let newer = earlier(stage, &store, "the newer");
    assert_ne!(older, newer);
    let host = elsewhere(stage, "second", &store, json!({"continue": true}));
    assert_eq!(goes_on(stage, host, "going on", "the newer"), newer);

    let empty = Arc::new(Store::default());
    let mut host = elsewhere(stage, "third", &empty, json!({"continue": true}));
    assert_eq!(host.turn("fresh").text(), "echo: fresh");
    host.end().is_clean();
}

fn a_cli_that_is_killed_leaves_what_was_stored(stage: &Stage) {
    let store = Arc::new(Store::default());
    let mut host = elsewhere(stage, "first", &store, json!({}));
    host.turn("remember me");
    let id = host.session().session_id().expect("known after a turn");
    host.send("GATE never");
    assert!(stage.api().wait_at_gate("never", LIMIT));
    Watched::new(host.session().pid()).kill();
    let ending = host.ended();
    assert!(ending.closing.error.is_some(), "{:?}", ending.closing);
    stage.api().release("never");

    let host = elsewhere(stage, "second", &store, json!({"resume": id}));
    assert_eq!(goes_on(stage, host, "going on", "remember me"), id);
}

fn forked_in_the_store(stage: &Stage) {
    let store = Arc::new(Store::default());
    let id = earlier(stage, &store, "remember me");
    let entries = store.entries(&key(stage, &id));
    let made = fork(&id, &entries, &ForkOptions::default()).unwrap();
    let entries = made
        .entries
        .into_iter()
        .map(|text| Entry::new(text).unwrap());
    let entries: Vec<Entry> = entries.collect();
    store
        .append(&key(stage, &made.session_id), &entries)
        .unwrap();
    let host = elsewhere(stage, "second", &store, json!({"resume": made.session_id}));
    assert_eq!(
        goes_on(stage, host, "going on", "remember me"),
        made.session_id
    );
    assert!(!store
        .entries(&key(stage, &id))
        .iter()
        .any(|entry| entry.as_str().contains("going on")));
}

/// Imported from the disk on which it ran, changed in the store, resumed on another disk; so is its
/// fork.
fn from_one_disk_to_another_through_postgres(stage: &Stage) {
    let server = TemporaryPostgres::start().unwrap();
    let open = || OpenStore::open(&server.url()).unwrap();
    let id = super::saved::earlier(stage, &["remember me"]);
    let store = open();
    let project = || Project::of_directory(Some(stage.project()));
    let has = store.capabilities();
    let options = ImportOptions::default();
    let imported = import(has, super::saved::saved(stage), id.clone(), options);
    let imported = store.run(imported).unwrap();
    assert_eq!(imported.project_key, project_key(stage.project()));
    assert_eq!(imported.skipped_lines, 0);
    let renamed = operations::rename(has, project(), id.clone(), "its new title".into());
    store.run(renamed).unwrap();
    let tagged = operations::tag(has, project(), id.clone(), Some("kept".into()));
    store.run(tagged).unwrap();
    let forking = operations::fork(has, project(), id.clone(), ForkOptions::default());
    let forked = store.run(forking).unwrap();
    drop(store);

    let host = over(stage, "second", open(), json!({"resume": id}));
    assert_eq!(goes_on(stage, host, "going on", "remember me"), id);
    let host = over(stage, "third", open(), json!({"resume": forked}));
    assert_eq!(goes_on(stage, host, "forking on", "remember me"), forked);

    let store = open();
    let listed = store.run(operations::list(has, project(), Page::default()));
    let listed = listed.unwrap();
    let of = |id: &str| listed.iter().find(|info| info.session_id == id).unwrap();
    assert_eq!(of(&id).custom_title.as_deref(), Some("its new title"));
    assert_eq!(of(&id).tag.as_deref(), Some("kept"));
    assert_eq!(
        of(&forked).custom_title.as_deref(),
        Some("its new title (fork)")
    );
    for (session, has_it, lacks) in [
        (&id, "going on", "forking on"),
        (&forked, "forking on", "going on"),
    ] {
        let kept = store.store().load(&key(stage, session)).unwrap().unwrap();
        let texts: Vec<&str> = kept.iter().map(Entry::as_str).collect();
        let all = texts.join("\n");
        assert!(all.contains(has_it) && !all.contains(lacks), "{session}");
    }
    store
        .run(operations::delete(has, project(), id.clone()))
        .unwrap();
    assert!(store.store().load(&key(stage, &id)).unwrap().is_none());
}

fn subagents_come_along(stage: &Stage) {
    let store = Arc::new(Store::default());
    let options = json!({"allowedTools": ["Agent"]});
    let mut host = elsewhere(stage, "first", &store, options.clone());
    let prompt = prompt_tool(
        "Agent",
        &json!({"description": "a job", "subagent_type": "general-purpose",
            "run_in_background": false, "prompt": "look"}),
    );
    assert_eq!(host.turn(&prompt).text(), "done");
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    let keys = store.keys();
    let agent = keys
        .iter()
        .find(|key| key.subpath.is_some())
        .expect("a subagent");
    let subpath = agent.subpath.as_deref().unwrap();
    assert!(subpath.starts_with("subagents/agent-"), "{subpath}");
    assert!(store.types(agent).contains(&"agent_metadata".into()));

    let mut options = options;
    options["resume"] = json!(id);
    let mut host = elsewhere(stage, "second", &store, options);
    host.connect();
    let pid = host.session().pid().unwrap();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let config = environment
        .split('\0')
        .find_map(|line| line.strip_prefix("CLAUDE_CONFIG_DIR="))
        .expect("a config directory of its own");
    let config = std::path::PathBuf::from(config);
    let session = config.join("projects").join(&agent.project_key).join(&id);
    let meta = std::fs::read_to_string(session.join(format!("{subpath}.meta.json"))).unwrap();
    assert!(
        meta.contains("general-purpose") && !meta.contains("agent_metadata"),
        "{meta}"
    );
    assert!(session.join(format!("{subpath}.jsonl")).is_file());
    assert_eq!(host.turn("going on").text(), "echo: going on");
    host.end().is_clean();
    assert!(!config.exists());
}

fn a_full_store_stops_nothing(stage: &Stage) {
    let store = Arc::new(Store {
        full: true,
        ..Store::default()
    });
    let mut host = elsewhere(stage, "first", &store, json!({}));
    let turn = host.send("hello");
    let told = host.message("a mirror_error", |message| {
        message["subtype"] == "mirror_error"
    });
    assert_eq!(told["error"], "no space left");
    assert_eq!(host.finish(turn).text(), "echo: hello");
    host.end().is_clean();
}
