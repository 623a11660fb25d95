//! A recording in the place of a CLI.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use towline_protocol::json;

use super::entry::{read, Entry, Kind};
use super::matching::{callbacks, same, same_kind, text};
use super::Redactor;
use crate::error::StartError;
use crate::process::Exit;
use crate::transport::{Transport, TransportEnd, Waker};

/// How much of a line stands in an error.
const SHOWN: usize = 2_000;

/// Gives out what the CLI wrote, each line once the host has written what stands before it in the
/// recording.
///
/// Messages of one kind are expected in the recorded order; answers whenever they come. Ids of the
/// host's are its own: the CLI's lines name them in the place of the recorded ones.
pub(crate) struct Replay {
    path: PathBuf,
    entries: Vec<Entry>,
    /// What the host has to write, by its place among the entries.
    expected: BTreeMap<usize, Value>,
    /// The first entry that was not passed.
    next: usize,
    output: Pending,
    stderr: Pending,
    /// The line that the host is writing.
    line: Vec<u8>,
    /// Recorded texts and those that stand for them now.
    requests: BTreeMap<String, String>,
    callbacks: BTreeMap<String, String>,
    messages: BTreeMap<String, String>,
    /// Requests of the CLI whose answers depend on the host's version, not on its program.
    free_answers: BTreeSet<String>,
    redactor: Arc<Redactor>,
    waker: Option<Waker>,
    input_ended: bool,
    /// The recording ends while a prompt or a request of the host waits for the CLI.
    cut: bool,
    end: Option<TransportEnd>,
}

/// Bytes that were not read yet.
#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    read: usize,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.read == self.bytes.len()
    }

    fn push(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
    }

    fn read(&mut self, buffer: &mut [u8]) -> usize {
        let rest = self.bytes.get(self.read..).unwrap_or_default();
        let n = rest.len().min(buffer.len());
        for (to, from) in buffer.iter_mut().zip(rest) {
            *to = *from;
        }
        self.read += n;
        if self.is_empty() {
            *self = Pending::default();
        }
        n
    }
}

impl Replay {
    /// Reads a recording. The redactor is that of the recording, so that the host's lines are
    /// compared as they would have been recorded.
    pub(crate) fn open(path: &Path, redactor: Arc<Redactor>) -> Result<Replay, StartError> {
        let entries = read(path)?;
        let mut expected = BTreeMap::new();
        let mut free_answers = BTreeSet::new();
        // What the CLI has asked and not taken back.
        let mut open = BTreeSet::new();
        // What the host has asked and not got.
        let (mut prompted, mut requested) = (false, BTreeSet::new());
        for (index, entry) in entries.iter().enumerate() {
            match entry.kind {
                Kind::In => {
                    // A recording made elsewhere may hold what this host's lines never show.
                    let clean = redactor.line(&entry.text);
                    let line: Value = serde_json::from_str(&clean).unwrap_or_default();
                    let idle = match text(&line, "/type") {
                        "control_response" => !open.contains(text(&line, "/response/request_id")),
                        "keep_alive" => true,
                        _ => false,
                    };
                    match text(&line, "/type") {
                        "user" => prompted = true,
                        "control_request" => {
                            requested.insert(text(&line, "/request_id").to_string());
                        }
                        _ => {}
                    }
                    if !idle {
                        expected.insert(index, line);
                    }
                }
                Kind::Out if entry.text.contains("control_") => {
                    let line: Value = serde_json::from_str(&entry.text).unwrap_or_default();
                    let id = text(&line, "/request_id").to_string();
                    match text(&line, "/type") {
                        "control_request" => {
                            let mcp = text(&line, "/request/subtype") == "mcp_message";
                            if mcp && text(&line, "/request/message/method") != "tools/call" {
                                free_answers.insert(id.clone());
                            }
                            open.insert(id);
                        }
                        "control_cancel_request" => {
                            open.remove(&id);
                        }
                        "control_response" => {
                            requested.remove(text(&line, "/response/request_id"));
                        }
                        "result" => prompted = false,
                        _ => {}
                    }
                }
                Kind::Out if entry.text.contains("\"result\"") => {
                    let kind = json::pointer(&entry.text, "/type");
                    prompted &= kind != Ok(Some("\"result\""));
                }
                _ => {}
            }
        }
        Ok(Replay {
            path: path.into(),
            entries,
            expected,
            next: 0,
            output: Pending::default(),
            stderr: Pending::default(),
            line: Vec::new(),
            requests: BTreeMap::new(),
            callbacks: BTreeMap::new(),
            messages: BTreeMap::new(),
            free_answers,
            redactor,
            waker: None,
            input_ended: false,
            cut: prompted || !requested.is_empty(),
            end: None,
        })
    }

