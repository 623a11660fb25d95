//! What a session tells those who watch it: the log hook, the wire log, counters, trace contexts.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use serde_json::{json, Value};
use towline::{
    Diagnostic, Error, Event, LogLevel, LogRecord, Reply, Session, StartError, Tool, ToolServer,
    TraceContext,
};

use crate::support::*;

/// Texts that may stand in no log.
pub(crate) const SECRETS: [&str; 4] = [
    "a-very-secret-value",
    "0123456789abcdef",
    "anna.smith",
    "hunter22",
];
pub(crate) const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const CALLS_PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// A conversation with a bit of everything, and secrets everywhere.
pub(crate) fn conversation() -> Fake {
    let call = |meta: Value| {
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "peek",
            "arguments": {"token": "hunter22"}, "_meta": meta}})
    };
    Fake::new(json!([
        {"log_env": ["TRACEPARENT"]},
        {"expect": {"type": "user"}},
        {"stderr": "using sk-ant-api03-0123456789abcdef of anna.smith@corp.com\n"},
        {"emit_raw": "garbage a-very-secret-value and Bearer 0123456789abcdef\n"},
        {"emit": permission("a")}, answered("a"),
        {"emit": mcp("hello", "box", json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"}}}))},
        answered("hello"),
        {"emit": mcp("c1", "box", call(json!({"traceparent": CALLS_PARENT, "tracestate": "a=1"})))},
        answered("c1"),
        {"emit": mcp("c2", "box", call(json!({"traceparent": "nonsense"})))}, answered("c2"),
        {"emit": assistant("the key is sk-ant-api03-0123456789abcdef, a-very-secret-value")},
        {"emit": {"type": "result", "subtype": "success", "is_error": false,
            "result": "DB_PASSWORD=hunter22", "num_turns": 2, "session_id": "s", "uuid": "u",
            "total_cost_usd": 0.25, "usage": {"input_tokens": 11, "output_tokens": 5}}},
        {"expect": {"request": {"subtype": "set_model"}}}, {"answer": {}},
        {"expect_eof": true}
    ]))
    .env("MY_SERVICE_TOKEN", "a-very-secret-value")
    .set("traceparent", PARENT)
}

pub(crate) fn server(seen: &Arc<Mutex<Vec<Option<TraceContext>>>>) -> ToolServer {
    let mut server = ToolServer::new("box", "1.0");
    let seen = seen.clone();
    let peek = Tool::new("peek", "looks", r#"{"type":"object"}"#, move |call| {
        seen.lock().unwrap().push(call.trace_context());
        Reply::tool_error("no")
    });
    server.add(peek).unwrap();
    server
}

/// Runs the conversation to its end; returns the events.
pub(crate) fn converse(session: &Session) -> Vec<Event> {
    session
        .send("my password is in DB_PASSWORD=hunter22")
        .unwrap();
    let mut events = Vec::new();
    until(session, |event| {
        let over = matches!(event, Event::TurnEnded { .. });
        events.push(event);
        over.then_some(())
    });
    let limit = Some(LONG);
    session
        .request_wait("set_model", r#"{"model":"opus"}"#, limit)
        .unwrap();
    session.end_input().unwrap();
    events.extend(rest(session).0);
    events
}

pub(crate) fn assert_clean(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} stands in {what}: {text}");
    }
}

/// The records of the conversation, with what the tool saw.
fn logged(fake: &Fake, level: LogLevel) -> (Vec<LogRecord>, Vec<Option<TraceContext>>) {
    let records = Arc::new(Mutex::new(Vec::new()));
    let (seen, kept) = (Arc::new(Mutex::new(Vec::new())), records.clone());
    let poller = std::thread::current().id();
    let session = fake
        .builder()
        .on_permission(|_| Reply::deny("no"))
        .tool_server(server(&seen))
        .on_log(level, move |record: &LogRecord| {
            assert_eq!(std::thread::current().id(), poller);
            kept.lock().unwrap().push(record.clone());
        })
        .begin()
        .unwrap();
    let events = converse(&session);
    assert!(!events.iter().any(|event| matches!(event, Event::Stderr(_))));
    fake.check();
    drop(session);
    let records = records.lock().unwrap().clone();
    let seen = seen.lock().unwrap().clone();
    (records, seen)
}

fn fields(record: &LogRecord) -> Value {
    serde_json::from_str(&record.fields).unwrap()
}

