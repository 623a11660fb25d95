//! The host of a cell, and what it sees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use towline::{
    Closed, Diagnostic, Error, Event, Exit, LocalError, Reply, RequestError, RequestId, Session,
    Tool, ToolServer, TurnDeadline, TurnId, TurnOutcome,
};

use crate::expected::{End, Limit, Odd, Outcome, Process, Request, Turn};
use crate::fault::Fault;
use crate::moment::Moment;
use crate::support::{is_alive, wait_for, Fake, LONG};

/// What a busy machine may add to the limits.
const SLACK: Duration = Duration::from_secs(8);

pub(crate) struct Cell {
    pub(crate) fault: Fault,
    pub(crate) moment: Moment,
    pub(crate) portable: bool,
}

/// What came, as it came.
#[derive(Default)]
struct Seen {
    opened: bool,
    turns: Vec<(TurnId, TurnOutcome)>,
    request: Option<(RequestId, Result<(), RequestError>)>,
    refused: Option<Error>,
    odd: BTreeSet<Odd>,
    closed: Option<Closed>,
}

impl Cell {
    /// Plays the cell; what does not hold.
    pub(crate) fn check(&self, expected: &Outcome) -> Result<(), String> {
        let limits = expected.limits();
        let (seen, took, pid, fake) = self.play(&limits);
        let mut wrong = Vec::new();
        if seen != *expected {
            wrong.push(format!("saw {seen:?}\n   instead of {expected:?}"));
        }
        let bound = limits.iter().map(|limit| limit.short()).sum::<Duration>() + SLACK;
        if took > bound {
            wrong.push(format!("took {took:?}, more than {bound:?}"));
        }
        if is_alive(pid) {
            wrong.push("the CLI still runs".into());
        }
        let grandchild = fake
            .log()
            .iter()
            .find(|line| line["ev"] == "child")
            .cloned();
        if let Some(pid) = grandchild.and_then(|line| line["pid"].as_u64()) {
            if self.portable {
                // Nobody looks after it there.
                // SAFETY: no pointers; the process was started for this test.
                unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
            }
            wait_for("the end of the grandchild", || {
                (!is_alive(pid)).then_some(())
            });
        }
        let failed = fake.log().into_iter().find(|line| line["ev"] == "fail");
        if let Some(line) = failed {
            wrong.push(format!("the script failed: {line}"));
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "{:?} {:?}{}: {}",
                self.fault,
                self.moment,
                if self.portable { " (portable)" } else { "" },
                wrong.join("\n   and ")
            )),
        }
    }

    fn fake(&self, limits: &[Limit]) -> (Fake, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (now, done) = (folder.path().join("now"), folder.path().join("done"));
        let script = self.moment.script(self.fault, &now, &done);
        let mut fake = Fake::new(script);
        let (now, done) = (fake.path("now"), fake.path("done"));
        let script = self.moment.script(self.fault, &now, &done).to_string();
        std::fs::write(fake.path("script.json"), script).unwrap();
        for limit in [
            Limit::Initialize,
            Limit::Control,
            Limit::FirstMessage,
            Limit::Idle,
            Limit::CloseGrace,
            Limit::TerminateGrace,
        ] {
            let time = match limits.contains(&limit) {
                true => limit.short(),
                false => LONG,
            };
            fake = fake.set(limit.option(), time.as_millis() as u64);
        }
        (fake, now, done)
    }

    fn play(&self, limits: &[Limit]) -> (Outcome, Duration, u64, Fake) {
        let (fake, now, done) = self.fake(limits);
        let shared: Arc<OnceLock<u64>> = Arc::default();
        let callback = || {
            let (now, done, pid) = (now.clone(), done.clone(), shared.clone());
            move || {
                std::fs::write(&now, "").unwrap();
                await_fault(*pid.get().unwrap(), &done);
            }
        };
        let mut server = ToolServer::new("calc", "1");
        let in_tool = callback();
        let tool = Tool::new("add", "d", r#"{"type":"object"}"#, move |_| {
            in_tool();
            Reply::Json(r#"{"content":[]}"#.into())
        });
        server.add(tool).unwrap();
        let in_permission = callback();
        let builder = fake.builder().tool_server(server).on_permission(move |_| {
            in_permission();
            Reply::Json(r#"{"behavior":"allow","updatedInput":{}}"#.into())
        });
        let session = match self.portable {
            true => builder.start_portable(),
            false => builder.start(),
        };
        let session = session.unwrap();
        let pid = u64::from(session.pid().unwrap());
        shared.set(pid).unwrap();
        let mut seen = Seen::default();
        let mut begun = Instant::now();
        let mut turn = Some(session.send("one").unwrap());
        let mut request = None;
        let ask = || session.request("set_model", r#"{"model":"m"}"#).unwrap();
        match self.moment {
            Moment::BeforeHandshake | Moment::InHandshake => request = Some(ask()),
            Moment::InPermission | Moment::InTool => request = Some(ask()),
            Moment::InTurn => {
                seen.until(&session, |event| {
                    matches!(event, Event::Message { message, .. }
                        if message.message_type() == "assistant")
                });
                request = Some(ask());
                begun = Instant::now();
                std::fs::write(&now, "").unwrap();
            }
            Moment::BetweenTurns | Moment::Closing => {
                seen.until(&session, |event| matches!(event, Event::TurnEnded { .. }));
                begun = Instant::now();
                if self.moment == Moment::Closing {
                    request = Some(ask());
                    session.begin_close().unwrap();
                    std::fs::write(&now, "").unwrap();
                } else {
                    std::fs::write(&now, "").unwrap();
                    await_fault(pid, &done);
                    match session.send("two") {
                        Ok(next) => turn = Some(next),
                        Err(error) => seen.refused = Some(error),
                    }
                    match session.request("set_model", r#"{"model":"m"}"#) {
                        Ok(id) => request = Some(id),
                        Err(error) => seen.refused = Some(error),
                    }
                }
            }
        }
        let turn = turn.unwrap();
        while seen.closed.is_none() && !(seen.has_turn(turn) && seen.has_request(request)) {
            seen.next(&session);
        }
        session.begin_close().unwrap();
        while seen.closed.is_none() {
            seen.next(&session);
        }
        let took = begun.elapsed();
        assert!(matches!(session.poll(None), Err(Error::Closed)));
        (seen.outcome(turn, self.portable), took, pid, fake)
    }
}

/// Waits, without polling, until the CLI has done what it does wrong.
fn await_fault(pid: u64, done: &Path) {
    wait_for("the fault", || {
        (done.exists() || !is_alive(pid) || is_stopped(pid)).then_some(())
    });
}

fn is_stopped(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|state| state.starts_with('T'))
}

