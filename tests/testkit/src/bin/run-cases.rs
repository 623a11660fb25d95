//! Runs the field cases with a host program in any language.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use towline_testkit::cases::{told, Excluded, Host, Neighbour, Suite};

const HELP: &str = "\
Runs the cases of a folder with a host program; see the documentation of towline_testkit::cases
for what the program gets and what it has to write.

Usage: run-cases [OPTION]... -- HOST [ARG...]

  --cases DIR             the folder of the cases (default: the one of this repository)
  --jobs N                how many cases run at once (default: 4)
  --name NAME             what the lines call this way of running them
  --with STEP             only cases whose host has this step
  --exclude IDS:REASON    leave these cases out (ids joined by commas)
  --neighbour NAME        what their output looks like instead: bytes, pieces, crlf, blank-lines,
                          reversed, escaped, padded-LENGTH, mixed
  --pick WORD             only cases whose id, kind or title has one of these words
  --help                  show this text

The closing line counts. The exit status is 0 when every case that ran has passed, and 1 otherwise.
";

#[derive(Default)]
struct Arguments {
    cases: Option<PathBuf>,
    jobs: Option<usize>,
    name: Option<String>,
    with: Option<String>,
    neighbour: Option<Neighbour>,
    excluded: Vec<(String, String)>,
    words: Vec<String>,
    host: Vec<OsString>,
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        let option = word.to_string_lossy().into_owned();
        let mut value = || {
            let value = words.next().and_then(|value| value.into_string().ok());
            value.ok_or_else(|| format!("{option} needs a value"))
        };
        match option.as_str() {
            "--help" | "-h" => return Ok(None),
            "--cases" => arguments.cases = Some(value()?.into()),
            "--jobs" => {
                let jobs = value()?;
                let number = jobs.parse().map_err(|_| format!("not a number: {jobs}"))?;
                arguments.jobs = Some(number);
            }
            "--name" => arguments.name = Some(value()?),
            "--neighbour" => {
                let name = value()?;
                let named = Neighbour::named(&name);
                let named = named.ok_or_else(|| format!("no such neighbour: {name}"))?;
                arguments.neighbour = Some(named);
            }
            "--with" => arguments.with = Some(value()?),
            "--exclude" => {
                let excluded = value()?;
                let (ids, reason) = excluded
                    .split_once(':')
                    .ok_or("--exclude is IDS:REASON".to_owned())?;
                let reason = reason.trim().to_owned();
                arguments.excluded.push((ids.to_owned(), reason));
            }
            "--pick" => arguments.words.push(value()?),
            "--" => {
                arguments.host = words.collect();
                break;
            }
            _ => return Err(format!("unknown argument {option}; see --help")),
        }
    }
    if arguments.host.is_empty() {
        return Err("there is no host program; see --help".to_owned());
    }
    Ok(Some(arguments))
}

/// The fake CLI is built beside this program.
fn fake_cli() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = own.with_file_name("fake-cli");
    if path.is_file() {
        return Ok(path);
    }
    Err(format!(
        "{} is missing: build it with `cargo build -p towline-testkit`",
        path.display()
    ))
}

fn run(arguments: Arguments) -> Result<bool, String> {
    let folder = arguments
        .cases
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors")));
    let mut suite = Suite::load(&folder)?;
    for (ids, reason) in &arguments.excluded {
        let ids: Vec<&str> = ids.split(',').collect();
        suite.exclude(Excluded { ids: &ids, reason })?;
    }
    if let Some(step) = &arguments.with {
        suite.keep(|case| case.has_step(step));
    }
    suite.pick(&arguments.words);
    if let Some(neighbour) = arguments.neighbour {
        suite.neighbours(neighbour);
    }
    let mut command = arguments.host.into_iter();
    let program = command.next().unwrap_or_default();
    let host = command.fold(Host::new(program, fake_cli()?), Host::arg);
    let name = arguments.name.unwrap_or_default();
    let report = suite.run(&host, arguments.jobs.unwrap_or(4), |case, verdict| {
        println!("{}", told(case, &name, verdict));
    });
    match name.as_str() {
        "" => println!("{report}"),
        name => println!("{name}: {report}"),
    }
    Ok(report.ran > 0 && report.failed.is_empty())
}

fn main() -> ExitCode {
    let ran = match parse(std::env::args_os().skip(1)) {
        Ok(Some(arguments)) => run(arguments),
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => Err(problem),
    };
    match ran {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("run-cases: {problem}");
            ExitCode::from(2)
        }
    }
}
