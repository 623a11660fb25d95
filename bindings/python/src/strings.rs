//! Python strings that come again and again: names of members, types, ids of sessions.

use std::sync::{Mutex, TryLockError};

use pyo3::prelude::*;
use pyo3::types::PyString;

/// How many strings are kept; a power of two.
const PLACES: usize = 2048;

/// A table of Python strings by their text. A string that falls on a taken place replaces the one
/// there, so the table never grows.
pub(crate) struct Strings {
    places: Vec<Option<(Box<str>, Py<PyString>)>>,
    type_name: Option<Py<PyString>>,
}

/// One for the process: names are the same in every session.
static SHARED: Mutex<Strings> = Mutex::new(Strings::empty());

impl Strings {
    /// Longer ones are not kept.
    pub(crate) const LONGEST: usize = 64;

    const fn empty() -> Strings {
        Strings {
            places: Vec::new(),
            type_name: None,
        }
    }

    /// Runs `work` with the table of the process. When it is in use (a finaliser that runs in the
    /// middle of decoding may come here again), with one of its own.
    pub(crate) fn with<T>(work: impl FnOnce(&mut Strings) -> T) -> T {
        match SHARED.try_lock() {
            Ok(mut strings) => work(&mut strings),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => work(&mut Strings::empty()),
        }
    }

    /// `type`
    #[inline]
    pub(crate) fn type_name<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyString> {
        let name = self
            .type_name
            .get_or_insert_with(|| PyString::intern(py, "type").unbind());
        name.bind(py).clone()
    }

    #[inline]
    pub(crate) fn get<'py>(
        &mut self,
        py: Python<'py>,
        text: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        if text.len() > Strings::LONGEST {
            return Ok(PyString::new(py, text));
        }
        if self.places.is_empty() {
            self.places.resize_with(PLACES, || None);
        }
        let place = hash(text.as_bytes()) & (PLACES - 1);
        let Some(place) = self.places.get_mut(place) else {
            return Ok(PyString::new(py, text));
        };
        if let Some((kept, string)) = place {
            if same(kept.as_bytes(), text.as_bytes()) {
                return Ok(string.bind(py).clone());
            }
        }
        let string = PyString::intern(py, text);
        *place = Some((text.into(), string.clone().unbind()));
        Ok(string)
    }
}

/// Eight bytes of a text; 0 where there are no eight.
#[inline]
fn word(text: &[u8], at: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => 0,
    }
}

/// All of a text of fewer than eight bytes.
#[inline]
fn short(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>(), text) {
        (Some(first), Some(last), _) => {
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32
        }
        (_, _, [a, b, c]) => u64::from_le_bytes([*a, *b, *c, 0, 0, 0, 0, 0]),
        (_, _, [a, b]) => u64::from_le_bytes([*a, *b, 0, 0, 0, 0, 0, 0]),
        (_, _, [a]) => u64::from(*a),
        _ => 0,
    }
}

/// Whether two texts are the same: as `==`, which calls out for a few bytes.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    let length = a.len();
    if length != b.len() {
        return false;
    }
    match length {
        0..8 => short(a) == short(b),
        8..=16 => word(a, 0) == word(b, 0) && word(a, length - 8) == word(b, length - 8),
        _ => a == b,
    }
}

/// A quick hash of a short text: its length, its first, middle and last eight bytes.
#[inline]
fn hash(text: &[u8]) -> usize {
    let length = text.len();
    let seed = (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut hash = match length {
        0..8 => seed ^ short(text),
        _ => {
            let first = (seed ^ word(text, 0)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            let last = (first ^ word(text, length - 8)).wrapping_mul(0xff51_afd7_ed55_8ccd);
            last ^ word(text, (length - 8) / 2)
        }
    };
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (hash >> 40) as usize
}
