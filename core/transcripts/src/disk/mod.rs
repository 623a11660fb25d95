//! The sessions that the CLI has saved on this machine.
//!
//! `<config>/projects/<encoded directory>/<session>.jsonl`, and beside each a folder
//! `<session>/` with its subagents' transcripts and the mark that it is archived.

mod archive;
mod change;
mod find;
mod list;
mod operation;
mod private;
mod read;
mod worktrees;

use std::path::{Path, PathBuf};

pub use list::ListOptions;
pub use operation::{OperationError, SavedOperation};

use towline_protocol::launch::Dialect;

use crate::project::nfc;

/// The sessions below one config directory of the CLI.
///
/// Functions that read take what cannot be read for absent, as the CLI does: a file may be damaged,
/// cut off, or just being written.
#[derive(Debug, Clone)]
pub struct SavedSessions {
    projects: PathBuf,
    dialect: Dialect,
}

impl SavedSessions {
    /// Where the CLI itself keeps them, `variable` giving the variables it would have:
    /// `CLAUDE_CONFIG_DIR` unless empty, else `.claude` in the home folder.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let config = given("CLAUDE_CONFIG_DIR").unwrap_or_else(|| {
            let home = given("HOME").or_else(|| given("USERPROFILE"));
            let config = Path::new(&home.unwrap_or_default()).join(".claude");
            config.to_string_lossy().into_owned()
        });
        Self::in_config_dir(Path::new(&nfc(&config)))
    }

    /// Where the CLI keeps them when it has this process's variables.
    pub fn of_process() -> Self {
        Self::find(|name| std::env::var(name).ok())
    }

    /// Those of another config directory.
    pub fn in_config_dir(config: &Path) -> Self {
        SavedSessions {
            projects: config.join("projects"),
            dialect: Dialect::default(),
        }
    }

    /// The same for the users of a package. In the TypeScript package a prompt that begins with a
    /// tag is none, a shell command is shown as `! command`, white space and lengths are
    /// JavaScript's, and a session that says nothing in words is called by its first image or
    /// document. Otherwise it is as in the Python package.
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        SavedSessions { dialect, ..self }
    }

    /// The folder of the projects' folders.
    pub fn projects_dir(&self) -> &Path {
        &self.projects
    }
}
