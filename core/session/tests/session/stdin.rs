//! Writing to the CLI.

use std::time::Duration;

use serde_json::json;
use towline::{Error, LocalError};

use crate::support::*;

/// SIGPIPE is at its default here, so a write that raised it would end the process.
#[test]
fn a_closed_stdin_raises_no_signal() {
    in_child("stdin::a_closed_stdin_raises_no_signal", || {
        // SAFETY: the default action runs no code of ours.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"close_stdin": true},
            {"emit": {"type": "system", "subtype": "closed"}}, {"expect": {"never": 1}}]))
        .graces(100);
        let session = fake.begin();
        session.send("one").unwrap();
        message(&session, "system");
        let error = loop {
            match session.send("two") {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(
            matches!(error, Error::Local(LocalError::InputLost)),
            "{error}"
        );
        session.close().unwrap();
    });
}

#[test]
fn a_write_after_the_end_is_an_error() {
    let fake = Fake::new(json!([{"exit": 0}]));
    let session = fake.begin();
    until_closed(&session);
    for error in [
        session.send("x").unwrap_err(),
        session.request("interrupt", "").unwrap_err(),
        session
            .request_wait("interrupt", "", Some(LONG))
            .unwrap_err(),
    ] {
        assert!(
            matches!(
                error,
                // Whether initialize was answered before the exit is a matter of luck.
                Error::ExitedBeforeInitialize(_) | Error::Local(LocalError::Ended)
            ),
            "{error}"
        );
    }
    assert!(matches!(session.poll(None), Err(Error::Closed)));
    session.close().unwrap();

    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.end_input().unwrap();
    let error = session.send("x").unwrap_err();
    assert!(
        matches!(error, Error::Local(LocalError::InputFinished)),
        "{error}"
    );
}

/// Neither side may wait for the other: the CLI writes before it reads.
#[test]
fn a_cli_that_writes_much_before_it_reads_much() {
    let fake = Fake::new(json!([
        {"ignore_stdin": true},
        {"emit_big": {"type": "system", "subtype": "big", "fill": "@FILL@"}, "bytes": 256 * 1024},
        {"read_stdin": true},
        {"expect": {"type": "user"}, "timeout_ms": 20000},
        {"emit": result()}
    ]));
    let session = fake.begin();
    session.send(&"p".repeat(2 << 20)).unwrap();
    assert_eq!(
        message(&session, "system")["fill"].as_str().unwrap().len(),
        256 * 1024
    );
    message(&session, "result");
    session.close().unwrap();
    fake.check();
}

#[test]
fn a_queue_at_its_limit_refuses() {
    let fake = Fake::new(json!([{"ignore_stdin": true}]))
        .set("maxQueuedBytes", 1 << 20)
        .graces(50);
    let session = fake.begin();
    let prompt = "p".repeat(256 * 1024);
    let error = (0..100)
        .find_map(|_| session.send(&prompt).err())
        .expect("a limit");
    let Error::Local(LocalError::QueueFull { queued, limit }) = error else {
        panic!("{error}");
    };
    assert_eq!(limit, 1 << 20);
    assert!(queued > limit && queued < limit + (1 << 20), "{queued}");
    // Nothing was lost but what was refused: the session still closes.
    session.close().unwrap();
}

#[test]
fn writes_of_many_threads_do_not_mix() {
    let fake = Fake::new(
        json!([{"repeat": 400, "steps": [{"expect": {"type": "user"}}]},
        {"emit": result()}]),
    );
    let session = fake.begin();
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let session = &session;
            scope.spawn(move || {
                for n in 0..100 {
                    session
                        .send(&format!("{name}{n} {}", name.repeat(2000)))
                        .unwrap();
                }
            });
        }
        message(&session, "result");
    });
    session.close().unwrap();
    fake.check();
    let prompts: Vec<String> = fake
        .received()
        .iter()
        .filter(|line| line["type"] == "user")
        .map(|line| line["message"]["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(prompts.len(), 400);
    for name in ["a", "b", "c", "d"] {
        let own: Vec<&String> = prompts
            .iter()
            .filter(|text| text.starts_with(name))
            .collect();
        let wanted: Vec<String> = (0..100)
            .map(|n| format!("{name}{n} {}", name.repeat(2000)))
            .collect();
        assert_eq!(own, wanted.iter().collect::<Vec<_>>());
    }
}

/// A prompt sent before the handshake is over, and the end of input right behind it.
#[test]
fn input_that_ends_during_the_handshake() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect_eof": true},
        {"emit": {"type": "control_response", "response": {"subtype": "success",
            "request_id": "towline_1", "response": {"claude_code_version": "9.9.9"}}}},
        {"emit": result()},
        {"exit": 0},
        {"expect": {"request": {"subtype": "initialize"}}}
    ]));
    let session = fake.begin();
    session.send("x").unwrap();
    session.end_input().unwrap();
    session.connect(Some(LONG)).unwrap();
    let (events, closed) = rest(&session);
    assert_eq!(messages(&events).last().unwrap()["type"], "result");
    assert!(closed.error.is_none(), "{:?}", closed.error);
    fake.check();
}

#[test]
fn a_failed_handshake_after_the_end_of_input() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect_eof": true},
        {"emit": error_result("no such conversation")},
        {"exit": 1},
        {"expect": {"request": {"subtype": "initialize"}}}
    ]));
    let session = fake.begin();
    session.send("x").unwrap();
    session.end_input().unwrap();
    let error = session.connect(Some(LONG)).unwrap_err();
    assert!(
        matches!(&error, Error::ExitedBeforeInitialize(failure)
        if failure.result == "no such conversation"),
        "{error}"
    );
}

#[test]
fn a_stalled_cli_does_not_stall_the_host() {
    let fake = Fake::new(json!([{"ignore_stdin": true}])).graces(50);
    let session = fake.begin();
    session.send(&"p".repeat(1 << 20)).unwrap();
    let busy = thread_cpu_time();
    assert!(session
        .poll(Some(Duration::from_millis(300)))
        .unwrap()
        .is_none());
    let used = thread_cpu_time() - busy;
    assert!(used < Duration::from_millis(100), "{used:?}");
    session.close().unwrap();
}
