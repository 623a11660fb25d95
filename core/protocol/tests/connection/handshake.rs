//! The handshake and how it fails.

use towline_protocol::connection::{
    Config, Connection, Event, HandshakeFailure, Limits, LocalError, State,
};
use towline_protocol::control::envelope::UserMessage;

use crate::support::*;

#[test]
fn a_session_opens_although_its_input_has_ended() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    send(&mut connection, "a");
    connection.finish_when_settled(false);
    line(&mut connection, ANSWERED);
    let events = drain(&mut connection);
    assert!(matches!(events[0], Event::Initialized(_)), "{events:?}");
    assert_eq!(connection.cli_version(), Some("2.1.332"));
    line(
        &mut connection,
        r#"{"type":"result","is_error":true,"errors":["x"]}"#,
    );
    assert_eq!(connection.failure(), None, "an error of the turn");
    assert_eq!(connection.state(), State::Finishing);
}

#[test]
fn a_handshake_fails_by_an_error_result_after_the_end_of_the_input_too() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    send(&mut connection, "a");
    send(&mut connection, "b");
    connection.finish_when_settled(false);
    written(&mut connection);
    line(
        &mut connection,
        r#"{"type":"result","is_error":true,"errors":["No conversation found"]}"#,
    );
    assert_eq!(connection.state(), State::Failed);
    assert!(connection.wants_end_of_input());
}

#[test]
fn the_handshake_fails_by_refusal_error_result_or_time() {
    for (text, failure) in [
        (
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"towline_1","error":"no"}}"#,
            "no",
        ),
        (
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"]}"#,
            "No conversation found",
        ),
    ] {
        let mut connection = Connection::new(Config::default(), 0);
        connection.initialize("").unwrap();
        written(&mut connection);
        line(&mut connection, text);
        assert_eq!(connection.state(), State::Failed);
        let told = format!("{:?}", connection.failure().unwrap());
        assert!(told.contains(failure), "{told}");
        assert!(connection.wants_end_of_input());
        assert_eq!(
            connection.send_user(&UserMessage::text("x")),
            Err(LocalError::Ended)
        );
    }
    let limits = Limits {
        initialize: Some(500),
        ..Limits::default()
    };
    let mut connection = Connection::new(
        Config {
            limits,
            ..Config::default()
        },
        1000,
    );
    connection.initialize("").unwrap();
    assert_eq!(connection.deadline(), Some(1500));
    connection.handle_timeout(1499);
    assert_eq!(connection.failure(), None);
    connection.handle_timeout(1500);
    assert_eq!(connection.failure(), Some(&HandshakeFailure::TimedOut(500)));
    assert_eq!(connection.deadline(), None);
}
