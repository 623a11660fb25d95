//! What a host gets in each cell, and what bounds the time.

use std::time::Duration;

use crate::fault::Fault;
use crate::moment::{opens, Moment};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// No error.
    Well,
    ExitedBeforeInitialize,
    InitializeTimedOut,
    Failed,
}

/// How the process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    Status(i32),
    Crashed,
    /// By SIGTERM of the session; the portable way has SIGKILL alone.
    Terminated,
    /// By SIGKILL of the session.
    Killed,
    /// Somebody else has taken its status.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Result,
    FirstMessageTimedOut,
    IdleTimedOut,
    SessionEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    Answered,
    TimedOut,
    /// With the session; where the loss is known when the host asks, the call itself fails.
    SessionEnded,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Odd {
    NotAMessage,
    UnexpectedResponse,
    NotRecorded,
    NotMirrored,
}

/// A cell: everything that the host gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Whether `Initialized` came.
    pub(crate) opened: bool,
    /// The turn that was running at the moment, or the next one.
    pub(crate) turn: Turn,
    /// A control request of the host that was open at the moment, or the next one.
    pub(crate) request: Request,
    /// What else was told, each once.
    pub(crate) odd: Vec<Odd>,
    pub(crate) end: End,
    pub(crate) process: Process,
}

/// What the time to the last event is made of, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Initialize,
    Control,
    FirstMessage,
    Idle,
    CloseGrace,
    TerminateGrace,
}

pub(crate) const LIMITS: [Limit; 6] = [
    Limit::Initialize,
    Limit::Control,
    Limit::FirstMessage,
    Limit::Idle,
    Limit::CloseGrace,
    Limit::TerminateGrace,
];

impl Limit {
    pub(crate) fn option(self) -> &'static str {
        match self {
            Limit::Initialize => "initializeTimeoutMs",
            Limit::Control => "controlTimeoutMs",
            Limit::FirstMessage => "firstMessageTimeoutMs",
            Limit::Idle => "idleTimeoutMs",
            Limit::CloseGrace => "closeGraceMs",
            Limit::TerminateGrace => "terminateGraceMs",
        }
    }

    /// In a cell that runs into it. Elsewhere it is long, so that a busy machine does not.
    pub(crate) fn short(self) -> Duration {
        Duration::from_millis(match self {
            Limit::Control => 400,
            Limit::Initialize | Limit::FirstMessage | Limit::Idle => 1000,
            Limit::CloseGrace | Limit::TerminateGrace => 200,
        })
    }
}

impl Outcome {
    /// What the cell runs into, in this order.
    pub(crate) fn limits(&self) -> Vec<Limit> {
        let mut limits = Vec::new();
        let mut add = |limit, runs_into: bool| {
            if runs_into {
                limits.push(limit);
            }
        };
        add(Limit::Initialize, self.end == End::InitializeTimedOut);
        add(Limit::Control, self.request == Request::TimedOut);
        add(Limit::FirstMessage, self.turn == Turn::FirstMessageTimedOut);
        add(Limit::Idle, self.turn == Turn::IdleTimedOut);
        let forced = matches!(self.process, Process::Terminated | Process::Killed);
        // The session that can say nothing any more closes by itself.
        add(Limit::CloseGrace, forced && self.end == End::Failed);
        add(Limit::CloseGrace, forced);
        add(Limit::TerminateGrace, self.process == Process::Killed);
        limits
    }
}

pub(crate) fn expected(fault: Fault, moment: Moment) -> Outcome {
    let opened = !moment.is_handshake() || opens(fault, moment);
    let turn = turn(fault, moment, opened);
    Outcome {
        opened,
        turn,
        request: request(fault, moment, opened),
        odd: odd(fault, moment, opened),
        end: end(fault, moment, opened),
        process: process(fault, moment),
    }
}

/// Whether the loss of its stdin is noticed at this moment, because something has to be written.
fn loses_input(fault: Fault, moment: Moment) -> bool {
    fault == Fault::ClosesStdin && !matches!(moment, Moment::InTurn | Moment::Closing)
}

fn turn(fault: Fault, moment: Moment, opened: bool) -> Turn {
    let hears = fault.reads() || !moment.is_before_turn();
    match () {
        () if moment == Moment::Closing => Turn::Result,
        () if !opened || fault.ends_process() || fault == Fault::ClosesStdout => Turn::SessionEnded,
        () if fault.writes() && hears => Turn::Result,
        () if moment.is_before_turn() && loses_input(fault, moment) => Turn::SessionEnded,
        () if moment.is_before_turn() => Turn::FirstMessageTimedOut,
        () => Turn::IdleTimedOut,
    }
}

fn request(fault: Fault, moment: Moment, opened: bool) -> Request {
    let over = !opened || fault.ends_process() || fault == Fault::ClosesStdout;
    match () {
        () if !over && fault.answers() => Request::Answered,
        () if over || moment == Moment::Closing || loses_input(fault, moment) => {
            Request::SessionEnded
        }
        () => Request::TimedOut,
    }
}

fn odd(fault: Fault, moment: Moment, opened: bool) -> Vec<Odd> {
    match fault {
        Fault::AnswersTwice | Fault::AnswersAnother => vec![Odd::UnexpectedResponse],
        Fault::PrintsGarbage => vec![Odd::NotAMessage],
        // Half a line stands alone, or with something that does not belong to it.
        _ if moment == Moment::InHandshake && !opened => vec![Odd::NotAMessage],
        _ => Vec::new(),
    }
}

fn end(fault: Fault, moment: Moment, opened: bool) -> End {
    match () {
        () if !opened && (fault.ends_process() || fault == Fault::ClosesStdout) => {
            End::ExitedBeforeInitialize
        }
        () if !opened => End::InitializeTimedOut,
        () if fault.ends_process() && moment != Moment::Closing => End::Failed,
        () if loses_input(fault, moment) => End::Failed,
        () => End::Well,
    }
}

pub(crate) fn process(fault: Fault, moment: Moment) -> Process {
    match fault {
        Fault::Exits | Fault::LeavesGrandchild => Process::Status(3),
        Fault::Crashes => Process::Crashed,
        Fault::Stops | Fault::Hangs => Process::Killed,
        Fault::ClosesStdin if moment == Moment::Closing => Process::Status(0),
        Fault::StopsReading | Fault::ClosesStdin => Process::Terminated,
        _ => Process::Status(0),
    }
}
