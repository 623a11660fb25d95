//! Diagnostics as a log may hold them.

use std::sync::Arc;

use towline_protocol::connection::Diagnostic;
use towline_protocol::launch::{EnvMap, Options};

use super::{shorten, LONGEST_TEXT};
use crate::recording::{Redactor, StreamRedactor};

/// A line of a diagnostic that is no shorter may have been cut.
const CUT_FROM: usize = 1000;
/// How much of its end may be the beginning of a secret.
const UNCERTAIN: usize = 256;

/// Makes the texts of one session's diagnostics as a log may hold them, for hosts that log what comes
/// as [`Event::Diagnostic`](crate::Event::Diagnostic): without what a [`Redactor`] finds, also where a
/// private key goes over several lines that are no messages, and no longer than 4 KiB.
#[derive(Debug)]
pub struct DiagnosticTexts {
    env: Option<EnvMap>,
    /// Made for the first text: patterns take a while to compile.
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    redactor: Arc<Redactor>,
    /// Of lines on the CLI's stdout that are no messages.
    output: StreamRedactor,
}

impl Known {
    fn new(redactor: Arc<Redactor>) -> Known {
        Known {
            output: StreamRedactor::new(redactor.clone()),
            redactor,
        }
    }
}

impl DiagnosticTexts {
    /// For a session with these options.
    pub fn of(options: &Options) -> DiagnosticTexts {
        DiagnosticTexts {
            env: options.env.clone(),
            known: None,
        }
    }

    pub(crate) fn with(redactor: Arc<Redactor>) -> DiagnosticTexts {
        DiagnosticTexts {
            env: None,
            known: Some(Known::new(redactor)),
        }
    }

    fn known(&mut self) -> &mut Known {
        let env = &mut self.env;
        self.known.get_or_insert_with(|| {
            let options = Options {
                env: env.take(),
                ..Options::default()
            };
            Known::new(Arc::new(Redactor::of(&options)))
        })
    }

    /// The text of the next diagnostic.
    pub fn text(&mut self, diagnostic: &Diagnostic) -> String {
        let text = match diagnostic {
            // Such a line may be the beginning of a message.
            Diagnostic::NotAMessage { reason, line } => {
                let line = self.line(line);
                let reason = reason.clone();
                Diagnostic::NotAMessage { reason, line }.to_string()
            }
            other => other.to_string(),
        };
        let mut clean = self.known().redactor.line(&text);
        shorten(&mut clean, LONGEST_TEXT);
        clean
    }

    /// A line that may be the beginning of a longer one: a secret at its end may be cut.
    fn line(&mut self, line: &str) -> String {
        let is_cut = line.len() >= CUT_FROM;
        let mut clean = self.known().output.line(line, is_cut);
        if is_cut {
            let certain = clean.len().saturating_sub(UNCERTAIN);
            shorten(&mut clean, certain);
        }
        clean
    }
}
