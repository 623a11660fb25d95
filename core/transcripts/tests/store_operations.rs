//! The functions over sessions, done in stores that have more and fewer calls.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

use serde_json::{json, Value};
use towline_transcripts::store::operations::{
    self, delete, fork, import, info, list, messages, rename, subagent_messages, subagents, tag,
    ImportOptions, Operation, Page, Project,
};
use towline_transcripts::store::{
    run, Capabilities, Entry, MemoryStore, SessionKey, SessionStore, SessionSummaryEntry,
    StoreError, StoreListEntry, StoreTask, TaskError,
};
use towline_transcripts::{ForkOptions, MessageOptions, SavedSessions, SessionInfo};

const ID: &str = "11111111-2222-4333-8444-555555555555";
const PROJECT: &str = "-work-project";

fn project() -> Project {
    Project::of_key(PROJECT)
}

fn id(number: usize) -> String {
    format!("11111111-2222-4333-8444-{number:012}")
}

fn entries(values: &[Value]) -> Vec<Entry> {
    values
        .iter()
        .map(|value| Entry::new(value.to_string()).unwrap())
        .collect()
}

/// A conversation of two messages.
fn conversation(prompt: &str) -> Vec<Entry> {
    let (user, assistant) = (
        "aaaaaaaa-0000-4000-8000-000000000001",
        "aaaaaaaa-0000-4000-8000-000000000002",
    );
    entries(&[
        json!({
            "type": "user", "uuid": user, "parentUuid": null, "sessionId": ID, "cwd": "/w",
            "timestamp": "2026-01-02T03:04:05.000Z", "isSidechain": false,
            "message": {"role": "user", "content": prompt},
        }),
        json!({
            "type": "assistant", "uuid": assistant, "parentUuid": user, "sessionId": ID,
            "timestamp": "2026-01-02T03:04:06.000Z", "isSidechain": false,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]},
        }),
    ])
}

/// A store that has only some calls, counts them, and fails where it is told to.
struct Watched {
    inner: MemoryStore,
    capabilities: Capabilities,
    counts: Mutex<BTreeMap<&'static str, usize>>,
    broken: Option<String>,
    /// Summaries of these sessions are an hour old.
    outdated: Vec<String>,
    /// `list_session_summaries` says that it is not there.
    pretends: bool,
}

impl Watched {
    fn new(capabilities: Capabilities) -> Self {
        Watched {
            inner: MemoryStore::new(),
            capabilities,
            counts: Mutex::default(),
            broken: None,
            outdated: Vec::new(),
            pretends: false,
        }
    }

    fn full() -> Self {
        Watched::new(Capabilities::ALL)
    }

    fn count(&self, call: &'static str) {
        *self.counts.lock().unwrap().entry(call).or_default() += 1;
    }

    fn counts(&self) -> Vec<(&'static str, usize)> {
        std::mem::take(&mut *self.counts.lock().unwrap())
            .into_iter()
            .collect()
    }

    fn fill(&self, id: &str, entries: &[Entry]) {
        self.inner
            .append(&SessionKey::main(PROJECT, id), entries)
            .unwrap();
    }

    fn run<T>(&self, task: StoreTask<T>) -> Result<T, TaskError> {
        run(task, self)
    }
}

impl SessionStore for Watched {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        self.count("append");
        self.inner.append(key, entries)
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        self.count("load");
        match &self.broken {
            Some(id) if *id == key.session_id => Err(StoreError::failed("no connection")),
            _ => self.inner.load(key),
        }
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        self.count("list_sessions");
        self.inner.list_sessions(project_key)
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        self.count("list_session_summaries");
        if self.pretends {
            return Err(StoreError::unsupported("list_session_summaries"));
        }
        let mut summaries = self.inner.list_session_summaries(project_key)?;
        for summary in &mut summaries {
            if self.outdated.contains(&summary.session_id) {
                summary.mtime -= 3_600_000;
            }
        }
        Ok(summaries)
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.count("delete");
        self.inner.delete(key)
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        self.count("list_subkeys");
        self.inner.list_subkeys(project_key, session_id)
    }
}

fn summaries_of(infos: &[SessionInfo]) -> Vec<&str> {
    infos.iter().map(|info| info.summary.as_str()).collect()
}

fn page(limit: usize, offset: usize) -> Page {
    Page {
        limit: Some(limit),
        offset,
    }
}

fn without_summaries() -> Capabilities {
    Capabilities {
        list_session_summaries: false,
        ..Capabilities::ALL
    }
}

