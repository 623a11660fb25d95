//! A session in a loop of the host's own: the descriptor is readable whenever a poll would make
//! progress.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::{Error, Event, Reply, Session};

use crate::support::*;

fn readable(fd: BorrowedFd<'_>, limit: Duration) -> bool {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry.
    let found = unsafe { libc::poll(&mut entry, 1, limit.as_millis() as libc::c_int) };
    found == 1
}

/// Drives a session as an event loop would, one poll a wake-up, and checks the contract before
/// every poll: progress without a readable descriptor or a deadline that has passed is a bug.
pub(crate) fn drive(session: &Session, mut each: impl FnMut(&Event)) {
    let fd = session.fd().unwrap();
    let until = Instant::now() + LONG;
    loop {
        assert!(Instant::now() < until, "the loop makes no progress");
        let limit = session.next_timeout().unwrap();
        let ready = readable(fd, limit.unwrap_or(LONG).min(LONG));
        let due = limit.is_some_and(|limit| limit < LONG);
        assert!(
            ready || due,
            "nothing is ready and the session waits for nothing"
        );
        let stats = session.stats();
        match session.poll(Some(Duration::ZERO)).unwrap() {
            Some(Event::Closed(_)) => return,
            Some(event) => each(&event),
            None => {}
        }
        if session.stats() != stats {
            assert!(ready || due, "progress that the descriptor did not tell of");
        }
    }
}

fn random_script(random: &mut Random) -> (Value, usize) {
    let mut steps = vec![json!({"expect": {"type": "user"}})];
    let mut wanted = 0;
    for n in 0..random.below(12) + 1 {
        match random.below(7) {
            0 => {
                let id = format!("p{n}");
                steps.push(json!({"emit": permission(&id)}));
                steps.push(answered(&id));
            }
            1 => {
                let bytes = random.below(200_000);
                steps.push(
                    json!({"emit_big": {"type": "system", "fill": "@FILL@"}, "bytes": bytes}),
                );
                wanted += 1;
            }
            2 => {
                let count = random.below(200) + 1;
                steps.push(json!({"repeat": count, "steps": [{"emit": assistant("$i")}]}));
                wanted += count as usize;
            }
            3 => {
                let chunk = random.below(40) + 1;
                steps.push(json!({"emit": assistant("in pieces"), "chunk": chunk}));
                wanted += 1;
            }
            4 => steps.push(json!({"stderr": "some words\n", "times": random.below(2000)})),
            5 => steps.push(json!({"emit_raw": "not json\n"})),
            _ => {
                steps.push(json!({"sleep_ms": random.below(5)}));
                steps.push(json!({"emit": assistant("late")}));
                wanted += 1;
            }
        }
    }
    steps.push(json!({"emit": result()}));
    steps.push(match random.below(4) {
        0 => json!({"close_stdout": true}),
        1 => json!({"exit": 0}),
        2 => json!({"close_stderr": true}),
        _ => json!({"on_eof": "exit"}),
    });
    (steps.into(), wanted + 1)
}

#[test]
fn the_descriptor_tells_of_all_progress() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..40 {
        let (script, wanted) = random_script(&mut random);
        let fake = Fake::new(script.clone());
        let builder = fake.builder().stderr_events();
        let handled = round % 2 == 0;
        let session = match handled {
            true => builder.on_permission(|_| Reply::allow()).begin().unwrap(),
            false => builder.permission_events().begin().unwrap(),
        };
        session.send("go").unwrap();
        let mut count = 0;
        drive(&session, |event| match event {
            Event::Message { message, .. } => {
                count += 1;
                if message.message_type() == "result" {
                    session.begin_close().unwrap();
                }
            }
            Event::Request(request) => request.allow().unwrap(),
            _ => {}
        });
        fake.check();
        assert_eq!(count, wanted, "{script}");
    }
}

