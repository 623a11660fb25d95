//! Resuming from a store: what is loaded, what is written, what is left out.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use towline_transcripts::materialize::{
    without_plugins, without_refresh_token, ConfigSources, Contents, Materialized, Plan,
    ResumeRequest,
};
use towline_transcripts::store::{
    Capabilities, Entry, SessionKey, StoreAnswer, StoreCall, StoreError, StoreListEntry, StoreTask,
    TaskError,
};

const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";
const C: &str = "cccccccc-0000-4000-8000-000000000003";

/// Answers from memory; notes what was asked.
#[derive(Default)]
struct Fake {
    entries: BTreeMap<SessionKey, Vec<Entry>>,
    /// In the order of the listing.
    sessions: Vec<StoreListEntry>,
    subkeys: Vec<String>,
    /// Calls whose name stands here get this answer.
    broken: BTreeMap<&'static str, StoreError>,
    asked: Vec<StoreCall>,
}

impl Fake {
    fn with(mut self, id: &str, subpath: Option<&str>, entries: &[&str]) -> Fake {
        let key = match subpath {
            None => SessionKey::main("-p", id),
            Some(subpath) => SessionKey::main("-p", id).with_subpath(subpath),
        };
        let entries = entries.iter().map(|text| Entry::new(*text).unwrap());
        self.entries.insert(key, entries.collect());
        self.subkeys.extend(subpath.map(String::from));
        self
    }

    fn listed(mut self, id: &str, mtime: i64) -> Fake {
        self.sessions.push(StoreListEntry {
            session_id: id.into(),
            mtime,
        });
        self
    }

    fn broken(mut self, call: &'static str, error: StoreError) -> Fake {
        self.broken.insert(call, error);
        self
    }

    fn answer(&mut self, call: &StoreCall) -> Result<StoreAnswer, StoreError> {
        self.asked.push(call.clone());
        if let Some(error) = self.broken.get(call.kind().name()) {
            return Err(error.clone());
        }
        Ok(match call {
            StoreCall::Load { key } => StoreAnswer::Entries(self.entries.get(key).cloned()),
            StoreCall::ListSessions { .. } => StoreAnswer::Sessions(self.sessions.clone()),
            StoreCall::ListSubkeys { .. } => StoreAnswer::Subkeys(self.subkeys.clone()),
            other => panic!("{other:?}"),
        })
    }

    fn run(&mut self, mut task: StoreTask<Option<Plan>>) -> Result<Option<Plan>, TaskError> {
        while let Some(pending) = task.next_call() {
            assert_eq!(pending.timeout_ms, Some(60_000));
            let answer = self.answer(&pending.call);
            task.answer(pending.id, answer);
        }
        task.finished().unwrap()
    }

    fn resume(&mut self, id: &str) -> Result<Option<Plan>, TaskError> {
        self.run(request(Some(id), false).task(Capabilities::ALL))
    }

    fn newest(&mut self) -> Option<String> {
        let found = self.run(request(None, true).task(Capabilities::ALL));
        found.unwrap().map(|plan| plan.session_id)
    }
}

fn request(resume: Option<&str>, continue_conversation: bool) -> ResumeRequest {
    ResumeRequest {
        project_key: "-p".into(),
        resume: resume.map(String::from),
        continue_conversation,
        load_timeout_ms: 60_000,
    }
}

