//! The system calls the standard library does not offer, each behind a safe function.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

/// Turns a C return value below zero into the error it stands for.
fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Waits until one of the descriptors is readable (or has ended); tells for each whether it is.
pub(crate) fn wait_readable<const N: usize>(fds: [BorrowedFd<'_>; N]) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    });
    loop {
        // SAFETY: `polled` is an array of N initialised entries whose descriptors are borrowed.
        let result = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, -1) };
        match checked(result) {
            Ok(_) => return Ok(polled.map(|entry| entry.revents != 0)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// `unshare(2)` for the calling thread.
pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no pointers; the flags used here (namespaces) leave memory and descriptors alone.
    checked(unsafe { libc::unshare(flags) }).map(drop)
}

/// Runs the attempt in a child of this process, which must have one thread, and tells how it went.
pub(crate) fn try_in_child(attempt: fn() -> io::Result<()>) -> io::Result<()> {
    // SAFETY: with one thread no lock of another can be held in the child, which only runs the attempt.
    let child = checked(unsafe { libc::fork() })?;
    if child == 0 {
        let code = attempt().map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0);
        // SAFETY: ends the child without running what the parent registered for its own end.
        unsafe { libc::_exit(code) }
    }
    let mut status = 0;
    // SAFETY: `status` is valid memory, and the child is this process's own and has not been waited for.
    while let Err(error) = checked(unsafe { libc::waitpid(child, &mut status, 0) }) {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    match libc::WEXITSTATUS(status) {
        0 if libc::WIFEXITED(status) => Ok(()),
        code if libc::WIFEXITED(status) => Err(io::Error::from_raw_os_error(code)),
        _ => Err(io::Error::other("the attempt was ended by a signal")),
    }
}

/// Moves the calling thread into the network namespace that `fd` refers to.
pub(crate) fn enter_network_namespace(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no pointers; the descriptor is borrowed.
    checked(unsafe { libc::setns(fd.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
}

/// The kernel's id of the calling thread.
pub(crate) fn thread_id() -> libc::pid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

/// Real user and group id of this process.
pub(crate) fn user_and_group() -> (libc::uid_t, libc::gid_t) {
    // SAFETY: both take nothing and cannot fail.
    unsafe { (libc::getuid(), libc::getgid()) }
}

/// Sets the `UP` flag of the loopback interface in the calling thread's network namespace.
pub(crate) fn bring_loopback_up() -> io::Result<()> {
    // SAFETY: no pointers.
    let raw =
        checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    let socket = unsafe { OwnedFd::from_raw_fd(raw) };
    // SAFETY: `ifreq` is plain data for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    // SAFETY: `request` is a valid `ifreq` with a NUL-terminated name; the kernel fills in the flags.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &mut request) })?;
    // SAFETY: SIOCGIFFLAGS has just written this member of the union.
    let flags = unsafe { request.ifr_ifru.ifru_flags };
    request.ifr_ifru.ifru_flags = flags | libc::IFF_UP as libc::c_short;
    // SAFETY: as above; the kernel reads the flags.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &request) }).map(drop)
}

/// The process that SIGTERM and SIGHUP are passed on to; 0 for none.
static PASS_ON_TO: AtomicI32 = AtomicI32::new(0);

/// A signal that came while there was nobody to pass it on to; 0 for none.
static CAME_EARLY: AtomicI32 = AtomicI32::new(0);

extern "C" fn outlive(_signal: libc::c_int) {}

extern "C" fn pass_on(signal: libc::c_int) {
    match PASS_ON_TO.load(Ordering::SeqCst) {
        0 => CAME_EARLY.store(signal, Ordering::SeqCst),
        // SAFETY: kill(2) may be called in a signal handler; the child has not been waited for.
        child => drop(unsafe { libc::kill(child, signal) }),
    }
}

/// Signals that a process which only waits for its child should outlive. A handler, and not an
/// ignored signal, because the child would inherit the latter.
pub(crate) struct OutlivedSignals(());

impl OutlivedSignals {
    /// Leaves alone what this process was started with as ignored.
    pub(crate) fn install() -> io::Result<Self> {
        for (signal, handler) in [
            (libc::SIGINT, outlive as extern "C" fn(libc::c_int)),
            (libc::SIGQUIT, outlive),
            (libc::SIGTERM, pass_on),
            (libc::SIGHUP, pass_on),
        ] {
            // SAFETY: `sigaction` is plain data for which all zeroes is a valid value.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: only the old action is read into valid memory.
            checked(unsafe { libc::sigaction(signal, std::ptr::null(), &mut action) })?;
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: both handlers do nothing that is not allowed in a signal handler.
            checked(unsafe { libc::sigaction(signal, &action, std::ptr::null_mut()) })?;
        }
        Ok(OutlivedSignals(()))
    }

    /// From now on SIGTERM and SIGHUP go to this child; 0 stops that.
    pub(crate) fn pass_on_to(&self, child: u32) {
        let child = libc::pid_t::try_from(child).unwrap_or(0);
        PASS_ON_TO.store(child, Ordering::SeqCst);
        let early = CAME_EARLY.swap(0, Ordering::SeqCst);
        if early != 0 && child != 0 {
            // SAFETY: no pointers; the child has not been waited for.
            unsafe { libc::kill(child, early) };
        }
    }
}

/// Reads what there is; 0 at the end.
pub(crate) fn read(fd: RawFd, buffer: &mut [u8]) -> io::Result<usize> {
    retried(|| {
        // SAFETY: the buffer is valid for its length; a closed descriptor is an error like any other.
        unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len()) }
    })
}

/// Writes all of it, waiting as long as it takes.
pub(crate) fn write_all(fd: RawFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = retried(|| {
            // SAFETY: the bytes are valid for their length; a closed descriptor is an error.
            unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) }
        })?;
        bytes = &bytes[written..];
    }
    Ok(())
}

