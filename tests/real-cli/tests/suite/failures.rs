//! What goes wrong: limits, the API, and launches that fail.

use serde_json::json;
use towline::{fresh_uuid, Error, Exit, Failure};
use towline_real_cli::{on_both_versions, on_the_current_version, Host, Stage, LIMIT};

on_both_versions!(an_error_of_the_api, an_unknown_session, an_unknown_flag);
on_the_current_version!(too_many_turns, too_expensive);

fn too_many_turns(stage: &Stage) {
    let mut host = stage.open(json!({"maxTurns": 1, "allowedTools": ["Bash"]}));
    let turn = host.turn(r#"TOOL Bash {"command": "echo one", "description": "d"}"#);
    assert_eq!(turn.result()["subtype"], "error_max_turns");
    let text = host.end().after_an_error_result();
    assert!(text.contains("maximum number of turns"), "{text}");
}

fn too_expensive(stage: &Stage) {
    let mut host = stage.open(json!({"maxBudgetUsd": 0.000_001}));
    let result = host.turn("USAGE 1000 1000").result();
    assert_eq!(result["subtype"], "error_max_budget_usd", "{result:#}");
    let text = host.end().after_an_error_result();
    assert!(text.contains("budget"), "{text}");
}

fn an_error_of_the_api(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let result = host.turn("ERROR 400").result();
    assert_eq!(result["subtype"], "success");
    assert_eq!(result["is_error"], true);
    assert_eq!(result["api_error_status"], 400);
    let text = host.end().after_an_error_result();
    assert!(text.contains("scripted failure"), "{text}");
}

/// The error of a session that is not opened.
fn refused(host: Host) -> Failure {
    let error = host.session().connect(Some(LIMIT)).unwrap_err();
    let Error::ExitedBeforeInitialize(failure) = error else {
        panic!("{error}")
    };
    failure
}

fn an_unknown_session(stage: &Stage) {
    let id = fresh_uuid();
    let failure = refused(stage.open(json!({"resume": id})));
    let text = failure.to_string();
    assert!(
        text.contains("No conversation found") && text.contains(&id),
        "{text}"
    );
    if stage.is_current() {
        assert!(failure.result.contains(&id), "{failure:?}");
    }
}

fn an_unknown_flag(stage: &Stage) {
    let failure = refused(stage.open(json!({"extraArgs": {"no-such-flag": null}})));
    assert_eq!(failure.exit, Some(Exit::Code(1)));
    assert!(
        failure.stderr.contains("unknown option '--no-such-flag'"),
        "{failure}"
    );
}
