//! The CLI's environment variables (`protocol.md §1.4`).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::error::LaunchError;
use super::host::HostSide;
use super::options::{Dialect, Options};
use super::trace_context::TraceContext;
use crate::json;

/// The machine's side of a launch.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The host's own variables. Those that are not Unicode may be left out or given lossily: only
    /// names and what the rules look at count.
    pub inherited: BTreeMap<String, String>,
    /// Whose rules names and command lines follow.
    pub platform: Platform,
    /// What the system takes.
    pub limits: Limits,
    /// The text of the file that [`Options::settings_to_read`] names, or why it cannot be read.
    pub settings_file: Option<Result<String, String>>,
}

/// The kinds of system a launch differs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Platform {
    /// Linux, macOS and their like.
    #[default]
    Unix,
    /// Windows: names of variables have no case, and the command line is one string.
    Windows,
}

/// How long a command line may be. `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one argument or variable with its NUL.
    pub argument: Option<usize>,
    /// Most bytes of all arguments, and of the variables that the plan sets, with a NUL and a
    /// pointer each: what the system takes less what inherited variables use.
    pub total: Option<usize>,
}

impl Limits {
    /// Linux with the usual 8 MiB stack, which leaves 2 MiB, a quarter of that for inherited
    /// variables. Other systems of this kind take 1 MiB or more altogether.
    pub const LINUX: Limits = Limits {
        argument: Some(128 * 1024),
        total: Some(1536 * 1024),
    };
    /// Windows counts UTF-16 units of the whole line; bytes are never fewer.
    pub const WINDOWS: Limits = Limits {
        argument: None,
        total: Some(32_767),
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::LINUX
    }
}

/// What the CLI's variables are. `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct EnvPlan {
    /// Whether the CLI starts from the host's variables, or from none.
    pub inherit: bool,
    /// Variables to set, by name.
    pub set: BTreeMap<String, String>,
    /// Inherited variables to take away first.
    pub unset: BTreeSet<String>,
}

impl fmt::Debug for EnvPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvPlan")
            .field("inherit", &self.inherit)
            .field("set", &self.set.keys())
            .field("unset", &self.unset)
            .finish()
    }
}

/// Variables under construction: what is inherited, and what is changed about it.
struct Variables<'a> {
    inherited: &'a BTreeMap<String, String>,
    plan: EnvPlan,
    windows: bool,
}

impl Variables<'_> {
    fn same(&self, a: &str, b: &str) -> bool {
        if self.windows {
            a.eq_ignore_ascii_case(b)
        } else {
            a == b
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let set = self.plan.set.iter().find(|(key, _)| self.same(key, name));
        if let Some((_, value)) = set {
            return Some(value);
        }
        if !self.plan.inherit || self.plan.unset.iter().any(|key| self.same(key, name)) {
            return None;
        }
        let inherited = self
            .inherited
            .iter()
            .find(|(key, _)| self.same(key, name))?;
        Some(inherited.1)
    }

    fn set(&mut self, name: &str, value: &str) {
        self.remove(name);
        self.plan.unset.remove(name);
        self.plan.set.insert(name.to_string(), value.to_string());
    }

    fn remove(&mut self, name: &str) {
        let windows = self.windows;
        self.plan.set.retain(|key, _| {
            if windows {
                !key.eq_ignore_ascii_case(name)
            } else {
                key != name
            }
        });
        if self.plan.inherit {
            let spellings: Vec<String> = self
                .inherited
                .keys()
                .filter(|key| self.same(key, name))
                .cloned()
                .collect();
            self.plan.unset.extend(spellings);
        }
    }

    /// Whether a variable of that name is there in any case of letters.
    fn has_any_case(&self, name: &str) -> bool {
        let gone = |key: &str| self.plan.unset.contains(key);
        self.plan
            .set
            .keys()
            .chain(
                self.inherited
                    .keys()
                    .filter(|key| self.plan.inherit && !gone(key)),
            )
            .any(|key| key.eq_ignore_ascii_case(name))
    }
}

/// The entry point Towline gives, which every transcript line then carries. The CLI treats a value
/// it does not know as its terminal program; of those it knows as a program's, this is the one that
/// stands for no package.
const TOWLINE_ENTRYPOINT: &str = "sdk-cli";

