//! Writes what passes between the host and the CLI.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use towline_protocol::json;

use super::file::open_private;
use super::{Redactor, StreamRedactor};
use crate::error::StartError;
use crate::process::Exit;

/// The recording of a session. Nothing of it disturbs the session: when it cannot be written any
/// more, it stops, and the host is told once.
pub(crate) struct Recorder {
    path: PathBuf,
    /// `None` once writing has failed.
    file: Option<BufWriter<File>>,
    failed: Option<String>,
    since: Instant,
    redactor: Option<Arc<Redactor>>,
    input: Lines,
    output: Lines,
    stderr: Lines,
}

/// Bytes on their way to become lines.
struct Lines {
    dir: &'static str,
    partial: Vec<u8>,
    /// A longer line is left out.
    limit: usize,
    /// How much of the present line was left out.
    skipped: usize,
    /// `None` when nothing is to be hidden.
    redactor: Option<StreamRedactor>,
}

impl Recorder {
    /// Creates the file, for its owner alone; one that is there is written anew. In a folder the
    /// recording gets a name of its own.
    pub(crate) fn create(
        path: &Path,
        redactor: Option<Arc<Redactor>>,
        line_limit: usize,
    ) -> Result<Recorder, StartError> {
        let path = match path.is_dir() {
            true => path.join(format!("{}.jsonl", uuid::Uuid::new_v4())),
            false => path.into(),
        };
        let file = open_private(&path, false).map_err(|error| StartError::Record {
            path: path.clone(),
            error,
        })?;
        let stream = || redactor.clone().map(StreamRedactor::new);
        let lines = |dir| Lines {
            dir,
            partial: Vec::new(),
            limit: line_limit,
            skipped: 0,
            redactor: stream(),
        };
        let (input, output, stderr) = (lines("in"), lines("out"), lines("err"));
        Ok(Recorder {
            path,
            file: Some(BufWriter::new(file)),
            failed: None,
            since: Instant::now(),
            redactor,
            input,
            output,
            stderr,
        })
    }

    /// How the CLI was started: its arguments.
    pub(crate) fn started(&mut self, args: &[String]) {
        let clean = self.redactor.as_ref().map(|redactor| redactor.args(args));
        let args = clean.as_deref().unwrap_or(args);
        let mut line = String::from("{\"args\":[");
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                line.push(',');
            }
            json::push_string(&mut line, arg);
        }
        line.push_str("],\"towline\":\"");
        line.push_str(env!("CARGO_PKG_VERSION"));
        line.push_str("\"}");
        self.entry("start", &line);
    }

    /// The CLI was sent this.
    pub(crate) fn wrote(&mut self, bytes: &[u8]) {
        self.bytes(bytes, |recorder| &mut recorder.input);
    }

    /// The CLI wrote this.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.bytes(bytes, |recorder| &mut recorder.output);
    }

    /// The CLI wrote this to stderr.
    pub(crate) fn read_stderr(&mut self, bytes: &[u8]) {
        self.bytes(bytes, |recorder| &mut recorder.stderr);
    }

    /// The CLI's input was ended.
    pub(crate) fn input_ended(&mut self) {
        self.entry("eof", "null");
    }

    /// The CLI has ended, and everything it wrote was read.
    pub(crate) fn ended(&mut self, exit: Option<Exit>) {
        let streams: [fn(&mut Recorder) -> &mut Lines; 2] = [
            |recorder| &mut recorder.output,
            |recorder| &mut recorder.stderr,
        ];
        for lines in streams {
            if !lines(self).partial.is_empty() {
                self.bytes(b"\n", lines);
            }
        }
        match exit {
            Some(Exit::Code(code)) => self.entry("exit", &format!("{{\"code\":{code}}}")),
            Some(Exit::Signal(signal)) => self.entry("exit", &format!("{{\"signal\":{signal}}}")),
            Some(Exit::Unknown) | None => self.entry("exit", "{}"),
        }
        self.flush();
    }

    /// Hands what was noted to the system.
    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.file {
            if let Err(error) = file.flush() {
                self.fail(&error);
            }
        }
    }

    /// Why it stopped, once.
    pub(crate) fn take_failure(&mut self) -> Option<String> {
        self.failed.take()
    }

    fn bytes(&mut self, mut bytes: &[u8], lines: fn(&mut Recorder) -> &mut Lines) {
        while self.file.is_some() {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                lines(self).push(bytes);
                return;
            };
            let (line, rest) = bytes.split_at(end);
            lines(self).push(line);
            bytes = rest.get(1..).unwrap_or_default();
            let (dir, line) = lines(self).take();
            if !line.is_empty() {
                self.line(dir, &line, lines);
            }
        }
    }

    fn line(&mut self, dir: &str, line: &[u8], lines: fn(&mut Recorder) -> &mut Lines) {
        let line = String::from_utf8_lossy(line);
        let line = line.strip_suffix('\r').unwrap_or(&line);
        let is_json = dir != "err" && line.starts_with(['{', '[']) && json::validate(line).is_ok();
        let clean = match &mut lines(self).redactor {
            Some(redactor) => Cow::Owned(redactor.line(line, false)),
            None => Cow::Borrowed(line),
        };
        match is_json {
            true => self.entry(dir, &clean),
            false => {
                let mut quoted = String::with_capacity(clean.len() + 2);
                json::push_string(&mut quoted, &clean);
                self.entry(dir, &quoted);
            }
        }
    }

    /// Writes an entry; `line` is JSON without secrets.
    fn entry(&mut self, dir: &str, line: &str) {
        let t = self.since.elapsed().as_secs_f64();
        let Some(file) = &mut self.file else { return };
        let written = writeln!(file, "{{\"t\":{t:.6},\"dir\":\"{dir}\",\"line\":{line}}}");
        if let Err(error) = written {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &io::Error) {
        // What stands in the buffer cannot be written either.
        if let Some(file) = self.file.take() {
            drop(file.into_parts());
        }
        self.failed = Some(format!(
            "the recording {} stopped: {error}; the session goes on (option record)",
            self.path.display()
        ));
    }
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        if self.skipped == 0 && bytes.len() <= self.limit.saturating_sub(self.partial.len()) {
            self.partial.extend_from_slice(bytes);
            return;
        }
        self.skipped += self.partial.len() + bytes.len();
        self.partial = Vec::new();
    }

    /// The whole line, now that it has ended.
    fn take(&mut self) -> (&'static str, Vec<u8>) {
        let line = match std::mem::take(&mut self.skipped) {
            0 => std::mem::take(&mut self.partial),
            n => format!("a line of {n} bytes, over the limit of {}", self.limit).into_bytes(),
        };
        (self.dir, line)
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
