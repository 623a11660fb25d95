//! Byte streams that the host supplies in the place of a process of the session's own.

use std::ffi::{c_char, c_void, CStr, CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use towline_core::{Error, Exit, Launch, StartError, Transport, TransportEnd, Waker};

use crate::boundary;
use crate::callback::{towline_finalize, UserData};
use crate::error::{towline_error, Failure};
use crate::handle::{self, handle};
use crate::options::{towline_options, Settings};
use crate::status::towline_status;
use crate::status::towline_status::*;

/// What a transport returns that can read or write nothing at once.
pub const TOWLINE_WOULD_BLOCK: isize = -1;
/// What a transport returns that can read or write nothing any more.
pub const TOWLINE_BROKEN: isize = -2;
/// The exit of a transport that leads to no process, or does not know how it ended.
pub const TOWLINE_NO_EXIT: i64 = i64::MIN;

/// The last number that a signal can have anywhere, made negative.
const LAST_SIGNAL: i32 = -127;

/// How a transport says that it is ready. The transport gets one when it is opened and frees it
/// with towline_waker_free(), when it likes; it may outlive the session.
pub struct towline_waker {
    _opaque: [u8; 0],
}

handle!(towline_waker, Waker, b"tow_wake");

/// How the CLI is to be started, for a transport that starts it: what execve() takes. Everything is
/// valid until the function that gets it returns.
#[repr(C)]
pub struct towline_launch {
    /// The executable, after a launcher's prefix if there is one, and its arguments, then NULL.
    pub argv: *const *const c_char,
    /// The whole environment, each "NAME=value", then NULL.
    pub env: *const *const c_char,
    /// The folder to start in; NULL is the host's.
    pub cwd: *const c_char,
    /// The user to run as, by name or number; NULL is the host's.
    pub user: *const c_char,
}

/// A byte stream to a CLI, in functions of the host. None of them may wait: what cannot be done at
/// once returns TOWLINE_WOULD_BLOCK, and towline_waker_wake() is called when it can. They run one at
/// a time, on whatever thread calls a function of the session, with the session locked: what of the
/// session they call fails with TOWLINE_ERR_REENTRANT. They must return: no longjmp, no C++ exception.
/// One that does not return is a call that does not return: the function of the session in which it
/// was called waits for it, so do all others that need the session, and no deadline ends that, since
/// they are kept by those very calls.
///
/// What a function cannot return (a count above `len`, 0 of `write`, a negative number that is
/// neither TOWLINE_WOULD_BLOCK nor TOWLINE_BROKEN) ends the session with an error, whenever it
/// happens, which names the function and the number; so does an `*exit` that no process ends with,
/// unless the host was closing the session. TOWLINE_BROKEN is an error as well unless `ended` tells
/// how the CLI ended or the host was closing.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct towline_transport {
    /// sizeof(towline_transport), so that members can be added.
    pub size: usize,
    /// Whether the CLI is started by `open`, with every option: then it gets a launch.
    /// `"watchdog"` and `"processGroup"` are its own to see to. Otherwise the CLI runs already, or is
    /// started in some other way: options that only a command line or the environment can carry have
    /// no effect, and a TOWLINE_DIAGNOSTIC names them.
    pub launches: bool,
    /// Opens the stream of a session and returns it for the functions below; NULL fails
    /// towline_session_create() with TOWLINE_ERR_START. `launch` is NULL unless `launches` is set.
    /// `waker` is the stream's own from then on, whatever is returned.
    pub open: Option<
        unsafe extern "C" fn(
            user_data: *mut c_void,
            launch: *const towline_launch,
            waker: *mut towline_waker,
        ) -> *mut c_void,
    >,
    /// Reads at most `len` bytes of the CLI's output: how many, 0 at the end,
    /// TOWLINE_WOULD_BLOCK or TOWLINE_BROKEN.
    pub read:
        Option<unsafe extern "C" fn(stream: *mut c_void, buffer: *mut c_void, len: usize) -> isize>,
    /// The same for its stderr. NULL when there is none.
    pub read_stderr:
        Option<unsafe extern "C" fn(stream: *mut c_void, buffer: *mut c_void, len: usize) -> isize>,
    /// Takes at most `len` bytes for the CLI's input, one at least: how many, TOWLINE_WOULD_BLOCK or
    /// TOWLINE_BROKEN.
    pub write: Option<
        unsafe extern "C" fn(stream: *mut c_void, bytes: *const c_void, len: usize) -> isize,
    >,
    /// No more input comes. Called once.
    pub end_input: Option<unsafe extern "C" fn(stream: *mut c_void)>,
    /// The grace after the end of the input has passed: asks the CLI to end, as SIGTERM does. false
    /// when it cannot be asked; `close` then follows at once. NULL is the same.
    pub terminate: Option<unsafe extern "C" fn(stream: *mut c_void) -> bool>,
    /// Ends it for good. Called once, also when the CLI has ended by itself.
    pub close: Option<unsafe extern "C" fn(stream: *mut c_void)>,
    /// Whether it is known how the CLI ended; asked after the end of the output and after `close`.
    /// `*exit` is TOWLINE_NO_EXIT before, `*problem` NULL: they may be set to the exit status, or a
    /// signal's number made negative, and to what went wrong with the stream (a text that stays valid
    /// until `free`). Until it is known the session waits, for its graces at most. NULL: nothing is
    /// ever known.
    pub ended: Option<
        unsafe extern "C" fn(
            stream: *mut c_void,
            exit: *mut i64,
            problem: *mut *const c_char,
        ) -> bool,
    >,
    /// Nothing uses the stream any more. NULL for none.
    pub free: Option<unsafe extern "C" fn(stream: *mut c_void)>,
}