#[test]
fn the_log_hook_hears_of_everything_and_of_no_secret() {
    let fake = conversation();
    let (records, _) = logged(&fake, LogLevel::Debug);
    let find = |target: &str, message: &str| {
        let found = records
            .iter()
            .find(|record| record.target == target && record.message.contains(message));
        found.unwrap_or_else(|| panic!("no {target} {message:?} in {records:#?}"))
    };
    let started = find("towline.session", "has started");
    assert!(fields(started)["pid"].is_u64() && fields(started)["spawned_ms"].is_f64());
    assert!(fields(find("towline.session", "is open"))["initialized_ms"].is_f64());
    assert!(find("towline.turn", "has begun").turn.is_some());
    let turn = find("towline.turn", "has ended: success");
    assert_eq!(turn.session_id.as_deref(), Some("s"));
    let told = fields(turn);
    assert_eq!(told["total_cost_usd"], 0.25);
    assert_eq!(told["input_tokens"], 11);
    assert_eq!(told["subtype"], "success");
    assert!(told["duration_ms"].as_f64().unwrap() > 0.0);
    let asked = find("towline.callback", "permission Bash: deny");
    assert_eq!(asked.turn, turn.turn);
    find("towline.callback", "tool mcp__box__peek: error");
    let request = fields(find("towline.request", "set_model"));
    assert_eq!(request["outcome"], "success");
    let garbage = find("towline.diagnostic", "no message");
    assert_eq!(garbage.level, LogLevel::Warn);
    assert_eq!(fields(garbage)["kind"], "not_a_message");
    assert!(
        garbage.message.contains("garbage [redacted]"),
        "{garbage:?}"
    );
    let stderr = find("towline.stderr", "using");
    assert_eq!(stderr.message, "using [redacted] of user@example.com");
    let ended = fields(find("towline.session", "has ended"));
    assert_eq!(ended["turns_succeeded"], 1);
    assert_eq!(ended["requests_received"], 3);
    assert_eq!(ended["diagnostics"], 1);
    assert!(!records.iter().any(|record| record.level > LogLevel::Debug));
    assert_clean("the log", &format!("{records:?}"));
}

#[test]
fn a_level_keeps_out_what_matters_less() {
    let (records, _) = logged(&conversation(), LogLevel::Warn);
    let targets: Vec<&str> = records.iter().map(|record| record.target).collect();
    assert_eq!(targets, ["towline.diagnostic"]);
}

#[test]
fn a_hook_that_panics_gets_no_more_and_the_session_goes_on() {
    let fake = conversation();
    let calls = Arc::new(Mutex::new(0));
    let count = calls.clone();
    let seen = Arc::default();
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .tool_server(server(&seen))
        .on_log(LogLevel::Debug, move |_: &LogRecord| {
            *count.lock().unwrap() += 1;
            panic!("cannot log");
        })
        .begin()
        .unwrap();
    let events = converse(&session);
    let told = events.iter().filter(
        |event| matches!(event, Event::Diagnostic(Diagnostic::HandlerFailed(text)) if text.contains("cannot log")),
    );
    assert_eq!(told.count(), 1, "{events:?}");
    assert_eq!(*calls.lock().unwrap(), 1);
}

#[test]
fn a_session_that_is_closed_and_dropped_has_told_its_end() {
    let fake = Fake::new(json!([{"on_eof": "ignore"}])).graces(50);
    let records = Arc::new(Mutex::new(Vec::new()));
    let kept = records.clone();
    let session = fake
        .builder()
        .on_log(LogLevel::Info, move |record: &LogRecord| {
            kept.lock().unwrap().push(record.message.clone());
        })
        .begin()
        .unwrap();
    session.connect(Some(LONG)).unwrap();
    session.close().unwrap();
    let records = records.lock().unwrap().join("\n");
    for text in [
        "closing the session: input_ended",
        "closing the session: terminated",
        "the session has ended",
    ] {
        assert!(records.contains(text), "{text:?} is not in {records}");
    }
}

#[test]
fn counters_count() {
    let fake = conversation();
    let seen = Arc::default();
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .tool_server(server(&seen))
        .begin()
        .unwrap();
    converse(&session);
    let stats = session.stats();
    let received = fake.received().len() as u64;
    assert_eq!(stats.lines_written, received);
    // One answer to initialize, the garbage, four requests, two messages, one answer.
    assert_eq!(stats.lines_read, 9);
    assert_eq!((stats.turns, stats.turns_succeeded), (1, 1));
    assert_eq!((stats.requests_sent, stats.requests_failed), (1, 0));
    assert_eq!((stats.requests_received, stats.requests_open), (3, 0));
    assert_eq!((stats.messages, stats.diagnostics), (2, 1));
    assert_eq!(stats.requests_pending, 0);
    assert!(stats.queue_high_water > 0 && stats.write_high_water > 0);
    let named: Vec<&str> = stats.counters().map(|(name, _)| name).collect();
    assert!(named.contains(&"turns_succeeded"));
}

