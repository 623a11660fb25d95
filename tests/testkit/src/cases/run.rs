//! One case: its folder and fixtures, the host program, the verdict.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use super::check::{check, events, pid, Findings};
use super::Case;
use crate::bytes::decode_base64;
use crate::json::Json;
use crate::sys;

/// What the whole host program may take beyond the case's own limit.
const BEYOND: Duration = Duration::from_secs(10);
/// How much of the host's own output is shown.
const SHOWN_OUTPUT: usize = 600;

/// A program that does the host's part of a case.
#[derive(Clone, Debug)]
pub struct Host {
    program: OsString,
    args: Vec<OsString>,
    fake_cli: PathBuf,
}

impl Host {
    /// A program; the case's path becomes its last argument. `fake_cli` is
    /// [`Program::FakeCli`](crate::Program).
    pub fn new(program: impl Into<OsString>, fake_cli: impl Into<PathBuf>) -> Host {
        Host {
            program: program.into(),
            args: Vec::new(),
            fake_cli: fake_cli.into(),
        }
    }

    /// Adds an argument before the case's path.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Host {
        self.args.push(arg.into());
        self
    }
}

/// How a case went.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What does not hold and must.
    pub must: Vec<String>,
    /// What would be better.
    pub should: Vec<String>,
    /// How long it took.
    pub duration: Duration,
    /// The steps as the host recorded them, JSON text.
    pub steps: String,
    /// The end of what the host wrote to stdout and stderr.
    pub output: String,
}

impl Verdict {
    /// Whether all that must hold holds.
    pub fn passed(&self) -> bool {
        self.must.is_empty()
    }
}

impl Case {
    /// Runs the case with a host program.
    ///
    /// # Errors
    /// A text, when the case could not be run at all.
    pub fn run(&self, host: &Host) -> Result<Verdict, String> {
        let failed = |error: io::Error| format!("{}: {error}", self.id);
        let work = tempfile::Builder::new()
            .prefix("case_")
            .tempdir()
            .map_err(failed)?;
        let started = Instant::now();
        let document = prepare(&self.document, work.path()).map_err(failed)?;
        let limit = Duration::from_millis(self.limit_ms()) + BEYOND;
        let ran = run_host(&document, work.path(), host, limit).map_err(failed)?;

        let mut findings = Findings::default();
        let record = fs::read(work.path().join("out.json"));
        let record = record.ok().map(|text| Json::parse(&text));
        match (&ran, &record) {
            (None, _) => findings
                .must
                .push(format!("the host hung ({} s)", limit.as_secs())),
            (Some(_), Some(Err(error))) => {
                findings.must.push(format!("the host's record: {error}"))
            }
            (Some(status), None) => findings
                .must
                .push(format!("the host left no record ({status})")),
            (Some(status), Some(Ok(_))) if !status.success() => {
                findings.must.push(format!("the host failed ({status})"));
            }
            (Some(_), Some(Ok(_))) => {}
        }
        let record = record.and_then(Result::ok);
        let log = log(&work.path().join("log.jsonl"));
        check(&document, record.as_ref(), &log, &mut findings);
        for kind in ["start", "child"] {
            for pid in events(&log, kind).filter_map(pid) {
                sys::kill_leftover(pid);
            }
        }
        let output = fs::read(work.path().join("host.txt")).unwrap_or_default();
        let output = &output[output.len().saturating_sub(SHOWN_OUTPUT)..];
        Ok(Verdict {
            must: findings.must,
            should: findings.should,
            duration: started.elapsed(),
            steps: record.map_or_else(String::new, |record| record.at(&["steps"]).shown()),
            output: String::from_utf8_lossy(output).into_owned(),
        })
    }
}

/// Writes the case and its fixtures into the folder; returns the case as it stands there.
fn prepare(document: &Json, work: &Path) -> io::Result<Json> {
    let mut document = document.clone();
    document.replace_text(b"@WORK@", work.as_os_str().as_bytes());
    fs::write(work.join("case.json"), document.ascii())?;
    fs::create_dir(work.join("config"))?;
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_string());
    let path = |value: &Json| {
        let relative = value
            .as_bytes()
            .ok_or_else(|| wrong("a fixture has no path"))?;
        Ok::<_, io::Error>(work.join(OsStr::from_bytes(relative)))
    };
    for file in document.at(&["fixture", "files"]).items() {
        let path = path(file.at(&["path"]))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let contents = match (file.at(&["b64"]).as_bytes(), file.at(&["text"]).as_bytes()) {
            (Some(text), _) => {
                decode_base64(text).ok_or_else(|| wrong("a fixture is not base64"))?
            }
            (None, Some(text)) => text.to_vec(),
            (None, None) => return Err(wrong("a fixture has no contents")),
        };
        fs::write(&path, contents)?;
        if let Some(mode) = file.get("mode").and_then(Json::as_text) {
            let mode = u32::from_str_radix(&mode, 8).map_err(|_| wrong("a fixture's mode"))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        if let Some(seconds) = file.get("mtime").and_then(Json::as_f64) {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds);
            File::options()
                .write(true)
                .open(&path)?
                .set_modified(time)?;
        }
    }
    for folder in document.at(&["fixture", "dirs"]).items() {
        fs::create_dir_all(path(folder)?)?;
    }
    for step in document.at(&["host"]).items() {
        for (_, value) in step.fields() {
            if let Some(folder) = value.get("dir").and_then(Json::as_text) {
                if folder.starts_with("/tmp/case-proj/") {
                    fs::create_dir_all(folder)?;
                }
            }
        }
    }
    Ok(document)
}

/// Runs the host program to its end; `None` when it had to be killed.
fn run_host(
    document: &Json,
    work: &Path,
    host: &Host,
    limit: Duration,
) -> io::Result<Option<ExitStatus>> {
    let output = File::create(work.join("host.txt"))?;
    let mut command = Command::new(&host.program);
    for (name, _) in std::env::vars_os() {
        if [&b"CLAUDE"[..], b"ANTHROPIC"]
            .iter()
            .any(|prefix| name.as_bytes().starts_with(prefix))
        {
            command.env_remove(name);
        }
    }
    let case = work.join("case.json");
    command
        .args(&host.args)
        .arg(&case)
        .env("FAKE_CLI_SCRIPT", &case)
        .env("FAKE_CLI_LOG", work.join("log.jsonl"))
        .env("CASE_FAKE_CLI", &host.fake_cli)
        .env("CASE_WORK", work)
        .env("CASE_OUT", work.join("out.json"))
        .env("CLAUDE_CONFIG_DIR", work.join("config"))
        .env("HOME", work)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0);
    for (name, value) in document.at(&["env"]).fields() {
        if let Some(value) = value.as_bytes() {
            command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        }
    }
    let mut child = command.spawn()?;
    let until = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            sys::kill_group(&child);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn log(path: &Path) -> Vec<Json> {
    let text = fs::read(path).unwrap_or_default();
    text.split(|byte| *byte == b'\n')
        .filter_map(|line| Json::parse(line).ok())
        .collect()
}
