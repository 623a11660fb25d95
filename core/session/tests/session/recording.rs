//! Recording a session, and replaying it without a CLI.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{json, Value};
use towline::{Answer, Diagnostic, Error, Event, LocalError, Options, Reply, Session, StartError};

use crate::support::*;

fn entries(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let entries: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(!entries.is_empty(), "{} is empty", path.display());
    entries
}

/// A conversation in which the CLI asks for a permission and calls a hook.
fn asking() -> Fake {
    Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": hook("h", "hook_0")}, answered("h"),
        {"emit": permission("a")}, answered("a"),
        {"stderr": "a warning\n"},
        {"emit": assistant("hello")},
        {"emit": result()},
        {"expect_eof": true},
        {"exit": 3}
    ]))
}

/// The program of the host; returns its messages and how the session ended.
fn program(options: Options, prompt: &str) -> (Vec<Value>, towline::Closed) {
    let mut builder = Session::builder(options)
        .on_permission(|_| Reply::allow())
        .stderr_events();
    builder = builder.on_hook("PreToolUse", None, |_| Reply::Json("{}".into()));
    let session = builder.begin().unwrap();
    session.send(prompt).unwrap();
    session.end_input_when_settled().unwrap();
    let (events, closed) = rest(&session);
    (messages(&events), closed)
}

fn replaying(path: &Path) -> Options {
    Options {
        replay: Some(path.to_string_lossy().into_owned()),
        ..Options::default()
    }
}

#[test]
fn what_was_recorded_is_replayed() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let mut options = fake.options();
    options.record = Some(recording.to_string_lossy().into_owned());
    let (first, closed) = program(options, "hi");
    fake.check();
    assert_eq!(closed.failure.exit, Some(towline::Exit::Code(3)));
    let mode = std::fs::metadata(&recording).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let kinds: Vec<String> = entries(&recording)
        .iter()
        .map(|entry| entry["dir"].as_str().unwrap().to_string())
        .collect();
    for kind in ["start", "in", "out", "err", "eof", "exit"] {
        assert!(kinds.iter().any(|found| found == kind), "{kind}: {kinds:?}");
    }
    assert_eq!(kinds.last().map(String::as_str), Some("exit"));

    let again = fake.path("again.jsonl");
    let mut options = replaying(&recording);
    options.record = Some(again.to_string_lossy().into_owned());
    let (second, closed) = program(options, "hi");
    assert_eq!(first, second);
    assert_eq!(closed.failure.exit, Some(towline::Exit::Code(3)));
    assert!(closed.failure.stderr.contains("a warning"));

    // A replay that was recorded can be replayed too.
    let (third, _) = program(replaying(&again), "hi");
    assert_eq!(first, third);
}

#[test]
fn a_replay_that_parts_names_the_line_and_shows_both_sides() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let mut options = fake.options();
    options.record = Some(recording.to_string_lossy().into_owned());
    program(options, "hi");
    let line = 1 + entries(&recording)
        .iter()
        .position(|entry| entry["dir"] == "in" && entry["line"]["type"] == "user")
        .unwrap();

    let (seen, closed) = program(replaying(&recording), "something else");
    assert!(seen.is_empty(), "{seen:?}");
    let error = closed.error.unwrap().to_string();
    for part in [
        format!("{}, line {line}:", recording.display()),
        "\"hi\"".into(),
        "something else".into(),
    ] {
        assert!(error.contains(&part), "{part} is not in {error}");
    }
}

/// Whoever waits for the rest of a recording that was cut hears that it was.
#[test]
fn a_recording_that_was_cut_ends() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let mut options = fake.options();
    options.record = Some(recording.to_string_lossy().into_owned());
    program(options, "hi");
    let whole = entries(&recording);
    let at = |wanted: &dyn Fn(&Value) -> bool| whole.iter().position(wanted).unwrap();
    let initialized = at(&|entry| entry["line"]["response"]["request_id"] == "towline_1");
    let result = at(&|entry| entry["line"]["type"] == "result");

    let cut = |lines: usize| {
        let kept: Vec<String> = whole.iter().take(lines).map(Value::to_string).collect();
        std::fs::write(&recording, kept.join("\n")).unwrap();
        let mut builder = Session::builder(replaying(&recording)).on_permission(|_| Reply::allow());
        builder = builder.on_hook("PreToolUse", None, |_| Reply::Json("{}".into()));
        let session = builder.begin().unwrap();
        session.send("hi").unwrap();
        session
    };
    for lines in [initialized, result] {
        let session = cut(lines);
        let error = until_closed(&session).error.unwrap().to_string();
        let part = format!("ends with line {lines}");
        assert!(error.contains(&part) && error.contains("cut"), "{error}");
    }
    // With its result it is a session that waits for its host, as a CLI does.
    let session = cut(result + 1);
    session.end_input_when_settled().unwrap();
    assert!(until_closed(&session).error.is_none());
}

