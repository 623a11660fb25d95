//! Processes on this machine, as `/proc` tells of them.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, pidfd_send_signal, Pid, PidfdFlags, Signal};

/// The variable that marks a CLI and everything it starts.
const MARK: &str = "TOWLINE_SESSION";

/// The mark of the session that a process belongs to.
pub fn mark_of(pid: u32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{MARK}=");
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let entry = std::str::from_utf8(entry).ok()?;
        entry.strip_prefix(&prefix).map(String::from)
    })
}

/// All running processes that carry this mark.
pub fn marked(mark: &str) -> BTreeSet<u32> {
    all()
        .filter(|pid| mark_of(*pid).as_deref() == Some(mark))
        .collect()
}

/// All descendants of a process.
pub fn descendants(pid: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open = vec![pid];
    while let Some(pid) = open.pop() {
        let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for task in tasks.flatten() {
            let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
            for child in children
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok())
            {
                if found.insert(child) {
                    open.push(child);
                }
            }
        }
    }
    found
}

/// The one of these processes that has this text on its command line.
pub fn running(pids: &BTreeSet<u32>, text: &str) -> Option<u32> {
    pids.iter().copied().find(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    })
}

/// Processes whose end can be waited for, whoever their parent is.
#[derive(Debug)]
pub struct Watched(Vec<(u32, OwnedFd)>);

impl Watched {
    /// Those of these that are running.
    pub fn new(pids: impl IntoIterator<Item = u32>) -> Watched {
        let opened = pids.into_iter().filter_map(|pid| {
            let raw = Pid::from_raw(i32::try_from(pid).ok()?)?;
            Some((pid, pidfd_open(raw, PidfdFlags::empty()).ok()?))
        });
        Watched(opened.collect())
    }

    /// Ends all of them: SIGKILL.
    pub fn kill(&self) {
        for (_, fd) in &self.0 {
            // One that has ended needs no signal.
            let _ = pidfd_send_signal(fd, Signal::KILL);
        }
    }

    /// Waits until all have ended; those that have not when the time is up.
    pub fn survivors(&self, limit: Duration) -> Vec<u32> {
        let until = Instant::now() + limit;
        let survives = |fd: &OwnedFd| {
            let left = until.saturating_duration_since(Instant::now());
            let left = Timespec::try_from(left).expect("a limit of seconds");
            let mut fds = [PollFd::new(fd, PollFlags::IN)];
            poll(&mut fds, Some(&left)).expect("a process can be waited for") == 0
        };
        let survivors = self.0.iter().filter(|(_, fd)| survives(fd));
        survivors.map(|(pid, _)| *pid).collect()
    }
}

fn all() -> impl Iterator<Item = u32> {
    let folder = fs::read_dir("/proc").expect("/proc can be read");
    folder
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
