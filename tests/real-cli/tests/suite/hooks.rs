//! Hooks (`protocol.md §6`).

use serde_json::{json, Value};
use towline::{OnFailure, Reply, RequestHandle};
use towline_real_cli::{
    is_result, on_both_versions, on_the_current_version, prompt_tool, Record, Stage,
};

on_both_versions!(
    before_and_after_a_tool,
    one_that_denies_a_tool,
    one_at_the_stop_that_continues,
);
on_the_current_version!(
    a_matcher_picks_tools,
    one_that_changes_the_input,
    one_that_blocks_a_prompt,
    one_that_fails_blocks_when_it_is_to,
);

const NO_OPINION: &str = "{}";

fn shell(command: &str) -> String {
    prompt_tool("Bash", &json!({"command": command, "description": "d"}))
}

fn input(request: &RequestHandle) -> Value {
    serde_json::from_str(request.pointer("/input").expect("an input")).unwrap()
}

fn before_and_after_a_tool(stage: &Stage) {
    let called = Record::new();
    let note = || {
        let called = called.clone();
        move |request: &RequestHandle| {
            called.push(input(request));
            Reply::Json(NO_OPINION.into())
        }
    };
    let builder = stage
        .builder(json!({"allowedTools": ["Bash"]}))
        .on_hook("PreToolUse", Some("Bash"), note())
        .on_hook("PostToolUse", None, note());
    let mut host = stage.start(builder);
    let turn = host.turn(&shell("echo hooked"));
    assert_eq!(turn.tool_results(), [("hooked".into(), false)]);
    let called = called.take();
    let names: Vec<_> = called.iter().map(|call| &call["hook_event_name"]).collect();
    assert_eq!(names, ["PreToolUse", "PostToolUse"]);
    assert_eq!(called[0]["tool_input"]["command"], "echo hooked");
    assert_eq!(called[0]["tool_use_id"], called[1]["tool_use_id"]);
    assert_eq!(called[1]["tool_response"]["stdout"], "hooked");
    host.end().is_clean();
}

fn a_matcher_picks_tools(stage: &Stage) {
    let called = Record::new();
    let builder = stage
        .builder(json!({"allowedTools": ["Bash", "Read"]}))
        .on_hook("PreToolUse", Some("Read"), {
            let called = called.clone();
            move |request| {
                called.push(input(request)["tool_name"].clone());
                Reply::Json(NO_OPINION.into())
            }
        });
    let mut host = stage.start(builder);
    std::fs::write(stage.project().join("note"), "text").unwrap();
    let read = json!({"file_path": stage.project().join("note")});
    host.turn(&shell("echo unhooked"));
    host.turn(&prompt_tool("Read", &read));
    assert_eq!(called.take(), ["Read"]);
    host.end().is_clean();
}

fn one_that_denies_a_tool(stage: &Stage) {
    let denial = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "the hook says no",
    }});
    let builder =
        stage
            .builder(json!({"allowedTools": ["Bash"]}))
            .on_hook("PreToolUse", None, move |_| Reply::Json(denial.to_string()));
    let mut host = stage.start(builder);
    let turn = host.turn(&shell("touch made"));
    let results = turn.tool_results();
    assert!(
        results[0].1 && results[0].0.contains("the hook says no"),
        "{results:?}"
    );
    assert!(!stage.project().join("made").exists());
    assert_eq!(turn.text(), "done");
    host.end().is_clean();
}

fn one_that_changes_the_input(stage: &Stage) {
    let builder = stage
        .builder(json!({}))
        .on_hook("PreToolUse", None, |request| {
            let mut changed = input(request)["tool_input"].clone();
            changed["command"] = json!("echo changed");
            Reply::Json(
                json!({"hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "allow",
                    "updatedInput": changed,
                }})
                .to_string(),
            )
        });
    let mut host = stage.start(builder);
    let turn = host.turn(&shell("touch made"));
    assert_eq!(turn.tool_results(), [("changed".into(), false)]);
    host.end().is_clean();
}

fn one_that_blocks_a_prompt(stage: &Stage) {
    let builder = stage
        .builder(json!({}))
        .on_hook("UserPromptSubmit", None, |request| {
            let secret = input(request)["prompt"] == "the secret";
            Reply::Json(match secret {
                true => json!({"decision": "block", "reason": "not that"}).to_string(),
                false => NO_OPINION.into(),
            })
        });
    let mut host = stage.start(builder);
    let blocked = host.turn("the secret").result();
    assert_eq!(blocked["num_turns"], 0, "{blocked:#}");
    assert_eq!(host.turn("something else").text(), "echo: something else");
    let asked = stage.api().requests();
    let secrets = asked
        .iter()
        .filter(|request| request.is_message() && request.user_text().contains("the secret"));
    assert_eq!(secrets.count(), 0);
    host.end().is_clean();
}

fn one_at_the_stop_that_continues(stage: &Stage) {
    let active = Record::new();
    let builder = stage.builder(json!({})).on_hook("Stop", None, {
        let active = active.clone();
        move |request| {
            let again = input(request)["stop_hook_active"] == true;
            active.push(again);
            Reply::Json(match again {
                true => NO_OPINION.into(),
                false => json!({"decision": "block", "reason": "say more"}).to_string(),
            })
        }
    });
    let mut host = stage.start(builder);
    let turn = host.turn("hello");
    assert_eq!(active.take(), [false, true]);
    let asked = stage.api().requests();
    let told = asked
        .iter()
        .filter(|request| request.is_message())
        .map(|request| request.body["messages"].to_string().contains("say more"));
    assert_eq!(told.collect::<Vec<_>>(), [false, true]);
    let results = turn.messages.iter().filter(|message| is_result(message));
    assert_eq!(results.count(), 1);
    host.end().is_clean();
}

fn one_that_fails_blocks_when_it_is_to(stage: &Stage) {
    let builder = stage
        .builder(json!({"allowedTools": ["Bash"]}))
        .on_hook_with("PreToolUse", None, None, Some(OnFailure::Block), |_| {
            panic!("the hook's own fault")
        });
    let mut host = stage.start(builder);
    let turn = host.turn(&shell("touch made"));
    assert!(turn.tool_results()[0].1, "{:?}", turn.tool_results());
    assert!(!stage.project().join("made").exists());
    let said = host.diagnostics().concat();
    assert!(said.contains("the hook's own fault"), "{said}");
    host.end().is_clean();
}
