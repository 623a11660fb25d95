//! A PostgreSQL server of a test's own.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{chown, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

const HINT: &str = "PostgreSQL is missing; Debian: apt-get install postgresql";

/// A real server, on a socket in a folder of its own, with an empty database. It is gone with this
/// value, and also when the thread that started it dies.
#[derive(Debug)]
pub struct TemporaryPostgres {
    programs: PathBuf,
    folder: tempfile::TempDir,
    server: Option<Child>,
    /// The port of 127.0.0.1 on which it speaks TLS.
    tls_port: Option<u16>,
}

impl TemporaryPostgres {
    /// Makes the database and starts the server. The error names what to install.
    pub fn start() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("pg").tempdir()?;
        if let Some(user) = unprivileged()? {
            chown(folder.path(), Some(user), None)?;
        }
        let mut postgres = TemporaryPostgres {
            programs: programs()?,
            folder,
            server: None,
            tls_port: None,
        };
        let made = postgres
            .command("initdb")
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata"])
            .arg(postgres.folder.path().join("data"))
            .output()?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(io::Error::other(format!("initdb failed: {said}")));
        }
        postgres.restart()?;
        Ok(postgres)
    }

    /// The URL of the database.
    pub fn url(&self) -> String {
        let socket = self.folder.path().display();
        let port = self.tls_port.unwrap_or(5432);
        format!("postgresql:///postgres?user=postgres&host={socket}&port={port}")
    }

    /// Starts the server anew, now also on this port of 127.0.0.1, where it speaks TLS with this
    /// certificate and its key (PEM).
    pub fn serve_tls(&mut self, port: u16, certificate: &[u8], key: &[u8]) -> io::Result<()> {
        for (name, content) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.folder.path().join("data").join(name);
            fs::write(&path, content)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            if let Some(user) = unprivileged()? {
                chown(&path, Some(user), None)?;
            }
        }
        self.tls_port = Some(port);
        self.restart()
    }

    /// Starts the server over its database, ending the one that runs.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        let mut command = self.command("postgres");
        match self.tls_port {
            None => command.args(["-c", "listen_addresses="]),
            Some(port) => command
                .args(["-c", "listen_addresses=127.0.0.1", "-c", "ssl=on", "-p"])
                .arg(port.to_string()),
        };
        let mut server = command
            .arg("-k")
            .arg(self.folder.path())
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .stderr(Stdio::piped())
            .spawn()?;
        let stderr = server.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
        self.server = Some(server);
        let mut log = BufReader::new(stderr);
        let mut said = String::new();
        while !said.contains("ready to accept connections") {
            if log.read_line(&mut said)? == 0 {
                return Err(io::Error::other(format!("postgres ended: {said}")));
            }
        }
        // A server whose log nobody reads waits for it for ever.
        thread::spawn(move || io::copy(&mut log, &mut io::sink()));
        Ok(())
    }

    /// Ends the server at once, as a crash would; the database stays.
    pub fn stop(&mut self) {
        let Some(mut server) = self.server.take() else {
            return;
        };
        signal_all(&server, libc::SIGCONT);
        if let Ok(pid) = i32::try_from(server.id()) {
            // SAFETY: the pid is that of a child that has not been waited for.
            unsafe { libc::kill(pid, libc::SIGQUIT) };
        }
        let _ = server.wait();
    }

    /// The server hangs: it takes what it is sent, and does nothing any more.
    pub fn freeze(&self) {
        if let Some(server) = &self.server {
            signal_all(server, libc::SIGSTOP);
        }
    }

    /// It goes on.
    pub fn thaw(&self) {
        if let Some(server) = &self.server {
            signal_all(server, libc::SIGCONT);
        }
    }

    /// The server refuses to run as root.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = Command::new("setpriv");
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        }
        command.arg("--pdeathsig=QUIT").arg("--").arg(program);
        command.env("LC_ALL", "C").current_dir(self.folder.path());
        command
    }
}

impl Drop for TemporaryPostgres {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Signals the server and those of its processes that there are.
fn signal_all(server: &Child, signal: i32) {
    let id = server.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let children = children.unwrap_or_default();
    let children = children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok());
    for pid in i32::try_from(id).ok().into_iter().chain(children) {
        // SAFETY: the server has not been waited for, and neither has it waited while it is stopped;
        // before that the worst is that a process of its own has just gone.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Where `initdb` and `postgres` are: on the PATH, or where Debian puts them.
fn programs() -> io::Result<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let has = |folder: &Path, name: &str| folder.join(name).is_file();
    folders
        .into_iter()
        .find(|folder| has(folder, "initdb") && has(folder, "postgres"))
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, HINT))
}

fn is_root() -> bool {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// The id of the user that the server runs as, if that is another one.
fn unprivileged() -> io::Result<Option<u32>> {
    if !is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let user = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some("postgres")).then(|| fields.nth(1))?
    });
    match user.and_then(|id| id.parse().ok()) {
        Some(id) => Ok(Some(id)),
        None => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("the user `postgres` is missing. {HINT}"),
        )),
    }
}
