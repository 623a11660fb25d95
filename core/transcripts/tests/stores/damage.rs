//! Files that are damaged, foreign, private or full.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::support::{batch, key, load, numbers, Appender, BATCH};
use towline_transcripts::store::{DirectoryStore, Entry, SessionKey, SessionStore, SqliteStore};

fn transcript(folder: &tempfile::TempDir) -> PathBuf {
    let file = format!("{}.jsonl", key().session_id);
    folder.path().join(key().project_key).join(file)
}

fn add(path: &PathBuf, text: &[u8]) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text).unwrap();
}

#[test]
fn a_directory_store_looks_as_the_projects_of_the_cli() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    store.append(&key(), &batch(1, 0)).unwrap();
    let sub = key().with_subpath("subagents/workflows/run/agent-1");
    store.append(&sub, &batch(1, 0)).unwrap();
    let lines: String = batch(1, 0)
        .iter()
        .map(|entry| format!("{entry:?}\n"))
        .collect();
    assert_eq!(fs::read_to_string(transcript(&folder)).unwrap(), lines);
    let below = transcript(&folder)
        .with_extension("")
        .join("subagents/workflows/run/agent-1.jsonl");
    assert_eq!(fs::read_to_string(below).unwrap(), lines);
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(transcript(&folder)), 0o600);
    assert_eq!(mode(folder.path().join(key().project_key)), 0o700);
}

#[test]
fn a_half_line_is_no_entry_and_hides_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    store.append(&key(), &batch(1, 0)).unwrap();
    add(
        &transcript(&folder),
        b"{\"type\":\"user\",\"uuid\":\"1/5\",\"wri",
    );
    assert_eq!(numbers(&load(&store), 1), [0, 1, 2, 3, 4]);
    // The store that wrote it, and one that finds it.
    store.append(&key(), &batch(1, 5)).unwrap();
    add(&transcript(&folder), b"\xff\xfe\n\n[1]\n\"x\"\n{\"type");
    let other = DirectoryStore::open(folder.path()).unwrap();
    other.append(&key(), &batch(1, 10)).unwrap();
    let expected: Vec<u64> = (0..15).collect();
    for store in [&store, &other] {
        assert_eq!(numbers(&load(store), 1), expected);
        assert_eq!(store.list_sessions(&key().project_key).unwrap().len(), 1);
    }
}

#[test]
fn a_directory_store_folds_summaries_of_foreign_transcripts() {
    let folder = tempfile::tempdir().unwrap();
    let path = transcript(&folder);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(
        &path,
        "{\"type\":\"custom-title\",\"customTitle\":\"from elsewhere\"}\n",
    )
    .unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    let title = || {
        let summaries = store.list_session_summaries(&key().project_key).unwrap();
        let listed = store.list_sessions(&key().project_key).unwrap();
        assert_eq!((summaries.len(), listed.len()), (1, 1));
        assert_eq!(summaries[0].mtime, listed[0].mtime);
        summaries[0].data.get().to_owned()
    };
    assert!(title().contains("from elsewhere"));
    let sidecar = path.with_file_name(format!(".summaries/{}.json", key().session_id));
    assert!(fs::read_to_string(&sidecar)
        .unwrap()
        .contains("from elsewhere"));
    // Grown without the store, then damaged.
    add(
        &path,
        b"{\"type\":\"custom-title\",\"customTitle\":\"grown\"}\n",
    );
    assert!(title().contains("grown"));
    fs::write(&sidecar, "{\"size\":").unwrap();
    assert!(title().contains("grown"));
    fs::write(
        &sidecar,
        "{\"size\":1,\"data\":{\"custom_title\":\"outdated\"}}",
    )
    .unwrap();
    assert!(title().contains("grown"));
    let retitled = Entry::new(r#"{"type":"custom-title","customTitle":"by the store"}"#).unwrap();
    store.append(&key(), &[retitled]).unwrap();
    assert!(title().contains("by the store"));
}

#[test]
fn a_directory_store_stays_inside_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = DirectoryStore::open(&root).unwrap();
    for odd in [
        "../outside",
        "..",
        "/etc/x",
        "a/../../../outside",
        ".summaries",
        "C:\\x",
        "a\0b",
    ] {
        let keys = [
            SessionKey::main(odd, "s"),
            SessionKey::main("p", odd),
            SessionKey::main("p", "s").with_subpath(odd),
        ];
        for key in keys {
            // An empty part is refused; anything else is a name like others.
            if store.append(&key, &batch(1, 0)).is_ok() {
                assert_eq!(store.load(&key).unwrap().unwrap().len(), 5, "{key}");
            } else {
                assert!(odd.starts_with('/'), "{key}");
            }
        }
    }
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert!(store
        .append(&SessionKey::main("", "s"), &batch(1, 0))
        .is_err());
}

#[test]
fn a_full_disk_leaves_the_transcript_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("dir:{}", folder.path().display());
    let appender = Appender::start_on_a_full_disk(&url, 1, 0, 1_000);
    let acknowledged = appender.finish().unwrap();
    assert!(acknowledged < 1_000);
    let lines = fs::read_to_string(transcript(&folder)).unwrap();
    assert!(lines.len() > 2_000 && lines.ends_with('\n'));
    let store = DirectoryStore::open(folder.path()).unwrap();
    let expected: Vec<u64> = (0..acknowledged).collect();
    assert_eq!(numbers(&load(&store), 1), expected);
    store.append(&key(), &batch(1, acknowledged)).unwrap();
    let expected: Vec<u64> = (0..acknowledged + BATCH).collect();
    assert_eq!(numbers(&load(&store), 1), expected);
}

#[test]
fn a_sqlite_file_is_private_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    SqliteStore::open(&path)
        .unwrap()
        .append(&key(), &batch(1, 0))
        .unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);

    let foreign = folder.path().join("foreign.db");
    rusqlite::Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let refused = SqliteStore::open(&foreign).unwrap_err();
    assert!(refused.message.contains("no session store"), "{refused}");

    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let refused = SqliteStore::open(&path).unwrap_err();
    assert!(refused.message.contains("version 99"), "{refused}");

    let text = folder.path().join("text.db");
    fs::write(&text, "x".repeat(5000)).unwrap();
    let refused = SqliteStore::open(&text).unwrap_err();
    assert!(refused.message.contains("no SQLite file"), "{refused}");
}
