//! Lines of every kind, the queue, the end.

use towline_protocol::connection::{
    CancelReason, Config, Connection, Diagnostic, Event, LocalError, RequestError, TurnOutcome,
};
use towline_protocol::control::envelope::UserMessage;

use crate::support::*;

#[test]
fn odd_lines_do_not_end_the_session() {
    let mut connection = open(Config {
        line_limit: 100,
        ..Config::default()
    });
    for odd in [
        "hello",
        "[1]",
        "null",
        "{\"type\":1}",
        "{",
        &"x".repeat(101),
    ] {
        line(&mut connection, odd);
        let events = drain(&mut connection);
        assert!(
            matches!(events[..], [Event::Diagnostic(_)]),
            "{odd}: {events:?}"
        );
    }
    connection.receive(b"  \t\r\n\n");
    connection.receive(b"{\"type\":\"new\",\"x\":\"\xff\"}\n");
    let events = drain(&mut connection);
    assert!(
        matches!(
            events[..],
            [
                Event::Diagnostic(Diagnostic::NotUtf8 { .. }),
                Event::Message { .. }
            ]
        ),
        "{events:?}"
    );
}

#[test]
fn everything_open_ends_with_the_output() {
    let mut connection = open(Config::default());
    let turn = send(&mut connection, "a");
    let id = connection.request("mcp_status", "").unwrap();
    line(&mut connection, PERMISSION);
    connection.receive(br#"{"type":"assistant","message":{}}"#);
    connection.output_ended();
    connection.output_ended();
    let events = drain(&mut connection);
    assert!(matches!(events[0], Event::Request(_)));
    assert!(
        matches!(events[1], Event::Message { .. }),
        "the last line needs no line feed"
    );
    assert!(
        matches!(&events[2], Event::Response { id: of, result: Err(RequestError::SessionEnded { .. }), .. } if *of == id)
    );
    assert!(matches!(
        events[3],
        Event::RequestCancelled {
            reason: CancelReason::SessionEnded,
            ..
        }
    ));
    assert_eq!(
        events[4],
        Event::TurnEnded {
            turn,
            outcome: TurnOutcome::SessionEnded(String::new())
        }
    );
    assert_eq!(events.len(), 5);
    assert_eq!(connection.request("x", ""), Err(LocalError::Ended));
}

#[test]
fn the_write_queue_has_a_limit() {
    let mut connection = open(Config {
        queue_limit: 1000,
        ..Config::default()
    });
    connection
        .send_user(&UserMessage::text("x".repeat(2000)))
        .unwrap();
    assert!(matches!(
        connection.request("interrupt", ""),
        Err(LocalError::QueueFull { limit: 1000, .. })
    ));
    written(&mut connection);
    connection.request("interrupt", "").unwrap();
}

fn bytes_written(connection: &mut Connection) -> usize {
    let count = connection.outgoing().len();
    connection.sent(count);
    count
}

/// What waits may be as long as the limit; a message is taken whole or not at all.
#[test]
fn the_write_queue_about_its_limit() {
    let message = UserMessage::text("x".repeat(1000));
    let mut connection = open(Config::default());
    connection.send_user(&message).unwrap();
    let length = bytes_written(&mut connection);
    for (queue_limit, taken) in [(length - 1, false), (length, true), (length + 1, true)] {
        let mut connection = open(Config {
            queue_limit,
            ..Config::default()
        });
        connection.send_user(&message).unwrap();
        let second = connection.send_user(&message);
        assert_eq!(second.is_ok(), taken, "{queue_limit} of {length}");
        let count = 1 + usize::from(taken);
        assert_eq!(bytes_written(&mut connection), count * length);
    }
}

#[test]
fn mirrored_lines_are_for_the_store_and_no_messages() {
    use towline_protocol::connection::Mirrored;
    let mirror = r#"{"type":"transcript_mirror","filePath":"/p/s.jsonl","entries":[]}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false}"#;
    let told = |config| {
        let mut connection = open(config);
        for text in [mirror, result, mirror] {
            line(&mut connection, text);
        }
        let mirrored: Vec<Mirrored> = std::iter::from_fn(|| connection.poll_mirrored()).collect();
        let messages = drain(&mut connection)
            .into_iter()
            .filter(|event| matches!(event, Event::Message { .. }));
        (mirrored, messages.count())
    };
    let (mirrored, messages) = told(Config {
        mirror: true,
        ..Config::default()
    });
    assert_eq!(messages, 1);
    assert!(matches!(
        mirrored.as_slice(),
        [Mirrored::Lines(before), Mirrored::Result, Mirrored::Lines(_)] if before.json() == mirror
    ));
    let (mirrored, messages) = told(Config::default());
    assert_eq!((mirrored.len(), messages), (0, 3));
}
