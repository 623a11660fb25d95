//! One child process: its end, and signals to its group.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{
    kill_process, kill_process_group, pidfd_open, waitid, Pid, PidfdFlags, WaitId, WaitIdOptions,
};

use super::tree;

/// From the last close of a process that ends to its end.
const MOMENT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 10_000_000,
};

/// A signal number of this system.
pub type Signal = i32;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// A signal ended it.
    Signal(Signal),
    /// Somebody else in this program has reaped it (SIGCHLD ignored, `wait` on everything).
    Unknown,
}

impl Exit {
    /// Whether it exited with status 0.
    pub fn success(self) -> bool {
        self == Exit::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exit status {code}"),
            Exit::Signal(signal) => write!(f, "signal {signal}"),
            Exit::Unknown => {
                f.write_str("an unknown status (something else in this program reaped it)")
            }
        }
    }
}

/// A child of ours, in a process group of its own unless that was turned off.
#[derive(Debug)]
pub(crate) struct Child {
    pid: Pid,
    /// Readable when the process has ended; absent on kernels before 5.3.
    pidfd: Option<OwnedFd>,
    own_group: bool,
    /// In the environment of all its descendants.
    mark: String,
    exit: Option<Exit>,
    /// It had children when it was last asked to end.
    has_descendants: bool,
}

impl Child {
    pub(crate) fn new(pid: Pid, own_group: bool, mark: String) -> Child {
        Child {
            pid,
            pidfd: pidfd_open(pid, PidfdFlags::empty()).ok(),
            own_group,
            mark,
            exit: None,
            has_descendants: false,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    pub(crate) fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.pidfd.as_ref().map(AsFd::as_fd)
    }

    /// The process was reaped: its descriptor, which may be watched no more, is closed.
    pub(crate) fn close_pidfd(&mut self) {
        self.pidfd = None;
    }

    /// How it ended, once [`reap`](Child::reap) has seen it.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit
    }

    /// Whether it has ended, without reaping it: its pid and group stay its own until then.
    pub(crate) fn has_ended(&self) -> bool {
        if self.exit.is_some() {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => status.is_some(),
            Err(Errno::INTR) => false,
            Err(_) => true,
        }
    }

    /// Waits a moment for its end: a process that ends has closed its descriptors before that can be seen.
    pub(crate) fn await_end(&self) {
        if let (None, Some(pidfd)) = (self.exit, self.pidfd()) {
            let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
            // Whatever it says, the process tells.
            let _ = poll(&mut fds, Some(&MOMENT));
        }
    }

    /// Reaps it if it has ended. What is left of its group is killed first, while the group's id
    /// cannot have been given to anybody else.
    pub(crate) fn reap(&mut self) -> Option<Exit> {
        if self.exit.is_none() && self.has_ended() {
            if self.own_group {
                // An empty group is no error here.
                let _ = kill_process_group(self.pid, rustix::process::Signal::KILL);
            }
            let exit = self.wait();
            if self.has_descendants || !matches!(exit, Exit::Code(_)) {
                tree::kill_marked(&self.mark);
            }
            self.exit = Some(exit);
        }
        self.exit
    }

    fn wait(&self) -> Exit {
        loop {
            match waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED) {
                Ok(Some(status)) => {
                    return match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => Exit::Code(code),
                        (None, Some(signal)) => Exit::Signal(signal),
                        (None, None) => Exit::Unknown,
                    }
                }
                Err(Errno::INTR) => {}
                Ok(None) | Err(_) => return Exit::Unknown,
            }
        }
    }

    /// Notes whether the process has children, which may outlive it in groups of their own.
    pub(crate) fn note_descendants(&mut self) {
        if self.exit.is_none() {
            self.has_descendants |= tree::has_children(self.pid);
        }
    }

    /// Asks the group to end: SIGTERM.
    pub(crate) fn terminate(&mut self) {
        self.note_descendants();
        self.signal(rustix::process::Signal::TERM);
    }

    /// Ends the group and every marked descendant: SIGKILL.
    pub(crate) fn kill(&mut self) {
        if self.exit.is_some() {
            return;
        }
        self.note_descendants();
        self.signal(rustix::process::Signal::KILL);
        if self.has_descendants {
            tree::kill_marked(&self.mark);
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if self.exit.is_some() {
            return;
        }
        // It may have ended in the meantime: then there is nothing to do.
        let _ = match self.own_group {
            true => kill_process_group(self.pid, signal),
            false => kill_process(self.pid, signal),
        };
    }
}
