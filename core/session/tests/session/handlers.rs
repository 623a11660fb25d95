//! Requests of the CLI and who answers them.

use std::sync::{mpsc, Arc, Mutex};
use std::time::Duration;

use serde_json::{json, Value};
use towline::{
    CancelReason, Diagnostic, Error, Event, LocalError, OnFailure, Reply, RequestHandle,
    RequestKind,
};

use crate::support::*;

fn finished(session: &towline::Session) -> (Vec<Event>, towline::Closed) {
    message(session, "result");
    session.begin_close().unwrap();
    rest(session)
}

/// Asks once and ends.
fn asking(request: Value, id: &str) -> Fake {
    Fake::new(json!([{"emit": request}, answered(id), {"emit": result()}]))
}

#[test]
fn permissions_allowed_and_denied() {
    let fake = Fake::new(json!([
        {"emit": permission("a")}, answered("a"),
        {"emit": permission("b")}, answered("b"),
        {"emit": permission("c")}, answered("c"),
        {"emit": result()}
    ]));
    let mut replies = vec![
        Reply::Deny {
            message: "stop".into(),
            interrupt: true,
        },
        Reply::Allow {
            input: Some(r#"{"command":"true"}"#.into()),
            permissions: None,
        },
        Reply::allow(),
    ];
    let session = fake
        .builder()
        .on_permission(move |request| {
            assert_eq!(request.tool_name().as_deref(), Some("Bash"));
            replies.pop().unwrap()
        })
        .begin()
        .unwrap();
    finished(&session);
    fake.check();
    assert_eq!(
        answer_to(&fake, "a")["response"],
        json!({"behavior": "allow", "updatedInput": {"command": "ls"}, "toolUseID": "toolu_a"})
    );
    assert_eq!(
        answer_to(&fake, "b")["response"]["updatedInput"]["command"],
        "true"
    );
    assert_eq!(
        answer_to(&fake, "c")["response"],
        json!({"behavior": "deny", "message": "stop", "interrupt": true, "toolUseID": "toolu_c"})
    );
}

#[test]
fn a_handler_that_panics_denies() {
    let fake = asking(permission("p"), "p");
    let session = fake
        .builder()
        .on_permission(|_| std::panic::panic_any(String::from("oh no")))
        .begin()
        .unwrap();
    let diagnostic = diagnostic(&session);
    assert!(
        matches!(&diagnostic, Diagnostic::HandlerFailed(text) if text.contains("oh no")),
        "{diagnostic}"
    );
    finished(&session);
    let answer = answer_to(&fake, "p");
    assert_eq!(answer["response"]["behavior"], "deny");
}

#[test]
fn a_hook_that_panics_reports_an_error() {
    let fake = asking(hook("h", "hook_0"), "h");
    let session = fake
        .builder()
        .on_hook_with(
            "PreToolUse",
            None,
            Some(5.0),
            Some(OnFailure::Block),
            |_| std::panic::panic_any("no"),
        )
        .begin()
        .unwrap();
    finished(&session);
    let answer = answer_to(&fake, "h");
    assert_eq!(answer["subtype"], "error", "{answer}");
    let initialize = &fake.received()[0]["request"]["hooks"]["PreToolUse"][0];
    assert_eq!(initialize["onFailure"], "block");
}

/// What the CLI would take for something else is not sent.
#[test]
fn an_answer_that_does_not_fit_is_the_safe_one() {
    let fake = asking(permission("p"), "p");
    let session = fake
        .builder()
        .on_permission(|_| Reply::Json(r#"{"allowed":true}"#.into()))
        .begin()
        .unwrap();
    assert!(matches!(diagnostic(&session), Diagnostic::HandlerFailed(_)));
    finished(&session);
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "deny");
}

#[test]
fn answered_later_from_another_thread() {
    let fake = asking(permission("p"), "p");
    let (hand, take) = mpsc::channel::<RequestHandle>();
    let session = fake
        .builder()
        .on_permission(move |request| {
            hand.send(request.clone()).unwrap();
            Reply::Later
        })
        .begin()
        .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let request = take.recv_timeout(LONG).unwrap();
            assert!(!request.is_cancelled());
            request.allow().unwrap();
            assert!(request.is_cancelled());
            let again = request.allow().unwrap_err();
            assert!(
                matches!(again, Error::Local(LocalError::AlreadyAnswered)),
                "{again}"
            );
        });
        message(&session, "result");
    });
    session.close().unwrap();
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "allow");
}

