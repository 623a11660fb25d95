//! Sessions whose transcript goes to a store.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::transcripts::store::{
    Capabilities, Entry, SessionKey, SessionStore, StoreAnswer, StoreCall, StoreError,
    StoreListEntry,
};
use towline::{Error, Event, FlushMode, LocalError, OpenStore, Reply, Session, StoreCallHandle};

use crate::support::*;

const CONFIG: &str = "/home/user/.claude";
pub(crate) const ID: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// Keeps entries in memory. Appends fail as often as told, and wait for word where there is a gate.
#[derive(Default)]
pub(crate) struct Store {
    kept: Mutex<Vec<(SessionKey, Vec<Entry>)>>,
    failures: Mutex<u32>,
    loads: Mutex<u32>,
    gate: Option<Mutex<Receiver<()>>>,
}

impl Store {
    fn gated() -> (Arc<Store>, Sender<()>) {
        let (open, gate) = channel();
        let store = Store {
            gate: Some(Mutex::new(gate)),
            ..Store::default()
        };
        (Arc::new(store), open)
    }

    /// The numbers of the entries of a session.
    fn numbers(&self, id: &str) -> Vec<u64> {
        let kept = self.kept.lock().unwrap();
        let of_session = kept.iter().filter(|(key, _)| key.session_id == id);
        of_session
            .flat_map(|(_, entries)| numbers(entries))
            .collect()
    }
}

fn numbers(entries: &[Entry]) -> Vec<u64> {
    let number = |entry: &Entry| entry.member("n").unwrap().parse().unwrap();
    entries.iter().map(number).collect()
}

impl SessionStore for Store {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if let Some(gate) = &self.gate {
            gate.lock().unwrap().recv().unwrap();
        }
        let mut failures = self.failures.lock().unwrap();
        if *failures > 0 {
            *failures -= 1;
            return Err(StoreError::failed("the disk is full"));
        }
        let mut kept = self.kept.lock().unwrap();
        kept.push((key.clone(), entries.to_vec()));
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        *self.loads.lock().unwrap() += 1;
        let kept = self.kept.lock().unwrap();
        let found: Vec<Entry> = kept
            .iter()
            .filter(|(of, _)| of == key)
            .flat_map(|(_, entries)| entries.clone())
            .collect();
        Ok((!found.is_empty()).then_some(found))
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let kept = self.kept.lock().unwrap();
        let of_project = kept
            .iter()
            .filter(|(key, _)| key.project_key == project_key);
        Ok(of_project
            .map(|(key, _)| StoreListEntry {
                session_id: key.session_id.clone(),
                mtime: 1,
            })
            .collect())
    }

    fn list_subkeys(&self, _: &str, _: &str) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }
}

/// A line of the mirror with entries of these numbers.
fn mirror(session: &str, numbers: &[u64]) -> Value {
    let entries: Vec<Value> = numbers.iter().map(|n| json!({"n": n})).collect();
    json!({"emit": {"type": "transcript_mirror", "entries": entries,
        "filePath": format!("{CONFIG}/projects/-p/{session}.jsonl")}})
}

fn script(steps: Value) -> Fake {
    Fake::new(steps).env("CLAUDE_CONFIG_DIR", CONFIG)
}

fn types(events: &[Event]) -> Vec<String> {
    let named = messages(events);
    let named = named
        .iter()
        .map(|message| message["type"].as_str().unwrap().into());
    named.collect()
}

fn store_call(session: &Session) -> StoreCallHandle {
    until(session, |event| match event {
        Event::StoreCall(handle) => Some(handle),
        _ => None,
    })
}

