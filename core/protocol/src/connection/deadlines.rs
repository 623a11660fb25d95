//! Deadlines. Time is an input: milliseconds since a moment of the owner's choice.

/// Milliseconds since a moment of the owner's choice, never going back.
pub type Millis = u64;

/// How long each thing may take; `None` is for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// From `initialize` to its answer.
    pub initialize: Option<Millis>,
    /// From a control request of the host to its answer.
    pub control_request: Option<Millis>,
    /// From a prompt to the first message of its turn.
    pub first_message: Option<Millis>,
    /// Between two messages of a turn.
    pub idle: Option<Millis>,
    /// From a prompt to its result.
    pub turn: Option<Millis>,
    /// From a request of the CLI to the host's answer.
    pub handler: Option<Millis>,
}

/// The clock of one turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnClock {
    pub(super) sent: Millis,
    /// The last message, once there was one.
    pub(super) heard: Option<Millis>,
}

impl TurnClock {
    pub(super) fn new(now: Millis) -> TurnClock {
        TurnClock {
            sent: now,
            heard: None,
        }
    }

    pub(super) fn heard(&mut self, now: Millis) {
        self.heard = Some(now);
    }
}

/// The earlier of two deadlines.
pub(super) fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
