//! `plan`: one pure function from what is wanted to what is started.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::iter::repeat;

use super::argv::{arguments, extra_arguments, POINTER};
use super::command::Prefix;
use super::environment::{environment, EnvPlan, Environment, Limits, Platform};
use super::error::LaunchError;
use super::host::{HostSide, InProcessServer};
use super::initialize::{mcp_file, payload, Delivered};
use super::options::json::{members_of, ObjectWriter};
use super::options::{Delivery, Dialect, Json, McpServers, Options, Timeout};
use super::settings::{inline, is_inline, managed, settings, SettingsValue};
use super::skills::allowed_tools;
use crate::json;

/// What to start, with what, and what to say first. `Debug` shows no values that may be secret.
#[derive(Clone)]
pub struct LaunchPlan {
    /// Arguments for the CLI, without the CLI and without [`LaunchPlan::private_files`].
    pub argv: Vec<String>,
    /// Its variables.
    pub env: EnvPlan,
    /// The payload of the `initialize` request as a JSON object in one line, without `subtype`.
    pub initialize: String,
    /// What to write to files that only the user can read, before the start. They stay until the
    /// CLI has ended: 2.1.197 reads its settings again, and drops them when the file is gone.
    pub private_files: Vec<PrivateFile>,
    /// The directory to start in; `None` is the host's.
    pub cwd: Option<String>,
    /// The user to run as, by name or number; `None` is the host's.
    pub user: Option<String>,
    /// Whether `initialize` must be the very first line (`--await-initialize`).
    pub await_initialize: bool,
    /// Whether every user message says `client_composed: true`.
    pub client_composed: bool,
    /// Limit for the answer to `initialize`.
    pub initialize_timeout: Timeout,
    /// What is likely not meant.
    pub warnings: Vec<Warning>,
    /// The option of each of `argv`.
    sources: Vec<&'static str>,
    prefix: Prefix,
    carried: Vec<(String, String)>,
    limits: Limits,
    env_bytes: usize,
}

/// A file for the CLI alone: mode 0600, in a directory that only the user can enter.
#[derive(Clone, PartialEq, Eq)]
pub struct PrivateFile {
    /// The option it carries.
    pub option: &'static str,
    /// The flag that names it, as `--flag=PATH`.
    pub flag: &'static str,
    /// A name for it.
    pub name: &'static str,
    /// Its contents.
    pub contents: String,
}

/// Options that work, but probably not as meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// The permission handler is never asked about some calls.
    #[error("the permission handler is not asked about {what}, which {option} allows already")]
    PermissionHandlerShadowed {
        /// The option that allows.
        option: &'static str,
        /// What it allows.
        what: String,
    },
    /// An in-process server that the host has not registered.
    #[error(
        "MCP server \"{name}\" is of type sdk, but no in-process server of that name is registered: \
         its messages come to the host as requests"
    )]
    ServerNotRegistered {
        /// Its name.
        name: String,
    },
    /// Variables do not pass a remote launcher.
    #[error(
        "env: {names} reach the launcher, not the CLI behind it; pass them there with the \
         launcher's own arguments"
    )]
    VariablesStayLocal {
        /// Their names.
        names: String,
    },
}

