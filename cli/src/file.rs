//! Files that are there whole or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file that only its owner may read, since a conversation can hold anything. One that
/// is there is overwritten if `force` says so. A pipe and a character device (`/dev/stdout`) take
/// what is written; neither they nor a symbolic link are ever replaced by a file.
pub(crate) fn write(path: &Path, content: &[u8], force: bool) -> Result<(), Failure> {
    let taken = || {
        Failure::Failed(format!(
            "{} is there already; --force overwrites it",
            path.display()
        ))
    };
    match fs::metadata(path).map(|there| there.file_type()) {
        Ok(kind) if kind.is_fifo() || kind.is_char_device() => {
            let mut options = OpenOptions::new();
            let written = options.write(true).open(path);
            return written
                .and_then(|mut stream| stream.write_all(content))
                .map_err(|error| Failure::file(path, &error));
        }
        Ok(kind) if !kind.is_file() => {
            return Err(Failure::Failed(format!(
                "{} is there already and no file",
                path.display()
            )));
        }
        _ => {}
    }
    if !force && fs::symlink_metadata(path).is_ok() {
        return Err(taken());
    }
    let target = fs::canonicalize(path);
    let path = target.as_deref().unwrap_or(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = path.with_file_name(format!(".{name}.{}", uuid::Uuid::new_v4()));
    let written = write_new(&unfinished, content).and_then(|()| match force {
        true => fs::rename(&unfinished, path),
        false => match fs::hard_link(&unfinished, path) {
            // Not every file system has links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.exists() => {
                fs::rename(&unfinished, path)
            }
            linked => linked,
        },
    });
    // After a rename it is gone already.
    let _ = fs::remove_file(&unfinished);
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => taken(),
        _ => Failure::file(path, &error),
    })
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    file.sync_all()
}