#[test]
fn a_list_comes_from_summaries_without_loading() {
    let store = Watched::full();
    for number in 0..5 {
        store.fill(&id(number), &conversation(&format!("prompt {number}")));
    }
    let sidechain = json!({"type": "user", "isSidechain": true, "message": {"content": "x"}});
    store.fill(&id(5), &entries(&[sidechain]));
    store.fill(&id(6), &entries(&[json!({"type": "mode"})]));
    let listed = |page| store.run(list(Capabilities::ALL, project(), page)).unwrap();
    let all = listed(Page::default());
    assert_eq!(
        summaries_of(&all),
        ["prompt 4", "prompt 3", "prompt 2", "prompt 1", "prompt 0"]
    );
    assert_eq!(
        store.counts(),
        [("list_session_summaries", 1), ("list_sessions", 1)]
    );
    let first = &all[0];
    assert_eq!(first.session_id, id(4));
    assert_eq!(first.cwd.as_deref(), Some("/w"));
    assert_eq!(first.created_at, Some(1_767_323_045_000));
    assert_eq!(first.file_size, None);
    let times = store.inner.list_sessions(PROJECT).unwrap();
    let time = times
        .iter()
        .find(|entry| entry.session_id == id(4))
        .unwrap()
        .mtime;
    assert_eq!(first.last_modified, time);
    assert_eq!(summaries_of(&listed(page(2, 1))), ["prompt 3", "prompt 2"]);
    assert_eq!(summaries_of(&listed(page(0, 4))), ["prompt 0"]);
    assert!(listed(page(3, 9)).is_empty());
}

#[test]
fn outdated_summaries_are_loaded_for_the_page_alone() {
    let mut store = Watched::full();
    for number in 0..6 {
        store.fill(&id(number), &conversation(&format!("prompt {number}")));
    }
    store.outdated = vec![id(0), id(1), id(4)];
    let listed = store
        .run(list(Capabilities::ALL, project(), page(3, 0)))
        .unwrap();
    assert_eq!(summaries_of(&listed), ["prompt 5", "prompt 4", "prompt 3"]);
    assert_eq!(store.counts()[2..], [("load", 1)]);
    let listed = store
        .run(list(Capabilities::ALL, project(), Page::default()))
        .unwrap();
    assert_eq!(listed.len(), 6);
    assert_eq!(store.counts()[2..], [("load", 3)]);
}

#[test]
fn a_list_without_summaries_loads_every_session() {
    for store in [Watched::new(without_summaries()), {
        let mut store = Watched::full();
        store.pretends = true;
        store
    }] {
        for number in 0..40 {
            store.fill(&id(number), &conversation(&format!("prompt {number}")));
        }
        let sidechain = json!({"type": "user", "isSidechain": true, "message": {"content": "x"}});
        store.fill(&id(99), &entries(&[sidechain]));
        let listed = store
            .run(list(store.capabilities, project(), page(2, 1)))
            .unwrap();
        assert_eq!(summaries_of(&listed), ["prompt 38", "prompt 37"]);
        let counts: BTreeMap<_, _> = store.counts().into_iter().collect();
        assert_eq!(counts["load"], 41);
        assert_eq!(counts["list_sessions"], 1);
    }
}

#[test]
fn a_session_that_cannot_be_loaded_is_listed_by_its_id() {
    let mut store = Watched::new(without_summaries());
    store.fill(&id(0), &conversation("first"));
    store.fill(&id(1), &conversation("second"));
    store.broken = Some(id(1));
    let listed = store
        .run(list(store.capabilities, project(), Page::default()))
        .unwrap();
    assert_eq!(summaries_of(&listed), ["", "first"]);
    assert_eq!(listed[0].session_id, id(1));
    assert!(listed[0].last_modified > 0);
}

#[test]
fn a_store_that_cannot_list_says_so() {
    let minimal = Watched::new(Capabilities::default());
    let error = minimal
        .run(list(minimal.capabilities, project(), Page::default()))
        .unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert!(error.to_string().contains("list_sessions()"), "{error}");
    let error = minimal
        .run(subagents(minimal.capabilities, project(), ID.into()))
        .unwrap_err();
    assert_eq!(error.code(), "unsupported");
    assert!(error.to_string().contains("list_subkeys()"), "{error}");

    let summaries_alone = Watched::new(Capabilities {
        list_session_summaries: true,
        ..Capabilities::default()
    });
    summaries_alone.fill(ID, &conversation("found"));
    let listed = summaries_alone
        .run(list(
            summaries_alone.capabilities,
            project(),
            Page::default(),
        ))
        .unwrap();
    assert_eq!(summaries_of(&listed), ["found"]);
    assert_eq!(summaries_alone.counts(), [("list_session_summaries", 1)]);
}

