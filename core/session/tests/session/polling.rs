//! Polling and waiting calls on one thread.

use std::time::{Duration, Instant};

use serde_json::json;
use towline::{Error, Event, RequestError};

use crate::support::*;

#[test]
fn a_limit_is_kept() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    until(&session, |event| {
        matches!(event, Event::Initialized(_)).then_some(())
    });
    let begun = Instant::now();
    assert!(session
        .poll(Some(Duration::from_millis(80)))
        .unwrap()
        .is_none());
    let took = begun.elapsed();
    assert!(
        took >= Duration::from_millis(80) && took < Duration::from_secs(5),
        "{took:?}"
    );
    let begun = Instant::now();
    assert!(session.poll(Some(Duration::ZERO)).unwrap().is_none());
    assert!(begun.elapsed() < Duration::from_secs(1));
    session.close().unwrap();
}

/// Three hundred unread messages stand before the answer.
#[test]
fn a_control_call_behind_unread_messages() {
    let fake = Fake::new(json!([
        {"repeat": 300, "steps": [{"emit_big": {"type": "system", "n": "$i", "fill": "@FILL@"},
            "bytes": 10_000}]},
        {"expect": {"request": {"subtype": "interrupt"}}},
        {"answer": {"still_queued": []}}
    ]))
    .set("highWaterBytes", 100_000);
    let session = fake.begin();
    let answer = session.request_wait("interrupt", "", Some(LONG)).unwrap();
    assert_eq!(answer.payload(), r#"{"still_queued":[]}"#);
    session.begin_close().unwrap();
    let (events, _) = rest(&session);
    let numbers: Vec<String> = messages(&events)
        .iter()
        .map(|message| message["n"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(numbers, (0..300).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn control_calls_succeed_fail_and_time_out() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "set_model", "model": "m"}}},
        {"emit_raw": "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"towline_2\"}}\n"},
        {"expect": {"request": {"subtype": "set_permission_mode"}}},
        {"answer_error": "no such mode"},
        {"expect": {"request": {"subtype": "mcp_status"}}, "save": "1"},
        {"expect": {"type": "control_cancel_request", "request_id": "towline_4"}},
        {"answer_error": "aborted"},
        {"expect": {"request": {"subtype": "get_settings"}}},
        {"expect": {"type": "control_cancel_request", "request_id": "towline_5"}},
        {"emit": assistant("end")}
    ]))
    .set("controlTimeoutMs", 300);
    let session = fake.begin();
    let answer = session
        .request_wait("set_model", r#"{"model":"m"}"#, None)
        .unwrap();
    assert_eq!(answer.payload(), "{}");
    let error = session
        .request_wait("set_permission_mode", r#"{"mode":"x"}"#, None)
        .unwrap_err();
    let Error::Request(RequestError::Remote(remote)) = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (remote.message.as_str(), remote.subtype.as_str()),
        ("no such mode", "set_permission_mode")
    );
    // The caller's own limit: the request is withdrawn, and its late answer goes nowhere.
    let error = session
        .request_wait("mcp_status", "", Some(Duration::from_millis(50)))
        .unwrap_err();
    assert!(matches!(error, Error::TimedOut { limit_ms: 50 }), "{error}");
    // The limit of the options.
    let error = session.request_wait("get_settings", "", None).unwrap_err();
    assert!(
        matches!(&error, Error::Request(RequestError::TimedOut { subtype, limit_ms: 300 })
            if subtype == "get_settings"),
        "{error}"
    );
    let before_end = until(&session, |event| match event {
        Event::Message { .. } => Some(true),
        Event::Diagnostic(diagnostic) => panic!("{diagnostic}"),
        Event::Response { .. } => Some(false),
        _ => None,
    });
    assert!(before_end);
    session.close().unwrap();
    fake.check();
}

/// The CLI answers a withdrawn request all the same (`protocol.md §3`): no reason for a diagnostic.
#[test]
fn the_answer_to_a_request_that_timed_out() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "mcp_status"}}},
        {"expect": {"type": "control_cancel_request"}},
        {"answer_error": "aborted"},
        {"emit": assistant("end")}
    ]))
    .set("controlTimeoutMs", 100);
    let session = fake.begin();
    let id = session.request("mcp_status", "").unwrap();
    let mut results = Vec::new();
    until(&session, |event| match event {
        Event::Response { id: of, result, .. } if of == id => {
            results.push(result);
            None
        }
        Event::Diagnostic(diagnostic) => panic!("{diagnostic}"),
        Event::Message { .. } => Some(()),
        _ => None,
    });
    assert!(
        matches!(results[..], [Err(RequestError::TimedOut { .. })]),
        "{results:?}"
    );
    session.close().unwrap();
}

