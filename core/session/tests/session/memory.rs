//! What a session costs.

use serde_json::json;
use towline::{Event, Watchdog};

use crate::support::*;

#[test]
fn an_idle_session_is_small() {
    in_child("memory::an_idle_session_is_small", || {
        const SESSIONS: usize = 60;
        let watchdog = Watchdog::default();
        let fake = Fake::bench("stream:20");
        let open = || {
            let session = fake.builder().watchdog(&watchdog).begin().unwrap();
            session.send("x").unwrap();
            message(&session, "result");
            while !matches!(next(&session), Event::TurnEnded { .. }) {}
            assert!(session
                .poll(Some(std::time::Duration::ZERO))
                .unwrap()
                .is_none());
            session
        };
        // What the first ones cost once and for all.
        let first: Vec<_> = (0..5).map(|_| open()).collect();
        let before = resident_memory();
        let sessions: Vec<_> = (0..SESSIONS).map(|_| open()).collect();
        let each = resident_memory().saturating_sub(before) / SESSIONS;
        println!("{each} bytes a session");
        assert!(each <= 64 * 1024, "{each} bytes a session");
        for session in first.iter().chain(&sessions) {
            session.begin_close().unwrap();
        }
    });
}

/// At most 1.2 times its size, from the pipe to the host's hands.
#[test]
fn a_line_of_a_hundred_mebibytes() {
    in_child("memory::a_line_of_a_hundred_mebibytes", || {
        const SIZE: usize = 100 << 20;
        let fake = Fake::new(json!([
            {"emit": assistant("before")},
            {"expect": {"type": "user"}},
            {"emit_big": {"type": "system", "fill": "@FILL@"}, "bytes": SIZE},
        ]))
        .set("maxLineBytes", 200 << 20);
        let session = fake.begin();
        message(&session, "assistant");
        let before = resident_memory();
        session.send("x").unwrap();
        let line = until(&session, |event| match event {
            Event::Message { message, .. } => Some(message),
            _ => None,
        });
        assert!(line.json().len() > SIZE);
        let grown = peak_memory() - before;
        println!(
            "{:.3} times the size of the line",
            grown as f64 / SIZE as f64
        );
        assert!(grown <= SIZE / 10 * 12, "{grown} bytes");
        session.close().unwrap();
    });
}

/// What was delivered is not kept.
#[test]
fn a_long_conversation_does_not_grow() {
    in_child("memory::a_long_conversation_does_not_grow", || {
        let fake = Fake::bench("stream:1000");
        let session = fake.begin();
        let turn = || {
            session.send("x").unwrap();
            message(&session, "result");
        };
        for _ in 0..20 {
            turn();
        }
        let before = resident_memory();
        for _ in 0..300 {
            turn();
        }
        let grown = resident_memory().saturating_sub(before);
        assert!(grown < 2 << 20, "{grown} bytes after 90 MB");
        session.close().unwrap();
    });
}

/// The longest line by default.
#[test]
fn lines_about_64_mib() {
    crate::sizes::lines_about(64 << 20, Fake::new);
}
