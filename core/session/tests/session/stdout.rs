//! Reading the CLI's output.

use std::time::Duration;

use serde_json::json;
use towline::{Diagnostic, Error, Event};

use crate::support::*;

#[test]
fn lines_that_are_no_messages_become_diagnostics() {
    let fake = Fake::new(json!([
        {"emit_raw": "debug: starting\n"},
        {"emit_raw": "\n  \n"},
        {"emit_raw": "{\"type\":\"assistant\",\n"},
        {"emit_raw": "[1,2]\n{}\n"},
        {"emit_raw_b64": "eyJ0eXBlIjoic3lzdGVtIiwieCI6ImH/In0K"},
        {"emit": assistant("after")},
    ]));
    let session = fake.begin();
    let mut seen = Vec::new();
    let text = until(&session, |event| match event {
        Event::Diagnostic(diagnostic) => {
            seen.push(diagnostic);
            None
        }
        Event::Message { message, .. } if message.message_type() == "assistant" => {
            Some(message.json().to_owned())
        }
        _ => None,
    });
    assert!(text.contains("after"));
    let skipped: Vec<&str> = seen
        .iter()
        .filter_map(|diagnostic| match diagnostic {
            Diagnostic::NotAMessage { line, .. } => Some(line.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        skipped,
        ["debug: starting", "{\"type\":\"assistant\",", "[1,2]", "{}"]
    );
    assert!(seen.contains(&Diagnostic::NotUtf8 {
        message_type: "system".into()
    }));
    session.close().unwrap();
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    let fake = Fake::new(json!([
        // By then it has answered `initialize`.
        {"expect": {"type": "user"}},
        {"emit_big": {"type": "system", "fill": "@FILL@"}, "bytes": 300_000},
        {"emit": assistant("after")},
        {"expect": {"type": "user"}},
        {"emit": result()}
    ]))
    .set("maxLineBytes", 100_000);
    let session = fake.begin();
    session.send("x").unwrap();
    let Diagnostic::LineTooLong { length, limit } = diagnostic(&session) else {
        panic!("another diagnostic");
    };
    assert!(length > 300_000 && limit == 100_000, "{length} {limit}");
    message(&session, "assistant");
    session.send("still there?").unwrap();
    message(&session, "result");
    session.close().unwrap();
}

/// Without the answer there is no session; nothing else would tell of it for a minute.
#[test]
fn an_answer_over_the_limit_fails_the_start() {
    let fake = Fake::new(json!([])).set("maxLineBytes", 10);
    let session = fake.begin();
    let error = session.connect(Some(LONG)).unwrap_err();
    let Error::InitializeTooLong { length, limit, .. } = &error else {
        panic!("{error}");
    };
    assert!(*length > 10 && *limit == 10, "{error}");
    assert!(error.to_string().contains("maxLineBytes"));
    assert!(matches!(
        until_closed(&session).error,
        Some(Error::InitializeTooLong { .. })
    ));
}

#[test]
fn small_and_cut_writes_give_the_same_messages() {
    let text = "é".repeat(50) + "\u{1F600}";
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": assistant(&text), "chunk": 1},
        {"emit": assistant("b"), "eol": "\r\n"},
        {"emit_raw": format!("{}\n{}\n", assistant("c"), assistant("d"))},
        {"emit": assistant("last"), "eol": ""},
        {"exit": 0}
    ]));
    let session = fake.begin();
    session.send("x").unwrap();
    let (events, closed) = rest(&session);
    let texts: Vec<String> = messages(&events)
        .iter()
        .map(|message| {
            message["message"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(texts, [text.as_str(), "b", "c", "d", "last"]);
    assert!(closed.error.is_none());
}

/// The CLI has closed its output and lives on: nothing is left to wait for, and nobody spins.
#[test]
fn a_closed_stdout_is_no_busy_loop() {
    let fake = Fake::new(
        json!([{"ignore_signals": ["SIGTERM"]}, {"emit": assistant("a")},
        {"close_stdout": true}, {"on_eof": "ignore"}]),
    )
    .set("closeGraceMs", 400)
    .set("terminateGraceMs", 400);
    let session = fake.begin();
    let busy = thread_cpu_time();
    let closed = until_closed(&session);
    let used = thread_cpu_time() - busy;
    assert!(
        used < Duration::from_millis(200),
        "{used:?} of processor time"
    );
    assert!(!closed.failure.exit.unwrap().success());
}

#[test]
fn close_works_when_stdout_is_closed() {
    let fake = Fake::new(json!([{"close_stdout": true}]));
    let session = fake.begin();
    session.close().unwrap();
    assert!(session.exit().is_some());
}

/// Exit is not the end of output: all that the CLI wrote is delivered, though somebody else still
/// holds its stdout.
#[test]
fn a_grandchild_that_holds_stdout() {
    let lines: String = (0..200)
        .map(|n| format!("{}\n", assistant(&n.to_string())))
        .collect();
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"spawn_child": 60},
        {"emit_raw": lines},
        {"emit": result()},
        {"exit": 0}
    ]));
    let session = fake.begin();
    session.send("x").unwrap();
    let begun = std::time::Instant::now();
    let (events, closed) = rest(&session);
    assert!(begun.elapsed() < Duration::from_secs(10));
    let messages = messages(&events);
    assert_eq!(messages.len(), 201);
    assert_eq!(messages[200]["type"], "result");
    assert!(closed.error.is_none());
    let child = fake.logged("child")["pid"].as_u64().unwrap();
    if crate::PORTABLE {
        // Nobody has looked after it.
        // SAFETY: no memory is involved; the process was started by this test's CLI.
        assert_eq!(
            unsafe { libc::kill(child as libc::pid_t, libc::SIGKILL) },
            0
        );
    }
    // It was in the CLI's group, and went with it.
    wait_for("the end of the grandchild", || {
        (!is_alive(child)).then_some(())
    });
}

#[test]
fn closing_does_not_wait_for_a_grandchild() {
    let fake = Fake::new(json!([{"spawn_child": 60}, {"emit": assistant("a")}]));
    let session = fake.begin();
    message(&session, "assistant");
    let begun = std::time::Instant::now();
    session.close().unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn five_thousand_unread_messages() {
    let fake = Fake::new(json!([
        {"repeat": 5000, "steps": [{"emit": {"type": "system", "subtype": "n", "n": "$i"}}]},
        {"touch": "DONE"},
    ]));
    let done = fake.path("done");
    let text = std::fs::read_to_string(fake.path("script.json")).unwrap();
    std::fs::write(
        fake.path("script.json"),
        text.replace("DONE", done.to_str().unwrap()),
    )
    .unwrap();
    let session = fake.begin();
    // The CLI cannot finish before it is read from, and closing reads.
    session.close().unwrap();
    assert!(done.exists());
    let (events, closed) = rest(&session);
    let numbers: Vec<String> = messages(&events)
        .iter()
        .map(|message| message["n"].as_str().unwrap().to_owned())
        .collect();
    let wanted: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
    assert_eq!(numbers, wanted);
    assert!(closed.error.is_none());
    assert_eq!(session.stats().shed, 0);
}
