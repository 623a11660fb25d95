//! Deadlines, each with its own outcome.

use serde_json::json;
use towline::{
    Answer, CancelReason, Error, Event, LocalError, RequestHandle, Session, TurnDeadline, TurnId,
    TurnOutcome,
};

use crate::support::*;

fn turn_end(session: &Session) -> (TurnId, TurnOutcome) {
    until(session, |event| match event {
        Event::TurnEnded { turn, outcome } => Some((turn, outcome)),
        _ => None,
    })
}

fn timed_out(session: &Session, wanted: TurnDeadline) {
    let turn = session.send("x").unwrap();
    let (ended, outcome) = turn_end(session);
    assert_eq!(ended, turn);
    assert_eq!(outcome, TurnOutcome::TimedOut(wanted));
}

fn interrupted() -> serde_json::Value {
    json!({"expect": {"request": {"subtype": "interrupt"}}})
}

#[test]
fn the_first_message_of_a_turn() {
    let fake = Fake::new(
        json!([{"expect": {"type": "user"}}, interrupted(), {"answer": {}},
        {"emit": error_result("interrupted")}]),
    )
    .set("firstMessageTimeoutMs", 150);
    let session = fake.begin();
    timed_out(&session, TurnDeadline::FirstMessage);
    // What still comes carries the turn's id, and the turn ends only once.
    let turn = until(&session, |event| match event {
        Event::Message { message, turn } if message.message_type() == "result" => Some(turn),
        _ => None,
    });
    assert!(turn.is_some());
    session.begin_close().unwrap();
    let (events, _) = rest(&session);
    assert!(!events
        .iter()
        .any(|event| matches!(event, Event::TurnEnded { .. })));
    fake.check();
}

#[test]
fn silence_within_a_turn() {
    let fake = Fake::new(
        json!([{"expect": {"type": "user"}}, {"emit": assistant("a")},
        interrupted(), {"answer": {}}, {"emit": error_result("interrupted")}]),
    )
    .set("idleTimeoutMs", 150);
    let session = fake.begin();
    timed_out(&session, TurnDeadline::Idle);
    message(&session, "result");
    session.close().unwrap();
    fake.check();
}

#[test]
fn a_whole_turn() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"repeat": 40, "steps": [{"emit": assistant("a")}, {"sleep_ms": 20}]},
        interrupted(),
    ]))
    .set("turnTimeoutMs", 200)
    .set("idleTimeoutMs", 10_000);
    let session = fake.begin();
    timed_out(&session, TurnDeadline::Turn);
    session.close().unwrap();
}

fn permission_after(steps: serde_json::Value) -> serde_json::Value {
    let mut script = vec![json!({"expect": {"type": "user"}})];
    script.extend(steps.as_array().unwrap().iter().cloned());
    script.extend([
        json!({"emit": permission("p")}),
        answered("p"),
        json!({"emit": result()}),
    ]);
    script.into()
}

fn take_request(session: &Session) -> RequestHandle {
    until(session, |event| match event {
        Event::Request(request) => Some(request),
        Event::TurnEnded { outcome, .. } => panic!("{outcome:?}"),
        _ => None,
    })
}

/// The time a host takes to answer is not the CLI's silence; it starts anew with the answer.
#[test]
fn a_host_that_thinks_is_no_silence() {
    for script in [
        permission_after(json!([{"emit": assistant("a")}])),
        permission_after(json!([])),
    ] {
        let fake = Fake::new(script)
            .set("idleTimeoutMs", 400)
            .set("firstMessageTimeoutMs", 400);
        let session = fake.builder().permission_events().begin().unwrap();
        session.send("x").unwrap();
        let request = take_request(&session);
        let thinking = std::time::Duration::from_millis(700);
        assert!(session.poll(Some(thinking)).unwrap().is_none());
        request.allow().unwrap();
        let (_, outcome) = turn_end(&session);
        assert!(matches!(outcome, TurnOutcome::Result(_)), "{outcome:?}");
        session.close().unwrap();
        fake.check();
    }
}

/// A prompt that waits for the turn before it is not late.
#[test]
fn a_prompt_in_the_queue_is_not_late() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"expect": {"type": "user"}},
        {"repeat": 15, "steps": [{"emit": assistant("a")}, {"sleep_ms": 50}]},
        {"emit": result()},
        {"emit": assistant("b")},
        {"emit": result()}
    ]))
    .set("firstMessageTimeoutMs", 400);
    let session = fake.begin();
    let turns = [session.send("one").unwrap(), session.send("two").unwrap()];
    for turn in turns {
        let (ended, outcome) = turn_end(&session);
        assert_eq!(ended, turn);
        assert!(matches!(outcome, TurnOutcome::Result(_)), "{outcome:?}");
    }
    session.close().unwrap();
    fake.check();
}

/// And one behind a turn that has hung is, in its turn.
#[test]
fn a_prompt_behind_a_hung_turn() {
    let fake = Fake::new(json!([{"expect": {"type": "user"}}, interrupted()]))
        .set("firstMessageTimeoutMs", 150);
    let session = fake.begin();
    let turns = [session.send("one").unwrap(), session.send("two").unwrap()];
    for turn in turns {
        let late = TurnOutcome::TimedOut(TurnDeadline::FirstMessage);
        assert_eq!(turn_end(&session), (turn, late));
    }
    session.close().unwrap();
}

#[test]
fn a_handler_that_is_late() {
    let fake = Fake::new(json!([{"emit": permission("p")}, answered("p"), {"emit": result()}]))
        .set("handlerTimeoutMs", 150);
    let session = fake.builder().permission_events().begin().unwrap();
    let request = take_request(&session);
    let (key, reason) = until(&session, |event| match event {
        Event::RequestCancelled { key, reason } => Some((key, reason)),
        _ => None,
    });
    assert_eq!((key, reason), (request.key(), CancelReason::TimedOut));
    assert!(request.is_cancelled());
    let late = request.respond(&Answer::Error("late")).unwrap_err();
    assert!(
        matches!(late, Error::Local(LocalError::Withdrawn)),
        "{late}"
    );
    message(&session, "result");
    session.close().unwrap();
    assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "deny");
}

#[test]
fn next_timeout_tells_of_them() {
    let fake = Fake::new(json!([])).set("turnTimeoutMs", 60_000);
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    while session
        .poll(Some(std::time::Duration::ZERO))
        .unwrap()
        .is_some()
    {}
    assert_eq!(session.next_timeout().unwrap(), None);
    session.send("x").unwrap();
    let left = session.next_timeout().unwrap().unwrap();
    assert!(left.as_secs() >= 50 && left.as_secs() <= 60, "{left:?}");
    session.close().unwrap();
}
