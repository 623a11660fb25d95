//! Turns: what belongs to which, and how each ends.

use towline_protocol::connection::{Config, Event, LocalError, TurnOutcome};
use towline_protocol::control::envelope::UserMessage;

use crate::support::*;

#[test]
fn the_leftovers_of_an_interrupted_turn_are_its_own() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    line(
        &mut connection,
        r#"{"type":"command_lifecycle","command_uuid":"a","state":"started"}"#,
    );
    send(&mut connection, "b");
    line(
        &mut connection,
        r#"{"type":"command_lifecycle","command_uuid":"b","state":"queued"}"#,
    );
    line(
        &mut connection,
        r#"{"type":"assistant","message":{},"user_message_uuid":"a"}"#,
    );
    line(&mut connection, r#"{"type":"user","message":{}}"#);
    line(
        &mut connection,
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["x"],"user_message_uuid":"a"}"#,
    );
    line(
        &mut connection,
        r#"{"type":"command_lifecycle","command_uuid":"a","state":"cancelled"}"#,
    );
    line(
        &mut connection,
        r#"{"type":"command_lifecycle","command_uuid":"b","state":"started"}"#,
    );
    line(&mut connection, r#"{"type":"assistant","message":{}}"#);
    let events = drain(&mut connection);
    assert_eq!(
        turns_of(&events),
        [
            Some(1),
            Some(2),
            Some(1),
            Some(1),
            Some(1),
            Some(1),
            Some(2),
            Some(2)
        ]
    );
    assert_eq!(ended(&events), [1]);
    assert_eq!(connection.last_error(), "x");
}

#[test]
fn merged_prompts_share_their_result() {
    let mut connection = open(Config::default());
    for uuid in ["a", "b", "c"] {
        send(&mut connection, uuid);
    }
    line(
        &mut connection,
        r#"{"type":"result","is_error":false,"user_message_uuids":["a"]}"#,
    );
    line(
        &mut connection,
        r#"{"type":"result","is_error":false,"user_message_uuid":"c","user_message_uuids":["b","c"]}"#,
    );
    assert_eq!(ended(&drain(&mut connection)), [1, 2, 3]);
    assert!(!connection.turn_open());
}

#[test]
fn a_background_turn_ends_no_prompt() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    line(
        &mut connection,
        r#"{"type":"result","is_error":false,"origin":{"kind":"task-notification"}}"#,
    );
    let events = drain(&mut connection);
    assert_eq!((turns_of(&events), ended(&events)), (vec![None], vec![]));
    line(&mut connection, r#"{"type":"result","is_error":false}"#);
    assert_eq!(ended(&drain(&mut connection)), [1]);
}

#[test]
fn an_older_cli_names_nobody_and_the_oldest_turn_is_meant() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    send(&mut connection, "b");
    for _ in 0..2 {
        line(&mut connection, r#"{"type":"assistant","message":{}}"#);
        line(&mut connection, r#"{"type":"result","is_error":false}"#);
    }
    let events = drain(&mut connection);
    assert_eq!(turns_of(&events), [Some(1), Some(1), Some(2), Some(2)]);
    assert_eq!(ended(&events), [1, 2]);
}

#[test]
fn a_cancelled_prompt_ends_without_a_result() {
    let mut connection = open(Config::default());
    let turn = send(&mut connection, "a");
    let id = connection.cancel_turn(turn).unwrap();
    assert_eq!(written(&mut connection)[1]["request"]["message_uuid"], "a");
    line(
        &mut connection,
        r#"{"type":"command_lifecycle","command_uuid":"a","state":"cancelled"}"#,
    );
    let events = drain(&mut connection);
    assert!(events.contains(&Event::TurnEnded {
        turn,
        outcome: TurnOutcome::Cancelled
    }));
    assert_eq!(
        connection.cancel_turn(turn),
        Err(LocalError::UnknownTurn(turn))
    );
    assert!(connection.cancel_request(id));
}

#[test]
fn a_uuid_is_used_once() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    let mut message = UserMessage::text("again");
    message.uuid = Some("a".into());
    assert_eq!(
        connection.send_user(&message),
        Err(LocalError::DuplicateUuid("a".into()))
    );
    let json = r#"{"type":"user","message":{"role":"user","content":"x"},"uuid":"a"}"#;
    assert_eq!(
        connection.send_user_json(json, "f"),
        Err(LocalError::DuplicateUuid("a".into()))
    );
}

#[test]
fn a_message_given_as_json_gets_a_uuid() {
    let mut connection = open(Config::default());
    for (json, uuid) in [
        (
            r#"{"type":"user","message":{"role":"user","content":"x"}}"#,
            "fresh1",
        ),
        (
            r#"{"type":"user","message":{"role":"user","content":"x"},"uuid":"own"}"#,
            "own",
        ),
    ] {
        connection.send_user_json(json, "fresh1").unwrap();
        assert_eq!(written(&mut connection)[0]["uuid"], uuid);
    }
    for bad in [
        "[]",
        "{",
        r#"{"type":"user"}"#,
        r#"{"type":"user","message":{"role":"user","content":5}}"#,
    ] {
        assert!(connection.send_user_json(bad, "fresh2").is_err(), "{bad}");
        assert!(connection.outgoing().is_empty());
    }
}