#[test]
fn a_dropped_handle_is_the_safe_answer() {
    // From a handler that says later and keeps nothing.
    let fake = asking(permission("p"), "p");
    let session = fake
        .builder()
        .on_permission(|_| Reply::Later)
        .begin()
        .unwrap();
    finished(&session);
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "deny");

    // From an event that is dropped.
    for (request, id) in [(permission("q"), "q"), (hook("r", "hook_0"), "r")] {
        let fake = asking(request, id);
        let mut builder = fake.builder().permission_events();
        builder.add_hook("PreToolUse", None, None, None);
        let session = builder.begin().unwrap();
        finished(&session);
        let answer = answer_to(&fake, id);
        assert!(
            answer["subtype"] == "error" || answer["response"]["behavior"] == "deny",
            "{answer}"
        );
    }
}

#[test]
fn nobody_to_ask_denies() {
    let fake = Fake::new(json!([
        {"emit": permission("p")}, answered("p"),
        {"emit": hook("h", "unknown")}, answered("h"),
        {"emit": {"type": "control_request", "request_id": "n", "request": {"subtype": "news"}}},
        {"expect": {"response": {"request_id": "n", "subtype": "error"}}},
        {"emit": result()}
    ]));
    let session = fake.begin();
    finished(&session);
    fake.check();
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "deny");
    assert_eq!(answer_to(&fake, "h")["subtype"], "error");
}

#[test]
fn a_catch_all_gets_what_nobody_knows() {
    let fake = asking(
        json!({"type": "control_request", "request_id": "n", "request": {"subtype": "news", "x": 1}}),
        "n",
    );
    let session = fake
        .builder()
        .on_request(|request| {
            assert!(matches!(request.kind(), RequestKind::Other { subtype } if subtype == "news"));
            assert_eq!(request.pointer("/x"), Some("1"));
            Reply::Json(r#"{"y":2}"#.into())
        })
        .begin()
        .unwrap();
    finished(&session);
    assert_eq!(answer_to(&fake, "n")["response"], json!({"y": 2}));
}

#[test]
fn a_withdrawn_request() {
    let fake = Fake::new(json!([
        {"emit": permission("p")},
        {"expect": {"type": "user"}},
        {"emit": {"type": "control_cancel_request", "request_id": "p"}},
        {"emit": {"type": "control_cancel_request", "request_id": "unknown"}},
        {"expect": {"type": "user"}},
        {"expect_none": {"type": "control_response"}, "for_ms": 50},
        {"emit": result()}
    ]));
    let kept = Arc::new(Mutex::new(None));
    let keep = kept.clone();
    let session = fake
        .builder()
        .on_permission(move |request| {
            *keep.lock().unwrap() = Some(request.clone());
            Reply::Later
        })
        .begin()
        .unwrap();
    while kept.lock().unwrap().is_none() {
        session
            .poll(Some(std::time::Duration::from_millis(1)))
            .unwrap();
    }
    session.send("withdraw").unwrap();
    let (key, reason) = until(&session, |event| match event {
        Event::RequestCancelled { key, reason } => Some((key, reason)),
        _ => None,
    });
    let request = kept.lock().unwrap().take().unwrap();
    assert_eq!((key, reason), (request.key(), CancelReason::Withdrawn));
    assert!(request.is_cancelled());
    let error = request.allow().unwrap_err();
    assert!(
        matches!(error, Error::Local(LocalError::Withdrawn)),
        "{error}"
    );
    drop(request);
    session.send("go on").unwrap();
    finished(&session);
    fake.check();
}

/// Withdrawn while the handler is still to be called: it is not called.
#[test]
fn withdrawn_before_anybody_saw_it() {
    let fake = Fake::new(json!([
        {"emit_raw": format!("{}\n{}\n{}\n", permission("p"),
            json!({"type": "control_cancel_request", "request_id": "p"}), result())},
    ]));
    let session = fake
        .builder()
        .on_permission(|_| unreachable!("a withdrawn request"))
        .begin()
        .unwrap();
    let (events, _) = finished(&session);
    assert!(
        !events
            .iter()
            .any(|event| matches!(event, Event::Diagnostic(_))),
        "{events:?}"
    );
}

/// All callbacks of one event are sent at once and may be answered in any order.
#[test]
fn callbacks_under_one_matcher_are_numbered_on() {
    let registered = json!({"PreToolUse": [
        {"hookCallbackIds": ["hook_0"]},
        {"matcher": "Bash", "hookCallbackIds": ["hook_1", "hook_2"]},
        {"hookCallbackIds": ["hook_3"]}
    ]});
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "initialize", "hooks": registered}}}, {"answer": {}},
        {"emit": result()}
    ]));
    let mut builder = fake.builder();
    assert_eq!(builder.add_hook("PreToolUse", None, None, None), "hook_0");
    assert_eq!(
        builder.add_hooks("PreToolUse", Some("Bash"), None, None, 2),
        ["hook_1", "hook_2"]
    );
    assert_eq!(builder.add_hook("PreToolUse", None, None, None), "hook_3");
    let session = builder.begin().unwrap();
    until(&session, |event| {
        matches!(event, Event::Message { .. }).then_some(())
    });
}

