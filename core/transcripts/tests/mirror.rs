//! Mirroring, fed by hand and by recordings of the real CLI.

use std::collections::BTreeMap;

use serde_json::Value;
use towline_protocol::framing::{MessageType, RawMessage};
use towline_transcripts::mirror::{
    FlushMode, KeyNames, Mirror, MirrorConfig, Trouble, MOST_BYTES, MOST_ENTRIES,
};
use towline_transcripts::store::{PendingCall, StoreAnswer, StoreCall, StoreError};

const PROJECTS: &str = "/home/user/.claude/projects";

fn mirror(flush: FlushMode) -> Mirror {
    Mirror::new(MirrorConfig {
        flush,
        ..MirrorConfig::new(PROJECTS)
    })
}

fn line(file: &str, entries: &[&str]) -> RawMessage {
    let text = format!(
        r#"{{"type":"transcript_mirror","filePath":"{file}","entries":[{}]}}"#,
        entries.join(",")
    );
    RawMessage::from_text(&text).unwrap()
}

/// A line of session `session` with entries of these numbers.
fn entries(session: &str, numbers: std::ops::Range<usize>) -> RawMessage {
    let texts: Vec<String> = numbers.map(|n| format!(r#"{{"n":{n}}}"#)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    line(&format!("{PROJECTS}/-p/{session}.jsonl"), &texts)
}

/// What a call appends: to which session, and the numbers of its entries.
fn appended(pending: &PendingCall) -> (String, Vec<u64>) {
    let StoreCall::Append { key, entries } = &pending.call else {
        panic!("{pending:?}");
    };
    let numbers = entries.iter().map(|entry| {
        let entry: Value = serde_json::from_str(entry.as_str()).unwrap();
        entry["n"].as_u64().unwrap()
    });
    (key.session_id.clone(), numbers.collect())
}

fn ok(mirror: &mut Mirror, pending: &PendingCall, now: u64) {
    assert!(mirror.answered(pending.id, Ok(StoreAnswer::Done), now));
}

fn fail(mirror: &mut Mirror, pending: &PendingCall, text: &str, now: u64) {
    assert!(mirror.answered(pending.id, Err(StoreError::failed(text)), now));
}

#[test]
fn lines_are_joined_per_file_in_order_and_wait_for_a_flush() {
    let mut mirror = mirror(FlushMode::Batched);
    mirror.lines(&entries("a", 0..2), 0);
    mirror.lines(&entries("b", 10..11), 0);
    mirror.lines(&entries("a", 2..4), 0);
    assert_eq!(mirror.next_call(0), None);

    let mark = mirror.flush();
    let first = mirror.next_call(0).unwrap();
    assert_eq!(appended(&first), ("a".into(), vec![0, 1, 2, 3]));
    assert_eq!(mirror.next_call(0), None, "one call at a time");
    assert!(!mirror.is_stored(mark));
    ok(&mut mirror, &first, 1);
    let second = mirror.next_call(1).unwrap();
    assert_eq!(appended(&second), ("b".into(), vec![10]));
    ok(&mut mirror, &second, 2);
    assert!(mirror.is_stored(mark));
    assert!(mirror.is_idle());
    assert_eq!(mirror.next_trouble(), None);
}

#[test]
fn a_flush_begins_by_itself_above_500_entries_or_a_mebibyte() {
    let mut mirror = mirror(FlushMode::Batched);
    mirror.lines(&entries("a", 0..MOST_ENTRIES), 0);
    assert_eq!(mirror.next_call(0), None);
    mirror.lines(&entries("a", MOST_ENTRIES..MOST_ENTRIES + 1), 0);
    let call = mirror.next_call(0).unwrap();
    assert_eq!(appended(&call).1.len(), MOST_ENTRIES + 1);
    ok(&mut mirror, &call, 0);

    let long = format!(r#"{{"n":"{}"}}"#, "x".repeat(MOST_BYTES - 20));
    let file = format!("{PROJECTS}/-p/a.jsonl");
    mirror.lines(&line(&file, &[&long]), 0);
    assert_eq!(mirror.next_call(0), None);
    mirror.lines(&line(&file, &[r#"{"n":"xxxxxxxxxxxxxxxxx"}"#]), 0);
    assert!(mirror.next_call(0).is_some());
}

#[test]
fn eagerly_every_line_goes_and_lines_join_while_the_store_is_busy() {
    let mut mirror = mirror(FlushMode::Eager);
    mirror.lines(&entries("a", 0..1), 0);
    let first = mirror.next_call(0).unwrap();
    mirror.lines(&entries("a", 1..2), 0);
    mirror.lines(&entries("a", 2..3), 0);
    assert_eq!(mirror.next_call(5), None, "flushes never overlap");
    ok(&mut mirror, &first, 9);
    let second = mirror.next_call(9).unwrap();
    assert_eq!(appended(&second), ("a".into(), vec![1, 2]));
    ok(&mut mirror, &second, 9);
    assert!(mirror.is_idle());
}

#[test]
fn a_mark_covers_what_came_before_it_and_no_more() {
    let mut mirror = mirror(FlushMode::Batched);
    let nothing = mirror.flush();
    assert!(mirror.is_stored(nothing));

    mirror.lines(&entries("a", 0..1), 0);
    let first = mirror.flush();
    let call = mirror.next_call(0).unwrap();
    mirror.lines(&entries("a", 1..2), 0);
    let second = mirror.flush();
    let none_since = mirror.flush();
    ok(&mut mirror, &call, 0);
    assert!(mirror.is_stored(first));
    assert!(!mirror.is_stored(second));
    let call = mirror.next_call(0).unwrap();
    assert_eq!(appended(&call).1, [1]);
    mirror.lines(&entries("a", 2..3), 0);
    ok(&mut mirror, &call, 0);
    assert!(mirror.is_stored(second) && mirror.is_stored(none_since));
    assert_eq!(mirror.next_call(0), None, "the last line waits for a flush");

    let call = {
        mirror.flush();
        mirror.next_call(0).unwrap()
    };
    let while_it_runs = mirror.flush();
    assert!(!mirror.is_stored(while_it_runs));
    ok(&mut mirror, &call, 0);
    assert!(mirror.is_stored(while_it_runs));
}

#[test]
fn lines_after_a_result_wait_for_a_second_at_most() {
    let mut mirror = mirror(FlushMode::Batched);
    mirror.lines(&entries("a", 0..1), 0);
    assert_eq!(mirror.deadline(), None, "before a result they wait for it");
    mirror.flush();
    let call = mirror.next_call(0).unwrap();
    ok(&mut mirror, &call, 5);
    mirror.lines(&entries("a", 1..2), 10);
    mirror.lines(&entries("a", 2..3), 20);
    assert_eq!(mirror.deadline(), Some(1_010));
    mirror.handle_timeout(1_009);
    assert_eq!(mirror.next_call(1_009), None);
    mirror.handle_timeout(1_010);
    let call = mirror.next_call(1_010).unwrap();
    assert_eq!(appended(&call).1, [1, 2]);
    ok(&mut mirror, &call, 1_010);
    mirror.lines(&entries("a", 3..4), 2_000);
    assert_eq!(
        mirror.deadline(),
        None,
        "once: the next turn's lines wait for its result"
    );
}

#[test]
fn after_the_end_late_lines_go_at_once() {
    let mut mirror = mirror(FlushMode::Batched);
    mirror.lines(&entries("a", 0..1), 0);
    let end = mirror.finish();
    let call = mirror.next_call(0).unwrap();
    mirror.lines(&entries("a", 1..2), 0);
    ok(&mut mirror, &call, 0);
    assert!(mirror.is_stored(end));
    let late = mirror.next_call(0).unwrap();
    assert_eq!(appended(&late).1, [1]);
    ok(&mut mirror, &late, 0);
    mirror.lines(&entries("a", 2..3), 0);
    assert!(mirror.next_call(0).is_some());
}

#[test]
fn three_tries_with_pauses_then_a_message_and_the_next_file() {
    let mut mirror = mirror(FlushMode::Batched);
    mirror.lines(&entries("a", 0..1), 0);
    mirror.lines(&entries("b", 5..6), 0);
    let mark = mirror.flush();
    let mut now = 1_000;
    for pause in [200, 800] {
        let call = mirror.next_call(now).unwrap();
        assert_eq!(appended(&call), ("a".into(), vec![0]));
        fail(&mut mirror, &call, "full", now);
        assert_eq!(mirror.deadline(), Some(now + pause));
        assert_eq!(mirror.next_call(now + pause - 1), None);
        assert_eq!(mirror.next_trouble(), None);
        now += pause;
    }
    let call = mirror.next_call(now).unwrap();
    fail(&mut mirror, &call, "still \"full\"", now);
    let trouble = mirror.next_trouble().unwrap();
    let message = trouble.message("u-1", KeyNames::CamelCase).unwrap();
    let message: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(
        message,
        serde_json::json!({
            "type": "system", "subtype": "mirror_error", "error": "still \"full\"",
            "key": {"projectKey": "-p", "sessionId": "a"}, "uuid": "u-1", "session_id": "a",
        })
    );
    let message = trouble.message("u-1", KeyNames::SnakeCase).unwrap();
    let message: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(
        message["key"],
        serde_json::json!({"project_key": "-p", "session_id": "a"})
    );

    let call = mirror.next_call(now).unwrap();
    assert_eq!(appended(&call), ("b".into(), vec![5]));
    fail(&mut mirror, &call, "a short fault", now);
    let again = mirror.next_call(now + 200).unwrap();
    ok(&mut mirror, &again, now + 200);
    assert!(mirror.is_stored(mark));
    assert_eq!(mirror.next_trouble(), None);
}

#[test]
fn a_call_whose_time_is_up_is_not_tried_again() {
    let mut mirror = mirror(FlushMode::Batched);
    let file = format!("{PROJECTS}/-p/a/subagents/agent-1.jsonl");
    mirror.lines(&line(&file, &[r#"{"n":1}"#]), 0);
    mirror.flush();
    let call = mirror.next_call(7).unwrap();
    assert_eq!(call.timeout_ms, Some(60_000));
    assert_eq!(mirror.deadline(), Some(60_007));
    mirror.handle_timeout(60_006);
    assert_eq!(mirror.next_trouble(), None);
    mirror.handle_timeout(60_007);
    let message = mirror.next_trouble().unwrap();
    let message = message.message("u", KeyNames::CamelCase).unwrap();
    let message: Value = serde_json::from_str(&message).unwrap();
    assert_eq!(message["key"]["subpath"], "subagents/agent-1");
    assert_eq!(
        message["error"],
        "SessionStore.append() timed out after 60000ms"
    );
    assert!(mirror.is_idle());
    assert!(
        !mirror.answered(call.id, Ok(StoreAnswer::Done), 60_008),
        "a late answer is harmless"
    );

    // One that the store itself gave up is treated alike.
    mirror.lines(&entries("a", 0..1), 0);
    mirror.flush();
    let call = mirror.next_call(0).unwrap();
    mirror.answered(call.id, Err(StoreError::timeout("the write", 5)), 0);
    assert!(matches!(mirror.next_trouble(), Some(Trouble::Lost { .. })));
    assert!(mirror.is_idle());
}

#[test]
fn at_the_end_a_store_that_hangs_is_waited_for_once() {
    let mut mirror = mirror(FlushMode::Batched);
    for session in ["a", "b", "c"] {
        mirror.lines(&entries(session, 0..1), 0);
    }
    let end = mirror.finish();
    let call = mirror.next_call(0).unwrap();
    mirror.lines(&entries("d", 0..1), 0);
    mirror.handle_timeout(60_000);
    assert!(mirror.is_idle() && mirror.is_stored(end));
    let told: Vec<String> = std::iter::from_fn(|| mirror.next_trouble())
        .map(|trouble| match trouble {
            Trouble::Lost { key, .. } => key.session_id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["a", "b", "c", "d"]);
    assert!(!mirror.answered(call.id, Ok(StoreAnswer::Done), 60_001));
}

#[test]
fn files_elsewhere_are_told_once_and_malformed_lines_do_no_harm() {
    let mut mirror = mirror(FlushMode::Eager);
    for _ in 0..3 {
        mirror.lines(&line("/elsewhere/-p/s.jsonl", &[r#"{"n":1}"#]), 0);
    }
    assert!(matches!(
        mirror.next_trouble(),
        Some(Trouble::Outside { path, .. }) if path == "/elsewhere/-p/s.jsonl"
    ));
    assert_eq!(mirror.next_trouble(), None);

    for text in [
        r#"{"type":"transcript_mirror"}"#,
        r#"{"type":"transcript_mirror","filePath":3,"entries":[{}]}"#,
        r#"{"type":"transcript_mirror","filePath":"/home/user/.claude/projects/-p/s.jsonl","entries":[4]}"#,
        r#"{"type":"transcript_mirror","filePath":"/home/user/.claude/projects/-p/s.jsonl","entries":{}}"#,
    ] {
        mirror.lines(&RawMessage::from_text(text).unwrap(), 0);
        assert_eq!(mirror.next_trouble(), Some(Trouble::Malformed), "{text}");
        assert_eq!(mirror.next_trouble(), None, "{text}");
    }
    mirror.lines(&line(&format!("{PROJECTS}/-p/s.jsonl"), &[]), 0);
    assert!(mirror.is_idle(), "no entries, no call");
}

#[test]
fn entries_are_single_lines_whatever_the_message_is() {
    let mut mirror = mirror(FlushMode::Eager);
    let file = format!("{PROJECTS}/-p/s.jsonl");
    mirror.lines(&line(&file, &["{\"n\":\r\n1}", r#"{"n":2}"#]), 0);
    let call = mirror.next_call(0).unwrap();
    let StoreCall::Append { entries, .. } = &call.call else {
        panic!("{call:?}");
    };
    assert!(entries
        .iter()
        .all(|entry| !entry.as_str().contains(['\n', '\r'])));
    assert_eq!(appended(&call).1, [1, 2]);
}

#[test]
fn a_store_that_is_far_too_slow_loses_lines_and_this_is_told() {
    let mut mirror = Mirror::new(MirrorConfig {
        backlog: 100,
        flush: FlushMode::Eager,
        ..MirrorConfig::new(PROJECTS)
    });
    mirror.lines(&entries("a", 0..2), 0);
    let call = mirror.next_call(0).unwrap();
    for _ in 0..20 {
        mirror.lines(&entries("a", 2..4), 0);
    }
    let trouble = mirror.next_trouble().unwrap();
    assert!(trouble.to_string().contains("too slow"), "{trouble}");
    assert_eq!(mirror.next_trouble(), None, "told once");
    ok(&mut mirror, &call, 0);
    let next = mirror.next_call(0).unwrap();
    ok(&mut mirror, &next, 0);
    mirror.lines(&entries("a", 9..10), 0);
    let next = mirror.next_call(0).unwrap();
    assert_eq!(appended(&next).1, [9]);
}

/// Feeds a recording as a session would: marks at results, the end at the end.
fn replay(name: &str, flush: FlushMode) -> BTreeMap<String, Vec<String>> {
    let path = format!(
        "{}/../../tests/transcripts/{name}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let mut mirror = mirror(flush);
    let mut stored: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut store = |mirror: &mut Mirror| {
        while let Some(pending) = mirror.next_call(0) {
            let StoreCall::Append { key, entries } = &pending.call else {
                panic!("{pending:?}");
            };
            let kept = stored.entry(key.to_string()).or_default();
            kept.extend(entries.iter().map(|entry| entry.as_str().to_owned()));
            ok(mirror, &pending, 0);
        }
    };
    let mut results = 0;
    for recorded in std::fs::read_to_string(path).unwrap().lines() {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        if recorded["dir"] != "out" {
            continue;
        }
        let message = RawMessage::from_text(&recorded["line"].to_string()).unwrap();
        match message.kind() {
            MessageType::TranscriptMirror => {
                let file = recorded["line"]["filePath"].as_str().unwrap();
                let key = file
                    .strip_prefix("/home/user/.claude/projects/")
                    .and_then(|file| file.strip_suffix(".jsonl"));
                let all = expected.entry(key.unwrap().into()).or_default();
                let entries = recorded["line"]["entries"].as_array().unwrap();
                all.extend(entries.iter().map(Value::to_string));
                mirror.lines(&message, 0);
                store(&mut mirror);
            }
            MessageType::Result => {
                results += 1;
                let mark = mirror.flush();
                store(&mut mirror);
                assert!(mirror.is_stored(mark));
            }
            _ => {}
        }
    }
    mirror.finish();
    store(&mut mirror);
    assert!(mirror.is_idle());
    assert_eq!(mirror.next_trouble(), None);
    assert!(results > 0 && !expected.is_empty());
    let parsed = stored.iter().map(|(key, entries)| {
        let entries = entries.iter().map(|text| {
            let value: Value = serde_json::from_str(text).unwrap();
            value.to_string()
        });
        (key.clone(), entries.collect())
    });
    assert_eq!(parsed.collect::<BTreeMap<_, Vec<_>>>(), expected);
    stored
}

#[test]
fn recordings_reach_the_store_entry_for_entry() {
    for flush in [FlushMode::Batched, FlushMode::Eager] {
        let stored = replay("session_store_mirror", flush);
        assert_eq!(stored.len(), 1);
        let last = stored.values().next().unwrap().last().unwrap();
        assert!(last.contains("cost-state"), "what comes after the result");

        let stored = replay("mirror_subagent", flush);
        let subagent = stored
            .iter()
            .find(|(key, _)| key.contains("/subagents/agent-"))
            .unwrap();
        assert!(subagent.1[0].contains("agent_metadata"));
    }
}
