//! Text in: pointer and length, checked. Text out: views kept by their owner.

use std::collections::BTreeMap;
use std::ffi::{c_char, CStr};
use std::sync::{Mutex, PoisonError};

use crate::boundary::set;
use crate::error::Failure;
use crate::status::towline_status::*;

/// The length of a text that ends with a NUL.
pub(crate) const NUL: usize = usize::MAX;

/// Reads a text.
pub(crate) unsafe fn text<'a>(
    what: &'static str,
    data: *const c_char,
    len: usize,
) -> Result<&'a str, Failure> {
    if data.is_null() {
        return Err(Failure::new(
            TOWLINE_ERR_NULL,
            format!("{what}: a text is needed, and NULL was given"),
        ));
    }
    let bytes = if len == NUL {
        // SAFETY: not null; that it ends with a NUL is what the header asks of callers.
        unsafe { CStr::from_ptr(data) }.to_bytes()
    } else if isize::try_from(len).is_err() {
        return Err(Failure::new(
            TOWLINE_ERR_LENGTH,
            format!("{what}: no text is {len} bytes long"),
        ));
    } else {
        // SAFETY: not null and of a possible length; that so many bytes can be read is what the
        // header asks of callers.
        unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }
    };
    std::str::from_utf8(bytes).map_err(|error| {
        Failure::new(
            TOWLINE_ERR_UTF8,
            format!("{what} is not UTF-8 from byte {} on", error.valid_up_to()),
        )
    })
}

/// Reads a text that may be NULL.
pub(crate) unsafe fn optional<'a>(
    what: &'static str,
    data: *const c_char,
    len: usize,
) -> Result<Option<&'a str>, Failure> {
    match data.is_null() {
        true => Ok(None),
        false => text(what, data, len).map(Some),
    }
}

/// Reads a name: a text that ends with a NUL.
pub(crate) unsafe fn name<'a>(what: &'static str, data: *const c_char) -> Result<&'a str, Failure> {
    text(what, data, NUL)
}

/// Reads a list of names.
pub(crate) unsafe fn names<'a>(
    what: &'static str,
    list: *const *const c_char,
    count: usize,
) -> Result<Vec<&'a str>, Failure> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if list.is_null() {
        return Err(Failure::new(
            TOWLINE_ERR_NULL,
            format!("{what}: a list is needed, and NULL was given"),
        ));
    }
    if count > isize::MAX as usize / std::mem::size_of::<*const c_char>() {
        return Err(Failure::new(
            TOWLINE_ERR_LENGTH,
            format!("{what}: no list has {count} entries"),
        ));
    }
    if !list.is_aligned() {
        return Err(Failure::new(
            TOWLINE_ERR_ARGUMENT,
            format!("{what}: no list stands at such an address"),
        ));
    }
    // SAFETY: not null, aligned and of a possible length; that so many entries can be read is what
    // the header asks of callers.
    let list = unsafe { std::slice::from_raw_parts(list, count) };
    list.iter().map(|entry| name(what, *entry)).collect()
}

/// Texts with a NUL behind them, kept for as long as their owner lives.
#[derive(Default)]
pub(crate) struct Views(Mutex<BTreeMap<String, Box<[u8]>>>);

/// A view: where the text stands and how long it is without the NUL.
#[derive(Clone, Copy)]
pub(crate) struct View {
    data: *const c_char,
    len: usize,
}

impl View {
    /// The bytes of a text and a NUL, in memory that its owner keeps.
    pub(crate) fn terminated(bytes: &[u8]) -> View {
        View {
            data: bytes.as_ptr().cast(),
            len: bytes.len().saturating_sub(1),
        }
    }

    /// The text itself; empty for no view.
    pub(crate) fn as_str<'a>(self) -> &'a str {
        if self.data.is_null() {
            return "";
        }
        // SAFETY: made from a text that its owner keeps, and used while the owner is.
        let bytes = unsafe { std::slice::from_raw_parts(self.data.cast::<u8>(), self.len) };
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) const EMPTY: View = View {
        data: c"".as_ptr(),
        len: 0,
    };

    pub(crate) const NONE: View = View {
        data: std::ptr::null(),
        len: 0,
    };

    /// Gives it to C: the pointer, and the length to where it was asked for.
    pub(crate) unsafe fn give(self, len: *mut usize) -> *const c_char {
        set(len, self.len);
        self.data
    }
}

impl Views {
    /// The text of this name; made and kept at the first call.
    pub(crate) fn get(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<String, Failure>,
    ) -> Result<View, Failure> {
        let mut views = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = views.get(name) {
            return Ok(View::terminated(kept));
        }
        let mut bytes = make()?.into_bytes();
        bytes.push(0);
        let kept = views
            .entry(name.into())
            .or_insert_with(|| bytes.into_boxed_slice());
        Ok(View::terminated(kept))
    }

    /// Keeps a text that may be another one at the next call; equal ones are kept once.
    pub(crate) fn keep(&self, kind: char, text: &str) -> Result<View, Failure> {
        self.get(&format!("{kind}{text}"), || Ok(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_texts() {
        // SAFETY: texts of our own with their lengths.
        unsafe {
            let status = |data: *const c_char, len| text("x", data, len).err().unwrap().status;
            assert_eq!(status(std::ptr::null(), 0), TOWLINE_ERR_NULL);
            assert_eq!(status(c"\xff".as_ptr(), NUL), TOWLINE_ERR_UTF8);
            assert_eq!(status(c"ab".as_ptr(), NUL - 1), TOWLINE_ERR_LENGTH);
            assert_eq!(text("x", c"ab".as_ptr(), 1).ok(), Some("a"));
            assert_eq!(text("x", c"ab".as_ptr(), NUL).ok(), Some("ab"));
            assert_eq!(text("x", c"ab".as_ptr(), 0).ok(), Some(""));
        }
    }

    #[test]
    fn views_stay_where_they_are() {
        let views = Views::default();
        let first = views.get("a", || Ok("text".into())).ok().unwrap();
        for n in 0..100 {
            views.get(&n.to_string(), || Ok("x".into())).ok().unwrap();
        }
        let again = views.get("a", || panic!("made twice")).ok().unwrap();
        assert_eq!(first.data, again.data);
        assert_eq!(first.len, 4);
    }
}
