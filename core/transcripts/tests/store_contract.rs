//! The JSON documents of calls and answers, and how a task is driven.

use towline_transcripts::store::{
    CallKind, Calls, Capabilities, Entry, PendingCall, SessionKey, StoreAnswer, StoreCall,
    StoreError, StoreErrorKind, StoreTask, TaskError, CONCURRENT_LOADS,
};

fn entry(text: &str) -> Entry {
    Entry::new(text).unwrap()
}

#[test]
fn an_entry_is_one_object_on_one_line() {
    assert_eq!(entry(" {\"a\":\r\n1}\n").as_str(), "{\"a\":  1}");
    assert_eq!(entry(r#"{"uuid":"x","n":"\ud800"}"#).uuid().unwrap(), "x");
    assert!(entry(r#"{"uuid":""}"#).uuid().is_none());
    assert!(entry(r#"{"uuid":7}"#).uuid().is_none());
    for wrong in ["", "[]", "1", "{}{}", "{\"a\":1", "null"] {
        assert!(Entry::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn calls_survive_their_json() {
    let main = SessionKey::main("-p", "s");
    let calls = [
        StoreCall::Append {
            key: main.with_subpath("subagents/agent-1"),
            entries: vec![entry(r#"{"type":"user","n":1.50}"#), entry("{}")],
        },
        StoreCall::Append {
            key: main.clone(),
            entries: vec![],
        },
        StoreCall::Load { key: main.clone() },
        StoreCall::ListSessions {
            project_key: "\"\u{1f600}".into(),
        },
        StoreCall::ListSessionSummaries {
            project_key: "-p".into(),
        },
        StoreCall::Delete { key: main.clone() },
        StoreCall::ListSubkeys { key: main },
    ];
    for call in &calls {
        assert_eq!(&StoreCall::from_json(&call.to_json()).unwrap(), call);
    }
    assert_eq!(
        calls[0].to_json(),
        r#"{"call":"append","key":{"project_key":"-p","session_id":"s","subpath":"subagents/agent-1"},"entries":[{"type":"user","n":1.50},{}]}"#
    );
    assert_eq!(
        calls[2].to_json(),
        r#"{"call":"load","key":{"project_key":"-p","session_id":"s"}}"#
    );
    for wrong in [
        "",
        "{}",
        r#"{"call":"fly"}"#,
        r#"{"call":"load"}"#,
        r#"{"call":"append","key":{"project_key":"-p","session_id":"s"}}"#,
        r#"{"call":"append","key":{"project_key":"-p","session_id":"s"},"entries":[1]}"#,
    ] {
        assert!(StoreCall::from_json(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn answers_are_what_the_official_methods_return() {
    let read = StoreAnswer::from_json;
    for kind in [CallKind::Append, CallKind::Delete] {
        assert_eq!(read(kind, "null").unwrap(), StoreAnswer::Done);
        assert_eq!(read(kind, "{\"rows\":1}").unwrap(), StoreAnswer::Done);
    }
    assert_eq!(
        read(CallKind::Load, "null").unwrap(),
        StoreAnswer::Entries(None)
    );
    let loaded = read(CallKind::Load, r#"[{"a":"\ud83d"}, {"b" : 1}]"#).unwrap();
    assert_eq!(loaded.to_json(), r#"[{"a":"\ud83d"},{"b" : 1}]"#);
    let listed = read(
        CallKind::ListSessions,
        r#"[{"session_id":"a","mtime":1700000000000},{"sessionId":"b","mtime":1.7e12}]"#,
    )
    .unwrap();
    assert_eq!(
        listed.to_json(),
        r#"[{"session_id":"a","mtime":1700000000000},{"session_id":"b","mtime":1700000000000}]"#
    );
    let summaries = read(
        CallKind::ListSessionSummaries,
        r#"[{"sessionId":"a","mtime":5,"data":{"cwd": "/x"}}]"#,
    )
    .unwrap();
    assert_eq!(
        summaries.to_json(),
        r#"[{"session_id":"a","mtime":5,"data":{"cwd": "/x"}}]"#
    );
    assert_eq!(
        read(CallKind::ListSubkeys, r#"["subagents/agent-1"]"#).unwrap(),
        StoreAnswer::Subkeys(vec!["subagents/agent-1".into()])
    );
    for (kind, wrong) in [
        (CallKind::Load, "[1]"),
        (CallKind::Load, "{}"),
        (CallKind::ListSessions, r#"[{"session_id":"a"}]"#),
        (CallKind::ListSubkeys, "null"),
    ] {
        let error = read(kind, wrong).unwrap_err();
        assert!(
            error.message.contains(kind.name()) || wrong == "[1]",
            "{error}"
        );
    }
    let error: StoreError = serde_json::from_str(r#"{"message":"full"}"#).unwrap();
    assert_eq!(error.kind, StoreErrorKind::Failed);
}

fn loads(count: usize) -> StoreTask<Vec<Result<usize, String>>> {
    StoreTask::new(Capabilities::ALL, move |calls: Calls| async move {
        let keys = (0..count).map(|n| SessionKey::main("p", n.to_string()));
        Ok(calls
            .with_timeout_ms(Some(5))
            .load_each(keys.collect(), |_, loaded| match loaded {
                Ok(entries) => Ok(entries.map_or(0, |entries| entries.len())),
                Err(error) => Err(error.to_string()),
            })
            .await)
    })
}

#[test]
fn many_loads_are_open_at_once_and_answered_in_any_order() {
    let mut task = loads(40);
    let mut open: Vec<PendingCall> = std::iter::from_fn(|| task.next_call()).collect();
    assert_eq!(open.len(), CONCURRENT_LOADS);
    assert!(open.iter().all(|call| call.timeout_ms == Some(5)));
    let mut most = open.len();
    let mut seen = 0;
    while let Some(pending) = open.pop() {
        let StoreCall::Load { key } = &pending.call else {
            panic!("{pending:?}");
        };
        let number: usize = key.session_id.parse().unwrap();
        let answer = match number % 3 {
            0 => Err(StoreError::failed("down")),
            1 => Ok(StoreAnswer::Entries(None)),
            _ => Ok(StoreAnswer::Entries(Some(vec![entry("{}"); number]))),
        };
        assert!(task.answer(pending.id, answer));
        assert!(!task.answer(pending.id, Ok(StoreAnswer::Done)), "answered");
        open.extend(std::iter::from_fn(|| task.next_call()));
        most = most.max(open.len());
        seen += 1;
    }
    assert_eq!((seen, most), (40, CONCURRENT_LOADS));
    let output = task.finished().unwrap().unwrap();
    for (number, got) in output.into_iter().enumerate() {
        match number % 3 {
            0 => assert_eq!(got, Err("down".into())),
            1 => assert_eq!(got, Ok(0)),
            _ => assert_eq!(got, Ok(number)),
        }
    }
    assert!(task.finished().is_none());
}

#[test]
fn a_failed_call_names_itself_and_a_wrong_answer_is_an_error() {
    let ask = || {
        StoreTask::new(Capabilities::ALL, |calls: Calls| async move {
            calls.list_sessions("p".into()).await.map(|list| list.len())
        })
        .map(|count| count.to_string())
    };
    let mut task = ask();
    let call = task.next_call().unwrap();
    assert!(task.finished().is_none());
    task.answer(call.id, Err(StoreError::timeout("list_sessions()", 7)));
    let error = task.finished().unwrap().unwrap_err();
    assert_eq!(error.code(), "store");
    assert!(
        matches!(&error, TaskError::Store { call: id, error }
            if *id == call.id && error.kind == StoreErrorKind::Timeout),
        "{error:?}"
    );
    assert_eq!(error.to_string(), "list_sessions() timed out after 7ms");

    let mut task = ask();
    let call = task.next_call().unwrap();
    task.answer(call.id, Ok(StoreAnswer::Done));
    assert_eq!(task.finished().unwrap().unwrap_err().code(), "store");

    let mut task = ask();
    let call = task.next_call().unwrap();
    task.answer(call.id, Ok(StoreAnswer::Sessions(vec![])));
    assert_eq!(task.finished().unwrap().unwrap(), "0");
    assert!(task.next_call().is_none());
}

#[test]
fn a_task_that_waits_for_no_call_ends() {
    let mut task: StoreTask<()> = StoreTask::new(Capabilities::ALL, |_| std::future::pending());
    assert!(task.next_call().is_none());
    assert_eq!(task.finished().unwrap(), Err(TaskError::Stuck));
}
