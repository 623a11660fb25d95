//! Files that hold what was said: for their owner alone, and none whose opening waits.

use std::fs::{File, FileType, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{fcntl_getfl, fcntl_setfl, OFlags};

/// Group and others.
const OTHERS: u32 = 0o077;

/// Opens a file for its owner alone, also one that is there already: to add to, or anew. A
/// character device will do too; a FIFO or a socket, whose opening may wait for another program,
/// will not, unless it is what `/dev/stderr` and its like name: that is open already.
pub(crate) fn open_private(path: &Path, append: bool) -> io::Result<File> {
    let fits = |kind: FileType| kind.is_file() || kind.is_char_device();
    refuse(path, fits)?;
    let file = OpenOptions::new()
        .write(true)
        .append(append)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let found = file.metadata()?;
    check(path, found.file_type(), fits)?;
    wait_again(&file)?;
    if found.is_file() {
        let mode = found.permissions().mode();
        if mode & OTHERS != 0 {
            file.set_permissions(Permissions::from_mode(mode & 0o7777 & !OTHERS))?;
        }
        if !append {
            file.set_len(0)?;
        }
    }
    Ok(file)
}

/// Reads a file whole; what may wait or never end is none.
pub(super) fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let fits = |kind: FileType| kind.is_file();
    refuse(path, fits)?;
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    check(path, file.metadata()?.file_type(), fits)?;
    wait_again(&file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether both name one regular file, which need not be there yet.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
        return a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let place = |path: &Path| {
        // A link to what is not there yet.
        let linked = std::fs::read_link(path).ok();
        let path = match &linked {
            Some(target) => path.parent()?.join(target),
            None => path.into(),
        };
        let folder = match path.parent()? {
            here if here.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    matches!((place(a), place(b)), (Some(a), Some(b)) if a == b)
}

/// Refuses what is there and does not fit, before it is touched.
fn refuse(path: &Path, fits: impl Fn(FileType) -> bool) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(found) => check(path, found.file_type(), fits),
        Err(_) => Ok(()),
    }
}

fn check(path: &Path, kind: FileType, fits: impl Fn(FileType) -> bool) -> io::Result<()> {
    // What this process holds open already, such as `/dev/fd/63` of a shell.
    let is_own = kind.is_fifo() && (path.starts_with("/dev") || path.starts_with("/proc"));
    if fits(kind) || is_own {
        return Ok(());
    }
    let what = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what}, not a file"),
    ))
}

/// Opening did not wait; reading and writing may.
fn wait_again(file: &File) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    fcntl_setfl(file, flags - OFlags::NONBLOCK)?;
    Ok(())
}
