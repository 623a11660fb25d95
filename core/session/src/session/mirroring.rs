//! The store side of a session: mirrored lines go to the store, results wait for it.

use std::collections::VecDeque;
use std::sync::Weak;
use std::time::Duration;

use towline_protocol::connection::{self, Diagnostic, Millis, Mirrored};
use towline_protocol::framing::{MessageType, RawMessage};
use towline_transcripts::mirror::{KeyNames, Mark, Mirror, MirrorConfig, CALL_LIMIT};
use towline_transcripts::store::{
    CallId, Capabilities, PendingCall, StoreAnswer, StoreCall, StoreError,
};

use super::{fresh_uuid, Core, Shared};
use crate::error::Error;
use crate::store::OpenStore;

/// Who does the calls.
pub(super) enum Way {
    /// The store's own thread.
    Thread(OpenStore),
    /// The host, told by events; which calls its store has.
    Events(Capabilities),
}

impl Way {
    pub(super) fn capabilities(&self) -> Capabilities {
        match self {
            Way::Thread(store) => store.capabilities(),
            Way::Events(capabilities) => *capabilities,
        }
    }
}

/// A result that is not delivered before its lines are stored.
#[derive(Debug, Clone, Copy)]
struct Gate {
    mark: Mark,
    /// When it is delivered all the same.
    until: Millis,
}

/// A session's store, and what waits for it.
pub(super) struct Mirroring {
    mirror: Mirror,
    way: Way,
    names: KeyNames,
    pub(super) shared: Weak<Shared>,
    /// Of each result that was read and not looked at yet, in order.
    results: VecDeque<Gate>,
    /// The result that stands first in `held`.
    gate: Option<Gate>,
    /// Messages from a result on that wait for the store. Requests do not wait.
    held: VecDeque<connection::Event>,
    held_weight: usize,
    most_held: usize,
    /// Calls for the host.
    calls: VecDeque<PendingCall>,
    finishing: bool,
}

/// Bytes of entries that a call keeps in memory.
pub(super) fn weight_of(call: &StoreCall) -> usize {
    match call {
        StoreCall::Append { entries, .. } => entries.iter().map(|entry| entry.as_str().len()).sum(),
        _ => 0,
    }
}

impl Mirroring {
    pub(super) fn new(
        config: MirrorConfig,
        way: Way,
        names: KeyNames,
        most_held: usize,
        shared: Weak<Shared>,
    ) -> Mirroring {
        Mirroring {
            mirror: Mirror::new(config),
            way,
            names,
            shared,
            results: VecDeque::new(),
            gate: None,
            held: VecDeque::new(),
            held_weight: 0,
            most_held,
            calls: VecDeque::new(),
            finishing: false,
        }
    }

    /// Whether the host has something to fetch.
    pub(super) fn has_events(&self, now: Millis) -> bool {
        !self.calls.is_empty() || (!self.held.is_empty() && !self.is_shut(now))
    }

    /// Whether something is on its way, or waits for that.
    pub(super) fn is_busy(&self) -> bool {
        !self.finishing || !self.mirror.is_idle() || !self.held.is_empty()
    }

    /// Whether the store's thread has something to do.
    pub(super) fn keeps_thread_busy(&self) -> bool {
        matches!(self.way, Way::Thread(_)) && !(self.finishing && self.mirror.is_idle())
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        let gate = self.gate.map(|gate| gate.until);
        [gate, self.mirror.deadline()].into_iter().flatten().min()
    }

    fn is_shut(&self, now: Millis) -> bool {
        self.gate.is_some_and(|gate| {
            now < gate.until
                && self.held_weight <= self.most_held
                && !self.mirror.is_stored(gate.mark)
        })
    }

    /// Lets an event pass, or keeps it until the store has what belongs before it.
    fn pass(&mut self, event: connection::Event, now: Millis) -> Option<connection::Event> {
        let is_result = match &event {
            connection::Event::Message { message, .. } => message.kind() == MessageType::Result,
            connection::Event::TurnEnded { .. } => false,
            _ => return Some(event),
        };
        if self.gate.is_none() {
            if is_result {
                self.gate = self.results.pop_front();
            }
            if !self.is_shut(now) {
                self.gate = None;
                return Some(event);
            }
        }
        self.held_weight += event.weight();
        self.held.push_back(event);
        None
    }

    /// The next event that has waited long enough.
    fn release(&mut self, now: Millis) -> Option<connection::Event> {
        if self.is_shut(now) {
            return None;
        }
        let event = self.held.pop_front()?;
        self.held_weight = self.held_weight.saturating_sub(event.weight());
        if self.gate.take().is_some() {
            return Some(event);
        }
        let is_result = matches!(
            &event,
            connection::Event::Message { message, .. } if message.kind() == MessageType::Result
        );
        if is_result {
            self.gate = self.results.pop_front();
            if self.is_shut(now) {
                self.held_weight += event.weight();
                self.held.push_front(event);
                return None;
            }
            self.gate = None;
        }
        Some(event)
    }
}

