//! The descendants of a CLI. Its shells run in sessions of their own, out of reach of a signal to
//! its group, so they are found by a mark in their environment.

use std::collections::BTreeSet;

use rustix::process::{kill_process, Pid, Signal};

/// The environment variable that marks a CLI and everything it starts.
pub(crate) const MARK: &str = "TOWLINE_SESSION";

/// Whether a process has children; `true` when the system does not tell.
pub(super) fn has_children(pid: Pid) -> bool {
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    let Ok(tasks) = std::fs::read_dir(tasks) else {
        return true;
    };
    tasks
        .flatten()
        .any(|task| match std::fs::read(task.path().join("children")) {
            Ok(children) => !children.is_empty(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound || !task.path().exists(),
        })
}

/// How often is looked for what was started while the rest was being killed.
const ROUNDS: usize = 8;

/// Kills every process that carries `MARK=mark` in its environment, and what those start
/// meanwhile. Only Linux lets one look.
pub(super) fn kill_marked(mark: &str) {
    let mut killed = BTreeSet::new();
    for _ in 0..ROUNDS {
        let before = killed.len();
        for pid in marked(mark) {
            // It may have ended since.
            let _ = kill_process(pid, Signal::KILL);
            killed.insert(pid.as_raw_nonzero());
        }
        if killed.len() == before {
            return;
        }
    }
}

/// The other processes that carry this mark.
fn marked(mark: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = rustix::process::getpid();
    let of_the_mark = |process: std::fs::DirEntry| {
        let pid = process.file_name().to_str()?.parse().ok();
        let pid = pid.and_then(Pid::from_raw).filter(|pid| *pid != own)?;
        let environment = std::fs::read(process.path().join("environ")).ok()?;
        let mut entries = environment.split(|byte| *byte == 0);
        entries
            .any(|entry| entry == wanted.as_bytes())
            .then_some(pid)
    };
    processes.flatten().filter_map(of_the_mark).collect()
}
