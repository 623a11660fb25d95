//! The whole command line: launcher, runtime, CLI and arguments.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::argv::Arguments;
use super::environment::{EnvPlan, Platform};
use super::error::LaunchError;
use super::options::Options;

/// What stands before the CLI.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Prefix {
    launcher: Vec<String>,
    /// Whether each argument is quoted for a shell.
    shell: bool,
    pub(super) remote: bool,
    /// The working directory there.
    directory: Option<String>,
    executable: Option<String>,
    executable_args: Vec<String>,
    platform: Platform,
}

/// Launchers after which the CLI sees another file system and other variables.
const REMOTE: &[&str] = &[
    "ssh", "docker", "podman", "nerdctl", "kubectl", "lxc", "wsl",
];

/// Endings of a CLI that a JavaScript runtime runs.
const SCRIPTS: &[&str] = &[".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx"];

impl Options {
    /// The program of the launcher, without its folder.
    fn launcher_program(&self) -> Option<&str> {
        self.launcher.first().map(|path| base_name(path))
    }

    /// Whether the CLI runs where it sees neither this machine's files nor its variables.
    pub fn runs_remotely(&self) -> bool {
        self.launcher_program().is_some_and(|program| {
            self.launcher_remote
                .unwrap_or_else(|| REMOTE.contains(&program))
        })
    }
}

impl Prefix {
    pub(super) fn new(options: &Options, platform: Platform) -> Prefix {
        let program = options.launcher_program();
        let is = |names: &[&str]| program.is_some_and(|program| names.contains(&program));
        let remote = options.runs_remotely();
        Prefix {
            launcher: options.launcher.clone(),
            shell: program.is_some() && options.launcher_shell.unwrap_or(is(&["ssh"])),
            remote,
            directory: options.cwd.clone().filter(|_| remote),
            executable: options.executable.clone(),
            executable_args: options.executable_args.clone(),
            platform,
        }
    }

    /// The command that runs `cli` with `arguments`. A remote CLI gets the directory and the
    /// variables `carried` through a POSIX shell there.
    pub(super) fn command(
        &self,
        cli: &str,
        arguments: Vec<(&'static str, String)>,
        carried: &[(String, String)],
    ) -> Result<Arguments, LaunchError> {
        if self.platform == Platform::Windows {
            refuse_batch_file(cli)?;
        }
        let mut inner: Vec<(&'static str, String)> = Vec::new();
        if let Some(directory) = &self.directory {
            let script = "cd -- \"$0\" && exec \"$@\"";
            for argument in ["sh", "-c", script, directory] {
                inner.push(("cwd", argument.to_string()));
            }
        }
        if self.remote && !carried.is_empty() {
            inner.push(("env", "env".to_string()));
            for (name, value) in carried {
                inner.push(("env", format!("{name}={value}")));
            }
        }
        if is_script(cli) {
            let runtime = self.executable.as_deref().unwrap_or("node");
            inner.push(("executable", runtime.to_string()));
            for argument in &self.executable_args {
                inner.push(("executableArgs", argument.clone()));
            }
        }
        inner.push(("cliPath", cli.to_string()));
        inner.extend(arguments);
        let mut command = Arguments::default();
        for argument in &self.launcher {
            command.flag("launcher", argument);
        }
        for (option, argument) in inner {
            if self.shell {
                command.flag(option, &quoted(&argument));
            } else {
                command.flag(option, &argument);
            }
        }
        Ok(command)
    }

    /// The variables that a remote CLI must be given on the command line: the plan's own, which
    /// hold no secrets. Those of `env` may.
    pub(super) fn carried(&self, env: &EnvPlan, options: &Options) -> Vec<(String, String)> {
        if !self.remote {
            return Vec::new();
        }
        let given = |name: &str| {
            options
                .env
                .as_ref()
                .is_some_and(|given| given.0.contains_key(name))
        };
        env.set
            .iter()
            .filter(|(name, _)| !given(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// Refuses a CLI path that Windows would run through `cmd.exe`. Whatever way a path is written, what
/// it opens is spelled in one of its parts, so every part is looked at, also between the colons
/// of drives and streams, without the dots, spaces and quotes at its end.
pub fn refuse_batch_file(path: &str) -> Result<(), LaunchError> {
    let batch = path.split(['/', '\\', ':']).any(|part| {
        let part = part
            .trim_end_matches(['.', ' ', '"', '\''])
            .to_ascii_lowercase();
        part.ends_with(".bat") || part.ends_with(".cmd")
    });
    if batch {
        return Err(LaunchError::BatchFile {
            path: path.to_string(),
        });
    }
    Ok(())
}

fn is_script(path: &str) -> bool {
    SCRIPTS.iter().any(|ending| path.ends_with(ending))
}

fn base_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// One argument for a POSIX shell.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}
