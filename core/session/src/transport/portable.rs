//! A CLI started with nothing but what the standard library has on every system: threads that read
//! and write its pipes.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{host_pipe, HostEnd, HostTransport, Launch, TransportEnd};
use crate::error::{Error, StartError};
use crate::process::{check_folder, interpreter, Exit};

/// How often a process is looked at that has no reason to end.
const LOOK: Duration = Duration::from_millis(200);
/// How often one that is about to end.
const LOOK_CLOSELY: Duration = Duration::from_millis(5);
/// Output that is this long silent after the exit is held open by a descendant, and over.
const QUIET: Duration = Duration::from_secs(1);
/// And so is output that goes on for more bytes than the process can have left in a pipe.
const LARGEST_PIPE: usize = 1024 * 1024;

/// What the threads of a process share.
struct Process {
    end: HostEnd,
    state: Mutex<State>,
    /// Something changed: at the session, in a thread, in the process.
    changed: Arc<Signal>,
}

struct State {
    /// Pipes that are still read.
    open: usize,
    heard: Instant,
    /// Bytes that were read, from the exit on.
    read: usize,
}

/// A count of changes that can be waited for.
#[derive(Default)]
struct Signal {
    count: Mutex<u64>,
    condition: Condvar,
}

impl Signal {
    fn tell(&self) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.condition.notify_all();
    }

    fn seen(&self) -> u64 {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change after `seen`.
    fn wait(&self, seen: u64, limit: Option<Duration>) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let unchanged = |count: &mut u64| *count == seen;
        // Whoever waits looks again, whatever it was woken for.
        match limit {
            None => drop(self.condition.wait_while(count, unchanged)),
            Some(limit) => drop(self.condition.wait_timeout_while(count, limit, unchanged)),
        }
    }
}

/// Starts the CLI. The process is in the host's own group, has no watchdog, and is ended without a
/// question: there is no portable way to have more.
pub(crate) fn start(launch: Launch) -> Result<HostTransport, Error> {
    let Some((program, arguments)) = launch.argv.split_first() else {
        return Err(StartError::NoProgram.into());
    };
    if launch.user.is_some() {
        let text = "option user: another user's process cannot be started in a portable way";
        return Err(StartError::Transport(text.into()).into());
    }
    if let Some(cwd) = &launch.cwd {
        check_folder(cwd)?;
    }
    let program = resolve(program.as_ref(), launch.cwd.as_deref());
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(cwd) = &launch.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn().map_err(|error| why_not(&program, error))?;

    let (end, transport) = host_pipe();
    let changed = Arc::new(Signal::default());
    let told = changed.clone();
    end.on_change(move || told.tell())?;
    let process = Arc::new(Process {
        end,
        state: Mutex::new(State {
            open: 2,
            heard: Instant::now(),
            read: 0,
        }),
        changed,
    });
    let transport = transport.with_pid(child.id());
    let started = (|| {
        if let Some(stdin) = child.stdin.take() {
            let process = process.clone();
            spawn("towline stdin", move || process.write(stdin))?;
        }
        if let Some(stdout) = child.stdout.take() {
            let process = process.clone();
            spawn("towline stdout", move || process.read_output(stdout))?;
        }
        if let Some(stderr) = child.stderr.take() {
            let process = process.clone();
            spawn("towline stderr", move || process.read_stderr(stderr))?;
        }
        Ok(())
    })();
    if let Err(error) = started {
        // It may have ended by itself; either way it is reaped.
        let _ = child.kill();
        let _ = child.wait();
        return Err(StartError::Pipes(error).into());
    }
    let waiting = spawn("towline wait", move || process.wait(child));
    waiting.map_err(StartError::Pipes)?;
    Ok(transport)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let builder = thread::Builder::new().name(name.into());
    builder.stack_size(128 * 1024).spawn(run).map(drop)
}

/// A path is one in the CLI's folder; a bare name is looked up by the system.
fn resolve(program: &Path, cwd: Option<&Path>) -> PathBuf {
    match cwd {
        Some(cwd) if program.is_relative() && program.components().count() > 1 => cwd.join(program),
        _ => program.into(),
    }
}

