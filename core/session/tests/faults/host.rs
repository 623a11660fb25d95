//! The host of a cell, and what it sees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use towline::{
    Closed, Diagnostic, Error, Event, Exit, LocalError, Reply, RequestError, RequestHandle,
    RequestId, Session, Tool, ToolServer, TurnDeadline, TurnId, TurnOutcome,
};

use crate::condition::{self, Condition, Forked};
use crate::expected::{
    expected, process, End, Limit, Odd, Outcome, Process, Request, Turn, LIMITS,
};
use crate::fault::Fault;
use crate::moment::Moment;
use crate::support::{is_alive, wait_for, Fake, LONG};

/// What a busy machine may add to the limits.
const SLACK: Duration = Duration::from_secs(8);

pub(crate) struct Cell {
    pub(crate) fault: Fault,
    pub(crate) moment: Moment,
    pub(crate) condition: Condition,
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
    pub(crate) fn check(&self) -> Result<(), String> {
        let plain = expected(self.fault, self.moment);
        let limits = plain.limits();
        let mut expected = self.condition.expected(plain, self.fault, self.moment);
        if self.portable && expected.process == Process::Terminated {
            expected.process = Process::Killed;
        }
        let stage = self.stage(|limit| limits.contains(&limit));
        let (seen, took) = stage.play(self);
        let mut wrong = Vec::new();
        let status_known =
            self.condition == Condition::ReapsEverything && seen.process != Process::Unknown;
        let same = match status_known {
            // Now and then the session is first.
            true => seen.process == self.portably(process(self.fault, self.moment)),
            false => seen == expected,
        };
        if !same {
            wrong.push(format!("saw {seen:?}\n   instead of {expected:?}"));
        }
        let bound = limits.iter().map(|limit| limit.short()).sum::<Duration>() + SLACK;
        if took > bound {
            wrong.push(format!("took {took:?}, more than {bound:?}"));
        }
        let failed = stage
            .fake
            .log()
            .into_iter()
            .find(|line| line["ev"] == "fail");
        if let Some(line) = failed {
            wrong.push(format!("the script failed: {line}"));
        }
        wrong.extend(self.left(&stage));
        self.verdict(&wrong)
    }

    /// Lets the host close, or drop the session, at the moment, without waiting for anything.
    pub(crate) fn check_end(&self, drops: bool) -> Result<(), String> {
        let graces = [Limit::CloseGrace, Limit::TerminateGrace];
        let stage = self.stage(|limit| graces.contains(&limit));
        let took = stage.end(self, drops);
        let mut wrong = Vec::new();
        let bound = graces.iter().map(|limit| limit.short()).sum::<Duration>() + SLACK;
        if took > bound {
            wrong.push(format!("took {took:?}, more than {bound:?}"));
        }
        wrong.extend(self.left(&stage));
        self.verdict(&wrong)
    }

    fn portably(&self, process: Process) -> Process {
        match process {
            Process::Terminated if self.portable => Process::Killed,
            process => process,
        }
    }

    fn verdict(&self, wrong: &[String]) -> Result<(), String> {
        if wrong.is_empty() {
            return Ok(());
        }
        let how = if self.portable { " (portable)" } else { "" };
        let wrong = wrong.join("\n   and ");
        Err(format!("{:?} {:?}{how}: {wrong}", self.fault, self.moment))
    }

    /// What is left of the CLI.
    fn left(&self, stage: &Stage) -> Option<String> {
        let others = || descendants(&stage.fake);
        if self.portable {
            // Nobody looks after them there.
            for pid in others() {
                // SAFETY: no pointers; the process was started for this test.
                unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
            }
        }
        wait_for("the end of the grandchild", || {
            others().is_empty().then_some(())
        });
        is_alive(stage.pid()).then(|| "the CLI still runs".into())
    }

