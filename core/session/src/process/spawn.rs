//! Starting the CLI: no shell, nothing inherited by accident, and an error that names the reason.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};
use rustix::net::{socketpair, AddressFamily, SocketFlags, SocketType};
use rustix::pipe::{pipe_with, PipeFlags};

use super::child::Child;
use super::exec::Program;
use super::tree::MARK;
use super::watchdog::{Process as WatchdogProcess, Watchdog};
use crate::error::StartError;

/// What to start.
#[derive(Debug)]
pub(crate) struct Start {
    /// A launcher's argv prefix, then the executable, then its arguments.
    pub(crate) argv: Vec<OsString>,
    /// The whole environment.
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: Option<PathBuf>,
    /// A user name or number to run as.
    pub(crate) user: Option<String>,
    pub(crate) own_group: bool,
    pub(crate) watchdog: Option<Watchdog>,
    /// Removed by the watchdog when the host cannot do it any more.
    pub(crate) private_folder: Option<PathBuf>,
}

/// A started process and our ends of its pipes.
#[derive(Debug)]
pub(crate) struct Spawned {
    pub(crate) child: Child,
    /// A socket: writing to it never raises SIGPIPE.
    pub(crate) stdin: OwnedFd,
    /// Non-blocking.
    pub(crate) stdout: OwnedFd,
    /// Non-blocking.
    pub(crate) stderr: OwnedFd,
    pub(crate) watchdog: Option<Arc<WatchdogProcess>>,
}

/// Starts the process. Everything is undone when it fails.
pub(crate) fn spawn(start: Start) -> Result<Spawned, StartError> {
    let Some((program, arguments)) = start.argv.split_first() else {
        return Err(StartError::NoProgram);
    };
    if let Some(cwd) = &start.cwd {
        check_folder(cwd)?;
    }
    let path = start
        .env
        .iter()
        .find(|(name, _)| name == "PATH")
        .map(|(_, value)| value.clone());
    let program = resolve(program.as_ref(), path, start.cwd.as_deref())?;
    let watchdog = match start.watchdog {
        None => None,
        Some(watchdog) => Some(watchdog.start().map_err(StartError::Watchdog)?),
    };
    let mark = uuid::Uuid::new_v4().simple().to_string();

    let pipes = |error: rustix::io::Errno| StartError::Pipes(error.into());
    let (stdin, their_stdin) = socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(pipes)?;
    let (stdout, their_stdout) = pipe_with(PipeFlags::CLOEXEC).map_err(pipes)?;
    let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC).map_err(pipes)?;
    for ours in [&stdout, &stderr] {
        let flags = fcntl_getfl(ours.as_fd()).map_err(pipes)?;
        fcntl_setfl(ours.as_fd(), flags | OFlags::NONBLOCK).map_err(pipes)?;
    }

    let mut env = start.env;
    env.retain(|(name, _)| name != MARK);
    env.push((MARK.into(), mark.clone().into()));
    let pid = Program {
        path: &program,
        arguments,
        env: &env,
        cwd: start.cwd.as_deref(),
        own_group: start.own_group,
        user: start.user.as_deref().map(account).transpose()?,
    }
    .start([their_stdin, their_stdout, their_stderr])
    .map_err(|error| why_not(&program, start.cwd.as_deref(), error))?;
    let child = Child::new(pid, start.own_group, mark.clone());
    if let Some(watchdog) = &watchdog {
        // One that has died cannot look after anybody; the session itself still does.
        let _ = watchdog.watch(child.id(), &mark, start.private_folder.as_deref());
    }
    Ok(Spawned {
        child,
        stdin,
        stdout,
        stderr,
        watchdog,
    })
}

