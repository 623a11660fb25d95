//! A log of what passes between the host and the CLI: a line for each, redacted and cut short.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::clock::Timestamp;
use crate::error::StartError;
use crate::recording::{open_private, Redactor, StreamRedactor};

/// Kept of a long line beyond what is shown: the secrets in it end there.
const SLACK: usize = 4096;
/// What is written at once, at most about.
const BUFFER: usize = 32 * 1024;
/// Lines that wait for the log hook, at most.
const MOST_LINES: usize = 1024;

/// Where the lines go.
pub(crate) enum WireTarget {
    /// A file that is added to, or a folder for one.
    Path(PathBuf),
    /// The host's own stderr.
    Stderr,
    /// The log hook.
    Log,
}

impl WireTarget {
    /// What option `wireLog` says.
    pub(crate) fn named(text: &str) -> WireTarget {
        match text {
            "stderr" => WireTarget::Stderr,
            "log" => WireTarget::Log,
            path => WireTarget::Path(path.into()),
        }
    }
}

enum Sink {
    File(File),
    Stderr,
    Log,
    /// Writing has failed.
    Closed,
}

/// A line for the log hook.
pub(crate) struct WireLine {
    /// `in` is what the CLI was sent, `out` what it wrote, `err` what it wrote to stderr: as in a
    /// recording.
    pub(crate) direction: &'static str,
    /// How long the whole line is.
    pub(crate) bytes: u64,
    pub(crate) text: String,
    /// Whether it is more than `text` shows.
    pub(crate) is_cut: bool,
}

/// The wire log of a session. Nothing of it disturbs the session: when it cannot be written any
/// more, it stops, and the host is told once.
pub(crate) struct WireLog {
    name: String,
    sink: Sink,
    /// How much of a line is shown.
    shown: usize,
    /// What a line says of its session, once it is known.
    pid: Option<u32>,
    directions: [Direction; 3],
    buffer: String,
    lines: VecDeque<WireLine>,
    failed: Option<String>,
}

/// A line on its way.
struct Direction {
    name: &'static str,
    mark: char,
    kept: Vec<u8>,
    length: u64,
    redactor: StreamRedactor,
}

/// Which way a line goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    In = 0,
    Out = 1,
    Err = 2,
}

impl WireLog {
    /// Opens the file for its owner alone; one that is there is added to.
    pub(crate) fn open(
        target: WireTarget,
        redactor: Arc<Redactor>,
        shown: usize,
    ) -> Result<WireLog, StartError> {
        let (name, sink) = match target {
            WireTarget::Stderr => ("to stderr".into(), Sink::Stderr),
            WireTarget::Log => ("to the log hook".into(), Sink::Log),
            WireTarget::Path(path) => {
                let path = match path.is_dir() {
                    true => path.join(format!("{}.log", uuid::Uuid::new_v4())),
                    false => path,
                };
                (path.display().to_string(), Sink::File(open(&path)?))
            }
        };
        let direction = |name, mark| Direction {
            name,
            mark,
            kept: Vec::new(),
            length: 0,
            redactor: StreamRedactor::new(redactor.clone()),
        };
        Ok(WireLog {
            name,
            sink,
            shown,
            pid: None,
            directions: [
                direction("in", '>'),
                direction("out", '<'),
                direction("err", '!'),
            ],
            buffer: String::new(),
            lines: VecDeque::new(),
            failed: None,
        })
    }

    /// The process that is spoken with.
    pub(crate) fn of_process(&mut self, pid: Option<u32>) {
        self.pid = pid;
    }

    /// These bytes have passed.
    pub(crate) fn passed(&mut self, way: Way, mut bytes: &[u8]) {
        while !matches!(self.sink, Sink::Closed) {
            let end = line_end(bytes);
            let most = self.shown.saturating_add(SLACK);
            let Some(direction) = self.directions.get_mut(way as usize) else {
                return;
            };
            let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            direction.push(line, most);
            if end.is_none() {
                return;
            }
            bytes = rest.get(1..).unwrap_or_default();
            self.line(way);
        }
    }

    /// The streams of the CLI have ended: a line without an end is one too.
    pub(crate) fn ended(&mut self) {
        for way in [Way::Out, Way::Err] {
            self.line(way);
        }
        self.flush();
    }

    /// The line in this direction is complete.
    fn line(&mut self, way: Way) {
        let Some(direction) = self.directions.get_mut(way as usize) else {
            return;
        };
        let (name, mark) = (direction.name, direction.mark);
        let (kept, length) = direction.take();
        if length == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&kept);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let long = length > kept.len() as u64;
        let mut clean = direction.redactor.line(text, long);
        if long {
            // A secret at its end may be too short now to be known.
            let certain = clean.len().saturating_sub(SLACK);
            cut(&mut clean, certain);
        }
        let is_cut = cut(&mut clean, self.shown) || long;
        if let Sink::Log = self.sink {
            if self.lines.len() < MOST_LINES {
                self.lines.push_back(WireLine {
                    direction: name,
                    bytes: length,
                    text: clean,
                    is_cut,
                });
            }
            return;
        }
        let time = Timestamp(SystemTime::now());
        let pid = self.pid.unwrap_or_default();
        let more = if is_cut { "…" } else { "" };
        // Writing to a String cannot fail.
        let _ = write!(self.buffer, "{time} {pid} {mark} {length} ");
        push_visible(&mut self.buffer, &clean);
        self.buffer.push_str(more);
        self.buffer.push('\n');
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
    }

    /// Hands what was noted to the system.
    pub(crate) fn flush(&mut self) {
        if self.buffer.is_empty() {
            return;
        }
        let bytes = self.buffer.as_bytes();
        let written = match &mut self.sink {
            Sink::File(file) => file.write_all(bytes),
            Sink::Stderr => io::stderr().lock().write_all(bytes),
            Sink::Log | Sink::Closed => Ok(()),
        };
        self.buffer.clear();
        if let Err(error) = written {
            self.sink = Sink::Closed;
            self.failed = Some(format!(
                "the wire log {} stopped: {error}; the session goes on (option wireLog)",
                self.name
            ));
        }
    }

    /// Why it stopped, once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failed.take()
    }

    /// Lines for the log hook.
    pub(crate) fn next_line(&mut self) -> Option<WireLine> {
        self.lines.pop_front()
    }
}

impl Direction {
    fn push(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.kept.len());
        self.kept
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.length += bytes.len() as u64;
    }

    /// What was kept of the whole line, and how long that was.
    fn take(&mut self) -> (Vec<u8>, u64) {
        (
            std::mem::take(&mut self.kept),
            std::mem::take(&mut self.length),
        )
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

fn open(path: &Path) -> Result<File, StartError> {
    open_private(path, true).map_err(|error| StartError::WireLog {
        path: path.into(),
        error,
    })
}

/// Whether it took something away.
fn cut(text: &mut String, length: usize) -> bool {
    if text.len() <= length {
        return false;
    }
    let mut length = length;
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
    true
}

/// A terminal that shows the log is not to obey what stands in it.
fn push_visible(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '\t' => out.push('\t'),
            letter if letter.is_control() => out.extend(letter.escape_unicode()),
            letter => out.push(letter),
        }
    }
}

impl std::fmt::Debug for WireLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireLog")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
