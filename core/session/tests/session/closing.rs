//! The end of a session.

use std::os::fd::AsRawFd;
use std::sync::{mpsc, Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use towline::{Error, Event, Exit, LocalError, Reply, RequestHandle, Session, Tool, ToolServer};

use crate::support::*;

fn stubborn() -> Fake {
    Fake::new(
        json!([{"ignore_signals": ["SIGTERM"]}, {"emit": assistant("a")},
        {"on_eof": "ignore"}]),
    )
}

#[test]
fn an_idle_cli_ends_at_once() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    let begun = Instant::now();
    session.close().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(session.exit(), Some(Exit::Code(0)));
    assert!(until_closed(&session).error.is_none());
}

#[test]
fn a_cli_that_ignores_everything_is_killed() {
    let fake = stubborn()
        .set("closeGraceMs", 300)
        .set("terminateGraceMs", 200);
    let session = fake.begin();
    message(&session, "assistant");
    let begun = Instant::now();
    session.close().unwrap();
    let took = begun.elapsed();
    // There is no portable way to ask before.
    let least = if crate::PORTABLE { 300 } else { 500 };
    assert!(
        took >= Duration::from_millis(least) && took < Duration::from_secs(3),
        "{took:?}"
    );
    assert_eq!(session.exit(), Some(Exit::Signal(libc::SIGKILL)));
    let closed = until_closed(&session);
    assert!(
        closed.error.is_none(),
        "the host asked for it: {:?}",
        closed.error
    );
}

#[test]
fn a_cli_that_ignores_the_end_of_input_is_terminated() {
    let fake = Fake::new(json!([{"emit": assistant("a")}, {"on_eof": "ignore"}]))
        .set("closeGraceMs", 200)
        .set("terminateGraceMs", 60_000);
    let session = fake.begin();
    message(&session, "assistant");
    session.close().unwrap();
    let signal = match crate::PORTABLE {
        true => libc::SIGKILL,
        false => libc::SIGTERM,
    };
    assert_eq!(session.exit(), Some(Exit::Signal(signal)));
}

#[test]
fn a_cli_that_needs_time_gets_it() {
    let fake = Fake::new(json!([{"on_eof": "slow", "ms": 1500}]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    session.close().unwrap();
    assert_eq!(session.exit(), Some(Exit::Code(0)));
    assert!(fake.log().iter().any(|line| line["ev"] == "slow_exit_done"));
}

#[test]
fn closing_again_changes_nothing() {
    let fake = Fake::new(json!([{"emit": assistant("a")}]));
    let session = fake.begin();
    for _ in 0..3 {
        session.close().unwrap();
        session.begin_close().unwrap();
    }
    assert_eq!(messages(&rest(&session).0).len(), 1);
    session.close().unwrap();
    assert!(matches!(
        session.poll(Some(Duration::ZERO)),
        Err(Error::Closed)
    ));
}

#[test]
fn a_second_call_may_shorten_the_graces() {
    let fake = stubborn();
    let session = fake.begin();
    message(&session, "assistant");
    session.begin_close().unwrap();
    let begun = Instant::now();
    session
        .close_within(Some(Duration::from_millis(100)))
        .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert_eq!(session.exit(), Some(Exit::Signal(libc::SIGKILL)));

    // After SIGTERM too.
    let fake = stubborn()
        .set("closeGraceMs", 0)
        .set("terminateGraceMs", 60_000);
    let session = fake.begin();
    message(&session, "assistant");
    session.begin_close().unwrap();
    let polled = session.poll(Some(Duration::from_millis(100))).unwrap();
    // In the portable way it is not asked to end first.
    let over = matches!(polled, Some(Event::Closed(_)));
    assert!(crate::PORTABLE || !over, "{polled:?}");
    let begun = Instant::now();
    session
        .close_within(Some(Duration::from_millis(100)))
        .unwrap();
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn from_another_thread_while_one_polls() {
    let fake = Fake::new(json!([{"emit": assistant("a")}]));
    let session = fake.begin();
    std::thread::scope(|scope| {
        let (ready, polled) = mpsc::channel();
        let poller = scope.spawn({
            let session = &session;
            move || {
                message(session, "assistant");
                ready.send(()).unwrap();
                until_closed(session)
            }
        });
        polled.recv_timeout(LONG).unwrap();
        session.close().unwrap();
        assert!(session.exit().is_some());
        assert!(poller.join().unwrap().error.is_none());
    });
}

/// A poller that is between two polls when the close comes sees the end all the same.
#[test]
fn a_poller_is_never_told_that_it_is_in_the_way() {
    for _ in 0..20 {
        let fake = Fake::new(json!([
            {"repeat": 500, "steps": [{"emit": assistant("$i")}]}, {"on_eof": "slow", "ms": 20}
        ]));
        let session = fake.begin();
        std::thread::scope(|scope| {
            let poller = scope.spawn(|| {
                let mut count = 0;
                loop {
                    match next(&session) {
                        Event::Message { .. } => count += 1,
                        Event::Closed(_) => return count,
                        _ => {}
                    }
                }
            });
            session.connect(Some(LONG)).unwrap();
            session.close().unwrap();
            assert_eq!(poller.join().unwrap(), 500);
        });
    }
}

#[test]
fn in_a_handler() {
    let fake = Fake::new(json!([{"emit": hook("h", "hook_0")}]));
    let (told, heard) = mpsc::channel();
    let session: Arc<std::sync::OnceLock<Arc<Session>>> = Arc::default();
    let own = session.clone();
    let started = fake
        .builder()
        .on_hook("PreToolUse", None, move |_| {
            let session = own.get().unwrap();
            told.send((
                session.close().unwrap_err(),
                session.poll(None).unwrap_err(),
                session.connect(None).unwrap_err(),
                session.request_wait("interrupt", "", None).unwrap_err(),
            ))
            .unwrap();
            session.send("a prompt").unwrap();
            session.interrupt().unwrap();
            session.begin_close().unwrap();
            Reply::Json("{}".into())
        })
        .begin()
        .unwrap();
    let started = Arc::new(started);
    session.set(started.clone()).unwrap();
    let closed = until_closed(&started);
    assert!(closed.error.is_none());
    let (a, b, c, d) = heard.try_recv().unwrap();
    for error in [a, b, c, d] {
        assert!(matches!(error, Error::Reentrant), "{error}");
    }
    // What was queued before the end of input was still written.
    let received = fake.received();
    assert!(received.iter().any(|line| line["type"] == "user"));
}

#[test]
fn dropping_ends_the_process() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    let pid = pid_of(&session);
    drop(session);
    assert!(!is_alive(pid));
    fake.logged("eof");
}

#[test]
fn dropping_is_bounded() {
    let fake = stubborn();
    let session = fake.begin();
    message(&session, "assistant");
    let pid = pid_of(&session);
    let begun = Instant::now();
    drop(session);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(!is_alive(pid));
}

#[test]
fn a_waiter_is_woken() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| session.request_wait("mcp_status", "", None));
        wait_for("the request", || {
            fake.received()
                .iter()
                .any(|line| line["request"]["subtype"] == "mcp_status")
                .then_some(())
        });
        session.close().unwrap();
        let error = waiter.join().unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                Error::Request(towline::RequestError::SessionEnded { .. })
            ),
            "{error}"
        );
    });
}

