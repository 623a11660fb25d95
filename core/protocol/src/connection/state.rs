//! The states of a connection and every transition between them.

/// Where a connection stands.
///
/// ```text
///            initialize written           answered
///   Start ─────────────────────▶ Handshake ───────────▶ Open
///     │  finish                    │  │  finish           │ finish
///     │        refused, or an      │  └───────────┐       ▼
///     │        error result,       ▼              ├───▶ Finishing
///     └──────▶ or too late ───▶ Failed            │       │
///                                  │              │       │
///       output ended or process exited, in every state    │
///                                  ▼                      ▼
///                                Ended ◀──────────────────┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Nothing has been written. Requests of the CLI are served already.
    Start,
    /// `initialize` is written, its answer has not come.
    Handshake,
    /// The conversation is on.
    Open,
    /// The host has ended its input; what is under way is read to its end.
    Finishing,
    /// The handshake has failed: the owner ends the process, reading on until it is gone.
    Failed,
    /// The CLI's output has ended.
    Ended,
}

/// What moves a connection from state to state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Input {
    /// `initialize` was queued.
    InitializeWritten,
    /// The CLI answered `initialize`.
    InitializeAnswered,
    /// The CLI refused it, wrote an error result instead (`protocol.md §1.6`), or was too late.
    InitializeFailed,
    /// The host ends its input.
    Finish,
    /// No more output will come.
    OutputEnded,
}

use Input::*;
use State::*;

/// Every transition; what is not listed changes nothing.
pub const TRANSITIONS: &[(State, Input, State)] = &[
    (Start, InitializeWritten, Handshake),
    (Start, Finish, Finishing),
    (Start, OutputEnded, Ended),
    (Handshake, InitializeAnswered, Open),
    (Handshake, InitializeFailed, Failed),
    (Handshake, Finish, Finishing),
    (Handshake, OutputEnded, Ended),
    (Open, Finish, Finishing),
    (Open, OutputEnded, Ended),
    (Finishing, InitializeFailed, Failed),
    (Finishing, OutputEnded, Ended),
    (Failed, OutputEnded, Ended),
];

impl State {
    /// The state after `input`.
    pub fn after(self, input: Input) -> State {
        TRANSITIONS
            .iter()
            .find(|(from, on, _)| *from == self && *on == input)
            .map_or(self, |(_, _, to)| *to)
    }

    /// Whether the host may still write prompts and requests.
    pub fn takes_input(self) -> bool {
        matches!(self, Start | Handshake | Open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_ends_and_the_end_is_final() {
        for from in [Start, Handshake, Open, Finishing, Failed, Ended] {
            assert_eq!(from.after(OutputEnded), Ended);
        }
        for input in [
            InitializeWritten,
            InitializeAnswered,
            InitializeFailed,
            Finish,
            OutputEnded,
        ] {
            assert_eq!(Ended.after(input), Ended);
        }
    }

    #[test]
    fn no_transition_is_listed_twice() {
        for (index, (from, on, _)) in TRANSITIONS.iter().enumerate() {
            assert!(!TRANSITIONS[index + 1..]
                .iter()
                .any(|(f, o, _)| f == from && o == on));
        }
    }
}