pub(crate) fn check_folder(cwd: &Path) -> Result<(), StartError> {
    match std::fs::metadata(cwd) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(StartError::CwdNotAFolder { path: cwd.into() }),
        Err(error) => Err(StartError::CwdMissing {
            path: cwd.into(),
            error,
        }),
    }
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The program's path: one with a slash as it stands, a bare name by PATH.
fn resolve(
    program: &Path,
    path: Option<OsString>,
    cwd: Option<&Path>,
) -> Result<PathBuf, StartError> {
    if program.as_os_str().is_empty() {
        return Err(StartError::NoProgram);
    }
    if program.components().count() == 1 && !program.is_absolute() && !program.starts_with(".") {
        let folders: Vec<PathBuf> = path
            .as_ref()
            .map(std::env::split_paths)
            .into_iter()
            .flatten()
            .collect();
        return folders
            .iter()
            .map(|folder| folder.join(program))
            .find(|candidate| is_executable(candidate))
            .map(|found| std::path::absolute(&found).unwrap_or(found))
            .ok_or_else(|| StartError::NotFound {
                path: program.into(),
            });
    }
    let seen = match cwd {
        Some(cwd) if program.is_relative() => cwd.join(program),
        _ => program.into(),
    };
    match std::fs::metadata(&seen) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(StartError::NotExecutable {
                path: seen,
                reason: "a folder on its path may not be searched".into(),
            })
        }
        Err(_) => Err(StartError::NotFound { path: seen }),
        Ok(found) if found.is_dir() => Err(StartError::NotExecutable {
            path: seen,
            reason: "it is a folder".into(),
        }),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => Err(StartError::NotExecutable {
            path: seen,
            reason: "it has no permission to be executed; chmod +x gives it".into(),
        }),
        // It is started from the CLI's folder.
        Ok(_) => Ok(std::path::absolute(&seen).unwrap_or(seen)),
    }
}

/// The reason behind an error of spawn, which says ENOENT for three different things.
fn why_not(program: &Path, cwd: Option<&Path>, error: io::Error) -> StartError {
    if let Some(Err(found)) = cwd.map(check_folder) {
        return found;
    }
    let not_executable = |reason: String| StartError::NotExecutable {
        path: program.into(),
        reason,
    };
    match error.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => match interpreter(program) {
            Some(interpreter) => StartError::InterpreterMissing {
                path: program.into(),
                interpreter,
            },
            None => not_executable("its dynamic loader is missing on this system".into()),
        },
        Some(libc::ENOENT) => StartError::NotFound {
            path: program.into(),
        },
        Some(libc::EACCES) => not_executable("this user may not execute it".into()),
        Some(libc::ENOEXEC) => not_executable(
            "it is neither a program for this machine nor a script with a #! line".into(),
        ),
        Some(libc::ETXTBSY) => not_executable("it is being written".into()),
        Some(libc::E2BIG) => StartError::ArgumentsTooLong { error },
        _ => StartError::Spawn {
            path: program.into(),
            error,
        },
    }
}

/// The interpreter on a script's `#!` line.
pub(crate) fn interpreter(program: &Path) -> Option<String> {
    use std::io::Read;
    let mut start = [0; 256];
    let mut file = std::fs::File::open(program).ok()?;
    let n = file.read(&mut start).ok()?;
    let line = start.get(..n)?.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).trim().into())
}

/// User and group number of a user name or number.
pub(crate) fn account(user: &str) -> Result<(u32, u32), StartError> {
    let unknown = || StartError::UnknownUser { user: user.into() };
    if let Ok(uid) = user.parse() {
        return Ok((uid, uid));
    }
    let name = std::ffi::CString::new(user).map_err(|_| unknown())?;
    let mut buffer = vec![0; 16 * 1024];
    // SAFETY: passwd is plain data, for which all zeros is a valid value.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: all pointers are valid for the call, the length is the buffer's own, and of `entry`
    // only the numbers are read afterwards.
    let status = unsafe {
        libc::getpwnam_r(
            name.as_ptr(),
            &mut entry,
            buffer.as_mut_ptr(),
            buffer.len(),
            &mut found,
        )
    };
    if status != 0 || found.is_null() {
        return Err(unknown());
    }
    Ok((entry.pw_uid, entry.pw_gid))
}