    fn stage(&self, is_short: impl Fn(Limit) -> bool) -> Stage {
        let mut fake = Fake::new(serde_json::json!([]));
        let (now, done) = (fake.path("now"), fake.path("done"));
        let script = self.moment.script(self.fault, &now, &done);
        let script = self.condition.script(script).to_string();
        std::fs::write(fake.path("script.json"), script).unwrap();
        for limit in LIMITS {
            // What has been killed is waited for as long as it takes: a portable session would give
            // it up.
            let certain = self.portable && limit == Limit::TerminateGrace;
            let time = match is_short(limit) && !certain {
                true => limit.short(),
                false => LONG,
            };
            fake = fake.set(limit.option(), time.as_millis() as u64);
        }
        Stage {
            fake: self.condition.options(fake),
            now,
            done,
            pid: Arc::default(),
        }
    }
}

/// Where a cell is played.
struct Stage {
    fake: Fake,
    now: PathBuf,
    done: PathBuf,
    pid: Arc<OnceLock<u64>>,
}

impl Stage {
    fn pid(&self) -> u64 {
        *self.pid.get().unwrap()
    }

    /// Starts the session; `callback` is what permission and tool callbacks do.
    fn start(
        &self,
        cell: &Cell,
        callback: impl Fn(&RequestHandle, &str) -> Reply + Clone + Send + 'static,
    ) -> Session {
        let mut server = ToolServer::new("calc", "1");
        let in_tool = callback.clone();
        let tool = Tool::new("add", "d", r#"{"type":"object"}"#, move |request| {
            in_tool(request, r#"{"content":[]}"#)
        });
        server.add(tool).unwrap();
        let builder = self.fake.builder();
        let builder = builder.tool_server(server).on_permission(move |request| {
            callback(request, r#"{"behavior":"allow","updatedInput":{}}"#)
        });
        let builder = cell.condition.builder(builder);
        let alone = condition::alone();
        let session = match cell.portable {
            true => builder.start_portable(),
            false => builder.start(),
        };
        drop(alone);
        let session = session.unwrap();
        self.pid.set(u64::from(session.pid().unwrap())).unwrap();
        session
    }

    /// Plays a cell to its end, with all that its host wants to know.
    fn play(&self, cell: &Cell) -> (Outcome, Duration) {
        let (now, done, pid) = (self.now.clone(), self.done.clone(), self.pid.clone());
        let session = self.start(cell, move |_, reply| {
            std::fs::write(&now, "").unwrap();
            await_fault(*pid.get().unwrap(), &done);
            Reply::Json(reply.into())
        });
        let forked = (cell.condition == Condition::HasForked).then(Forked::new);
        let mut seen = Seen::default();
        let mut begun = Instant::now();
        if cell.fault == Fault::ClosesStdin && cell.moment.is_handshake() {
            // What was written before would arrive.
            await_fault(self.pid(), &self.done);
        }
        let mut turn = session.send("one").unwrap();
        let mut request = None;
        let ask = || session.request("set_model", r#"{"model":"m"}"#);
        match cell.moment {
            Moment::BeforeHandshake | Moment::InHandshake => match ask() {
                Ok(id) => request = Some(id),
                Err(error) => seen.refused = Some(error),
            },
            Moment::InPermission | Moment::InTool => request = Some(ask().unwrap()),
            Moment::InTurn => {
                seen.until_assistant(&session);
                request = Some(ask().unwrap());
                begun = Instant::now();
                std::fs::write(&self.now, "").unwrap();
            }
            Moment::Closing => {
                seen.until_turn_ended(&session);
                request = Some(ask().unwrap());
                begun = Instant::now();
                session.begin_close().unwrap();
                std::fs::write(&self.now, "").unwrap();
            }
            Moment::BetweenTurns => {
                seen.until_turn_ended(&session);
                begun = Instant::now();
                std::fs::write(&self.now, "").unwrap();
                await_fault(self.pid(), &self.done);
                match session.send("two") {
                    Ok(next) => turn = next,
                    Err(error) => seen.refused = Some(error),
                }
                match ask() {
                    Ok(id) => request = Some(id),
                    Err(error) => seen.refused = Some(error),
                }
            }
        }
        while seen.closed.is_none() && !(seen.has_turn(turn) && seen.has_request(request)) {
            seen.next(&session);
        }
        session.begin_close().unwrap();
        while seen.closed.is_none() {
            seen.next(&session);
        }
        let took = begun.elapsed();
        assert!(matches!(session.poll(None), Err(Error::Closed)));
        // Before the child with the copies of all descriptors, as it should not matter.
        drop(session);
        assert!(!is_alive(self.pid()));
        drop(forked);
        (seen.outcome(turn), took)
    }

    /// Ends the session at the moment.
    fn end(&self, cell: &Cell, drops: bool) -> Duration {
        let kept: Arc<Mutex<Vec<RequestHandle>>> = Arc::default();
        let keep = kept.clone();
        let session = self.start(cell, move |request, _| {
            keep.lock().unwrap().push(request.clone());
            Reply::Later
        });
        let mut seen = Seen::default();
        let turn = session.send("one").unwrap();
        match cell.moment {
            Moment::BeforeHandshake | Moment::InHandshake => {}
            Moment::InTurn => seen.until_assistant(&session),
            Moment::InPermission | Moment::InTool => {
                while kept.lock().unwrap().is_empty() {
                    let event = session.poll(Some(Duration::from_millis(1))).unwrap();
                    event.into_iter().for_each(|event| seen.note(event));
                }
            }
            Moment::BetweenTurns => seen.until_turn_ended(&session),
            Moment::Closing => {
                seen.until_turn_ended(&session);
                session.begin_close().unwrap();
            }
        }
        let begun = Instant::now();
        std::fs::write(&self.now, "").unwrap();
        if !drops {
            session.begin_close().unwrap();
            while seen.closed.is_none() {
                seen.next(&session);
            }
            let ends = seen.turns.iter().filter(|(id, _)| *id == turn);
            assert_eq!(ends.count(), 1, "a turn ends once");
            assert!(kept.lock().unwrap().iter().all(RequestHandle::is_cancelled));
        }
        drop(session);
        begun.elapsed()
    }
}

/// What a CLI has started, by what stands in the environment.
fn descendants(fake: &Fake) -> Vec<u64> {
    let mark = fake.path("log").into_os_string().into_encoded_bytes();
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut parts = environment.split(|byte| *byte == 0);
        parts.any(|part| part.strip_prefix(b"FAKE_CLI_LOG=") == Some(&mark))
    })
    .collect()
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

