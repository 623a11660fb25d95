//! Functions of the host: pointer, user data, finalizer.

use std::ffi::{c_char, c_void, CString};

use towline_core::{LogRecord, Reply};

use crate::request::{self, towline_request, Asked};

/// What a callback has done with its request: TOWLINE_ANSWERED, TOWLINE_LATER or TOWLINE_FAILED.
/// Any other value counts as TOWLINE_FAILED.
pub type towline_answer = i32;

/// The callback has answered by one of the towline_request_ functions.
pub const TOWLINE_ANSWERED: i32 = 0;
/// The callback keeps the request, having called towline_request_retain(), and answers later,
/// from any thread. Without that call the safe answer is sent at once.
pub const TOWLINE_LATER: i32 = 1;
/// The callback could not answer: the safe answer is sent, and a TOWLINE_DIAGNOSTIC event says so.
pub const TOWLINE_FAILED: i32 = 2;

/// Serves a request of the CLI. It runs on the thread that is inside towline_session_poll(),
/// _connect() or _request_wait(), with no lock held, and may call every function that does not
/// wait; those that do return TOWLINE_ERR_REENTRANT. `request` is valid until it returns; see
/// towline_request_retain(). It must return: no longjmp, no C++ exception.
pub type towline_request_callback = Option<
    unsafe extern "C" fn(user_data: *mut c_void, request: *mut towline_request) -> towline_answer,
>;

/// Gets a line: of the CLI's stderr without its end, or a diagnostic. NUL-terminated, UTF-8, valid
/// until the callback returns. It runs like a towline_request_callback.
pub type towline_line_callback =
    Option<unsafe extern "C" fn(user_data: *mut c_void, line: *const c_char, len: usize)>;

/// Gets a record of the log. `level` is TOWLINE_LOG_ERROR to TOWLINE_LOG_TRACE; `target` what it is
/// about (`towline.session`, `towline.turn`, `towline.request`, `towline.callback`,
/// `towline.store`, `towline.diagnostic`, `towline.stderr`, `towline.wire`); `message` a short
/// sentence; `fields` JSON text of an object with more of it; `session_id` NULL until it is known;
/// `turn` 0 when it belongs to none. The texts are NUL-terminated UTF-8 and valid until the callback
/// returns. It runs like a towline_request_callback, and inside towline_session_close() too.
pub type towline_log_callback = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        level: i32,
        target: *const c_char,
        message: *const c_char,
        fields: *const c_char,
        session_id: *const c_char,
        turn: u64,
    ),
>;

/// The session failed.
pub const TOWLINE_LOG_ERROR: i32 = 1;
/// Something is odd, or was ended by force.
pub const TOWLINE_LOG_WARN: i32 = 2;
/// A session began, opened, ended.
pub const TOWLINE_LOG_INFO: i32 = 3;
/// Turns, requests, tool calls, store calls, lines of stderr.
pub const TOWLINE_LOG_DEBUG: i32 = 4;
/// Lines of the wire, with option `wireLog` set to `log`.
pub const TOWLINE_LOG_TRACE: i32 = 5;

/// Called once with a callback's user data when nothing uses it any more: the options object that
/// it was registered with and every session made from it are freed, or another callback has
/// taken its place in the options and no session has it. It runs on the thread that frees the last
/// of them. When the registration fails, it is not called. NULL for none.
pub type towline_finalize = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// User data, and who cleans up after it.
pub(crate) struct UserData {
    data: *mut c_void,
    finalize: towline_finalize,
}

// SAFETY: the header asks that callbacks and finalizers can run on whichever thread polls or frees;
// we only hand the pointer on.
unsafe impl Send for UserData {}
// SAFETY: as for Send; the library never looks at what it points to.
unsafe impl Sync for UserData {}

impl UserData {
    pub(crate) fn new(data: *mut c_void, finalize: towline_finalize) -> UserData {
        UserData { data, finalize }
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.data
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(finalize) = self.finalize {
            // SAFETY: the host's function with the data it gave for it, once.
            unsafe { finalize(self.data) };
        }
    }
}

/// A callback that serves requests.
pub(crate) struct RequestCallback {
    function: unsafe extern "C" fn(*mut c_void, *mut towline_request) -> towline_answer,
    user_data: UserData,
}

impl RequestCallback {
    /// `None` for NULL; then the user data is not taken either.
    pub(crate) fn new(
        function: towline_request_callback,
        data: *mut c_void,
        finalize: towline_finalize,
    ) -> Option<RequestCallback> {
        function.map(|function| RequestCallback {
            function,
            user_data: UserData::new(data, finalize),
        })
    }

    /// Calls it.
    pub(crate) fn serve(&self, handle: &towline_core::RequestHandle) -> Reply {
        let request = request::create(Asked::session(handle.clone()));
        // SAFETY: the host's function with its own data and a live handle.
        let answer = unsafe { (self.function)(self.user_data.data, request) };
        let reply = match answer {
            TOWLINE_ANSWERED if handle.is_cancelled() => Reply::Answered,
            TOWLINE_ANSWERED => {
                Reply::Failed("it returned TOWLINE_ANSWERED and had not answered".into())
            }
            TOWLINE_LATER => Reply::Later,
            TOWLINE_FAILED => Reply::Failed("it returned TOWLINE_FAILED".into()),
            other => Reply::Failed(format!("it returned {other}, which is no towline_answer")),
        };
        // SAFETY: made above; if the host has retained it, it lives on. One that the host has freed
        // against the rules, or is using on another thread at this moment, is left to it.
        let _ = unsafe { request::release(request) };
        reply
    }
}

/// A callback that gets lines.
pub(crate) struct LineCallback {
    function: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    user_data: UserData,
}

impl LineCallback {
    pub(crate) fn new(
        function: towline_line_callback,
        data: *mut c_void,
        finalize: towline_finalize,
    ) -> Option<LineCallback> {
        function.map(|function| LineCallback {
            function,
            user_data: UserData::new(data, finalize),
        })
    }

    pub(crate) fn call(&self, line: &str) {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(0);
        // SAFETY: the host's function with its own data and a terminated text.
        unsafe { (self.function)(self.user_data.data, bytes.as_ptr().cast(), line.len()) };
    }
}

/// A callback that gets records of the log.
pub(crate) struct LogCallback {
    function: unsafe extern "C" fn(
        *mut c_void,
        i32,
        *const c_char,
        *const c_char,
        *const c_char,
        *const c_char,
        u64,
    ),
    user_data: UserData,
}

impl LogCallback {
    pub(crate) fn new(
        function: towline_log_callback,
        data: *mut c_void,
        finalize: towline_finalize,
    ) -> Option<LogCallback> {
        function.map(|function| LogCallback {
            function,
            user_data: UserData::new(data, finalize),
        })
    }

    pub(crate) fn call(&self, record: &LogRecord) {
        let terminated = |text: &str| CString::new(text.replace('\0', "\u{fffd}"));
        let id = record.session_id.as_deref().map(terminated);
        let (Ok(target), Ok(message), Ok(fields), Ok(id)) = (
            terminated(record.target),
            terminated(&record.message),
            terminated(&record.fields),
            id.transpose(),
        ) else {
            return;
        };
        // SAFETY: the host's function with its own data and terminated texts.
        unsafe {
            (self.function)(
                self.user_data.data,
                record.level as i32,
                target.as_ptr(),
                message.as_ptr(),
                fields.as_ptr(),
                id.as_ref().map_or(std::ptr::null(), |id| id.as_ptr()),
                record.turn.map_or(0, |turn| turn.0),
            );
        }
    }
}
