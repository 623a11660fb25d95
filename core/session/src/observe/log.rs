//! Log records, for a hook of the host.

use std::collections::VecDeque;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

use towline_protocol::connection::TurnId;
use towline_protocol::json;

/// Records that wait for the hook, at most; while a session closes nobody may fetch them.
const MOST_RECORDS: usize = 4096;
/// Bytes of them, at most.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// How much a record matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// The session failed.
    Error = 1,
    /// Something is odd, or was ended by force.
    Warn = 2,
    /// A session began, opened, ended.
    Info = 3,
    /// Turns, requests, tool calls, store calls, lines of stderr.
    Debug = 4,
    /// Lines of the wire, with option `wireLog` set to `log`.
    Trace = 5,
}

impl LogLevel {
    /// `error`, `warn`, `info`, `debug`, `trace`.
    pub fn name(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }

    /// The level of that name.
    pub fn named(name: &str) -> Option<LogLevel> {
        LogLevel::all().find(|level| level.name() == name)
    }

    /// The level of that number: 1 is `error`, 5 is `trace`.
    pub fn numbered(number: i64) -> Option<LogLevel> {
        LogLevel::all().find(|level| *level as i64 == number)
    }

    fn all() -> impl Iterator<Item = LogLevel> {
        use LogLevel::{Debug, Error, Info, Trace, Warn};
        [Error, Warn, Info, Debug, Trace].into_iter()
    }
}

/// Something that happened in a session, for
/// [`SessionBuilder::on_log`](crate::SessionBuilder::on_log). Texts hold no keys, tokens, account
/// data or home folders: what a [`Redactor`](crate::Redactor) finds is taken out.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LogRecord {
    /// How much it matters.
    pub level: LogLevel,
    /// What it is about: `towline.session`, `towline.turn`, `towline.request`, `towline.callback`,
    /// `towline.store`, `towline.diagnostic`, `towline.stderr` or `towline.wire`.
    pub target: &'static str,
    /// A short sentence.
    pub message: String,
    /// More of it: JSON text of an object, `{}` for nothing.
    pub fields: String,
    /// The session, once it is known.
    pub session_id: Option<String>,
    /// The turn that it belongs to.
    pub turn: Option<TurnId>,
    /// When it happened.
    pub time: SystemTime,
}

/// The fields of a record, as JSON text on its way.
#[derive(Default)]
pub(crate) struct Fields(String);

impl Fields {
    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        json::push_string(&mut self.0, name);
        self.0.push(':');
    }

    pub(crate) fn text(mut self, name: &str, value: &str) -> Fields {
        self.name(name);
        json::push_string(&mut self.0, value);
        self
    }

    pub(crate) fn number(mut self, name: &str, value: u64) -> Fields {
        self.name(name);
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{value}");
        self
    }

    pub(crate) fn float(mut self, name: &str, value: f64) -> Fields {
        if value.is_finite() {
            self.name(name);
            let _ = write!(self.0, "{value}");
        }
        self
    }

    /// Milliseconds with three digits behind the point.
    pub(crate) fn millis(mut self, name: &str, value: Duration) -> Fields {
        self.name(name);
        let _ = write!(self.0, "{:.3}", value.as_secs_f64() * 1000.0);
        self
    }

    pub(crate) fn maybe<T>(
        self,
        value: Option<T>,
        add: impl FnOnce(Fields, T) -> Fields,
    ) -> Fields {
        match value {
            Some(value) => add(self, value),
            None => self,
        }
    }

    fn json(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

/// Gets the records.
pub(crate) type LogHandler = Box<dyn FnMut(&LogRecord) + Send>;

/// Records on their way to the hook.
#[derive(Default)]
pub(crate) struct Log {
    /// `None` when there is no hook.
    level: Option<LogLevel>,
    records: VecDeque<LogRecord>,
    bytes: usize,
    dropped: u64,
}

impl Log {
    pub(crate) fn new(level: Option<LogLevel>) -> Log {
        Log {
            level,
            ..Log::default()
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.level.is_some()
    }

    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        self.level.is_some_and(|most| level <= most)
    }

    /// Takes a record. Beyond the bound the newest are dropped, and counted.
    pub(crate) fn push(
        &mut self,
        level: LogLevel,
        target: &'static str,
        message: String,
        fields: Fields,
        (session_id, turn): (Option<&str>, Option<TurnId>),
    ) {
        if !self.wants(level) {
            return;
        }
        let fields = fields.json();
        let bytes = message.len() + fields.len();
        if self.records.len() >= MOST_RECORDS || self.bytes + bytes > MOST_BYTES {
            self.dropped += 1;
            return;
        }
        self.bytes += bytes;
        self.records.push_back(LogRecord {
            level,
            target,
            message,
            fields,
            session_id: session_id.map(String::from),
            turn,
            time: SystemTime::now(),
        });
    }

    pub(crate) fn has_records(&self) -> bool {
        !self.records.is_empty()
    }

    /// Everything that waits.
    pub(crate) fn take(&mut self) -> VecDeque<LogRecord> {
        self.bytes = 0;
        let mut records = std::mem::take(&mut self.records);
        let dropped = std::mem::take(&mut self.dropped);
        if dropped > 0 {
            records.push_back(LogRecord {
                level: LogLevel::Warn,
                target: "towline.session",
                message: format!("dropped {dropped} log records that nobody fetched"),
                fields: Fields::default().number("dropped", dropped).json(),
                session_id: None,
                turn: None,
                time: SystemTime::now(),
            });
        }
        records
    }

    /// The hook has failed: no more of it.
    pub(crate) fn stop(&mut self) {
        *self = Log::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_an_object() {
        assert_eq!(Fields::default().json(), "{}");
        let fields = Fields::default()
            .text("a", "\"\n")
            .number("b", 7)
            .float("c", f64::NAN)
            .millis("d", Duration::from_micros(1500));
        assert_eq!(fields.json(), r#"{"a":"\"\n","b":7,"d":1.500}"#);
    }

    #[test]
    fn what_nobody_fetches_is_bounded_and_counted() {
        let mut log = Log::new(Some(LogLevel::Info));
        let nowhere = (None, None);
        for _ in 0..MOST_RECORDS + 10 {
            let fields = Fields::default();
            log.push(LogLevel::Info, "t", "m".into(), fields, nowhere);
        }
        log.push(LogLevel::Debug, "t", "m".into(), Fields::default(), nowhere);
        let records = log.take();
        assert_eq!(records.len(), MOST_RECORDS + 1);
        assert_eq!(records[MOST_RECORDS].fields, r#"{"dropped":10}"#);
        let long = "x".repeat(MOST_BYTES + 1);
        log.push(LogLevel::Info, "t", long, Fields::default(), nowhere);
        assert!(!log.has_records());
        assert_eq!(log.take().len(), 1);
        assert!(log.take().is_empty());
    }
}
