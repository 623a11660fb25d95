//! Texts that the caller owns.

use std::ffi::c_char;

use crate::boundary;
use crate::handle::{self, handle};
use crate::status::towline_status;
use crate::text::View;

/// A text that the caller owns: read with towline_buffer_data(), freed with
/// towline_buffer_free(). It can be read from any thread.
pub struct towline_buffer {
    _opaque: [u8; 0],
}

/// The text with a NUL behind it.
pub(crate) struct Text(Vec<u8>);

handle!(towline_buffer, Text, b"tow_buff");

/// A buffer for C.
pub(crate) fn create(text: String) -> *mut towline_buffer {
    let mut bytes = text.into_bytes();
    bytes.push(0);
    handle::create(Text(bytes))
}

/// The text, NUL-terminated; its length without the NUL goes to `len` unless that is NULL. NULL
/// when `buffer` is no buffer. The view belongs to the buffer.
#[no_mangle]
pub unsafe extern "C" fn towline_buffer_data(
    buffer: *const towline_buffer,
    len: *mut usize,
) -> *const c_char {
    boundary::value(std::ptr::null(), || {
        boundary::set(len, 0);
        let text = handle::enter::<Text>(buffer)?;
        Ok(View::terminated(&text.0).give(len))
    })
}

/// Frees a buffer. NULL is fine.
#[no_mangle]
pub unsafe extern "C" fn towline_buffer_free(buffer: *mut towline_buffer) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Text>(buffer))
}
