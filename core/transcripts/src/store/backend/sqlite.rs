//! A store that is one SQLite file.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{params, Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::{not_yet_there, now_ms};
use crate::store::folding::fold;
use crate::store::{
    Capabilities, Entry, SessionKey, SessionStore, SessionSummaryEntry, StoreError, StoreListEntry,
};

/// Marks a file as a store of Towline: "twln".
const APPLICATION_ID: i64 = 0x7477_6c6e;

/// How long a call waits for other processes that write.
const BUSY: Duration = Duration::from_secs(30);

/// What leads from one version of the tables to the next; `user_version` counts those done.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE transcripts (
        id INTEGER PRIMARY KEY,
        project_key TEXT NOT NULL,
        session_id TEXT NOT NULL,
        subpath TEXT NOT NULL,
        mtime INTEGER NOT NULL,
        summary TEXT,
        UNIQUE (project_key, session_id, subpath)
    );
    CREATE TABLE entries (
        seq INTEGER PRIMARY KEY,
        transcript INTEGER NOT NULL REFERENCES transcripts ON DELETE CASCADE,
        uuid TEXT,
        entry TEXT NOT NULL
    );
    CREATE INDEX entries_in_order ON entries (transcript, seq);
    CREATE UNIQUE INDEX entries_once ON entries (transcript, uuid) WHERE uuid IS NOT NULL;
"];

/// Keeps transcripts in one SQLite file (0600, write-ahead log), which processes of one machine
/// may share. An append is one transaction, on disk when it returns.
///
/// A store that was open when its process forked must not be used by the child.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the file, making it if it is not there; its folder must be. Tables of an older version
    /// are brought up to date. A file that is no store, or one of a newer version, is refused.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        if path.as_os_str() != ":memory:" {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).mode(0o600);
            options
                .open(&path)
                .map_err(|error| not_opened(&path, &error))?;
        }
        let connection = connect(&path).map_err(|error| at(&path, error))?;
        let store = SqliteStore {
            path,
            connection: Mutex::new(connection),
        };
        store.prepare()?;
        Ok(store)
    }

    fn prepare(&self) -> Result<(), StoreError> {
        let refuse = |why: String| {
            Err(StoreError::failed(format_args!(
                "{}: {why}",
                self.path.display()
            )))
        };
        self.write(|change| {
            let version: i64 = change.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            let id: i64 = change.query_row("PRAGMA application_id", [], |row| row.get(0))?;
            let tables: i64 =
                change.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if tables > 0 && id != APPLICATION_ID {
                return Ok(refuse("this SQLite file is no session store".to_owned()));
            }
            let done = usize::try_from(version).unwrap_or(usize::MAX);
            let Some(missing) = MIGRATIONS.get(done..) else {
                return Ok(refuse(format!(
                    "the tables are of version {version}, newer than the {} this build knows; \
                     update Towline",
                    MIGRATIONS.len()
                )));
            };
            if missing.is_empty() {
                return Ok(Ok(()));
            }
            for step in missing {
                change.execute_batch(step)?;
            }
            change.pragma_update(None, "application_id", APPLICATION_ID)?;
            change.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
            Ok(Ok(()))
        })?
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        read(&self.lock()).map_err(|error| at(&self.path, error))
    }

    fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut connection = self.lock();
        let done = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|change| {
                let done = write(&change)?;
                change.commit()?;
                Ok(done)
            });
        done.map_err(|error| at(&self.path, error))
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Whoever opens the file first changes its mode; the others meet a locked file for a moment
    // that the busy timeout does not cover.
    let mut tries = 0;
    loop {
        let changed = connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()));
        match changed {
            Err(error) if tries < 200 && is_busy(&error) => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other.map(|()| connection),
        }
    }
}

impl SessionStore for SqliteStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.write(|change| {
            let (id, summary): (i64, Option<String>) = change
                .prepare_cached(
                    "INSERT INTO transcripts (project_key, session_id, subpath, mtime)
                     VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET mtime = max(mtime, excluded.mtime)
                     RETURNING id, summary",
                )?
                .query_row(
                    params![
                        key.project_key,
                        key.session_id,
                        key.subpath().unwrap_or_default(),
                        now_ms()
                    ],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )?;
            let mut insert = change.prepare_cached(
                "INSERT INTO entries (transcript, uuid, entry) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO NOTHING",
            )?;
            let mut added = Vec::with_capacity(entries.len());
            for (uuid, entry) in not_yet_there(entries, |_| false) {
                if insert.execute(params![id, uuid, entry.as_str()])? > 0 {
                    added.push(entry);
                }
            }
            if key.subpath().is_none() && !added.is_empty() {
                let folded = fold(summary.as_deref(), &key.session_id, &added);
                change
                    .prepare_cached("UPDATE transcripts SET summary = ?2 WHERE id = ?1")?
                    .execute(params![id, folded])?;
            }
            Ok(())
        })
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let texts = self.read(|connection| {
            let id: Option<i64> = connection
                .prepare_cached(
                    "SELECT id FROM transcripts
                     WHERE project_key = ?1 AND session_id = ?2 AND subpath = ?3",
                )?
                .query_row(
                    params![
                        key.project_key,
                        key.session_id,
                        key.subpath().unwrap_or_default()
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            let Some(id) = id else {
                return Ok(None);
            };
            let mut select = connection
                .prepare_cached("SELECT entry FROM entries WHERE transcript = ?1 ORDER BY seq")?;
            let texts = select.query_map([id], |row| row.get::<_, String>(0))?;
            texts.collect::<rusqlite::Result<Vec<String>>>().map(Some)
        })?;
        let Some(texts) = texts else {
            return Ok(None);
        };
        let entries = texts.into_iter().map(Entry::new);
        let entries: Result<Vec<Entry>, _> = entries.collect();
        entries.map(Some).map_err(StoreError::failed)
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT session_id, mtime FROM transcripts WHERE project_key = ?1 AND subpath = ''",
            )?;
            let sessions = select.query_map([project_key], |row| {
                Ok(StoreListEntry {
                    session_id: row.get(0)?,
                    mtime: row.get(1)?,
                })
            })?;
            sessions.collect()
        })
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        let rows: Vec<(String, i64, String)> = self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT session_id, mtime, summary FROM transcripts
                 WHERE project_key = ?1 AND subpath = '' AND summary IS NOT NULL",
            )?;
            let rows = select.query_map([project_key], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            rows.collect()
        })?;
        rows.into_iter()
            .map(|(session_id, mtime, data)| SessionSummaryEntry::new(session_id, mtime, data))
            .collect()
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.write(|change| {
            change.execute(
                "DELETE FROM transcripts
                 WHERE project_key = ?1 AND session_id = ?2 AND (?3 IS NULL OR subpath = ?3)",
                params![key.project_key, key.session_id, key.subpath()],
            )?;
            Ok(())
        })
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT subpath FROM transcripts
                 WHERE project_key = ?1 AND session_id = ?2 AND subpath <> ''",
            )?;
            let subkeys = select.query_map([project_key, session_id], |row| row.get(0))?;
            subkeys.collect()
        })
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked)
    )
}

fn not_opened(path: &Path, error: &io::Error) -> StoreError {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => " (the folder must exist)",
        io::ErrorKind::IsADirectory => " (for a folder write dir:PATH)",
        _ => "",
    };
    StoreError::failed(format_args!("{}: {error}{hint}", path.display()))
}

fn at(path: &Path, error: rusqlite::Error) -> StoreError {
    let message = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => {
            format!("{}: this file is no SQLite file", path.display())
        }
        _ => format!("{}: {error}", path.display()),
    };
    StoreError::failed(message)
}
