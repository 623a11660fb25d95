//! Turns: one, several, merged, folded in, taken back, interrupted.

use serde_json::json;
use towline::{RequestError, TurnOutcome};
use towline_real_cli::{is_result, on_both_versions, on_the_current_version, Seen, Stage, LIMIT};

on_both_versions!(
    one_turn,
    several_turns,
    prompts_that_wait_each_end,
    prompts_sent_at_once_each_end,
    prompts_sent_before_the_session_is_open_each_end,
    interrupt,
    interrupt_leaves_waiting_prompts,
    a_waiting_prompt_is_taken_back,
);
on_the_current_version!(
    partial_messages,
    a_prompt_folded_into_a_running_turn_shares_its_result,
);

fn one_turn(stage: &Stage) {
    let mut host = stage.open(json!({}));
    host.connect();
    assert_eq!(host.session().session_id(), None);
    let at_start = stage.is_current().then(|| stage.version().number());
    assert_eq!(host.session().cli_version().as_deref(), at_start);
    let turn = host.turn("hello there");
    assert_eq!(turn.text(), "echo: hello there");
    let init = turn
        .messages
        .iter()
        .find(|message| message["subtype"] == "init")
        .expect("the turn begins with system/init");
    assert_eq!(
        host.session().session_id().as_deref(),
        init["session_id"].as_str()
    );
    assert_eq!(
        host.session().cli_version().as_deref(),
        Some(stage.version().number())
    );
    let said = turn
        .messages
        .iter()
        .find(|message| message["type"] == "assistant")
        .expect("the model's message belongs to the turn");
    assert_eq!(said["message"]["content"][0]["text"], "echo: hello there");
    assert!(!host.session().turn_open());
    host.end().is_clean();
}

fn several_turns(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let mut ids = Vec::new();
    for prompt in ["first", "second", "third"] {
        let turn = host.turn(prompt);
        assert_eq!(turn.text(), format!("echo: {prompt}"));
        assert_eq!(
            turn.messages
                .iter()
                .filter(|message| is_result(message))
                .count(),
            1
        );
        ids.push(turn.id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let last = stage.api().requests().into_iter().rev();
    let last = last.filter(|request| request.is_message()).take(1);
    let history = last.map(|request| request.body["messages"].to_string());
    let history: String = history.collect();
    assert!(history.contains("first") && history.contains("echo: second"));
    host.end().is_clean();
}

fn partial_messages(stage: &Stage) {
    let mut host = stage.open(json!({"includePartialMessages": true}));
    let turn = host.turn("DELTAS 3");
    let deltas = turn
        .messages
        .iter()
        .filter(|message| message["type"] == "stream_event")
        .filter_map(|message| message["event"]["delta"]["text"].as_str());
    assert_eq!(deltas.collect::<Vec<_>>(), ["tok "; 3]);
    host.end().is_clean();
}

/// Three prompts sent while a turn runs: the current CLI makes one turn of them, and all three end
/// with its result (`protocol.md §4.6`).
fn prompts_that_wait_each_end(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let first = host.send("GATE one");
    assert!(stage.api().wait_at_gate("one", LIMIT));
    let waiting = ["two", "three", "four"].map(|prompt| (prompt, host.send(prompt)));
    stage.api().release("one");
    assert_eq!(host.finish(first).text(), "before after");
    for (prompt, turn) in waiting {
        let text = host.finish(turn).text();
        assert!(text.contains(prompt), "{prompt} is answered: {text}");
    }
    // Nothing is left over for the next one.
    assert_eq!(host.turn("five").text(), "echo: five");
    host.end().is_clean();
}

fn prompts_sent_at_once_each_end(stage: &Stage) {
    let mut host = stage.open(json!({}));
    assert_eq!(host.turn("warm").text(), "echo: warm");
    let sent = ["one", "two", "three"].map(|prompt| (prompt, host.send(prompt)));
    for (prompt, turn) in sent {
        let text = host.finish(turn).text();
        assert!(text.contains(prompt), "{prompt} is answered: {text}");
    }
    assert_eq!(host.turn("four").text(), "echo: four");
    host.end().is_clean();
}

fn prompts_sent_before_the_session_is_open_each_end(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let sent = ["one", "two", "three"].map(|prompt| (prompt, host.send(prompt)));
    for (prompt, turn) in sent {
        let text = host.finish(turn).text();
        assert!(text.contains(prompt), "{prompt} is answered: {text}");
    }
    host.end().is_clean();
}

fn interrupt(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let turn = host.send("GATE never");
    assert!(stage.api().wait_at_gate("never", LIMIT));
    let id = host.session().interrupt().unwrap();
    let answer = host.response(id).unwrap();
    if stage.is_current() {
        assert_eq!(answer["still_queued"], json!([]));
    }
    let result = host.finish(turn).result();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["is_error"], true);
    assert_eq!(host.turn("TEXT and on").text(), "and on");
    host.end().is_clean();
}

fn interrupt_leaves_waiting_prompts(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let first = host.send("GATE never");
    assert!(stage.api().wait_at_gate("never", LIMIT));
    let second = host.send("TEXT the next one");
    host.session().interrupt().unwrap();
    assert_eq!(
        host.finish(first).result()["subtype"],
        "error_during_execution"
    );
    assert_eq!(host.finish(second).text(), "the next one");
    host.end().is_clean();
}

fn a_waiting_prompt_is_taken_back(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let first = host.send("GATE one");
    assert!(stage.api().wait_at_gate("one", LIMIT));
    let second = host.send("never asked");
    let id = host.session().cancel_turn(second).unwrap();
    let answer = host.response(id);
    assert!(
        !matches!(answer, Err(RequestError::SessionEnded { .. })),
        "{answer:?}"
    );
    assert_eq!(host.finish(second).outcome, TurnOutcome::Cancelled);
    stage.api().release("one");
    assert_eq!(host.finish(first).text(), "before after");
    assert_eq!(host.turn("after").text(), "echo: after");
    let asked = stage.api().requests();
    assert!(!asked
        .iter()
        .any(|request| request.body.to_string().contains("never asked")));
    host.end().is_clean();
}

/// A prompt that comes while a tool runs reaches the model with the tool's result, in the same turn.
fn a_prompt_folded_into_a_running_turn_shares_its_result(stage: &Stage) {
    let mut host = stage.start(stage.builder(json!({})).permission_events());
    let first = host.send(r#"TOOL Bash {"command": "touch folded", "description": "d"}"#);
    let asked = host.request();
    let second = host.send("and this too");
    host.message("the note that the prompt waits", |message| {
        message["type"] == "command_lifecycle"
            && message["state"] == "queued"
            && message["command_uuid"] != json!(null)
            && message["turn"].is_null()
    });
    // The first prompt's own note comes before the request, so this is the second's.
    asked.allow().unwrap();
    let first = host.finish(first);
    let second = host.finish(second);
    assert_eq!(first.text(), "done");
    assert_eq!(first.result()["uuid"], second.result()["uuid"]);
    let ending = host.end();
    ending.is_clean();
    let results = ending
        .log
        .iter()
        .filter(|seen| matches!(seen, Seen::Message { json, .. } if is_result(json)));
    assert_eq!(results.count(), 1);
}
