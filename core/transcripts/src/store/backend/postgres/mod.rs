//! A store in a PostgreSQL database, which many hosts share.

mod address;
#[cfg(not(feature = "postgres-tls"))]
mod no_tls;
#[cfg(feature = "postgres-tls")]
mod tls;

use std::collections::VecDeque;
use std::error::Error as _;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio_postgres::error::{Severity, SqlState};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Connection, Statement, Transaction};

use super::not_yet_there;
use address::Address;
#[cfg(not(feature = "postgres-tls"))]
use no_tls::connect;
#[cfg(feature = "postgres-tls")]
use tls::connect;

use crate::store::folding::fold;
use crate::store::{
    Capabilities, Entry, SessionKey, SessionStore, SessionSummaryEntry, StoreError, StoreErrorKind,
    StoreListEntry,
};

/// Hosts that open a store at the same time make its tables one after another: "towline".
const MIGRATION_LOCK: i64 = 0x0074_6f77_6c69_6e65;

/// How long connecting to a host takes at most when the URL sets no limit.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a call takes at most when the URL sets no limit, opening the store too: a server that is
/// frozen, or waits for somebody else's lock, acknowledges what it is sent and never answers.
const ANSWER: Duration = Duration::from_secs(60);
/// How long sent data stays unacknowledged before the connection counts as lost.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// What leads from one version of the tables to the next. Entries are text, not JSONB: that
/// refuses `\u0000` and lone surrogates, which transcripts contain.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE towline_transcripts (
        id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        project_key text NOT NULL,
        session_id text NOT NULL,
        subpath text NOT NULL,
        mtime bigint NOT NULL,
        summary text,
        UNIQUE (project_key, session_id, subpath)
    );
    CREATE TABLE towline_entries (
        seq bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
        transcript bigint NOT NULL REFERENCES towline_transcripts ON DELETE CASCADE,
        uuid text,
        entry text NOT NULL
    );
    CREATE INDEX towline_entries_in_order ON towline_entries (transcript, seq);
    CREATE UNIQUE INDEX towline_entries_once ON towline_entries (transcript, uuid)
        WHERE uuid IS NOT NULL;
"];

/// The lock on the transcript's row makes appends to one session wait for each other, so that their
/// order is that of their commits and no summary is folded from an outdated one.
const TOUCH: &str = "
    INSERT INTO towline_transcripts AS kept (project_key, session_id, subpath, mtime)
    VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
    ON CONFLICT (project_key, session_id, subpath)
    DO UPDATE SET mtime = greatest(kept.mtime, excluded.mtime)
    RETURNING id, summary";
/// An append in one statement, for a transcript whose row and summary are known from an earlier one:
/// it does nothing where another host has changed the summary meanwhile, and fails as a whole where
/// an entry is there already. The numbers of entries are drawn under the lock on the row.
const ADD: &str = "
    WITH touched AS (
        UPDATE towline_transcripts SET
            mtime = greatest(mtime, (extract(epoch FROM clock_timestamp()) * 1000)::bigint),
            summary = $3
        WHERE id = $1 AND summary IS NOT DISTINCT FROM $2
        RETURNING id
    )
    INSERT INTO towline_entries (transcript, uuid, entry)
    SELECT touched.id, added.uuid, added.entry
    FROM touched, unnest($4::text[], $5::text[]) WITH ORDINALITY AS added (uuid, entry, place)
    ORDER BY place";
const PRESENT: &str = "
    SELECT uuid FROM towline_entries WHERE transcript = $1 AND uuid = ANY ($2)";
const INSERT: &str = "
    INSERT INTO towline_entries (transcript, uuid, entry)
    SELECT $1, uuid, entry
    FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS added (uuid, entry, place)
    ORDER BY place";
const SUMMARISE: &str = "UPDATE towline_transcripts SET summary = $2 WHERE id = $1";

/// Keeps transcripts in the tables `towline_transcripts` and `towline_entries` of a PostgreSQL
/// database (12 or newer), in the first schema of the search path.
///
/// The store holds one connection, made when it is opened and made again when it was lost; a call
/// that lost it is tried a second time. Entries with a `uuid` are never there twice then; one without
/// may be, if the connection broke between the commit and the word of it. Times are the server's.
///
/// A call, opening too, that has no answer within 60 seconds (the parameter `answer_timeout` of the
/// URL, in seconds; 0 is no limit) fails with [`StoreErrorKind::Timeout`], and the connection is
/// made anew.
///
/// Calls block, and are refused on a thread that runs an asynchronous Tokio task. A store that was
/// open when its process forked must not be used by the child.
pub struct PostgresStore {
    address: Address,
    /// How long a call may take.
    answer: Option<Duration>,
    link: Mutex<Option<Open>>,
}