fn appended(handle: &StoreCallHandle) -> (String, Vec<u64>) {
    match handle.call() {
        StoreCall::Append { key, entries } => (key.session_id.clone(), numbers(entries)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_go_to_the_store_and_not_to_the_host() {
    let fake = script(json!([
        mirror("s", &[1, 2]), {"emit": assistant("hello")}, mirror("t", &[3]), mirror("s", &[4]),
        {"emit": result()}, mirror("s", &[5]), mirror("s", &[6]), {"expect_eof": true},
        mirror("s", &[7])
    ]));
    let store = Arc::new(Store::default());
    let session = fake
        .builder()
        .session_store(Arc::clone(&store), FlushMode::Batched)
        .begin()
        .unwrap();
    message(&session, "result");
    assert_eq!(
        store.numbers("s"),
        [1, 2, 4],
        "stored before the result is delivered"
    );
    assert_eq!(store.numbers("t"), [3]);
    wait_for("what comes behind the result", || {
        session.poll(Some(Duration::ZERO)).unwrap();
        (store.numbers("s") == [1, 2, 4, 5, 6]).then_some(())
    });
    assert_eq!(store.kept.lock().unwrap().len(), 3, "joined per file");
    session.begin_close().unwrap();
    let (events, closed) = rest(&session);
    assert!(closed.error.is_none());
    assert_eq!(types(&events), [""; 0]);
    assert_eq!(store.numbers("s"), [1, 2, 4, 5, 6, 7]);
    let argv = fake.logged("start")["argv"].clone();
    assert!(argv
        .as_array()
        .unwrap()
        .contains(&json!("--session-mirror")));
    fake.check();
}

#[test]
fn requests_are_served_while_a_result_waits_for_its_store() {
    let fake = script(json!([
        mirror("s", &[1]), {"emit": result()}, {"emit": assistant("next")},
        {"emit": permission("p")}, answered("p"),
        {"expect": {"type": "control_request", "request": {"subtype": "ask"}}},
        {"answer": {"asked": true}}, mirror("s", &[2]), {"emit": result()}
    ]));
    let (store, open) = Store::gated();
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .session_store(Arc::clone(&store), None)
        .begin()
        .unwrap();
    session.connect(Some(LONG)).unwrap();
    let answer = session.request_wait("ask", "", Some(LONG)).unwrap();
    assert_eq!(answer.payload(), r#"{"asked":true}"#);
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "allow");
    let mut seen = Vec::new();
    while let Some(event) = session.poll(Some(Duration::ZERO)).unwrap() {
        seen.push(event);
    }
    assert_eq!(types(&seen), [""; 0], "the result and what follows it wait");
    open.send(()).unwrap();
    let mut seen = vec![next(&session), next(&session)];
    assert_eq!(types(&seen), ["result", "assistant"]);
    open.send(()).unwrap();
    seen = vec![next(&session)];
    assert_eq!(types(&seen), ["result"]);
    assert_eq!(store.numbers("s"), [1, 2]);
    session.close().unwrap();
    fake.check();
}

#[test]
fn a_host_answers_the_calls_of_its_store_when_it_likes() {
    let fake = script(json!([
        mirror("s", &[1, 2]), {"emit": result()}, mirror("s", &[3]), {"emit": assistant("late")},
        {"expect_eof": true}
    ]));
    let session = fake
        .builder()
        .store_events(Capabilities::default(), FlushMode::Batched)
        .begin()
        .unwrap();
    session.send("hello").unwrap();
    let call = store_call(&session);
    assert_eq!(appended(&call), ("s".into(), vec![1, 2]));
    assert_eq!(call.timeout_ms(), Some(60_000));
    session.connect(Some(LONG)).unwrap();
    while let Some(event) = session.poll(Some(Duration::from_millis(50))).unwrap() {
        assert!(matches!(event, Event::Initialized(_)), "{event:?}");
    }
    assert!(session.turn_open(), "the result is not delivered yet");
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| call.answer_json("null"));
        answer.join().unwrap().unwrap();
    });
    let again = call.answer(Ok(StoreAnswer::Done)).unwrap_err();
    assert!(
        matches!(again, Error::Local(LocalError::AlreadyAnswered)),
        "{again}"
    );
    let (result, ended, late) = (next(&session), next(&session), next(&session));
    assert_eq!(types(&[result, late]), ["result", "assistant"]);
    assert!(matches!(ended, Event::TurnEnded { .. }), "{ended:?}");
    assert!(!session.turn_open());

    session.close().unwrap();
    let last = store_call(&session);
    assert_eq!(appended(&last), ("s".into(), vec![3]));
    assert!(
        session.poll(Some(Duration::ZERO)).unwrap().is_none(),
        "not yet closed"
    );
    last.answer(Ok(StoreAnswer::Done)).unwrap();
    assert!(until_closed(&session).error.is_none());
    let gone = last.clone();
    drop(session);
    assert!(matches!(
        gone.fail("late"),
        Err(Error::Local(LocalError::AlreadyAnswered))
    ));
}

