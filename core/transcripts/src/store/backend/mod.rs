//! The stores that come with the crate.

mod directory;
mod layout;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod url;

pub use directory::DirectoryStore;
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::PostgresStore;
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteStore;
pub use url::{open, open_existing};

use std::collections::HashSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Entry;

/// Unix time in milliseconds.
fn now_ms() -> i64 {
    milliseconds(SystemTime::now())
}

fn milliseconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(_) => 0,
    }
}

/// The entries that are neither in the store nor twice among themselves, with their ids.
fn not_yet_there(
    entries: &[Entry],
    mut is_there: impl FnMut(&str) -> bool,
) -> Vec<(Option<String>, &Entry)> {
    let mut seen = HashSet::new();
    let mut fresh = Vec::with_capacity(entries.len());
    for entry in entries {
        let uuid = entry.uuid().map(|uuid| uuid.into_owned());
        if let Some(uuid) = &uuid {
            if is_there(uuid) || !seen.insert(uuid.clone()) {
                continue;
            }
        }
        fresh.push((uuid, entry));
    }
    fresh
}
