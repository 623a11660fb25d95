//! The entries of a recording.

use std::path::Path;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use towline_protocol::json;

use super::file::read_whole;
use crate::error::StartError;
use crate::process::Exit;

/// What an entry is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Input of the CLI.
    In,
    /// Output of the CLI.
    Out,
    /// A line of stderr.
    Stderr,
    /// The end of the input.
    InputEnd,
    /// The end of the CLI.
    Exit(Exit),
}

#[derive(Debug)]
pub(super) struct Entry {
    /// Its line in the file, from 1.
    pub(super) number: usize,
    pub(super) kind: Kind,
    /// The line itself, without its end.
    pub(super) text: String,
}

#[derive(Deserialize)]
struct Record<'a> {
    dir: String,
    /// `None` when there is none; a line that says `null` is one.
    #[serde(borrow, default, deserialize_with = "given")]
    line: Option<&'a RawValue>,
}

fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

#[derive(Deserialize)]
struct ExitLine {
    #[serde(default)]
    code: Option<i32>,
    #[serde(default)]
    signal: Option<i32>,
}

/// Reads a recording whole.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, StartError> {
    let failed = |reason: String| StartError::Replay {
        path: path.into(),
        reason,
    };
    let bytes = read_whole(path).map_err(|error| failed(error.to_string()))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let number = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        failed(format!("line {number}: it is not UTF-8"))
    })?;
    // Editors of some systems begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut entries = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if line.trim().is_empty() {
            continue;
        }
        let entry = parse(number, line).map_err(|why| failed(format!("line {number}: {why}")))?;
        entries.extend(entry);
    }
    match entries.is_empty() {
        true => Err(failed("it has no lines of a session".into())),
        false => Ok(entries),
    }
}

fn parse(number: usize, line: &str) -> Result<Option<Entry>, String> {
    let record: Record<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let dir = record.dir.as_str();
    if record.line.is_none() && matches!(dir, "in" | "out" | "err" | "exit") {
        return Err(format!("an entry of dir {dir} has a member line"));
    }
    let line = record.line.map_or("null", RawValue::get);
    let kind = match dir {
        "in" => Kind::In,
        "out" => Kind::Out,
        "err" => Kind::Stderr,
        "eof" => Kind::InputEnd,
        "exit" => {
            let exit: ExitLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
            Kind::Exit(match (exit.code, exit.signal) {
                (_, Some(signal)) => Exit::Signal(signal),
                (Some(code), None) => Exit::Code(code),
                (None, None) => Exit::Unknown,
            })
        }
        _ => return Ok(None),
    };
    // A line that was no JSON stands as a string.
    let text = json::string(line).map_or_else(|| line.to_string(), |text| text.into_owned());
    Ok(Some(Entry { number, kind, text }))
}
