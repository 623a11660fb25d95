//! What the CLI asks.

use towline_protocol::connection::{
    Answer, CancelReason, Config, Connection, Diagnostic, Event, LocalError, RequestKind,
};
use towline_protocol::control::answer::PermissionResult;
use towline_protocol::launch::Dialect;
use towline_protocol::mcp::CallResult;

use crate::support::*;

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

fn asked(subtype: &str) -> String {
    format!(
        r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"{subtype}","mcp_server_name":"s","message":"m"}}}}"#
    )
}

/// Where nobody answers, the CLI gets what the package of the dialect says.
#[test]
fn unanswered_requests_are_answered_as_in_the_dialect() {
    let code = "unsupported_request";
    for (dialect, action, code) in [
        (Dialect::Towline, "cancel", code.into()),
        (Dialect::TypeScript, "decline", code.into()),
        (Dialect::Python, "cancel", serde_json::Value::Null),
    ] {
        let mut connection = open(Config {
            elicitation: false,
            dialect,
            ..Config::default()
        });
        line(&mut connection, &asked("elicitation"));
        line(&mut connection, &asked("brand_new"));
        let answers = written(&mut connection);
        let [elicitation, unknown] = &answers[..] else {
            panic!("{answers:?}")
        };
        assert_eq!(elicitation["response"]["response"]["action"], action);
        let unknown = &unknown["response"];
        assert_eq!(
            unknown["error"],
            "Unsupported control request subtype: brand_new"
        );
        assert_eq!(unknown["error_code"], code);
        assert_eq!(drain(&mut connection), []);
    }
}

/// What the CLI waits for already stands beside its answer to `initialize` (`protocol.md §3`).
#[test]
fn requests_beside_the_answer_to_initialize_are_served() {
    let dialog = r#"{"type":"control_request","request_id":"d1","request":{"subtype":"request_user_dialog","dialog_kind":"known"}}"#;
    let mut connection = Connection::new(
        Config {
            dialog_kinds: vec!["known".into()],
            ..Config::default()
        },
        0,
    );
    connection.initialize("").unwrap();
    // One that has come on its own already is not asked again.
    line(&mut connection, &PERMISSION.replace("p1", "p0"));
    let waiting = [
        PERMISSION.replace("p1", "p0"),
        PERMISSION.into(),
        "5".into(),
    ]
    .join(",");
    let answer = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"towline_1","response":{{}},"pending_permission_requests":[{waiting}],"pending_user_dialog_requests":[{dialog}]}}}}"#
    );
    line(&mut connection, &answer);
    let events = drain(&mut connection);
    let keys: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Request(request) => Some((request.key, request.kind.clone())),
            _ => None,
        })
        .collect();
    let kinds: Vec<_> = keys.iter().map(|(_, kind)| kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            RequestKind::Permission,
            RequestKind::Permission,
            RequestKind::Dialog
        ]
    );
    assert!(matches!(events[0], Event::Request(_)));
    assert!(matches!(events[1], Event::Initialized(_)));
    assert!(events
        .iter()
        .any(|event| matches!(event, Event::Diagnostic(Diagnostic::BadRequest { .. }))));
    written(&mut connection);
    connection
        .respond(keys[1].0, &Answer::Permission(PermissionResult::allow()))
        .unwrap();
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "p1");
    connection
        .respond(keys[2].0, &Answer::Json(r#"{"behavior":"cancelled"}"#))
        .unwrap();
    assert_eq!(written(&mut connection)[0]["response"]["request_id"], "d1");
    // Taken back like any other.
    line(
        &mut connection,
        r#"{"type":"control_cancel_request","request_id":"p0"}"#,
    );
    assert!(matches!(
        drain(&mut connection)[..],
        [Event::RequestCancelled {
            reason: CancelReason::Withdrawn,
            ..
        }]
    ));
}