#[test]
fn a_failing_store_is_told_of_and_ends_nothing() {
    for (dialect, name) in [("towline", "projectKey"), ("python", "project_key")] {
        let fake = script(json!([mirror("s", &[1]), mirror("t", &[2]), {"emit": result()}]))
            .set("dialect", dialect);
        let store = Arc::new(Store::default());
        *store.failures.lock().unwrap() = 3;
        let started = Instant::now();
        let session = fake
            .builder()
            .session_store(Arc::clone(&store), None)
            .begin()
            .unwrap();
        let told = message(&session, "system");
        assert!(
            started.elapsed() >= Duration::from_millis(1000),
            "three tries"
        );
        assert_eq!(told["subtype"], "mirror_error");
        assert_eq!(told["error"], "the disk is full");
        assert_eq!(told["key"][name], "-p");
        assert_eq!(told["session_id"], "s");
        message(&session, "result");
        assert_eq!(store.numbers("t"), [2]);
        session.close().unwrap();
        assert!(until_closed(&session).error.is_none());
    }
}

#[test]
fn a_dropped_call_has_failed() {
    let fake = script(json!([mirror("s", &[1]), {"emit": result()}]));
    let session = fake
        .builder()
        .store_events(Capabilities::default(), None)
        .begin()
        .unwrap();
    for _ in 0..3 {
        drop(store_call(&session));
    }
    let told = message(&session, "system");
    assert_eq!(told["subtype"], "mirror_error");
    assert!(
        told["error"].as_str().unwrap().contains("no answer"),
        "{told}"
    );
    message(&session, "result");
}

#[test]
fn eagerly_lines_go_before_any_result() {
    let fake = script(json!([mirror("s", &[1]), {"expect": {"type": "user"}}, mirror("s", &[2])]))
        .set("sessionStoreFlush", "eager");
    let session = fake
        .builder()
        .store_events(Capabilities::default(), None)
        .begin()
        .unwrap();
    let first = store_call(&session);
    session.send("go on").unwrap();
    assert_eq!(appended(&first).1, [1]);
    first.answer(Ok(StoreAnswer::Done)).unwrap();
    assert_eq!(appended(&store_call(&session)).1, [2]);
}

#[test]
fn the_end_waits_for_the_store_and_a_drop_not_for_ever() {
    let fake = script(json!([mirror("s", &[1])]));
    let (store, open) = Store::gated();
    let session = fake
        .builder()
        .session_store(Arc::clone(&store), None)
        .begin()
        .unwrap();
    session.connect(Some(LONG)).unwrap();
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| session.close());
        wait_for("the end of the process", || session.exit());
        assert!(!closing.is_finished());
        open.send(()).unwrap();
        closing.join().unwrap().unwrap();
    });
    assert_eq!(store.numbers("s"), [1]);
    until_closed(&session);

    let fake = script(json!([mirror("s", &[1])])).graces(100);
    let (stuck, open) = Store::gated();
    let session = fake.builder().session_store(stuck, None).begin().unwrap();
    session.connect(Some(LONG)).unwrap();
    let begun = Instant::now();
    drop(session);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}");
    assert!(took > Duration::from_secs(4), "{took:?}");
    drop(open);
}

