//! Every field case through crate `towline`. Arguments pick cases by a part of their id, kind or title.

use std::path::Path;
use std::process::ExitCode;

use towline_testkit::cases::{told, Host, Suite};
use towline_testkit::Program;

/// How many cases run at once: most of their time they wait.
const JOBS: usize = 4;

/// The host ends without a close: only a watchdog ends a CLI that does not mind the end of its
/// input, and a portable session has none.
const NEEDS_A_WATCHDOG: &[&str] = &["C154"];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, String> {
    let (flags, words): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with('-'));
    let suite = || {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let mut suite = Suite::load(&folder)?;
        suite.pick(&words);
        Ok::<_, String>(suite)
    };
    let awake = suite()?;
    if flags.iter().any(|flag| flag == "--list") {
        for case in awake.cases() {
            println!("{}: test", case.id);
        }
        return Ok(true);
    }
    let host = Host::new(
        env!("CARGO_BIN_EXE_case-driver"),
        Program::FakeCli.locate()?,
    );
    let mut asleep = suite()?;
    asleep.keep(|case| case.has_step("sleep_ms"));
    // What a query reads is read inside it.
    let mut watching = suite()?;
    watching.keep(|case| case.has_step("connect"));
    let mut portable = suite()?;
    portable.keep(|case| case.has_step("connect") && !NEEDS_A_WATCHDOG.contains(&case.id.as_str()));
    let mut reports = Vec::new();
    for (how, flag, suite) in [
        ("waiting", None, awake),
        ("asleep", Some("--asleep"), asleep),
        ("event loop", Some("--event-loop"), watching),
        ("portable", Some("--portable"), portable),
    ] {
        let host = flag.into_iter().fold(host.clone(), Host::arg);
        let report = suite.run(&host, JOBS, |case, verdict| {
            println!("{}", told(case, how, verdict));
        });
        reports.push((how, report));
    }
    for (how, report) in &reports {
        println!("{how}: {report}");
    }
    Ok(reports.iter().all(|(_, report)| report.failed.is_empty()))
}
