//! Processes that are killed while they append.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;
use std::time::{Duration, Instant};

use super::support::{load, numbers, Appender, BATCH};
use towline_transcripts::store::{open, Entry};

const KILLS: u64 = 40;

/// A process appends, is killed at a random moment, and another one goes on where the entries end:
/// whatever was acknowledged is there, whole and in order, at most one more batch with it.
pub(crate) fn killed_appenders_lose_nothing(url: &str, whole_batches: bool) {
    let random = RandomState::new();
    let mut first = 0;
    for round in 0..KILLS {
        let chance = random.hash_one(round);
        let mut appender = Appender::start(url, 0, first, 1_000_000);
        let mut acknowledged = first;
        for _ in 0..=chance % 8 {
            acknowledged = appender.acknowledged().unwrap();
        }
        // Somewhere within the next appends.
        let moment = Instant::now() + Duration::from_micros((chance >> 8) % 3000);
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        acknowledged = appender.kill().unwrap_or(acknowledged);

        let there = numbers(&load(&*open(url).unwrap()), 0);
        let count = u64::try_from(there.len()).unwrap();
        let in_order: Vec<u64> = (0..count).collect();
        assert_eq!(there, in_order, "round {round}");
        assert!(
            (acknowledged..=acknowledged + BATCH).contains(&count),
            "round {round}: {count} entries are there, {acknowledged} were acknowledged"
        );
        assert!(
            !whole_batches || count % BATCH == 0,
            "round {round}: {count}"
        );
        first = count;
    }
    assert!(first >= KILLS * BATCH);
}

#[test]
fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}/store.db", folder.path().display());
    killed_appenders_lose_nothing(&url, true);
}

#[test]
fn directory() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("dir:{}", folder.path().display());
    killed_appenders_lose_nothing(&url, false);
    let transcripts = files(folder.path());
    let lines: Vec<String> = transcripts
        .iter()
        .flat_map(|text| text.lines().map(str::to_owned))
        .collect();
    let whole = lines
        .iter()
        .filter(|line| Entry::new(line.as_str()).is_ok())
        .count();
    assert_eq!(whole, load(&*open(&url).unwrap()).len());
}

fn files(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            texts.extend(files(&path));
        } else if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}
