//! Deadlines.

use towline_protocol::connection::{
    CancelReason, Config, Event, Limits, RequestError, TurnDeadline, TurnOutcome,
};

use crate::support::*;

#[test]
fn each_deadline_has_its_own_report() {
    let limits = Limits {
        control_request: Some(100),
        first_message: Some(200),
        idle: Some(300),
        turn: Some(1000),
        handler: Some(400),
        ..Limits::default()
    };
    let mut connection = open(Config {
        limits,
        ..Config::default()
    });
    let id = connection.request("get_settings", "").unwrap();
    assert_eq!(connection.deadline(), Some(100));
    connection.handle_timeout(100);
    let events = drain(&mut connection);
    assert!(
        matches!(&events[..], [Event::Response { id: of, result: Err(RequestError::TimedOut { limit_ms: 100, .. }), .. }] if *of == id),
        "{events:?}"
    );
    assert_eq!(
        written(&mut connection)[1]["type"],
        "control_cancel_request"
    );

    let turn = send(&mut connection, "a");
    connection.handle_timeout(300);
    let timed_out = |deadline| Event::TurnEnded {
        turn,
        outcome: TurnOutcome::TimedOut(deadline),
    };
    assert_eq!(
        drain(&mut connection),
        [timed_out(TurnDeadline::FirstMessage)]
    );
    assert_eq!(
        written(&mut connection)[1]["request"]["subtype"],
        "interrupt"
    );
    line(
        &mut connection,
        r#"{"type":"result","is_error":true,"errors":[],"user_message_uuid":"a"}"#,
    );
    let events = drain(&mut connection);
    assert_eq!(
        (turns_of(&events), ended(&events)),
        (vec![Some(1)], vec![]),
        "reported once"
    );

    let turn = send(&mut connection, "b");
    line(
        &mut connection,
        r#"{"type":"assistant","message":{},"user_message_uuid":"b"}"#,
    );
    line(&mut connection, PERMISSION);
    drain(&mut connection);
    connection.handle_timeout(650);
    assert_eq!(
        drain(&mut connection),
        [],
        "the host is waited for: that is not idleness"
    );
    connection.handle_timeout(700);
    let events = drain(&mut connection);
    assert!(
        matches!(
            events[0],
            Event::RequestCancelled {
                reason: CancelReason::TimedOut,
                ..
            }
        ),
        "{events:?}"
    );
    assert_eq!(
        events.len(),
        1,
        "silence counts from the answer: {events:?}"
    );
    connection.handle_timeout(999);
    assert_eq!(drain(&mut connection), []);
    connection.handle_timeout(1000);
    let timed_out = Event::TurnEnded {
        turn,
        outcome: TurnOutcome::TimedOut(TurnDeadline::Idle),
    };
    assert_eq!(drain(&mut connection), [timed_out]);
    let answers = written(&mut connection);
    let denied = answers
        .iter()
        .find(|line| line["type"] == "control_response")
        .unwrap();
    assert_eq!(denied["response"]["response"]["behavior"], "deny");
}
