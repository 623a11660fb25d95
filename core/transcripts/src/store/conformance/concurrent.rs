//! Appends from several threads at once.

use std::sync::Arc;
use std::thread;

use serde_json::json;

use super::contracts::{broken, entry, number_of};
use super::Broken;
use crate::store::{CallId, Entry, SessionKey, SessionStore, StoreError, TaskError};

const WRITERS: u64 = 6;
const APPENDS: u64 = 20;
const BATCH: u64 = 3;

/// Several threads append to one session: nothing is lost, each thread's order is kept.
pub(super) fn appends(store: Arc<dyn SessionStore>, strict: bool) -> Result<(), Broken> {
    let contract = "appends from several threads to one session lose nothing";
    appended(&store, strict).map_err(|error| Broken { contract, error })
}

fn appended(store: &Arc<dyn SessionStore>, strict: bool) -> Result<(), TaskError> {
    let key = SessionKey::main("proj", "shared");
    let failed = |error: StoreError| TaskError::Store {
        call: CallId(0),
        error,
    };
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, key) = (Arc::clone(store), key.clone());
            thread::spawn(move || {
                (0..APPENDS).try_for_each(|append| {
                    let places = append * BATCH..(append + 1) * BATCH;
                    let batch: Vec<Entry> = places.map(|place| line(writer, place)).collect();
                    store.append(&key, &batch)
                })
            })
        })
        .collect();
    let joined = writers.into_iter().map(thread::JoinHandle::join);
    let written: Vec<Result<(), StoreError>> = joined
        .map(|done| done.unwrap_or_else(|_| Err(StoreError::failed("append panicked"))))
        .collect();
    for done in written {
        done.map_err(failed)?;
    }
    let entries = store.load(&key).map_err(failed)?.unwrap_or_default();
    let mut next = [0; WRITERS as usize];
    for entry in &entries {
        let number = number_of(entry);
        let (writer, place) = (number / 1_000_000, number % 1_000_000);
        let Some(expected) = usize::try_from(writer).ok().and_then(|at| next.get_mut(at)) else {
            return Err(broken(format!("{entry:?} was never appended")));
        };
        if place != *expected {
            return Err(broken(format!(
                "of thread {writer} entry {place} stands where {expected} should"
            )));
        }
        *expected += 1;
    }
    if next != [APPENDS * BATCH; WRITERS as usize] {
        return Err(broken(format!(
            "of {} entries from each of {WRITERS} threads there are {next:?}",
            APPENDS * BATCH
        )));
    }
    if strict
        && entries
            .chunks(BATCH as usize)
            .any(|chunk| writers_of(chunk) > 1)
    {
        return Err(broken("an append stands inside another one".to_owned()));
    }
    if strict && store.capabilities().list_session_summaries {
        let summaries = store.list_session_summaries("proj").map_err(failed)?;
        let last = entries.last().map_or(0, number_of).to_string();
        let folded = summaries
            .iter()
            .any(|summary| summary.data.get().contains(&last));
        if !folded {
            return Err(broken("the summary misses the last entry".to_owned()));
        }
    }
    Ok(())
}

fn line(writer: u64, place: u64) -> Entry {
    let number = writer * 1_000_000 + place;
    entry(json!({
        "type": "custom-title",
        "uuid": format!("{writer}-{place}"),
        "n": number,
        "customTitle": number.to_string(),
    }))
}

fn writers_of(entries: &[Entry]) -> usize {
    let writers: std::collections::BTreeSet<u64> = entries
        .iter()
        .map(|entry| number_of(entry) / 1_000_000)
        .collect();
    writers.len()
}
