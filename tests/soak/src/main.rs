//! `make soak`: see `--help`.

use std::process::ExitCode;
use std::time::Duration;

use towline_soak::{Census, Soak};
use towline_testkit::Program;

const HELP: &str = "\
Keeps many sessions with random faults going in one process and watches what they use.

Usage: towline-soak [OPTION]...

  --sessions N   how many at once (default: 500)
  --minutes N    for how long (default: 30)
  --threads N    how many threads drive them (default: 8)
  --pace N       the greater, the fewer sessions a second (default: 1)
  --seed N       what happens (default: 1)
  --help         this text

The exit status is 1 when a session has not ended as it has to, when anything is left at the end, or
when memory, descriptors, threads or processes of the last third are more than those of the first.";

fn main() -> ExitCode {
    match arguments() {
        Ok(Some(soak)) => run(soak),
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("towline-soak: {problem}; see --help");
            ExitCode::from(2)
        }
    }
}

struct Arguments {
    sessions: usize,
    minutes: f64,
    threads: usize,
    pace: u64,
    seed: u64,
}

fn arguments() -> Result<Option<Arguments>, String> {
    let mut given = Arguments {
        sessions: 500,
        minutes: 30.0,
        threads: 8,
        pace: 1,
        seed: 1,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--help" {
            return Ok(None);
        }
        let value = words.next().ok_or_else(|| format!("{word} has no value"))?;
        let bad = |_| format!("{word}: {value} is no number");
        match word.as_str() {
            "--sessions" => given.sessions = value.parse().map_err(bad)?,
            "--minutes" => {
                given.minutes = value
                    .parse()
                    .map_err(|_| format!("{word}: {value} is no number"))?
            }
            "--threads" => given.threads = value.parse().map_err(bad)?,
            "--pace" => given.pace = value.parse().map_err(bad)?,
            "--seed" => given.seed = value.parse().map_err(bad)?,
            _ => return Err(format!("{word} is no option")),
        }
    }
    if given.threads == 0
        || given.sessions < given.threads
        || !(given.minutes > 0.0 && given.minutes < 1e6)
    {
        return Err("there has to be a thread, a session for each, and time".into());
    }
    Ok(Some(given))
}

fn run(given: Arguments) -> ExitCode {
    let cli = match Program::FakeCli.locate() {
        Ok(cli) => cli,
        Err(problem) => {
            eprintln!("towline-soak: {problem}");
            return ExitCode::from(2);
        }
    };
    let length = Duration::from_secs_f64(given.minutes * 60.0);
    let soak = Soak {
        cli: &cli,
        sessions: given.sessions,
        length,
        every: (length / 60).max(Duration::from_secs(1)),
        threads: given.threads,
        pace: given.pace.max(1),
        seed: given.seed,
    };
    println!("   time  memory KiB  descriptors  threads  processes  zombies   closed  dropped  not started");
    let line = |at: Duration, seen: &Census, ends: [u64; 3]| {
        let Census {
            memory,
            descriptors,
            threads,
            processes,
            zombies,
        } = seen;
        let [closed, dropped, failed] = ends;
        println!(
            "{:>6.0}s  {memory:>10}  {descriptors:>11}  {threads:>7}  {processes:>9}  {zombies:>7}  {closed:>7}  {dropped:>7}  {failed:>11}",
            at.as_secs_f64()
        );
    };
    let report = soak.run(line);
    println!("before:");
    line(Duration::ZERO, &report.before, [0; 3]);
    println!("after:");
    line(length, &report.after, report.ends);
    let problems = report.problems(length / 6);
    for problem in &problems {
        println!("PROBLEM: {problem}");
    }
    match problems.is_empty() {
        true => {
            println!("all held");
            ExitCode::SUCCESS
        }
        false => ExitCode::FAILURE,
    }
}