/// Functions with the data they are opened with.
pub(crate) struct Opener {
    functions: Functions,
    user_data: UserData,
}

type Read = unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> isize;

/// What a transport has, checked.
#[derive(Clone, Copy)]
struct Functions {
    launches: bool,
    open:
        unsafe extern "C" fn(*mut c_void, *const towline_launch, *mut towline_waker) -> *mut c_void,
    read: Read,
    read_stderr: Option<Read>,
    write: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> isize,
    end_input: unsafe extern "C" fn(*mut c_void),
    terminate: Option<unsafe extern "C" fn(*mut c_void) -> bool>,
    close: unsafe extern "C" fn(*mut c_void),
    ended: Option<unsafe extern "C" fn(*mut c_void, *mut i64, *mut *const c_char) -> bool>,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Functions {
    fn new(transport: towline_transport) -> Result<Functions, Failure> {
        let missing = |name| {
            Failure::new(
                TOWLINE_ERR_ARGUMENT,
                format!("transport: the function {name} is needed, and it is NULL"),
            )
        };
        Ok(Functions {
            launches: transport.launches,
            open: transport.open.ok_or_else(|| missing("open"))?,
            read: transport.read.ok_or_else(|| missing("read"))?,
            read_stderr: transport.read_stderr,
            write: transport.write.ok_or_else(|| missing("write"))?,
            end_input: transport.end_input.ok_or_else(|| missing("end_input"))?,
            terminate: transport.terminate,
            close: transport.close.ok_or_else(|| missing("close"))?,
            ended: transport.ended,
            free: transport.free,
        })
    }
}

impl Opener {
    pub(crate) fn launches(&self) -> bool {
        self.functions.launches
    }