#[test]
fn one_session_is_read() {
    let store = Watched::full();
    store.fill(ID, &conversation("hi"));
    let all = Capabilities::ALL;
    let found = store.run(info(all, project(), ID.into())).unwrap().unwrap();
    assert_eq!(found.summary, "hi");
    // The time of its last entry.
    assert_eq!(found.last_modified, 1_767_323_046_000);
    let read = |id: &str, options| {
        store
            .run(messages(all, project(), id.to_owned(), options))
            .unwrap()
    };
    let said = read(ID, MessageOptions::default());
    let kinds: Vec<&str> = said.iter().map(|message| message.kind.as_str()).collect();
    assert_eq!(kinds, ["user", "assistant"]);
    let options = MessageOptions {
        limit: Some(1),
        offset: 1,
        ..MessageOptions::default()
    };
    assert_eq!(read(ID, options).len(), 1);
    store.counts();
    for wrong in ["", "../x", "not-a-uuid"] {
        assert!(read(wrong, MessageOptions::default()).is_empty());
        assert!(store
            .run(info(all, project(), wrong.into()))
            .unwrap()
            .is_none());
        assert!(store
            .run(subagents(all, project(), wrong.into()))
            .unwrap()
            .is_empty());
    }
    assert!(store.counts().is_empty(), "the store is not asked");
    assert!(read(&id(7), MessageOptions::default()).is_empty());
    assert!(store.run(info(all, project(), id(7))).unwrap().is_none());
}

#[test]
fn subagents_are_found_wherever_they_are() {
    let store = Watched::full();
    let main = SessionKey::main(PROJECT, ID);
    let mut said = entries(&[json!({
        "type": "agent_metadata", "agentType": "x", "toolUseId": "toolu_1", "parentAgentId": "p",
    })]);
    said.extend(conversation("deep"));
    for (subpath, entries) in [
        ("subagents/agent-a", conversation("flat")),
        ("subagents/workflows/run/agent-b", said),
        ("subagents/workflows/run/agent-a", conversation("another a")),
        ("subagents/other", conversation("none")),
        ("elsewhere/agent-c", conversation("none")),
    ] {
        store
            .inner
            .append(&main.with_subpath(subpath), &entries)
            .unwrap();
    }
    let all = Capabilities::ALL;
    let ids = store.run(subagents(all, project(), ID.into())).unwrap();
    assert_eq!(ids, ["a", "b"]);
    let read = |capabilities, agent: &str| {
        let options = MessageOptions::default();
        let task = subagent_messages(capabilities, project(), ID.into(), agent.into(), options);
        store.run(task).unwrap()
    };
    let deep = read(all, "b");
    assert_eq!(deep.len(), 2);
    assert!(deep.iter().all(|message| {
        message.parent_tool_use_id.as_deref() == Some("toolu_1")
            && message.parent_agent_id.as_deref() == Some("p")
    }));
    assert!(read(all, "a")[0].message.contains("flat"));
    for unknown in ["", "c", "../a", "other"] {
        assert!(read(all, unknown).is_empty(), "{unknown}");
    }
    // Without `list_subkeys` only the usual place is known.
    assert_eq!(read(Capabilities::default(), "a").len(), 2);
    assert!(read(Capabilities::default(), "b").is_empty());
}

#[test]
fn titles_and_tags_are_appended() {
    let store = Watched::full();
    store.fill(ID, &conversation("hi"));
    let all = Capabilities::ALL;
    store
        .run(rename(all, project(), ID.into(), "  A title ".into()))
        .unwrap();
    store
        .run(tag(all, project(), ID.into(), Some("\u{200b}red".into())))
        .unwrap();
    let seen = |title: Option<&str>, tagged: Option<&str>| {
        let listed = store.run(list(all, project(), Page::default())).unwrap();
        let found = store.run(info(all, project(), ID.into())).unwrap().unwrap();
        for info in [&listed[0], &found] {
            assert_eq!(info.custom_title.as_deref(), title);
            assert_eq!(info.tag.as_deref(), tagged);
        }
    };
    seen(Some("A title"), Some("red"));
    store.run(tag(all, project(), ID.into(), None)).unwrap();
    seen(Some("A title"), None);
    store.counts();
    for task in [
        rename(all, project(), ID.into(), " ".into()),
        rename(all, project(), "x".into(), "t".into()),
        tag(all, project(), ID.into(), Some("\u{200b}".into())),
        tag(all, project(), "x".into(), None),
        delete(all, project(), "x".into()),
    ] {
        assert_eq!(store.run(task).unwrap_err().code(), "invalid_argument");
    }
    assert!(store.counts().is_empty(), "the store is not asked");
}

