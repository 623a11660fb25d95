//! A config directory made up for a test, and the command run over it.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{json, Value};
use tempfile::TempDir;
use towline::transcripts::project_key;

/// The session of that number; the first eight characters tell them apart.
pub(crate) fn id(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// The id of the line of that number.
pub(crate) fn uuid(number: u32) -> String {
    format!("ffffffff-0000-4000-8000-{number:012x}")
}

/// The lines as the CLI writes them: each with its type first.
pub(crate) fn jsonl(lines: &[Value]) -> String {
    let mut text = String::new();
    for line in lines {
        let mut members = line.as_object().unwrap().clone();
        let kind = members.remove("type").unwrap();
        let rest = Value::Object(members).to_string();
        text.push_str(&format!("{{\"type\":{kind},{}\n", &rest[1..]));
    }
    text
}

pub(crate) struct Tree {
    root: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Tree {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("config/projects")).unwrap();
        Tree { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A directory that sessions may run in; it exists.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(&path).unwrap();
        path.canonicalize().unwrap()
    }

    pub(crate) fn transcript(&self, directory: &Path, number: u32) -> PathBuf {
        let folder = self.path("config/projects").join(project_key(directory));
        fs::create_dir_all(&folder).unwrap();
        folder.join(format!("{}.jsonl", id(number)))
    }

    /// Writes a session that was last written as many minutes ago as its number says.
    pub(crate) fn session(&self, directory: &Path, number: u32, lines: &[Value]) -> String {
        let file = self.transcript(directory, number);
        fs::write(&file, jsonl(lines)).unwrap();
        let age = Duration::from_secs(u64::from(number) * 60 + 1);
        let times = FileTimes::new().set_modified(SystemTime::now() - age);
        File::options()
            .append(true)
            .open(&file)
            .unwrap()
            .set_times(times)
            .unwrap();
        id(number)
    }

    /// The command, in a directory, with the tree's config directory and nothing of the caller's
    /// environment but what finds programs.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, directory: &Path, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_towline"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .env("CLAUDE_CONFIG_DIR", self.path("config"))
            .current_dir(directory)
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run<S: AsRef<OsStr>>(&self, directory: &Path, arguments: &[S]) -> Ran {
        Ran::of(self.command(directory, arguments).output().unwrap())
    }
}

/// What a run of the command gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What it printed; it has to have done what it was asked to.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.stdout
    }

    /// Its errors; it has to have ended with this status.
    #[track_caller]
    pub(crate) fn failed(self, status: i32) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert!(self.stdout.is_empty(), "{self:?}");
        self.stderr
    }
}

/// Writes a conversation line by line, each the child of the one before.
pub(crate) struct Script {
    directory: PathBuf,
    pub(crate) lines: Vec<Value>,
    parent: Value,
    count: u32,
}

impl Script {
    pub(crate) fn new(directory: &Path) -> Script {
        Script {
            directory: directory.to_owned(),
            lines: Vec::new(),
            parent: Value::Null,
            count: 0,
        }
    }

    /// A line with everything the CLI writes of every line; `more` is added to it.
    pub(crate) fn line(mut self, kind: &str, message: Value, more: Value) -> Script {
        self.count += 1;
        let seconds = self.count * 2;
        let mut line = json!({
            "parentUuid": self.parent, "isSidechain": false, "type": kind, "message": message,
            "uuid": uuid(self.count), "cwd": self.directory, "gitBranch": "main",
            "timestamp": format!("2026-01-02T03:{:02}:{:02}.000Z", seconds / 60, seconds % 60),
            "sessionId": "s", "version": "2.1.332",
        });
        for (name, value) in more.as_object().unwrap() {
            line[name] = value.clone();
        }
        self.parent = line["uuid"].clone();
        self.lines.push(line);
        self
    }

    pub(crate) fn prompt(self, text: &str) -> Script {
        self.line("user", json!({"role": "user", "content": text}), json!({}))
    }

    /// A message of Claude's, all its blocks on one line.
    pub(crate) fn says(self, blocks: Value) -> Script {
        let message = json!({
            "id": format!("msg_{}", self.count), "role": "assistant", "model": "claude-test-1",
            "content": blocks,
            "usage": {
                "input_tokens": 100, "output_tokens": 20,
                "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 0,
            },
        });
        self.line("assistant", message, json!({}))
    }

    pub(crate) fn text(self, text: &str) -> Script {
        self.says(json!([{"type": "text", "text": text}]))
    }

    pub(crate) fn call(self, call: &str, name: &str, input: Value) -> Script {
        self.says(json!([{"type": "tool_use", "id": call, "name": name, "input": input}]))
    }

    pub(crate) fn result(self, call: &str, content: Value, more: Value) -> Script {
        let is_error = more.get("toolDenialKind").is_some();
        let block = json!({
            "type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error,
        });
        self.line("user", json!({"role": "user", "content": [block]}), more)
    }

    pub(crate) fn entry(mut self, entry: Value) -> Script {
        self.lines.push(entry);
        self
    }
}
