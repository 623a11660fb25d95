//! One session from its start to its end, and what its host does with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::{Event, Options, Reply, RequestHandle, Session, Tool, ToolServer, TurnId, Watchdog};

use crate::census::runs;
use crate::chance::Chance;
use crate::script::{script, FAULTS, MAX_LINE};

/// The longest that a session of this run may take, once it was told to end or its CLI has: the
/// limits of its options, one after another, and as much for a busy machine.
const LIMIT: Duration = Duration::from_secs(90);

/// What every session of a run shares.
pub(crate) struct Ground<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) cli: &'a Path,
    /// Name and value of a variable that marks the processes of the run.
    pub(crate) mark: (&'a str, &'a str),
    pub(crate) watchdog: &'a Watchdog,
    /// Factor of the times between what the host does.
    pub(crate) pace: u64,
}

/// What the host will do, beside reading events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    Send,
    Request,
    Interrupt,
    EndInput,
    /// Stops polling for so long.
    Sleep(Duration),
    Close,
    Drop,
}

/// How a life has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Closed,
    Dropped,
    NotStarted,
}

pub(crate) struct Life {
    session: Session,
    what: String,
    pid: Option<u32>,
    deeds: Vec<(Instant, Deed)>,
    asleep: Option<Instant>,
    limit: Instant,
    open: BTreeMap<TurnId, usize>,
    ended: BTreeMap<TurnId, usize>,
    asked: usize,
    answered: usize,
    /// Handles that are answered some time.
    kept: Vec<(Instant, RequestHandle)>,
    chance: Chance,
    files: Vec<PathBuf>,
}

impl Life {
    /// `Err` is the end of a session that could not be started, which some of the options may cause.
    pub(crate) fn start(ground: &Ground<'_>, number: u64, mut chance: Chance) -> Result<Life, End> {
        let portable = chance.one_in(8);
        // What a portable session's CLI leaves behind is nobody's.
        let faults = &FAULTS[..FAULTS.len() - usize::from(portable)];
        let fault = chance.pick(faults);
        let (mut steps, turns) = script(&mut chance, fault);
        let config = ground.folder.join("config");
        place(&mut steps, &config.to_string_lossy());
        let path = ground.folder.join(format!("{number}.json"));
        std::fs::write(&path, steps.to_string()).expect("room for a script");
        let mut files = vec![path.clone()];
        let mut options = json!({
            "cliPath": ground.cli, "maxLineBytes": MAX_LINE, "highWaterBytes": 256 * 1024,
            "initializeTimeoutMs": 10_000, "controlTimeoutMs": 10_000, "turnTimeoutMs": 20_000,
            "handlerTimeoutMs": 10_000, "closeGraceMs": 300, "terminateGraceMs": 300,
            "env": {"FAKE_CLI_SCRIPT": path, "CLAUDE_CONFIG_DIR": config,
                ground.mark.0: ground.mark.1},
        });
        match chance.below(12) {
            0 => {
                let record = ground.folder.join(format!("{number}.recording"));
                options["record"] = json!(record);
                files.push(record);
            }
            1 => options["record"] = json!("/dev/full"),
            2 => options["sessionStore"] = json!("memory:"),
            3 => {
                let store = ground.folder.join(format!("{number}.sqlite"));
                options["sessionStore"] = json!(format!("sqlite:{}", store.display()));
                for ending in ["sqlite", "sqlite-wal", "sqlite-shm"] {
                    files.push(ground.folder.join(format!("{number}.{ending}")));
                }
            }
            _ => {}
        }
        let what = format!("session {number}: {fault}; {options}; portable {portable}; {steps}");
        let options = Options::from_json(&options.to_string()).expect("options");
        let mut builder = Session::builder(options).tool_server(tools(chance.below(5)));
        if chance.one_in(2) {
            builder = builder.watchdog(ground.watchdog);
        }
        let way = chance.below(5);
        builder = match way {
            0 => builder.permission_events(),
            _ => builder.on_permission(move |_| reply(way)),
        };
        builder = builder.on_hook("PreToolUse", None, move |_| reply(way));
        let started = match portable {
            true => builder.start_portable(),
            false => builder.start(),
        };
        let Ok(session) = started else {
            remove(&files);
            return Err(End::NotStarted);
        };
        let deeds = deeds(&mut chance, turns, ground.pace);
        Ok(Life {
            pid: session.pid(),
            session,
            what,
            limit: last(&deeds) + LIMIT,
            deeds,
            asleep: None,
            open: BTreeMap::new(),
            ended: BTreeMap::new(),
            asked: 0,
            answered: 0,
            kept: Vec::new(),
            chance,
            files,
        })
    }

