//! Records of a session's log, on their way to `logging`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use towline::{Diagnostic, DiagnosticTexts, LogRecord};

/// What there is to be logged.
pub(crate) struct Log {
    /// What was told and not fetched yet: Python is called when events are delivered, and not while
    /// the session polls.
    records: Arc<Mutex<Vec<LogRecord>>>,
    /// Diagnostics come as events.
    diagnostics: Mutex<DiagnosticTexts>,
}

impl Log {
    pub(crate) fn new(diagnostics: DiagnosticTexts) -> Log {
        Log {
            records: Arc::default(),
            diagnostics: Mutex::new(diagnostics),
        }
    }

    /// The text of a diagnostic, without secrets.
    pub(crate) fn told(&self, diagnostic: &Diagnostic) -> String {
        let texts = self.diagnostics.lock();
        texts
            .unwrap_or_else(PoisonError::into_inner)
            .text(diagnostic)
    }

    /// For the session's builder.
    pub(crate) fn hook(&self) -> impl FnMut(&LogRecord) + Send + 'static {
        let records = self.records.clone();
        move |record| {
            let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
            records.push(record.clone());
        }
    }

    /// Everything that waits, as events.
    pub(crate) fn take<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let records =
            std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner));
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