    /// A stream of its own for a session.
    pub(crate) fn stream(self: &Arc<Opener>, launch: Option<&Launch>) -> Result<Stream, Error> {
        Ok(Stream {
            opener: self.clone(),
            launch: launch.map(Exec::new).transpose()?,
            stream: std::ptr::null_mut(),
        })
    }
}

/// A launch in texts of C.
struct Exec {
    argv: Vec<CString>,
    env: Vec<CString>,
    cwd: Option<CString>,
    user: Option<CString>,
}

impl Exec {
    fn new(launch: &Launch) -> Result<Exec, Error> {
        let text = |bytes: &[u8]| {
            let nul = |_| StartError::Transport("a NUL in the command line".into());
            CString::new(bytes).map_err(nul)
        };
        let argv = launch.argv.iter().map(|argument| text(argument.as_bytes()));
        let env = launch.env.iter().map(|(name, value)| {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(value);
            text(pair.as_bytes())
        });
        let cwd = launch
            .cwd
            .as_ref()
            .map(|cwd| text(cwd.as_os_str().as_bytes()));
        let user = launch.user.as_ref().map(|user| text(user.as_bytes()));
        Ok(Exec {
            argv: argv.collect::<Result<_, _>>()?,
            env: env.collect::<Result<_, _>>()?,
            cwd: cwd.transpose()?,
            user: user.transpose()?,
        })
    }

    fn pointers(texts: &[CString]) -> Vec<*const c_char> {
        let end = std::iter::once(std::ptr::null());
        texts.iter().map(|text| text.as_ptr()).chain(end).collect()
    }

    /// Hands it to `open`.
    fn with<T>(&self, open: impl FnOnce(*const towline_launch) -> T) -> T {
        let (argv, env) = (Exec::pointers(&self.argv), Exec::pointers(&self.env));
        let or_null =
            |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
        open(&towline_launch {
            argv: argv.as_ptr(),
            env: env.as_ptr(),
            cwd: or_null(&self.cwd),
            user: or_null(&self.user),
        })
    }
}

/// The stream of one session.
pub(crate) struct Stream {
    opener: Arc<Opener>,
    launch: Option<Exec>,
    /// NULL until it is open.
    stream: *mut c_void,
}

// SAFETY: the header says that the functions run on whatever thread uses the session, one at a time;
// we only hand the pointer on.
unsafe impl Send for Stream {}

/// What C returned for a read or a write. A count above the length is seen where the length is.
fn count(n: isize) -> io::Result<usize> {
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) if n == TOWLINE_WOULD_BLOCK => Err(io::ErrorKind::WouldBlock.into()),
        Err(_) if n == TOWLINE_BROKEN => Err(io::Error::other("TOWLINE_BROKEN")),
        Err(_) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("returned {n}, which is neither a count nor TOWLINE_WOULD_BLOCK ({TOWLINE_WOULD_BLOCK}) nor TOWLINE_BROKEN ({TOWLINE_BROKEN})"),
        )),
    }
}

impl Transport for Stream {
    fn start(&mut self, waker: Waker) -> io::Result<()> {
        let waker = handle::create(waker);
        let open = |launch| {
            // SAFETY: the host's function with its own data and a handle that is its own now.
            unsafe { (self.opener.functions.open)(self.opener.user_data.pointer(), launch, waker) }
        };
        self.stream = match self.launch.take() {
            Some(launch) => launch.with(open),
            None => open(std::ptr::null()),
        };
        match self.stream.is_null() {
            true => Err(io::Error::other("the function open has returned NULL")),
            false => Ok(()),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.opener.functions.read;
        // SAFETY: the host's function with its stream and room of this length.
        count(unsafe { read(self.stream, buffer.as_mut_ptr().cast(), buffer.len()) })
    }

    fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(read) = self.opener.functions.read_stderr else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        // SAFETY: as for `read`.
        count(unsafe { read(self.stream, buffer.as_mut_ptr().cast(), buffer.len()) })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let write = self.opener.functions.write;
        // SAFETY: the host's function with its stream and bytes of this length.
        count(unsafe { write(self.stream, bytes.as_ptr().cast(), bytes.len()) })
    }

    fn end_input(&mut self) {
        if !self.stream.is_null() {
            // SAFETY: the host's function with its stream.
            unsafe { (self.opener.functions.end_input)(self.stream) };
        }
    }

