//! Permission requests (`protocol.md §7`).

use std::sync::mpsc;
use std::thread;

use serde_json::{json, Value};
use towline::{Error, LocalError, Reply, RequestHandle};
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Record, Stage};

on_both_versions!(
    allowed,
    denied,
    denied_with_interrupt,
    interrupted_while_pending,
);
on_the_current_version!(
    allowed_with_another_input,
    answered_later_from_another_thread,
    a_handle_that_is_dropped_denies,
);

fn touch(name: &str) -> String {
    prompt_tool(
        "Bash",
        &json!({"command": format!("touch {name} && echo made"), "description": "d"}),
    )
}

fn input(request: &RequestHandle) -> Value {
    serde_json::from_str(request.pointer("/input").expect("an input")).unwrap()
}

fn allowed(stage: &Stage) {
    let asked = Record::new();
    let builder = stage.builder(json!({})).on_permission({
        let asked = asked.clone();
        move |request| {
            let tool = request.tool_name().unwrap_or_default().into_owned();
            asked.push((tool, input(request)));
            Reply::allow()
        }
    });
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    assert_eq!(turn.text(), "done");
    assert_eq!(turn.tool_results(), [("made".into(), false)]);
    assert!(stage.project().join("made").exists());
    let asked = asked.take();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].0, "Bash");
    assert_eq!(asked[0].1["command"], "touch made && echo made");
    host.end().is_clean();
}

fn allowed_with_another_input(stage: &Stage) {
    let builder = stage.builder(json!({})).on_permission(|request| {
        let mut input = input(request);
        input["command"] = json!("touch other && echo other");
        Reply::Allow {
            input: Some(input.to_string()),
            permissions: None,
        }
    });
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    assert_eq!(turn.tool_results(), [("other".into(), false)]);
    assert!(stage.project().join("other").exists());
    assert!(!stage.project().join("made").exists());
    host.end().is_clean();
}

fn denied(stage: &Stage) {
    let builder = stage
        .builder(json!({}))
        .on_permission(|_| Reply::deny("not in this house"));
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    let results = turn.tool_results();
    assert_eq!(results.len(), 1);
    assert!(results[0].1 && results[0].0.contains("not in this house"));
    assert_eq!(turn.text(), "done", "the turn goes on after a denial");
    let denials = &turn.result()["permission_denials"];
    assert_eq!(denials.as_array().map(Vec::len), Some(1), "{denials}");
    assert!(!stage.project().join("made").exists());
    host.end().is_clean();
}

fn denied_with_interrupt(stage: &Stage) {
    let builder = stage.builder(json!({})).on_permission(|_| Reply::Deny {
        message: "stop".into(),
        interrupt: true,
    });
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    assert_eq!(turn.result()["subtype"], "error_during_execution");
    assert!(!stage.project().join("made").exists());
    // The scripted model answers a prompt that follows a tool's result with that.
    assert_eq!(host.turn("still there").text(), "done");
    host.end().is_clean();
}

fn answered_later_from_another_thread(stage: &Stage) {
    let (hand_over, handed) = mpsc::channel::<RequestHandle>();
    let answering = thread::spawn(move || {
        let request = handed.recv().expect("a request comes");
        assert!(!request.is_cancelled());
        request.allow().expect("the answer is taken");
        assert!(matches!(
            request.allow(),
            Err(Error::Local(LocalError::AlreadyAnswered))
        ));
    });
    let builder = stage.builder(json!({})).on_permission(move |request| {
        hand_over.send(request.clone()).expect("somebody answers");
        Reply::Later
    });
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    assert_eq!(turn.tool_results(), [("made".into(), false)]);
    answering.join().unwrap();
    host.end().is_clean();
}

fn a_handle_that_is_dropped_denies(stage: &Stage) {
    let builder = stage.builder(json!({})).on_permission(|_| Reply::Later);
    let mut host = stage.start(builder);
    let turn = host.turn(&touch("made"));
    let results = turn.tool_results();
    assert!(
        results[0].1 && results[0].0.contains("The host gave no answer"),
        "{results:?}"
    );
    assert!(!stage.project().join("made").exists());
    host.end().is_clean();
}

fn interrupted_while_pending(stage: &Stage) {
    let mut host = stage.start(stage.builder(json!({})).permission_events());
    let turn = host.send(&touch("made"));
    let request = host.request();
    host.session().interrupt().unwrap();
    host.withdrawal_of(request.key());
    assert!(request.is_cancelled());
    assert!(matches!(
        request.allow(),
        Err(Error::Local(LocalError::Withdrawn))
    ));
    assert_eq!(
        host.finish(turn).result()["subtype"],
        "error_during_execution"
    );
    assert!(!stage.project().join("made").exists());
    // The scripted model answers a prompt that follows a tool's result with that.
    assert_eq!(host.turn("still there").text(), "done");
    host.end().is_clean();
}