impl Seen {
    fn next(&mut self, session: &Session) {
        self.until(session, |_| true);
    }

    /// Takes events up to one that is wanted.
    fn until(&mut self, session: &Session, wanted: impl Fn(&Event) -> bool) {
        loop {
            let event = crate::support::next(session);
            let found = wanted(&event);
            self.note(event);
            if found {
                return;
            }
            assert!(self.closed.is_none(), "{:?}", self.closed);
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Initialized(_) => self.opened = true,
            Event::TurnEnded { turn, outcome } => self.turns.push((turn, outcome)),
            Event::Response {
                id,
                subtype,
                result,
            } if subtype == "set_model" => self.request = Some((id, result.map(drop))),
            Event::Diagnostic(diagnostic) => self.odd.extend(match diagnostic {
                Diagnostic::NotAMessage { .. } => Some(Odd::NotAMessage),
                Diagnostic::UnexpectedResponse { .. } => Some(Odd::UnexpectedResponse),
                other => panic!("{other:?}"),
            }),
            Event::Closed(closed) => self.closed = Some(closed),
            _ => {}
        }
    }

    fn has_turn(&self, wanted: TurnId) -> bool {
        self.turns.iter().any(|(turn, _)| *turn == wanted)
    }

    fn has_request(&self, wanted: Option<RequestId>) -> bool {
        wanted.is_none_or(|wanted| self.request.as_ref().is_some_and(|(id, _)| *id == wanted))
    }

    fn outcome(self, turn: TurnId, portable: bool) -> Outcome {
        let odd = self.odd;
        let ends: Vec<_> = self.turns.iter().filter(|(id, _)| *id == turn).collect();
        assert_eq!(ends.len(), 1, "a turn ends once: {ends:?}");
        let turn = match &ends[0].1 {
            TurnOutcome::Result(_) => Turn::Result,
            TurnOutcome::TimedOut(TurnDeadline::FirstMessage) => Turn::FirstMessageTimedOut,
            TurnOutcome::TimedOut(TurnDeadline::Idle) => Turn::IdleTimedOut,
            TurnOutcome::SessionEnded(_) => Turn::SessionEnded,
            other => panic!("{other:?}"),
        };
        let request = match self.request.map(|(_, result)| result) {
            // Where the loss is known when the host asks.
            _ if self.refused.is_some() => match self.refused {
                Some(Error::Local(LocalError::InputLost) | Error::Failed(_)) => {
                    Request::SessionEnded
                }
                other => panic!("{other:?}"),
            },
            Some(Ok(())) => Request::Answered,
            Some(Err(RequestError::TimedOut { .. })) => Request::TimedOut,
            Some(Err(RequestError::SessionEnded { .. })) => Request::SessionEnded,
            other => panic!("{other:?}"),
        };
        let closed = self.closed.unwrap();
        let end = match &closed.error {
            None => End::Well,
            Some(Error::ExitedBeforeInitialize(_)) => End::ExitedBeforeInitialize,
            Some(Error::InitializeTimedOut { .. }) => End::InitializeTimedOut,
            Some(Error::Failed(_)) => End::Failed,
            Some(other) => panic!("{other}"),
        };
        let process = match closed.failure.exit {
            Some(Exit::Code(status)) => Process::Status(status),
            Some(Exit::Signal(libc::SIGSEGV)) => Process::Crashed,
            Some(Exit::Signal(libc::SIGTERM)) => Process::Terminated,
            Some(Exit::Signal(libc::SIGKILL)) => Process::Killed,
            other => panic!("{other:?} (portable: {portable})"),
        };
        Outcome {
            opened: self.opened,
            turn,
            request,
            odd: odd.into_iter().collect(),
            end,
            process,
        }
    }
}
