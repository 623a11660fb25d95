//! A place for the real CLI to run in: loopback alone, a home of its own, a scripted API.
//!
//! [`Sandbox`] does this for one thread, so that every test of a process has its own; the `isolated`
//! binary does it for a whole process tree.

pub mod namespace;
pub mod runner;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::{sys, ScriptedApi};

/// Set to `1`, lets tests of the real CLI run where no network namespace is permitted.
pub const ALLOW_UNISOLATED: &str = "TOWLINE_ALLOW_UNISOLATED";

/// The environment of a process in the sandbox, and nothing beside it: no key, no proxy and no setting
/// of the user reaches the CLI, and what it writes to the temporary directory goes with the home.
pub fn environment(home: &Path, api_url: &str) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned());
    [
        ("HOME", home.to_string_lossy().as_ref()),
        ("TMPDIR", temporary(home).to_string_lossy().as_ref()),
        ("PATH", path.as_str()),
        ("LANG", "C.UTF-8"),
        // As root the CLI refuses some permission modes unless it is told that it is in a sandbox.
        ("IS_SANDBOX", "1"),
        ("ANTHROPIC_BASE_URL", api_url),
        ("ANTHROPIC_API_KEY", "dummy-not-a-key"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// The directory for temporary files of a home.
fn temporary(home: &Path) -> PathBuf {
    home.join("tmp")
}

/// Makes what [`environment`] relies on.
///
/// # Errors
/// The directories cannot be made.
pub fn prepare_home(home: &Path) -> io::Result<()> {
    fs::create_dir_all(temporary(home))
}

/// A network namespace with loopback alone for the calling thread, a temporary home, and a
/// [`ScriptedApi`] inside.
///
/// Threads and processes started by that thread afterwards are inside as well; other threads are not.
/// Dropping it stops the API, removes the home and, on the thread that entered, goes back to the
/// network namespace it came from.
#[derive(Debug)]
pub struct Sandbox {
    // Dropped in this order: the API ends before the thread leaves.
    api: ScriptedApi,
    home: TempDir,
    namespace: Result<Entered, String>,
}

impl Sandbox {
    /// Enters a fresh sandbox. Where a network namespace is not permitted, everything else is set up
    /// all the same and [`isolated`](Self::isolated) is false.
    ///
    /// # Errors
    /// The temporary home or the API cannot be set up.
    pub fn enter() -> io::Result<Self> {
        let namespace = Entered::new().map_err(|error| error.to_string());
        let home = tempfile::Builder::new().prefix("sandbox-home-").tempdir()?;
        prepare_home(home.path())?;
        let api = ScriptedApi::start()?;
        Ok(Sandbox {
            api,
            home,
            namespace,
        })
    }

    /// Whether nothing but loopback can be reached.
    pub fn isolated(&self) -> bool {
        self.namespace.is_ok()
    }

    /// For tests of the real CLI: an error with a hint when there is no namespace, unless the
    /// environment variable [`ALLOW_UNISOLATED`] is `1`.
    ///
    /// # Errors
    /// A text for whoever runs the tests.
    pub fn require_isolation(&self) -> Result<(), String> {
        let allowed = std::env::var_os(ALLOW_UNISOLATED).is_some_and(|value| value == "1");
        match &self.namespace {
            Err(reason) if !allowed => Err(format!(
                "the real CLI is tested in a network namespace with loopback alone, and none can be \
                 made here: {reason}. Run the tests as root; or, where user namespaces are permitted, \
                 under this crate's `isolated` binary (`isolated --home \"$HOME\" -- cargo test`); or set \
                 {ALLOW_UNISOLATED}=1 to run them without one"
            )),
            _ => Ok(()),
        }
    }

    /// The API that `ANTHROPIC_BASE_URL` names.
    pub fn api(&self) -> &ScriptedApi {
        &self.api
    }

    /// The temporary home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The whole environment for a process in here.
    pub fn env(&self) -> Vec<(String, String)> {
        environment(self.home(), &self.api.url())
    }

    /// Names of inherited variables that would steer a CLI started with the caller's environment
    /// below [`env`](Self::env): a launcher that merges has to unset them.
    pub fn inherited_to_unset(&self) -> Vec<String> {
        let own = self.env();
        std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| steers_the_cli(name) && own.iter().all(|(given, _)| given != name))
            .collect()
    }

    /// A command with exactly that environment, in the home directory.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.env())
            .current_dir(self.home());
        command
    }
}

fn steers_the_cli(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ["CLAUDE", "ANTHROPIC_", "AWS_", "GOOGLE_", "OTEL_", "MCP_"]
        .iter()
        .any(|prefix| upper.starts_with(prefix))
        || upper.ends_with("_PROXY")
}

/// The calling thread's stay in a network namespace of its own.
#[derive(Debug)]
struct Entered {
    thread: libc::pid_t,
    before: File,
}

impl Entered {
    fn new() -> io::Result<Self> {
        let before = File::open("/proc/thread-self/ns/net")?;
        namespace::unshare_network()?;
        Ok(Entered {
            thread: sys::thread_id(),
            before,
        })
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        use std::os::fd::AsFd;
        if self.thread == sys::thread_id() {
            // Staying inside is the safe side when the way back is closed.
            let _ = sys::enter_network_namespace(self.before.as_fd());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_cli_is_told_from_the_rest() {
        for name in [
            "CLAUDECODE",
            "CLAUDE_CONFIG_DIR",
            "ANTHROPIC_AUTH_TOKEN",
            "https_proxy",
        ] {
            assert!(steers_the_cli(name), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "TERM"] {
            assert!(!steers_the_cli(name), "{name}");
        }
    }
}
