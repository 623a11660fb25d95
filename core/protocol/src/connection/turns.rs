//! Turns: which prompt a message belongs to, and when a turn is over.
//!
//! CLI 2.1.332 names the prompts (`command_lifecycle`, `user_message_uuids`); 2.1.197 does not, so
//! there the oldest open turn is meant (`protocol.md §4.6`, `§4.7`, `§13`), and the CLI is given no
//! more than one prompt at a time.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::deadlines::{Millis, TurnClock};
use super::event::TurnId;
use crate::framing::{MessageType, RawMessage};
use crate::json;

/// Ended turns whose uuids are remembered, so that late messages find them and none is used twice.
const REMEMBERED: usize = 1024;

#[derive(Debug)]
pub(super) struct Turn {
    pub(super) id: TurnId,
    uuid: Option<String>,
    started: bool,
    /// It is not written yet.
    waits: bool,
    /// Its end was reported already, by a deadline.
    pub(super) reported: bool,
    pub(super) clock: TurnClock,
}

#[derive(Debug, Default)]
pub(super) struct Turns {
    open: VecDeque<Turn>,
    by_uuid: BTreeMap<String, TurnId>,
    ended: VecDeque<String>,
    /// The turn under way, where the CLI tells.
    current: Option<TurnId>,
    /// The CLI names the prompts.
    named: bool,
    last_id: u64,
    /// The turn whose clock runs: the oldest that is open and not reported.
    watched: Option<TurnId>,
}

impl Turns {
    pub(super) fn knows(&self, uuid: &str) -> bool {
        self.by_uuid.contains_key(uuid)
    }

    pub(super) fn add(&mut self, uuid: Option<&str>, now: Millis) -> TurnId {
        self.last_id += 1;
        let id = TurnId(self.last_id);
        if let Some(uuid) = uuid {
            self.by_uuid.insert(uuid.to_string(), id);
        }
        self.open.push_back(Turn {
            id,
            uuid: uuid.map(String::from),
            started: false,
            waits: false,
            reported: false,
            clock: TurnClock::new(now),
        });
        self.watch(now);
        id
    }

    /// The prompt of this turn waits to be written.
    pub(super) fn waits(&mut self, id: TurnId) {
        self.set_waits(id, true);
    }

    /// The prompt of this turn is written.
    pub(super) fn written(&mut self, id: TurnId) {
        self.set_waits(id, false);
    }

    fn set_waits(&mut self, id: TurnId, waits: bool) {
        for turn in self.open.iter_mut().filter(|turn| turn.id == id) {
            turn.waits = waits;
        }
    }

    /// Whether the CLI has a prompt whose turn is not over.
    pub(super) fn any_written(&self) -> bool {
        self.oldest().is_some()
    }

    /// The open turn whose prompt was written first.
    fn oldest(&self) -> Option<TurnId> {
        self.open
            .iter()
            .find(|turn| !turn.waits)
            .map(|turn| turn.id)
    }

    /// Whether the CLI has named a prompt.
    pub(super) fn names_prompts(&self) -> bool {
        self.named
    }

    pub(super) fn is_open(&self, id: TurnId) -> bool {
        self.open.iter().any(|turn| turn.id == id)
    }

    pub(super) fn any_ever(&self) -> bool {
        self.last_id > 0
    }

    pub(super) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The turn whose clock runs.
    pub(super) fn watched(&self) -> Option<&Turn> {
        self.open.iter().find(|turn| !turn.reported)
    }

    fn watched_mut(&mut self) -> Option<&mut Turn> {
        self.open.iter_mut().find(|turn| !turn.reported)
    }

    /// A turn whose predecessor has ended begins now.
    fn watch(&mut self, now: Millis) {
        let watched = self.watched().map(|turn| turn.id);
        if watched != self.watched {
            self.watched = watched;
            if let Some(turn) = self.watched_mut() {
                turn.clock = TurnClock::new(now);
            }
        }
    }

    /// The CLI has got what it was waiting for: its silence is counted anew.
    pub(super) fn answered(&mut self, now: Millis) {
        if let Some(turn) = self.watched_mut() {
            turn.clock.quiet_since = now;
        }
    }

    /// The end of the watched turn is reported before it has come.
    pub(super) fn report(&mut self, now: Millis) {
        if let Some(turn) = self.watched_mut() {
            turn.reported = true;
        }
        self.watch(now);
    }

    pub(super) fn uuid(&self, id: TurnId) -> Option<&str> {
        self.open.iter().find(|turn| turn.id == id)?.uuid.as_deref()
    }

