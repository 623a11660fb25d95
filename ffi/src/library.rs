//! The library itself.

use std::ffi::c_char;

use crate::boundary;
use crate::status::name_of;

/// The version of the library that the program runs with, `"0.1.0"`. The version of the header
/// it was compiled with is TOWLINE_VERSION.
#[no_mangle]
pub extern "C" fn towline_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of the binary interface that the library has. Compare with TOWLINE_ABI_VERSION of
/// the header: a program works with a library whose number is the same. It is raised only by what
/// breaks programs compiled before; the shared library's file name carries it.
#[no_mangle]
pub extern "C" fn towline_abi_version() -> u32 {
    0
}

/// The name of a status, `"TOWLINE_ERR_UTF8"`; `"unknown status"` for a number that is none. Never
/// NULL; the text is static.
#[no_mangle]
pub extern "C" fn towline_status_name(status: i32) -> *const c_char {
    boundary::value(c"unknown status".as_ptr(), || {
        Ok(name_of(status).unwrap_or(c"unknown status").as_ptr())
    })
}