fn retried(mut call: impl FnMut() -> libc::ssize_t) -> io::Result<usize> {
    loop {
        if let Ok(length) = usize::try_from(call()) {
            return Ok(length);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Closes one of the three standard descriptors, for good.
pub(crate) fn close_standard(fd: RawFd) -> io::Result<()> {
    // SAFETY: nothing in this crate owns the standard descriptors, and a later use of a closed one is
    // an error like any other.
    checked(unsafe { libc::close(fd) }).map(drop)
}

/// The process group of this process.
pub(crate) fn process_group() -> libc::pid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::getpgrp() }
}

/// The number of a signal, by its name such as `SIGTERM`.
pub(crate) fn signal_number(name: &str) -> Option<libc::c_int> {
    Some(match name {
        "SIGHUP" => libc::SIGHUP,
        "SIGINT" => libc::SIGINT,
        "SIGQUIT" => libc::SIGQUIT,
        "SIGILL" => libc::SIGILL,
        "SIGTRAP" => libc::SIGTRAP,
        "SIGABRT" => libc::SIGABRT,
        "SIGBUS" => libc::SIGBUS,
        "SIGFPE" => libc::SIGFPE,
        "SIGKILL" => libc::SIGKILL,
        "SIGUSR1" => libc::SIGUSR1,
        "SIGSEGV" => libc::SIGSEGV,
        "SIGUSR2" => libc::SIGUSR2,
        "SIGPIPE" => libc::SIGPIPE,
        "SIGALRM" => libc::SIGALRM,
        "SIGTERM" => libc::SIGTERM,
        "SIGCHLD" => libc::SIGCHLD,
        "SIGCONT" => libc::SIGCONT,
        "SIGSTOP" => libc::SIGSTOP,
        "SIGTSTP" => libc::SIGTSTP,
        "SIGTTIN" => libc::SIGTTIN,
        "SIGTTOU" => libc::SIGTTOU,
        "SIGXCPU" => libc::SIGXCPU,
        _ => return None,
    })
}

/// From now on this process ignores the signal, and so do those it starts.
pub(crate) fn ignore_signal(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: an ignored signal runs no code.
    checked_handler(unsafe { libc::signal(signal, libc::SIG_IGN) })
}

/// Sends the signal to this process, with its default effect.
pub(crate) fn die_of_signal(signal: libc::c_int) -> io::Result<()> {
    if signal != libc::SIGKILL && signal != libc::SIGSTOP {
        // SAFETY: the default effect runs no code of ours.
        checked_handler(unsafe { libc::signal(signal, libc::SIG_DFL) })?;
    }
    // SAFETY: no pointers; the process is this one.
    checked(unsafe { libc::kill(libc::getpid(), signal) }).map(drop)
}

fn checked_handler(previous: libc::sighandler_t) -> io::Result<()> {
    if previous == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Waits until the child has ended; its id stays its own until it is waited for.
pub(crate) fn wait_without_reaping(child: u32) {
    // SAFETY: `siginfo_t` is plain data for which all zeroes is a valid value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let flags = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: `info` is valid memory. A failure other than an interruption is left to the wait proper.
    while checked(unsafe { libc::waitid(libc::P_PID, child, &mut info, flags) })
        .is_err_and(|error| error.kind() == io::ErrorKind::Interrupted)
    {}
}

/// The state letter of a process; `None` when there is none.
fn process_state(pid: libc::pid_t) -> Option<u8> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in front may hold blanks and parentheses.
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(name_end + 2).copied()
}

/// Whether the process is there and no zombie.
pub(crate) fn is_running(pid: libc::pid_t) -> bool {
    process_state(pid).is_some_and(|state| state != b'Z')
}

/// Whether the process has ended and nobody has waited for it.
pub(crate) fn is_zombie(pid: libc::pid_t) -> bool {
    process_state(pid) == Some(b'Z')
}

/// Ends a process that a test has left behind, if it is still there.
pub(crate) fn kill_leftover(pid: libc::pid_t) {
    if pid > 1 && is_running(pid) {
        // SAFETY: no pointers; a process that is gone meanwhile is an error that does no harm.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Ends the process group that the child was made the leader of.
pub(crate) fn kill_group(child: &std::process::Child) {
    if let Ok(group) = libc::pid_t::try_from(child.id()) {
        // SAFETY: no pointers; the child has not been waited for, so the group is still its own.
        unsafe { libc::kill(-group, libc::SIGKILL) };
    }
}