/// A recording may be written by hand, with a short id, and by an editor that begins it with a mark.
#[test]
fn the_id_of_a_prompt_stands_for_whole_strings_alone() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let said = r#"{"type":"assistant","a":"banana","list":["a","\\","a"],"text":"\"a\" \\"}"#;
    let lines = [
        r#"{"dir":"in","line":{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}}"#,
        r#"{"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}}"#,
        r#"{"dir":"in","line":{"type":"user","uuid":"a","message":{"role":"user","content":"hi"}}}"#,
        &format!(r#"{{"dir":"out","line":{said}}}"#),
        &json!({"dir": "out", "line": result()}).to_string(),
        r#"{"dir":"eof"}"#,
        r#"{"dir":"exit","line":{"code":0}}"#,
    ];
    std::fs::write(&recording, format!("\u{feff}{}", lines.join("\n"))).unwrap();
    let (seen, closed) = program(replaying(&recording), "hi");
    assert!(closed.error.is_none(), "{:?}", closed.error);
    let [message, _] = &seen[..] else {
        panic!("{seen:?}");
    };
    let now = message["list"][0].as_str().unwrap();
    assert_eq!(now.len(), 36, "{message}");
    let expected =
        json!({"type": "assistant", "a": "banana", "list": [now, "\\", now], "text": "\"a\" \\"});
    assert_eq!(message, &expected);
}

/// Some languages name the tool call in a permission's answer and some do not.
#[test]
fn an_answer_that_names_its_tool_call_is_the_same() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let mut options = fake.options();
    options.record = Some(recording.to_string_lossy().into_owned());
    program(options, "hi");
    let with_id = |id: Option<&str>| {
        let mut lines = String::new();
        for mut entry in entries(&recording) {
            if let Some(Value::Object(answer)) = entry.pointer_mut("/line/response/response") {
                if answer.contains_key("behavior") {
                    match id {
                        Some(id) => answer.insert("toolUseID".into(), id.into()),
                        None => answer.remove("toolUseID"),
                    };
                }
            }
            lines.push_str(&format!("{entry}\n"));
        }
        std::fs::write(&recording, lines).unwrap();
        let closed = program(replaying(&recording), "hi").1;
        closed.error.unwrap().to_string()
    };
    for id in [None, Some("toolu_other")] {
        let error = with_id(id);
        assert!(!error.contains("part here"), "{id:?}: {error}");
    }
}

#[test]
fn another_answer_than_recorded_parts_too() {
    let fake = asking();
    let recording = fake.path("session.jsonl");
    let mut options = fake.options();
    options.record = Some(recording.to_string_lossy().into_owned());
    program(options, "hi");

    let mut builder = Session::builder(replaying(&recording)).on_permission(|_| Reply::deny("no"));
    builder = builder.on_hook("PreToolUse", None, |_| Reply::Json("{}".into()));
    let session = builder.begin().unwrap();
    session.send("hi").unwrap();
    let error = until_closed(&session).error.unwrap().to_string();
    assert!(error.contains("allow") && error.contains("deny"), "{error}");
}

#[test]
fn secrets_do_not_reach_the_file_unless_it_is_wanted() {
    const SECRET: &str = "a-very-secret-value";
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": assistant("the key is sk-ant-api03-0123456789abcdef and a-very-secret-value")},
        {"emit": result()}
    ]))
    .env("MY_SERVICE_TOKEN", SECRET);
    for redacted in [true, false] {
        let recording = fake.path("session.jsonl");
        let mut options = fake.options();
        options.record = Some(recording.to_string_lossy().into_owned());
        options.record_redacted = redacted;
        program(options, &format!("use {SECRET} in /home/anna"));
        let text = std::fs::read_to_string(&recording).unwrap();
        for secret in [SECRET, "sk-ant-api03", "/home/anna"] {
            assert_eq!(text.contains(secret), !redacted, "{secret} in {text}");
        }
        // The same program still goes through with it.
        let mut options = replaying(&recording);
        options.env = fake.options().env;
        let (_, closed) = program(options, &format!("use {SECRET} in /home/anna"));
        assert!(closed.error.is_none(), "{:?}", closed.error);
    }
}