#[test]
fn an_event_loop_is_woken_by_the_store() {
    let fake = script(json!([mirror("s", &[1]), {"emit": result()}]));
    let (store, open) = Store::gated();
    let session = fake.builder().session_store(store, None).begin().unwrap();
    let readable = |limit: Duration| {
        use std::os::fd::AsRawFd;
        let mut watched = libc::pollfd {
            fd: session.fd().unwrap().as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one valid pollfd, and the number says so.
        unsafe { libc::poll(&mut watched, 1, limit.as_millis() as libc::c_int) == 1 }
    };
    let mut opened = false;
    let mut at_once = 0;
    let until = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < until, "no result came");
        while let Some(event) = session.poll(Some(Duration::ZERO)).unwrap() {
            if types(&[event]) == ["result"] {
                assert!(opened);
                return;
            }
        }
        // Something may have come since, but not again and again.
        if session.next_timeout().unwrap() == Some(Duration::ZERO) {
            at_once += 1;
            assert!(at_once < 100, "it spins");
        }
        if !readable(Duration::from_millis(200)) && !opened {
            // Nothing more comes of the CLI: the result waits.
            opened = true;
            open.send(()).unwrap();
        }
    }
}

#[test]
fn files_elsewhere_are_named_in_a_diagnostic() {
    let fake = script(json!([
        {"emit": {"type": "transcript_mirror", "filePath": "/elsewhere/s.jsonl", "entries": [{}]}},
        {"emit": result()}
    ]));
    let session = fake
        .builder()
        .session_store(Arc::new(Store::default()), None)
        .begin()
        .unwrap();
    let told = diagnostic(&session).to_string();
    assert!(
        told.contains("/elsewhere/s.jsonl") && told.contains(CONFIG),
        "{told}"
    );
    message(&session, "result");
}

#[test]
fn recorded_sessions_are_mirrored_entry_for_entry() {
    for name in ["session_store_mirror", "mirror_subagent"] {
        let path = format!(
            "{}/../../tests/transcripts/{name}.jsonl",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).unwrap();
        let mut steps = Vec::new();
        let mut expected: Vec<Value> = Vec::new();
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let kind = line["line"]["type"].as_str().unwrap_or_default();
            if line["dir"] == "out" && !kind.starts_with("control_") {
                steps.push(json!({"emit": line["line"]}));
                expected.extend(
                    line["line"]["entries"]
                        .as_array()
                        .cloned()
                        .unwrap_or_default(),
                );
            }
        }
        for flush in [FlushMode::Batched, FlushMode::Eager] {
            let fake = script(steps.clone().into());
            let store = Arc::new(Store::default());
            let session = fake
                .builder()
                .session_store(Arc::clone(&store), flush)
                .begin()
                .unwrap();
            session.connect(Some(LONG)).unwrap();
            session.close().unwrap();
            let (events, _) = rest(&session);
            assert!(!types(&events).contains(&"transcript_mirror".to_string()));
            let kept = store.kept.lock().unwrap();
            let mut stored: Vec<String> = kept
                .iter()
                .flat_map(|(_, entries)| entries)
                .map(|entry| {
                    serde_json::from_str::<Value>(entry.as_str())
                        .unwrap()
                        .to_string()
                })
                .collect();
            let mut expected: Vec<String> = expected.iter().map(Value::to_string).collect();
            // The order between files is free.
            stored.sort();
            expected.sort();
            assert_eq!(stored, expected, "{name} {flush:?}");
        }
    }
}

