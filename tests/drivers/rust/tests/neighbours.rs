//! Every field case with its output written in other ways that must not matter, and everything that a
//! CLI can send at every moment of a session: one way of all, mixed, and a session that waits; or each by
//! itself, and in an event loop and with the standard library alone, with `TOWLINE_NEIGHBOURS=all`
//! (`make neighbours`); or the ways that it names.

use std::process::ExitCode;

use towline_testkit::cases::{exit_code, Arguments, Host, Neighbour, Suite, Way};
use towline_testkit::Program;

/// How many cases run at once: most of their time they wait.
const JOBS: usize = 6;

fn main() -> ExitCode {
    exit_code(run)
}

fn run() -> Result<bool, String> {
    let arguments = Arguments::of_process();
    let host = Host::new(
        env!("CARGO_BIN_EXE_case-driver"),
        Program::FakeCli.locate()?,
    );
    let chosen = Neighbour::chosen()?;
    let all = chosen.as_deref() == Some(Neighbour::ALL.as_slice());
    let mut ways = Vec::new();
    for (name, flag, wanted) in [
        ("moments", None, all || chosen.is_none()),
        ("moments, event loop", Some("--event-loop"), all),
        ("moments, portable", Some("--portable"), all),
    ] {
        if wanted {
            let mut suite = Suite::moments(true)?;
            suite.pick(&arguments.words);
            if flag.is_some() {
                // What a query reads is read inside it.
                suite.keep(|case| case.has_step("connect"));
            }
            ways.push(Way {
                name: name.into(),
                host: flag.into_iter().fold(host.clone(), Host::arg),
                suite,
                jobs: JOBS,
            });
        }
    }
    for neighbour in chosen.unwrap_or_else(|| vec![Neighbour::Mixed]) {
        let mut suite = arguments.suite()?;
        suite.neighbours(neighbour);
        ways.push(Way {
            name: neighbour.name(),
            host: host.clone(),
            suite,
            jobs: JOBS,
        });
    }
    if arguments.list {
        for way in &ways {
            println!("{}: test", way.name);
        }
        return Ok(true);
    }
    Ok(arguments.run(ways, false))
}