/// What carries a connection, only while a call waits for it. The connection ends with it.
struct Open {
    link: Link,
    runtime: Runtime,
}

/// An open connection and what was prepared on it.
struct Link {
    client: Client,
    /// Of the transcripts that were appended to last, the newest behind.
    known: VecDeque<Known>,
    add: Statement,
    touch: Statement,
    present: Statement,
    insert: Statement,
    summarise: Statement,
}

/// How a transcript stood after an append.
#[derive(Debug)]
struct Known {
    key: SessionKey,
    id: i64,
    summary: Option<String>,
}

/// How many transcripts are kept in mind.
const MOST_KNOWN: usize = 32;

impl Link {
    fn remember(&mut self, known: Known) {
        self.forget(&known.key);
        if self.known.len() >= MOST_KNOWN {
            self.known.pop_front();
        }
        self.known.push_back(known);
    }

    /// What is known of a transcript, to be remembered again when it still holds.
    fn forget(&mut self, key: &SessionKey) -> Option<Known> {
        let at = self.known.iter().position(|known| known.key == *key)?;
        self.known.remove(at)
    }

    /// Adds entries in one statement; `false` when that cannot be.
    async fn add_to_known(
        &mut self,
        key: &SessionKey,
        entries: &[Entry],
    ) -> Result<bool, tokio_postgres::Error> {
        let Some(known) = self.forget(key) else {
            return Ok(false);
        };
        let (uuids, added): (Vec<Option<String>>, Vec<&Entry>) =
            not_yet_there(entries, |_| false).into_iter().unzip();
        let texts: Vec<&str> = added.iter().map(|entry| entry.as_str()).collect();
        let summary = match key.subpath() {
            None => Some(fold(known.summary.as_deref(), &key.session_id, &added)),
            Some(_) => None,
        };
        let values: [&(dyn ToSql + Sync); 5] =
            [&known.id, &known.summary, &summary, &uuids, &texts];
        match self.client.execute(&self.add, &values).await {
            Ok(0) => Ok(false),
            Ok(_) => {
                self.remember(Known { summary, ..known });
                Ok(true)
            }
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Adds what is not there yet.
    async fn add_what_is_new(
        &mut self,
        key: &SessionKey,
        entries: &[Entry],
    ) -> Result<(), tokio_postgres::Error> {
        let mut change = self.client.transaction().await?;
        let statements = (&self.touch, &self.present, &self.insert, &self.summarise);
        let (id, summary) = add(&mut change, statements, key, entries).await?;
        change.commit().await?;
        let key = key.clone();
        self.remember(Known { key, id, summary });
        Ok(())
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The password stays out.
        formatter
            .debug_struct("PostgresStore")
            .field("hosts", &self.address.config.get_hosts())
            .field("database", &self.address.config.get_dbname())
            .finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Connects to the database of a `postgres://` URL (see [`open`](super::open)) and makes the tables, or brings those of an
    /// older version up to date. Tables of a newer version are refused.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let mut address = Address::of_url(url)?;
        let config = &mut address.config;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_application_name().is_none() {
            config.application_name("towline");
        }
        let store = PostgresStore {
            answer: address.answer.unwrap_or(Some(ANSWER)),
            address,
            link: Mutex::new(None),
        };
        store.with(async |_| Ok(()))?;
        Ok(store)
    }

    /// Does `work` on the connection; once more on a new one if it was lost on the way.
    fn with<T>(
        &self,
        work: impl AsyncFn(&mut Link) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, StoreError> {
        if tokio::runtime::Handle::try_current().is_ok() {
            return Err(StoreError::failed(
                "a PostgreSQL store blocks: call it from a thread that runs no asynchronous task",
            ));
        }
        let mut slot = self.link.lock().unwrap_or_else(PoisonError::into_inner);
        let mut again = slot.is_some();
        loop {
            let Open { mut link, runtime } = match slot.take() {
                Some(open) if !open.link.client.is_closed() => open,
                _ => self.connect()?,
            };
            // A connection that has not answered in time is not kept: its answer may come yet.
            match runtime.block_on(self.in_time(work(&mut link)))? {
                Err(error) if ends_connection(&error) || link.client.is_closed() => {
                    if !std::mem::take(&mut again) {
                        return Err(failure(&error));
                    }
                }
                done => {
                    *slot = Some(Open { link, runtime });
                    return done.map_err(|error| failure(&error));
                }
            }
        }
    }

    /// Waits for an answer as long as there is time.
    async fn in_time<T>(&self, answer: impl Future<Output = T>) -> Result<T, StoreError> {
        let Some(limit) = self.answer else {
            return Ok(answer.await);
        };
        let late = |_| StoreError {
            kind: StoreErrorKind::Timeout,
            message: format!(
                "PostgreSQL has not answered within {} s (answer_timeout in the URL)",
                limit.as_secs_f64()
            ),
        };
        tokio::time::timeout(limit, answer).await.map_err(late)
    }

    fn connect(&self) -> Result<Open, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(StoreError::failed)?;
        let link = runtime.block_on(self.in_time(self.link()))??;
        Ok(Open { link, runtime })
    }

    async fn link(&self) -> Result<Link, StoreError> {
        let mut client = connect(&self.address.config, &self.address).await?;
        migrate(&mut client).await?;
        let prepare = async |text| client.prepare(text).await.map_err(|error| failure(&error));
        Ok(Link {
            touch: prepare(TOUCH).await?,
            present: prepare(PRESENT).await?,
            insert: prepare(INSERT).await?,
            summarise: prepare(SUMMARISE).await?,
            add: prepare(ADD).await?,
            known: VecDeque::new(),
            client,
        })
    }
}

async fn migrate(client: &mut Client) -> Result<(), StoreError> {
    let current = "SELECT version FROM towline_schema";
    let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    let check = |version: i32| match version > known {
        true => Err(StoreError::failed(format_args!(
            "the PostgreSQL tables are of version {version}, newer than the {known} this build \
             knows; update Towline"
        ))),
        false => Ok(()),
    };
    // Without a lock, and without the right to make tables, where nothing is to be done.
    let exists = "SELECT to_regclass('towline_schema') IS NOT NULL";
    let run = async {
        if client.query_one(exists, &[]).await?.get(0) {
            let version: i32 = client.query_one(current, &[]).await?.get(0);
            if version >= known {
                return Ok(version);
            }
        }
        let change = client.transaction().await?;
        change
            .execute("SELECT pg_advisory_xact_lock($1)", &[&MIGRATION_LOCK])
            .await?;
        // What was looked up above may have been made since by the host that held the lock.
        change
            .batch_execute(
                "CREATE TABLE IF NOT EXISTS towline_schema (version integer NOT NULL);
             INSERT INTO towline_schema
             SELECT 0 WHERE NOT EXISTS (SELECT FROM towline_schema)",
            )
            .await?;
        let version: i32 = change.query_one(current, &[]).await?.get(0);
        let done = usize::try_from(version).unwrap_or(0);
        for step in MIGRATIONS.iter().skip(done) {
            change.batch_execute(step).await?;
        }
        if version < known {
            change
                .execute("UPDATE towline_schema SET version = $1", &[&known])
                .await?;
        }
        change.commit().await?;
        Ok::<i32, tokio_postgres::Error>(version)
    };
    check(run.await.map_err(|error| failure(&error))?)
}

/// Adds what is not there yet, under the lock on the transcript's row; the row and its summary.
async fn add(
    change: &mut Transaction<'_>,
    statements: (&Statement, &Statement, &Statement, &Statement),
    key: &SessionKey,
    entries: &[Entry],
) -> Result<(i64, Option<String>), tokio_postgres::Error> {
    let (touch, present, insert, summarise) = statements;
    let subpath = key.subpath().unwrap_or_default();
    let row = change
        .query_one(touch, &[&key.project_key, &key.session_id, &subpath])
        .await?;
    let (id, summary): (i64, Option<String>) = (row.get(0), row.get(1));
    let uuids: Vec<String> = entries
        .iter()
        .filter_map(|entry| entry.uuid().map(|uuid| uuid.into_owned()))
        .collect();
    let mut there = std::collections::HashSet::new();
    if !uuids.is_empty() {
        for row in change.query(present, &[&id, &uuids]).await? {
            there.insert(row.get::<_, String>(0));
        }
    }
    let fresh = not_yet_there(entries, |uuid| there.contains(uuid));
    if fresh.is_empty() {
        return Ok((id, summary));
    }
    let (uuids, added): (Vec<Option<String>>, Vec<&Entry>) = fresh.into_iter().unzip();
    let texts: Vec<&str> = added.iter().map(|entry| entry.as_str()).collect();
    change.execute(insert, &[&id, &uuids, &texts]).await?;
    if key.subpath().is_some() {
        return Ok((id, summary));
    }
    let folded = Some(fold(summary.as_deref(), &key.session_id, &added));
    if folded != summary {
        change.execute(summarise, &[&id, &folded]).await?;
    }
    Ok((id, folded))
}

impl SessionStore for PostgresStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        self.with(async |link| match link.add_to_known(key, entries).await? {
            true => Ok(()),
            false => link.add_what_is_new(key, entries).await,
        })
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        let subpath = key.subpath().unwrap_or_default();
        let rows = self.with(async |link| {
            link.client
                .query(
                    "SELECT kept.entry FROM towline_transcripts transcript
                 LEFT JOIN towline_entries kept ON kept.transcript = transcript.id
                 WHERE project_key = $1 AND session_id = $2 AND subpath = $3
                 ORDER BY kept.seq",
                    &[&key.project_key, &key.session_id, &subpath],
                )
                .await
        })?;
        if rows.is_empty() {
            return Ok(None);
        }
        let texts = rows.iter().filter_map(|row| row.get::<_, Option<&str>>(0));
        let entries: Result<Vec<Entry>, _> = texts.map(Entry::new).collect();
        entries.map(Some).map_err(StoreError::failed)
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let rows = self.with(async |link| {
            link.client
                .query(
                    "SELECT session_id, mtime FROM towline_transcripts
                 WHERE project_key = $1 AND subpath = ''",
                    &[&project_key],
                )
                .await
        })?;
        let sessions = rows.iter().map(|row| StoreListEntry {
            session_id: row.get(0),
            mtime: row.get(1),
        });
        Ok(sessions.collect())
    }

