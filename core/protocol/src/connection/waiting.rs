//! Prompts that wait in the host until the CLI can tell them apart.
//!
//! CLI 2.1.197 merges prompts that wait while a turn runs, takes some into the running turn, and
//! names none of them in what comes of it (`protocol.md §4.6`, `§13`). So it gets the next prompt
//! when the turn before is over, and each has a result of its own.

use alloc::collections::VecDeque;
use alloc::string::String;

use super::{Connection, State, TurnId};
use crate::json::{self, Kind};

/// How prompts reach the CLI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Order {
    /// `initialize` is not answered: the CLI gets one prompt.
    #[default]
    Unknown,
    /// As they come.
    AsSent,
    /// The next when the turn before is over.
    OneByOne,
}

/// Whole lines that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    order: Order,
    lines: VecDeque<(TurnId, String)>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.lines.iter().map(|(_, line)| line.len()).sum()
    }

    pub(super) fn add(&mut self, turn: TurnId, line: String) {
        self.lines.push_back((turn, line));
    }

    /// Takes a prompt out that was not written yet; whether there was one.
    pub(super) fn remove(&mut self, turn: TurnId) -> bool {
        let before = self.lines.len();
        self.lines.retain(|(waiting, _)| *waiting != turn);
        self.lines.len() < before
    }

    pub(super) fn clear(&mut self) {
        self.lines.clear();
    }
}

impl Connection {
    /// Whether a prompt sent now has to wait.
    pub(super) fn prompts_wait(&self) -> bool {
        match self.waiting.order {
            Order::AsSent => false,
            Order::Unknown => self.state == State::Handshake && self.turns.any_open(),
            Order::OneByOne => self.turns.any_open(),
        }
    }

    /// The answer to `initialize` tells whether the CLI names prompts: 2.1.197 lists its commands
    /// and knows no `capabilities`.
    pub(super) fn note_capabilities(&mut self, payload: &str) {
        let is = |name, kind| {
            let found = json::pointer(payload, name).ok().flatten();
            found.and_then(Kind::of) == Some(kind)
        };
        let names_none = is("/commands", Kind::Array) && !is("/capabilities", Kind::Array);
        self.waiting.order = match names_none {
            true => Order::OneByOne,
            false => Order::AsSent,
        };
        self.release_prompts();
    }

    /// Writes what need not wait any more.
    pub(super) fn release_prompts(&mut self) {
        if self.waiting.order == Order::OneByOne && self.turns.names_prompts() {
            self.waiting.order = Order::AsSent;
        }
        while !self.waiting.is_empty() {
            let free = match self.waiting.order {
                Order::Unknown => false,
                Order::AsSent => true,
                Order::OneByOne => !self.turns.any_written(),
            };
            if !free {
                return;
            }
            if let Some((turn, line)) = self.waiting.lines.pop_front() {
                self.out.push_str(&line);
                self.turns.written(turn);
            }
        }
    }
}