#[test]
fn a_call_has_its_own_trace_context_or_that_of_the_session() {
    let fake = conversation();
    let (_, seen) = logged(&fake, LogLevel::Error);
    let [own, sessions] = seen.as_slice() else {
        panic!("two calls, not {seen:?}");
    };
    assert_eq!(*own, TraceContext::new(CALLS_PARENT, Some("a=1")));
    assert_eq!(*sessions, TraceContext::new(PARENT, None));
    assert_eq!(fake.logged("env")["env"]["TRACEPARENT"], PARENT);
}

#[test]
fn the_context_of_the_environment_is_the_sessions_too() {
    let state = "vendor=x";
    let script = json!([{"expect": {"type": "user"}}, {"emit": result()}]);
    let fake = Fake::new(script)
        .env("TRACEPARENT", PARENT)
        .env("TRACESTATE", state);
    let headers = vec![("traceparent".into(), CALLS_PARENT.into())];
    let session = fake.builder().trace_context(headers).begin().unwrap();
    let context = TraceContext::new(PARENT, Some(state));
    assert_eq!(session.trace_context(), context.as_ref());
    session.close().unwrap();
    let fake = Fake::new(json!([])).set("traceparent", "00-nonsense-01");
    let error = fake.builder().begin().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("traceparent: \"00-nonsense-01\""),
        "{error}"
    );
}

/// Lines of a wire log: what stands behind the time, in parts.
fn wire_lines(text: &str) -> Vec<(char, u64, String)> {
    let line = |line: &str| {
        let mut parts = line.splitn(5, ' ');
        let time = parts.next().unwrap();
        assert!(time.ends_with('Z') && time.len() == 27, "{line}");
        assert!(parts.next().unwrap().parse::<u32>().unwrap() > 1, "{line}");
        let mark = parts.next().unwrap().chars().next().unwrap();
        let length = parts.next().unwrap().parse().unwrap();
        (mark, length, parts.next().unwrap().to_string())
    };
    text.lines().map(line).collect()
}

#[test]
fn the_wire_log_shows_both_directions_without_secrets() {
    let long = "x".repeat(5000);
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"stderr": "warning about anna.smith@corp.com\n"},
        {"emit": assistant(&format!("{long} a-very-secret-value"))},
        {"emit_raw": "\u{1b}[31mgarbage 0123456789abcdef\n"},
        {"emit": result()}
    ]))
    .env("MY_SERVICE_TOKEN", "a-very-secret-value");
    let path = fake.path("wire.log");
    let fake = fake
        .set("wireLog", path.to_str().unwrap())
        .set("wireLogLineBytes", 300);
    for round in 1..3 {
        let session = fake.begin();
        session
            .send("the key: sk-ant-api03-0123456789abcdef")
            .unwrap();
        until_closed_after_input(&session);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_clean(
            "the wire log",
            &text.replace("garbage 0123456789abcdef", ""),
        );
        let lines = wire_lines(&text);
        let of = |mark: char| lines.iter().filter(move |line| line.0 == mark);
        // initialize and the prompt; its answer and three lines; a warning.
        assert_eq!(of('>').count(), round * 2, "{text}");
        assert_eq!(of('<').count(), round * 4, "{text}");
        assert_eq!(of('!').count(), round, "{text}");
        let cut = of('<').find(|line| line.2.contains("xxxx")).unwrap();
        assert!(
            cut.1 > 5000 && cut.2.len() <= 300 + 3 && cut.2.ends_with('…'),
            "{cut:?}"
        );
        assert!(
            of('<').any(|line| line.2.starts_with("\\u{1b}[31mgarbage")),
            "{text}"
        );
    }
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

fn until_closed_after_input(session: &Session) {
    session.end_input_when_settled().unwrap();
    until_closed(session);
}

#[test]
fn the_wire_log_cuts_secrets_at_no_place() {
    let script = json!([{"expect": {"type": "user"}}, {"emit": result()}]);
    for shown in [0, 1, 100, 120, 140, 150, 160, 180, 200] {
        let fake = Fake::new(script.clone()).env("MY_SERVICE_TOKEN", "a-very-secret-value");
        let path = fake.path("wire.log");
        let fake = fake
            .set("wireLog", path.to_str().unwrap())
            .set("wireLogLineBytes", shown);
        let session = fake.begin();
        let keys = "sk-ant-api03-0123456789abcdef a-very-secret-value ".repeat(4);
        let filler = "y".repeat(4096);
        session.send(&format!("{keys}{filler}{keys}")).unwrap();
        until_closed_after_input(&session);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_clean("the wire log", &text);
        assert!(
            !text.contains("a-very") && !text.contains("sk-ant"),
            "{shown}: {text}"
        );
    }
}