/// A store with a session of the fake CLI's working directory.
pub(crate) fn stored(fake: &Fake) -> Arc<Store> {
    let store = Store::default();
    let project = towline::transcripts::project_key(fake.folder.path());
    let entries = vec![Entry::new(r#"{"n":7}"#).unwrap()];
    let kept = vec![(SessionKey::main(project, ID), entries)];
    *store.kept.lock().unwrap() = kept;
    Arc::new(store)
}

pub(crate) fn resuming(steps: Value) -> Fake {
    let fake = Fake::new(steps);
    let folder = fake.folder.path().to_str().unwrap().to_owned();
    fake.set("cwd", folder)
}

/// Where the CLI was told its config is.
fn config_of(fake: &Fake) -> PathBuf {
    let config = fake.logged("start")["env"]["CLAUDE_CONFIG_DIR"].clone();
    PathBuf::from(config.as_str().expect("a config directory of its own"))
}

fn resumed_by(fake: &Fake) -> Vec<Value> {
    let argv = fake.logged("start")["argv"].clone();
    let about = |argument: &&Value| {
        let text = argument.as_str().unwrap();
        text.starts_with("--resume") || text.starts_with("--continue")
    };
    argv.as_array()
        .unwrap()
        .iter()
        .filter(about)
        .cloned()
        .collect()
}

fn transcript(fake: &Fake, config: &Path) -> PathBuf {
    let project = towline::transcripts::project_key(fake.folder.path());
    config
        .join("projects")
        .join(project)
        .join(format!("{ID}.jsonl"))
}

#[test]
fn a_session_is_resumed_from_the_store() {
    for (option, value) in [("resume", json!(ID)), ("continue", json!(true))] {
        let fake = resuming(json!([{"emit": result()}, {"expect_eof": true}]))
            .set(option, value)
            .set("mcpServers", json!({"x": {"command": "x"}}));
        let session = fake
            .builder()
            .session_store(stored(&fake), None)
            .begin()
            .unwrap();
        message(&session, "result");
        assert_eq!(resumed_by(&fake), [format!("--resume={ID}")]);
        let config = config_of(&fake);
        let file = transcript(&fake, &config);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"n\":7}\n");
        session.close().unwrap();
        assert!(!config.parent().unwrap().exists(), "{config:?}");
        fake.check();
    }
}

#[test]
fn mirrored_lines_of_a_resumed_session_find_their_key() {
    // The script names a file in a folder that is made before the start.
    let fake =
        resuming(json!([{"expect": {"type": "user"}}, {"emit": result()}])).set("resume", ID);
    let store = stored(&fake);
    let session = fake.builder().store_events(Capabilities::ALL, None);
    let mut task = session.resume_task().unwrap().unwrap();
    while let Some(pending) = task.next_call() {
        let answer = store.call(&pending.call);
        task.answer(pending.id, answer);
    }
    let plan = task.finished().unwrap().unwrap().unwrap();
    let materialized = session.materialize(&plan).unwrap();
    let folder = materialized.folder().to_owned();
    assert_eq!(materialized.session_id(), ID);
    let file = transcript(&fake, materialized.config_dir());
    let line = json!([
        {"emit": {"type": "transcript_mirror", "filePath": file, "entries": [{"n": 8}]}},
        {"emit": result()}
    ]);
    std::fs::write(fake.path("script.json"), line.to_string()).unwrap();
    let session = session.materialized(materialized).begin().unwrap();
    let call = store_call(&session);
    assert_eq!(appended(&call), (ID.into(), vec![8]));
    call.answer(Ok(StoreAnswer::Done)).unwrap();
    message(&session, "result");
    assert_eq!(resumed_by(&fake), [format!("--resume={ID}")]);
    assert!(folder.exists());
    session.close().unwrap();
    assert!(!folder.exists());
}

#[test]
fn nothing_is_written_when_there_is_nothing_to_resume() {
    let other = "bbbbbbbb-0000-4000-8000-000000000002";
    for resume in [other, "a title"] {
        let fake = resuming(json!([{"emit": result()}])).set("resume", resume);
        let session = fake
            .builder()
            .session_store(stored(&fake), None)
            .begin()
            .unwrap();
        message(&session, "result");
        assert_eq!(resumed_by(&fake), [format!("--resume={resume}")]);
        let start = fake.logged("start");
        let config = start["env"]
            .get("CLAUDE_CONFIG_DIR")
            .and_then(Value::as_str);
        assert!(!config.unwrap_or_default().contains("towline-"), "{start}");
    }
}

#[test]
fn what_the_store_cannot_do_is_an_error_before_the_start() {
    struct Minimal;
    impl SessionStore for Minimal {
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }
        fn append(&self, _: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
            Ok(())
        }
        fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
            Err(StoreError::failed("no connection"))
        }
    }
    let start = |fake: &Fake| {
        let builder = fake.builder().session_store(Arc::new(Minimal), None);
        let error = builder.begin().unwrap_err().to_string();
        assert!(fake.log().is_empty(), "no CLI was started");
        error
    };
    let error = start(&resuming(json!([])).set("continue", true));
    assert!(error.contains("list_sessions()"), "{error}");
    let error = start(&resuming(json!([])).set("resume", ID));
    assert!(
        error.contains("SessionStore.load()") && error.contains("no connection"),
        "{error}"
    );
    let error = start(&resuming(json!([])).set("sessionStoreFlush", "sometimes"));
    assert!(error.contains("sometimes"), "{error}");
    let error = start(&resuming(json!([])).set("enableFileCheckpointing", true));
    assert!(error.contains("enableFileCheckpointing"), "{error}");
}