    fn terminate(&mut self) -> bool {
        match self.opener.functions.terminate {
            // SAFETY: as for `end_input`.
            Some(terminate) => unsafe { terminate(self.stream) },
            None => false,
        }
    }

    fn close(&mut self) {
        if !self.stream.is_null() {
            // SAFETY: as for `end_input`.
            unsafe { (self.opener.functions.close)(self.stream) };
        }
    }

    fn ended(&mut self) -> Option<TransportEnd> {
        let Some(ended) = self.opener.functions.ended else {
            return Some(TransportEnd::default());
        };
        let mut exit = TOWLINE_NO_EXIT;
        let mut problem = std::ptr::null();
        // SAFETY: as for `end_input`, with room for the results.
        if !unsafe { ended(self.stream, &mut exit, &mut problem) } {
            return None;
        }
        let problem = (!problem.is_null()).then(|| {
            // SAFETY: not null; that it is a terminated text is what the header asks for.
            let text = unsafe { CStr::from_ptr(problem) };
            text.to_string_lossy().into_owned()
        });
        let (exit, impossible) = match i32::try_from(exit) {
            _ if exit == TOWLINE_NO_EXIT => (None, None),
            Ok(code @ 0..) => (Some(Exit::Code(code)), None),
            Ok(signal @ LAST_SIGNAL..) => (Some(Exit::Signal(-signal)), None),
            _ => (None, Some(format!("its function ended set *exit to {exit}, which is neither an exit status nor a signal's number made negative"))),
        };
        let error = match (impossible, problem) {
            (Some(impossible), Some(problem)) => Some(format!("{impossible}; {problem}")),
            (impossible, problem) => impossible.or(problem),
        };
        Some(TransportEnd { exit, error })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(free) = self
            .opener
            .functions
            .free
            .filter(|_| !self.stream.is_null())
        {
            // SAFETY: the host's function with its stream, once.
            unsafe { free(self.stream) };
        }
    }
}

/// Has sessions run over a stream of the host in the place of a CLI that they start themselves.
/// `transport` is copied; each session opens a stream of its own. NULL goes back to a CLI.
///
/// Errors: TOWLINE_ERR_ARGUMENT when a function is missing that may not be NULL, or `size` is none
/// that this library knows.
#[no_mangle]
pub unsafe extern "C" fn towline_options_set_transport(
    options: *mut towline_options,
    transport: *const towline_transport,
    user_data: *mut c_void,
    finalize: towline_finalize,
    error: *mut *mut towline_error,
) -> towline_status {
    boundary::call(error, || {
        let options = handle::enter::<Settings>(options)?;
        let opener = match transport.is_null() {
            true => None,
            false => {
                // SAFETY: not null; every version of the struct begins with its size.
                let size = unsafe { transport.cast::<usize>().read() };
                if size != std::mem::size_of::<towline_transport>() {
                    return Err(Failure::new(
                        TOWLINE_ERR_ARGUMENT,
                        format!("transport: {size} bytes is the size of none that is known"),
                    ));
                }
                // SAFETY: the size says that it is one of this version.
                let functions = Functions::new(unsafe { transport.read() })?;
                Some(Arc::new(Opener {
                    functions,
                    user_data: UserData::new(user_data, finalize),
                }))
            }
        };
        options.change(|content| Ok(std::mem::replace(&mut content.registered.transport, opener)))
    })
}

/// Says that the stream can be read or written again, or has ended. Never waits; from any thread, in
/// the functions of the transport too. Does nothing after the end of the session.
#[no_mangle]
pub unsafe extern "C" fn towline_waker_wake(waker: *const towline_waker) -> towline_status {
    boundary::call(std::ptr::null_mut(), || {
        handle::enter::<Waker>(waker)?.wake();
        Ok(())
    })
}

/// Frees a waker. NULL is fine.
#[no_mangle]
pub unsafe extern "C" fn towline_waker_free(waker: *mut towline_waker) -> towline_status {
    boundary::call(std::ptr::null_mut(), || handle::free::<Waker>(waker))
}