    /// The turn a message belongs to; also notes what the message tells about turns. The turns it
    /// ends are taken out and returned, those already reported left out.
    pub(super) fn attribute(
        &mut self,
        message: &RawMessage,
        now: Millis,
    ) -> (Option<TurnId>, Vec<TurnId>) {
        match message.kind() {
            MessageType::CommandLifecycle => {
                let attributed = self.lifecycle(message);
                self.watch(now);
                return attributed;
            }
            MessageType::Result => {
                let attributed = self.result(message);
                self.watch(now);
                return attributed;
            }
            MessageType::TranscriptMirror => return (None, Vec::new()),
            MessageType::System if message.subtype() == Some("init") => {
                let uuids = named_uuids(message);
                if let Some(turn) = uuids.iter().find_map(|uuid| self.by_uuid.get(uuid)) {
                    self.start(*turn);
                } else if self.named {
                    self.current = None;
                }
            }
            _ => {
                if let Some(turn) = message
                    .user_message_uuid()
                    .and_then(|uuid| self.by_uuid.get(uuid))
                {
                    self.start(*turn);
                }
            }
        }
        let turn = if self.named {
            self.current
        } else {
            self.oldest()
        };
        if turn.is_some() {
            match self.watched_mut() {
                Some(watched) if Some(watched.id) == turn => watched.clock.heard(now),
                Some(watched) => watched.clock.quiet_since = now,
                None => {}
            }
        }
        (turn, Vec::new())
    }

    fn start(&mut self, id: TurnId) {
        self.named = true;
        self.current = Some(id);
        for turn in &mut self.open {
            turn.started |= turn.id == id;
        }
    }

    fn lifecycle(&mut self, message: &RawMessage) -> (Option<TurnId>, Vec<TurnId>) {
        self.named = true;
        let text = |path| {
            let raw = message.pointer(path).ok().flatten()?;
            json::string(raw)
        };
        let turn = text("/command_uuid").and_then(|uuid| self.by_uuid.get(uuid.as_ref()).copied());
        let Some(id) = turn else {
            return (None, Vec::new());
        };
        match text("/state").as_deref() {
            Some("started") if self.is_open(id) => self.start(id),
            Some("cancelled") if self.is_open(id) => return (turn, self.end(id)),
            _ => {}
        }
        (turn, Vec::new())
    }

    fn result(&mut self, message: &RawMessage) -> (Option<TurnId>, Vec<TurnId>) {
        let named: Vec<TurnId> = named_uuids(message)
            .iter()
            .map(String::as_str)
            .chain(message.user_message_uuid())
            .filter_map(|uuid| self.by_uuid.get(uuid).copied())
            .collect();
        let of_the_host = origin_is_the_host(message);
        let mut ended = Vec::new();
        // Of merged prompts the last one is the turn that the messages before carried.
        let turn = match named.last() {
            Some(last) => {
                for id in &named {
                    ended.extend(self.end(*id));
                }
                Some(*last)
            }
            None if !of_the_host => None,
            None => {
                let oldest = self.oldest();
                ended.extend(oldest.map(|id| self.end(id)).unwrap_or_default());
                oldest
            }
        };
        self.current = None;
        (turn, ended)
    }

    /// Takes a turn out; returns it unless its end was reported already.
    pub(super) fn end(&mut self, id: TurnId) -> Vec<TurnId> {
        if self.current == Some(id) {
            self.current = None;
        }
        let Some(index) = self.open.iter().position(|turn| turn.id == id) else {
            return Vec::new();
        };
        let Some(turn) = self.open.remove(index) else {
            return Vec::new();
        };
        if let Some(uuid) = turn.uuid {
            self.ended.push_back(uuid);
            if self.ended.len() > REMEMBERED {
                if let Some(forgotten) = self.ended.pop_front() {
                    self.by_uuid.remove(&forgotten);
                }
            }
        }
        if turn.reported {
            Vec::new()
        } else {
            alloc::vec![turn.id]
        }
    }

    /// The session is over: all open turns whose end was not reported.
    pub(super) fn end_all(&mut self) -> Vec<TurnId> {
        self.current = None;
        let open = core::mem::take(&mut self.open);
        open.into_iter()
            .filter(|turn| !turn.reported)
            .map(|turn| turn.id)
            .collect()
    }
}

fn named_uuids(message: &RawMessage) -> Vec<String> {
    let mut uuids = Vec::new();
    if let Some(list) = message.user_message_uuids() {
        // A list that is no array names nobody.
        let _ = json::elements(list, |item| {
            uuids.extend(json::string(item).map(|uuid| uuid.into_owned()));
        });
    }
    uuids
}

/// Results of turns that background tasks began carry `origin.kind: task-notification`.
fn origin_is_the_host(message: &RawMessage) -> bool {
    let kind = message
        .origin()
        .and_then(|origin| json::pointer(origin, "/kind").ok().flatten())
        .and_then(json::string);
    kind.as_deref() != Some("task-notification")
}
