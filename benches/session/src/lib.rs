//! What the benchmarks of sessions share: one core, bare processes, ratios.
//!
//! Host and fake CLI run on the same core, and the measured loop and the bare one take turns, so
//! that what is reported, the ratio of each pair, does not depend on what else the machine does.

pub mod bare;

use std::path::PathBuf;

use towline_testkit::Program;

/// Pins this thread, and every process started from it, to the first core it may use.
pub fn pin() -> usize {
    // SAFETY: cpu_set_t is plain data; the pointers are valid for the calls.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of_val(&set);
        assert_eq!(libc::sched_getaffinity(0, size, &mut set), 0);
        let core = (0..libc::CPU_SETSIZE as usize)
            .find(|core| libc::CPU_ISSET(*core, &set))
            .expect("a core to run on");
        libc::CPU_ZERO(&mut set);
        libc::CPU_SET(core, &mut set);
        assert_eq!(libc::sched_setaffinity(0, size, &set), 0);
        core
    }
}

/// The processor and kernel, for the report.
pub fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| {
            Some(
                line.strip_prefix("model name")?
                    .split_once(':')?
                    .1
                    .trim()
                    .to_owned(),
            )
        })
        .unwrap_or_else(|| "unknown processor".into());
    format!(
        "{processor}, Linux {}",
        read("/proc/sys/kernel/osrelease").trim()
    )
}

/// The fake CLI of this profile.
pub fn fake_cli() -> PathBuf {
    match std::env::var_os("BENCH_FAKE_CLI") {
        Some(path) => path.into(),
        None => Program::FakeCli.locate().expect("the fake CLI"),
    }
}

/// As many descriptors as the system lets us have.
pub fn raise_descriptor_limit() {
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit), 0);
        limit.rlim_cur = limit.rlim_max;
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &limit), 0);
    }
}

/// The most memory this process has had, in KiB.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// Prints the ratios of pairs of times and whether their median keeps the bar.
pub fn report(name: &str, pairs: &[(f64, f64)], unit: &str, bar: f64) -> bool {
    let sorted = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values
    };
    let ratios = sorted(pairs.iter().map(|(ours, bare)| ours / bare).collect());
    let middle = pairs.len() / 2;
    let ours = sorted(pairs.iter().map(|(ours, _)| *ours).collect());
    let bare = sorted(pairs.iter().map(|(_, bare)| *bare).collect());
    let kept = ratios[middle] <= bar;
    println!(
        "{name}: ratio min {:.2} median {:.2} max {:.2} (bar {bar}: {}); median {:.2} {unit} against {:.2} {unit}, {} pairs",
        ratios[0],
        ratios[middle],
        ratios[ratios.len() - 1],
        if kept { "kept" } else { "MISSED" },
        ours[middle],
        bare[middle],
        pairs.len(),
    );
    kept
}