    pub(crate) fn session(&self) -> &Session {
        &self.session
    }

    /// Whether its descriptor is looked at.
    pub(crate) fn is_awake(&self) -> bool {
        self.asleep.is_none()
    }

    /// How long until it has to be looked at by the clock.
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        let own = self.asleep.or(self.deeds.first().map(|(at, _)| *at));
        let kept = self.kept.iter().map(|(at, _)| *at).min();
        let clock = [own, kept].into_iter().flatten().min();
        let clock = clock.map_or(Duration::from_secs(1), |at| {
            at.saturating_duration_since(now)
        });
        let timeout = match self.is_awake() {
            true => self
                .session
                .next_timeout()
                .expect("a session of this process"),
            false => None,
        };
        timeout.map_or(clock, |timeout| timeout.min(clock))
    }

    /// Goes on with it. `Some` is its end.
    ///
    /// # Errors
    /// What does not hold.
    pub(crate) fn go_on(&mut self, now: Instant) -> Result<Option<End>, String> {
        if now > self.limit {
            return Err(format!("it does not end: {}", self.what));
        }
        if self.asleep.is_some_and(|until| until <= now) {
            self.asleep = None;
        }
        while self.asleep.is_none() && self.deeds.first().is_some_and(|(at, _)| *at <= now) {
            let (_, deed) = self.deeds.remove(0);
            if self.act(deed, now)? {
                return Ok(Some(End::Dropped));
            }
        }
        let due: Vec<RequestHandle> = {
            let (due, later) = self.kept.drain(..).partition(|(at, _)| *at <= now);
            self.kept = later;
            Vec::from_iter(due)
                .into_iter()
                .map(|(_, handle): (Instant, _)| handle)
                .collect()
        };
        for handle in due {
            // It may have been withdrawn.
            let _ = handle.allow();
        }
        if !self.is_awake() {
            return Ok(None);
        }
        // A batch, so that one that floods leaves time to the others.
        for _ in 0..500 {
            match self
                .session
                .poll(Some(Duration::ZERO))
                .map_err(|error| self.says(&error))?
            {
                None => return Ok(None),
                Some(Event::Closed(_)) => return self.closed().map(|()| Some(End::Closed)),
                Some(event) => self.event(event, now),
            }
        }
        Ok(None)
    }

    /// Ends it at the next look, whatever the host would have done.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.asleep = None;
        if self.deeds.pop().is_some() {
            self.deeds = vec![(now, Deed::Close)];
        }
    }

    fn says(&self, error: &dyn std::error::Error) -> String {
        format!("{error}: {}", self.what)
    }

    /// `true` when the session is gone with it.
    fn act(&mut self, deed: Deed, now: Instant) -> Result<bool, String> {
        // What fails, fails because the CLI has gone or the input has ended: the last event tells.
        match deed {
            Deed::Send => {
                if let Ok(turn) = self.session.send("go on") {
                    *self.open.entry(turn).or_default() += 1;
                }
            }
            Deed::Request => {
                let asked = self.session.request("set_model", r#"{"model":"m"}"#);
                self.asked += usize::from(asked.is_ok());
            }
            Deed::Interrupt => self.asked += usize::from(self.session.interrupt().is_ok()),
            Deed::EndInput => drop(self.session.end_input()),
            Deed::Sleep(length) => self.asleep = Some(now + length),
            Deed::Close => drop(self.session.begin_close()),
            Deed::Drop => return Ok(true),
        }
        Ok(false)
    }

    fn event(&mut self, event: Event, now: Instant) {
        match event {
            Event::TurnEnded { turn, .. } => *self.ended.entry(turn).or_default() += 1,
            Event::Response { .. } => self.answered += 1,
            Event::Request(handle) if self.chance.one_in(2) => {
                let at = now + Duration::from_millis(self.chance.below(2_000));
                self.kept.push((at, handle));
            }
            _ => {}
        }
    }

    /// What has to hold at the end.
    fn closed(&self) -> Result<(), String> {
        if self.ended != self.open {
            let (sent, ended) = (&self.open, &self.ended);
            return Err(format!(
                "turns sent {sent:?}, ended {ended:?}: {}",
                self.what
            ));
        }
        if self.asked != self.answered {
            let (asked, answered) = (self.asked, self.answered);
            return Err(format!("asked {asked}, answered {answered}: {}", self.what));
        }
        if self.pid.is_some_and(runs) {
            return Err(format!("process {:?} runs: {}", self.pid, self.what));
        }
        Ok(())
    }

    /// Lets go of the session and of its files.
    pub(crate) fn bury(self) -> Result<(), String> {
        let Life {
            session,
            pid,
            files,
            what,
            kept,
            ..
        } = self;
        drop(session);
        drop(kept);
        remove(&files);
        match pid.is_some_and(runs) {
            true => Err(format!("process {pid:?} outlives its session: {what}")),
            false => Ok(()),
        }
    }
}