#[test]
fn two_at_once_answered_out_of_order() {
    let fake = Fake::new(json!([
        {"emit": hook("h1", "hook_0")}, {"emit": hook("h2", "hook_1")},
        {"emit": permission("p1")}, {"emit": permission("p2")},
        answered("p2"), answered("h2"), answered("p1"), answered("h1"),
        {"emit": result()}
    ]));
    let mut builder = fake.builder().permission_events();
    let first = builder.add_hook("PreToolUse", Some("Bash"), None, None);
    let second = builder.add_hook("PreToolUse", None, None, None);
    assert_ne!(first, second);
    let session = builder.begin().unwrap();
    let mut requests = Vec::new();
    until(&session, |event| {
        if let Event::Request(request) = event {
            requests.push(request);
        }
        (requests.len() == 4).then_some(())
    });
    assert!(
        matches!(requests[0].kind(), RequestKind::Hook { callback_id } if *callback_id == first)
    );
    assert!(
        matches!(requests[1].kind(), RequestKind::Hook { callback_id } if *callback_id == second)
    );
    for request in requests.iter().rev() {
        match request.kind() {
            RequestKind::Permission => request.deny("no", false).unwrap(),
            _ => {
                let answer = format!(r#"{{"systemMessage":"{}"}}"#, request.key());
                request.respond(&towline::Answer::Json(&answer)).unwrap()
            }
        }
    }
    finished(&session);
    fake.check();
    assert_eq!(
        answer_to(&fake, "h2")["response"]["systemMessage"],
        requests[1].key().to_string()
    );
}

/// No lock is held while a handler runs: another thread may call the session meanwhile.
#[test]
fn other_threads_while_a_handler_runs() {
    let fake = Fake::new(json!([
        {"emit": permission("p")}, answered("p"), {"expect": {"type": "user"}}, {"emit": result()}
    ]));
    let (entered, in_handler) = mpsc::channel();
    let (leave, left) = mpsc::channel::<()>();
    let session = fake
        .builder()
        .on_permission(move |_| {
            entered.send(()).unwrap();
            left.recv_timeout(LONG).unwrap();
            Reply::allow()
        })
        .begin()
        .unwrap();
    std::thread::scope(|scope| {
        let session = &session;
        scope.spawn(move || {
            in_handler.recv_timeout(LONG).unwrap();
            session.send("x").unwrap();
            assert!(session.turn_open());
            assert!(matches!(
                session.poll(Some(Duration::ZERO)),
                Err(Error::Busy)
            ));
            leave.send(()).unwrap();
        });
        message(session, "result");
    });
    session.close().unwrap();
}

/// Handlers are served by calls that wait, too.
#[test]
fn a_handler_during_a_waiting_call() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "mcp_status"}}},
        {"emit": permission("p")},
        answered("p"),
        {"emit": {"type": "control_response", "response": {"subtype": "success",
            "request_id": "towline_2", "response": {}}}},
    ]));
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .begin()
        .unwrap();
    session.request_wait("mcp_status", "", Some(LONG)).unwrap();
    session.close().unwrap();
    fake.check();
}

/// As to a host that takes events: an answer by key.
#[test]
fn an_answer_by_key() {
    let fake = asking(permission("p"), "p");
    let session = fake.builder().permission_events().begin().unwrap();
    let handle = until(&session, |event| match event {
        Event::Request(handle) => Some(handle),
        _ => None,
    });
    let wrong = session
        .respond(handle.key(), &towline::Answer::Json("{}"))
        .unwrap_err();
    assert!(matches!(wrong, Error::Local(_)), "{wrong}");
    assert!(
        !handle.is_cancelled(),
        "a refused answer leaves the request open"
    );
    session
        .respond(
            handle.key(),
            &towline::Answer::Json(r#"{"behavior":"deny","message":"m"}"#),
        )
        .unwrap();
    drop(handle);
    finished(&session);
    assert_eq!(answer_to(&fake, "p")["response"]["message"], "m");
    let own = fake
        .received()
        .iter()
        .filter(|line| line["type"] == "control_response")
        .count();
    assert_eq!(own, 1);
}
