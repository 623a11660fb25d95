//! Secrets that go over several lines of a stream.

use std::sync::Arc;

use towline_protocol::json;

use super::{Redactor, REDACTED};

/// A private key over several lines has fewer of them.
pub(super) const MOST_KEY_LINES: usize = 400;

/// Takes the secrets out of the lines of one stream.
#[derive(Debug)]
pub(crate) struct StreamRedactor {
    redactor: Arc<Redactor>,
    keys: KeyLines,
}

impl StreamRedactor {
    pub(crate) fn new(redactor: Arc<Redactor>) -> StreamRedactor {
        StreamRedactor {
            redactor,
            keys: KeyLines::default(),
        }
    }

    /// The next line without its secrets; `cut` when only its beginning is here. The shape of a
    /// message stays as it is.
    pub(crate) fn line(&mut self, line: &str, cut: bool) -> String {
        let is_message = line.starts_with(['{', '[']) && (cut || json::validate(line).is_ok());
        match is_message || !self.keys.hides(line) {
            true => self.redactor.line(line),
            false => REDACTED.into(),
        }
    }
}

/// Private keys that come a line at a time.
#[derive(Debug, Default)]
pub(crate) struct KeyLines {
    /// How many lines the key has had; none outside of one.
    lines: usize,
}

impl KeyLines {
    /// Whether the next line, which this is, stands within a key.
    pub(crate) fn hides(&mut self, line: &str) -> bool {
        let begun = line.rfind("-----BEGIN ").filter(|at| is_key(line, *at));
        let ended = line.rfind("-----END ").filter(|at| is_key(line, *at));
        let within = self.is_within();
        if begun > ended {
            self.lines = 1;
        } else if ended.is_some() || self.lines >= MOST_KEY_LINES {
            self.lines = 0;
        } else if within {
            self.lines += 1;
        }
        within
    }

    /// Whether a key has begun and not ended.
    pub(crate) fn is_within(&self) -> bool {
        self.lines > 0
    }
}

fn is_key(line: &str, at: usize) -> bool {
    line.get(at..)
        .is_some_and(|rest| rest.contains("PRIVATE KEY"))
}
