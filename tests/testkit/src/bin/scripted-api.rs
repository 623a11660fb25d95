//! The scripted Messages API as a program: prints its URL and serves until it is ended.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use towline_testkit::ScriptedApi;

const HELP: &str = "\
A scripted Messages API on 127.0.0.1: the prompt's own text steers the reply.
Prints its URL on stdout, then serves until it is ended.

Usage: scripted-api [--port N] [--log FILE]

  --port N     listen on this port (default: a free one)
  --log FILE   append every request to FILE, one JSON object a line
  --help       show this text

The last line of a prompt that begins with one of these words wins:
  TOOL <name> <json>     TOOLS <json>          CHAIN <json>     STRUCTURED <json>
  TEXT <text>            THINK <text>          BIG <kib>        DELTAS <n> [<seconds>]
  SLEEP <seconds>        CUT [<n>]             ERROR <status> [<n>]
  USAGE <in> <out>       STOP <reason>         anything else is echoed
";

struct Arguments {
    port: u16,
    log: Option<PathBuf>,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments { port: 0, log: None };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--port" => {
                let port = value()?;
                arguments.port = port.parse().map_err(|_| format!("not a port: {port}"))?;
            }
            "--log" => arguments.log = Some(value()?.into()),
            _ => return Err(format!("unknown argument {word}; see --help")),
        }
    }
    Ok(Some(arguments))
}

fn main() -> ExitCode {
    let arguments = match parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("scripted-api: {problem}");
            return ExitCode::from(2);
        }
    };
    let api = match ScriptedApi::start_with(arguments.port, arguments.log.as_deref()) {
        Ok(api) => api,
        Err(error) => {
            eprintln!("scripted-api: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("{}", api.url());
    if std::io::stdout().flush().is_err() {
        return ExitCode::FAILURE;
    }
    loop {
        thread::park();
    }
}
