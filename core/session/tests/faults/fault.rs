//! What a CLI can do wrong, as steps of a script.

use std::path::Path;

use serde_json::{json, Value};

/// How many requests a flood of them is.
pub(crate) const FLOOD: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// None: in none of the tables.
    Nothing,
    Exits,
    Crashes,
    Stops,
    Hangs,
    StopsReading,
    StopsWriting,
    ClosesStdin,
    ClosesStdout,
    ClosesStderr,
    FloodsStderr,
    PrintsGarbage,
    FloodsRequests,
    AnswersTwice,
    NeverAnswers,
    AnswersAnother,
    LeavesGrandchild,
}

use Fault::*;

pub(crate) const FAULTS: [Fault; 16] = [
    Exits,
    Crashes,
    Stops,
    Hangs,
    StopsReading,
    StopsWriting,
    ClosesStdin,
    ClosesStdout,
    ClosesStderr,
    FloodsStderr,
    PrintsGarbage,
    FloodsRequests,
    AnswersTwice,
    NeverAnswers,
    AnswersAnother,
    LeavesGrandchild,
];

impl Fault {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Nothing => "does nothing wrong",
            Exits => "exits with status 3",
            Crashes => "dies of SIGSEGV",
            Stops => "is stopped (SIGSTOP)",
            Hangs => "hangs, minding neither the end of its input nor SIGTERM",
            StopsReading => "stops reading",
            StopsWriting => "stops writing",
            ClosesStdin => "closes its stdin",
            ClosesStdout => "closes its stdout",
            ClosesStderr => "closes its stderr",
            FloodsStderr => "floods stderr (2.6 MB)",
            PrintsGarbage => "prints lines that are no messages",
            FloodsRequests => "floods control requests (500)",
            AnswersTwice => "answers a request twice",
            NeverAnswers => "never answers requests",
            AnswersAnother => "answers for another id",
            LeavesGrandchild => "exits with status 3, a grandchild holds its pipes",
        }
    }

    /// Whether the process is over with it.
    pub(crate) fn ends_process(self) -> bool {
        matches!(self, Exits | Crashes | LeavesGrandchild)
    }

    /// Whether the CLI reads its input afterwards.
    pub(crate) fn reads(self) -> bool {
        !self.ends_process() && !matches!(self, Stops | Hangs | StopsReading | ClosesStdin)
    }

    /// Whether it writes messages afterwards.
    pub(crate) fn writes(self) -> bool {
        !self.ends_process() && !matches!(self, Stops | Hangs | StopsWriting | ClosesStdout)
    }

    /// Whether its requests of the host are answered afterwards.
    pub(crate) fn answers(self) -> bool {
        self.reads() && self.writes() && !matches!(self, NeverAnswers | AnswersAnother)
    }

    /// Whether the fault is something that stands on stdout.
    pub(crate) fn prints(self) -> bool {
        matches!(self, PrintsGarbage | FloodsRequests)
    }

    /// The steps of the fault itself. The file `done` is made when it has happened, or is about to
    /// where it cannot be told afterwards.
    pub(crate) fn steps(self, done: &Path) -> Vec<Value> {
        let touch = json!({"touch": done});
        match self {
            Exits => vec![json!({"exit": 3})],
            Crashes => vec![json!({"kill": "SIGSEGV"})],
            Stops => vec![json!({"kill": "SIGSTOP"})],
            Hangs => vec![
                json!({"ignore_signals": ["SIGTERM"]}),
                json!({"on_eof": "ignore"}),
                json!({"ignore_stdin": true}),
                touch,
            ],
            StopsReading => vec![json!({"ignore_stdin": true}), touch],
            Nothing | StopsWriting | NeverAnswers | AnswersTwice | AnswersAnother => vec![touch],
            ClosesStdin => vec![json!({"close_stdin": true}), touch],
            ClosesStdout => vec![json!({"close_stdout": true}), touch],
            ClosesStderr => vec![json!({"close_stderr": true}), touch],
            // While nobody reads it, a flood does not end.
            FloodsStderr => vec![
                touch,
                json!({"stderr": format!("{}\n", "flood ".repeat(21)), "times": 20_000}),
            ],
            PrintsGarbage => vec![
                touch,
                json!({"emit_raw": "Debugger attached.\n{\"type\":\n[1,2]\n"}),
            ],
            FloodsRequests => vec![
                touch,
                json!({"repeat": FLOOD, "steps": [{"emit": {"type": "control_request",
                    "request_id": "flood-$i", "request": {"subtype": "of_no_known_kind"}}}]}),
            ],
            LeavesGrandchild => vec![json!({"spawn_child": 300}), json!({"exit": 3})],
        }
    }
}
