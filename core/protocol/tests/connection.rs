//! The connection by its rules: turns, requests, answers, deadlines, the end.

use towline_protocol::connection::{
    Answer, CancelReason, Config, Connection, Diagnostic, Event, HandshakeFailure, Limits,
    LocalError, RequestError, RequestKind, State, TurnDeadline, TurnId, TurnOutcome,
};
use towline_protocol::control::answer::PermissionResult;
use towline_protocol::control::envelope::{Priority, UserMessage};
use towline_protocol::mcp::{CallResult, Server, Tool};

const ANSWERED: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"towline_1","response":{"claude_code_version":"2.1.332"}}}"#;

/// A connection whose handshake is done.
fn open(config: Config) -> Connection {
    let mut connection = Connection::new(config, 0);
    connection.initialize("").unwrap();
    line(&mut connection, ANSWERED);
    drain(&mut connection);
    written(&mut connection);
    connection
}

fn line(connection: &mut Connection, text: &str) {
    connection.receive(text.as_bytes());
    connection.receive(b"\n");
}

fn drain(connection: &mut Connection) -> Vec<Event> {
    std::iter::from_fn(|| connection.poll_event()).collect()
}

fn written(connection: &mut Connection) -> Vec<serde_json::Value> {
    let text = String::from_utf8(connection.outgoing().to_vec()).unwrap();
    connection.sent(text.len());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn send(connection: &mut Connection, uuid: &str) -> TurnId {
    let mut message = UserMessage::text("hi");
    message.uuid = Some(uuid.into());
    connection.send_user(&message).unwrap()
}

fn turns_of(events: &[Event]) -> Vec<Option<u64>> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Message { turn, .. } => Some(turn.map(|turn| turn.0)),
            _ => None,
        })
        .collect()
}

fn ended(events: &[Event]) -> Vec<u64> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::TurnEnded { turn, .. } => Some(turn.0),
            _ => None,
        })
        .collect()
}

const PERMISSION: &str = r#"{"type":"control_request","request_id":"p1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}}"#;

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

/// As 2.1.197 answers `initialize`: no `capabilities`.
const ANSWERED_BY_AN_OLDER_CLI: &str = r#"{"type":"control_response","response":{"subtype":"success","request_id":"towline_1","response":{"commands":[],"models":[],"pid":1}}}"#;

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

/// `--replay-user-messages` repeats the answers of the host beside its prompts.
#[test]
fn a_repeated_answer_of_the_host_is_no_surprise() {
    let mut connection = open(Config::default());
    line(&mut connection, PERMISSION);
    let events = drain(&mut connection);
    let [Event::Request(request)] = &events[..] else {
        panic!("{events:?}")
    };
    connection
        .respond(request.key, &Answer::Error("no"))
        .unwrap();
    let echo = String::from_utf8(connection.outgoing().to_vec()).unwrap();
    line(&mut connection, echo.trim_end());
    assert_eq!(drain(&mut connection), []);
    line(&mut connection, &echo.trim_end().replace("p1", "p2"));
    assert!(matches!(
        drain(&mut connection)[..],
        [Event::Diagnostic(Diagnostic::UnexpectedResponse { .. })]
    ));
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

#[test]
fn a_permission_request_is_answered_once() {
    let mut connection = open(Config::default());
    line(&mut connection, PERMISSION);
    let Some(Event::Request(request)) = connection.poll_event() else {
        panic!("no request")
    };
    assert_eq!(request.kind, RequestKind::Permission);
    let wrong = connection.respond(request.key, &Answer::Call(CallResult::text("x")));
    assert!(
        matches!(wrong, Err(LocalError::WrongAnswer { .. })),
        "{wrong:?}"
    );
    assert!(connection
        .respond(request.key, &Answer::Json("{}"))
        .is_err());
    assert!(connection.outgoing().is_empty());
    connection
        .respond(request.key, &Answer::Permission(PermissionResult::allow()))
        .unwrap();
    let answer = &written(&mut connection)[0]["response"];
    assert_eq!(answer["request_id"], "p1");
    assert_eq!(answer["response"]["updatedInput"]["command"], "ls");
    let again = connection.respond(request.key, &Answer::Error("x"));
    assert_eq!(again, Err(LocalError::AlreadyAnswered));
}

#[test]
fn a_withdrawn_request_is_not_answered() {
    let mut connection = open(Config::default());
    line(&mut connection, PERMISSION);
    line(
        &mut connection,
        r#"{"type":"control_cancel_request","request_id":"p1"}"#,
    );
    let events = drain(&mut connection);
    let [Event::Request(request), Event::RequestCancelled { key, reason }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((*key, *reason), (request.key, CancelReason::Withdrawn));
    let late = connection.respond(request.key, &Answer::Permission(PermissionResult::allow()));
    assert_eq!(late, Err(LocalError::Withdrawn));
    assert!(connection.outgoing().is_empty());
}

#[test]
fn what_cannot_be_served_is_answered_with_an_error() {
    let config = Config {
        hook_callbacks: Some(["hook_0".to_string()].into()),
        ..Config::default()
    };
    let mut connection = open(config);
    for (request, outcome) in [
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"new_thing"}}"#,
            "error",
        ),
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"hook_callback","callback_id":"nobody","input":{}}}"#,
            "error",
        ),
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"hook_callback"}}"#,
            "error",
        ),
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"can_use_tool"}}"#,
            "error",
        ),
        (
            r#"{"type":"control_request","request_id":"z","request":{}}"#,
            "error",
        ),
        (r#"{"type":"control_request","request_id":"z"}"#, "error"),
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"mcp_message","server_name":"x"}}"#,
            "error",
        ),
        (
            r#"{"type":"control_request","request_id":"z","request":{"subtype":"mcp_message","server_name":"x","message":{"jsonrpc":"2.0","id":4,"method":"ping"}}}"#,
            "success",
        ),
    ] {
        line(&mut connection, request);
        let answers = written(&mut connection);
        assert_eq!(answers.len(), 1, "{request}");
        assert_eq!(answers[0]["response"]["subtype"], outcome, "{request}");
        assert_eq!(answers[0]["response"]["request_id"], "z", "{request}");
        assert!(!drain(&mut connection)
            .iter()
            .any(|event| matches!(event, Event::Request(_))));
    }
    for silent in [
        r#"{"type":"control_request","request":{"subtype":"can_use_tool"}}"#,
        r#"{"type":"control_request","request_id":"z","request":{"subtype":"request_user_dialog","dialog_kind":"undeclared"}}"#,
        r#"{"type":"control_request","request_id":"z","request":{"subtype":"remote_thing"}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}"#,
        r#"{"type":"control_response"}"#,
        r#"{"type":"control_cancel_request"}"#,
        r#"{"type":"keep_alive"}"#,
    ] {
        line(&mut connection, silent);
        assert!(connection.outgoing().is_empty(), "{silent}");
    }
}

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