fn remove(files: &[PathBuf]) {
    for file in files {
        // Not each of them was made.
        let _ = std::fs::remove_file(file);
    }
}

/// Puts the configuration's folder into the script.
fn place(value: &mut Value, config: &str) {
    match value {
        Value::String(text) => *text = text.replace("@CONFIG@", config),
        Value::Array(items) => items.iter_mut().for_each(|item| place(item, config)),
        Value::Object(members) => members.values_mut().for_each(|item| place(item, config)),
        _ => {}
    }
}

fn reply(way: u64) -> Reply {
    match way {
        1 => Reply::allow(),
        2 => Reply::deny("no"),
        3 => Reply::Failed("the handler failed".into()),
        // Nobody keeps the handle: the safe answer.
        _ => Reply::Later,
    }
}

fn tools(way: u64) -> ToolServer {
    let mut tools = ToolServer::new("calc", "1");
    let schema = r#"{"type":"object","properties":{}}"#;
    let added = tools.add(Tool::new("add", "Adds", schema, move |_| match way {
        0 => Reply::tool_error("it cannot be done"),
        1 => Reply::Later,
        _ => Reply::text("3"),
    }));
    added.expect("a tool");
    tools
}

fn last(deeds: &[(Instant, Deed)]) -> Instant {
    deeds.last().map_or_else(Instant::now, |(at, _)| *at)
}

fn deeds(chance: &mut Chance, turns: u64, pace: u64) -> Vec<(Instant, Deed)> {
    let mut at = Instant::now();
    let mut deeds = vec![(at, Deed::Send)];
    let mut later = |chance: &mut Chance, most: u64| {
        at += Duration::from_millis(chance.below(most * pace));
        at
    };
    for _ in 1..turns {
        deeds.push((later(chance, 4_000), Deed::Send));
        match chance.below(8) {
            0 => deeds.push((later(chance, 1_000), Deed::Interrupt)),
            1 | 2 => deeds.push((later(chance, 1_000), Deed::Request)),
            3 => {
                let length = Duration::from_millis(chance.below(5_000));
                deeds.push((later(chance, 1_000), Deed::Sleep(length)));
            }
            _ => {}
        }
    }
    let end = match chance.below(4) {
        0 => Deed::EndInput,
        1 => Deed::Drop,
        _ => Deed::Close,
    };
    deeds.push((later(chance, 30_000), end));
    if end == Deed::EndInput {
        // A CLI that minds no end of its input is ended by its host.
        deeds.push((later(chance, 5_000), Deed::Close));
    }
    deeds
}
