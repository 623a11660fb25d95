//! The contracts themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{json, Map, Value};

use super::{Contract, Work};
use crate::store::folding::fold;
use crate::store::{Calls, Capabilities, Entry, SessionKey, TaskError};

type Outcome = Result<(), TaskError>;

pub(super) fn broken(how: String) -> TaskError {
    TaskError::Contract(how)
}

/// Fails the contract with this text unless the condition holds.
macro_rules! demand {
    ($holds:expr, $($text:tt)+) => {
        if !$holds {
            return Err(broken(format!($($text)+)));
        }
    };
}

/// A contract whose trial is the async function of the same name.
macro_rules! contract {
    ($name:literal, $applies:expr, $work:ident) => {
        contract!($name, $applies, $work, false)
    };
    ($name:literal, $applies:expr, $work:ident, $strict:literal) => {
        Contract {
            name: $name,
            strict: $strict,
            applies: $applies,
            work: |calls| -> Work { Box::pin($work(calls)) },
        }
    };
}

fn always(_: Capabilities) -> bool {
    true
}

pub(super) const ALL: &[Contract] = &[
    contract!(
        "load gives what was appended, in order",
        always,
        appended_is_loaded
    ),
    contract!(
        "a transcript that was never written is null",
        always,
        unknown_is_null
    ),
    contract!(
        "appends follow each other in the order of the calls",
        always,
        appends_in_order
    ),
    contract!(
        "appending nothing changes nothing",
        always,
        nothing_appended
    ),
    contract!(
        "a subpath is a transcript of its own",
        always,
        subpaths_apart
    ),
    contract!("projects are apart", always, projects_apart),
    contract!(
        "list_sessions gives a project's sessions",
        |has| has.list_sessions,
        sessions_listed
    ),
    contract!(
        "list_sessions leaves subpaths out",
        |has| has.list_sessions,
        subpaths_not_listed
    ),
    contract!("delete forgets a session", |has| has.delete, deleted),
    contract!(
        "delete of a session takes its subpaths along",
        |has| has.delete,
        deleted_with_subpaths
    ),
    contract!(
        "delete of a subpath takes only that",
        |has| has.delete,
        subpath_deleted
    ),
    contract!(
        "list_subkeys gives a session's subpaths",
        |has| has.list_subkeys,
        subkeys_listed
    ),
    contract!(
        "list_subkeys leaves the session itself out",
        |has| has.list_subkeys,
        no_subkeys
    ),
    contract!(
        "list_session_summaries gives what folding gave",
        |has| has.list_session_summaries,
        summaries
    ),
    contract!("entries keep every JSON value", always, any_json),
    contract!(
        "a long entry and a long transcript are kept whole",
        always,
        long
    ),
    contract!(
        "one uuid may stand in several transcripts",
        always,
        uuid_in_many
    ),
    contract!("names that begin alike are apart", always, names_alike),
    contract!(
        "the time of a session does not go back",
        |has| has.list_sessions,
        time_goes_on
    ),
    contract!(
        "a subpath does not need its session",
        |has| has.list_subkeys,
        subpath_alone
    ),
    contract!(
        "a deleted session begins anew",
        |has| has.delete,
        begins_anew
    ),
    contract!(
        "an entry whose uuid is there is not added again",
        always,
        repeated,
        true
    ),
    contract!("texts come back byte for byte", always, bytes_kept, true),
    contract!(
        "appending nothing makes no session",
        always,
        no_session_of_nothing,
        true
    ),
    contract!(
        "summaries are folded from what was added",
        |has| has.list_session_summaries,
        folded,
        true
    ),
];

/// An entry of a trial.
pub(super) fn entry(value: Value) -> Entry {
    match value {
        Value::Object(members) => Entry::of_members(members),
        other => Entry::of_members(Map::from_iter([("value".to_owned(), other)])),
    }
}

fn line(number: u64) -> Entry {
    entry(json!({"type": "x", "n": number}))
}

fn marked(uuid: &str, number: u64) -> Entry {
    entry(json!({"type": "x", "uuid": uuid, "n": number}))
}

pub(super) fn number_of(entry: &Entry) -> u64 {
    entry
        .member("n")
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::MAX)
}

fn main_key() -> SessionKey {
    SessionKey::main("proj", "sess")
}

fn value_of(entry: &Entry) -> Value {
    serde_json::from_str(entry.as_str()).unwrap_or_default()
}

