//! Status codes.

/// What a function returns. The values never change their meaning and are never reused; new ones
/// may be added.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum towline_status {
    /// It worked.
    TOWLINE_OK = 0,
    /// Nothing came within the time limit, or towline_session_wake() was called. No error object
    /// comes with it from towline_session_poll().
    TOWLINE_TIMEOUT = 1,

    /// An argument that may not be NULL is.
    TOWLINE_ERR_NULL = 10,
    /// A handle is not what the function takes: of another type, freed, or no handle at all.
    TOWLINE_ERR_HANDLE = 11,
    /// A text is not UTF-8.
    TOWLINE_ERR_UTF8 = 12,
    /// A length that no text can have.
    TOWLINE_ERR_LENGTH = 13,
    /// A text that has to be JSON is not, or is JSON of the wrong shape.
    TOWLINE_ERR_JSON = 14,
    /// Any other argument is out of range.
    TOWLINE_ERR_ARGUMENT = 15,
    /// A JSON Pointer is malformed: it is empty or starts with '/', and '~' in it is followed by
    /// 0 or 1.
    TOWLINE_ERR_POINTER = 16,
    /// There is no such value.
    TOWLINE_ERR_ABSENT = 17,
    /// The value is there and has another type.
    TOWLINE_ERR_TYPE = 18,

    /// An option is unknown, or its value has the wrong type.
    TOWLINE_ERR_OPTION = 20,
    /// The definition of a tool or its schema is refused, or its name is taken.
    TOWLINE_ERR_TOOL = 21,

    /// The CLI could not be started, for a reason that has no code of its own.
    TOWLINE_ERR_START = 30,
    /// There is no CLI there; the message says where it was looked for.
    TOWLINE_ERR_CLI_NOT_FOUND = 31,
    /// The CLI is there and cannot be executed.
    TOWLINE_ERR_NOT_EXECUTABLE = 32,
    /// The working directory does not exist or is no folder.
    TOWLINE_ERR_CWD = 33,
    /// Arguments and environment are longer than the system takes.
    TOWLINE_ERR_ARGUMENTS_TOO_LONG = 34,
    /// The options contradict each other or cannot be carried out.
    TOWLINE_ERR_LAUNCH = 35,

    /// The session is over: its TOWLINE_CLOSED event was delivered, or its handle was freed while
    /// a request of it was still held.
    TOWLINE_ERR_CLOSED = 40,
    /// The conversation has ended; nothing can be sent any more.
    TOWLINE_ERR_ENDED = 41,
    /// The input was ended by towline_session_end_input() or by closing, or the CLI has closed it.
    TOWLINE_ERR_INPUT_ENDED = 42,
    /// The CLI is not reading and the write queue is at its limit (option maxQueuedBytes).
    TOWLINE_ERR_QUEUE_FULL = 43,
    /// The call would wait for the very poll it is made in: it was made in a callback.
    TOWLINE_ERR_REENTRANT = 44,
    /// Another thread is polling this session, or the handle is in use and cannot be freed now.
    TOWLINE_ERR_BUSY = 45,
    /// The session was started before fork() and belongs to the parent process.
    TOWLINE_ERR_FORKED = 46,
    /// The call does not fit the state that the handle is in.
    TOWLINE_ERR_STATE = 47,
    /// All sessions that the pool may have are in use (maxSessions), and none came back in time.
    TOWLINE_ERR_POOL_FULL = 48,
    /// The conversation that was asked for is in use.
    TOWLINE_ERR_IN_USE = 49,

    /// The CLI ended before it had opened the session.
    TOWLINE_ERR_EXITED_EARLY = 50,
    /// The CLI refused to open the session.
    TOWLINE_ERR_REFUSED = 51,
    /// The CLI did not open the session in time (option initializeTimeoutMs).
    TOWLINE_ERR_INITIALIZE_TIMEOUT = 52,
    /// The CLI ended by itself with an error.
    TOWLINE_ERR_FAILED = 53,
    /// The system refused a wait.
    TOWLINE_ERR_SYSTEM = 54,

    /// The CLI answered a control request with an error.
    TOWLINE_ERR_REMOTE = 60,
    /// A control request was not answered in time (option controlTimeoutMs).
    TOWLINE_ERR_REQUEST_TIMEOUT = 61,
    /// The session ended before a control request was answered.
    TOWLINE_ERR_REQUEST_ENDED = 62,

    /// No open request has this key.
    TOWLINE_ERR_UNKNOWN_REQUEST = 70,
    /// The request was answered already. Harmless.
    TOWLINE_ERR_ANSWERED = 71,
    /// The CLI took the request back, or its time limit passed. Harmless.
    TOWLINE_ERR_WITHDRAWN = 72,
    /// The answer does not fit the request, which stays open.
    TOWLINE_ERR_WRONG_ANSWER = 73,
    /// No running turn has this number.
    TOWLINE_ERR_UNKNOWN_TURN = 74,
    /// The uuid of a user message was used already; the CLI would drop the message.
    TOWLINE_ERR_DUPLICATE_UUID = 75,
    /// No in-process MCP server has this name.
    TOWLINE_ERR_UNKNOWN_SERVER = 76,
    /// The CLI would drop this user message or die of it.
    TOWLINE_ERR_MESSAGE = 77,

    /// A session store refused or failed.
    TOWLINE_ERR_STORE = 80,
    /// The session is not there.
    TOWLINE_ERR_NOT_FOUND = 81,
    /// The session store lacks a call that this needs.
    TOWLINE_ERR_UNSUPPORTED = 82,
    /// A session store does not do what stores have to do.
    TOWLINE_ERR_CONTRACT = 83,
    /// A file could not be read or written.
    TOWLINE_ERR_FILE = 84,

    /// The library failed in a way it should not. The handle cannot be used any more.
    TOWLINE_ERR_PANIC = 90,
    /// The handle cannot be used since a call on it ended with TOWLINE_ERR_PANIC. It can still
    /// be freed.
    TOWLINE_ERR_POISONED = 91,
}