#[test]
fn the_wire_can_go_through_the_log_hook() {
    let fake = conversation().set("wireLog", "log");
    let (records, _) = logged(&fake, LogLevel::Trace);
    let wire: Vec<&LogRecord> = records
        .iter()
        .filter(|record| record.target == "towline.wire")
        .collect();
    let direction = |wanted: &str| {
        wire.iter()
            .filter(|r| fields(r)["direction"] == wanted)
            .count()
    };
    assert_eq!(direction("in"), fake.received().len());
    assert_eq!((direction("out"), direction("err")), (9, 1));
    assert_clean("the log", &format!("{records:?}"));
    // Without somebody who takes them it is said that there are none.
    let fake = Fake::new(json!([])).set("wireLog", "log");
    let session = fake.begin();
    let told = diagnostic(&session);
    assert!(told.to_string().starts_with("wireLog:"), "{told}");
    session.close().unwrap();
}

#[test]
fn a_full_disk_stops_the_wire_log_and_not_the_session() {
    let fake = conversation().set("wireLog", "/dev/full");
    let seen = Arc::default();
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .tool_server(server(&seen))
        .begin()
        .unwrap();
    let events = converse(&session);
    let told = events.iter().filter(
        |event| matches!(event, Event::Diagnostic(Diagnostic::NotRecorded(text)) if text.contains("wireLog")),
    );
    assert_eq!(told.count(), 1, "{events:?}");
    fake.check();
    let fake = fake.set("wireLog", "/nowhere/at/all");
    let error = fake.builder().begin().unwrap_err();
    assert!(
        matches!(error, Error::Start(StartError::WireLog { .. })),
        "{error}"
    );
}

/// The beginning of a key's lines, its body, its end.
fn key_lines() -> Vec<&'static str> {
    vec![
        "-----BEGIN RSA PRIVATE KEY-----",
        "MIIEGEHEIM",
        "bodyGEHEIM==",
        "-----END RSA PRIVATE KEY-----",
    ]
}

#[test]
fn a_private_key_that_comes_by_lines_stands_in_no_log() {
    let key = key_lines().join("\n");
    let token = format!("{} sk-ant-api03-0123456789abcdef", "y".repeat(65_526));
    let script = json!([
        {"expect": {"type": "user"}},
        {"stderr": format!("loading\n{key}\nloaded\n")},
        {"stderr": format!("{token}\n")},
        {"stderr": "{\"headers\":{\"x\":\"anna.smith\"}}\n"},
        {"emit_raw": format!("{key}\nplain\n")},
        {"emit": result()},
        {"stderr": format!("again\n{key}\n")},
        {"exit": 3}
    ]);
    for tail in [20, 60, 100_000] {
        let fake = Fake::new(script.clone());
        let path = fake.path("wire.log");
        let fake = fake
            .set("stderrTailBytes", tail)
            .set("wireLog", path.to_str().unwrap());
        let records = Arc::new(Mutex::new(Vec::new()));
        let kept = records.clone();
        let session = fake
            .builder()
            .on_log(LogLevel::Debug, move |record: &LogRecord| {
                kept.lock().unwrap().push(record.clone());
            })
            .begin()
            .unwrap();
        session.send("hi").unwrap();
        until_closed(&session);
        drop(session);
        let records = records.lock().unwrap().clone();
        let of = |target: &str| -> Vec<&str> {
            let found = records.iter().filter(|record| record.target == target);
            found.map(|record| record.message.as_str()).collect()
        };
        let stderr = of("towline.stderr");
        assert_eq!(stderr[0], "loading");
        assert_eq!(stderr[1..5], ["[redacted]"; 4]);
        assert_eq!(stderr[5], "loaded");
        let ended = of("towline.session").pop().unwrap();
        assert!(
            ended.contains("status 3") && ended.contains("again"),
            "{ended}"
        );
        assert_eq!(of("towline.diagnostic").len(), 5, "{records:?}");
        let wire = std::fs::read_to_string(&path).unwrap();
        for text in [format!("{records:?}"), wire] {
            assert!(!text.contains("GEHEIM"), "{text}");
            assert_clean("the log", &text);
        }
    }
}

#[test]
fn the_wire_log_hides_members_in_texts_that_it_cuts() {
    let inner = json!({"mcpServers": {"a": {"headers": {"x": "geheim one"}, "env": {"Y": "geheim"}}},
        "zfiller": "z".repeat(9000)});
    let twice = json!({ "settings": inner.to_string() }).to_string();
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": assistant(&inner.to_string())},
        {"emit": assistant(&twice)},
        {"emit_raw": format!("{{ geheim2 Bearer 0123456789abcdef {}\n", "z".repeat(9000))},
        {"emit": result()}
    ]));
    let path = fake.path("wire.log");
    let fake = fake.set("wireLog", path.to_str().unwrap());
    let session = fake.begin();
    session.send("hi").unwrap();
    until_closed_after_input(&session);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.contains("mcpServers") && text.contains("geheim2"),
        "{text}"
    );
    assert!(!text.replace("geheim2", "").contains("geheim"), "{text}");
    assert_clean("the wire log", &text);
}
