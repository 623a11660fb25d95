//! Starting a program with nothing of this one in it but what it is given: its descriptors,
//! environment and folder, no blocked signal, and the signals that end it at their default.
//!
//! `posix_spawn`, since a `fork` of a large host copies its page tables; only for another user
//! there has to be one.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Pid;

/// Signals that have to work for the CLI to end and to see its own children end.
const DEFAULTS: [libc::c_int; 3] = [libc::SIGPIPE, libc::SIGTERM, libc::SIGCHLD];

pub(super) struct Program<'a> {
    /// Absolute.
    pub(super) path: &'a Path,
    pub(super) arguments: &'a [OsString],
    /// The whole environment.
    pub(super) env: &'a [(OsString, OsString)],
    pub(super) cwd: Option<&'a Path>,
    pub(super) own_group: bool,
    /// User and group.
    pub(super) user: Option<(u32, u32)>,
}

impl Program<'_> {
    /// Starts it with these as its stdin, stdout and stderr.
    pub(super) fn start(&self, stdio: [OwnedFd; 3]) -> io::Result<Pid> {
        let raw = match self.user {
            None => self.spawn(stdio),
            Some(user) => self.fork(stdio, user),
        }?;
        Pid::from_raw(raw).ok_or_else(|| io::Error::other("a process without an id"))
    }

    fn spawn(&self, stdio: [OwnedFd; 3]) -> io::Result<libc::pid_t> {
        let path = text(self.path.as_os_str())?;
        let mut argv = vec![path.clone()];
        for argument in self.arguments {
            argv.push(text(argument)?);
        }
        let mut env = Vec::with_capacity(self.env.len());
        for (name, value) in self.env {
            let mut entry = name.clone();
            entry.push("=");
            entry.push(value);
            env.push(text(&entry)?);
        }
        let cwd = self.cwd.map(|cwd| text(cwd.as_os_str())).transpose()?;
        let stdio = above_the_standard_ones(stdio)?;

        let mut actions = FileActions::new()?;
        for (fd, number) in stdio.iter().zip(0..) {
            actions.duplicate(fd, number)?;
        }
        if let Some(cwd) = &cwd {
            actions.change_folder(cwd)?;
        }
        let attributes = Attributes::new(self.own_group)?;
        let mut pid = 0;
        // SAFETY: all pointers are to NUL-terminated strings or NULL-terminated lists of them, or to
        // initialised objects, and outlive the call.
        checked(unsafe {
            libc::posix_spawn(
                &mut pid,
                path.as_ptr(),
                &actions.0,
                &attributes.0,
                pointers(&argv).as_ptr(),
                pointers(&env).as_ptr(),
            )
        })?;
        Ok(pid)
    }

    fn fork(&self, stdio: [OwnedFd; 3], (uid, gid): (u32, u32)) -> io::Result<libc::pid_t> {
        let [stdin, stdout, stderr] = stdio;
        let mut command = Command::new(self.path);
        command
            .args(self.arguments)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::from(stdout))
            .stderr(Stdio::from(stderr))
            .uid(uid)
            .gid(gid);
        if self.own_group {
            command.process_group(0);
        }
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        // SAFETY: it only makes system calls that are allowed between fork and exec.
        unsafe { command.pre_exec(reset_signals) };
        Ok(command.spawn()?.id() as libc::pid_t)
    }
}

fn reset_signals() -> io::Result<()> {
    let none = set_of(&[]);
    // SAFETY: the set is initialised; default actions run no code of ours.
    unsafe {
        checked(libc::pthread_sigmask(
            libc::SIG_SETMASK,
            &none,
            std::ptr::null_mut(),
        ))?;
        for signal in DEFAULTS {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    Ok(())
}

fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes())
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in an argument"))
}

fn pointers(texts: &[CString]) -> Vec<*mut libc::c_char> {
    let pointers = texts.iter().map(|text| text.as_ptr().cast_mut());
    pointers.chain([std::ptr::null_mut()]).collect()
}

/// A host with closed standard descriptors gets their numbers for others, which would overwrite
/// one another.
fn above_the_standard_ones(stdio: [OwnedFd; 3]) -> io::Result<[OwnedFd; 3]> {
    let above = |fd: OwnedFd| match fd.as_raw_fd() {
        0..=2 => rustix::io::fcntl_dupfd_cloexec(fd.as_fd(), 3),
        _ => Ok(fd),
    };
    let [stdin, stdout, stderr] = stdio;
    Ok([above(stdin)?, above(stdout)?, above(stderr)?])
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    // SAFETY: sigset_t is plain data, and the set is initialised before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        set
    }
}

/// These functions return the error's number.
fn checked(status: libc::c_int) -> io::Result<()> {
    match status {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new() -> io::Result<FileActions> {
        // SAFETY: plain data, initialised by the call; it is not moved between that and its use in
        // a way that matters, since it holds no pointers to itself.
        unsafe {
            let mut actions = std::mem::zeroed();
            checked(libc::posix_spawn_file_actions_init(&mut actions))?;
            Ok(FileActions(actions))
        }
    }

    fn duplicate(&mut self, fd: &OwnedFd, number: libc::c_int) -> io::Result<()> {
        // SAFETY: initialised by `new`; the descriptor is open.
        checked(unsafe {
            libc::posix_spawn_file_actions_adddup2(&mut self.0, fd.as_raw_fd(), number)
        })
    }

    fn change_folder(&mut self, path: &CString) -> io::Result<()> {
        // SAFETY: initialised by `new`; the path is NUL-terminated and copied.
        checked(unsafe { libc::posix_spawn_file_actions_addchdir_np(&mut self.0, path.as_ptr()) })
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, and not used afterwards.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new(own_group: bool) -> io::Result<Attributes> {
        let mut flags = libc::POSIX_SPAWN_SETSIGMASK | libc::POSIX_SPAWN_SETSIGDEF;
        if own_group {
            flags |= libc::POSIX_SPAWN_SETPGROUP;
        }
        // SAFETY: plain data, initialised by the first call before the others use it; the sets are
        // initialised and copied.
        unsafe {
            let mut attributes = std::mem::zeroed();
            checked(libc::posix_spawnattr_init(&mut attributes))?;
            let mut attributes = Attributes(attributes);
            checked(libc::posix_spawnattr_setpgroup(&mut attributes.0, 0))?;
            checked(libc::posix_spawnattr_setsigmask(
                &mut attributes.0,
                &set_of(&[]),
            ))?;
            checked(libc::posix_spawnattr_setsigdefault(
                &mut attributes.0,
                &set_of(&DEFAULTS),
            ))?;
            checked(libc::posix_spawnattr_setflags(
                &mut attributes.0,
                flags as libc::c_short,
            ))?;
            Ok(attributes)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, and not used afterwards.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}
