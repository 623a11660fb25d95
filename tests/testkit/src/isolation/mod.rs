//! A place for the real CLI to run in: loopback alone, a home of its own, a scripted API.
//!
//! [`Sandbox`] does this for one thread, so that every test of a process has its own; the `isolated`
//! binary does it for a whole process tree.

pub mod namespace;
mod places;
pub mod runner;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::{sys, ScriptedApi};
use places::Places;

/// Set to `1`, lets tests of the real CLI run where no network namespace is permitted.
pub const ALLOW_UNISOLATED: &str = "TOWLINE_ALLOW_UNISOLATED";

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
    places: Places,
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
        let places = Places::new(None)?;
        let api = ScriptedApi::start()?;
        Ok(Sandbox {
            api,
            places,
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
        &self.places.home
    }

    /// The whole environment for a process in here: the home, a directory for temporary files, the API's
    /// URL, a dummy key, and what keeps the CLI from wanting anything else of a network.
    pub fn env(&self) -> Vec<(String, String)> {
        self.places.environment(&self.api.url())
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
