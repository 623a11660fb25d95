//! Deadlines. Time is an input: milliseconds since a moment of the owner's choice.

use super::TurnDeadline;

/// Milliseconds since a moment of the owner's choice, never going back.
pub type Millis = u64;

/// How long each thing may take; `None` is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// From `initialize` to its answer.
    pub initialize: Option<Millis>,
    /// From a control request of the host to its answer.
    pub control_request: Option<Millis>,
    /// From a prompt to the first message of its turn. A prompt that waits for the turn before it
    /// has until that ends; while the CLI waits for the host no time passes.
    pub first_message: Option<Millis>,
    /// Between two messages of a turn, not counting what the host takes to answer.
    pub idle: Option<Millis>,
    /// From a prompt, or the end of the turn before it, to its result.
    pub turn: Option<Millis>,
    /// From a request of the CLI to the host's answer.
    pub handler: Option<Millis>,
}

/// The clock of one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnClock {
    /// When its prompt was sent, or the turn before it ended.
    pub(super) begun: Millis,
    /// A message of it has come.
    pub(super) heard: bool,
    /// When the CLI last wrote, or last got the answer it was waiting for.
    pub(super) quiet_since: Millis,
}

impl TurnClock {
    pub(super) fn new(now: Millis) -> TurnClock {
        TurnClock {
            begun: now,
            heard: false,
            quiet_since: now,
        }
    }

    pub(super) fn heard(&mut self, now: Millis) {
        self.heard = true;
        self.quiet_since = now;
    }

    /// The limit of silence that is in force.
    pub(super) fn silence(&self, limits: &Limits) -> (TurnDeadline, Option<Millis>) {
        match self.heard {
            false => (TurnDeadline::FirstMessage, limits.first_message),
            true => (TurnDeadline::Idle, limits.idle),
        }
    }
}

/// The earlier of two deadlines.
pub(super) fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
