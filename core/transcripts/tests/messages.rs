//! Which entries of a transcript are its conversation.

use proptest::prelude::*;
use serde_json::{json, Value};
use towline_transcripts::{messages, subagent_messages, MessageKind, MessageOptions, Parents};

fn ids(entries: &[Value]) -> Vec<String> {
    with(entries, &MessageOptions::default())
}

fn with(entries: &[Value], options: &MessageOptions) -> Vec<String> {
    let texts: Vec<String> = entries.iter().map(Value::to_string).collect();
    messages(&texts, options)
        .into_iter()
        .map(|message| message.uuid.into_owned())
        .collect()
}

fn user(uuid: &str, parent: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s",
           "message": {"role": "user", "content": uuid}})
}

fn assistant(uuid: &str, parent: &str, id: &str, call: &str) -> Value {
    let content = if call.is_empty() {
        json!([{"type": "text", "text": uuid}])
    } else {
        json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {}}])
    };
    json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "timestamp": uuid,
           "message": {"id": id, "role": "assistant", "content": content}})
}

fn result(uuid: &str, parent: &str, call: &str) -> Value {
    json!({"type": "user", "uuid": uuid, "parentUuid": parent, "timestamp": uuid,
           "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call}]}})
}

fn changed(mut entry: Value, name: &str, value: Value) -> Value {
    entry[name] = value;
    entry
}

#[test]
fn the_newest_branch_counts() {
    let entries = [
        user("a", ""),
        assistant("b", "a", "m1", ""),
        user("c", "b"),
        user("d", "b"),
        assistant("e", "d", "m2", ""),
    ];
    assert_eq!(ids(&entries), ["a", "b", "d", "e"]);
}

#[test]
fn what_hangs_on_the_end_is_stepped_over() {
    let mut entries = vec![user("a", ""), assistant("b", "a", "m1", "")];
    entries.push(json!({"type": "system", "uuid": "s", "parentUuid": "b"}));
    entries.push(json!({"type": "progress", "uuid": "p", "parentUuid": "s"}));
    assert_eq!(ids(&entries), ["a", "b"]);
    let options = MessageOptions {
        include_system: true,
        ..MessageOptions::default()
    };
    // The walk begins at the last turn, so the notice behind it is not on it.
    assert_eq!(with(&entries, &options), ["a", "b"]);
    entries.push(user("c", "p"));
    assert_eq!(with(&entries, &options), ["a", "b", "s", "c"]);
    assert_eq!(ids(&entries), ["a", "b", "c"]);
}

#[test]
fn side_chains_teams_and_meta_entries_are_no_end() {
    for name in ["isSidechain", "teamName", "isMeta"] {
        let entries = [
            user("a", ""),
            assistant("b", "a", "m", ""),
            changed(user("c", ""), name, json!("yes")),
        ];
        assert_eq!(ids(&entries), ["a", "b"], "{name}");
        // If there is nothing else they are the end, but are not shown.
        assert!(ids(&entries[2..]).is_empty(), "{name}");
    }
}

#[test]
fn behind_a_compaction_its_summary_stands_for_what_was_before() {
    let entries = [
        user("a", ""),
        assistant("b", "a", "m", ""),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "k", "parentUuid": null,
               "logicalParentUuid": "b"}),
        changed(user("c", "k"), "isCompactSummary", json!(true)),
        assistant("d", "c", "n", ""),
    ];
    assert_eq!(ids(&entries), ["c", "d"]);
}

#[test]
fn parallel_tools_are_put_back() {
    let entries = [
        user("a", ""),
        assistant("b1", "a", "m", "t1"),
        assistant("b2", "b1", "m", "t2"),
        assistant("b3", "b2", "m", "t3"),
        result("r2", "b2", "t2"),
        result("r1", "b1", "t1"),
        result("r3", "b3", "t3"),
        assistant("e", "r1", "n", ""),
    ];
    // The walk meets e, r1, b1, a. Behind the response's last line on it come its other lines and
    // then the results, by time.
    assert_eq!(
        ids(&entries),
        ["a", "b1", "b2", "b3", "r2", "r3", "r1", "e"]
    );
}

#[test]
fn a_result_elsewhere_counts_for_a_call_without_an_answer() {
    let entries = [
        user("a", ""),
        assistant("b1", "a", "m", "t1"),
        assistant("b2", "b1", "m", "t2"),
        result("r1", "b2", "t1"),
        result("x", "gone", "t2"),
        result("y", "gone", "t2"),
        result("z", "gone", "t1"),
        assistant("e", "r1", "n", ""),
    ];
    assert_eq!(ids(&entries), ["a", "b1", "b2", "x", "r1", "e"]);
    let mut other_agent = entries.clone();
    other_agent[4]["agentId"] = json!("q");
    assert_eq!(ids(&other_agent), ["a", "b1", "b2", "y", "r1", "e"]);
}

