//! The worktrees of a git repository, from its own files: no program is run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::project::nfc;

/// The directories of all worktrees of the repository that `directory` (a real path) lies in, the
/// main one first, as `git worktree list` names them. Nothing outside a repository.
pub(super) fn of(directory: &str) -> Vec<String> {
    let Some(common) = Path::new(directory).ancestors().find_map(repository) else {
        return Vec::new();
    };
    let main = match common.file_name() {
        Some(name) if name == ".git" => common.parent().unwrap_or(&common),
        _ => &common,
    };
    let mut found = vec![nfc(&main.to_string_lossy())];
    let mut linked: Vec<PathBuf> = fs::read_dir(common.join("worktrees"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    linked.sort();
    found.extend(linked.iter().filter_map(|folder| linked_worktree(folder)));
    found
}

/// The folder that all worktrees of a repository share, if `directory` is the top of one of them.
fn repository(directory: &Path) -> Option<PathBuf> {
    let dot_git = directory.join(".git");
    let kind = fs::metadata(&dot_git).ok();
    let own = match kind {
        Some(kind) if kind.is_dir() => dot_git,
        Some(kind) if kind.is_file() => {
            let text = fs::read_to_string(&dot_git).ok()?;
            let path = text.strip_prefix("gitdir:")?.trim();
            directory.join(path).canonicalize().ok()?
        }
        _ => directory.to_path_buf(),
    };
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(path) => own.join(path.trim_end()).canonicalize().ok()?,
        Err(_) => own.clone(),
    };
    let is_repository = own.join("HEAD").is_file()
        && common.join("objects").is_dir()
        && common.join("refs").is_dir();
    is_repository.then_some(common)
}

/// The directory of a linked worktree, from its folder in the repository.
fn linked_worktree(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("gitdir")).ok()?;
    let dot_git = text.trim_end();
    let directory = dot_git.strip_suffix("/.git").unwrap_or(dot_git);
    let path = Path::new(directory);
    let path = if path.is_absolute() {
        path.to_path_buf()
    } else {
        let path = folder.join(path);
        path.canonicalize().unwrap_or(path)
    };
    Some(nfc(&path.to_string_lossy()))
}
