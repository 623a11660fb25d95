//! Test kit for programs that drive the Claude Code CLI, whatever library they use.
//!
//! Nothing here needs a key, an account or a network:
//!
//! - [`ScriptedApi`] is a Messages API on loopback whose replies are chosen by the prompt itself,
//!   so the **real** CLI runs a whole agent loop against it (see [`api`] for the commands).
//! - [`Sandbox`] puts the calling thread, and every process started from it, into a network
//!   namespace with loopback alone, with a home of its own and a scripted API inside.
//! - [`RealCli`] finds the CLI versions pinned in `tests/real-cli`; `make cli` installs them.
//! - [`fake_cli`] plays a script in the place of a CLI, for what a real one cannot be brought to do on
//!   demand: half lines, silence, signals, odd messages. [`Program`] finds it.
//! - [`TemporaryPostgres`] is a PostgreSQL server of a test's own; the `temporary-postgres` binary
//!   runs one for a test in another language.
//!
//! # Testing your own program with the real CLI
//!
//! ```no_run
//! use std::{io::Write, process::Stdio, time::Duration};
//! use towline_testkit::{RealCli, Sandbox, Version};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::enter()?;
//! sandbox.require_isolation()?;
//! let cli = RealCli::locate(Version::Current)?;
//!
//! // Your program would do this; `sandbox.env()` is the same list for any other launcher.
//! let mut child = sandbox
//!     .command(cli)
//!     .args(["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"])
//!     .stdin(Stdio::piped())
//!     .stdout(Stdio::piped())
//!     .spawn()?;
//! let prompt = r#"TOOL Read {\"file_path\":\"/etc/hostname\"}"#;
//! writeln!(
//!     child.stdin.take().expect("piped"),
//!     r#"{{"type":"user","message":{{"role":"user","content":"{prompt}"}},"parent_tool_use_id":null}}"#
//! )?;
//! let asked = sandbox.api().wait_for_request(
//!     |request| request.user_text().starts_with("TOOL Read"),
//!     Duration::from_secs(20),
//! );
//! assert!(asked.is_some());
//! child.wait()?;
//! # Ok(())
//! # }
//! ```
//!
//! A program in another language runs under the `isolated` binary of this crate, which does the
//! same for a process tree: `isolated -- ./my-program`; its environment then names the scripted API.
//!
//! # Testing your own program with the fake CLI
//!
//! Let your program start the `fake-cli` binary instead of `claude`, with a script in its environment:
//!
//! ```no_run
//! use std::process::Command;
//! use towline_testkit::Program;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = r#"[
//!     {"expect": {"type": "user"}},
//!     {"emit_raw": "a line that is not JSON\n"},
//!     {"exit": 1}
//! ]"#;
//! std::fs::write("script.json", script)?;
//! let status = Command::new("./my-program")
//!     .env("MY_CLI_PATH", Program::FakeCli.locate()?)
//!     .env("FAKE_CLI_SCRIPT", std::fs::canonicalize("script.json")?)
//!     .env("FAKE_CLI_LOG", "log.jsonl")
//!     .status()?;
//! assert!(!status.success(), "my program notices that the CLI is gone");
//! assert!(!std::fs::read_to_string("log.jsonl")?.contains(r#""ev":"fail""#));
//! # Ok(())
//! # }
//! ```

pub mod api;
mod bytes;
pub mod cases;
pub mod fake_cli;
pub mod isolation;
mod json;
mod postgres;
mod programs;
mod real_cli;
mod sys;

pub use api::{RecordedRequest, ScriptedApi};
pub use isolation::Sandbox;
pub use postgres::TemporaryPostgres;
pub use programs::Program;
pub use real_cli::{RealCli, Version};
