//! Writing generated files, and comparing them with what is committed.

use std::path::{Path, PathBuf};

/// A generated file: its path from the root of the repository, and its text.
pub struct Generated {
    /// The path.
    pub path: &'static str,
    /// The text.
    pub text: String,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Writes the files.
///
/// # Errors
/// Says which one could not be written, and why.
pub fn write(files: &[Generated]) -> Result<(), String> {
    for file in files {
        let path = root().join(file.path);
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, &file.text))
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

/// Compares the files with those in the repository.
///
/// # Errors
/// Says which one differs, from which line on, and how to bring it up to date.
pub fn check(files: &[Generated], command: &str) -> Result<(), String> {
    for file in files {
        let path = root().join(file.path);
        let there = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}; run `{command}`", path.display()))?;
        if there == file.text {
            continue;
        }
        let line = there
            .lines()
            .zip(file.text.lines())
            .take_while(|(a, b)| a == b)
            .count();
        return Err(format!(
            "{} is not up to date from line {} on; run `{command}`",
            file.path,
            line + 1
        ));
    }
    Ok(())
}
