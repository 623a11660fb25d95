//! What goes on writing when the CLI has ended.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;
use towline::{Error, Event, Exit};

use crate::support::*;

/// A CLI that leaves a descendant of another group behind, which writes without end to `stream`;
/// it exits with status 3 once `go` exists.
fn leaving(stream: &str) -> Fake {
    let fake = Fake::new(json!([]));
    let script = fake.path("cli.sh");
    let text = format!(
        "#!/bin/sh\ncase \"$1\" in -v|--version) echo '2.1.332 (Claude Code)'; exit;; esac\n\
        setsid yes x >&{stream} &\nuntil [ -e '{}' ]; do sleep 0.01; done\nexit 3\n",
        fake.path("go").display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    fake.set("cliPath", script.to_str().unwrap()).graces(300)
}

/// What the process has left is told, and then its end: polls keep their limit, the flood is not
/// kept in memory.
fn ends_in_time(stream: &str) {
    const LIMIT: Duration = Duration::from_millis(200);
    let fake = leaving(stream);
    let session = fake.builder().on_stderr(|_| {}).begin().unwrap();
    let flooded = || session.stats().bytes_read > 0 || session.stats().stderr_bytes > 0;
    while !flooded() {
        session.poll(Some(LIMIT)).unwrap();
    }
    let before = resident_memory();
    std::fs::write(fake.path("go"), "").unwrap();
    let until = Instant::now() + LONG;
    let closed = loop {
        let begun = Instant::now();
        let event = session.poll(Some(LIMIT)).unwrap();
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(3), "a poll took {took:?}");
        if let Some(Event::Closed(closed)) = event {
            break closed;
        }
        assert!(Instant::now() < until, "no end in {LONG:?}");
    };
    assert_eq!(closed.failure.exit, Some(Exit::Code(3)));
    assert!(matches!(
        closed.error,
        Some(Error::ExitedBeforeInitialize(_))
    ));
    let grown = peak_memory().saturating_sub(before);
    assert!(grown < 100 << 20, "{grown} bytes more");
    let begun = Instant::now();
    drop(session);
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_descendant_that_floods_stdout() {
    in_child("flood::a_descendant_that_floods_stdout", || {
        ends_in_time("1")
    });
}

#[test]
fn a_descendant_that_floods_stderr() {
    in_child("flood::a_descendant_that_floods_stderr", || {
        ends_in_time("2")
    });
}

/// The same without a poll of the host.
#[test]
fn closing_behind_a_flood() {
    for stream in ["1", "2"] {
        let fake = leaving(stream);
        let session = fake.begin();
        std::fs::write(fake.path("go"), "").unwrap();
        let begun = Instant::now();
        session.close().unwrap();
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
        let begun = Instant::now();
        drop(session);
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
}

/// What a CLI left in its pipe when it exited is read as the host takes it, in order and all of it.
#[test]
fn what_is_left_is_read_as_it_is_taken() {
    const HIGH_WATER: u64 = 5_000;
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"repeat": 40, "steps": [{"emit_big": {"type": "system", "n": "$i", "fill": "@FILL@"},
            "bytes": 1000}]},
        {"emit": result()},
        {"exit": 0}
    ]))
    .set("highWaterBytes", HIGH_WATER);
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    let pid = pid_of(&session);
    session.send("x").unwrap();
    wait_for("its exit", || (!is_alive(pid)).then_some(()));
    let mut events = Vec::new();
    let closed = loop {
        match next(&session) {
            Event::Closed(closed) => break closed,
            event => events.push(event),
        }
    };
    assert!(closed.error.is_none(), "{closed:?}");
    let messages = messages(&events);
    let numbers: Vec<&str> = messages.iter().filter_map(|m| m["n"].as_str()).collect();
    let wanted: Vec<String> = (0..40).map(|n| n.to_string()).collect();
    assert_eq!(numbers, wanted);
    assert_eq!(messages.last().unwrap()["type"], "result");
    // One read more than the mark.
    let most = session.stats().queue_high_water;
    assert!(most < 40_000, "{most} bytes were kept");
}
