//! Every field case with its output written in other ways that must not matter: one way of all, mixed,
//! or each by itself with `TOWLINE_NEIGHBOURS=all` (`make neighbours`), or those that it names.

use std::path::Path;
use std::process::ExitCode;

use towline_testkit::cases::{Host, Neighbour, Suite};
use towline_testkit::Program;

/// Chooses the ways: `all`, or names with commas between them.
const WAYS: &str = "TOWLINE_NEIGHBOURS";
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
    for neighbour in ways()? {
        let name = neighbour.name();
        if list {
            println!("{name}: test");
            continue;
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors");
        let mut suite = Suite::load(&folder)?;
        suite.pick(&words);
        suite.neighbours(neighbour);
        let report = suite.run(&host, JOBS, |case, verdict| match verdict {
            Ok(verdict) if verdict.passed() => {}
            Ok(verdict) => println!(
                "FAIL {} ({})\n       - {}\n{}\n{}",
                case.id,
                case.title,
                verdict.must.join("\n       - "),
                verdict.steps,
                verdict.output
            ),
            Err(problem) => println!("FAIL {} ({})\n       - {problem}", case.id, case.title),
        });
        println!("{name}: {report}");
        passed &= report.failed.is_empty() && (report.ran > 0 || !words.is_empty());
    }
    Ok(passed)
}

fn ways() -> Result<Vec<Neighbour>, String> {
    match std::env::var(WAYS).as_deref() {
        Err(_) | Ok("") => Ok(vec![Neighbour::Mixed]),
        Ok("all") => Ok(Neighbour::ALL.into()),
        Ok(names) => names
            .split(',')
            .map(|name| {
                Neighbour::named(name).ok_or_else(|| format!("{WAYS}: no such way: {name}"))
            })
            .collect(),
    }
}
