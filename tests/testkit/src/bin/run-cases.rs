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
  --moments TYPES         no folder, but made cases: everything that a CLI can send, at every moment;
                          TYPES is `every` when the host gets messages of every type, else `official`
  --slice K/N             the Kth of N parts of the cases
  --jobs N                how many cases run at once (default: 4)
  --name NAME             what the lines call this way of running them
  --with STEP             only cases whose host has this step
  --exclude IDS:REASON    leave these cases out (ids joined by commas)
  --neighbour NAMES       what their output looks like instead, one after the other: bytes, pieces,
                          crlf, blank-lines, reversed, escaped, padded-LENGTH, at-limit, mixed;
                          or all
  --pick WORD             only cases whose id, kind or title has one of these words
  --help                  show this text

The closing line counts. The exit status is 0 when every case that ran has passed, and 1 otherwise.
";

#[derive(Default)]
struct Arguments {
    cases: Option<PathBuf>,
    moments: Option<String>,
    slice: Option<(usize, usize)>,
    jobs: Option<usize>,
    name: Option<String>,
    with: Option<String>,
    neighbours: Vec<Neighbour>,
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
            "--moments" => arguments.moments = Some(value()?),
            "--slice" => {
                let slice = value()?;
                let numbers = slice
                    .split_once('/')
                    .and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
                let numbers = numbers.filter(|(part, of)| (1..=*of).contains(part));
                arguments.slice = Some(numbers.ok_or(format!("not K/N: {slice}"))?);
            }
            "--jobs" => {
                let jobs = value()?;
                let number = jobs.parse().map_err(|_| format!("not a number: {jobs}"))?;
                arguments.jobs = Some(number);
            }
            "--name" => arguments.name = Some(value()?),
            "--neighbour" => {
                arguments.neighbours = Neighbour::list(&value()?)?;
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

/// The cases that were asked for.
fn suite(arguments: &Arguments) -> Result<Suite, String> {
    let folder = arguments.cases.clone();
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors"));
    let mut suite = match arguments.moments.as_deref() {
        None => Suite::load(&folder.unwrap_or_else(own))?,
        Some("every") => Suite::moments(true)?,
        Some("official") => Suite::moments(false)?,
        Some(types) => return Err(format!("--moments takes every or official, not {types}")),
    };
    for (ids, reason) in &arguments.excluded {
        let ids: Vec<&str> = ids.split(',').collect();
        suite.exclude(Excluded { ids: &ids, reason })?;
    }
    if let Some(step) = &arguments.with {
        suite.keep(|case| case.has_step(step));
    }
    suite.pick(&arguments.words);
    if let Some((part, of)) = arguments.slice {
        suite.slice(part - 1, of);
    }
    Ok(suite)
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut command = arguments.host.iter();
    let program = command.next().cloned().unwrap_or_default();
    let host = command.fold(Host::new(program, fake_cli()?), Host::arg);
    let mut ways = vec![(arguments.name.clone(), suite(arguments)?)];
    if !arguments.neighbours.is_empty() {
        ways.clear();
    }
    for neighbour in &arguments.neighbours {
        let own = neighbour.name();
        let name = arguments.name.as_ref().map(|name| format!("{name}, {own}"));
        let mut suite = suite(arguments)?;
        suite.neighbours(*neighbour);
        ways.push((Some(name.unwrap_or(own)), suite));
    }
    let mut passed = true;
    for (name, suite) in ways {
        let name = name.unwrap_or_default();
        let report = suite.run(&host, arguments.jobs.unwrap_or(4), |case, verdict| {
            println!("{}", told(case, &name, verdict));
        });
        match name.as_str() {
            "" => println!("{report}"),
            name => println!("{name}: {report}"),
        }
        passed &= report.ran > 0 && report.failed.is_empty();
    }
    Ok(passed)
}

fn main() -> ExitCode {
    let ran = match parse(std::env::args_os().skip(1)) {
        Ok(Some(arguments)) => run(&arguments),
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
