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
            if &**kept == text {
                return Ok(string.bind(py).clone());
            }
        }
        let string = PyString::intern(py, text);
        *place = Some((text.into(), string.clone().unbind()));
        Ok(string)
    }
}

/// A quick hash of a short text: its length, its first, middle and last eight bytes.
#[inline]
fn hash(text: &[u8]) -> usize {
    let word = |at: usize| -> u64 {
        let mut word = [0; 8];
        let bytes = text.get(at..text.len().min(at + 8)).unwrap_or_default();
        if let Some(place) = word.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
        u64::from_le_bytes(word)
    };
    let length = text.len();
    let mut hash = (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word(0);
    if length > 8 {
        hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ word(length - 8);
        hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ word((length - 8) / 2);
    }
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    (hash >> 40) as usize
}
