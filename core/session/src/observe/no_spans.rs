//! In the place of spans, without the feature `tracing`: nothing.

use std::time::Duration;

use crate::session::Stats;

/// No span.
#[derive(Clone)]
pub(crate) struct Span;

#[allow(clippy::unused_self)]
impl Span {
    pub(crate) fn none() -> Span {
        Span
    }

    pub(crate) fn session() -> Span {
        Span
    }

    pub(crate) fn spawn(&self) -> Span {
        Span
    }

    pub(crate) fn initialize(&self) -> Span {
        Span
    }

    pub(crate) fn turn(&self, _turn: u64) -> Span {
        Span
    }

    pub(crate) fn request(&self, _subtype: &str, _id: u64) -> Span {
        Span
    }

    pub(crate) fn callback(&self, _kind: &str, _name: &str, _key: u64) -> Span {
        Span
    }

    pub(crate) fn handler(&self) -> Span {
        Span
    }

    pub(crate) fn store(&self, _call: &str) -> Span {
        Span
    }

    pub(crate) fn close(&self, _by: &str) -> Span {
        Span
    }

    pub(crate) fn is_on(&self) -> bool {
        false
    }

    pub(crate) fn wants_stderr(&self) -> bool {
        false
    }

    pub(crate) fn text(&self, _field: &'static str, _value: &str) {}

    pub(crate) fn number(&self, _field: &'static str, _value: u64) {}

    pub(crate) fn float(&self, _field: &'static str, _value: f64) {}

    pub(crate) fn flag(&self, _field: &'static str, _value: bool) {}

    pub(crate) fn took(&self, _field: &'static str, _value: Duration) {}

    pub(crate) fn scope<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(crate) fn diagnostic(&self, _kind: &str, _text: &str) {}

    pub(crate) fn stderr(&self, _line: &str) {}

    pub(crate) fn step(&self, _step: &str, _forced: bool) {}

    pub(crate) fn failed(&self, _error: &str) {}

    pub(crate) fn counters(&self, _stats: &Stats) {}
}