#[test]
fn deleting_is_left_to_stores_that_do_it() {
    let store = Watched::full();
    store.fill(ID, &conversation("hi"));
    store
        .run(delete(Capabilities::default(), project(), ID.into()))
        .unwrap();
    assert!(store.counts().is_empty());
    store
        .run(delete(Capabilities::ALL, project(), ID.into()))
        .unwrap();
    assert!(store
        .run(info(Capabilities::ALL, project(), ID.into()))
        .unwrap()
        .is_none());
}

#[test]
fn a_fork_is_a_session_of_its_own() {
    let store = Watched::full();
    store.fill(ID, &conversation("hi"));
    let all = Capabilities::ALL;
    let forked = |options| store.run(fork(all, project(), ID.into(), options));
    let copy = forked(ForkOptions::default()).unwrap();
    assert_ne!(copy, ID);
    assert_eq!(store.counts(), [("append", 1), ("load", 1)]);
    let said = messages(all, project(), copy.clone(), MessageOptions::default());
    let said = store.run(said).unwrap();
    assert_eq!(said.len(), 2);
    assert!(said.iter().all(|message| message.session_id == copy));
    let copied = store.run(info(all, project(), copy)).unwrap().unwrap();
    assert_eq!(copied.custom_title.as_deref(), Some("hi (fork)"));

    let up_to = |id: &str| ForkOptions {
        up_to_message_id: Some(id.into()),
        title: Some("branch".into()),
    };
    let cut = forked(up_to("aaaaaaaa-0000-4000-8000-000000000001")).unwrap();
    let said = messages(all, project(), cut, MessageOptions::default());
    assert_eq!(store.run(said).unwrap().len(), 1);

    let code = |result: Result<String, TaskError>| result.unwrap_err().code();
    assert_eq!(code(forked(up_to(&id(9)))), "invalid_argument");
    assert_eq!(code(forked(up_to("x"))), "invalid_argument");
    let none = fork(all, project(), id(8), ForkOptions::default());
    assert_eq!(code(store.run(none)), "not_found");
    let mut broken = Watched::full();
    broken.broken = Some(ID.into());
    let error = broken
        .run(fork(all, project(), ID.into(), ForkOptions::default()))
        .unwrap_err();
    assert_eq!(error.store_error().unwrap().message, "no connection");
}

#[test]
fn a_session_on_disk_is_imported_in_batches() {
    let config = tempfile::tempdir().unwrap();
    let folder = config.path().join("projects").join(PROJECT);
    let below = folder.join(ID).join("subagents/workflows/run");
    fs::create_dir_all(&below).unwrap();
    let mut lines: Vec<String> = (0..1203)
        .map(|n| json!({"type": "mode", "n": n, "text": "ü"}).to_string())
        .collect();
    lines.insert(7, String::new());
    lines.insert(9, "{\"type\":".to_owned());
    // Without a line feed at the end: cut off.
    fs::write(
        folder.join(format!("{ID}.jsonl")),
        lines.join("\n") + "\n{\"type\":\"us",
    )
    .unwrap();
    let long: Vec<String> = (0..10)
        .map(|n| json!({"type": "x", "n": n, "text": "y".repeat(400_000)}).to_string())
        .collect();
    fs::write(below.join("agent-1.jsonl"), long.join("\n")).unwrap();
    fs::write(
        below.join("agent-1.meta.json"),
        r#"{"type":"mine","agentType":"t"}"#,
    )
    .unwrap();
    fs::write(below.join("agent-2.jsonl"), "{\"type\":\"x\",\"n\":0}\n").unwrap();
    fs::write(below.join("agent-2.meta.json"), "not json").unwrap();
    fs::write(below.join("notes.txt"), "no transcript").unwrap();
    std::os::unix::fs::symlink(&folder, below.join("loop")).unwrap();

    let store = Watched::full();
    let saved = SavedSessions::in_config_dir(config.path());
    let all = Capabilities::ALL;
    let done = store
        .run(import(
            all,
            saved.clone(),
            ID.into(),
            ImportOptions::default(),
        ))
        .unwrap();
    assert_eq!(done.project_key, PROJECT);
    assert_eq!((done.entries, done.skipped_lines), (1203 + 10 + 1 + 1, 2));
    // 500, 500, 203; three lines reach 1 MiB; the metadata; one line.
    assert_eq!(store.counts(), [("append", 3 + 4 + 1 + 1)]);
    let main = SessionKey::main(PROJECT, ID);
    let loaded = store.inner.load(&main).unwrap().unwrap();
    let numbers: Vec<u32> = loaded
        .iter()
        .map(|entry| entry.member("n").unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..1203).collect::<Vec<u32>>());
    let agent = main.with_subpath("subagents/workflows/run/agent-1");
    let loaded = store.inner.load(&agent).unwrap().unwrap();
    assert_eq!(
        loaded.last().unwrap().as_str(),
        r#"{"agentType":"t","type":"agent_metadata"}"#
    );
    assert_eq!(store.inner.list_subkeys(PROJECT, ID).unwrap().len(), 2);

    let store = Watched::full();
    let options = ImportOptions {
        include_subagents: false,
        batch_size: 100,
        ..ImportOptions::default()
    };
    store
        .run(import(all, saved.clone(), ID.into(), options))
        .unwrap();
    assert_eq!(store.counts(), [("append", 13)]);
    assert!(store.inner.list_subkeys(PROJECT, ID).unwrap().is_empty());

    let code = |id: &str| {
        let options = ImportOptions::default();
        store
            .run(import(all, saved.clone(), id.to_owned(), options))
            .unwrap_err()
            .code()
    };
    assert_eq!(code("x"), "invalid_argument");
    assert_eq!(code(&id(3)), "not_found");
}