/// `protocol.md §11`: a non-zero exit right after an error result is that result, no crash.
#[test]
fn exit_status_after_an_error_result() {
    let script = |last: serde_json::Value| json!([{"expect": {"type": "user"}}, {"emit": last}, {"exit": 1}]);
    let fake = Fake::new(script(error_result("max turns")));
    let session = fake.begin();
    session.send("x").unwrap();
    let closed = until_closed(&session);
    assert!(closed.error.is_none());
    assert_eq!(closed.failure.result, "max turns");
    assert_eq!(closed.failure.exit, Some(Exit::Code(1)));
    let fake = Fake::new(script(result()));
    let session = fake.begin();
    session.send("x").unwrap();
    assert!(matches!(
        until_closed(&session).error,
        Some(Error::Failed(_))
    ));
}

#[test]
fn open_requests_end_with_the_session() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect": {"request": {"subtype": "set_model"}}},
        {"emit": permission("p")},
        {"emit": error_result("out of credit")},
        {"emit": assistant("x")},
        {"exit": 1}
    ]));
    let session = fake.builder().permission_events().begin().unwrap();
    let turn = session.send("x").unwrap();
    let id = session.request("set_model", r#"{"model":"m"}"#).unwrap();
    let (events, _) = rest(&session);
    let mut handle = None;
    let (mut cancelled, mut answered, mut ended) = (false, false, 0);
    for event in events {
        match event {
            Event::Request(request) => handle = Some(request),
            Event::RequestCancelled { .. } => cancelled = true,
            Event::Response { id: of, result, .. } if of == id => {
                assert!(result.unwrap_err().to_string().contains("out of credit"));
                answered = true;
            }
            Event::TurnEnded { turn: of, .. } if of == turn => ended += 1,
            _ => {}
        }
    }
    assert!(cancelled && answered);
    assert_eq!(ended, 1);
    let handle = handle.unwrap();
    assert!(handle.is_cancelled());
    assert!(handle.allow().is_err());
}

