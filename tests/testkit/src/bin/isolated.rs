//! Runs a command and everything it starts on loopback alone, against a scripted Messages API.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use towline_testkit::isolation::runner::Runner;

const HELP: &str = "\
Runs a command and everything it starts in a network namespace with loopback alone, with a
home of its own, a scripted Messages API that ANTHROPIC_BASE_URL names, and a dummy key.
Where no namespace is permitted it runs the command without one and says so.

Usage: isolated [--api-log FILE] [--home DIR] [--env NAME[=VALUE]]... [--] COMMAND [ARG...]

  --api-log FILE       append every request to the API to FILE, one JSON object a line
  --home DIR           use DIR as the home (default: a temporary one, removed at the end)
  --env NAME[=VALUE]   set this variable, or pass the caller's on; the rest of the caller's
                       environment, but for PATH, is not passed
  --help               show this text

The exit status is the command's, or 128 + n when signal n ended it; 125 when it could not be run.
";

/// `NAME=VALUE`, or `NAME` with the caller's value; nothing when the caller has none.
fn variable(text: &OsStr) -> Option<(OsString, OsString)> {
    let bytes = text.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=') {
        Some(at) => Some((
            OsString::from_vec(bytes[..at].to_vec()),
            OsString::from_vec(bytes[at + 1..].to_vec()),
        )),
        None => std::env::var_os(text).map(|value| (text.to_owned(), value)),
    }
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Option<Runner>, String> {
    let mut runner = Runner::default();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .ok_or_else(|| format!("{} needs a value", word.to_string_lossy()))
        };
        match word.to_str() {
            Some("--help" | "-h") => return Ok(None),
            Some("--api-log") => runner.api_log = Some(value()?.into()),
            Some("--home") => runner.home = Some(value()?.into()),
            Some("--env") => runner.env.extend(variable(&value()?)),
            Some("--") => {
                runner.command = words.collect();
                break;
            }
            Some(option) if option.starts_with('-') => {
                return Err(format!("unknown option {option}; see --help"));
            }
            _ => {
                runner.command = std::iter::once(word).chain(words).collect();
                break;
            }
        }
    }
    if runner.command.is_empty() {
        return Err("there is no command; see --help".to_owned());
    }
    Ok(Some(runner))
}

fn main() -> ExitCode {
    let failed = |problem: &dyn std::fmt::Display| {
        eprintln!("isolated: {problem}");
        ExitCode::from(125)
    };
    match parse(std::env::args_os().skip(1)) {
        Ok(Some(runner)) => match runner.run() {
            Ok(status) => ExitCode::from(status),
            Err(error) => failed(&error),
        },
        Ok(None) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(problem) => failed(&problem),
    }
}
