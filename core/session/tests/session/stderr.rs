//! What the CLI writes to stderr.

use std::sync::{Arc, Mutex};

use serde_json::json;
use towline::{Error, Event, Exit};

use crate::support::*;

#[test]
fn it_is_drained_though_nobody_asked() {
    let fake = Fake::new(json!([
        {"stderr": "0123456789abcdef", "times": 65_536},
        {"emit": result()},
        {"exit": 1}
    ]));
    let session = fake.begin();
    let closed = until_closed(&session);
    assert_eq!(closed.failure.stderr.len(), 64 * 1024);
    assert!(closed.failure.stderr.ends_with("abcdef"));
    assert_eq!(session.stats().stderr_bytes, 1 << 20);
}

#[test]
fn its_end_stands_in_the_error() {
    let fake = Fake::new(
        json!([{"expect": {"type": "user"}}, {"stderr": "panic: no disk\n"},
        {"exit": 7}]),
    )
    .set("stderrTailBytes", 8);
    let session = fake.begin();
    session.send("x").unwrap();
    let closed = until_closed(&session);
    let Some(Error::Failed(failure)) = &closed.error else {
        panic!("{:?}", closed.error);
    };
    assert_eq!(failure.exit, Some(Exit::Code(7)));
    assert_eq!(failure.stderr, "no disk\n");
    assert!(closed.error.unwrap().to_string().contains("no disk"));
}

#[test]
fn lines_are_joined_and_the_rest_is_flushed() {
    let script = json!([
        {"stderr": "one"}, {"stderr": " line\r\ntwo\n\n"},
        {"stderr_b64": "/w=="}, {"stderr": "x", "times": 100_000}, {"stderr": "tail"},
        {"exit": 0}
    ]);
    let wanted = |lines: &[String]| {
        assert_eq!(lines[..3], ["one line", "two", ""]);
        let long = lines[3..].concat();
        assert_eq!(long.chars().next(), Some('\u{fffd}'));
        assert!(long.ends_with("xxxtail"), "{long:.20}");
        assert_eq!(long.chars().count(), 1 + 100_000 + 4);
        assert!(lines[3..].iter().all(|line| line.len() <= 64 * 1024 + 2));
    };
    let fake = Fake::new(script.clone());
    let session = fake.builder().stderr_events().begin().unwrap();
    let (events, _) = rest(&session);
    let lines: Vec<String> = events
        .into_iter()
        .filter_map(|event| match event {
            Event::Stderr(line) => Some(line),
            _ => None,
        })
        .collect();
    wanted(&lines);

    let fake = Fake::new(script);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = lines.clone();
    let session = fake
        .builder()
        .on_stderr(move |line| seen.lock().unwrap().push(line.to_owned()))
        .begin()
        .unwrap();
    until_closed(&session);
    wanted(&lines.lock().unwrap());
}

#[test]
fn a_handler_that_panics_does_not_stop_the_lines() {
    let fake = Fake::new(json!([{"stderr": "a\nb\nc\n"}, {"exit": 0}]));
    let count = Arc::new(Mutex::new(0));
    let seen = count.clone();
    let session = fake
        .builder()
        .on_stderr(move |_| {
            *seen.lock().unwrap() += 1;
            std::panic::panic_any("no more");
        })
        .begin()
        .unwrap();
    let (events, _) = rest(&session);
    let diagnostics = events
        .iter()
        .filter(|event| matches!(event, Event::Diagnostic(_)));
    assert_eq!(diagnostics.count(), 3);
    let seen = count
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    assert_eq!(*seen, 3);
}

/// A flood during closing is no reason for the host to grow.
#[test]
fn a_flood_while_closing_is_bounded() {
    in_child("stderr::a_flood_while_closing_is_bounded", || {
        let fake = Fake::new(json!([
            {"emit": assistant("a")},
            {"expect_eof": true},
            {"stderr": format!("{}\n", "e".repeat(199)), "times": 500_000},
        ]))
        .set("highWaterBytes", 1 << 20)
        .set("closeGraceMs", 20_000);
        let session = fake.builder().stderr_events().begin().unwrap();
        message(&session, "assistant");
        session.close().unwrap();
        assert_eq!(session.stats().stderr_bytes, 100_000_000);
        let peak = peak_memory();
        assert!(peak < 40 << 20, "{peak} bytes at the peak");
        assert!(session.stats().shed > 0);
        until_closed(&session);
    });
}
