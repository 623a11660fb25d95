//! Every field case with its output written in other ways that must not matter, and everything that a
//! CLI can send at every moment of a session: one way of all, mixed, and a session that waits; or each by
//! itself, and in an event loop and with the standard library alone, with `TOWLINE_NEIGHBOURS=all`
//! (`make neighbours`); or the ways that it names.

use std::path::Path;
use std::process::ExitCode;

use towline_testkit::cases::{told, Host, Neighbour, Suite, Verdict};
use towline_testkit::Program;

/// How many cases run at once: most of their time they wait.
const JOBS: usize = 6;

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
    let list = flags.iter().any(|flag| flag == "--list");
    let host = Host::new(
        env!("CARGO_BIN_EXE_case-driver"),
        Program::FakeCli.locate()?,
    );
    let chosen = Neighbour::chosen()?;
    let all = chosen.as_deref() == Some(Neighbour::ALL.as_slice());
    let mut runs = Vec::new();
    for (name, flag, wanted) in [
        ("moments", None, all || chosen.is_none()),
        ("moments, event loop", Some("--event-loop"), all),
        ("moments, portable", Some("--portable"), all),
    ] {
        if wanted {
            let mut suite = Suite::moments(true)?;
            if flag.is_some() {
                // What a query reads is read inside it.
                suite.keep(|case| case.has_step("connect"));
            }
            let host = flag.into_iter().fold(host.clone(), Host::arg);
            runs.push((name.to_owned(), host, suite));
        }
    }
    for neighbour in chosen.unwrap_or_else(|| vec![Neighbour::Mixed]) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let mut suite = Suite::load(&folder)?;
        suite.neighbours(neighbour);
        runs.push((neighbour.name(), host.clone(), suite));
    }
    let mut passed = true;
    for (name, host, mut suite) in runs {
        if list {
            println!("{name}: test");
            continue;
        }
        suite.pick(&words);
        let report = suite.run(&host, JOBS, |case, verdict| {
            if !verdict.as_ref().is_ok_and(Verdict::passed) {
                println!("{}", told(case, &name, verdict));
            }
        });
        println!("{name}: {report}");
        passed &= report.failed.is_empty() && (report.ran > 0 || !words.is_empty());
    }
    Ok(passed)
}