/// Decides a launch.
///
/// Nothing is read or written. The session writes [`LaunchPlan::private_files`], then starts
/// [`LaunchPlan::command`] with [`LaunchPlan::env`], then sends [`LaunchPlan::initialize`].
///
/// # Errors
///
/// Options that contradict one another, that the CLI would refuse at once, or that no command
/// line can hold; each names the option and what to do.
pub fn plan(
    options: &Options,
    host: &HostSide,
    machine: &Environment,
) -> Result<LaunchPlan, LaunchError> {
    let prefix = Prefix::new(options, machine.platform);
    let mirrored = host.store_mirror || options.session_store.mirrored();
    let allowed = allowed_tools(options)?;
    let mut warnings = shadowed(options, host, &allowed);
    let mut argv = arguments(options, host, machine, &allowed, mirrored)?;
    let mut delivered = Delivered::default();
    let mut private_files = Vec::new();
    let mut await_initialize = false;

    let (servers, external) = servers(options, host, &mut warnings)?;
    match external {
        External::None => {}
        External::Path(path) => argv.value("mcpServers", "--mcp-config", path),
        External::Map(map) => {
            if delivery(options.mcp_servers_delivery, &prefix) == Delivery::Initialize {
                await_initialize = true;
                delivered.mcp_servers = Some(map);
            } else {
                private_files.push(PrivateFile {
                    option: "mcpServers",
                    flag: "--mcp-config",
                    name: "mcp-servers.json",
                    contents: mcp_file(&map),
                });
            }
        }
    }
    match settings(options, machine)? {
        None => {}
        Some(SettingsValue::Path(path)) => argv.value("settings", "--settings", path),
        Some(SettingsValue::Json(json)) => {
            if delivery(options.settings_delivery, &prefix) == Delivery::Initialize {
                await_initialize = true;
                argv.value("settings", "--initialize-fields", "settings");
                delivered.settings.push(("settings", json));
            } else {
                private_files.push(PrivateFile {
                    option: "settings",
                    flag: "--settings",
                    name: "settings.json",
                    contents: json,
                });
            }
        }
    }
    if let Some(json) = managed(options) {
        if options.managed_settings_delivery == Some(Delivery::Initialize) {
            await_initialize = true;
            argv.flag("managedSettings", "--managed-settings-in-initialize");
            delivered
                .settings
                .push(("managedSettings", json.to_string()));
        } else {
            argv.value("managedSettings", "--managed-settings", json);
        }
    }
    if options.plugin_delivery == Some(Delivery::Initialize) && !options.plugins.is_empty() {
        await_initialize = true;
        delivered.plugins = true;
    }
    if await_initialize {
        argv.flag("mcpServersDelivery", "--await-initialize");
    }
    extra_arguments(&mut argv, options)?;

    for (option, value) in [
        ("cwd", &options.cwd),
        ("user", &options.user),
        ("cliPath", &options.cli_path),
    ] {
        if value.as_deref().is_some_and(|value| value.contains('\0')) {
            return Err(LaunchError::Nul { option });
        }
    }
    let mut env = environment(options, host, machine)?;
    if prefix.remote {
        env.set.remove("PWD");
    }
    let env_bytes = env_bytes(&env, machine)?;
    argv.check(&machine.limits, env_bytes)?;
    let carried = prefix.carried(&env, options);
    if let (true, Some(given)) = (prefix.remote, &options.env) {
        let names: Vec<&str> = given.0.keys().map(String::as_str).collect();
        if !names.is_empty() {
            warnings.push(Warning::VariablesStayLocal {
                names: names.join(", "),
            });
        }
    }
    let cwd = options.cwd.clone().filter(|cwd| !cwd.is_empty());
    let (sources, argv) = argv.into_parts();
    Ok(LaunchPlan {
        argv,
        sources,
        initialize: payload(options, host, &servers, &delivered)?,
        private_files,
        cwd: cwd.filter(|_| !prefix.remote),
        user: options.user.clone(),
        await_initialize,
        client_composed: options.verbatim_prompts,
        initialize_timeout: initialize_timeout(options, machine),
        warnings,
        env,
        prefix,
        carried,
        limits: machine.limits,
        env_bytes,
    })
}

/// Arguments that every launch has, or that say what a handler of the host needs.
const OWN_ARGUMENTS: &[&str] = &[
    "outputFormat",
    "verbose",
    "inputFormat",
    "canUseTool",
    "mcpServersDelivery",
];

impl LaunchPlan {
    /// The options that only a launch can carry, each once: they have no effect on a CLI that runs
    /// already.
    pub fn launch_options(&self) -> Vec<&'static str> {
        let files = self.private_files.iter().map(|file| file.option);
        let cwd = self.cwd.as_ref().map(|_| "cwd");
        let user = self.user.as_ref().map(|_| "user");
        let mut options = Vec::new();
        for option in self
            .sources
            .iter()
            .copied()
            .chain(files)
            .chain(cwd)
            .chain(user)
        {
            if !OWN_ARGUMENTS.contains(&option) && !options.contains(&option) {
                options.push(option);
            }
        }
        options
    }

    /// The whole command line for the CLI at `cli`: launcher, JavaScript runtime where one is
    /// needed, arguments, and each private file at its path in `files`, in their order.
    ///
    /// # Errors
    ///
    /// A batch file on Windows; a command line that the paths have made too long.
    pub fn command(&self, cli: &str, files: &[&str]) -> Result<Vec<String>, LaunchError> {
        let options = self.sources.iter().copied().chain(repeat("extraArgs"));
        let mut arguments: Vec<(&'static str, String)> =
            options.zip(self.argv.iter().cloned()).collect();
        for (file, path) in self.private_files.iter().zip(files) {
            arguments.push((file.option, format!("{}={path}", file.flag)));
        }
        let command = self.prefix.command(cli, arguments, &self.carried)?;
        command.check(&self.limits, self.env_bytes)?;
        let (_, command) = command.into_parts();
        Ok(command)
    }
}

impl fmt::Debug for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags: Vec<&str> = self
            .argv
            .iter()
            .map(|argument| argument.split('=').next().unwrap_or_default())
            .collect();
        f.debug_struct("LaunchPlan")
            .field("argv", &flags)
            .field("env", &self.env)
            .field("initialize", &self.initialize.len())
            .field("private_files", &self.private_files)
            .field("cwd", &self.cwd)
            .field("user", &self.user)
            .field("await_initialize", &self.await_initialize)
            .field("client_composed", &self.client_composed)
            .field("initialize_timeout", &self.initialize_timeout)
            .field("warnings", &self.warnings)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PrivateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=<{} bytes>", self.flag, self.contents.len())
    }
}