    fn until_assistant(&mut self, session: &Session) {
        self.until(session, |event| {
            matches!(event, Event::Message { message, .. }
                if message.message_type() == "assistant")
        });
    }

    fn until_turn_ended(&mut self, session: &Session) {
        self.until(session, |event| matches!(event, Event::TurnEnded { .. }));
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Message { message, .. } if message.subtype() == Some("mirror_error") => {
                assert!(self.odd.insert(Odd::NotMirrored), "told twice");
            }
            Event::Diagnostic(Diagnostic::NotRecorded(_)) => {
                assert!(self.odd.insert(Odd::NotRecorded), "told twice");
            }
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

    fn outcome(self, turn: TurnId) -> Outcome {
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
                Some(
                    Error::Local(LocalError::InputLost)
                    | Error::Failed(_)
                    | Error::ExitedBeforeInitialize(_),
                ) => Request::SessionEnded,
                other => panic!("{other:?}"),
            },
            Some(Ok(())) => Request::Answered,
            Some(Err(RequestError::TimedOut { .. })) => Request::TimedOut,
            Some(Err(RequestError::SessionEnded { .. })) => Request::SessionEnded,
            other => panic!(
                "{other:?} {:?} {:?} {:?}",
                self.turns, self.closed, self.opened
            ),
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
            Some(Exit::Unknown) => Process::Unknown,
            other => panic!("{other:?}"),
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
