//! The table as a page for people: `docs/faults.md`.

use std::fmt::Write;
use std::path::PathBuf;

use crate::condition::CONDITIONS;
use crate::expected::{expected, End, Limit, Odd, Outcome, Process, Request, Turn};
use crate::fault::FAULTS;
use crate::moment::{Moment, MOMENTS};

/// Set, the test writes the page anew.
pub(crate) const WRITE: &str = "TOWLINE_WRITE_FAULTS";

pub(crate) fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/faults.md")
}

const HEAD: &str = "\
# What a host gets when something goes wrong

Written by `core/session/tests/faults`, which plays every cell of these tables and compares: with processes of this system and
with portable ones, and counts after each row that no process, no thread and no descriptor is left.
`TOWLINE_WRITE_FAULTS=1 cargo test -p towline --test faults page` writes it anew.

## The CLI

In each cell a turn is running, or the host sends the next prompt at that moment, and the host has asked for something by a control
request. *Turn* and *request* are their outcomes, *session* is the error of the last event (`Closed`), *process* its exit status.
*Within* names the options whose times bound it, one after another; with none, it is at once. The handshake and control requests
have 60 s unless set otherwise; the limits of a turn are off unless set, and without them the host waits as long as the CLI lives.

A portable session has no SIGTERM: what ends by SIGTERM here ends by SIGKILL there, and what a grandchild holds open is waited for a
second.
";

const HOST: &str = "
## The host

Every cell of the tables above is played again in hosts of which one of these is true. What is different then:

| the host | difference |
|---|---|
";

const ENDS: &str = "
A portable session has no way to end its input while a forked child holds a copy of it: its CLI is ended after `closeGraceMs`
then. And its CLI inherits the host's signal mask; another starts with none blocked.

In every cell, in both ways, the host also closes or drops the session at that moment; with a CLI that does nothing wrong it polls
slowly, or has no descriptors left, at the start too:

| the host | what happens | within |
|---|---|---|
| closes | each open turn ends once; what the CLI asked gets the safe answer; `Closed`; the CLI and what it started are gone | `closeGraceMs` + `terminateGraceMs` |
| drops the session | the CLI and what it started are gone when the drop returns | the same, a second each at most |
| polls slowly, with megabytes waiting | every message, in order; the CLI waits meanwhile | |
| has no descriptors left | a session that runs goes on and ends as ever; a start fails with `StartError` and leaves nothing | |

A host that ends the input, and does not close, waits until the CLI ends by itself. From the last result on no option bounds that: a
CLI whose input has ended and that stays is closed, as above, once it has written nothing for ten minutes; one that goes on writing is
waited for until the host closes.
";

pub(crate) fn page() -> String {
    let mut page = String::from(HEAD);
    for fault in FAULTS {
        writeln!(page, "\n### The CLI {}\n", fault.title()).unwrap();
        page.push_str("| moment | turn | request | also | session | process | within |\n");
        page.push_str("|---|---|---|---|---|---|---|\n");
        let mut rows: Vec<(Vec<Moment>, Outcome)> = Vec::new();
        for moment in MOMENTS {
            let outcome = expected(fault, moment);
            match rows.last_mut() {
                Some((moments, last)) if *last == outcome => moments.push(moment),
                _ => rows.push((vec![moment], outcome)),
            }
        }
        for (moments, outcome) in rows {
            let moments: Vec<&str> = moments.into_iter().map(Moment::title).collect();
            let limits: Vec<String> = outcome.limits().iter().map(limit).collect();
            let odd: Vec<&str> = outcome.odd.iter().map(|odd| self::odd(*odd)).collect();
            let process = process(outcome.process);
            writeln!(
                page,
                "| {} | {} | {} | {} | {} | {process} | {} |",
                moments.join("; "),
                turn(outcome.turn),
                request(outcome.request),
                odd.join(", "),
                end(outcome.end),
                limits.join(" + ")
            )
            .unwrap();
        }
    }
    page.push_str(HOST);
    for condition in CONDITIONS {
        let (title, difference) = (condition.title(), condition.difference());
        writeln!(page, "| {title} | {difference} |").unwrap();
    }
    page.push_str(ENDS);
    page
}

fn limit(limit: &Limit) -> String {
    format!("`{}`", limit.option())
}

fn turn(turn: Turn) -> &'static str {
    match turn {
        Turn::Result => "its result",
        Turn::FirstMessageTimedOut => "`TimedOut(FirstMessage)`",
        Turn::IdleTimedOut => "`TimedOut(Idle)`",
        Turn::SessionEnded => "`SessionEnded`",
    }
}

fn request(request: Request) -> &'static str {
    match request {
        Request::Answered => "answered",
        Request::TimedOut => "`TimedOut`",
        Request::SessionEnded => "`SessionEnded`",
    }
}

fn odd(odd: Odd) -> &'static str {
    match odd {
        Odd::NotAMessage => "`NotAMessage`",
        Odd::UnexpectedResponse => "`UnexpectedResponse`",
        Odd::NotRecorded => "`NotRecorded`",
        Odd::NotMirrored => "`mirror_error`",
    }
}

fn end(end: End) -> &'static str {
    match end {
        End::Well => "no error",
        End::ExitedBeforeInitialize => "`ExitedBeforeInitialize`",
        End::InitializeTimedOut => "`InitializeTimedOut`",
        End::Failed => "`Failed`",
    }
}

fn process(process: Process) -> String {
    match process {
        Process::Status(status) => format!("status {status}"),
        Process::Crashed => "SIGSEGV".into(),
        Process::Terminated => "SIGTERM".into(),
        Process::Killed => "SIGKILL".into(),
        Process::Unknown => "unknown".into(),
    }
}