#[test]
fn keys_on_stderr_and_in_arguments_do_not_reach_the_files() {
    let key = "-----BEGIN PRIVATE KEY-----\nMIIEgeheim\n-----END PRIVATE KEY-----\nafter\n";
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}}, {"stderr": key}, {"emit": result()}, {"expect_eof": true}
    ]));
    let (recording, wire) = (fake.path("session.jsonl"), fake.path("wire.log"));
    for file in [&recording, &wire] {
        std::fs::write(file, "").unwrap();
        std::fs::set_permissions(file, PermissionsExt::from_mode(0o644)).unwrap();
    }
    let fake = fake
        .set("record", recording.to_str().unwrap())
        .set("wireLog", wire.to_str().unwrap())
        .set(
            "extraArgs",
            json!({"api-key": "geheim1", "token": "geheim2"}),
        );
    program(fake.options(), "hi");
    for file in [&recording, &wire] {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.contains("after") && !text.contains("geheim"), "{text}");
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let fake = asking();
    let fifo = fake.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo, of coreutils").success());
    let socket = fake.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for (path, what) in [(&fifo, "a FIFO"), (&socket, "a socket")] {
        let path = path.to_str().unwrap();
        for option in ["record", "wireLog", "replay"] {
            let mut options = fake.options();
            match option {
                "record" => options.record = Some(path.into()),
                "wireLog" => options.wire_log = Some(path.into()),
                _ => options.replay = Some(path.into()),
            }
            let error = Session::start(options).unwrap_err().to_string();
            for part in [path, what, &format!("option {option}")] {
                assert!(error.contains(part), "{option}: {error}");
            }
        }
    }
    let folder = fifo.parent().unwrap();
    let error = Session::start(replaying(folder)).unwrap_err().to_string();
    assert!(error.contains("a folder"), "{error}");
}

#[test]
fn one_file_is_not_both_a_recording_and_a_wire_log() {
    let fake = asking();
    let folder = fake.path("both");
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("x.jsonl");
    let (symbolic, early, hard) = (
        folder.join("symbolic"),
        folder.join("early"),
        folder.join("hard"),
    );
    std::os::unix::fs::symlink("x.jsonl", &symbolic).unwrap();
    std::os::unix::fs::symlink("nothing/../x.jsonl", &early).unwrap();
    std::fs::create_dir(folder.join("nothing")).unwrap();
    let spelled = folder.join("../both/./x.jsonl");
    let refused = |log: &Path| {
        let mut options = fake.options();
        options.record = Some(file.to_string_lossy().into_owned());
        options.wire_log = Some(log.to_string_lossy().into_owned());
        let error = Session::start(options).unwrap_err().to_string();
        for part in ["option record", "option wireLog", "x.jsonl"] {
            assert!(error.contains(part), "{}: {error}", log.display());
        }
    };
    for log in [&file, &spelled, &symbolic, &early] {
        refused(log);
    }
    assert!(!file.exists());
    std::fs::write(&file, "kept").unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    for log in [&file, &spelled, &symbolic, &early, &hard] {
        refused(log);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");

    for (record, log) in [
        (file.clone(), folder.join("other")),
        (folder.clone(), folder.clone()),
        ("/dev/null".into(), "/dev/null".into()),
        (file.clone(), "log".into()),
    ] {
        let mut options = fake.options();
        options.record = Some(record.to_string_lossy().into_owned());
        options.wire_log = Some(log.to_string_lossy().into_owned());
        Session::start(options).unwrap();
    }
}

#[test]
fn in_a_folder_each_session_gets_a_file() {
    let fake = asking();
    let folder = fake.path("recordings");
    std::fs::create_dir(&folder).unwrap();
    for _ in 0..2 {
        let mut options = fake.options();
        options.record = Some(folder.to_string_lossy().into_owned());
        program(options, "hi");
    }
    let files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 2);
    for file in files {
        entries(&file);
    }
}

