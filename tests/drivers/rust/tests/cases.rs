//! Every field case through crate `towline`. Arguments pick cases by a part of their id, kind or title.

use std::process::ExitCode;

use towline_testkit::cases::{exit_code, Arguments, Host, Way};
use towline_testkit::Program;

/// How many cases run at once: most of their time they wait.
const JOBS: usize = 4;

/// The host ends without a close: only a watchdog ends a CLI that does not mind the end of its
/// input, and a portable session has none.
const NEEDS_A_WATCHDOG: &[&str] = &["C154"];

fn main() -> ExitCode {
    exit_code(run)
}

fn run() -> Result<bool, String> {
    let arguments = Arguments::of_process();
    let awake = arguments.suite()?;
    if arguments.list {
        for case in awake.cases() {
            println!("{}: test", case.id);
        }
        return Ok(true);
    }
    let host = Host::new(
        env!("CARGO_BIN_EXE_case-driver"),
        Program::FakeCli.locate()?,
    );
    let mut asleep = arguments.suite()?;
    asleep.keep(|case| case.has_step("sleep_ms"));
    // What a query reads is read inside it.
    let mut watching = arguments.suite()?;
    watching.keep(|case| case.has_step("connect"));
    let mut portable = arguments.suite()?;
    portable.keep(|case| case.has_step("connect") && !NEEDS_A_WATCHDOG.contains(&case.id.as_str()));
    let ways = [
        ("waiting", None, awake),
        ("asleep", Some("--asleep"), asleep),
        ("event loop", Some("--event-loop"), watching),
        ("portable", Some("--portable"), portable),
    ];
    let ways = ways.map(|(name, flag, suite)| Way {
        name: name.into(),
        host: flag.into_iter().fold(host.clone(), Host::arg),
        suite,
        jobs: JOBS,
    });
    Ok(arguments.run(ways.into(), true))
}
