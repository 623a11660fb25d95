//! Files that only their owner may read, and that are there whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Writes a file that must not exist yet.
pub(super) fn create(file: &Path, content: &[u8]) -> io::Result<()> {
    let unfinished = Unfinished::write(file, content)?;
    match fs::hard_link(&unfinished.path, file) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        Ok(()) => Ok(()),
        // Not every file system has links.
        Err(_) if !file.exists() => unfinished.rename(file),
        Err(error) => Err(error),
    }
}

/// Writes a file in place of the one that may be there; its folder is made if there is none.
pub(super) fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        make_folder(folder)?;
    }
    Unfinished::write(file, content)?.rename(file)
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A file under a name that nobody looks for. It goes when it is dropped.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn write(beside: &Path, content: &[u8]) -> io::Result<Self> {
        let name = beside.file_name().unwrap_or_default().to_string_lossy();
        let path = beside.with_file_name(format!(".{name}.{}", Uuid::new_v4()));
        let mut file = open_new(&path)?;
        let unfinished = Unfinished { path };
        file.write_all(content)?;
        file.sync_all()?;
        Ok(unfinished)
    }

    fn rename(&self, file: &Path) -> io::Result<()> {
        fs::rename(&self.path, file)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename it is gone already.
        let _ = fs::remove_file(&self.path);
    }
}

fn open_new(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
