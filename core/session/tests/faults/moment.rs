//! When it does so: the script around the fault.

use std::path::Path;

use serde_json::{json, Value};

use crate::fault::{Fault, FLOOD};
use crate::support::{answered, assistant, mcp, permission, result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    BeforeHandshake,
    InHandshake,
    BetweenTurns,
    InTurn,
    InPermission,
    InTool,
    Closing,
}

use Moment::*;

pub(crate) const MOMENTS: [Moment; 7] = [
    BeforeHandshake,
    InHandshake,
    BetweenTurns,
    InTurn,
    InPermission,
    InTool,
    Closing,
];

/// The answer to `initialize`, in two halves.
const ANSWER: [&str; 2] = [
    r#"{"type":"control_response","response":{"subtype":"success","request_id":"$id","resp"#,
    "onse\":{\"commands\":[],\"models\":[],\"account\":{}}}}\n",
];

impl Moment {
    pub(crate) fn title(self) -> &'static str {
        match self {
            BeforeHandshake => "before it has answered `initialize`",
            InHandshake => "in the middle of that answer",
            BetweenTurns => "between turns",
            InTurn => "in a turn",
            InPermission => "while a permission callback runs",
            InTool => "while a tool call runs",
            Closing => "after the host has begun to close",
        }
    }

    pub(crate) fn is_handshake(self) -> bool {
        matches!(self, BeforeHandshake | InHandshake)
    }

    /// Whether the turn that is looked at has not begun.
    pub(crate) fn is_before_turn(self) -> bool {
        self.is_handshake() || self == BetweenTurns
    }

    /// What the CLI does: up to the moment, the fault, and what is left of it then. It goes on when
    /// there is the file `now`.
    pub(crate) fn script(self, fault: Fault, now: &Path, done: &Path) -> Value {
        let mut steps = Vec::new();
        let first = json!({"expect": {"type": "user"}});
        let now = json!({"await_file": now, "timeout_ms": 60_000});
        let half = |half: usize, id: &str| json!({"emit_raw": ANSWER[half].replace("$id", id)});
        // An answer for another id is the only one there is.
        let id = match fault {
            Fault::AnswersAnother => "nobody",
            _ => "$rid",
        };
        match self {
            BeforeHandshake => steps.extend([initialize()]),
            InHandshake => steps.extend([initialize(), half(0, id)]),
            BetweenTurns | Closing => {
                steps.extend([
                    first.clone(),
                    json!({"emit": assistant("a")}),
                    json!({"emit": result()}),
                    now,
                ]);
            }
            InTurn => {
                steps.extend([first.clone(), json!({"emit": assistant("a")})]);
                if fault == Fault::ClosesStdin {
                    // So that the loss of it is noticed at the next line and not at this.
                    steps.push(json!({"expect": {"request": {"subtype": "set_model"}}}));
                }
                steps.push(now);
            }
            InPermission | InTool => steps.extend([
                first.clone(),
                json!({"emit": assistant("a")}),
                json!({"emit": if self == InTool { tool_call() } else { permission("p") }}),
                now,
            ]),
        }
        if self == Closing && fault == Fault::ClosesStdin {
            steps.push(json!({"expect_eof": true}));
        }
        steps.extend(fault.steps(done));
        if self.is_handshake() && fault.writes() && fault != Fault::NeverAnswers {
            if self == BeforeHandshake {
                steps.push(half(0, id));
            }
            steps.push(half(1, id));
            if fault == Fault::AnswersTwice {
                steps.extend([half(0, id), half(1, id)]);
            }
        }
        let heard = !matches!(self, InHandshake | Closing);
        if heard && fault == Fault::FloodsRequests {
            steps.push(json!({"repeat": FLOOD, "steps": [answered("flood-$i")]}));
        }
        if fault.writes() {
            self.go_on(fault, &first, &mut steps);
        }
        steps.into()
    }

    /// The rest of the turn, when the CLI can still write.
    fn go_on(self, fault: Fault, first: &Value, steps: &mut Vec<Value>) {
        if self.is_before_turn() {
            // Does it hear of the turn that comes?
            if !fault.reads() || self.is_handshake() && !opens(fault, self) {
                return;
            }
            steps.push(first.clone());
        }
        if fault.reads() {
            steps.push(json!({"expect": {"request": {"subtype": "set_model"}}}));
            match fault {
                Fault::NeverAnswers => {}
                Fault::AnswersTwice => steps.extend([json!({"answer": {}}), json!({"answer": {}})]),
                Fault::AnswersAnother => steps.push(json!({"emit": {"type": "control_response",
                    "response": {"subtype": "success", "request_id": "nobody", "response": {}}}})),
                _ => steps.push(json!({"answer": {}})),
            }
            match self {
                InPermission => steps.push(answered("p")),
                InTool => steps.push(answered("t")),
                _ => {}
            }
        }
        if self != Closing {
            steps.push(json!({"emit": result()}));
        }
    }
}

/// Whether the session is open all the same when this happens in the handshake.
pub(crate) fn opens(fault: Fault, moment: Moment) -> bool {
    let spoilt = moment == InHandshake && fault.prints();
    fault.writes() && !spoilt && !matches!(fault, Fault::NeverAnswers | Fault::AnswersAnother)
}

fn initialize() -> Value {
    json!({"expect": {"request": {"subtype": "initialize"}}})
}

fn tool_call() -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "add", "arguments": {}}});
    mcp("t", "calc", call)
}
