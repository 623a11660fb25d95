//! Which folder and which file a project and a session are kept in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{worktrees, SavedSessions};
use crate::project::{canonical, is_session_id, long_prefix, project_key_of_path};

/// The folder of a project's sessions.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// The directory the sessions ran in, where the caller has named it.
    pub(super) path: Option<String>,
}

/// The file of a session.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) file: PathBuf,
    pub(super) project: Project,
}

impl SavedSessions {
    /// The transcript of a session: the file that is not empty in the directory's project or in
    /// that of one of its git worktrees; without a directory the newest one in all projects.
    pub fn transcript(&self, session_id: &str, directory: Option<&Path>) -> Option<PathBuf> {
        Some(self.locate(session_id, directory)?.file)
    }

    /// The ids of the saved sessions that begin with `prefix`, in either case, each once and in
    /// order: those of the directory's project and of its git worktrees, without a directory all.
    /// No transcript is opened.
    pub fn ids(&self, prefix: &str, directory: Option<&Path>) -> Vec<String> {
        let projects = match given(directory).map(canonical) {
            Some(directory) => self.projects_of(&directory, true),
            None => self.all_projects(),
        };
        let prefix = prefix.to_ascii_lowercase();
        let mut ids = BTreeSet::new();
        for project in projects {
            let entries = fs::read_dir(&project.folder).into_iter().flatten();
            ids.extend(entries.flatten().filter_map(|entry| {
                let name = entry.file_name();
                let id = name.to_str()?.strip_suffix(".jsonl")?;
                let wanted = is_session_id(id) && id.to_ascii_lowercase().starts_with(&prefix);
                let filled =
                    || fs::metadata(entry.path()).is_ok_and(|it| it.is_file() && it.len() > 0);
                (wanted && filled()).then(|| id.to_owned())
            }));
        }
        ids.into_iter().collect()
    }

    pub(super) fn locate(&self, session_id: &str, directory: Option<&Path>) -> Option<Found> {
        if !is_session_id(session_id) {
            return None;
        }
        match given(directory) {
            Some(directory) => self.locate_in(session_id, &canonical(directory)),
            None => self.locate_anywhere(session_id),
        }
    }

    fn locate_in(&self, session_id: &str, directory: &str) -> Option<Found> {
        let own = self.project(directory).into_iter();
        // The worktrees are asked for if the session is not in the directory's own project.
        let others = std::iter::once_with(|| self.worktree_projects(directory)).flatten();
        let mut files = own.chain(others);
        let found = files.find_map(|project| in_project(session_id, project));
        found.map(|(_, found)| found)
    }

    fn locate_anywhere(&self, session_id: &str) -> Option<Found> {
        let found = self.all_projects().into_iter();
        let found = found.filter_map(|project| in_project(session_id, project));
        found
            .max_by_key(|(modified, _)| *modified)
            .map(|(_, found)| found)
    }

    /// Every file of a session.
    pub(super) fn locate_all(&self, session_id: &str, directory: Option<&Path>) -> Vec<PathBuf> {
        let projects = match given(directory).map(canonical) {
            Some(directory) => {
                let mut projects = self.worktree_projects(&directory);
                projects.extend(self.project(&directory));
                projects
            }
            None => self.all_projects(),
        };
        let files = projects.into_iter();
        files
            .filter_map(|project| in_project(session_id, project))
            .map(|(_, found)| found.file)
            .collect()
    }

    /// The projects of the other worktrees of a directory's repository.
    fn worktree_projects(&self, directory: &str) -> Vec<Project> {
        let paths = worktrees::of(directory);
        let others = paths.iter().filter(|path| *path != directory);
        others.filter_map(|path| self.project(path)).collect()
    }

    /// The project of a directory that is named by its real path.
    pub(super) fn project(&self, path: &str) -> Option<Project> {
        let project = |folder: PathBuf| Project {
            folder,
            path: Some(path.to_owned()),
        };
        let exact = self.projects.join(project_key_of_path(path));
        if exact.is_dir() {
            return Some(project(exact));
        }
        let prefix = long_prefix(path)?;
        self.project_folders()
            .into_iter()
            .find(|folder| has_prefix(folder, &prefix))
            .map(project)
    }

    /// The projects of a directory, named by its real path, and of its git worktrees.
    pub(super) fn projects_of(&self, directory: &str, with_worktrees: bool) -> Vec<Project> {
        let mut projects: Vec<Project> = self.project(directory).into_iter().collect();
        let mut paths = match with_worktrees {
            true => worktrees::of(directory),
            false => Vec::new(),
        };
        if paths.len() <= 1 {
            return projects;
        }
        // A folder that two names fit belongs to the longer one.
        paths.sort_by_key(|path| std::cmp::Reverse(project_key_of_path(path).len()));
        for folder in self.project_folders() {
            if projects.iter().any(|known| known.folder == folder) {
                continue;
            }
            let fits = |path: &&String| {
                folder.ends_with(project_key_of_path(path))
                    || long_prefix(path).is_some_and(|prefix| has_prefix(&folder, &prefix))
            };
            if let Some(path) = paths.iter().find(fits) {
                projects.push(Project {
                    path: Some(path.clone()),
                    folder,
                });
            }
        }
        projects
    }

    pub(super) fn all_projects(&self) -> Vec<Project> {
        let folders = self.project_folders().into_iter();
        folders
            .map(|folder| Project { folder, path: None })
            .collect()
    }

    /// The projects' folders by name.
    fn project_folders(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.projects).into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries
            .filter(|entry| match entry.file_type() {
                Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
                Ok(kind) => kind.is_dir(),
                Err(_) => false,
            })
            .map(|entry| entry.path())
            .collect();
        folders.sort_unstable();
        folders
    }
}

/// A directory that was given: an empty path means none.
pub(super) fn given(directory: Option<&Path>) -> Option<&Path> {
    directory.filter(|directory| !directory.as_os_str().is_empty())
}

fn has_prefix(folder: &Path, prefix: &str) -> bool {
    let name = folder.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(prefix.as_bytes())
}

/// The session's file in a project, unless it is empty, and when it was written.
fn in_project(session_id: &str, project: Project) -> Option<(SystemTime, Found)> {
    let file = project.folder.join(format!("{session_id}.jsonl"));
    let metadata = fs::metadata(&file).ok()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    (metadata.is_file() && metadata.len() > 0).then_some((modified, Found { file, project }))
}