#[test]
fn a_call_claimed_by_two_responses_places_nothing() {
    let entries = [
        user("a", ""),
        assistant("b1", "a", "m", "t"),
        assistant("x", "a", "other", "t"),
        result("r", "gone", "t"),
        assistant("e", "b1", "n", ""),
    ];
    assert_eq!(ids(&entries), ["a", "b1", "e"]);
}

#[test]
fn circles_end() {
    let entries = [user("a", "b"), user("b", "a"), user("c", "b")];
    assert_eq!(ids(&entries), ["a", "b", "c"]);
    assert!(ids(&entries[..2]).is_empty());
    let only_notices = [
        json!({"type": "system", "uuid": "a", "parentUuid": "b"}),
        json!({"type": "system", "uuid": "b", "parentUuid": "a"}),
        json!({"type": "system", "uuid": "c", "parentUuid": "b"}),
    ];
    assert!(ids(&only_notices).is_empty());
}

#[test]
fn pages() {
    let entries: Vec<Value> = (0..5i32)
        .map(|n| user(&n.to_string(), &(n - 1).to_string()))
        .collect();
    let page = |limit, offset| {
        with(
            &entries,
            &MessageOptions {
                limit,
                offset,
                include_system: false,
            },
        )
    };
    assert_eq!(page(Some(2), 1), ["1", "2"]);
    assert_eq!(page(Some(0), 3), ["3", "4"]);
    assert_eq!(page(None, 9), [""; 0]);
}

#[test]
fn messages_keep_their_text() {
    let line =
        r#"{"type":"user","uuid":"u","sessionId":"s","message":{"content": "\ud83d","n":1.0}}"#;
    let lines = ["\u{feff}", "{\"type\":\"user\"", line];
    let found = messages(&lines, &MessageOptions::default());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, MessageKind::User);
    assert_eq!(found[0].message, r#"{"content": "\ud83d","n":1.0}"#);
    assert_eq!(
        found[0].to_json(),
        r#"{"type":"user","uuid":"u","session_id":"s","message":{"content": "\ud83d","n":1.0},"parent_tool_use_id":null,"parent_agent_id":null}"#
    );
    let bare = messages(
        &[r#"{"type":"user","uuid":"u"}"#],
        &MessageOptions::default(),
    )
    .remove(0)
    .into_owned();
    assert_eq!(
        (bare.message.as_ref(), bare.session_id.as_ref()),
        ("null", "")
    );
}

#[test]
fn subagents_tell_what_they_descend_from() {
    let lines = [
        r#"{"type":"agent_metadata","toolUseId":"old"}"#.to_owned(),
        changed(user("a", ""), "isSidechain", json!(true)).to_string(),
        changed(assistant("b", "a", "m", ""), "isSidechain", json!(true)).to_string(),
        r#"{"type":"agent_metadata","toolUseId":"t","parentAgentId":"p","uuid":"x"}"#.to_owned(),
    ];
    let found = subagent_messages(&lines, None, &MessageOptions::default());
    let ids: Vec<_> = found.iter().map(|message| message.uuid.as_ref()).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(found[0].parent_tool_use_id.as_deref(), Some("t"));
    assert_eq!(found[1].parent_agent_id.as_deref(), Some("p"));
    let given = Parents {
        tool_use_id: None,
        agent_id: Some("q".to_owned()),
    };
    let found = subagent_messages(&lines, Some(&given), &MessageOptions::default());
    assert_eq!(found[0].parent_tool_use_id, None);
    assert_eq!(found[0].parent_agent_id.as_deref(), Some("q"));
    assert_eq!(Parents::from_metadata("[1]"), Parents::default());
    assert_eq!(
        Parents::from_metadata(r#"{"toolUseId":7}"#),
        Parents::default()
    );
}

proptest! {
    /// Whatever points at whatever: nothing panics, no message comes twice, a page is a part.
    #[test]
    fn any_graph(links in proptest::collection::vec((0usize..12, 0usize..12, 0usize..6, any::<bool>()), 0..12), limit in 0usize..5, offset in 0usize..5) {
        let entries: Vec<Value> = links.iter().map(|(uuid, parent, kind, flag)| {
            let (uuid, parent) = (uuid.to_string(), parent.to_string());
            let entry = match kind {
                0 | 1 => assistant(&uuid, &parent, &format!("m{}", parent.len()), &format!("t{uuid}")),
                2 | 3 => result(&uuid, &parent, &format!("t{parent}")),
                4 => json!({"type": "system", "uuid": uuid, "parentUuid": parent}),
                _ => user(&uuid, &parent),
            };
            changed(entry, "isSidechain", json!(flag & (kind % 2 == 0)))
        }).collect();
        let all = ids(&entries);
        let mut unique = all.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), all.len());
        let options = MessageOptions { limit: Some(limit), offset, include_system: false };
        let expected: Vec<String> = all.into_iter().skip(offset).take(if limit == 0 { usize::MAX } else { limit }).collect();
        prop_assert_eq!(with(&entries, &options), expected);
    }
}