#[test]
fn a_load_that_hangs_is_given_up() {
    struct Hanging(Mutex<Receiver<()>>);
    impl SessionStore for Hanging {
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }
        fn append(&self, _: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
            Ok(())
        }
        fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
            // Ends with the test.
            let _ = self.0.lock().unwrap().recv();
            Ok(None)
        }
    }
    let (_never, wait) = channel();
    let fake = resuming(json!([]))
        .set("resume", ID)
        .set("loadTimeoutMs", 50);
    let store = OpenStore::from(Arc::new(Hanging(Mutex::new(wait))));
    let error = fake
        .builder()
        .session_store(store, None)
        .begin()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("SessionStore.load()"), "{text}");
    assert!(text.contains("timed out after 50ms"), "{text}");
}

/// Folders of private files below this one.
pub(crate) fn private_folders(temp: &Path) -> usize {
    let entries = std::fs::read_dir(temp).unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("towline-"))
        .count()
}

#[test]
fn a_failed_start_leaves_no_folder() {
    const NAME: &str = "stores::a_failed_start_leaves_no_folder";
    if !is_child(NAME) {
        let temp = tempfile::tempdir().unwrap();
        let status = child_command(NAME).env("TMPDIR", temp.path()).status();
        assert!(status.unwrap().success());
        return;
    }
    let temp = std::env::temp_dir();
    let fake = resuming(json!([{"exit": 3}])).set("resume", ID);
    let missing = resuming(json!([]))
        .set("resume", ID)
        .set("cliPath", "/nonexistent/claude");
    let builder = missing.builder().session_store(stored(&missing), None);
    assert!(matches!(builder.begin(), Err(Error::Start(_))));
    assert_eq!(private_folders(&temp), 0);

    // One that never answers `initialize`.
    let builder = fake.builder().session_store(stored(&fake), None);
    let session = builder.begin().unwrap();
    until_closed(&session);
    assert_eq!(private_folders(&temp), 0);
    drop(session);
}

#[test]
fn a_store_by_url() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("dir:{}", folder.path().display());
    let fake =
        script(json!([mirror("s", &[1]), {"emit": result()}])).set("sessionStore", url.clone());
    let session = fake.begin();
    message(&session, "result");
    let store = towline::transcripts::store::open(&url).unwrap();
    let found = store.load(&SessionKey::main("-p", "s")).unwrap().unwrap();
    assert_eq!(numbers(&found), [1]);

    let fake = script(json!([])).set("sessionStore", "nonsense:x");
    let error = fake.builder().begin().unwrap_err().to_string();
    assert!(
        error.contains("nonsense") && error.contains("sessionStore"),
        "{error}"
    );
}

#[test]
fn over_a_stream_of_the_host_lines_are_stored_and_nothing_is_resumed() {
    let fake = resuming(json!([]))
        .set("resume", ID)
        .env("CLAUDE_CONFIG_DIR", CONFIG);
    let store = stored(&fake);
    let (end, transport) = towline::host_pipe();
    let builder = fake.builder().session_store(Arc::clone(&store), None);
    let session = builder.start_over(transport).unwrap();
    for line in [&mirror("s", &[1, 2])["emit"], &result()] {
        end.feed(format!("{line}\n").as_bytes()).unwrap();
    }
    message(&session, "result");
    assert_eq!(store.numbers("s"), [1, 2]);
    assert_eq!(*store.loads.lock().unwrap(), 0);
    end.feed(format!("{}\n", mirror("s", &[3])["emit"]).as_bytes())
        .unwrap();
    end.finish(towline::TransportEnd::exit(towline::Exit::Code(0)))
        .unwrap();
    until_closed(&session);
    assert_eq!(store.numbers("s"), [1, 2, 3]);
}

