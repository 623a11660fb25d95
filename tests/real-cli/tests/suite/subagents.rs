//! Subagents, in the foreground and in the background.

use serde_json::{json, Value};
use towline::TurnId;
use towline_real_cli::{is_result, on_the_current_version, prompt_tool, Seen, Stage};

on_the_current_version!(
    in_the_foreground,
    in_the_background_with_the_input_kept_open
);

fn agent(prompt: &str, background: bool) -> String {
    prompt_tool(
        "Agent",
        &json!({
            "description": "a job",
            "subagent_type": "general-purpose",
            "run_in_background": background,
            "prompt": prompt,
        }),
    )
}

fn in_the_foreground(stage: &Stage) {
    let mut host = stage.open(json!({"allowedTools": ["Bash", "Agent"]}));
    let inner = prompt_tool(
        "Bash",
        &json!({"command": "echo from-within", "description": "d"}),
    );
    let turn = host.turn(&agent(&inner, false));
    assert_eq!(turn.text(), "done");
    let of_the_agent: Vec<&Value> = turn
        .messages
        .iter()
        .filter(|message| !message["parent_tool_use_id"].is_null())
        .collect();
    let said = |kind: &str, text: &str| {
        of_the_agent
            .iter()
            .any(|message| message["type"] == kind && message.to_string().contains(text))
    };
    assert!(said("assistant", r#""name":"Bash""#), "{of_the_agent:#?}");
    assert!(said("user", "from-within"), "{of_the_agent:#?}");
    host.end().is_clean();
}

/// The host has sent its last prompt. A background agent is still at work and asks for permission,
/// so the input stays open until its own turn is over.
fn in_the_background_with_the_input_kept_open(stage: &Stage) {
    let builder = stage.builder(json!({}));
    let mut host = stage.start(builder.permission_events());
    let inner = prompt_tool(
        "Bash",
        &json!({"command": "touch made", "description": "d"}),
    );
    let turn = host.send(&agent(&inner, true));
    host.session().end_input_when_settled().unwrap();
    let request = host.request();
    assert_eq!(host.finish(turn).text(), "done");
    // Still open: the CLI answers, and takes an answer.
    host.ask("get_settings", json!({}));
    assert!(!request.is_cancelled());
    request.allow().unwrap();
    let of_the_agent = |seen: &Seen| match seen {
        Seen::Message { json, turn } if is_result(json) => Some((json.clone(), *turn)),
        _ => None,
    };
    let (result, turn): (Value, Option<TurnId>) =
        host.until("the result of the agent's own turn", of_the_agent);
    assert_eq!(result["origin"]["kind"], "task-notification");
    assert_eq!(turn, None, "no prompt of the host asked for it");
    assert!(stage.project().join("made").exists());
    host.ended().is_clean();
}