pub(super) fn environment(
    options: &Options,
    host: &HostSide,
    environment: &Environment,
) -> Result<EnvPlan, LaunchError> {
    let dialect = options.dialect;
    let given = options.env.as_ref();
    let mut variables = Variables {
        inherited: &environment.inherited,
        plan: EnvPlan {
            inherit: dialect != Dialect::TypeScript || given.is_none(),
            ..EnvPlan::default()
        },
        windows: environment.platform == Platform::Windows,
    };
    let gives = |name: &str| {
        given.is_some_and(|given| {
            given
                .0
                .iter()
                .any(|(key, value)| key == name && value.is_some())
        })
    };

    if dialect != Dialect::TypeScript {
        variables.remove("CLAUDECODE");
    }
    match dialect {
        Dialect::Towline => variables.set("CLAUDE_CODE_ENTRYPOINT", TOWLINE_ENTRYPOINT),
        Dialect::Python => variables.set("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
        Dialect::TypeScript => {}
    }
    if dialect == Dialect::Towline {
        variables.remove("NODE_OPTIONS");
        variables.remove("DEBUG");
    }
    if let Some(given) = given {
        for (name, value) in &given.0 {
            if name.is_empty() || name.contains('=') {
                return Err(LaunchError::VariableName { name: name.clone() });
            }
            match value {
                Some(value) => variables.set(name, value),
                None => variables.remove(name),
            }
        }
    }
    if dialect == Dialect::TypeScript {
        if variables
            .get("CLAUDE_CODE_ENTRYPOINT")
            .is_none_or(str::is_empty)
        {
            variables.set("CLAUDE_CODE_ENTRYPOINT", "sdk-ts");
        }
        variables.remove("NODE_OPTIONS");
        if truthy(variables.get("DEBUG_CLAUDE_AGENT_SDK")) {
            variables.set("DEBUG", "1");
        } else {
            variables.remove("DEBUG");
        }
    }
    if dialect != Dialect::Python
        && ["BUN_ENABLE_CRASH_REPORTING", "BUN_CRASH_REPORT_URL"]
            .iter()
            .all(|name| variables.get(name).is_none_or(str::is_empty))
    {
        variables.set("BUN_ENABLE_CRASH_REPORTING", "0");
    }

    let version = host
        .sdk_version
        .as_deref()
        .unwrap_or(env!("CARGO_PKG_VERSION"));
    let version_given = dialect == Dialect::TypeScript
        && given.is_some()
        && variables
            .get("CLAUDE_AGENT_SDK_VERSION")
            .is_some_and(|version| !version.is_empty());
    if !version_given {
        variables.set("CLAUDE_AGENT_SDK_VERSION", version);
    }

    if dialect != Dialect::TypeScript {
        variables.remove("CLAUDE_AGENT_SDK_DERIVED_CLIENT_APP");
    }
    if let Some(client_app) = &options.client_app {
        variables.set("CLAUDE_AGENT_SDK_CLIENT_APP", client_app);
    }

    trace_context(&mut variables, options, host, gives)?;

    if let Some(config_dir) = &host.config_dir {
        variables.set("CLAUDE_CONFIG_DIR", config_dir);
    }
    if !variables.has_any_case("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
        variables.set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
    }
    if options.enable_file_checkpointing {
        variables.set("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
    }
    if let Some(format) = question_preview_format(options) {
        variables.set("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", &format);
    }
    if let Some(cwd) = &options.cwd {
        if dialect != Dialect::TypeScript && !cwd.is_empty() {
            variables.set("PWD", cwd);
        }
    }

    let plan = variables.plan;
    let nul = |text: &str| text.contains('\0');
    if plan.set.iter().any(|(name, value)| nul(name) || nul(value)) {
        return Err(LaunchError::Nul { option: "env" });
    }
    Ok(plan)
}

/// An active span replaces an inherited one as a whole, but never what the caller's `env` gives. The
/// options win over what the host knows of a span.
fn trace_context(
    variables: &mut Variables<'_>,
    options: &Options,
    host: &HostSide,
    gives: impl Fn(&str) -> bool,
) -> Result<(), LaunchError> {
    let given = TraceContext::of_options(options)?;
    let mut headers: Vec<(&str, &str)> = host
        .trace_context
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    if let Some(given) = &given {
        headers.retain(|(name, _)| {
            !["traceparent", "tracestate"]
                .iter()
                .any(|other| name.eq_ignore_ascii_case(other))
        });
        headers.push(("traceparent", &given.traceparent));
        headers.extend(
            given
                .tracestate
                .as_deref()
                .map(|state| ("tracestate", state)),
        );
    }
    if headers
        .iter()
        .any(|(name, _)| name.eq_ignore_ascii_case("traceparent"))
    {
        for name in ["TRACEPARENT", "TRACESTATE"] {
            if !gives(name) {
                variables.remove(name);
            }
        }
    }
    for (name, value) in headers {
        let name = name.to_ascii_uppercase();
        if !gives(&name) {
            variables.set(&name, value);
        }
    }
    Ok(())
}

fn question_preview_format(options: &Options) -> Option<String> {
    let config = options.tool_config.as_ref()?.text();
    let format = json::pointer(config, "/askUserQuestion/previewFormat").ok()??;
    Some(json::string(format)?.into_owned())
}

fn truthy(value: Option<&str>) -> bool {
    value.is_some_and(|value| {
        ["1", "true", "yes", "on"]
            .iter()
            .any(|yes| value.trim().eq_ignore_ascii_case(yes))
    })
}
