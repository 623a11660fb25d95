//! Single prompts: when the input ends by itself.

use towline_protocol::connection::{Config, LocalError};
use towline_protocol::control::envelope::UserMessage;

use crate::support::*;

#[test]
fn a_single_prompt_ends_the_input_when_nothing_needs_the_host() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    connection.finish_when_settled(false);
    assert!(
        !connection.wants_end_of_input(),
        "what is queued goes first"
    );
    written(&mut connection);
    assert!(connection.wants_end_of_input());
    assert_eq!(
        connection.send_user(&UserMessage::text("x")),
        Err(LocalError::InputFinished)
    );
}

/// A host that has waited for the results before it says that there are no more prompts.
#[test]
fn the_input_ends_at_once_when_all_has_settled_before() {
    let result = r#"{"type":"result","is_error":false}"#;
    let started =
        r#"{"type":"system","subtype":"task_started","task_id":"t","task_type":"local_agent"}"#;
    for (lines, ends) in [
        (vec![], true),
        (vec![result], true),
        (vec![started, result], false),
    ] {
        let mut connection = open(Config::default());
        if !lines.is_empty() {
            send(&mut connection, "a");
            written(&mut connection);
        }
        for text in &lines {
            line(&mut connection, text);
        }
        connection.finish_when_settled(true);
        assert_eq!(connection.wants_end_of_input(), ends, "{lines:?}");
    }
}

#[test]
fn a_single_prompt_waits_for_its_background_agents() {
    let result = r#"{"type":"result","is_error":false}"#;
    let idle = r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#;
    let started =
        r#"{"type":"system","subtype":"task_started","task_id":"t","task_type":"local_agent"}"#;
    let shell =
        r#"{"type":"system","subtype":"task_started","task_id":"s","task_type":"local_bash"}"#;
    let done =
        r#"{"type":"system","subtype":"task_notification","task_id":"t","status":"completed"}"#;
    let running = r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#;
    for (lines, last) in [
        (vec![result], 0),
        (vec![shell, result], 1),
        (vec![started, result, done, result], 3),
        (vec![running, result, idle], 2),
        (vec![running, started, result, done, result, idle], 5),
    ] {
        let mut connection = open(Config::default());
        send(&mut connection, "a");
        written(&mut connection);
        connection.finish_when_settled(true);
        for (index, text) in lines.iter().enumerate() {
            assert!(!connection.wants_end_of_input(), "{lines:?} before {index}");
            line(&mut connection, text);
            assert_eq!(
                connection.wants_end_of_input(),
                index == last,
                "{lines:?} after {index}"
            );
        }
    }
}

#[test]
fn a_background_agent_that_never_ends_is_not_waited_for_for_ever() {
    let mut connection = open(Config::default());
    send(&mut connection, "a");
    written(&mut connection);
    connection.finish_when_settled(true);
    line(
        &mut connection,
        r#"{"type":"system","subtype":"task_started","task_id":"t","task_type":"local_agent"}"#,
    );
    line(&mut connection, r#"{"type":"result","is_error":false}"#);
    assert_eq!(connection.deadline(), Some(600_000));
    connection.handle_timeout(600_000);
    assert!(connection.wants_end_of_input());
}