/// Kills of the next test; another number can be asked for.
fn kills() -> u64 {
    let given = std::env::var("TOWLINE_KILLS").ok();
    given.map_or(200, |text| text.parse().expect("TOWLINE_KILLS is a number"))
}

/// What a store has acknowledged, which is when the result behind it is delivered, is there after
/// the host was killed; and what is there has no gaps and nothing by halves.
#[test]
fn a_host_killed_at_any_moment_loses_nothing_acknowledged() {
    const NAME: &str = "stores::a_host_killed_at_any_moment_loses_nothing_acknowledged";
    if is_child(NAME) {
        let url = std::env::var("TOWLINE_TEST_STORE").unwrap();
        let line = json!({"emit": {"type": "transcript_mirror",
            "filePath": format!("{CONFIG}/projects/-p/s.jsonl"),
            "entries": [{"n": "$i", "half": "a"}, {"n": "$i", "half": "b"}]}});
        // One prompt at a time: results that pile up are not held for ever.
        let turn = json!([{"expect": {"type": "user"}}, line, {"emit": result()}]);
        let fake = script(json!([{"repeat": 100_000, "steps": turn}]))
            .set("sessionStore", url)
            .set("sessionStoreFlush", "eager");
        let session = fake.begin();
        let mut stored = 0;
        session.send("go").unwrap();
        loop {
            for message in messages(&[next(&session)]) {
                assert_eq!(message["type"], "result", "{message}");
                println!("\nSTORED {stored}");
                stored += 1;
                session.send("go on").unwrap();
            }
        }
    }
    for round in 0..kills() {
        let folder = tempfile::tempdir().unwrap();
        let scheme = ["sqlite", "dir"][round as usize % 2];
        let url = format!("{scheme}:{}", folder.path().join("store").display());
        let mut host = child_command(NAME)
            .env("TOWLINE_TEST_STORE", &url)
            .env("TMPDIR", folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = std::io::BufReader::new(host.stdout.take().unwrap());
        // Any moment will do, and another one each time.
        let moment = round * 7 % 23;
        let mut acknowledged = 0;
        for line in std::io::BufRead::lines(output) {
            let line = line.unwrap();
            let Some(stored) = line.strip_prefix("STORED ") else {
                continue;
            };
            acknowledged = stored.parse::<u64>().unwrap();
            if acknowledged == moment {
                for _ in 0..round * 1000 {
                    std::hint::spin_loop();
                }
                host.kill().unwrap();
            }
        }
        let status = host.wait().unwrap();
        assert_eq!(
            status.signal(),
            Some(libc::SIGKILL),
            "{url}: it has failed before"
        );
        let store = towline::transcripts::store::open(&url).unwrap();
        let found = store.load(&SessionKey::main("-p", "s")).unwrap().unwrap();
        let found: Vec<String> = found
            .iter()
            .map(|entry| {
                let entry: Value = serde_json::from_str(entry.as_str()).unwrap();
                format!(
                    "{}{}",
                    entry["n"].as_str().unwrap(),
                    entry["half"].as_str().unwrap()
                )
            })
            .collect();
        let expected: Vec<String> = (0..found.len())
            .map(|at| format!("{}{}", at / 2, ["a", "b"][at % 2]))
            .collect();
        assert_eq!(found, expected, "{url}");
        assert_eq!(found.len() % 2, 0, "an append is whole or not there: {url}");
        assert!(
            found.len() as u64 >= 2 * (acknowledged + 1),
            "{url}: {acknowledged}"
        );
    }
}
