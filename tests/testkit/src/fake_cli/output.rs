//! Writes to stdout, from the script and from the reader's automatic answer.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::STDOUT;
use crate::json::Json;
use crate::sys;

#[derive(Default)]
pub(super) struct Output {
    turn: Mutex<()>,
}

/// How the bytes of one step are cut into writes.
#[derive(Clone, Copy, Default)]
pub(super) struct Pieces {
    /// Bytes a write; 0 for all at once.
    pub(super) length: usize,
    pub(super) pause: Duration,
}

impl Output {
    /// Writes the bytes with nothing of another thread between them.
    pub(super) fn write(&self, bytes: &[u8], pieces: Pieces) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if pieces.length == 0 {
            return sys::write_all(STDOUT, bytes);
        }
        for piece in bytes.chunks(pieces.length) {
            sys::write_all(STDOUT, piece)?;
            if !pieces.pause.is_zero() {
                thread::sleep(pieces.pause);
            }
        }
        Ok(())
    }

    pub(super) fn line(&self, value: &Json) -> io::Result<()> {
        let mut bytes = value.compact();
        bytes.push(b'\n');
        self.write(&bytes, Pieces::default())
    }
}