fn calculator() -> Server {
    let mut server = Server::new("calc", "1");
    server
        .add_tool(Tool::new("add", "adds", r#"{"type":"object"}"#))
        .unwrap();
    server
}

fn mcp(id: &str, message: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"mcp_message","server_name":"calc","message":{message}}}}}"#
    )
}

#[test]
fn tool_calls_reach_the_host_and_their_cancellation_too() {
    let mut connection = open(Config::default());
    connection.add_server(calculator());
    line(
        &mut connection,
        &mcp(
            "m0",
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
    );
    line(
        &mut connection,
        &mcp(
            "m1",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
    );
    assert_eq!(
        written(&mut connection).len(),
        2,
        "a notification is acknowledged"
    );
    for (id, rpc) in [("m2", 1), ("m3", 2)] {
        line(
            &mut connection,
            &mcp(
                id,
                &format!(
                    r#"{{"jsonrpc":"2.0","id":{rpc},"method":"tools/call","params":{{"name":"add","arguments":{{}}}}}}"#
                ),
            ),
        );
    }
    let events = drain(&mut connection);
    let keys: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Request(request) => Some(request.key),
            _ => None,
        })
        .collect();
    assert_eq!(keys.len(), 2);
    line(
        &mut connection,
        &mcp(
            "m4",
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#,
        ),
    );
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "m4");
    let cancelled = Event::RequestCancelled {
        key: keys[1],
        reason: CancelReason::Withdrawn,
    };
    assert_eq!(drain(&mut connection), [cancelled]);
    assert_eq!(
        connection.respond(keys[1], &Answer::Call(CallResult::text("x"))),
        Err(LocalError::Withdrawn)
    );
    connection
        .respond(keys[0], &Answer::Call(CallResult::text("3")))
        .unwrap();
    let answer = &written(&mut connection)[0]["response"];
    assert_eq!(answer["request_id"], "m2");
    assert_eq!(
        answer["response"]["mcp_response"]["result"]["content"][0]["text"],
        "3"
    );
}

#[test]
fn a_server_of_the_host_is_bridged() {
    let mut connection = open(Config::default());
    connection.add_bridged_server("calc");
    line(
        &mut connection,
        &mcp("m1", r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#),
    );
    let events = drain(&mut connection);
    assert!(
        matches!(&events[..], [Event::Request(request)] if matches!(request.kind, RequestKind::McpMessage { .. }))
    );
    connection
        .mcp_send("calc", r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[]}}"#)
        .unwrap();
    assert_eq!(
        written(&mut connection)[0]["response"]["response"]["mcp_response"]["id"],
        7
    );
    connection
        .mcp_send(
            "calc",
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        )
        .unwrap();
    assert_eq!(
        written(&mut connection)[0]["request"]["server_name"],
        "calc"
    );
    line(
        &mut connection,
        &mcp(
            "m2",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ),
    );
    assert!(matches!(
        drain(&mut connection)[..],
        [Event::McpNotification { .. }]
    ));
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "m2");
}

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
