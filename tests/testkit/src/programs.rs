//! The binaries of this crate, for tests of other crates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// One of this crate's binaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// See [`fake_cli`](crate::fake_cli).
    FakeCli,
    /// Runs a command in isolation; `--help` explains it.
    Isolated,
    /// [`ScriptedApi`](crate::ScriptedApi) as a program; `--help` explains it.
    ScriptedApi,
    /// Runs the [`cases`](crate::cases) with a host program; `--help` explains it.
    RunCases,
    /// [`TemporaryPostgres`](crate::TemporaryPostgres) as a program.
    TemporaryPostgres,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Program::FakeCli => "fake-cli",
            Program::Isolated => "isolated",
            Program::ScriptedApi => "scripted-api",
            Program::RunCases => "run-cases",
            Program::TemporaryPostgres => "temporary-postgres",
        }
    }

    /// The path of the binary, in the profile of the calling test. Cargo builds a test's own binaries,
    /// but not those of a crate it depends on, so the first call of a process brings them up to date.
    ///
    /// # Errors
    /// A text with what cargo said, or how to build the binary when cargo is not around.
    pub fn locate(self) -> Result<PathBuf, String> {
        static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        let folder = FOLDER.get_or_init(build).clone()?;
        let path = folder.join(self.name());
        if path.is_file() {
            return Ok(path);
        }
        Err(format!(
            "{} is missing: build it with `cargo build -p towline-testkit`",
            path.display()
        ))
    }
}

/// Where the binaries of the calling test's profile lie.
fn folder_of_profile() -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = test.parent().unwrap_or(Path::new("/"));
    // Tests and benchmarks lie one level below the programs.
    let inner = folder
        .file_name()
        .is_some_and(|name| name == "deps" || name == "examples");
    let folder = if inner {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    };
    Ok(folder.to_owned())
}

fn build() -> Result<PathBuf, String> {
    let folder = folder_of_profile()?;
    let (Some(cargo), Some(target), Some(profile)) = (
        std::env::var_os("CARGO"),
        folder.parent(),
        folder.file_name(),
    ) else {
        return Ok(folder);
    };
    let mut command = Command::new(cargo);
    command
        .args([
            "build",
            "--quiet",
            "--locked",
            "-p",
            "towline-testkit",
            "--bins",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", target);
    if profile != "debug" {
        command.arg("--profile").arg(profile);
    }
    let output = command
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("building the programs of towline-testkit: {said}"));
    }
    Ok(folder)
}
