//! Going on with an earlier session.

use serde_json::json;
use towline_real_cli::{on_both_versions, on_the_current_version, Host, Stage};

on_both_versions!(resume);
on_the_current_version!(fork, the_id_of_the_session_is_given);

/// A session with one prompt, closed; its id.
fn earlier(stage: &Stage) -> String {
    let mut host = stage.open(json!({}));
    assert_eq!(host.turn("remember me").text(), "echo: remember me");
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    id
}

/// Holds a turn and returns the session's id.
fn goes_on(stage: &Stage, mut host: Host) -> String {
    assert_eq!(host.turn("going on").text(), "echo: going on");
    let id = host.session().session_id().expect("known after a turn");
    host.end().is_clean();
    let asked = stage.api().requests();
    let last = asked
        .iter()
        .find(|request| request.is_message() && request.user_text() == "going on")
        .expect("the model was asked");
    assert!(
        last.body["messages"].to_string().contains("remember me"),
        "{}",
        last.body["messages"]
    );
    id
}

fn resume(stage: &Stage) {
    let id = earlier(stage);
    let resumed = stage.open(json!({"resume": id}));
    assert_eq!(goes_on(stage, resumed), id);
}

fn fork(stage: &Stage) {
    let id = earlier(stage);
    let forked = stage.open(json!({"resume": id, "forkSession": true}));
    assert_ne!(goes_on(stage, forked), id);
}

fn the_id_of_the_session_is_given(stage: &Stage) {
    let id = towline::fresh_uuid();
    let mut host = stage.open(json!({"sessionId": id}));
    host.turn("hello");
    assert_eq!(host.session().session_id().as_deref(), Some(id.as_str()));
    host.end().is_clean();
}
