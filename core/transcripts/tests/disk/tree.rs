//! A config directory made up for a test.

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use towline_transcripts::{project_key, SavedSessions};

pub(crate) struct Tree {
    root: TempDir,
    pub(crate) saved: SavedSessions,
}

/// The session of that number.
pub(crate) fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// A line with a prompt.
pub(crate) fn prompt(text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{text}","parentUuid":null,"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

impl Tree {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let saved = SavedSessions::in_config_dir(&root.path().join("config"));
        fs::create_dir_all(saved.projects_dir()).unwrap();
        Tree { root, saved }
    }

    /// A directory that sessions may run in; it exists.
    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        let path = self.root.path().join("home").join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// The folder of a directory's sessions; it exists.
    pub(crate) fn folder(&self, directory: &Path) -> PathBuf {
        let folder = self.saved.projects_dir().join(project_key(directory));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Writes a session's transcript, which gets the number as its time in seconds too.
    pub(crate) fn session(
        &self,
        directory: &Path,
        number: u32,
        content: impl AsRef<[u8]>,
    ) -> PathBuf {
        let file = self.folder(directory).join(format!("{}.jsonl", id(number)));
        fs::write(&file, content).unwrap();
        touch(&file, number);
        file
    }
}

pub(crate) fn touch(file: &Path, seconds: u32) {
    let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into());
    let file = File::options().append(true).open(file).unwrap();
    file.set_times(FileTimes::new().set_modified(moment))
        .unwrap();
}
