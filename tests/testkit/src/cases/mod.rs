//! Runs the cases of `tests/vectors` with a host program in any language.
//!
//! A host program gets the path of a case as its last argument and does the steps under `host` with
//! the library it tests. Its environment holds
//!
//! | Variable | |
//! |---|---|
//! | `CASE_FAKE_CLI` | the CLI to start |
//! | `CASE_WORK` | a fresh directory, the working directory of the CLI unless the case says otherwise |
//! | `CASE_OUT` | the file to write the record to |
//!
//! and no variable of an outer Claude Code. The record is one JSON object:
//!
//! | Member | |
//! |---|---|
//! | `messages` | what was received, with `type`; of `assistant` also `text`, the text blocks joined, and `text_len` in characters |
//! | `calls` | how often each kind of callback ran: `permission`, `hook`, `tool` |
//! | `cancelled` | how many callbacks were cancelled |
//! | `stderr` | the lines that the stderr callback got |
//! | `values` | what `list_sessions`, `session_messages`, `mcp_status`, `server_info` gave |
//! | `fail` | steps that did not go as the case says |
//! | `steps` | each step's name, `ms` and `error`, for the reader |
//! | `loop_errors` | errors nobody handled |
//! | `cpu_ms` | processor time of the host |

mod check;
mod main;
mod matching;
mod moments;
mod neighbours;
mod run;
mod suite;

use std::path::{Path, PathBuf};

use crate::json::Json;

pub use main::{exit_code, Arguments, Way};
pub use neighbours::Neighbour;
pub use run::{Host, Verdict};
pub use suite::{told, Excluded, Report, Suite};

/// A field report turned into something that runs.
#[derive(Clone, Debug)]
pub struct Case {
    /// `C001`.
    pub id: String,
    /// The group: framing, exit, mcp, …
    pub kind: String,
    /// What it is about.
    pub title: String,
    path: PathBuf,
    document: Json,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn load(path: &Path) -> Result<Case, String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read(path).map_err(|error| named(&error))?;
        let document = Json::parse(&text).map_err(|error| named(&error))?;
        let text = |key: &str| {
            document
                .get(key)
                .and_then(Json::as_text)
                .ok_or_else(|| named(&format!("it has no {key}")))
        };
        Ok(Case {
            id: text("id")?,
            kind: text("kind")?,
            title: text("title")?,
            path: path.to_owned(),
            document,
        })
    }

    /// The file it comes from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the host has a step of that name to do.
    pub fn has_step(&self, name: &str) -> bool {
        let steps = self.document.at(&["host"]).items();
        steps.iter().any(|step| step.get(name).is_some())
    }

    /// How many milliseconds the whole host program may take.
    fn limit_ms(&self) -> u64 {
        let limit = self.document.get("timeout_ms").and_then(Json::as_f64);
        limit.map_or(30_000, |limit| limit as u64)
    }
}
