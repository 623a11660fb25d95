//! A scripted stand-in for the `claude` binary in stream-json mode, for what a real CLI cannot be
//! brought to do on demand. It is the `fake-cli` program of this crate; any flags are accepted.
//!
//! # Environment
//!
//! | Variable | |
//! |---|---|
//! | `FAKE_CLI_SCRIPT` | path of a JSON file: a list of steps, or an object whose `cli_script` is one |
//! | `FAKE_CLI_LOG` | optional; every event is appended to this file, one JSON object a line |
//! | `FAKE_CLI_BENCH` | instead of a script, a built-in one that costs next to nothing: see below |
//!
//! The events of the log (`ev`) are `start` (pid, ppid, pgid, argv, argv_bytes, cwd, part of the
//! environment), `in` (a line of the host; above 200,000 characters its length alone), `blank_line`,
//! `matched`, `child`, `env`, `fail` (what the script expects does not hold, or the host wrote something
//! that is not a JSON object), `host_closed_stdout`, `eof`, `slow_exit_done` and `done`.
//!
//! An `initialize` request is answered by itself unless some step expects one.
//!
//! # Steps
//!
//! A step is an object; the first known key names it.
//!
//! | Step | Effect |
//! |---|---|
//! | `emit` object | writes it as one compact JSON line, raw UTF-8 |
//! | `emit_ascii` object | the same with `\u` escapes |
//! | `emit_raw` text | writes the text, nothing added |
//! | `emit_raw_b64` text | writes raw bytes |
//! | `emit_big` object, `bytes` n, `fill` text | as `emit`, with n repeats of `fill` (`x`) for `@FILL@` |
//! | `emit_nested` object, `depth` n | as `emit`, with n nested arrays for the string `@NEST@` |
//! | `eol` text | on `emit` and `emit_big`: the end of the line instead of a newline |
//! | `chunk` n, `delay_ms` d | on any of the above: writes of n bytes, d ms apart |
//! | `expect` part | waits for a line of the host that contains the part (`timeout_ms`, default 10000) and takes it; other lines stay for later steps |
//! | `expect_next` part | the oldest line that waits, or the next, has to match |
//! | `expect_none` part | no such line waits, or comes within `for_ms` |
//! | `expect_eof` | stdin ends within `timeout_ms` |
//! | `answer` object | success response to the last matched control request |
//! | `answer_error` text | error response to it |
//! | `sleep_ms` n | pauses |
//! | `stderr` text, `times` n; `stderr_b64` text | writes to stderr |
//! | `exit` code | exits at once |
//! | `kill` name | sends the signal to itself, with its default effect |
//! | `close_stdout`, `close_stderr`, `close_stdin` | closes the descriptor |
//! | `ignore_stdin` | stops reading; as the first step, nothing is read at all |
//! | `read_stdin` | starts reading again |
//! | `ignore_signals` names | ignores them |
//! | `on_eof` `exit`, `ignore`, `slow` | what to do when the script and stdin have ended; `slow` takes `ms` ms and touches the file `touch` |
//! | `spawn_child` seconds | starts a process that holds stdout and stderr open |
//! | `touch` path | makes a file |
//! | `await_file` path | waits until there is such a file (`timeout_ms`, default 10000) |
//! | `log_env` names | puts these variables into the log |
//! | `repeat` n, `steps` list | runs the steps n times; `$i` in strings is the index |
//!
//! In strings `$rid` is the id of the last matched control request, `$1`…`$9` (any name) that of the one
//! matched by a step with `"save": "1"`. A part of an object has some of its members, of an array the
//! first items; `{"$absent": true}`, `{"$any": true}`, `{"$contains": text}` and `{"$len": n}` stand for
//! the obvious. Lone surrogates, key order and the spelling of numbers are written as the script has them.
//!
//! The exit status is 97 when the script fails and 98 when a system call does.
//!
//! # Benchmarks
//!
//! `FAKE_CLI_BENCH` is `stream:N`, `permission:N`, `hook:N` or `tool:N`. For every user message it
//! writes N `stream_event` lines of about 300 bytes in varied key order and big writes, or makes N requests
//! (`can_use_tool`, `hook_callback`, `mcp_message` with `tools/call`) one after another, each once the
//! one before is answered; then a result. No JSON is parsed in between. Hooks call the first callback that
//! `initialize` registers; tools the first tool of the first in-process server, with the arguments in
//! `FAKE_CLI_BENCH_ARGUMENTS` (default `{}`). With `FAKE_CLI_BENCH_MIRROR` a `transcript_mirror` line of
//! that many entries, below `/bench/projects`, is written before each request; with `N/s` as many lines of
//! one entry as are due by the clock.