fn why_not(program: &Path, error: std::io::Error) -> StartError {
    let path: PathBuf = program.into();
    #[cfg(unix)]
    let no_program = error.raw_os_error() == Some(libc::ENOEXEC);
    #[cfg(not(unix))]
    let no_program = false;
    let not_executable = |reason: String| StartError::NotExecutable {
        path: path.clone(),
        reason,
    };
    match error.kind() {
        ErrorKind::NotFound if program.is_file() => match interpreter(program) {
            Some(interpreter) => StartError::InterpreterMissing { path, interpreter },
            None => not_executable("its dynamic loader is missing on this system".into()),
        },
        ErrorKind::NotFound => StartError::NotFound { path },
        ErrorKind::PermissionDenied if program.is_dir() => not_executable("it is a folder".into()),
        ErrorKind::PermissionDenied => not_executable(
            "this user may not execute it; on Unix chmod +x gives the permission".into(),
        ),
        _ if no_program => not_executable(
            "it is neither a program for this machine nor a script with a #! line".into(),
        ),
        ErrorKind::ArgumentListTooLong => StartError::ArgumentsTooLong { error },
        _ => StartError::Spawn { path, error },
    }
}

impl Process {
    /// Writes what the session has to say, until its input ends.
    fn write(&self, mut stdin: ChildStdin) {
        without_sigpipe();
        loop {
            let seen = self.changed.seen();
            if let Some(bytes) = self.end.take_outgoing() {
                if stdin.write_all(&bytes).is_err() {
                    // The session has ended, then: nothing is lost.
                    let _ = self.end.lose_input();
                    return;
                }
                continue;
            }
            if self.end.input_ended() || self.end.is_closed() {
                return;
            }
            self.changed.wait(seen, None);
        }
    }

    fn read_output(&self, mut stdout: impl Read) {
        let room = || self.end.wants_more();
        self.read(&mut stdout, |bytes| self.end.feed(bytes), room);
        // In a forked child nothing of this runs.
        let _ = self.end.end_output();
    }

    fn read_stderr(&self, mut stderr: impl Read) {
        let room = || self.end.wants_more_stderr();
        self.read(&mut stderr, |bytes| self.end.feed_stderr(bytes), room);
    }

    /// Reads to the end, or until nobody takes it any more.
    fn read(
        &self,
        from: &mut impl Read,
        feed: impl Fn(&[u8]) -> Result<bool, Error>,
        room: impl Fn() -> bool,
    ) {
        let mut buffer = [0; 32 * 1024];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    self.change(|state| {
                        state.heard = Instant::now();
                        state.read = state.read.saturating_add(n);
                    });
                    match feed(buffer.get(..n).unwrap_or_default()) {
                        Ok(true) => {}
                        Ok(false) => self.wait_for_room(&room),
                        Err(_) => break,
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.change(|state| state.open -= 1);
        self.changed.tell();
    }

    fn wait_for_room(&self, room: &impl Fn() -> bool) {
        loop {
            let seen = self.changed.seen();
            if room() || self.end.is_closed() {
                return;
            }
            self.changed.wait(seen, None);
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks after the process until it has ended and everything it wrote was read.
    fn wait(&self, mut child: Child) {
        let mut killed = false;
        let exit = loop {
            let seen = self.changed.seen();
            match child.try_wait() {
                Ok(Some(status)) => break exit(status),
                Ok(None) => {}
                Err(_) => break Exit::Unknown,
            }
            if self.end.is_closed() && !killed {
                killed = true;
                // It may have ended in the meantime.
                let _ = child.kill();
            }
            let ending = killed || self.change(|state| state.open < 2) || self.end.input_ended();
            self.changed
                .wait(seen, Some(if ending { LOOK_CLOSELY } else { LOOK }));
        };
        // What it wrote last may not have been read yet, however long it was silent before.
        self.change(|state| {
            state.heard = Instant::now();
            state.read = 0;
        });
        loop {
            let seen = self.changed.seen();
            let (open, quiet, read) =
                self.change(|state| (state.open, state.heard.elapsed(), state.read));
            // What the session does not take is not silence.
            let room = self.end.wants_more() && self.end.wants_more_stderr();
            let over = (quiet >= QUIET && room) || read > LARGEST_PIPE;
            if open == 0 || self.end.is_closed() || over {
                break;
            }
            self.changed.wait(seen, Some(QUIET));
        }
        // In a forked child nothing of this runs.
        let _ = self.end.finish(TransportEnd::exit(exit));
    }
}

#[cfg(unix)]
fn exit(status: ExitStatus) -> Exit {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

#[cfg(not(unix))]
fn exit(status: ExitStatus) -> Exit {
    status.code().map_or(Exit::Unknown, Exit::Code)
}

/// On Unix a pipe that nobody reads would end a host that has left SIGPIPE alone. The mask is this
/// thread's own, and what is pending ends with it.
#[cfg(unix)]
fn without_sigpipe() {
    // SAFETY: sigset_t is plain data; the pointers are valid for the calls.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}

#[cfg(not(unix))]
fn without_sigpipe() {}