impl Core {
    /// Does what there is to do for the store: tells it what the CLI has written, and hands out the
    /// next call.
    pub(super) fn tend_store(&mut self) {
        if self.mirroring.is_none() {
            return;
        }
        let (over, now) = (self.is_over(), self.now());
        let Some(mirroring) = &mut self.mirroring else {
            return;
        };
        while let Some(mirrored) = self.connection.poll_mirrored() {
            match mirrored {
                Mirrored::Lines(message) => mirroring.mirror.lines(&message, now),
                Mirrored::Result => mirroring.results.push_back(Gate {
                    mark: mirroring.mirror.flush(),
                    until: now.saturating_add(CALL_LIMIT),
                }),
            }
        }
        if over && !mirroring.finishing {
            mirroring.finishing = true;
            mirroring.mirror.finish();
        }
        mirroring.mirror.handle_timeout(now);
        let pending = mirroring.mirror.next_call(now);
        if let Some(pending) = &pending {
            self.note_store_call(pending.id, &pending.call);
        }
        if let (Some(pending), Some(mirroring)) = (pending, &mut self.mirroring) {
            match &mirroring.way {
                Way::Events(_) => mirroring.calls.push_back(pending),
                Way::Thread(store) => {
                    let shared = mirroring.shared.clone();
                    let id = pending.id;
                    let done = Box::new(move |answer| {
                        if let Some(shared) = shared.upgrade() {
                            // Late: it was reported as lost.
                            let _ = shared.store_answered(id, answer);
                        }
                    });
                    if let Err(error) = store.submit(pending.call, done) {
                        mirroring.mirror.answered(id, Err(error), now);
                    }
                }
            }
        }
        self.tell_store_trouble();
    }

    fn tell_store_trouble(&mut self) {
        let Some(mirroring) = &mut self.mirroring else {
            return;
        };
        let names = mirroring.names;
        let trouble: Vec<_> = std::iter::from_fn(|| mirroring.mirror.next_trouble()).collect();
        for trouble in trouble {
            let message = trouble
                .message(&fresh_uuid(), names)
                .and_then(|text| RawMessage::from_text(&text).ok());
            self.defer(match message {
                Some(message) => connection::Event::Message {
                    message,
                    turn: None,
                },
                None => {
                    self.diagnose(Diagnostic::NotMirrored(trouble.to_string()));
                    continue;
                }
            });
        }
    }

    /// The next event of the connection that need not wait for the store.
    pub(super) fn next_unheld(&mut self) -> Option<connection::Event> {
        if self.mirroring.is_none() {
            return self.connection.poll_event();
        }
        self.tend_store();
        let now = self.now();
        loop {
            let mirroring = self.mirroring.as_mut()?;
            if let Some(event) = mirroring.release(now) {
                return Some(event);
            }
            let event = self.connection.poll_event()?;
            if let Some(event) = mirroring.pass(event, now) {
                return Some(event);
            }
        }
    }

    /// Whether a poll has something for the host that concerns the store.
    pub(super) fn store_has_events(&self) -> bool {
        self.mirroring
            .as_ref()
            .is_some_and(|mirroring| mirroring.has_events(self.now()))
    }

    /// The next call that the host's own store has to do.
    pub(super) fn next_store_call(&mut self) -> Option<PendingCall> {
        self.tend_store();
        self.mirroring.as_mut()?.calls.pop_front()
    }

    /// Whether a result, and what came behind it, waits for the store.
    pub(super) fn store_holds_messages(&self) -> bool {
        let held = |mirroring: &Mirroring| !mirroring.held.is_empty();
        self.mirroring.as_ref().is_some_and(held)
    }

    /// Whether the store's thread still has something to do.
    pub(super) fn store_keeps_thread_busy(&self) -> bool {
        self.mirroring
            .as_ref()
            .is_some_and(Mirroring::keeps_thread_busy)
    }

    /// Whether the store still has to be told something.
    pub(super) fn store_is_busy(&self) -> bool {
        self.mirroring.as_ref().is_some_and(Mirroring::is_busy)
    }

    /// Whether what a store has answered is more than the next batch on its way: something for the
    /// host, an end that was waited for, or a deadline before the one that a poller knows of.
    fn concerns_poller(&self, known: Option<Millis>) -> bool {
        let Some(mirroring) = &self.mirroring else {
            return true;
        };
        let sooner = mirroring
            .deadline()
            .is_some_and(|at| known.is_none_or(|known| at < known));
        sooner || mirroring.finishing || self.has_events()
    }

    /// How long a poller may wait as far as the store is concerned.
    pub(super) fn store_wait_limit(&self) -> Option<Duration> {
        let at = self.mirroring.as_ref()?.deadline()?;
        Some(Duration::from_millis(at.saturating_sub(self.now())))
    }
}

impl Shared {
    /// A store has answered. `false` when nobody waits for it any more.
    pub(crate) fn store_answered(
        &self,
        id: CallId,
        answer: Result<StoreAnswer, StoreError>,
    ) -> Result<bool, Error> {
        self.check_caller()?;
        let mut core = self.lock_core();
        let now = core.now();
        core.note_store_answer(id, &answer);
        let Some(mirroring) = &mut core.mirroring else {
            return Ok(false);
        };
        let before = mirroring.deadline();
        let taken = mirroring.mirror.answered(id, answer, now);
        core.tend_store();
        if core.concerns_poller(before) {
            self.after_command(&mut core);
        }
        Ok(taken)
    }
}
