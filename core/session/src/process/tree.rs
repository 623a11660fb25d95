//! The descendants of a CLI. Its shells run in sessions of their own, out of reach of a signal to
//! its group, so they are found by a mark in their environment.

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

/// Kills every process that carries `MARK=mark` in its environment. Only Linux lets one look.
pub(super) fn kill_marked(mark: &str) {
    let wanted = format!("{MARK}={mark}");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return;
    };
    let own = rustix::process::getpid();
    for process in processes.flatten() {
        let name = process.file_name();
        let Some(pid) = name
            .to_str()
            .and_then(|name| name.parse().ok())
            .and_then(Pid::from_raw)
        else {
            continue;
        };
        if pid == own {
            continue;
        }
        let Ok(environment) = std::fs::read(process.path().join("environ")) else {
            continue;
        };
        if environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted.as_bytes())
        {
            // It may have ended since.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