use towline_status::*;

/// Every status and the name of its constant.
pub(crate) const STATUSES: &[(towline_status, &core::ffi::CStr)] = &[
    (TOWLINE_OK, c"TOWLINE_OK"),
    (TOWLINE_TIMEOUT, c"TOWLINE_TIMEOUT"),
    (TOWLINE_ERR_NULL, c"TOWLINE_ERR_NULL"),
    (TOWLINE_ERR_HANDLE, c"TOWLINE_ERR_HANDLE"),
    (TOWLINE_ERR_UTF8, c"TOWLINE_ERR_UTF8"),
    (TOWLINE_ERR_LENGTH, c"TOWLINE_ERR_LENGTH"),
    (TOWLINE_ERR_JSON, c"TOWLINE_ERR_JSON"),
    (TOWLINE_ERR_ARGUMENT, c"TOWLINE_ERR_ARGUMENT"),
    (TOWLINE_ERR_POINTER, c"TOWLINE_ERR_POINTER"),
    (TOWLINE_ERR_ABSENT, c"TOWLINE_ERR_ABSENT"),
    (TOWLINE_ERR_TYPE, c"TOWLINE_ERR_TYPE"),
    (TOWLINE_ERR_OPTION, c"TOWLINE_ERR_OPTION"),
    (TOWLINE_ERR_TOOL, c"TOWLINE_ERR_TOOL"),
    (TOWLINE_ERR_START, c"TOWLINE_ERR_START"),
    (TOWLINE_ERR_CLI_NOT_FOUND, c"TOWLINE_ERR_CLI_NOT_FOUND"),
    (TOWLINE_ERR_NOT_EXECUTABLE, c"TOWLINE_ERR_NOT_EXECUTABLE"),
    (TOWLINE_ERR_CWD, c"TOWLINE_ERR_CWD"),
    (
        TOWLINE_ERR_ARGUMENTS_TOO_LONG,
        c"TOWLINE_ERR_ARGUMENTS_TOO_LONG",
    ),
    (TOWLINE_ERR_LAUNCH, c"TOWLINE_ERR_LAUNCH"),
    (TOWLINE_ERR_CLOSED, c"TOWLINE_ERR_CLOSED"),
    (TOWLINE_ERR_ENDED, c"TOWLINE_ERR_ENDED"),
    (TOWLINE_ERR_INPUT_ENDED, c"TOWLINE_ERR_INPUT_ENDED"),
    (TOWLINE_ERR_QUEUE_FULL, c"TOWLINE_ERR_QUEUE_FULL"),
    (TOWLINE_ERR_REENTRANT, c"TOWLINE_ERR_REENTRANT"),
    (TOWLINE_ERR_BUSY, c"TOWLINE_ERR_BUSY"),
    (TOWLINE_ERR_FORKED, c"TOWLINE_ERR_FORKED"),
    (TOWLINE_ERR_STATE, c"TOWLINE_ERR_STATE"),
    (TOWLINE_ERR_POOL_FULL, c"TOWLINE_ERR_POOL_FULL"),
    (TOWLINE_ERR_IN_USE, c"TOWLINE_ERR_IN_USE"),
    (TOWLINE_ERR_EXITED_EARLY, c"TOWLINE_ERR_EXITED_EARLY"),
    (TOWLINE_ERR_REFUSED, c"TOWLINE_ERR_REFUSED"),
    (
        TOWLINE_ERR_INITIALIZE_TIMEOUT,
        c"TOWLINE_ERR_INITIALIZE_TIMEOUT",
    ),
    (TOWLINE_ERR_FAILED, c"TOWLINE_ERR_FAILED"),
    (TOWLINE_ERR_SYSTEM, c"TOWLINE_ERR_SYSTEM"),
    (TOWLINE_ERR_REMOTE, c"TOWLINE_ERR_REMOTE"),
    (TOWLINE_ERR_REQUEST_TIMEOUT, c"TOWLINE_ERR_REQUEST_TIMEOUT"),
    (TOWLINE_ERR_REQUEST_ENDED, c"TOWLINE_ERR_REQUEST_ENDED"),
    (TOWLINE_ERR_UNKNOWN_REQUEST, c"TOWLINE_ERR_UNKNOWN_REQUEST"),
    (TOWLINE_ERR_ANSWERED, c"TOWLINE_ERR_ANSWERED"),
    (TOWLINE_ERR_WITHDRAWN, c"TOWLINE_ERR_WITHDRAWN"),
    (TOWLINE_ERR_WRONG_ANSWER, c"TOWLINE_ERR_WRONG_ANSWER"),
    (TOWLINE_ERR_UNKNOWN_TURN, c"TOWLINE_ERR_UNKNOWN_TURN"),
    (TOWLINE_ERR_DUPLICATE_UUID, c"TOWLINE_ERR_DUPLICATE_UUID"),
    (TOWLINE_ERR_UNKNOWN_SERVER, c"TOWLINE_ERR_UNKNOWN_SERVER"),
    (TOWLINE_ERR_MESSAGE, c"TOWLINE_ERR_MESSAGE"),
    (TOWLINE_ERR_STORE, c"TOWLINE_ERR_STORE"),
    (TOWLINE_ERR_NOT_FOUND, c"TOWLINE_ERR_NOT_FOUND"),
    (TOWLINE_ERR_UNSUPPORTED, c"TOWLINE_ERR_UNSUPPORTED"),
    (TOWLINE_ERR_CONTRACT, c"TOWLINE_ERR_CONTRACT"),
    (TOWLINE_ERR_FILE, c"TOWLINE_ERR_FILE"),
    (TOWLINE_ERR_PANIC, c"TOWLINE_ERR_PANIC"),
    (TOWLINE_ERR_POISONED, c"TOWLINE_ERR_POISONED"),
];

impl towline_status {
    /// The name of its constant.
    pub(crate) fn name(self) -> &'static core::ffi::CStr {
        name_of(self as i32).unwrap_or(c"")
    }
}

pub(crate) fn name_of(status: i32) -> Option<&'static core::ffi::CStr> {
    let found = STATUSES.iter().find(|(known, _)| *known as i32 == status)?;
    Some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the first release. Entries are added, never changed.
    const RELEASED: &str = include_str!("../tests/statuses.txt");

    #[test]
    fn values_are_never_renumbered() {
        let now: String = STATUSES
            .iter()
            .map(|(status, name)| format!("{} {}\n", *status as i32, name.to_str().unwrap()))
            .collect();
        assert_eq!(now, RELEASED);
    }

    #[test]
    fn the_table_has_every_status() {
        let source = include_str!("status.rs");
        let body = source.split("pub enum towline_status {").nth(1).unwrap();
        let variants = body
            .lines()
            .take_while(|line| *line != "}")
            .filter(|line| line.contains(" = "))
            .count();
        assert_eq!(variants, STATUSES.len());
        assert_eq!(TOWLINE_ERR_PANIC.name(), c"TOWLINE_ERR_PANIC");
        assert_eq!(name_of(2), None);
    }
}
