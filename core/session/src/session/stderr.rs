//! What the CLI wrote to stderr: the last of it for errors, its lines for a host that wants them.

use std::collections::VecDeque;

use crate::recording::{KeyLines, Redactor, REDACTED};

/// A line is given out at this length, in whole characters, even without an end.
const LONGEST_LINE: usize = 64 * 1024;
/// No more of the last lines is told with an error to those who watch the session.
const LONGEST_TOLD: usize = 3072;

/// A line, or a piece of one.
pub(super) struct Line {
    pub(super) text: String,
    /// It stands in a private key.
    hidden: bool,
    /// A piece of it was given out before.
    goes_on: bool,
}

impl Line {
    /// What those are told of it who watch the session: nothing when it goes on, since only the
    /// beginning of a line is.
    pub(super) fn told(&self, redactor: &Redactor) -> Option<String> {
        match (self.goes_on, self.hidden) {
            (true, _) => None,
            (false, true) => Some(REDACTED.into()),
            (false, false) => Some(redactor.line(&self.text)),
        }
    }
}

pub(super) struct Stderr {
    tail: VecDeque<u8>,
    tail_limit: usize,
    /// Something was dropped off its beginning.
    tail_cut: bool,
    /// Whether somebody wants the lines.
    wanted: bool,
    /// Whether the host does, and not only who watches the session.
    for_host: bool,
    /// The last lines, for errors that are told to those who watch it.
    recent: Option<VecDeque<Line>>,
    keys: KeyLines,
    line: Vec<u8>,
    /// A piece of the line was given out already.
    cut: bool,
    lines: VecDeque<Line>,
    /// Of all lines together.
    bytes: usize,
}

impl Stderr {
    /// `told` when somebody who watches wants the lines, `watched` when anybody watches.
    pub(super) fn new(tail_limit: usize, for_host: bool, told: bool, watched: bool) -> Stderr {
        Stderr {
            tail: VecDeque::new(),
            tail_limit,
            tail_cut: false,
            wanted: for_host || told,
            for_host,
            recent: (watched && tail_limit > 0).then(VecDeque::new),
            keys: KeyLines::default(),
            line: Vec::new(),
            cut: false,
            lines: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn wrote(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.tail_limit);
        let excess = (self.tail.len() + kept).saturating_sub(self.tail_limit);
        self.tail_cut |= excess > 0 || kept < bytes.len();
        self.tail.drain(..excess);
        self.tail
            .extend(bytes.get(bytes.len() - kept..).unwrap_or_default());
        if !self.wanted && self.recent.is_none() {
            return;
        }
        for byte in bytes {
            if *byte == b'\n' {
                self.end_line();
            } else {
                if self.line.len() >= LONGEST_LINE {
                    self.give_piece();
                }
                self.line.push(*byte);
            }
        }
    }

    /// Nothing more will come: what stands behind the last line end is a line too.
    pub(super) fn ended(&mut self) {
        if !self.line.is_empty() {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        // The end of a line that was given out whole is no line of its own.
        if self.cut && matches!(self.line.as_slice(), b"" | b"\r") {
            self.line.clear();
        } else {
            self.give_line();
        }
        self.cut = false;
    }

    /// Gives out a long line's beginning, but for a character that is not all there.
    fn give_piece(&mut self) {
        let rest = self.line.split_off(whole_characters(&self.line));
        self.give_line();
        self.line = rest;
        self.cut = true;
    }

    fn give_line(&mut self) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let text = String::from_utf8_lossy(line).into_owned();
        self.line.clear();
        let line = Line {
            hidden: self.keys.hides(&text),
            goes_on: self.cut,
            text,
        };
        if let Some(recent) = &mut self.recent {
            recent.push_back(Line {
                text: line.text.clone(),
                ..line
            });
            while recent.len() > 1 && weight(recent.iter().skip(1)) >= LONGEST_TOLD {
                recent.pop_front();
            }
        }
        if self.wanted {
            self.bytes += line.text.len();
            self.lines.push_back(line);
        }
    }

    /// The last lines, as they may be told to those who watch the session.
    pub(super) fn told_tail(&self, redactor: &Redactor) -> String {
        let mut lines = Vec::new();
        let mut room = LONGEST_TOLD;
        for line in self.recent.iter().flatten().rev() {
            let Some(mut told) = line.told(redactor) else {
                continue;
            };
            if told.len() > LONGEST_TOLD {
                let end = (0..=LONGEST_TOLD)
                    .rev()
                    .find(|at| told.is_char_boundary(*at));
                told.truncate(end.unwrap_or_default());
            }
            if !lines.is_empty() && told.len() > room {
                break;
            }
            room = room.saturating_sub(told.len());
            lines.push(told);
        }
        lines.reverse();
        lines.join("\n")
    }

    pub(super) fn is_for_host(&self) -> bool {
        self.for_host
    }

    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    pub(super) fn next_line(&mut self) -> Option<Line> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.text.len();
        Some(line)
    }

    /// Drops the newest lines until the rest takes no more memory than this; tells how many.
    pub(super) fn shed(&mut self, limit: usize) -> u64 {
        let mut shed = 0;
        while self.bytes + self.lines.len() * std::mem::size_of::<Line>() > limit {
            let Some(line) = self.lines.pop_back() else {
                break;
            };
            self.bytes -= line.text.len();
            shed += 1;
        }
        shed
    }

    pub(super) fn tail(&self) -> String {
        let (a, b) = self.tail.as_slices();
        let tail = [a, b].concat();
        let mut start = 0;
        if self.tail_cut {
            // The end of a character whose beginning is lost.
            start = tail
                .iter()
                .take(LONGEST_CHARACTER - 1)
                .take_while(|byte| is_continuation(**byte))
                .count();
        }
        String::from_utf8_lossy(tail.get(start..).unwrap_or_default()).into_owned()
    }
}

/// Bytes of the longest character.
const LONGEST_CHARACTER: usize = 4;

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How much of it there is without a character at the end that is not all there.
fn whole_characters(bytes: &[u8]) -> usize {
    let unfinished =
        bytes
            .utf8_chunks()
            .last()
            .map_or(0, |last| match std::str::from_utf8(last.invalid()) {
                Err(error) if error.error_len().is_none() => last.invalid().len(),
                _ => 0,
            });
    bytes.len() - unfinished
}

fn weight<'a>(lines: impl Iterator<Item = &'a Line>) -> usize {
    lines.map(|line| line.text.len()).sum()
}
