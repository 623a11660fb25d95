//! Records of a session's log, on their way to `logging`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use towline::LogRecord;

/// What was told and not fetched yet: Python is called when events are delivered, and not while the
/// session polls.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<LogRecord>>>);

impl Log {
    /// For the session's builder.
    pub(crate) fn hook(&self) -> impl FnMut(&LogRecord) + Send + 'static {
        let log = self.clone();
        move |record| {
            let mut records = log.0.lock().unwrap_or_else(PoisonError::into_inner);
            records.push(record.clone());
        }
    }

    /// Everything that waits, as events.
    pub(crate) fn take<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let records = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let event = |record: LogRecord| {
            (
                "log",
                record.level as i64,
                record.target,
                record.message,
                record.fields,
                record.session_id,
                record.turn.map(|turn| turn.0),
            )
                .into_pyobject(py)
        };
        records.into_iter().map(event).collect()
    }
}