/// Calls of other threads reach a loop that sleeps on the descriptor.
#[test]
fn other_threads_wake_the_loop() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    let fd = session.fd().unwrap();
    while session.poll(Some(Duration::ZERO)).unwrap().is_some() {}
    while readable(fd, Duration::ZERO) {
        assert!(session.poll(Some(Duration::ZERO)).unwrap().is_none());
    }
    std::thread::scope(|scope| {
        scope.spawn(|| session.wake().unwrap());
        assert!(readable(fd, LONG));
    });
    assert!(session.poll(None).unwrap().is_none());
    // The whole close by another thread: the loop has to see the end.
    std::thread::scope(|scope| {
        scope.spawn(|| session.close().unwrap());
        let until = Instant::now() + LONG;
        loop {
            assert!(Instant::now() < until);
            let limit = session.next_timeout().unwrap().unwrap_or(LONG);
            readable(fd, limit);
            if let Some(Event::Closed(_)) = session.poll(Some(Duration::ZERO)).unwrap() {
                break;
            }
        }
    });
}

/// After a close there are events to read, and the descriptor says so.
#[test]
fn events_after_a_close_are_told_of() {
    let fake = Fake::new(json!([{"emit": assistant("a")}]));
    let session = fake.begin();
    let fd = session.fd().unwrap();
    session.close().unwrap();
    loop {
        assert!(readable(fd, Duration::ZERO), "there is something to poll");
        if let Some(Event::Closed(_)) = session.poll(Some(Duration::ZERO)).unwrap() {
            break;
        }
    }
    assert!(matches!(
        session.poll(Some(Duration::ZERO)),
        Err(Error::Closed)
    ));
}

/// A call that waits puts events aside; the loop is told of them.
#[test]
fn events_put_aside_are_told_of() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "mcp_status"}}},
        {"emit": assistant("aside")},
        {"answer": {}}
    ]));
    let session = fake.begin();
    let fd = session.fd().unwrap();
    session.request_wait("mcp_status", "", Some(LONG)).unwrap();
    let mut seen = false;
    while readable(fd, Duration::ZERO) {
        if let Some(Event::Message { .. }) = session.poll(Some(Duration::ZERO)).unwrap() {
            seen = true;
        }
    }
    assert!(seen);
    session.close().unwrap();
}

/// Readable only as long as there is something to do: otherwise a loop would spin.
#[test]
fn an_idle_session_is_not_readable() {
    let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"emit": result()}]));
    let session = fake.begin();
    let fd = session.fd().unwrap();
    session.send("x").unwrap();
    let mut result = false;
    while !result {
        assert!(readable(fd, LONG));
        while let Some(event) = session.poll(Some(Duration::ZERO)).unwrap() {
            result |= matches!(&event, Event::Message { message, .. } if message.message_type() == "result");
        }
    }
    let mut polls = 0;
    while readable(fd, Duration::from_millis(50)) {
        session.poll(Some(Duration::ZERO)).unwrap();
        polls += 1;
        assert!(polls < 5, "readable for nothing");
    }
    session.close().unwrap();
}

/// A host that answers between two polls is not made to poll for that; a deadline that comes of a
/// command is told of.
#[test]
fn an_answer_is_no_reason_to_poll() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": permission("p")},
        answered("p"),
    ]));
    let session = fake.builder().permission_events().start().unwrap();
    let fd = session.fd().unwrap();
    session.send("x").unwrap();
    let mut asked = None;
    while asked.is_none() {
        assert!(readable(fd, LONG));
        while let Some(event) = session.poll(Some(Duration::ZERO)).unwrap() {
            if let Event::Request(handle) = event {
                asked = Some(handle);
            }
        }
    }
    session.next_timeout().unwrap();
    assert!(!readable(fd, Duration::ZERO));
    asked.unwrap().allow().unwrap();
    assert!(!readable(fd, Duration::from_millis(50)));

    session.request("mcp_status", "").unwrap();
    assert!(readable(fd, Duration::ZERO), "its time limit is news");
    session.close().unwrap();
}