#[test]
fn a_full_disk_stops_the_recording_and_not_the_session() {
    let fake = asking().set("record", "/dev/full");
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .on_hook("PreToolUse", None, |_| Reply::Json("{}".into()))
        .begin()
        .unwrap();
    session.send("hi").unwrap();
    session.end_input_when_settled().unwrap();
    let (events, closed) = rest(&session);
    assert_eq!(closed.failure.exit, Some(towline::Exit::Code(3)));
    assert!(messages(&events)
        .iter()
        .any(|message| message["type"] == "result"));
    let told: Vec<&Event> = events
        .iter()
        .filter(|event| matches!(event, Event::Diagnostic(Diagnostic::NotRecorded(_))))
        .collect();
    assert_eq!(told.len(), 1, "{events:?}");
}

#[test]
fn files_that_are_none_are_named() {
    let fake = asking();
    let missing = fake.path("nowhere/x.jsonl").to_string_lossy().into_owned();
    let mut options = fake.options();
    options.record = Some(missing.clone());
    let error = Session::start(options).unwrap_err();
    assert!(
        matches!(error, Error::Start(StartError::Record { .. })),
        "{error}"
    );
    assert!(error.to_string().contains(&missing));

    let error = Session::start(replaying(Path::new(&missing))).unwrap_err();
    assert!(
        matches!(error, Error::Start(StartError::Replay { .. })),
        "{error}"
    );

    let odd = fake.path("odd.jsonl");
    let cases: [(&[u8], &str); 6] = [
        (b"{\"dir\":\"in\",\"line\":{}}\nnonsense\n", "line 2"),
        (b"", "no lines"),
        (b"[]\n", "line 1"),
        (
            b"{\"dir\":\"in\",\"line\":{}}\n\n{\"dir\":\"out\",\"line\":\"\xff\"}\n",
            "line 3: it is not UTF-8",
        ),
        (
            b"{\"dir\":\"out\",\"line\":null}\n{\"dir\":\"out\"}\n",
            "line 2: an entry of dir out has a member line",
        ),
        (
            b"{\"t\":1,\"dir\":\"exit\"}\n",
            "line 1: an entry of dir exit",
        ),
    ];
    for (text, part) in cases {
        std::fs::write(&odd, text).unwrap();
        let error = Session::start(replaying(&odd)).unwrap_err().to_string();
        assert!(error.contains(part), "{text:?}: {error}");
    }
}

/// What a recorded host wrote and what came before each line.
struct Script {
    /// Messages that stood before it, and the line.
    steps: Vec<(usize, Value)>,
    messages: Vec<Value>,
    initialize: Value,
    has_permissions: bool,
    /// The CLI answered `initialize`.
    opened: bool,
    /// Requests of the CLI.
    asked: usize,
}

/// A replay writes what it can at once.
const STALLED: std::time::Duration = std::time::Duration::from_secs(2);

const ENVELOPES: [&str; 4] = [
    "control_request",
    "control_response",
    "control_cancel_request",
    "keep_alive",
];

impl Script {
    fn read(path: &Path) -> Script {
        let mut script = Script {
            steps: Vec::new(),
            messages: Vec::new(),
            initialize: Value::Null,
            has_permissions: false,
            opened: false,
            asked: 0,
        };
        for entry in entries(path) {
            let line = &entry["line"];
            let kind = line["type"].as_str().unwrap_or_default();
            if entry["dir"] == "in" {
                match line["request"]["subtype"] == "initialize" && script.initialize.is_null() {
                    true => script.initialize = line["request"].clone(),
                    false => script.steps.push((script.messages.len(), line.clone())),
                }
            } else if !ENVELOPES.contains(&kind) {
                script.messages.push(line.clone());
            }
            script.asked += usize::from(entry["dir"] == "out" && kind == "control_request");
            script.opened |= entry["dir"] == "out" && kind == "control_response";
            script.has_permissions |= line["request"]["subtype"] == "can_use_tool";
        }
        script
    }

    /// Does what the recorded host did; returns the messages, and what the host was refused or why
    /// the session failed.
    fn perform(&self, path: &Path) -> (Vec<Value>, Result<(), String>) {
        let mut builder = Session::builder(replaying(path))
            .other_request_events()
            .elicitation_events();
        if self.has_permissions {
            builder = builder.permission_events();
        }
        let hooks = self.initialize["hooks"].as_object().into_iter().flatten();
        for (event, matchers) in hooks {
            for matcher in matchers.as_array().unwrap() {
                for _ in matcher["hookCallbackIds"].as_array().unwrap() {
                    builder.add_hook(event, matcher["matcher"].as_str(), None, None);
                }
            }
        }
        let servers = self.initialize["sdkMcpServers"].as_array();
        for server in servers.into_iter().flatten() {
            builder = builder.bridged_server(server.as_str().unwrap());
        }
        let mut seen = Vec::new();
        let done = self.converse(&builder.start().unwrap(), &mut seen);
        (seen, done.map_err(|error| error.to_string()))
    }

