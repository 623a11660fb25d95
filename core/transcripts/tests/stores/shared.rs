//! Several processes and several openings of one store.

use std::thread;

use super::support::{batch, key, load, numbers, Appender, BATCH};
use towline_transcripts::store::{open, SessionKey};

/// Two processes and two openings in this one append to one session; nothing is lost, each
/// writer's order is kept and no batch stands inside another.
pub(crate) fn four_writers_lose_nothing(url: &str) {
    const BATCHES: u64 = 60;
    let processes: Vec<Appender> = (0..2)
        .map(|writer| Appender::start(url, writer, 0, BATCHES))
        .collect();
    thread::scope(|scope| {
        for writer in 2..4 {
            scope.spawn(move || {
                let store = open(url).unwrap();
                for first in (0..BATCHES).map(|index| index * BATCH) {
                    store.append(&key(), &batch(writer, first)).unwrap();
                }
            });
        }
    });
    for process in processes {
        assert_eq!(process.finish(), Some(BATCHES * BATCH));
    }
    let store = open(url).unwrap();
    let entries = load(&*store);
    let expected: Vec<u64> = (0..BATCHES * BATCH).collect();
    for writer in 0..4 {
        assert_eq!(numbers(&entries, writer), expected, "writer {writer}");
    }
    let batches = entries.chunks(usize::try_from(BATCH).unwrap());
    for batch in batches {
        let one = batch[0].member("writer");
        assert!(batch.iter().all(|entry| entry.member("writer") == one));
    }
    let summaries = store.list_session_summaries(&key().project_key).unwrap();
    let listed = store.list_sessions(&key().project_key).unwrap();
    assert_eq!(summaries.len(), 1);
    assert!(summaries[0].mtime >= listed[0].mtime);
}

/// What one opening has written another one sees, repeated entries too.
pub(crate) fn openings_share(url: &str) {
    let (one, other) = (open(url).unwrap(), open(url).unwrap());
    let sub = key().with_subpath("subagents/agent-1");
    one.append(&key(), &batch(1, 0)).unwrap();
    other.append(&key(), &batch(1, 3)).unwrap();
    one.append(&key(), &batch(1, 6)).unwrap();
    one.append(&sub, &batch(1, 0)).unwrap();
    let expected: Vec<u64> = (0..11).collect();
    for store in [&one, &other, &open(url).unwrap()] {
        assert_eq!(numbers(&load(&**store), 1), expected);
        let subkeys = store
            .list_subkeys(&key().project_key, &key().session_id)
            .unwrap();
        assert_eq!(subkeys, ["subagents/agent-1"]);
    }
    other.delete(&key()).unwrap();
    one.append(&key(), &batch(1, 0)).unwrap();
    assert_eq!(numbers(&load(&*other), 1), [0, 1, 2, 3, 4]);
    let gone = one.load(&sub).unwrap();
    assert!(gone.is_none(), "{gone:?}");
    let elsewhere = SessionKey::main("elsewhere", &key().session_id);
    assert!(one.load(&elsewhere).unwrap().is_none());
}

#[test]
fn directory_with_four_writers() {
    let folder = tempfile::tempdir().unwrap();
    four_writers_lose_nothing(&format!("dir:{}", folder.path().display()));
}

#[test]
fn sqlite_with_four_writers() {
    let folder = tempfile::tempdir().unwrap();
    four_writers_lose_nothing(&format!("sqlite:{}/store.db", folder.path().display()));
}

#[test]
fn directory_opened_twice() {
    let folder = tempfile::tempdir().unwrap();
    openings_share(&format!("dir:{}", folder.path().display()));
}

#[test]
fn sqlite_opened_twice() {
    let folder = tempfile::tempdir().unwrap();
    openings_share(&format!("sqlite:{}/store.db", folder.path().display()));
}

#[test]
fn many_open_a_new_sqlite_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let url = &format!("sqlite:{}/store.db", folder.path().display());
    thread::scope(|scope| {
        for writer in 0..8 {
            scope.spawn(move || {
                open(url)
                    .unwrap()
                    .append(&key(), &batch(writer, 0))
                    .unwrap()
            });
        }
    });
    assert_eq!(load(&*open(url).unwrap()).len(), 8 * 5);
}