    /// Passes entries until the CLI has written something, or the host has to.
    fn advance(&mut self) {
        while self.end.is_none() && self.output.is_empty() {
            let Some(entry) = self.entries.get(self.next) else {
                if self.input_ended {
                    self.end = Some(TransportEnd::exit(Exit::Code(0)));
                } else if self.cut {
                    let last = self.entries.last().map_or(0, |entry| entry.number);
                    self.end = Some(TransportEnd::error(format!(
                        "replay of {}: the recording ends with line {last}, before the CLI has \
                         answered everything; it was cut",
                        self.path.display()
                    )));
                }
                return;
            };
            match entry.kind {
                Kind::In if self.expected.contains_key(&self.next) => {
                    if self.input_ended {
                        self.part(self.next, "has ended the CLI's input");
                    }
                    return;
                }
                Kind::InputEnd if !self.input_ended => return,
                Kind::In | Kind::InputEnd => {}
                Kind::Out => match self.translated(&entry.text) {
                    Ok(line) => self.output.push(&line),
                    Err(why) => return self.part(self.next, &why),
                },
                Kind::Stderr => {
                    self.stderr.push(&entry.text);
                    self.wake();
                }
                Kind::Exit(exit) => self.end = Some(TransportEnd::exit(exit)),
            }
            self.next += 1;
        }
    }

    /// There is something to read.
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    /// A line of the CLI with the ids of this host.
    fn translated(&self, line: &str) -> Result<String, String> {
        let line = renamed(line, &self.messages);
        let Ok(Some(kind)) = json::pointer(&line, "/type") else {
            return Ok(line);
        };
        let swapped = match kind {
            "\"control_response\"" => swap(&line, "/response/request_id", &self.requests),
            "\"control_request\"" => match json::pointer(&line, "/request/callback_id") {
                Ok(Some(id)) => {
                    let swapped = swap(&line, "/request/callback_id", &self.callbacks);
                    return swapped.ok_or(format!(
                        "has registered no hook in the place of the recorded {id}"
                    ));
                }
                _ => None,
            },
            _ => None,
        };
        Ok(swapped.unwrap_or(line))
    }

    /// The host has written a line.
    fn heard(&mut self, line: &[u8]) {
        let clean = self.redactor.line(&String::from_utf8_lossy(line));
        let host = serde_json::from_str::<Value>(&clean).unwrap_or_default();
        let found = self
            .counterpart(&host)
            .and_then(|at| Some((at, self.expected.get(&at)?)));
        let Some((at, recorded)) = found else {
            // Answers to what was taken back, requests taken back late: the CLI takes no notice.
            let idle = ["control_response", "control_cancel_request", "keep_alive"];
            if !idle.contains(&text(&host, "/type")) {
                let at = self.expected.keys().next().copied();
                self.part(at.unwrap_or(self.entries.len()), &wrote(&clean));
            }
            return;
        };
        let id = text(recorded, "/response/request_id");
        if !same(&host, recorded, self.free_answers.contains(id)) {
            return self.part(at, &wrote(&clean));
        }
        if text(&host, "/request/subtype") == "initialize" {
            self.callbacks = callbacks(&host, recorded);
        }
        let pair = |pointer| (text(recorded, pointer).into(), text(&host, pointer).into());
        let (request, message): ((String, String), (String, String)) =
            (pair("/request_id"), pair("/uuid"));
        self.requests.insert(request.0, request.1);
        if !message.0.is_empty() && !message.1.is_empty() {
            self.messages.insert(message.0, message.1);
        }
        self.expected.remove(&at);
    }

