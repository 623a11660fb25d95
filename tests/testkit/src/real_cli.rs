//! Where the pinned CLIs lie once `tests/real-cli` is installed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Which of the pinned CLIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 2.1.332, the version every test runs on.
    Current,
    /// 2.1.197, which lacks what `protocol.md §13` lists.
    Older,
}

impl Version {
    /// The version number, as `claude --version` prints it.
    pub fn number(self) -> &'static str {
        match self {
            Version::Current => "2.1.332",
            Version::Older => "2.1.197",
        }
    }

    /// The platform package that holds the native binary. The `claude-code` package itself only
    /// links to it in an install script, which the installation does not run.
    fn package(self) -> &'static str {
        match self {
            Version::Current => "claude-agent-sdk-linux-x64",
            Version::Older => "claude-code-linux-x64",
        }
    }
}

/// The real CLIs that `tests/real-cli/package.json` pins. They are installed for tests and the demo
/// only, and never shipped.
#[derive(Debug)]
pub struct RealCli;

impl RealCli {
    /// The absolute path of the executable of that version.
    ///
    /// # Errors
    /// A text that says where it was looked for and which command installs it.
    pub fn locate(version: Version) -> Result<PathBuf, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("real-cli");
        locate_in(&folder, version)
    }
}

fn locate_in(folder: &Path, version: Version) -> Result<PathBuf, String> {
    let path = folder
        .join("node_modules/@anthropic-ai")
        .join(version.package())
        .join("claude");
    let problem = match path.metadata() {
        Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => {
            return Ok(path);
        }
        Ok(_) => "is not an executable file".to_owned(),
        Err(error) => format!("cannot be used ({error})"),
    };
    let platform = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        ""
    } else {
        "; the pinned build exists for Linux on x86-64 only"
    };
    Err(format!(
        "Claude Code CLI {}: {} {problem}. Install the pinned CLIs with `make cli`{platform}",
        version.number(),
        path.display(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_missing_cli_names_the_command_that_installs_it() {
        let empty = tempfile::tempdir().unwrap();
        for version in [Version::Current, Version::Older] {
            let error = locate_in(empty.path(), version).unwrap_err();
            assert!(error.contains("`make cli`"), "{error}");
            assert!(error.contains(version.number()), "{error}");
            assert!(
                error.contains(empty.path().to_str().unwrap()),
                "the place looked at is named: {error}"
            );
        }
    }

    #[test]
    fn a_file_without_the_executable_bit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder
            .path()
            .join("node_modules/@anthropic-ai/claude-code-linux-x64");
        fs::create_dir_all(&package).unwrap();
        let file = package.join("claude");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(locate_in(folder.path(), Version::Older).is_err());
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate_in(folder.path(), Version::Older).unwrap(), file);
    }
}
