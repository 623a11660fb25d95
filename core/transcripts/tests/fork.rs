//! A session copied as a new one.

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{json, Value};
use towline_transcripts::{fork, is_session_id, messages, Error, ForkOptions, MessageOptions};

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn uuid(n: usize) -> String {
    format!("00000000-0000-4000-8000-{n:012}")
}

fn line(n: usize, parent: Option<usize>, kind: &str) -> Value {
    json!({"type": kind, "uuid": uuid(n), "parentUuid": parent.map(uuid), "sessionId": ID,
           "timestamp": format!("2026-01-02T03:04:{n:02}.000Z"), "cwd": "/w",
           "message": {"role": kind, "content": format!("text {n}")}})
}

fn forked(lines: &[Value], options: &ForkOptions) -> Result<(String, Vec<Value>), Error> {
    let texts: Vec<String> = lines.iter().map(Value::to_string).collect();
    let fork = fork(ID, &texts, options)?;
    let entries = fork
        .entries
        .iter()
        .map(|entry| serde_json::from_str(entry).unwrap());
    Ok((fork.session_id, entries.collect()))
}

#[test]
fn ids_parents_and_origin() {
    let mut lines = vec![
        json!({"type": "mode", "mode": "default"}),
        line(1, None, "user"),
        line(2, Some(1), "progress"),
        line(3, Some(2), "progress"),
        line(4, Some(3), "assistant"),
        json!({"type": "content-replacement", "sessionId": ID, "replacements": [{"a": 1}]}),
        json!({"type": "content-replacement", "sessionId": "other", "replacements": [{"a": 2}]}),
        line(5, None, "system"),
        line(6, Some(9), "user"),
        line(7, Some(6), "user"),
        json!({"type": "content-replacement", "sessionId": ID, "replacements": [3]}),
    ];
    lines[7]["logicalParentUuid"] = json!(uuid(4));
    lines[8]["teamName"] = json!("t");
    lines[8]["slug"] = json!("s");
    lines[8]["sourceToolAssistantUUID"] = json!(uuid(4));
    lines[9]["isSidechain"] = json!(true);
    let (id, entries) = forked(&lines, &ForkOptions::default()).unwrap();
    assert!(is_session_id(&id));
    assert_eq!(entries.len(), 6);
    let new: Vec<&str> = entries
        .iter()
        .map(|entry| entry["uuid"].as_str().unwrap())
        .collect();
    assert_eq!(new.iter().collect::<HashSet<_>>().len(), 6);
    assert!(entries
        .iter()
        .all(|entry| entry["sessionId"] == id.as_str()));
    assert_eq!(entries[0]["parentUuid"], Value::Null);
    assert_eq!(entries[1]["parentUuid"], new[0]);
    assert_eq!(
        entries[1]["forkedFrom"],
        json!({"sessionId": ID, "messageUuid": uuid(4)})
    );
    assert_eq!(entries[1]["timestamp"], "2026-01-02T03:04:04.000Z");
    assert_eq!(entries[1]["logicalParentUuid"], Value::Null);
    assert_eq!(entries[1]["isSidechain"], false);
    assert_eq!(entries[1]["message"], lines[4]["message"]);
    assert_eq!(entries[2]["logicalParentUuid"], new[1]);
    assert_eq!(entries[3]["parentUuid"], Value::Null);
    assert!(entries[3].get("teamName").is_none() && entries[3].get("slug").is_none());
    assert!(entries[3].get("sourceToolAssistantUUID").is_none());
    assert_ne!(entries[3]["timestamp"], "2026-01-02T03:04:06.000Z");
    assert_eq!(entries[4]["type"], "content-replacement");
    assert_eq!(entries[4]["replacements"], json!([{"a": 1}, 3]));
    assert_eq!(entries[5]["type"], "custom-title");
    assert_eq!(entries[5]["customTitle"], "text 1 (fork)");
}

#[test]
fn at_a_message_with_a_title() {
    let lines = [
        line(1, None, "user"),
        line(2, Some(1), "assistant"),
        line(3, Some(2), "user"),
    ];
    let options = ForkOptions {
        up_to_message_id: Some(uuid(2)),
        title: Some("  mine ".to_owned()),
    };
    let (_, entries) = forked(&lines, &options).unwrap();
    assert_eq!(entries.len(), 3);
    assert_eq!(entries[2]["customTitle"], "mine");
}

#[test]
fn titles_of_forks() {
    let title = |more: &[Value]| {
        let mut lines = vec![line(1, None, "user")];
        lines.extend_from_slice(more);
        let (_, entries) = forked(&lines, &ForkOptions::default()).unwrap();
        entries.last().unwrap()["customTitle"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let made_up = json!({"type": "ai-title", "aiTitle": "made up"});
    let given = json!({"type": "custom-title", "customTitle": "given"});
    assert_eq!(title(&[given, made_up.clone()]), "given (fork)");
    assert_eq!(title(&[made_up]), "made up (fork)");
    let (_, entries) = forked(&[line(1, None, "system")], &ForkOptions::default()).unwrap();
    assert_eq!(entries[1]["customTitle"], "Forked session (fork)");
}

#[test]
fn what_cannot_be_forked() {
    let at = |id: &str| ForkOptions {
        up_to_message_id: Some(id.to_owned()),
        title: None,
    };
    assert!(matches!(forked(&[], &at("")), Err(Error::NothingToFork(_))));
    let progress = [line(1, None, "progress")];
    assert!(matches!(
        forked(&progress, &at("")),
        Err(Error::NothingToFork(_))
    ));
    let lines = [line(1, None, "user")];
    assert!(matches!(
        forked(&lines, &at("x")),
        Err(Error::InvalidMessageId(_))
    ));
    assert!(matches!(
        forked(&lines, &at(&uuid(2))),
        Err(Error::MessageNotFound { .. })
    ));
    let options = ForkOptions::default();
    assert!(matches!(
        fork("x", &["{}"], &options),
        Err(Error::InvalidSessionId(_))
    ));
}

#[test]
fn a_circle_of_progress_ends() {
    let lines = [
        line(1, Some(2), "progress"),
        line(2, Some(1), "progress"),
        line(3, Some(2), "user"),
    ];
    let (_, entries) = forked(&lines, &ForkOptions::default()).unwrap();
    assert_eq!(entries[0]["parentUuid"], Value::Null);
}

proptest! {
    /// The fork says what the original says, and shares no id with it.
    #[test]
    fn a_fork_tells_the_same(kinds in proptest::collection::vec(0usize..5, 1..20), back in proptest::collection::vec(1usize..3, 20)) {
        let names = ["user", "assistant", "user", "progress", "attachment"];
        let lines: Vec<Value> = kinds.iter().enumerate().map(|(n, kind)| {
            line(n, n.checked_sub(back[n]), names[*kind])
        }).collect();
        let texts: Vec<String> = lines.iter().map(Value::to_string).collect();
        let Ok(new) = fork(ID, &texts, &ForkOptions::default()) else {
            prop_assert!(kinds.iter().all(|kind| *kind == 3));
            return Ok(());
        };
        let options = MessageOptions::default();
        let text = |message: &towline_transcripts::SessionMessage<'_>| message.message.to_string();
        let old: Vec<String> = messages(&texts, &options).iter().map(text).collect();
        let copy: Vec<String> = messages(&new.entries, &options).iter().map(text).collect();
        prop_assert_eq!(old, copy);
        for message in messages(&new.entries, &options) {
            prop_assert!(!texts.iter().any(|text| text.contains(message.uuid.as_ref())));
        }
    }
}