    /// What of the recording a line of the host stands for.
    fn counterpart(&self, host: &Value) -> Option<usize> {
        let mut alike = self
            .expected
            .iter()
            .filter(|(_, recorded)| same_kind(host, recorded));
        let (&first, _) = alike.clone().next()?;
        let kind = text(host, "/type");
        // Requests that the CLI writes nothing between may change places.
        let moved = alike.find(|(&at, recorded)| {
            kind == "control_request"
                && same(host, recorded, false)
                && !self.output_between(first, at)
        });
        let at = moved.map_or(first, |(&at, _)| at);
        let skipped = self.expected.range(..at).any(|(&before, recorded)| {
            text(recorded, "/type") != "control_response" && self.output_between(before, at)
        });
        (kind == "control_response" || !skipped).then_some(at)
    }

    fn output_between(&self, from: usize, to: usize) -> bool {
        let between = self.entries.get(from..to).unwrap_or_default();
        between.iter().any(|entry| entry.kind == Kind::Out)
    }

    /// The host does not do what it did in the recording, here at the latest: the replay ends.
    fn part(&mut self, at: usize, host: &str) {
        if self.end.is_some() {
            return;
        }
        let (number, recorded) = match self.entries.get(at) {
            Some(entry) => (entry.number, shown(&self.redactor.line(&entry.text))),
            None => {
                let last = self.entries.last().map_or(0, |entry| entry.number);
                (last + 1, "nothing more".into())
            }
        };
        self.end = Some(TransportEnd::error(format!(
            "replay of {}, line {number}: the host and the recording part here\n\
             recording: {recorded}\nhost: {host}",
            self.path.display()
        )));
    }
}

fn wrote(line: &str) -> String {
    format!("wrote {}", shown(line))
}

/// Puts other texts in the place of the strings that say exactly these; names of members stay.
fn renamed(line: &str, pairs: &BTreeMap<String, String>) -> String {
    let mut renamed = String::with_capacity(line.len());
    let mut rest = line;
    while !pairs.is_empty() {
        let Some((before, body)) = rest.split_once('"') else {
            break;
        };
        let mut escaped = false;
        let end = body.find(|c| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { break };
        let quoted = rest.get(before.len()..before.len() + end + 2);
        let after = body.get(end + 1..).unwrap_or_default();
        let quoted = quoted.unwrap_or_default();
        let is_name = after.trim_start().starts_with(':');
        renamed.push_str(before);
        match json::string(quoted).and_then(|text| pairs.get(&*text)) {
            Some(now) if !is_name => json::push_string(&mut renamed, now),
            _ => renamed.push_str(quoted),
        }
        rest = after;
    }
    renamed.push_str(rest);
    renamed
}

/// Puts another text in the place of the one at this pointer; `None` when there is none for it.
fn swap(line: &str, pointer: &str, pairs: &BTreeMap<String, String>) -> Option<String> {
    let found = json::pointer(line, pointer).ok()??;
    let now = pairs.get(&*json::string(found)?)?;
    let start = found.as_ptr() as usize - line.as_ptr() as usize;
    let mut swapped = line.get(..start)?.to_string();
    json::push_string(&mut swapped, now);
    swapped.push_str(line.get(start + found.len()..)?);
    Some(swapped)
}

fn shown(line: &str) -> String {
    let mut end = line.len().min(SHOWN);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < line.len() { "…" } else { "" };
    format!("{}{cut}", line.get(..end).unwrap_or_default())
}

impl Transport for Replay {
    fn start(&mut self, waker: Waker) -> io::Result<()> {
        waker.wake();
        self.waker = Some(waker);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.advance();
        match self.output.read(buffer) {
            0 if self.end.is_none() => Err(io::ErrorKind::WouldBlock.into()),
            n => Ok(n),
        }
    }

    fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stderr.read(buffer) {
            0 if self.end.is_none() => Err(io::ErrorKind::WouldBlock.into()),
            n => Ok(n),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line
                .extend_from_slice(part.strip_suffix(b"\n").unwrap_or(part));
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                if self.end.is_none() && !line.is_empty() {
                    self.heard(&line);
                }
            }
        }
        self.wake();
        Ok(bytes.len())
    }

    fn end_input(&mut self) {
        self.input_ended = true;
        self.wake();
    }

    fn close(&mut self) {
        self.end.get_or_insert_with(TransportEnd::default);
    }

    fn ended(&mut self) -> Option<TransportEnd> {
        self.end.clone()
    }
}