/// What the variables that are set take of the room for the command line: nothing on Windows,
/// where they have room of their own.
fn env_bytes(env: &EnvPlan, machine: &Environment) -> Result<usize, LaunchError> {
    if machine.platform == Platform::Windows {
        return Ok(0);
    }
    let mut total = 0;
    for (name, value) in &env.set {
        let bytes = name.len() + value.len() + 2;
        if let Some(limit) = machine.limits.argument.filter(|limit| bytes > *limit) {
            return Err(LaunchError::VariableTooLong {
                name: name.clone(),
                bytes,
                limit,
            });
        }
        total += bytes + POINTER;
    }
    Ok(total)
}

/// Behind a remote launcher there are no private files.
fn delivery(asked: Option<Delivery>, prefix: &Prefix) -> Delivery {
    asked.unwrap_or(if prefix.remote {
        Delivery::Initialize
    } else {
        Delivery::Argv
    })
}

enum External {
    None,
    Path(String),
    /// The servers as a JSON object.
    Map(String),
}

/// In-process servers apart from those the CLI reaches itself.
fn servers(
    options: &Options,
    host: &HostSide,
    warnings: &mut Vec<Warning>,
) -> Result<(Vec<InProcessServer>, External), LaunchError> {
    let mut servers: Vec<InProcessServer> = Vec::new();
    for server in &host.servers {
        if servers.iter().any(|other| other.name == server.name) {
            return Err(LaunchError::ServerTwice {
                name: server.name.clone(),
            });
        }
        servers.push(server.clone());
    }
    let map = match &options.mcp_servers {
        None => return Ok((servers, External::None)),
        Some(McpServers::Text(text)) if text.trim().is_empty() => {
            return Ok((servers, External::None))
        }
        Some(McpServers::Text(text)) if is_inline(text) => {
            let document = inline("mcpServers", text)?;
            let members = document.members();
            let named = members.iter().find(|(key, _)| key == "mcpServers");
            let map = named.map_or(document.text(), |(_, map)| map);
            return Ok((servers, External::Map(map.to_string())));
        }
        Some(McpServers::Text(path)) => return Ok((servers, External::Path(path.clone()))),
        Some(McpServers::Map(map)) => map,
    };
    let mut external = ObjectWriter::new();
    for (name, configuration) in map.members() {
        let fields = members_of(configuration);
        let field = |wanted: &str| {
            fields
                .iter()
                .find(|(key, _)| key == wanted)
                .map(|(_, value)| *value)
        };
        let in_process = field("type").and_then(json::string).as_deref() == Some("sdk");
        let registered = servers.iter_mut().find(|server| server.name == name);
        if !in_process {
            if registered.is_some() {
                return Err(LaunchError::ServerTwice { name });
            }
            external.raw(&name, configuration);
            continue;
        }
        let timeout_ms = field("timeout").and_then(|value| value.parse().ok());
        let tool_policies = field("tools").and_then(|value| Json::parse(value).ok());
        match registered {
            Some(server) => {
                server.timeout_ms = server.timeout_ms.or(timeout_ms);
                server.tool_policies = server.tool_policies.take().or(tool_policies);
            }
            None => {
                warnings.push(Warning::ServerNotRegistered { name: name.clone() });
                servers.push(InProcessServer {
                    name,
                    timeout_ms,
                    tool_policies,
                    manifest: None,
                });
            }
        }
    }
    let external = if external.is_empty() {
        External::None
    } else {
        External::Map(external.finish())
    };
    Ok((servers, external))
}

/// What `allowedTools` and the permission mode let through before anybody is asked. A host of the
/// Python dialect warns of it itself, with a class that its users can filter by.
fn shadowed(options: &Options, host: &HostSide, allowed: &[String]) -> Vec<Warning> {
    if !host.permission_handler || options.dialect == Dialect::Python {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    if options.permission_mode.as_deref() == Some("bypassPermissions") {
        warnings.push(Warning::PermissionHandlerShadowed {
            option: "permissionMode",
            what: "any call".to_string(),
        });
    }
    let whole: Vec<&str> = allowed.iter().filter_map(|rule| whole_tool(rule)).collect();
    if !whole.is_empty() {
        warnings.push(Warning::PermissionHandlerShadowed {
            option: "allowedTools",
            what: whole.join(", "),
        });
    }
    warnings
}

/// The tool that a rule allows whatever its input: `Read`, `Read()` and `Read(*)`.
fn whole_tool(rule: &str) -> Option<&str> {
    match rule.split_once('(') {
        None if rule.trim().is_empty() => None,
        None => Some(rule),
        Some(("", _)) => None,
        Some((tool, ")" | "*)")) => Some(tool),
        Some(_) => None,
    }
}

/// In the Python dialect the host's `CLAUDE_CODE_STREAM_CLOSE_TIMEOUT` (ms) raises the limit
/// (`protocol.md §12`).
fn initialize_timeout(options: &Options, machine: &Environment) -> Timeout {
    let limit = options.initialize_timeout_ms;
    if options.dialect != Dialect::Python {
        return limit;
    }
    let variable = machine
        .inherited
        .get("CLAUDE_CODE_STREAM_CLOSE_TIMEOUT")
        .and_then(|value| value.trim().parse().ok());
    match (limit.millis(), variable) {
        (Some(limit), Some(raised)) => Timeout::from_millis(limit.max(raised)),
        _ => limit,
    }
}
