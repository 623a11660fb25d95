//! Prompts that wait in the host.

use towline_protocol::connection::{Config, Connection, Event};
use towline_protocol::control::envelope::{Priority, UserMessage};

use crate::support::*;

/// The uuids of the prompts among what was written.
fn prompts(connection: &mut Connection) -> Vec<String> {
    let lines = written(connection);
    let prompts = lines.iter().filter(|line| line["type"] == "user");
    prompts
        .map(|line| line["uuid"].as_str().unwrap().into())
        .collect()
}

#[test]
fn an_older_cli_gets_the_next_prompt_when_the_turn_before_is_over() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    for uuid in ["a", "b"] {
        send(&mut connection, uuid);
    }
    assert_eq!(prompts(&mut connection), ["a"], "not known yet");
    line(&mut connection, ANSWERED_BY_AN_OLDER_CLI);
    connection
        .send_user_json(
            r#"{"type":"user","message":{"role":"user","content":"x"}}"#,
            "c",
        )
        .unwrap();
    assert!(prompts(&mut connection).is_empty());
    let result = r#"{"type":"result","is_error":false}"#;
    for (index, next) in [&["b"][..], &["c"], &[]].into_iter().enumerate() {
        line(&mut connection, result);
        assert_eq!(ended(&drain(&mut connection)), [index as u64 + 1]);
        assert_eq!(prompts(&mut connection), next);
    }
    send(&mut connection, "d");
    assert_eq!(prompts(&mut connection), ["d"], "nothing is under way");
}

#[test]
fn a_cli_that_names_prompts_gets_them_as_they_come() {
    for answer in [
        ANSWERED.replace("{\"claude", "{\"commands\":[],\"capabilities\":[],\"claude"),
        ANSWERED.into(),
    ] {
        let mut connection = Connection::new(Config::default(), 0);
        connection.initialize("").unwrap();
        for uuid in ["a", "b"] {
            send(&mut connection, uuid);
        }
        assert_eq!(prompts(&mut connection), ["a"], "not known yet");
        line(&mut connection, &answer);
        send(&mut connection, "c");
        assert_eq!(prompts(&mut connection), ["b", "c"], "{answer}");
    }
}

#[test]
fn what_waits_goes_before_the_end_of_the_input() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    line(&mut connection, ANSWERED_BY_AN_OLDER_CLI);
    for uuid in ["a", "b"] {
        send(&mut connection, uuid);
    }
    connection.finish_input();
    assert_eq!(prompts(&mut connection), ["a"]);
    assert!(!connection.wants_end_of_input());
    line(&mut connection, r#"{"type":"result","is_error":false}"#);
    assert_eq!(prompts(&mut connection), ["b"]);
    assert!(connection.wants_end_of_input());
}

#[test]
fn an_urgent_prompt_does_not_wait_and_ends_in_its_turn() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    line(&mut connection, ANSWERED_BY_AN_OLDER_CLI);
    for uuid in ["a", "b"] {
        send(&mut connection, uuid);
    }
    let mut urgent = UserMessage::text("now");
    urgent.uuid = Some("c".into());
    urgent.priority = Some(Priority::Now);
    connection.send_user(&urgent).unwrap();
    assert_eq!(prompts(&mut connection), ["a", "c"]);
    drain(&mut connection);
    let mut next = || {
        line(&mut connection, r#"{"type":"result","is_error":false}"#);
        ended(&drain(&mut connection))
    };
    assert_eq!([next(), next(), next()], [[1], [3], [2]]);
}

#[test]
fn a_prompt_is_cancelled_where_it_waits() {
    let mut connection = Connection::new(Config::default(), 0);
    connection.initialize("").unwrap();
    line(&mut connection, ANSWERED_BY_AN_OLDER_CLI);
    let turns = ["a", "b", "c"].map(|uuid| send(&mut connection, uuid));
    drain(&mut connection);
    connection.cancel_turn(turns[1]).unwrap();
    assert_eq!(ended(&drain(&mut connection)), [2]);
    // This one the CLI has, and says that it had not begun.
    connection.cancel_turn(turns[0]).unwrap();
    assert_eq!(prompts(&mut connection), ["a"]);
    line(
        &mut connection,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"towline_3","response":{"cancelled":true}}}"#,
    );
    let events = drain(&mut connection);
    assert!(matches!(events[0], Event::Response { .. }), "{events:?}");
    assert_eq!(ended(&events), [1]);
    assert_eq!(prompts(&mut connection), ["c"]);
}
