use std::ffi::{c_char, c_void, CStr, CString};
use std::ptr::null_mut;

use towline_c as _;

/// A handle of the C ABI.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

type Status = i32;

const OK: Status = 0;

extern "C" {
    fn towline_options_new() -> *mut Opaque;
    fn towline_options_set_json(
        options: *mut Opaque,
        json: *const c_char,
        len: usize,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_options_free(options: *mut Opaque) -> Status;
    fn towline_connection_new(
        options: *const Opaque,
        now_ms: u64,
        connection: *mut *mut Opaque,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_free(connection: *mut Opaque) -> Status;
    fn towline_connection_receive(
        connection: *mut Opaque,
        data: *const c_void,
        count: usize,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_ended(connection: *mut Opaque, error: *mut *mut Opaque) -> Status;
    fn towline_connection_event(
        connection: *mut Opaque,
        event: *mut *mut Opaque,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_outgoing(
        connection: *mut Opaque,
        data: *mut *const c_void,
        count: *mut usize,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_sent(
        connection: *mut Opaque,
        count: usize,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_time(
        connection: *mut Opaque,
        now_ms: u64,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_send(
        connection: *mut Opaque,
        prompt: *const c_char,
        len: usize,
        turn: *mut u64,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_send_json(
        connection: *mut Opaque,
        message: *const c_char,
        len: usize,
        turn: *mut u64,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_request(
        connection: *mut Opaque,
        subtype: *const c_char,
        payload: *const c_char,
        len: usize,
        id: *mut u64,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_respond(
        connection: *mut Opaque,
        key: u64,
        json: *const c_char,
        len: usize,
        error: *mut *mut Opaque,
    ) -> Status;
    fn towline_connection_end_input(connection: *mut Opaque, error: *mut *mut Opaque) -> Status;
    fn towline_event_id(event: *const Opaque) -> u64;
    fn towline_event_type(event: *const Opaque) -> *const c_char;
    fn towline_event_json(event: *const Opaque, len: *mut usize) -> *const c_char;
    fn towline_event_str(
        event: *const Opaque,
        pointer: *const c_char,
        len: *mut usize,
    ) -> *const c_char;
    fn towline_event_is_null(event: *const Opaque, pointer: *const c_char) -> bool;
    fn towline_event_free(event: *mut Opaque) -> Status;
    fn towline_error_message(error: *const Opaque) -> *const c_char;
    fn towline_error_free(error: *mut Opaque) -> Status;
}

/// Any calls of a C program with any bytes: no crash, every error has a message, every view is text
/// that ends with a NUL where its length says.
pub fn c(data: &[u8]) {
    let mut pieces = data.split(|byte| *byte == 0xff);
    let options = pieces.next().unwrap_or_default();
    // SAFETY: new options, and a text with its length; the error is freed.
    let options = unsafe {
        let handle = towline_options_new();
        let (text, len) = (options.as_ptr().cast(), options.len());
        checked(|error| towline_options_set_json(handle, text, len, error));
        handle
    };
    let mut connection = null_mut();
    // SAFETY: live options, and places for the answers.
    let opened =
        unsafe { checked(|error| towline_connection_new(options, 0, &mut connection, error)) };
    if opened == OK {
        let mut host = Host {
            connection,
            now: 0,
            keys: Vec::new(),
        };
        for piece in pieces {
            host.call(piece);
            host.drain();
        }
        // SAFETY: a live connection.
        unsafe { checked(|error| towline_connection_ended(connection, error)) };
        host.drain();
    }
    // SAFETY: both are freed once; a connection that was not made is NULL.
    unsafe {
        towline_connection_free(connection);
        towline_options_free(options);
    }
}

struct Host {
    connection: *mut Opaque,
    now: u64,
    keys: Vec<u64>,
}

impl Host {
    fn call(&mut self, piece: &[u8]) {
        let connection = self.connection;
        let Some((command, rest)) = piece.split_first() else {
            return;
        };
        let (text, len) = (rest.as_ptr().cast::<c_char>(), rest.len());
        let mut number = 0;
        // SAFETY: a live connection, texts with their lengths or NUL-terminated, and places for
        // the answers.
        unsafe {
            match command % 8 {
                0 => {
                    self.now += u64::from(rest.first().copied().unwrap_or(1)) * 100;
                    let now = self.now;
                    checked(|error| towline_connection_time(connection, now, error));
                }
                1 => {
                    checked(|error| {
                        towline_connection_send(connection, text, len, &mut number, error)
                    });
                }
                2 => {
                    checked(|error| {
                        towline_connection_send_json(connection, text, len, &mut number, error)
                    });
                }
                3 => {
                    let (subtype, payload) = match rest.iter().position(|byte| *byte == b' ') {
                        Some(at) => (&rest[..at], &rest[at + 1..]),
                        None => (rest, &rest[..0]),
                    };
                    let Ok(subtype) = CString::new(subtype) else {
                        return;
                    };
                    let (payload, len) = (payload.as_ptr().cast(), payload.len());
                    let subtype = subtype.as_ptr();
                    checked(|error| {
                        towline_connection_request(
                            connection,
                            subtype,
                            payload,
                            len,
                            &mut number,
                            error,
                        )
                    });
                }
                4 => {
                    let key = self.keys.pop().unwrap_or(7);
                    checked(|error| towline_connection_respond(connection, key, text, len, error));
                }
                5 => {
                    checked(|error| towline_connection_end_input(connection, error));
                }
                _ => {
                    checked(|error| {
                        towline_connection_receive(connection, rest.as_ptr().cast(), len, error)
                    });
                    checked(|error| {
                        towline_connection_receive(connection, b"\n".as_ptr().cast(), 1, error)
                    });
                }
            }
        }
    }

    fn drain(&mut self) {
        loop {
            let mut event = null_mut();
            // SAFETY: a live connection.
            let status = unsafe {
                checked(|error| towline_connection_event(self.connection, &mut event, error))
            };
            if status != OK {
                assert!(event.is_null());
                break;
            }
            // SAFETY: a live event, freed once; views are looked at before.
            unsafe {
                self.look(event);
                towline_event_free(event);
            }
        }
        // SAFETY: a live connection; the view is used before the next call.
        unsafe {
            let (mut data, mut count) = (std::ptr::null(), 0);
            checked(|error| {
                towline_connection_outgoing(self.connection, &mut data, &mut count, error)
            });
            if count > 0 {
                let written = std::slice::from_raw_parts(data.cast::<u8>(), count);
                assert!(std::str::from_utf8(written).is_ok());
            }
            checked(|error| towline_connection_sent(self.connection, count, error));
        }
    }

    /// # Safety
    /// A live event.
    unsafe fn look(&mut self, event: *const Opaque) {
        self.keys.push(towline_event_id(event));
        let kind = towline_event_type(event);
        if !kind.is_null() {
            assert!(CStr::from_ptr(kind).to_str().is_ok());
        }
        let mut len = 0;
        let json = towline_event_json(event, &mut len);
        view(json, len);
        for pointer in [
            c"",
            c"/type",
            c"/message/content/0/text",
            c"/request/input",
            c"/error/message",
            c"no pointer",
            c"/~2",
        ] {
            let mut len = 0;
            let text = towline_event_str(event, pointer.as_ptr(), &mut len);
            view(text, len);
            towline_event_is_null(event, pointer.as_ptr());
        }
    }
}

/// # Safety
/// NULL, or a view of the library with its length.
unsafe fn view(text: *const c_char, len: usize) {
    if text.is_null() {
        return;
    }
    let bytes = std::slice::from_raw_parts(text.cast::<u8>(), len + 1);
    assert_eq!(bytes[len], 0);
    assert!(std::str::from_utf8(bytes).is_ok());
}

/// Calls, and looks at the error that there is, or is not.
///
/// # Safety
/// As the call.
unsafe fn checked(call: impl FnOnce(*mut *mut Opaque) -> Status) -> Status {
    let mut error = null_mut();
    let status = call(&mut error);
    if !error.is_null() {
        assert_ne!(status, OK);
        let message = CStr::from_ptr(towline_error_message(error));
        assert!(message.to_str().is_ok_and(|text| !text.is_empty()));
        towline_error_free(error);
    }
    status
}