/// Loads and compares value by value: a store may write JSON in its own way.
async fn expect(calls: &Calls, key: &SessionKey, expected: &[Entry]) -> Outcome {
    let Some(loaded) = calls.load(key.clone()).await? else {
        return Err(broken(format!("load({key}) gave null")));
    };
    let values = |entries: &[Entry]| entries.iter().map(value_of).collect::<Vec<_>>();
    let (got, wanted) = (values(&loaded), values(expected));
    if got == wanted {
        return Ok(());
    }
    let place = got
        .iter()
        .zip(&wanted)
        .take_while(|(got, wanted)| got == wanted)
        .count();
    let shown = |values: &[Value]| {
        values
            .get(place)
            .map_or("nothing".to_owned(), |value| shortened(&value.to_string()))
    };
    Err(broken(format!(
        "load({key}) gave {} entries for {}; entry {place} is {} where {} was appended",
        got.len(),
        wanted.len(),
        shown(&got),
        shown(&wanted),
    )))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

async fn expect_null(calls: &Calls, key: &SessionKey) -> Outcome {
    let loaded = calls.load(key.clone()).await?;
    demand!(
        loaded.is_none(),
        "load({key}) gave {loaded:?} where null is expected"
    );
    Ok(())
}

async fn expect_subkeys(calls: &Calls, key: &SessionKey, expected: &[&str]) -> Outcome {
    if !calls.capabilities().list_subkeys {
        return Ok(());
    }
    let mut subkeys = calls.list_subkeys(key.clone()).await?;
    subkeys.sort();
    demand!(
        subkeys == expected,
        "list_subkeys({key}) gave {subkeys:?} for {expected:?}"
    );
    Ok(())
}

async fn expect_sessions(calls: &Calls, project_key: &str, expected: &[&str]) -> Outcome {
    if !calls.capabilities().list_sessions {
        return Ok(());
    }
    let listed = calls.list_sessions(project_key.to_owned()).await?;
    let mut ids: Vec<&str> = listed
        .iter()
        .map(|entry| entry.session_id.as_str())
        .collect();
    ids.sort_unstable();
    demand!(
        ids == expected,
        "list_sessions({project_key}) gave {ids:?} for {expected:?}"
    );
    for session in &listed {
        is_milliseconds(session.mtime)?;
    }
    Ok(())
}

/// Seconds are below 10^12 for the next thirty thousand years.
fn is_milliseconds(mtime: i64) -> Outcome {
    demand!(
        mtime > 1_000_000_000_000,
        "mtime {mtime} is not in milliseconds since 1970"
    );
    Ok(())
}

async fn appended_is_loaded(calls: Calls) -> Outcome {
    let entries = vec![marked("b", 1), marked("a", 2)];
    calls.append(main_key(), entries.clone()).await?;
    expect(&calls, &main_key(), &entries).await
}

async fn unknown_is_null(calls: Calls) -> Outcome {
    expect_null(&calls, &SessionKey::main("proj", "nope")).await?;
    calls.append(main_key(), vec![marked("x", 1)]).await?;
    expect_null(&calls, &main_key().with_subpath("nope")).await
}

async fn appends_in_order(calls: Calls) -> Outcome {
    let all = [
        marked("z", 1),
        marked("a", 2),
        marked("m", 3),
        marked("b", 4),
    ];
    for batch in [&all[..1], &all[1..3], &all[3..]] {
        calls.append(main_key(), batch.to_vec()).await?;
    }
    expect(&calls, &main_key(), &all).await
}

async fn nothing_appended(calls: Calls) -> Outcome {
    let entries = [marked("a", 1)];
    calls.append(main_key(), entries.to_vec()).await?;
    calls.append(main_key(), vec![]).await?;
    expect(&calls, &main_key(), &entries).await
}

async fn subpaths_apart(calls: Calls) -> Outcome {
    let sub = main_key().with_subpath("subagents/agent-1");
    calls.append(main_key(), vec![marked("m", 1)]).await?;
    calls.append(sub.clone(), vec![marked("s", 2)]).await?;
    expect(&calls, &main_key(), &[marked("m", 1)]).await?;
    expect(&calls, &sub, &[marked("s", 2)]).await
}

async fn projects_apart(calls: Calls) -> Outcome {
    let (a, b) = (SessionKey::main("A", "s1"), SessionKey::main("B", "s1"));
    calls.append(a.clone(), vec![line(1)]).await?;
    calls.append(b.clone(), vec![line(2)]).await?;
    expect(&calls, &a, &[line(1)]).await?;
    expect(&calls, &b, &[line(2)]).await?;
    expect_sessions(&calls, "A", &["s1"]).await?;
    expect_sessions(&calls, "B", &["s1"]).await
}

async fn sessions_listed(calls: Calls) -> Outcome {
    for (project, session) in [("proj", "a"), ("proj", "b"), ("other", "c")] {
        calls
            .append(SessionKey::main(project, session), vec![line(1)])
            .await?;
    }
    expect_sessions(&calls, "proj", &["a", "b"]).await?;
    expect_sessions(&calls, "never-appended", &[]).await
}

async fn subpaths_not_listed(calls: Calls) -> Outcome {
    calls.append(main_key(), vec![line(1)]).await?;
    calls
        .append(main_key().with_subpath("subagents/agent-1"), vec![line(1)])
        .await?;
    expect_sessions(&calls, "proj", &["sess"]).await
}

async fn deleted(calls: Calls) -> Outcome {
    calls
        .delete(SessionKey::main("proj", "never-written"))
        .await?;
    calls.append(main_key(), vec![line(1)]).await?;
    calls.delete(main_key()).await?;
    expect_null(&calls, &main_key()).await
}

async fn deleted_with_subpaths(calls: Calls) -> Outcome {
    let below = [
        main_key().with_subpath("subagents/agent-1"),
        main_key().with_subpath("subagents/workflows/run/agent-2"),
    ];
    let others = [
        SessionKey::main("proj", "sess2"),
        SessionKey::main("proj", "sess2").with_subpath("subagents/agent-1"),
        SessionKey::main("other-proj", "sess"),
    ];
    calls.append(main_key(), vec![line(1)]).await?;
    for key in below.iter().chain(&others) {
        calls.append(key.clone(), vec![line(1)]).await?;
    }
    calls.delete(main_key()).await?;
    expect_null(&calls, &main_key()).await?;
    for key in &below {
        expect_null(&calls, key).await?;
    }
    for key in &others {
        expect(&calls, key, &[line(1)]).await?;
    }
    expect_subkeys(&calls, &main_key(), &[]).await?;
    expect_sessions(&calls, "proj", &["sess2"]).await
}

async fn subpath_deleted(calls: Calls) -> Outcome {
    let (one, two) = (
        main_key().with_subpath("subagents/agent-1"),
        main_key().with_subpath("subagents/agent-2"),
    );
    for key in [&main_key(), &one, &two] {
        calls.append(key.clone(), vec![line(1)]).await?;
    }
    calls.delete(one.clone()).await?;
    expect_null(&calls, &one).await?;
    expect(&calls, &two, &[line(1)]).await?;
    expect(&calls, &main_key(), &[line(1)]).await?;
    expect_subkeys(&calls, &main_key(), &["subagents/agent-2"]).await
}

async fn subkeys_listed(calls: Calls) -> Outcome {
    let other = SessionKey::main("proj", "other-sess");
    calls.append(main_key(), vec![line(1)]).await?;
    for subpath in ["subagents/agent-1", "subagents/agent-2"] {
        calls
            .append(main_key().with_subpath(subpath), vec![line(1)])
            .await?;
    }
    calls
        .append(other.with_subpath("subagents/agent-x"), vec![line(1)])
        .await?;
    expect_subkeys(
        &calls,
        &main_key(),
        &["subagents/agent-1", "subagents/agent-2"],
    )
    .await
}

async fn no_subkeys(calls: Calls) -> Outcome {
    calls.append(main_key(), vec![line(1)]).await?;
    expect_subkeys(&calls, &main_key(), &[]).await?;
    expect_subkeys(&calls, &SessionKey::main("proj", "never-appended"), &[]).await
}

async fn summary_data(calls: &Calls) -> Result<BTreeMap<String, (i64, String)>, TaskError> {
    let summaries = calls.list_session_summaries("proj".to_owned()).await?;
    let data = summaries.into_iter().map(|summary| {
        (
            summary.session_id,
            (summary.mtime, summary.data.get().to_owned()),
        )
    });
    Ok(data.collect())
}

async fn summaries(calls: Calls) -> Outcome {
    let titled = |second: u8, title: &str| {
        entry(json!({
            "type": "x",
            "timestamp": format!("2024-01-01T00:00:0{second}.000Z"),
            "customTitle": title,
        }))
    };
    calls
        .append(main_key(), vec![titled(0, "first"), line(1)])
        .await?;
    calls.append(main_key(), vec![titled(2, "second")]).await?;
    calls
        .append(
            SessionKey::main("other", "elsewhere"),
            vec![titled(0, "other")],
        )
        .await?;
    let before = summary_data(&calls).await?;
    let ids: Vec<&String> = before.keys().collect();
    demand!(
        ids == ["sess"],
        "list_session_summaries(proj) gave {ids:?} for [\"sess\"]"
    );
    for (mtime, data) in before.values() {
        is_milliseconds(*mtime)?;
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        demand!(value.is_object(), "data is {data}, not an object");
        if calls.capabilities().list_sessions {
            for session in calls.list_sessions("proj".to_owned()).await? {
                demand!(
                    *mtime >= session.mtime,
                    "the summary's mtime {mtime} is before the session's, {}: every summary \
                     would count as outdated",
                    session.mtime
                );
            }
        }
        let again = fold(Some(data), "sess", &[titled(3, "third")]);
        demand!(
            again.contains("third"),
            "data {data} does not go on folding"
        );
    }
    let sub = main_key().with_subpath("subagents/agent-1");
    calls.append(sub, vec![titled(9, "subagent")]).await?;
    let after = summary_data(&calls).await?;
    let data = |all: &BTreeMap<String, (i64, String)>| -> Vec<Value> {
        let texts = all.values().map(|(_, data)| serde_json::from_str(data));
        texts.map(Result::unwrap_or_default).collect()
    };
    demand!(
        data(&after) == data(&before),
        "a subagent changed the summary of its session"
    );
    let none = calls
        .list_session_summaries("never-appended".to_owned())
        .await?;
    demand!(
        none.is_empty(),
        "list_session_summaries of an unknown project gave {none:?}"
    );
    if calls.capabilities().delete {
        calls.delete(main_key()).await?;
        let left = summary_data(&calls).await?;
        demand!(left.is_empty(), "after delete there is {left:?}");
    }
    Ok(())
}

async fn any_json(calls: Calls) -> Outcome {
    let values = json!({
        "type": "x",
        "text": "tab\t newline\n quote\" backslash\\ slash/ \u{7f} \u{2028} é 🙂 漢字",
        "empty": {"": [], "object": {}},
        "numbers": [0, -1, 1.5, 1e-7, 9007199254740991u64],
        "others": [true, false, null],
        "nested": {"a": {"b": [{"c": [[1]]}]}},
        "like sql": "'; DROP TABLE entries; -- %_$1 ?1",
    });
    let entries = [entry(values), entry(json!({"type": "x"}))];
    calls.append(main_key(), entries.to_vec()).await?;
    expect(&calls, &main_key(), &entries).await
}

async fn long(calls: Calls) -> Outcome {
    let long = entry(json!({"type": "x", "text": "äbc ".repeat(1 << 18)}));
    let mut all: Vec<Entry> = (0..1200).map(line).collect();
    all.push(long);
    calls.append(main_key(), all.clone()).await?;
    expect(&calls, &main_key(), &all).await
}

async fn uuid_in_many(calls: Calls) -> Outcome {
    let keys = [
        main_key(),
        SessionKey::main("proj", "sess2"),
        SessionKey::main("other", "sess"),
        main_key().with_subpath("subagents/agent-1"),
    ];
    for (number, key) in (0..).zip(&keys) {
        calls
            .append(key.clone(), vec![marked("same", number)])
            .await?;
    }
    for (number, key) in (0..).zip(&keys) {
        expect(&calls, key, &[marked("same", number)]).await?;
    }
    Ok(())
}

async fn names_alike(calls: Calls) -> Outcome {
    let sessions = ["a_b", "axb", "a%", "a", "a.b", "a b", "å"];
    let subpaths = [
        "subagents/agent-1",
        "subagents/agent-1/agent-1",
        "subagents/agent-10",
    ];
    let mut keys = Vec::new();
    for project in ["-home-user-x", "-home-user-x-y"] {
        for session in sessions {
            let key = SessionKey::main(project, session);
            keys.extend(subpaths.map(|subpath| key.with_subpath(subpath)));
            keys.push(key);
        }
    }
    for (number, key) in (0..).zip(&keys) {
        calls.append(key.clone(), vec![line(number)]).await?;
    }
    let mut left: BTreeSet<&str> = sessions.into();
    for session in ["a_b", "a%", "a"] {
        let key = SessionKey::main("-home-user-x", session);
        expect_subkeys(&calls, &key, &subpaths).await?;
        if calls.capabilities().delete {
            calls.delete(key.clone()).await?;
            keys.retain(|other| {
                other.project_key != key.project_key || other.session_id != key.session_id
            });
            left.remove(session);
        }
    }
    for key in &keys {
        let there = calls.load(key.clone()).await?;
        demand!(
            there.is_some_and(|entries| entries.len() == 1),
            "{key} is gone or grew"
        );
    }
    let left: Vec<&str> = left.into_iter().collect();
    expect_sessions(&calls, "-home-user-x", &left).await
}

async fn time_goes_on(calls: Calls) -> Outcome {
    let mut last = 0;
    for number in 0..20 {
        calls.append(main_key(), vec![line(number)]).await?;
        for session in calls.list_sessions("proj".to_owned()).await? {
            demand!(
                session.mtime >= last,
                "mtime went from {last} to {}",
                session.mtime
            );
            last = session.mtime;
        }
    }
    Ok(())
}

async fn subpath_alone(calls: Calls) -> Outcome {
    let sub = main_key().with_subpath("subagents/agent-1");
    calls.append(sub.clone(), vec![line(1)]).await?;
    expect_null(&calls, &main_key()).await?;
    expect(&calls, &sub, &[line(1)]).await?;
    expect_subkeys(&calls, &main_key(), &["subagents/agent-1"]).await?;
    expect_sessions(&calls, "proj", &[]).await
}

async fn begins_anew(calls: Calls) -> Outcome {
    let titled = entry(json!({"type": "x", "uuid": "a", "customTitle": "before"}));
    calls.append(main_key(), vec![titled]).await?;
    calls.delete(main_key()).await?;
    calls.append(main_key(), vec![marked("a", 2)]).await?;
    expect(&calls, &main_key(), &[marked("a", 2)]).await?;
    if calls.capabilities().list_session_summaries {
        for (_, data) in summary_data(&calls).await?.values() {
            demand!(
                !data.contains("before"),
                "the summary {data} is of the deleted session"
            );
        }
    }
    Ok(())
}

async fn repeated(calls: Calls) -> Outcome {
    let first = [marked("a", 1), line(2), marked("b", 3), marked("a", 4)];
    let second = [
        marked("b", 5),
        line(2),
        marked("c", 6),
        marked("", 7),
        marked("", 7),
    ];
    calls.append(main_key(), first.to_vec()).await?;
    calls.append(main_key(), second.to_vec()).await?;
    calls.append(main_key(), vec![marked("c", 8)]).await?;
    let once = [
        marked("a", 1),
        line(2),
        marked("b", 3),
        line(2),
        marked("c", 6),
        marked("", 7),
        marked("", 7),
    ];
    expect(&calls, &main_key(), &once).await
}

async fn bytes_kept(calls: Calls) -> Outcome {
    let texts = [
        r#"{"z":1,"a":2,"z":3}"#,
        r#"{"lone":"\ud83d","nul":"\u0000","slash":"\/","e":"\u00e9"}"#,
        r#"{ "n" : 1.50, "big": 123456789012345678901234567890, "exp": 1E5 }"#,
        "{\"raw\":\"\u{7f}\u{2028}\u{feff}\"}",
    ];
    let entries: Result<Vec<Entry>, _> = texts.into_iter().map(Entry::new).collect();
    let entries = entries.map_err(|error| broken(error.to_string()))?;
    calls.append(main_key(), entries.clone()).await?;
    let loaded = calls.load(main_key()).await?.unwrap_or_default();
    demand!(loaded == entries, "{entries:?} came back as {loaded:?}");
    Ok(())
}

async fn no_session_of_nothing(calls: Calls) -> Outcome {
    calls.append(main_key(), vec![]).await?;
    expect_null(&calls, &main_key()).await?;
    expect_sessions(&calls, "proj", &[]).await
}

async fn folded(calls: Calls) -> Outcome {
    let entries = [
        entry(json!({
            "type": "user", "uuid": "1", "cwd": "/x", "gitBranch": "main",
            "timestamp": "2024-01-01T00:00:00.000Z", "message": {"content": "hello"},
        })),
        entry(json!({"type": "tag", "tag": "t"})),
        entry(json!({"type": "custom-title", "uuid": "2", "customTitle": "new"})),
        entry(json!({"type": "ai-title", "aiTitle": "made up"})),
    ];
    let outdated = entry(json!({"type": "custom-title", "uuid": "2", "customTitle": "old"}));
    for batch in [&entries[..1], &entries[1..], &[outdated]] {
        calls.append(main_key(), batch.to_vec()).await?;
    }
    let expected: Value = serde_json::from_str(&fold(None, "sess", &entries)).unwrap_or_default();
    for (_, data) in summary_data(&calls).await?.values() {
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        demand!(value == expected, "the summary is {value}, not {expected}");
    }
    Ok(())
}
