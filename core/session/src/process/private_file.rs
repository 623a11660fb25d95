//! Files for what may not stand on a command line: only their owner reads them.

use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use towline_transcripts::materialize::Materialized;

/// A folder of files with mode 0600, removed with everything in it when this is dropped.
#[derive(Debug)]
pub(crate) struct PrivateFiles {
    folder: PathBuf,
    /// User and group that read them, when that is not the host's own.
    reader: Option<(u32, u32)>,
    /// A forked child leaves them alone.
    owner: u32,
    /// What the folder belongs to, when it is not ours alone.
    whole: Option<Materialized>,
}

impl PrivateFiles {
    /// A fresh folder, whose files this user and group read; `None` is the host's own.
    pub(crate) fn create(reader: Option<(u32, u32)>) -> io::Result<PrivateFiles> {
        let name = format!("towline-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let files = PrivateFiles {
            folder,
            reader,
            owner: std::process::id(),
            whole: None,
        };
        files.hand_over(&files.folder)?;
        Ok(files)
    }

    /// The files stand beside the config directory of a session from a store, and go with it.
    pub(crate) fn beside(whole: Materialized, reader: Option<(u32, u32)>) -> PrivateFiles {
        PrivateFiles {
            folder: whole.folder().into(),
            reader,
            owner: std::process::id(),
            whole: Some(whole),
        }
    }

    /// The folder, named `towline-…`.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn hand_over(&self, path: &Path) -> io::Result<()> {
        match self.reader {
            Some((uid, gid)) => std::os::unix::fs::chown(path, Some(uid), Some(gid)),
            None => Ok(()),
        }
    }

    /// Writes a file; its name must be a plain one.
    pub(crate) fn write(&self, name: &str, contents: &str) -> io::Result<PathBuf> {
        let path = self
            .folder
            .join(Path::new(name).file_name().unwrap_or(name.as_ref()));
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?
            .write_all(contents.as_bytes())?;
        self.hand_over(&path)?;
        Ok(path)
    }
}

impl Drop for PrivateFiles {
    fn drop(&mut self) {
        if self.owner != std::process::id() || self.whole.is_some() {
            return;
        }
        // A folder that is gone already is what is wanted.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_owner_reads_them_and_they_go() {
        let files = PrivateFiles::create(None).unwrap();
        let path = files.write("mcp.json", "{}").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
        drop(files);
        assert!(!path.exists());
    }
}