#[test]
fn a_request_taken_back() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "mcp_status"}}},
        {"expect": {"type": "control_cancel_request", "request_id": "towline_2"}},
        {"answer_error": "aborted"},
    ]));
    let session = fake.begin();
    let id = session.request("mcp_status", "").unwrap();
    assert!(session.cancel_request(id).unwrap());
    let result = until(&session, |event| match event {
        Event::Response { id: of, result, .. } if of == id => Some(result),
        _ => None,
    });
    assert!(matches!(result, Err(RequestError::Remote(_))));
    assert!(!session.cancel_request(id).unwrap());
    session.close().unwrap();
}

/// The pipe, not the host's memory, holds what a slow reader has not read.
#[test]
fn a_slow_reader_is_felt_by_the_cli() {
    let fake = Fake::new(json!([
        {"emit": assistant("first")},
        {"repeat": 2000, "steps": [{"emit_big": {"type": "system", "fill": "@FILL@"}, "bytes": 10_000}]},
    ]))
    .set("highWaterBytes", 200_000);
    let session = fake.begin();
    message(&session, "assistant");
    for _ in 0..20 {
        next(&session);
    }
    // 20 MB in all; what has been read is what was asked for, a pipe's content and one buffer.
    let read = session.stats().bytes_read;
    assert!(read < 1 << 20, "{read} bytes read");
    let closed = {
        session.begin_close().unwrap();
        until_closed(&session)
    };
    assert!(closed.error.is_none());
}

#[test]
fn turns_are_told_apart() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user", "message": {"content": "one"}}},
        {"expect": {"type": "user", "message": {"content": "two"}}},
        {"emit": assistant("1")}, {"emit": result()},
        {"emit": assistant("2")}, {"emit": result()},
    ]));
    let session = fake.begin();
    let one = session.send("one").unwrap();
    let two = session.send("two").unwrap();
    assert!(session.turn_open());
    let mut seen = Vec::new();
    until(&session, |event| match event {
        Event::Message { turn, .. } => {
            seen.push(turn);
            None
        }
        Event::TurnEnded { turn, .. } => (turn == two).then_some(()),
        _ => None,
    });
    assert_eq!(seen, [Some(one), Some(one), Some(two), Some(two)]);
    assert!(!session.turn_open());
    assert_eq!(session.session_id().as_deref(), Some("s"));
    session.close().unwrap();
}

/// Events that wait for the next poll are no reason to look for the time in a circle.
#[test]
fn a_waiting_call_keeps_its_limit_and_does_not_spin() {
    let fake = Fake::new(json!([{"repeat": 20, "steps": [{"emit": assistant("$i")}]}]));
    let session = fake.begin();
    let busy = thread_cpu_time();
    let begun = Instant::now();
    let limit = Duration::from_millis(400);
    let error = session
        .request_wait("mcp_status", "", Some(limit))
        .unwrap_err();
    assert!(
        matches!(error, Error::TimedOut { limit_ms: 400 }),
        "{error}"
    );
    let took = begun.elapsed();
    assert!(took >= limit && took < Duration::from_secs(5), "{took:?}");
    let used = thread_cpu_time() - busy;
    assert!(
        used < Duration::from_millis(150),
        "{used:?} of processor time"
    );
    session.close().unwrap();
}

/// What a batch may weigh bounds what is read for it: the pipe keeps the rest.
#[test]
fn a_small_batch_reads_little() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"repeat": 2000, "steps": [{"emit_big": {"type": "system", "n": "$i", "fill": "@FILL@"}, "bytes": 1000}]},
    ]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    session.send("x").unwrap();
    const SMALL: usize = 16 << 10;
    let mut found = 0;
    let mut events = Vec::new();
    while found < 2000 {
        let before = session.stats().bytes_read;
        let more = session.poll_batch(usize::MAX, SMALL, &mut events).unwrap();
        let read = session.stats().bytes_read - before;
        assert!(read <= SMALL as u64, "{read} bytes read");
        let weight: usize = events
            .iter()
            .map(|event| match event {
                Event::Message { message, .. } => message.json().len(),
                _ => 0,
            })
            .sum();
        assert!(weight <= SMALL + 4096, "{weight} bytes given");
        found += messages(&events).len();
        events.clear();
        if !more && found < 2000 {
            let event = session.poll(Some(LONG)).unwrap().unwrap();
            found += messages(&[event]).len();
        }
    }
    session.close().unwrap();
}
