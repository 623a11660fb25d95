//! What the CLI wrote to stderr: the last of it for errors, its lines for a host that wants them.

use std::collections::VecDeque;

/// A line is given out at this length even without an end.
const LONGEST_LINE: usize = 64 * 1024;

pub(super) struct Stderr {
    tail: VecDeque<u8>,
    tail_limit: usize,
    /// Whether somebody wants the lines.
    wanted: bool,
    /// Whether the host does, and not only who watches the session.
    for_host: bool,
    line: Vec<u8>,
    lines: VecDeque<String>,
    /// Of all lines together.
    bytes: usize,
}

impl Stderr {
    pub(super) fn new(tail_limit: usize, for_host: bool, watched: bool) -> Stderr {
        Stderr {
            tail: VecDeque::new(),
            tail_limit,
            wanted: for_host || watched,
            for_host,
            line: Vec::new(),
            lines: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn wrote(&mut self, bytes: &[u8]) {
        let kept = bytes.len().min(self.tail_limit);
        let excess = (self.tail.len() + kept).saturating_sub(self.tail_limit);
        self.tail.drain(..excess);
        self.tail
            .extend(bytes.get(bytes.len() - kept..).unwrap_or_default());
        if !self.wanted {
            return;
        }
        for byte in bytes {
            if *byte == b'\n' {
                self.give_line();
            } else {
                self.line.push(*byte);
                if self.line.len() >= LONGEST_LINE {
                    self.give_line();
                }
            }
        }
    }

    /// Nothing more will come: what stands behind the last line end is a line too.
    pub(super) fn ended(&mut self) {
        if !self.line.is_empty() {
            self.give_line();
        }
    }

    fn give_line(&mut self) {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        let line = String::from_utf8_lossy(line).into_owned();
        self.line.clear();
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    pub(super) fn is_for_host(&self) -> bool {
        self.for_host
    }

    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    pub(super) fn next_line(&mut self) -> Option<String> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }

    /// Drops the newest lines until the rest takes no more memory than this; tells how many.
    pub(super) fn shed(&mut self, limit: usize) -> u64 {
        let mut shed = 0;
        while self.bytes + self.lines.len() * std::mem::size_of::<String>() > limit {
            let Some(line) = self.lines.pop_back() else {
                break;
            };
            self.bytes -= line.len();
            shed += 1;
        }
        shed
    }

    pub(super) fn tail(&self) -> String {
        let (a, b) = self.tail.as_slices();
        String::from_utf8_lossy(&[a, b].concat()).into_owned()
    }
}
