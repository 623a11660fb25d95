//! One session, several threads.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::json;
use towline::{Error, Event};

use crate::support::*;

#[test]
fn two_polls_at_once() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    until(&session, |event| {
        matches!(event, Event::Initialized(_)).then_some(())
    });
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| session.poll(Some(LONG)));
        let busy = wait_for("a busy session", || {
            session.poll(Some(Duration::ZERO)).err()
        });
        assert!(matches!(busy, Error::Busy), "{busy}");
        session.wake().unwrap();
        assert!(poller.join().unwrap().unwrap().is_none());
    });
    session.close().unwrap();
}

#[test]
fn waking_a_poll() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    until(&session, |event| {
        matches!(event, Event::Initialized(_)).then_some(())
    });
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| {
            let begun = Instant::now();
            let event = session.poll(None).unwrap();
            (event.is_none(), begun.elapsed())
        });
        // Whether it waits yet or not: a wake is not lost.
        session.wake().unwrap();
        let (woken, took) = poller.join().unwrap();
        assert!(woken && took < LONG);
    });
    session.close().unwrap();
}

/// A wake is for the poll, not for a call that waits for its answer.
#[test]
fn a_wake_does_not_disturb_a_waiting_call() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "mcp_status"}}},
        {"expect": {"type": "user"}},
        {"emit": {"type": "control_response", "response": {"subtype": "success",
            "request_id": "towline_2", "response": {"a": 1}}}},
    ]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| session.request_wait("mcp_status", "", Some(LONG)));
        wait_for("the request", || {
            fake.received()
                .iter()
                .any(|line| line["request"]["subtype"] == "mcp_status")
                .then_some(())
        });
        for _ in 0..20 {
            session.wake().unwrap();
        }
        session.send("now").unwrap();
        assert_eq!(waiter.join().unwrap().unwrap().payload(), r#"{"a":1}"#);
    });
    session.close().unwrap();
    fake.check();
}

/// Calls that wait and a thread that polls: each answer reaches its caller, each message the
/// poller, and nobody is told to go away.
#[test]
fn waiting_calls_while_one_polls() {
    const CALLS: usize = 25;
    let fake = Fake::new(json!([
        {"repeat": 4 * CALLS, "steps": [
            {"expect": {"request": {"subtype": "echo"}}},
            {"answer": {"id": "$rid"}},
            {"emit": assistant("$i")},
        ]},
        {"emit": result()},
    ]));
    let session = fake.begin();
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| {
            let mut count = 0;
            loop {
                match next(&session) {
                    Event::Message { message, .. } if message.message_type() == "result" => {
                        return count
                    }
                    Event::Message { .. } => count += 1,
                    Event::Response { .. } => panic!("an answer that somebody waits for"),
                    _ => {}
                }
            }
        });
        let callers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..CALLS)
                        .map(|_| {
                            let answer = session.request_wait("echo", "", Some(LONG)).unwrap();
                            answer.payload().to_owned()
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut answers: Vec<String> = callers
            .into_iter()
            .flat_map(|caller| caller.join().unwrap())
            .collect();
        answers.sort();
        answers.dedup();
        assert_eq!(answers.len(), 4 * CALLS, "an answer went to two callers");
        assert_eq!(poller.join().unwrap(), 4 * CALLS);
    });
    // No call may depend on a time slice running out.
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    session.close().unwrap();
    fake.check();
}

/// A waiting call hands the events over to a poll that comes while it waits.
#[test]
fn a_poll_while_a_call_waits() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "slow"}}},
        {"emit": assistant("meanwhile")},
        {"expect": {"type": "user"}},
        {"answer": {}}
    ]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| session.request_wait("slow", "", Some(LONG)));
        wait_for("the request", || {
            fake.received()
                .iter()
                .any(|line| line["request"]["subtype"] == "slow")
                .then_some(())
        });
        assert_eq!(message(&session, "assistant")["type"], "assistant");
        session.send("go on").unwrap();
        waiter.join().unwrap().unwrap();
    });
    session.close().unwrap();
    fake.check();
}

#[test]
fn sends_reach_a_cli_that_a_blocked_poller_watches() {
    let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"emit": result()}]));
    let session = fake.begin();
    std::thread::scope(|scope| {
        let (ready, connected) = mpsc::channel();
        let poller = scope.spawn({
            let session = &session;
            move || {
                until(session, |event| {
                    matches!(event, Event::Initialized(_)).then_some(())
                });
                ready.send(()).unwrap();
                message(session, "result")
            }
        });
        connected.recv_timeout(LONG).unwrap();
        session.send("x").unwrap();
        poller.join().unwrap();
    });
    session.close().unwrap();
}