mod bench;
mod log;
mod matching;
mod output;
mod script;
mod start;
mod stdin;

use std::os::fd::RawFd;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::json::{object, Json};
use log::Log;
use output::Output;
use script::{OnEof, Runner, Stop};
use stdin::Stdin;

const STDIN: RawFd = 0;
const STDOUT: RawFd = 1;
const STDERR: RawFd = 2;

const VERSION: &str = "2.1.332 (Claude Code)";

/// The whole program; returns its exit status. It uses the process as its own: the standard
/// descriptors, signals, arguments and environment.
pub fn main() -> i32 {
    let first = std::env::args_os().nth(1);
    if first.is_some_and(|first| first == "-v" || first == "--version") {
        println!("{VERSION}");
        return 0;
    }
    match play() {
        Ok(status) => status,
        Err(problem) => {
            eprintln!("fake-cli: {problem}");
            98
        }
    }
}

fn play() -> Result<i32, String> {
    let log = Log::from_environment().map_err(|error| format!("FAKE_CLI_LOG: {error}"))?;
    log.event("start", start::event());
    if let Ok(mode) = std::env::var("FAKE_CLI_BENCH") {
        return bench::run(&mode);
    }
    let path = std::env::var_os("FAKE_CLI_SCRIPT").ok_or("FAKE_CLI_SCRIPT is not set")?;
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.to_string_lossy());
    let text = std::fs::read(&path).map_err(|error| named(&error))?;
    let script = Json::parse(&text).map_err(|error| named(&error))?;
    let steps = match &script {
        Json::Array(steps) => steps,
        other => match other.get("cli_script") {
            Some(Json::Array(steps)) => steps,
            _ => return Err(named(&"there is no list of steps")),
        },
    };
    let log = Arc::new(log);
    let output = Arc::new(Output::default());
    let ignores = steps
        .first()
        .is_some_and(|step| step.get("ignore_stdin").is_some());
    let stdin = Stdin::start(
        !ignores,
        !script::expects_initialize(steps),
        log.clone(),
        output.clone(),
    )
    .map_err(|error| error.to_string())?;
    let mut runner = Runner::new(log, output, stdin, ignores);
    Ok(match runner.run(steps, None) {
        Ok(()) => {
            let how = Json::string("end of script");
            runner.log.event("done", [("how", how)]);
            rest(&runner)
        }
        Err(stop) => stopped(&runner, stop),
    })
}

fn stopped(runner: &Runner, stop: Stop) -> i32 {
    match stop {
        Stop::Exit(code) => {
            let how = Json::string(&format!("exit {code}"));
            runner.log.event("done", [("how", how)]);
            code
        }
        Stop::Fail(why) => {
            runner.log.fail(&why);
            97
        }
        Stop::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            runner.log.event("host_closed_stdout", []);
            rest(runner)
        }
        Stop::Io(error) => {
            runner.log.fail(&format!("system call failed: {error}"));
            98
        }
    }
}

/// What is left to do after the script: as a rule, to wait for the end of stdin.
fn rest(runner: &Runner) -> i32 {
    if matches!(runner.on_eof, OnEof::Ignore) || runner.ignores_stdin {
        loop {
            thread::sleep(Duration::from_secs(3600));
        }
    }
    runner.stdin.ended(None);
    if let OnEof::Slow(pause, file) = &runner.on_eof {
        thread::sleep(*pause);
        if let Some(Err(stop)) = file.as_ref().map(script::touch) {
            return stopped(runner, stop);
        }
        runner.log.event("slow_exit_done", []);
    }
    0
}

fn control_response(subtype: &str, id: Json, key: &str, payload: Json) -> Json {
    let response = object([
        ("subtype", Json::string(subtype)),
        ("request_id", id),
        (key, payload),
    ]);
    object([
        ("type", Json::string("control_response")),
        ("response", response),
    ])
}

fn auto_initialize_reply(id: Json) -> Json {
    control_response("success", id, "response", start::initialize_payload())
}