/// A question nobody has answered yet is answered so that nothing passes, before the input ends.
#[test]
fn closing_answers_what_is_open() {
    let tool = mcp(
        "t",
        "calc",
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "add", "arguments": {}}}),
    );
    let fake = Fake::new(json!([
        {"emit": permission("p")},
        {"emit": hook("h", "hook_0")},
        {"emit": tool},
        answered("p"),
        answered("h"),
        answered("t"),
        {"expect_eof": true}
    ]));
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keep = |kept: &Arc<Mutex<Vec<RequestHandle>>>| {
        let kept = kept.clone();
        move |request: &RequestHandle| {
            kept.lock().unwrap().push(request.clone());
            Reply::Later
        }
    };
    let mut server = ToolServer::new("calc", "1");
    let schema = r#"{"type":"object"}"#;
    server
        .add(Tool::new("add", "d", schema, keep(&kept)))
        .unwrap();
    let session = fake
        .builder()
        .on_permission(keep(&kept))
        .on_hook("PreToolUse", None, keep(&kept))
        .tool_server(server)
        .begin()
        .unwrap();
    while kept.lock().unwrap().len() < 3 {
        session.poll(Some(Duration::from_millis(1))).unwrap();
    }
    session.close().unwrap();
    fake.check();
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "deny");
    assert_eq!(answer_to(&fake, "h")["subtype"], "error");
    let result = &answer_to(&fake, "t")["response"]["mcp_response"]["result"];
    assert_eq!(result["isError"], true, "{result}");
    for request in kept.lock().unwrap().iter() {
        assert!(request.is_cancelled());
        let late = request.allow().unwrap_err();
        assert!(
            matches!(late, Error::Local(LocalError::Withdrawn)),
            "{late}"
        );
    }
    let (events, _) = rest(&session);
    let cancelled = events
        .iter()
        .filter(|event| matches!(event, Event::RequestCancelled { .. }));
    assert_eq!(cancelled.count(), 3);
}

/// As long as it takes is an answer too.
#[test]
fn graces_without_end() {
    let fake = Fake::new(json!([{"on_eof": "slow", "ms": 300}]))
        .set("closeGraceMs", u64::MAX)
        .set("terminateGraceMs", u64::MAX);
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    session.close().unwrap();
    assert_eq!(session.exit(), Some(Exit::Code(0)));

    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    session.close_within(Some(Duration::MAX)).unwrap();
    assert_eq!(session.exit(), Some(Exit::Code(0)));
}

/// More than the socket holds is queued when the host closes: the CLI gets all of it, line by line.
#[test]
fn what_was_sent_is_written_before_the_end() {
    let fake = Fake::new(json!([{"expect": {"type": "user"}}]));
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    session.send(&"x".repeat(4_000_000)).unwrap();
    session.close().unwrap();
    assert_eq!(session.exit(), Some(Exit::Code(0)));
    fake.check();
    assert!(fake.received().iter().any(|line| line["type"] == "user"));
}

/// A host may keep a session that has ended, for what it tells.
#[test]
fn an_ended_session_holds_no_descriptor() {
    in_child("closing::an_ended_session_holds_no_descriptor", || {
        let fake = Fake::new(json!([]));
        let open = || {
            let session = fake.begin();
            session.connect(Some(LONG)).unwrap();
            session
        };
        let end = |session: &Session| {
            session.close().unwrap();
            assert!(until_closed(session).error.is_none());
        };
        let before = open_descriptors();
        // A thread of a portable transport may hold some for a moment yet.
        let none_left = || crate::PORTABLE || open_descriptors() == before;

        let session = open();
        end(&session);
        assert!(none_left());
        assert_eq!(session.exit(), Some(Exit::Code(0)));
        assert!(matches!(session.fd(), Err(Error::Closed)));
        assert!(matches!(session.watch(|_| ()), Err(Error::Closed)));
        session.wake().unwrap();

        // Watched: until the host says that it is not, before the end or after it.
        for sooner in [false, true] {
            let session = open();
            let number = session.watch(|fd| fd.as_raw_fd()).unwrap();
            if sooner {
                session.unwatch().unwrap();
                assert_eq!(session.watch(|fd| fd.as_raw_fd()).unwrap(), number);
                session.unwatch().unwrap();
            }
            end(&session);
            if !sooner {
                assert!(open_descriptors() > before);
                assert_eq!(session.watch(|fd| fd.as_raw_fd()).unwrap(), number);
            }
            session.unwatch().unwrap();
            assert!(none_left());
        }

        // Lent for as long as the session lives.
        let session = open();
        let number = session.fd().unwrap().as_raw_fd();
        end(&session);
        assert_eq!(session.fd().unwrap().as_raw_fd(), number);
        assert!(open_descriptors() > before);
        drop(session);
        assert!(none_left());
    });
}
