//! Stores in a real PostgreSQL server.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use super::crash::killed_appenders_lose_nothing;
use super::shared::{four_writers_lose_nothing, openings_share};
use super::support::{batch, key, load, numbers};
use postgres::{Client, NoTls};
use towline_testkit::TemporaryPostgres;
use towline_transcripts::store::conformance::check_strict;
use towline_transcripts::store::{open, Entry, PostgresStore, StoreErrorKind};

fn server() -> TemporaryPostgres {
    TemporaryPostgres::start().unwrap()
}

fn sql(server: &TemporaryPostgres, statement: &str) {
    let mut client = Client::connect(&server.url(), NoTls).unwrap();
    client.batch_execute(statement).unwrap();
}

#[test]
fn conformance() {
    let server = server();
    let count = Mutex::new(0);
    check_strict(&|| {
        let mut count = count.lock().unwrap();
        *count += 1;
        // A schema of its own for each.
        sql(&server, &format!("CREATE SCHEMA s{count}"));
        let url = format!("{}&options=-c%20search_path%3Ds{count}", server.url());
        Box::new(PostgresStore::open(&url).unwrap())
    })
    .unwrap();
}

#[test]
fn hosts_share_a_session() {
    let server = server();
    // All of them find no tables and make them.
    thread::scope(|scope| {
        for writer in 10..18 {
            let url = server.url();
            scope.spawn(move || {
                open(&url)
                    .unwrap()
                    .append(&key(), &batch(writer, 0))
                    .unwrap();
            });
        }
    });
    let store = open(&server.url()).unwrap();
    assert_eq!(load(&*store).len(), 8 * 5);
    store.delete(&key()).unwrap();
    four_writers_lose_nothing(&server.url());
    store.delete(&key()).unwrap();
    openings_share(&server.url());
}

#[test]
fn killed_hosts_lose_nothing() {
    let server = server();
    killed_appenders_lose_nothing(&server.url(), true);
}

#[test]
fn a_lost_connection_is_made_again() {
    let mut server = server();
    let store = open(&server.url()).unwrap();
    store.append(&key(), &batch(1, 0)).unwrap();
    sql(
        &server,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'towline'",
    );
    store.append(&key(), &batch(1, 5)).unwrap();
    server.restart().unwrap();
    store.append(&key(), &batch(1, 10)).unwrap();
    let expected: Vec<u64> = (0..15).collect();
    assert_eq!(numbers(&load(&*store), 1), expected);
    server.stop();
    let down = store.append(&key(), &batch(1, 15)).unwrap_err();
    assert!(
        down.message.contains("cannot connect to PostgreSQL"),
        "{down}"
    );
    server.restart().unwrap();
    store.append(&key(), &batch(1, 15)).unwrap();
    assert_eq!(load(&*store).len(), 20);
}

#[test]
fn no_summary_is_folded_from_an_outdated_one() {
    let server = server();
    let (one, other) = (open(&server.url()).unwrap(), open(&server.url()).unwrap());
    let title = |text: &str| {
        let entry = format!(r#"{{"type":"custom-title","customTitle":"{text}"}}"#);
        [Entry::new(entry).unwrap()]
    };
    let summary = || {
        let project = key().project_key;
        let found = one.list_session_summaries(&project).unwrap();
        found[0].data.get().to_owned()
    };
    one.append(&key(), &batch(1, 0)).unwrap();
    one.append(&key(), &batch(1, 5)).unwrap();
    other.append(&key(), &title("of the other")).unwrap();
    one.append(&key(), &batch(1, 10)).unwrap();
    assert!(summary().contains("of the other"), "{}", summary());
    one.append(&key(), &title("of the one")).unwrap();
    other.append(&key(), &batch(2, 0)).unwrap();
    assert!(summary().contains("of the one"), "{}", summary());
    // What is there already is left out, and the rest is added.
    let mut entries = batch(1, 10);
    entries.extend(batch(1, 15));
    one.append(&key(), &entries).unwrap();
    let mut kept = load(&*other);
    assert_eq!(kept.len(), 27);
    kept.retain(|entry| entry.member("writer").is_some());
    let expected: Vec<u64> = (0..20).collect();
    assert_eq!(numbers(&kept, 1), expected);
}

#[test]
fn a_refused_append_leaves_nothing_and_the_connection_usable() {
    let server = server();
    let store = open(&server.url()).unwrap();
    store.append(&key(), &batch(1, 0)).unwrap();
    sql(
        &server,
        "ALTER TABLE towline_entries ADD CONSTRAINT small CHECK (length(entry) < 600)",
    );
    let mut entries = batch(1, 5);
    entries.extend(batch(1, 650));
    let refused = store.append(&key(), &entries).unwrap_err();
    assert!(refused.message.contains("small"), "{refused}");
    assert_eq!(load(&*store).len(), 5);
    store.append(&key(), &batch(1, 5)).unwrap();
    assert_eq!(load(&*store).len(), 10);
}

#[test]
fn tables_of_a_newer_version_are_refused() {
    let server = server();
    drop(open(&server.url()).unwrap());
    sql(&server, "UPDATE towline_schema SET version = 99");
    let refused = PostgresStore::open(&server.url()).unwrap_err();
    assert!(refused.message.contains("version 99"), "{refused}");
}

#[test]
fn an_asynchronous_task_is_not_blocked() {
    let server = server();
    let store = open(&server.url()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let refused = runtime.block_on(async { store.load(&key()).unwrap_err() });
    assert!(refused.message.contains("asynchronous task"), "{refused}");
    assert!(store.load(&key()).unwrap().is_none());
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let server = server();
    let url = format!("{}&answer_timeout=0.3", server.url());
    let store = open(&url).unwrap();
    store.append(&key(), &batch(1, 0)).unwrap();
    server.freeze();
    let begun = Instant::now();
    let late = store.append(&key(), &batch(1, 5)).unwrap_err();
    assert_eq!(late.kind, StoreErrorKind::Timeout);
    assert!(late.message.contains("answer_timeout"), "{late}");
    let late = store.load(&key()).unwrap_err();
    assert_eq!(late.kind, StoreErrorKind::Timeout, "over a new connection");
    let late = open(&url).err().unwrap();
    assert_eq!(late.kind, StoreErrorKind::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(10));
    server.thaw();
    store.append(&key(), &batch(1, 10)).unwrap();
    let kept = numbers(&load(&*store), 1);
    assert!(kept.contains(&0) && kept.contains(&10), "{kept:?}");
    let wrong = open(&format!("{}&answer_timeout=soon", server.url()));
    assert!(wrong.err().unwrap().message.contains("answer_timeout"));
}
