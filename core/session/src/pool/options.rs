//! What a pool is made with, what it counts, and what it fails with.

use serde::{Deserialize, Serialize};
use towline_protocol::json;

/// How many sessions a pool keeps, and for how long. In JSON the names are `size`, `maxSessions`,
/// `idleTimeoutMs`, `checkIntervalMs`, `checkTimeoutMs` and `takeTimeoutMs`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct PoolOptions {
    /// Sessions that are open and wait for a first prompt. 0 keeps none ready: the pool then is for
    /// its limit and for parked conversations. Default 1, at most 10,000.
    pub size: usize,
    /// Most sessions at a time: those that start, wait, are parked, are in use or end. `None`
    /// (default) is no limit.
    pub max_sessions: Option<usize>,
    /// A session that nobody has used for this long is closed: a warm one is replaced, a parked one
    /// can be resumed. `None` and 0 are never; default 10 minutes.
    pub idle_timeout_ms: Option<u64>,
    /// How often a session that waits is asked whether it is well. `None` and 0 are never; default
    /// 30 s.
    pub check_interval_ms: Option<u64>,
    /// How long it has for the answer. Default 5 s.
    pub check_timeout_ms: u64,
    /// How long a session is waited for by who takes one without a limit of its own. `None` is for
    /// ever; default 60 s.
    pub take_timeout_ms: Option<u64>,
}

/// More processes than this no pool starts of itself.
const MOST_WARM: usize = 10_000;

/// What is wrong with the number of an option, if anything is.
fn complaint(name: &str, value: &str) -> Option<String> {
    let range = match name {
        "size" => format!("a whole number from 0 to {MOST_WARM}"),
        "maxSessions" => "a whole number, 1 at least, or null for no limit".to_owned(),
        "idleTimeoutMs" | "checkIntervalMs" | "takeTimeoutMs" => {
            "a whole number of milliseconds, 0 or more, or null for no limit".to_owned()
        }
        "checkTimeoutMs" => "a whole number of milliseconds, 0 or more".to_owned(),
        _ => return None,
    };
    let may_be_null = range.contains("null");
    let fits = (may_be_null && value == "null") || serde_json::from_str::<u64>(value).is_ok();
    (!fits).then(|| format!("{name} has to be {range}, and it is {value}"))
}

impl Default for PoolOptions {
    fn default() -> PoolOptions {
        PoolOptions {
            size: 1,
            max_sessions: None,
            idle_timeout_ms: Some(600_000),
            check_interval_ms: Some(30_000),
            check_timeout_ms: 5_000,
            take_timeout_ms: Some(60_000),
        }
    }
}

impl PoolOptions {
    /// Reads them from a JSON object; `""` is `{}`.
    pub fn from_json(text: &str) -> Result<PoolOptions, PoolError> {
        if text.is_empty() {
            return Ok(PoolOptions::default());
        }
        if !text.trim_start().starts_with('{') {
            return Err(PoolError::Options("they have to be an object".into()));
        }
        let mut odd = None;
        let _ = json::members(text, |name, value| {
            if odd.is_none() {
                odd = complaint(name, value);
            }
        });
        if let Some(odd) = odd {
            return Err(PoolError::Options(odd));
        }
        serde_json::from_str(text).map_err(|error| PoolError::Options(error.to_string()))
    }

    pub(super) fn check(&self) -> Result<(), PoolError> {
        match self.max_sessions {
            _ if self.size > MOST_WARM => Err(PoolError::Options(format!(
                "size has to be a whole number from 0 to {MOST_WARM}, and it is {}",
                self.size
            ))),
            Some(0) => Err(PoolError::Options(
                "maxSessions has to be 1 at least".into(),
            )),
            Some(most) if most < self.size => Err(PoolError::Options(format!(
                "size ({}) is more than maxSessions ({most})",
                self.size
            ))),
            _ => Ok(()),
        }
    }
}

/// What a pool fails with, beside the error of a session that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// All sessions are in use, and none came back in time.
    #[error("all {max_sessions} sessions that the pool may have are in use and none came back within {waited_ms} ms; give sessions back sooner, wait longer (takeTimeoutMs), or raise maxSessions")]
    Full {
        /// The limit.
        max_sessions: usize,
        /// How long was waited.
        waited_ms: u64,
    },
    /// No session was ready in time.
    #[error("no session of the pool was ready within {waited_ms} ms; wait longer (takeTimeoutMs), or keep more of them warm (size)")]
    NotReady {
        /// How long was waited.
        waited_ms: u64,
    },
    /// The conversation that was asked for is in use.
    #[error("the session {session_id} is in use and was not given back within {waited_ms} ms; a conversation has one user at a time")]
    InUse {
        /// The id of the session.
        session_id: String,
        /// How long was waited.
        waited_ms: u64,
    },
    /// The pool is closed.
    #[error("the pool is closed")]
    Closed,
    /// The pool's options are none.
    #[error("the options of the pool cannot be used: {0}")]
    Options(String),
    /// An option that names one conversation, for sessions that start without one.
    #[error("option {0} is for one session and not for those of a pool; take the session by its id instead")]
    OneSession(&'static str),
    /// An option that names one file, which every session of the pool would write anew.
    #[error("option {0} names one file, and each session of a pool would write it anew; give a folder that is there, in which each gets a file of its own")]
    OneFile(&'static str),
    /// The ticket has had its session or its error.
    #[error("the ticket was used: it has had its session or its error; take another one")]
    TicketUsed,
    /// The session cannot be kept for later.
    #[error("the session cannot be parked: {0}")]
    NotParked(&'static str),
}

/// What a pool has and what it has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolStats {
    /// Sessions that wait, open and without a prompt.
    pub warm: usize,
    /// Conversations that are kept open.
    pub parked: usize,
    /// Sessions that start.
    pub starting: usize,
    /// Sessions in use.
    pub handed_out: usize,
    /// Sessions that end.
    pub closing: usize,
    /// Calls that wait for a session.
    pub waiting: usize,
    /// Sessions started so far.
    pub started: u64,
    /// Of these, to go on with a conversation.
    pub resumed: u64,
    /// Sessions given at once.
    pub hits: u64,
    /// Sessions that had to be waited for.
    pub misses: u64,
    /// Starts that have failed.
    pub failed: u64,
    /// How many times in a row; while it is not 0, the next start for the pool itself waits longer
    /// each time.
    pub failures: u32,
    /// Sessions that ended by themselves while they waited.
    pub exited: u64,
    /// Sessions that did not answer a check in time, or wrote more than is kept unread.
    pub unhealthy: u64,
    /// Sessions closed because nobody had used them for long.
    pub idle: u64,
    /// Sessions closed to make room for others.
    pub evicted: u64,
}
