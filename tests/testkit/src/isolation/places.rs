//! The directories of a process in isolation.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A home and a directory for temporary files; what was made here goes when this is dropped.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) home: PathBuf,
    temporary: PathBuf,
    _scratch: TempDir,
}

impl Places {
    /// `home` is made when it is missing, and stays; without one there is a fresh one.
    pub(super) fn new(home: Option<&Path>) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("isolated-").tempdir()?;
        let home = match home {
            Some(home) => std::path::absolute(home)?,
            None => scratch.path().join("home"),
        };
        let temporary = scratch.path().join("tmp");
        for folder in [&home, &temporary] {
            fs::create_dir_all(folder).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", folder.display()))
            })?;
        }
        Ok(Places {
            home,
            temporary,
            _scratch: scratch,
        })
    }

    /// The environment of a process in here, and nothing beside it: no key, no proxy and no setting of
    /// the user reaches the CLI.
    pub(super) fn environment(&self, api_url: &str) -> Vec<(String, String)> {
        let path = std::env::var("PATH");
        [
            ("HOME", self.home.to_string_lossy().as_ref()),
            ("TMPDIR", self.temporary.to_string_lossy().as_ref()),
            (
                "PATH",
                path.as_deref().unwrap_or("/usr/local/bin:/usr/bin:/bin"),
            ),
            ("LANG", "C.UTF-8"),
            // As root the CLI refuses some permission modes unless it is told that it is in a sandbox.
            ("IS_SANDBOX", "1"),
            ("ANTHROPIC_BASE_URL", api_url),
            ("ANTHROPIC_API_KEY", "dummy-not-a-key"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }
}
