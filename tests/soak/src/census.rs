//! What belongs to this process at a moment.

use std::fs;

/// A count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Resident memory, KiB.
    pub memory: u64,
    /// Open descriptors.
    pub descriptors: u64,
    /// Threads.
    pub threads: u64,
    /// Processes that this one has started, directly or not, and those that their parents have left.
    pub processes: u64,
    /// Processes among them that have ended and that nobody has waited for.
    pub zombies: u64,
}

/// Counts now. `mark` is `NAME=VALUE` in the environment of every process of the run.
pub fn census(mark: &str) -> Census {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    let mut census = Census {
        memory: field("VmRSS:"),
        threads: field("Threads:"),
        // The one that reads the folder is not one of them.
        descriptors: fs::read_dir("/proc/self/fd").map_or(0, |found| found.count() as u64) - 1,
        ..Census::default()
    };
    let own = std::process::id();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        if pid == own {
            continue;
        }
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let Some((_, fields)) = stat.rsplit_once(')') else {
            continue;
        };
        let mut fields = fields.split_whitespace();
        let state = fields.next().unwrap_or_default();
        let child = fields.next().and_then(|parent| parent.parse().ok()) == Some(own);
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        if child
            || environment
                .split(|byte| *byte == 0)
                .any(|entry| entry == mark.as_bytes())
        {
            census.processes += 1;
            census.zombies += u64::from(state == "Z");
        }
    }
    census
}

/// Whether a process runs; one that has ended and was not waited for does not.
pub(crate) fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}
