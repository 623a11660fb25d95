//! Spans and events for `tracing`; `docs/observability.md` lists their fields.

use std::time::Duration;

use tracing::field::Empty;
use tracing::Level;

use crate::session::Stats;

const TARGET: &str = "towline";

/// A span that is entered by nobody but a handler: most of them begin on one thread and end on
/// another.
#[derive(Clone)]
pub(crate) struct Span(tracing::Span);

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

impl Span {
    pub(crate) fn none() -> Span {
        Span(tracing::Span::none())
    }

    /// The whole session, from the call that starts it; inside the span that is current there.
    pub(crate) fn session() -> Span {
        Span(tracing::info_span!(
            target: TARGET,
            "towline.session",
            pid = Empty,
            session_id = Empty,
            cli_version = Empty,
            exit = Empty,
            error = Empty,
            duration_ms = Empty,
            spawned_ms = Empty,
            initialized_ms = Empty,
            first_message_ms = Empty,
            bytes_read = Empty,
            bytes_written = Empty,
            lines_read = Empty,
            lines_written = Empty,
            stderr_bytes = Empty,
            messages = Empty,
            turns = Empty,
            turns_failed = Empty,
            requests_sent = Empty,
            requests_received = Empty,
            diagnostics = Empty,
            shed = Empty,
            queue_high_water = Empty,
        ))
    }

    /// A phase of the start: until the CLI runs.
    pub(crate) fn spawn(&self) -> Span {
        Span(tracing::info_span!(target: TARGET, parent: &self.0, "towline.spawn"))
    }

    /// A phase of the start: until it has answered `initialize`.
    pub(crate) fn initialize(&self) -> Span {
        Span(tracing::info_span!(target: TARGET, parent: &self.0, "towline.initialize"))
    }

    pub(crate) fn turn(&self, turn: u64) -> Span {
        Span(tracing::info_span!(
            target: TARGET,
            parent: &self.0,
            "towline.turn",
            turn,
            outcome = Empty,
            duration_ms = Empty,
            first_message_ms = Empty,
            subtype = Empty,
            is_error = Empty,
            num_turns = Empty,
            total_cost_usd = Empty,
            input_tokens = Empty,
            output_tokens = Empty,
            cache_read_input_tokens = Empty,
            cache_creation_input_tokens = Empty,
        ))
    }

    pub(crate) fn request(&self, subtype: &str, id: u64) -> Span {
        Span(tracing::debug_span!(
            target: TARGET,
            parent: &self.0,
            "towline.request",
            otel.name = format_args!("towline.request {subtype}"),
            subtype,
            id,
            outcome = Empty,
            duration_ms = Empty,
        ))
    }

    pub(crate) fn callback(&self, kind: &str, name: &str, key: u64) -> Span {
        Span(tracing::debug_span!(
            target: TARGET,
            parent: &self.0,
            "towline.callback",
            otel.name = format_args!("towline.callback {kind} {name}"),
            kind,
            name,
            key,
            traceparent = Empty,
            outcome = Empty,
            duration_ms = Empty,
        ))
    }

    /// The time in the host's handler.
    pub(crate) fn handler(&self) -> Span {
        Span(tracing::debug_span!(target: TARGET, parent: &self.0, "towline.handler"))
    }

    pub(crate) fn store(&self, call: &str) -> Span {
        Span(tracing::debug_span!(
            target: TARGET,
            parent: &self.0,
            "towline.store",
            otel.name = format_args!("towline.store {call}"),
            call,
            outcome = Empty,
            duration_ms = Empty,
        ))
    }

    pub(crate) fn close(&self, by: &str) -> Span {
        Span(tracing::info_span!(
            target: TARGET,
            parent: &self.0,
            "towline.close",
            by,
            last_step = Empty,
            duration_ms = Empty,
        ))
    }

    /// Whether anybody collects it.
    pub(crate) fn is_on(&self) -> bool {
        !self.0.is_disabled()
    }

    /// Whether anybody collects lines of stderr.
    pub(crate) fn wants_stderr(&self) -> bool {
        tracing::enabled!(target: TARGET, Level::DEBUG)
    }

    pub(crate) fn text(&self, field: &'static str, value: &str) {
        self.0.record(field, value);
    }

    pub(crate) fn number(&self, field: &'static str, value: u64) {
        self.0.record(field, value);
    }

    pub(crate) fn float(&self, field: &'static str, value: f64) {
        self.0.record(field, value);
    }

    pub(crate) fn flag(&self, field: &'static str, value: bool) {
        self.0.record(field, value);
    }

    pub(crate) fn took(&self, field: &'static str, value: Duration) {
        self.0.record(field, ms(value));
    }

    /// The span is the current one of this thread meanwhile.
    pub(crate) fn scope<T>(&self, run: impl FnOnce() -> T) -> T {
        self.0.in_scope(run)
    }

    pub(crate) fn diagnostic(&self, kind: &str, text: &str) {
        tracing::warn!(target: TARGET, parent: &self.0, kind, "{text}");
    }

    pub(crate) fn stderr(&self, line: &str) {
        tracing::debug!(target: TARGET, parent: &self.0, stream = "stderr", "{line}");
    }

    /// A step of the end of the session.
    pub(crate) fn step(&self, step: &str, forced: bool) {
        match forced {
            true => tracing::warn!(target: TARGET, parent: &self.0, step, "closing: {step}"),
            false => tracing::debug!(target: TARGET, parent: &self.0, step, "closing: {step}"),
        }
    }

    pub(crate) fn failed(&self, error: &str) {
        self.text("error", error);
        tracing::error!(target: TARGET, parent: &self.0, "{error}");
    }

    pub(crate) fn counters(&self, stats: &Stats) {
        for (field, value) in stats.counters() {
            self.0.record(field, value);
        }
        let startup = &stats.startup;
        for (field, took) in [
            ("spawned_ms", startup.spawned),
            ("initialized_ms", startup.initialized),
            ("first_message_ms", startup.first_message),
        ] {
            if let Some(took) = took {
                self.took(field, took);
            }
        }
    }

    /// For what the host does on behalf of it.
    pub(crate) fn inner(&self) -> &tracing::Span {
        &self.0
    }
}