    fn list_session_summaries(
        &self,
        project_key: &str,
    ) -> Result<Vec<SessionSummaryEntry>, StoreError> {
        let rows = self.with(async |link| {
            link.client
                .query(
                    "SELECT session_id, mtime, summary FROM towline_transcripts
                 WHERE project_key = $1 AND subpath = '' AND summary IS NOT NULL",
                    &[&project_key],
                )
                .await
        })?;
        rows.iter()
            .map(|row| SessionSummaryEntry::new(row.get::<_, String>(0), row.get(1), row.get(2)))
            .collect()
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.with(async |link| {
            link.client
                .execute(
                    "DELETE FROM towline_transcripts
                 WHERE project_key = $1 AND session_id = $2
                 AND ($3::text IS NULL OR subpath = $3)",
                    &[&key.project_key, &key.session_id, &key.subpath()],
                )
                .await
        })?;
        Ok(())
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.with(async |link| {
            link.client
                .query(
                    "SELECT subpath FROM towline_transcripts
                 WHERE project_key = $1 AND session_id = $2 AND subpath <> ''",
                    &[&project_key, &session_id],
                )
                .await
        })?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }
}

/// Whether the connection is lost with this error: the server may have said so before it is seen
/// to be closed.
fn ends_connection(error: &tokio_postgres::Error) -> bool {
    let severity = error
        .as_db_error()
        .and_then(|error| error.parsed_severity());
    error.is_closed() || matches!(severity, Some(Severity::Fatal | Severity::Panic))
}

/// Has the runtime of the caller carry a connection that was made.
fn connected<S, T>(
    made: Result<(Client, Connection<S, T>), tokio_postgres::Error>,
) -> Result<Client, StoreError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match made {
        Ok((client, connection)) => {
            // Whoever uses the client is told of its errors.
            tokio::spawn(connection);
            Ok(client)
        }
        Err(error) => Err(StoreError::failed(format_args!(
            "cannot connect to PostgreSQL: {}",
            told(&error)
        ))),
    }
}

fn failure(error: &tokio_postgres::Error) -> StoreError {
    StoreError::failed(format_args!("PostgreSQL: {}", told(error)))
}

/// The error with what lies below it; its own text says only of what kind it is.
fn told(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        below = cause.source();
    }
    text
}
