//! The scripted Messages API as a program: prints its URL and serves until it is ended.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use towline_testkit::ScriptedApi;

const HELP: &str = "\
A scripted Messages API on 127.0.0.1: the prompt's own text steers the reply.
Prints its URL on stdout, then serves until it is ended.

Usage: scripted-api [--port N] [--log FILE] [--control]

  --port N     listen on this port (default: a free one)
  --log FILE   append every request to FILE, one JSON object a line
  --control    take commands on stdin, one a line, and end with it:
                 release NAME   opens the gate of that name, for good; prints `released NAME`
                 await NAME     waits until a reply stands at that gate, 30 s at most; prints
                                `at NAME`, or `nobody at NAME`
  --help       show this text

The last line of a prompt that begins with one of these words wins:
  TOOL <name> <json>     TOOLS <json>          CHAIN <json>     STRUCTURED <json>
  TEXT <text>            THINK <text>          BIG <kib>        DELTAS <n> [<seconds>]
  SLEEP <seconds>        CUT [<n>]             ERROR <status> [<n>]
  USAGE <in> <out>       STOP <reason>         GATE <name>
  anything else is echoed
";

/// How long `await` waits.
const AWAIT: Duration = Duration::from_secs(30);

struct Arguments {
    port: u16,
    log: Option<PathBuf>,
    control: bool,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
    let mut arguments = Arguments {
        port: 0,
        log: None,
        control: false,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--help" | "-h" => return Ok(None),
            "--port" => {
                let port = value()?;
                arguments.port = port.parse().map_err(|_| format!("not a port: {port}"))?;
            }
            "--log" => arguments.log = Some(value()?.into()),
            "--control" => arguments.control = true,
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
    if io::stdout().flush().is_err() {
        return ExitCode::FAILURE;
    }
    if arguments.control {
        return match obey(&api) {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => {
                eprintln!("scripted-api: {problem}");
                ExitCode::FAILURE
            }
        };
    }
    loop {
        thread::park();
    }
}

/// Does what stdin says, until it ends.
fn obey(api: &ScriptedApi) -> Result<(), String> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        match line.split_once(' ') {
            Some(("release", name)) => {
                api.release(name);
                println!("released {name}");
            }
            Some(("await", name)) => {
                let nobody = if api.wait_at_gate(name, AWAIT) {
                    ""
                } else {
                    "nobody "
                };
                println!("{nobody}at {name}");
            }
            _ => return Err(format!("unknown command: {line}")),
        }
        io::stdout().flush().map_err(|error| error.to_string())?;
    }
    Ok(())
}
