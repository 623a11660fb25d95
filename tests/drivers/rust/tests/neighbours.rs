//! Every field case with its output written in other ways that must not matter: one way of all, mixed,
//! or each by itself with `TOWLINE_NEIGHBOURS=all` (`make neighbours`), or those that it names.

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
    let mut passed = true;
    for neighbour in Neighbour::chosen(&[Neighbour::Mixed])? {
        let name = neighbour.name();
        if list {
            println!("{name}: test");
            continue;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let mut suite = Suite::load(&folder)?;
        suite.pick(&words);
        suite.neighbours(neighbour);
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
