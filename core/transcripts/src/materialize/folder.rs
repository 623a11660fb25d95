//! The folder that a session is resumed from.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ConfigSources, Contents, Plan};

/// How often the removal is tried again while somebody still holds or writes files, and the pause
/// between.
const REMOVALS: usize = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// A session written to a folder of its own, laid out as a config directory. Dropping it removes
/// the folder.
///
/// The CLI is started with `CLAUDE_CONFIG_DIR` = [`config_dir`](Materialized::config_dir) and
/// `--resume` = [`session_id`](Materialized::session_id), and this is kept until it has gone.
#[derive(Debug)]
pub struct Materialized {
    folder: PathBuf,
    config_dir: PathBuf,
    session_id: String,
    warnings: Vec<String>,
    /// User and group that read the files, when those are not the host's own.
    reader: Option<(u32, u32)>,
    /// A forked child leaves the folder alone.
    owner: u32,
}

impl Plan {
    /// Writes everything to a fresh folder in the system's temporary one, with what the CLI needs
    /// of the user's own: credentials without their refresh token, `.claude.json`, settings without
    /// plugins. Folders have mode 0700 and files 0600; `reader` is the user and group they are for,
    /// `None` the host's own.
    ///
    /// Blocks. Nothing is left behind when it fails.
    pub fn write(
        &self,
        sources: &ConfigSources,
        reader: Option<(u32, u32)>,
    ) -> io::Result<Materialized> {
        let name = format!("towline-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        new_folder(&folder)?;
        let mut made = Materialized {
            config_dir: folder.join("config"),
            folder,
            session_id: self.session_id.clone(),
            warnings: self.warnings.clone(),
            reader,
            owner: std::process::id(),
        };
        made.hand_over(&made.folder)?;
        made.make_folder(&made.config_dir)?;
        for (index, file) in self.files.iter().enumerate() {
            let path = made.config_dir.join(&file.path);
            let written = made.make_folder(path.parent().unwrap_or(&made.config_dir));
            match written.and_then(|()| made.write_file(&path, &file.contents)) {
                // Two subpaths whose files would stand in each other's way: one goes without.
                Err(error) if index > 0 && in_the_way(&error) => {
                    made.warnings
                        .push(format!("{} is left out: {error}", file.path));
                }
                written => written?,
            }
        }
        let mut skipped = Vec::new();
        for (name, contents) in sources.files(|why| skipped.push(why)) {
            let path = made.config_dir.join(name);
            let written = made
                .create(&path)
                .and_then(|mut file| file.write_all(&contents));
            if let Err(error) = written {
                // Half a file would be misread.
                let _ = fs::remove_file(&path);
                skipped.push(format!("{name} is not taken along: {error}"));
            }
        }
        made.warnings.append(&mut skipped);
        Ok(made)
    }
}

fn in_the_way(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory};
    matches!(error.kind(), AlreadyExists | IsADirectory | NotADirectory)
}

fn new_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

impl Materialized {
    /// The folder, named `towline-…`; the config directory is in it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What `CLAUDE_CONFIG_DIR` has to be.
    pub fn config_dir(&self) -> &Path {
        &self.config_dir
    }

    /// What `--resume` has to be, `--continue` being left out.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// What was left out, in words.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn hand_over(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if let Some((uid, gid)) = self.reader {
            return std::os::unix::fs::chown(path, Some(uid), Some(gid));
        }
        let _ = path;
        Ok(())
    }

    /// Makes a folder below ours and those it stands in.
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|parent| *parent != self.folder) {
            self.make_folder(parent)?;
        }
        new_folder(path)?;
        self.hand_over(path)
    }

    fn create(&self, path: &Path) -> io::Result<fs::File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        self.hand_over(path)?;
        Ok(file)
    }

    fn write_file(&self, path: &Path, contents: &Contents) -> io::Result<()> {
        let mut file = BufWriter::new(self.create(path)?);
        match contents {
            Contents::Text(text) => file.write_all(text.as_bytes())?,
            Contents::Lines(entries) => {
                for entry in entries {
                    file.write_all(entry.as_str().as_bytes())?;
                    file.write_all(b"\n")?;
                }
            }
        }
        file.flush()
    }

    /// Removes the folder and everything in it, trying for up to half a second while others still
    /// write to it or hold its files. The same happens when this is dropped; here one learns of a
    /// failure.
    pub fn remove(self) -> io::Result<()> {
        remove(&self.folder)
    }
}

impl Drop for Materialized {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            // Nobody to tell. The folder is for its owner alone.
            let _ = remove(&self.folder);
        }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    let mut tries = 0;
    loop {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {
                return Ok(())
            }
            Err(_) if tries < REMOVALS => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            removed => return removed,
        }
    }
}
