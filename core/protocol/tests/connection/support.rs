//! What the tests share.

use towline_protocol::connection::{Config, Connection, Event, TurnId};
use towline_protocol::control::envelope::UserMessage;

pub(crate) const ANSWERED: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"towline_1","response":{"claude_code_version":"2.1.332"}}}"#;

/// A connection whose handshake is done.
pub(crate) fn open(config: Config) -> Connection {
    let mut connection = Connection::new(config, 0);
    connection.initialize("").unwrap();
    line(&mut connection, ANSWERED);
    drain(&mut connection);
    written(&mut connection);
    connection
}

pub(crate) fn line(connection: &mut Connection, text: &str) {
    connection.receive(text.as_bytes());
    connection.receive(b"\n");
}

pub(crate) fn drain(connection: &mut Connection) -> Vec<Event> {
    std::iter::from_fn(|| connection.poll_event()).collect()
}

pub(crate) fn written(connection: &mut Connection) -> Vec<serde_json::Value> {
    let text = String::from_utf8(connection.outgoing().to_vec()).unwrap();
    connection.sent(text.len());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn send(connection: &mut Connection, uuid: &str) -> TurnId {
    let mut message = UserMessage::text("hi");
    message.uuid = Some(uuid.into());
    connection.send_user(&message).unwrap()
}

pub(crate) fn turns_of(events: &[Event]) -> Vec<Option<u64>> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Message { turn, .. } => Some(turn.map(|turn| turn.0)),
            _ => None,
        })
        .collect()
}

pub(crate) fn ended(events: &[Event]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::TurnEnded { turn, .. } => Some(turn.0),
            _ => None,
        })
        .collect()
}

pub(crate) const PERMISSION: &str = r#"{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;

/// As 2.1.197 answers `initialize`: no `capabilities`.
pub(crate) const ANSWERED_BY_AN_OLDER_CLI: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"towline_1","response":{"commands":[],"models":[],"pid":1}}}"#;
