//! What watches and records a session from its start.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use towline_protocol::launch::TraceContext;

use super::SessionBuilder;
use crate::error::{Error, StartError};
use crate::observe::{LogLevel, WireLog, WireTarget};
use crate::recording::{is_same_file, Recorder, Redactor};
use crate::session::observing::Observer;
use crate::session::Session;

impl SessionBuilder {
    /// Begins to watch the start of a session, and tells when it fails.
    pub(super) fn observed(
        mut self,
        start: impl FnOnce(SessionBuilder) -> Result<Session, Error>,
    ) -> Result<Session, Error> {
        self.asked = Instant::now();
        self.check_files()?;
        let mut observer = Box::new(Observer::new(self.log_level));
        let watched = observer.is_on();
        if watched || self.options.wire_log.is_some() {
            let redactor = self.redactor();
            self.open_wire_log(&redactor)?;
            observer.redact_with(redactor);
        }
        let failing = watched.then(|| observer.starting());
        self.observer = Some(observer);
        let started = start(self);
        if let (Err(error), Some(observer)) = (&started, failing) {
            observer.not_started(error);
        }
        started
    }

    /// One for all that is told and written of this session.
    pub(super) fn redactor(&mut self) -> Arc<Redactor> {
        let options = &self.options;
        let redactor = &mut self.redactor;
        redactor
            .get_or_insert_with(|| Arc::new(Redactor::of(options)))
            .clone()
    }

    /// Refuses one file for the recording, which begins it anew, and the wire log, which adds to it.
    fn check_files(&self) -> Result<(), StartError> {
        let (Some(record), Some(wire_log)) = (&self.options.record, &self.options.wire_log) else {
            return Ok(());
        };
        let path = Path::new(record);
        match WireTarget::named(wire_log) {
            WireTarget::Path(log) if is_same_file(path, &log) => Err(StartError::Record {
                path: path.into(),
                error: io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("option wireLog names the same file, as {wire_log}"),
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Opens the wire log that the options ask for.
    fn open_wire_log(&mut self, redactor: &Arc<Redactor>) -> Result<(), StartError> {
        let Some(target) = &self.options.wire_log else {
            return Ok(());
        };
        let target = WireTarget::named(target);
        if matches!(target, WireTarget::Log) && self.log_level != Some(LogLevel::Trace) {
            self.warnings.push(
                "wireLog: \"log\" gives nothing, since no log hook takes records of level trace"
                    .into(),
            );
            return Ok(());
        }
        let shown = usize::try_from(self.options.wire_log_line_bytes).unwrap_or(usize::MAX);
        let log = WireLog::open(target, redactor.clone(), shown)?;
        self.wire_log = Some(Box::new(log));
        Ok(())
    }

    /// The trace that the options or the host name.
    pub(super) fn trace_given(&self) -> Option<TraceContext> {
        let header = |wanted: &str| {
            let mut headers = self.host.trace_context.iter();
            let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
            found.map(|(_, value)| value.as_str())
        };
        match &self.options.traceparent {
            Some(parent) => TraceContext::new(parent, self.options.tracestate.as_deref()),
            None => TraceContext::new(header("traceparent")?, header("tracestate")),
        }
    }

    /// Begins the recording that the options ask for, of a CLI with these arguments.
    pub(super) fn record(&mut self, args: &[String]) -> Result<(), StartError> {
        let options = &self.options;
        let Some(path) = &options.record else {
            return Ok(());
        };
        let path = PathBuf::from(path);
        let limit = usize::try_from(options.max_line_bytes).unwrap_or(usize::MAX);
        let redactor = options.record_redacted.then(|| self.redactor());
        let mut recorder = Recorder::create(&path, redactor, limit)?;
        recorder.started(args);
        self.recorder = Some(Box::new(recorder));
        Ok(())
    }
}