fn paths(plan: &Plan) -> Vec<&str> {
    plan.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn nothing_is_asked_without_a_uuid_or_a_wish() {
    let mut store = Fake::default().with("main", None, &["{}"]);
    for (resume, goes_on) in [
        (None, false),
        (Some("my title"), false),
        (Some("../../etc/passwd"), true),
        (Some(""), true),
        (Some("aaaaaaaa-0000-4000-8000-00000000000g"), true),
        (Some("aaaaaaaa-0000-4000-8000-0000000000011"), true),
        (Some("aaaaaaaa-0000-4000-8000-000000000001-"), true),
    ] {
        let request = request(resume, goes_on);
        assert!(!request.asks_the_store(), "{resume:?}");
        let task = request.task(Capabilities::ALL);
        assert_eq!(store.run(task).unwrap(), None, "{resume:?}");
    }
    assert!(store.asked.is_empty());
}

#[test]
fn a_store_that_has_nothing_gives_nothing() {
    let mut store = Fake::default().with(B, None, &[]);
    assert_eq!(store.resume(A).unwrap(), None);
    assert_eq!(store.resume(B).unwrap(), None);
    assert_eq!(store.newest(), None);
}

#[test]
fn a_session_with_its_subagents() {
    let mut store = Fake::default()
        .with(A, None, &[r#"{"n":1}"#, r#"{"n":1e999}"#])
        .with(
            A,
            Some("subagents/agent-x"),
            &[
                r#"{"type":"agent_metadata","agentType":"old"}"#,
                r#"{"type":"user"}"#,
                r#"{"type":"agent_metadata","agentType":"new","toolUseId":"t"}"#,
            ],
        )
        .with(
            A,
            Some("subagents/runs/1/agent-y"),
            &[r#"{"type":"agent_metadata","a":1}"#],
        )
        .with(A, Some("subagents/agent-empty"), &[])
        .with(A, Some("../../escape"), &[r#"{"bad":1}"#]);
    store.subkeys.push("subagents/agent-x".into());
    let plan = store.resume(A).unwrap().unwrap();
    assert_eq!(plan.session_id, A);
    assert_eq!(
        paths(&plan),
        [
            format!("projects/-p/{A}.jsonl"),
            format!("projects/-p/{A}/subagents/agent-x.jsonl"),
            format!("projects/-p/{A}/subagents/agent-x.meta.json"),
            format!("projects/-p/{A}/subagents/runs/1/agent-y.meta.json"),
        ]
    );
    assert_eq!(
        plan.files[2].contents,
        Contents::Text(r#"{"agentType":"new","toolUseId":"t"}"#.into())
    );
    assert_eq!(plan.warnings.len(), 1);
    assert!(plan.warnings[0].contains("escape"), "{:?}", plan.warnings);
    let escaped = |call: &StoreCall| matches!(call, StoreCall::Load { key } if key.to_string().contains("escape"));
    assert!(!store.asked.iter().any(escaped));

    let minimal = request(Some(A), true).task(Capabilities::default());
    let plan = store.run(minimal).unwrap().unwrap();
    assert_eq!(paths(&plan).len(), 1);
}

#[test]
fn to_continue_the_newest_that_is_no_sidechain_is_taken() {
    let side = r#"{"isSidechain":true}"#;
    let mut store = Fake::default()
        .listed(A, 10)
        .listed(B, 30)
        .listed(C, 40)
        .listed("no-uuid", 50)
        .with("no-uuid", None, &["{}"])
        .with(A, None, &[r#"{"isSidechain":false}"#, side])
        .with(B, None, &["{}"])
        .with(C, None, &[side, "{}"]);
    assert_eq!(store.newest().as_deref(), Some(B));

    let mut ties = Fake::default()
        .listed(B, 10)
        .listed(A, 10)
        .listed(C, 10)
        .with(A, None, &["{}"])
        .with(B, None, &[side])
        .with(C, None, &["{}"]);
    assert_eq!(ties.newest().as_deref(), Some(A), "the store's own order");

    let mut only_sides = Fake::default().listed(B, 10).with(B, None, &[side]);
    assert_eq!(only_sides.newest(), None);
}

#[test]
fn to_continue_needs_a_listing_but_an_id_does_not() {
    let none = Capabilities::default();
    let refused = request(None, true).check(none).unwrap_err();
    assert_eq!(refused.code(), "invalid_argument");
    assert!(refused.to_string().contains("list_sessions()"), "{refused}");
    request(Some(A), true).check(none).unwrap();
    request(None, false).check(none).unwrap();

    let mut odd = request(Some(A), false);
    odd.project_key = "../x".into();
    assert_eq!(odd.check(none).unwrap_err().code(), "invalid_argument");
}

#[test]
fn an_error_names_the_call() {
    let full = || StoreError::failed("the disk is on fire");
    let mut store = Fake::default()
        .with(A, None, &["{}"])
        .broken("list_subkeys", full());
    let text = store.resume(A).unwrap_err().to_string();
    assert!(
        text.contains("SessionStore.list_subkeys()") && text.contains("the disk is on fire"),
        "{text}"
    );
    let late = StoreError::timeout("it", 60_000);
    let text = Fake::default()
        .broken("load", late.clone())
        .resume(A)
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("SessionStore.load()") && text.contains(A),
        "{text}"
    );
    assert!(text.contains("timed out after 60000ms"), "{text}");
    let mut store = Fake::default().broken("list_sessions", late);
    let task = request(None, true).task(Capabilities::ALL);
    let text = store.run(task).unwrap_err().to_string();
    assert!(text.contains("SessionStore.list_sessions()"), "{text}");
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn sources(folder: &Path) -> ConfigSources {
    let folder = folder.to_str().unwrap().to_owned();
    ConfigSources::find(|name| (name == "CLAUDE_CONFIG_DIR").then(|| folder.clone()))
}

fn written(sources: &ConfigSources) -> Materialized {
    let mut store = Fake::default()
        .with(
            A,
            None,
            &[
                r#"{ "n": 1,
            "text": "ü" }"#,
                r#"{"n":2}"#,
            ],
        )
        .with(
            A,
            Some("subagents/agent-x"),
            &["{}", r#"{"type":"agent_metadata"}"#],
        );
    store
        .resume(A)
        .unwrap()
        .unwrap()
        .write(sources, None)
        .unwrap()
}

#[test]
fn files_for_their_owner_alone_and_no_longer_than_needed() {
    let made = written(&ConfigSources::default());
    let folder = made.folder().to_owned();
    let config = made.config_dir().to_owned();
    assert!(config.starts_with(&folder) && config != folder);
    let transcript = config.join(format!("projects/-p/{A}.jsonl"));
    let text = std::fs::read_to_string(&transcript).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains("ü") && text.ends_with("{\"n\":2}\n"),
        "{text}"
    );
    let below = config.join(format!("projects/-p/{A}/subagents"));
    let meta = below.join("agent-x.meta.json");
    assert_eq!(std::fs::read_to_string(&meta).unwrap(), "{}");
    for file in [&transcript, &below.join("agent-x.jsonl"), &meta] {
        assert_eq!(mode(file), 0o600, "{file:?}");
    }
    for folder in [&folder, &config, &config.join("projects/-p"), &below] {
        assert_eq!(mode(folder), 0o700, "{folder:?}");
    }
    made.remove().unwrap();
    assert!(!folder.exists());

    let dropped = written(&ConfigSources::default());
    let folder = dropped.folder().to_owned();
    drop(dropped);
    assert!(!folder.exists());
}

#[test]
fn files_in_each_others_way_leave_the_rest() {
    let mut store = Fake::default()
        .with(A, None, &["{}"])
        .with(A, Some("x"), &["{}"])
        .with(A, Some("x.jsonl/y"), &["{}"])
        .with(A, Some("z"), &["{}"]);
    let plan = store.resume(A).unwrap().unwrap();
    let made = plan.write(&ConfigSources::default(), None).unwrap();
    let below = made.config_dir().join(format!("projects/-p/{A}"));
    assert!(below.join("x.jsonl").is_file() && below.join("z.jsonl").is_file());
    assert_eq!(made.warnings().len(), 1, "{:?}", made.warnings());
}

#[test]
fn the_users_own_files_are_taken_along() {
    let user = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(user.path().join(name), text).unwrap();
    put(
        ".credentials.json",
        r#"{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"},"other":{"refreshToken":"kept"}}"#,
    );
    put(".claude.json", r#"{"projects":{}}"#);
    put(
        "settings.json",
        r#"{"enabledPlugins":{"p":true},"apiKeyHelper":"/bin/key"}"#,
    );
    put("cowork_settings.json", "not json");
    put("history.jsonl", "{}");
    let made = written(&sources(user.path()));
    let read = |name: &str| std::fs::read_to_string(made.config_dir().join(name)).unwrap();
    assert_eq!(
        read(".credentials.json"),
        r#"{"claudeAiOauth":{"accessToken":"a"},"other":{"refreshToken":"kept"}}"#
    );
    assert_eq!(read(".claude.json"), r#"{"projects":{}}"#);
    assert_eq!(read("settings.json"), r#"{"apiKeyHelper":"/bin/key"}"#);
    assert_eq!(read("cowork_settings.json"), "not json");
    assert!(!made.config_dir().join("history.jsonl").exists());
    for name in [".credentials.json", ".claude.json", "settings.json"] {
        assert_eq!(mode(&made.config_dir().join(name)), 0o600, "{name}");
    }
    assert!(made.warnings().is_empty(), "{:?}", made.warnings());
}

#[test]
fn where_the_users_own_files_are() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(home.path().join(".claude.json"), "global").unwrap();
    std::fs::write(folder.join(".claude.json"), "not this").unwrap();
    std::fs::write(folder.join("settings.json"), "{}").unwrap();
    let at_home = |name: &str| match name {
        "HOME" => Some(home.path().to_str().unwrap().to_owned()),
        // As good as unset.
        "CLAUDE_CONFIG_DIR" => Some(String::new()),
        _ => None,
    };
    let sources = ConfigSources::find(at_home);
    assert_eq!(sources.projects(), Some(folder.join("projects")));
    let made = written(&sources);
    let read = |name: &str| std::fs::read_to_string(made.config_dir().join(name)).unwrap();
    assert_eq!(read(".claude.json"), "global");
    assert_eq!(read("settings.json"), "{}");

    assert_eq!(ConfigSources::find(|_| None).projects(), None);
}

#[test]
fn what_cannot_be_read_is_left_out_with_a_word() {
    let user = tempfile::tempdir().unwrap();
    let fifo = user.path().join(".credentials.json");
    let made_fifo = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made_fifo.expect("mkfifo of coreutils is there").success());
    std::fs::create_dir(user.path().join("settings.json")).unwrap();
    std::os::unix::fs::symlink("/nonexistent/x", user.path().join(".claude.json")).unwrap();
    let made = written(&sources(user.path()));
    for name in [".credentials.json", "settings.json", ".claude.json"] {
        assert!(!made.config_dir().join(name).exists(), "{name}");
    }
    let told = made.warnings().join("\n");
    assert!(
        told.contains(".credentials.json") && told.contains("settings.json"),
        "{told}"
    );
    assert_eq!(made.warnings().len(), 2, "a file that is not there: {told}");
}

#[test]
fn credentials_lose_nothing_but_the_refresh_token() {
    let kept =
        |text: &str| String::from_utf8(without_refresh_token(text.as_bytes()).into()).unwrap();
    assert_eq!(
        kept("\u{feff}{\"claudeAiOauth\": {\"refreshToken\": \"r\", \"expiresAt\": 1e999} }"),
        r#"{"claudeAiOauth":{"expiresAt":1e999}}"#
    );
    for untouched in [
        r#"{"claudeAiOauth":{"accessToken":"a"}}"#,
        r#"{"claudeAiOauth":"refreshToken"}"#,
        r#"{"refreshToken":"elsewhere"}"#,
        "[1]",
        "not json",
        "",
    ] {
        assert_eq!(kept(untouched), untouched);
    }
    assert_eq!(without_refresh_token(b"\xff{").as_ref(), b"\xff{");
}

#[test]
fn settings_lose_plugins_and_the_config_folder() {
    let kept = |text: &str| String::from_utf8(without_plugins(text.as_bytes()).into()).unwrap();
    assert_eq!(
        kept(
            "\u{feff}{\"enabledPlugins\": {}, \"n\": 1e999, \"extraKnownMarketplaces\": [],\n \
             \"env\": {\"CLAUDE_CONFIG_DIR\": \"/x\", \"A\": \"b\"}, \"hooks\": {\"enabledPlugins\": 1}}"
        ),
        r#"{"n":1e999,"env":{"A":"b"},"hooks": {"enabledPlugins": 1}}"#
            .replace("\"hooks\": ", "\"hooks\":")
    );
    assert_eq!(kept(r#"{"env":{"CLAUDE_CONFIG_DIR":1}}"#), r#"{"env":{}}"#);
    assert_eq!(kept(r#"{"enabledPlugins":1}"#), "{}");
    for untouched in [
        "\u{feff}{ \"a\" : 1 }",
        r#"{"env":["CLAUDE_CONFIG_DIR"]}"#,
        r#"{"enabledPlugins":1"#,
        "[]",
        "",
    ] {
        assert_eq!(kept(untouched), untouched);
    }
}