#[test]
fn operations_are_json_documents() {
    let store = Watched::full();
    store.fill(ID, &conversation("hi"));
    let main = SessionKey::main(PROJECT, ID);
    let agent = main.with_subpath("subagents/agent-a");
    store.inner.append(&agent, &conversation("sub")).unwrap();
    let done = |mut document: Value| -> Result<Value, TaskError> {
        document["project_key"] = PROJECT.into();
        let operation = Operation::from_json(&document.to_string())?;
        let output = store.run(operation.task(Capabilities::ALL)?)?;
        Ok(serde_json::from_str(&output).unwrap())
    };
    let session = |name: &str| json!({"operation": name, "session_id": ID});
    let listed = done(json!({"operation": "list_sessions", "limit": 5, "offset": -1})).unwrap();
    assert_eq!(listed[0]["summary"], "hi");
    assert_eq!(done(session("get_session_info")).unwrap()["session_id"], ID);
    let read = done(session("get_session_messages")).unwrap();
    assert_eq!(read.as_array().unwrap().len(), 2);
    assert_eq!(done(session("list_subagents")).unwrap(), json!(["a"]));
    let read = done(json!({"operation": "get_subagent_messages", "sessionId": ID, "agentId": "a"}));
    assert_eq!(read.unwrap().as_array().unwrap().len(), 2);
    let titled = json!({"operation": "rename_session", "session_id": ID, "title": "T"});
    assert_eq!(done(titled).unwrap(), Value::Null);
    let tagged = json!({"operation": "tag_session", "session_id": ID, "tag": "G"});
    assert_eq!(done(tagged).unwrap(), Value::Null);
    let seen = done(session("get_session_info")).unwrap();
    assert_eq!(
        (&seen["custom_title"], &seen["tag"]),
        (&json!("T"), &json!("G"))
    );
    let untagged = json!({"operation": "tag_session", "session_id": ID, "tag": null});
    done(untagged).unwrap();
    assert_eq!(
        done(session("get_session_info")).unwrap()["tag"],
        Value::Null
    );
    let copy = done(session("fork_session")).unwrap();
    assert_eq!(copy["session_id"].as_str().unwrap().len(), 36);
    assert_eq!(done(session("delete_session")).unwrap(), Value::Null);
    assert_eq!(done(session("get_session_info")).unwrap(), Value::Null);
    for wrong in [
        json!({}),
        json!({"operation": "fly"}),
        json!({"operation": "get_session_info"}),
        json!({"operation": "rename_session", "session_id": ID}),
        json!({"operation": "list_sessions", "limit": "many"}),
    ] {
        assert_eq!(
            done(wrong.clone()).unwrap_err().code(),
            "invalid_argument",
            "{wrong}"
        );
    }
    let config = tempfile::tempdir().unwrap();
    let import =
        json!({"operation": "import_session", "session_id": ID, "config_dir": config.path()});
    assert_eq!(done(import).unwrap_err().code(), "not_found");
}

#[test]
fn a_project_is_named_as_the_cli_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let expected = towline_transcripts::project_key(&real);
    assert_eq!(Project::of_directory(Some(folder.path())).key(), expected);
    let here = towline_transcripts::project_key(&std::env::current_dir().unwrap());
    assert_eq!(operations::Project::of_directory(None).key(), here);
    assert_eq!(Project::of_directory(Some("".as_ref())).key(), here);
}
