//! Every field case through the C ABI, with the driver of `tests/drivers/c`: as it is, in an event
//! loop, under ASan and UBSan, some under valgrind, and with the output written in other ways; and what a
//! CLI can send at every moment of a session. `TOWLINE_NEIGHBOURS` names the ways (`all`) in the place of
//! the cases as they are. Arguments pick cases by a part of their id, kind or title.

#[path = "support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use support::{library, must, root, tool};
use towline_testkit::cases::{exit_code, Arguments, Host, Neighbour, Suite, Way};
use towline_testkit::Program;

/// How many cases run at once: most of their time they wait.
const JOBS: usize = 10;
/// Under valgrind: callbacks, saved sessions and bad ends.
const UNDER_VALGRIND: &[&str] = &["C034", "C073", "C102", "C104", "C118", "C170"];
/// A part of the moments is enough where the core is tested with all of them: one of so many.
const MOMENTS: usize = 4;
/// How many run at once where each takes a processor.
const BUSY_JOBS: usize = 2;

fn main() -> ExitCode {
    exit_code(run)
}

/// Compiles the driver.
fn compile(scratch: &Path, sanitized: bool) -> Result<PathBuf, String> {
    let folder = root().join("tests/drivers/c");
    let program = scratch.join(if sanitized { "sanitized" } else { "driver" });
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O1", "-g"]);
    command.arg("-pthread");
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]);
    if sanitized {
        command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    for entry in folder.read_dir().map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            command.arg(path);
        }
    }
    command.arg("-I").arg(root().join("include"));
    command.arg("-o").arg(&program);
    command.arg("-L").arg(library()).arg("-ltowline");
    command.arg(format!("-Wl,-rpath,{}", library().display()));
    must("the C driver", &tool(&mut command, "apt-get install gcc"));
    Ok(program)
}

fn run() -> Result<bool, String> {
    let arguments = Arguments::of_process();
    let suite = || arguments.suite();
    if arguments.list {
        for case in suite()?.cases() {
            println!("{}: test", case.id);
        }
        return Ok(true);
    }
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let fake_cli = Program::FakeCli.locate()?;
    let plain = Host::new(compile(scratch.path(), false)?, &fake_cli);
    let sanitized = Host::new(compile(scratch.path(), true)?, &fake_cli);
    let chosen = Neighbour::chosen()?;
    let all = chosen.as_deref() == Some(Neighbour::ALL.as_slice());
    let mut runs: Vec<(String, Host, Suite, usize)> = Vec::new();
    let mut moments = Suite::moments(true)?;
    moments.pick(&arguments.words);
    if all {
        runs.push(("C, moments".into(), plain.clone(), moments, JOBS));
        let mut moments = Suite::moments(true)?;
        moments.pick(&arguments.words);
        let host = sanitized.clone().arg("--event-loop");
        let how = "C, moments, event loop, sanitized";
        runs.push((how.into(), host, moments, JOBS));
    } else if chosen.is_none() {
        moments.slice(0, MOMENTS);
        let how = "C, moments, sanitized";
        runs.push((how.into(), sanitized.clone(), moments, JOBS));
    }
    if chosen.is_none() {
        let mut watching = suite()?;
        // What a query reads is read inside it.
        watching.keep(|case| case.has_step("connect"));
        let mut checked = suite()?;
        checked.keep(|case| UNDER_VALGRIND.contains(&case.id.as_str()));
        must(
            "valgrind",
            &tool(
                Command::new("valgrind").arg("--version"),
                "apt-get install valgrind",
            ),
        );
        let valgrind = ["--quiet", "--error-exitcode=99", "--leak-check=full"]
            .into_iter()
            .fold(Host::new("valgrind", &fake_cli), Host::arg)
            .arg("--child-silent-after-fork=no")
            .arg(scratch.path().join("driver"));
        runs.push(("C".into(), plain.clone(), suite()?, JOBS));
        runs.push(("C, sanitized".into(), sanitized.clone(), suite()?, JOBS));
        runs.push((
            "C, event loop, sanitized".into(),
            sanitized.arg("--event-loop"),
            watching,
            JOBS,
        ));
        runs.push(("C, valgrind".into(), valgrind, checked, BUSY_JOBS));
    }
    for neighbour in chosen.unwrap_or_else(|| vec![Neighbour::Mixed]) {
        let mut suite = suite()?;
        suite.neighbours(neighbour);
        runs.push((
            format!("C, {}", neighbour.name()),
            plain.clone(),
            suite,
            JOBS,
        ));
    }
    let ways = runs.into_iter().map(|(name, host, suite, jobs)| Way {
        name,
        host,
        suite,
        jobs,
    });
    Ok(arguments.run(ways.collect(), false))
}
