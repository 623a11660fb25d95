//! Entries of a kibibyte appended to each kind of store, in the batches of a mirror that flushes
//! with the turn (500) and of one that flushes with every line (5). PostgreSQL is a real server on
//! this machine, with its own settings; every append is on disk when it returns. Arguments name the
//! kinds to measure; all without.

use std::time::{Duration, Instant};

use towline_testkit::TemporaryPostgres;
use towline_transcripts::store::{open, Entry, SessionKey, SessionStore};

const ENTRIES: usize = 20_000;
const ROUNDS: usize = 5;
/// Entries a second in large batches, for the databases.
const BAR: f64 = 10_000.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let postgres = TemporaryPostgres::start()?;
    let place = folder.path().display();
    let mut kept = true;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, url, bar) in [
        ("memory", "memory:".to_owned(), None),
        ("directory", format!("dir:{place}/dir"), None),
        ("SQLite", format!("sqlite:{place}/store.db"), Some(BAR)),
        ("PostgreSQL", postgres.url(), Some(BAR)),
    ] {
        if !wanted.is_empty() && !wanted.iter().any(|kind| kind == name) {
            continue;
        }
        let store = open(&url)?;
        let large = best(&*store, 500, ENTRIES)?;
        let small = best(&*store, 5, ENTRIES / 10)?;
        let loading = loading(&*store)?;
        let verdict = match bar {
            Some(bar) if large < bar => {
                kept = false;
                " (bar 10000: MISSED)"
            }
            Some(_) => " (bar 10000: kept)",
            None => "",
        };
        println!(
            "{name}: {large:.0} entries/s by 500{verdict}, {small:.0} by 5; \
             {ENTRIES} loaded in {} ms",
            loading.as_millis()
        );
    }
    std::process::exit(i32::from(!kept));
}

/// The median of some rounds, each into a session of its own.
fn best(
    store: &dyn SessionStore,
    batch: usize,
    count: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let key = SessionKey::main("-bench", format!("{batch}-{round}"));
        let entries: Result<Vec<Entry>, _> = (0..count).map(|n| Entry::new(line(n))).collect();
        let entries = entries?;
        let start = Instant::now();
        for batch in entries.chunks(batch) {
            store.append(&key, batch)?;
        }
        rates.push(count as f64 / start.elapsed().as_secs_f64());
    }
    rates.sort_by(f64::total_cmp);
    Ok(rates.get(ROUNDS / 2).copied().unwrap_or_default())
}

fn loading(store: &dyn SessionStore) -> Result<Duration, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let loaded = store.load(&SessionKey::main("-bench", "500-0"))?;
    assert_eq!(loaded.map(|entries| entries.len()), Some(ENTRIES));
    Ok(start.elapsed())
}

/// An assistant's message as the CLI writes it.
fn line(number: usize) -> String {
    let uuid = format!("00000000-0000-4000-8000-{number:012}");
    let text = "word ".repeat(130);
    format!(
        r#"{{"parentUuid":"{uuid}","isSidechain":false,"userType":"external","cwd":"/home/user/project","sessionId":"11111111-2222-4333-8444-555555555555","version":"2.1.332","gitBranch":"main","message":{{"model":"claude","id":"msg_{number}","type":"message","role":"assistant","content":[{{"type":"text","text":"{text}"}}],"stop_reason":null}},"type":"assistant","uuid":"{uuid}","timestamp":"2026-01-02T03:04:05.000Z"}}"#
    )
}