    fn converse(&self, session: &Session, seen: &mut Vec<Value>) -> Result<(), Error> {
        let mut steps = self.steps.iter().peekable();
        let mut requests = std::collections::HashMap::new();
        let mut asked = 0;
        let limit_ms = STALLED.as_millis() as u64;
        loop {
            while let Some((_, line)) = steps.next_if(|(before, _)| *before <= seen.len()) {
                if line["type"] == "user" {
                    session.send_json(&line.to_string())?;
                } else if line["type"] == "control_request" {
                    let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
                    let added = line["request"]["servers"].as_object();
                    for (name, server) in added.into_iter().flatten() {
                        if server["type"] == "sdk" {
                            session.add_bridged_server(name)?;
                        }
                    }
                    let id = session.request(subtype, &line["request"].to_string())?;
                    requests.insert(line["request_id"].to_string(), id);
                } else if let Some(id) = requests.remove(&line["request_id"].to_string()) {
                    session.cancel_request(id)?;
                }
            }
            let all = seen.len() == self.messages.len() && asked == self.asked;
            if all && steps.peek().is_none() {
                session.end_input()?;
            }
            match session.poll(Some(STALLED))? {
                Some(Event::Message { message, .. }) => {
                    seen.push(serde_json::from_str(message.json()).unwrap());
                }
                Some(Event::Request(request)) => {
                    asked += 1;
                    match self.answer(&request) {
                        Err(Error::Local(LocalError::Withdrawn)) => {}
                        answered => answered?,
                    }
                }
                Some(Event::McpNotification { .. }) => asked += 1,
                Some(Event::Closed(closed)) => return closed.error.map_or(Ok(()), Err),
                Some(_) => {}
                None => return Err(Error::TimedOut { limit_ms }),
            }
        }
    }

    fn answer(&self, request: &towline::RequestHandle) -> Result<(), Error> {
        let line: Value = serde_json::from_str(request.message().json()).unwrap();
        let answers = self.steps.iter().map(|(_, line)| &line["response"]);
        let answer = answers
            .into_iter()
            .find(|answer| answer["request_id"] == line["request_id"]);
        // The recorded host gave none.
        let Some(answer) = answer else { return Ok(()) };
        let response = &answer["response"];
        if let Some(error) = answer["error"].as_str() {
            request.respond(&Answer::Error(error))
        } else if line["request"]["subtype"] == "mcp_message" {
            request.respond(&Answer::Mcp(&response["mcp_response"].to_string()))
        } else {
            request.respond(&Answer::Json(&response.to_string()))
        }
    }
}

/// Recordings of hosts that broke a rule of the protocol, which a session does not do: it refuses,
/// answers by itself, or opens with `initialize`.
const BROKEN_RULES: [&str; 14] = [
    "await_initialize_wrong_first",
    "duplicate_uuid",
    "hook_bad_answers",
    "malformed_stdin",
    "malformed_stdin_shapes",
    "malformed_user_content",
    "malformed_user_no_message",
    "malformed_user_role",
    "permission_bad_answers",
    "permission_null_input",
    "request_before_initialize",
    "sdk_mcp_unnamed",
    "unknown_control",
    "user_before_initialize",
];

#[test]
fn recordings_of_the_real_cli_can_be_replayed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut wrong = Vec::new();
    let mut passed = 0;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "jsonl"))
        .collect();
    files.sort();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let script = Script::read(&path);
        let (seen, done) = script.perform(&path);
        // A CLI that refuses its arguments never opens the session; of one that was killed in mid-turn
        // the recording has no end.
        let was_cut = || {
            let cut = done
                .as_ref()
                .is_err_and(|error| error.contains("it was cut"));
            cut && name == "sigterm_midturn"
        };
        let ended = done.is_ok() || !script.opened || was_cut();
        let as_recorded = seen == script.messages && ended;
        match as_recorded != BROKEN_RULES.contains(&name.as_str()) {
            true => passed += 1,
            false => wrong.push(format!(
                "{name}: {} of {} messages, {done:?}",
                seen.len(),
                script.messages.len(),
            )),
        }
    }
    assert!(wrong.is_empty(), "{passed} passed; {}", wrong.join("\n"));
    assert!(passed > 100, "{passed}");
}
