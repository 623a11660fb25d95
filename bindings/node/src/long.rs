//! A very long message, handed to JavaScript piece by piece from its end, with the memory of what was
//! handed over given back: there are never two copies of it.

use napi::{Env, JsString};
use towline::protocol::json::{long_strings, piece_starts};
use towline::RawMessage;

use crate::session::text;

/// A message above this is taken apart, if most of it are
const LONG: usize = 8 * 1024 * 1024;
/// strings above this.
const LONG_STRING: usize = 1024 * 1024;
/// How many bytes one piece has, about.
const PIECE: usize = 1024 * 1024;

/// Where a piece starts and ends; `None` in front of the first one of a string.
pub(crate) type Piece = Option<(usize, usize)>;

/// What was not handed over yet.
pub(crate) struct LongMessage {
    json: Vec<u8>,
    /// The pieces that are left.
    pieces: Vec<Piece>,
}

impl LongMessage {
    /// Takes the message, whose [`plan`](LongMessage::plan) these are.
    pub(crate) fn new(message: RawMessage, pieces: Vec<Piece>) -> LongMessage {
        let json = message.into_json();
        LongMessage { json, pieces }
    }

    /// The message without its long strings, and where their pieces stand; `None` when they are the
    /// smaller part of it. The first is a JSON array: the message, with each of them empty, and their
    /// paths.
    pub(crate) fn plan(json: &str) -> Option<(String, Vec<Piece>)> {
        if json.len() < LONG {
            return None;
        }
        let strings = long_strings(json, LONG_STRING);
        let long: usize = strings.iter().map(|string| string.body.len()).sum();
        if long < json.len() / 2 {
            return None;
        }
        let mut rest = String::from("[");
        let mut paths = String::new();
        let mut pieces = Vec::new();
        let mut copied = 0;
        for string in strings {
            let (start, end) = (string.body.start, string.body.end);
            rest.push_str(json.get(copied..start)?);
            copied = end;
            paths.push(',');
            paths.push_str(&string.path);
            let starts = piece_starts(json.get(string.body)?, PIECE);
            pieces.push(None);
            let ends = starts.iter().skip(1).copied().chain([end - start]);
            let spans = starts.iter().copied().zip(ends);
            pieces.extend(spans.map(|(from, to)| Some((start + from, start + to))));
        }
        rest.push_str(json.get(copied..)?);
        rest.push_str(&paths);
        rest.push(']');
        Some((rest, pieces))
    }

    /// The piece before the one that was handed over last: its text, or where it has escapes JSON in
    /// quotes. `None` once the string is complete.
    pub(crate) fn piece<'env>(&mut self, env: &'env Env) -> napi::Result<Option<JsString<'env>>> {
        let Some((start, end)) = self.pieces.pop().flatten() else {
            return Ok(None);
        };
        let piece = self.json.get(start..end).unwrap_or_default();
        let piece = match piece.contains(&b'\\') {
            false => text(env, piece),
            true => text(env, &[b"\"", piece, b"\""].concat()),
        }?;
        self.json.truncate(start);
        self.json.shrink_to_fit();
        Ok(Some(piece))
    }
}
