//! `settings`, with the sandbox in them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::environment::Environment;
use super::error::LaunchError;
use super::options::{Dialect, JsonObject, Options, Settings};

/// The settings as they reach the CLI.
#[derive(Debug, PartialEq)]
pub(super) enum SettingsValue {
    /// A file that the CLI reads.
    Path(String),
    /// JSON text.
    Json(String),
}

/// The restriction lists that a merge unites instead of replacing.
const UNITED: &[&str] = &[
    "filesystem.denyRead",
    "filesystem.denyWrite",
    "network.deniedDomains",
    "credentials.files",
    "credentials.envVars",
];

/// Objects that a merge replaces whole.
const REPLACED: &[&str] = &["ripgrep", "network.tlsTerminate"];

const PROXY_PORTS: &[&str] = &["httpProxyPort", "socksProxyPort"];

impl Options {
    /// The settings file whose text [`Environment::settings_file`] must hold for this launch: in
    /// the Python dialect a path in `settings` is read when a `sandbox` is put into it. Relative
    /// to `cwd`; a byte order mark is to be dropped.
    pub fn settings_to_read(&self) -> Option<&str> {
        if self.dialect != Dialect::Python || self.sandbox.is_none() {
            return None;
        }
        match self.settings.as_ref()? {
            Settings::Text(text) if !is_inline(text) => Some(text.trim()),
            _ => None,
        }
    }
}

pub(super) fn settings(
    options: &Options,
    environment: &Environment,
) -> Result<Option<SettingsValue>, LaunchError> {
    let given = match &options.settings {
        None => extra_argument(options),
        Some(Settings::Text(text)) => Some(text.as_str()),
        Some(Settings::Object(object)) => Some(object.text()),
    }
    .filter(|text| !text.is_empty());
    let Some(sandbox) = &options.sandbox else {
        return match given {
            None => Ok(None),
            Some(text) if is_inline(text) => {
                let object = inline("settings", text)?;
                Ok(Some(SettingsValue::Json(object.text().to_string())))
            }
            Some(path) => Ok(Some(SettingsValue::Path(path.to_string()))),
        };
    };
    let sandbox = tree("sandbox", sandbox.text())?;
    let mut merged = match given {
        None => Map::new(),
        Some(text) if is_inline(text) => tree("settings", text)?,
        Some(path) if options.dialect == Dialect::Python => read(path.trim(), environment)?,
        Some(path) => {
            return Err(LaunchError::SandboxWithSettingsFile {
                path: path.to_string(),
            })
        }
    };
    let sandbox = if options.dialect == Dialect::Python {
        sandbox
    } else {
        combined(merged.remove("sandbox"), sandbox)
    };
    merged.insert("sandbox".to_string(), Value::Object(sandbox));
    Ok(Some(SettingsValue::Json(Value::Object(merged).to_string())))
}

/// `managedSettings` as JSON text.
pub(super) fn managed(options: &Options) -> Option<&str> {
    options.managed_settings.as_ref().map(JsonObject::text)
}

/// Whether `extraArgs` gives the settings, which then are the settings like any other: two flags
/// of that name would not add up.
pub(super) fn extra_argument(options: &Options) -> Option<&str> {
    options
        .extra_args
        .0
        .iter()
        .find(|(flag, _)| flag == "settings")
        .and_then(|(_, value)| value.as_deref())
}

/// How both packages and the CLI tell JSON text from a path.
pub(super) fn is_inline(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && text.ends_with('}')
}

pub(super) fn inline(option: &'static str, text: &str) -> Result<JsonObject, LaunchError> {
    JsonObject::parse(text).map_err(|reason| LaunchError::NotJson { option, reason })
}

fn tree(option: &'static str, text: &str) -> Result<Map<String, Value>, LaunchError> {
    serde_json::from_str(text).map_err(|error| LaunchError::NotJson {
        option,
        reason: error.to_string(),
    })
}

fn read(path: &str, environment: &Environment) -> Result<Map<String, Value>, LaunchError> {
    let refused = |reason: String| LaunchError::SettingsFile {
        path: path.to_string(),
        reason,
    };
    match &environment.settings_file {
        None => Err(refused("its text was not given".to_string())),
        Some(Err(reason)) => Err(refused(reason.clone())),
        Some(Ok(text)) => serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text))
            .map_err(|error| refused(error.to_string())),
    }
}

/// The sandbox option over the sandbox of inline settings, by the TypeScript package's rules: what
/// the option sets replaces the value at the same path, restriction lists are united, and what
/// would switch a restriction of the option off is dropped.
fn combined(base: Option<Value>, option: Map<String, Value>) -> Map<String, Value> {
    let field = |object: &Map<String, Value>, group: &str, name: &str| {
        object.get(group).and_then(|group| group.get(name)).cloned()
    };
    let mut merged = merge(base, &option, "");

    let denies_files = field(&option, "credentials", "files")
        .as_ref()
        .and_then(Value::as_array)
        .is_some_and(|files| files.iter().any(|file| file["mode"] == "deny"));
    let restricts_files = option.contains_key("filesystem") || denies_files;
    if restricts_files && field(&option, "filesystem", "disabled").is_none() {
        if let Some(Value::Object(filesystem)) = merged.get_mut("filesystem") {
            if filesystem.get("disabled") == Some(&Value::Bool(true)) {
                filesystem.remove("disabled");
            }
        }
    }

    let network = |name: &str| field(&option, "network", name);
    let denies_domains = network("deniedDomains")
        .as_ref()
        .and_then(Value::as_array)
        .is_some_and(|domains| !domains.is_empty());
    let restricts_network = network("allowedDomains").is_some()
        || denies_domains
        || network("strictAllowlist") == Some(Value::Bool(true));
    if restricts_network {
        if let Some(Value::Object(merged)) = merged.get_mut("network") {
            for port in PROXY_PORTS {
                if network(port).is_none() {
                    merged.remove(*port);
                }
            }
        }
    }

    if option.get("enabled") == Some(&Value::Bool(true)) {
        merged
            .entry("failIfUnavailable")
            .or_insert(Value::Bool(true));
    }
    merged
}

fn merge(base: Option<Value>, over: &Map<String, Value>, place: &str) -> Map<String, Value> {
    let mut merged = match base {
        Some(Value::Object(base)) => base,
        _ => Map::new(),
    };
    for (key, value) in over {
        let path = match place {
            "" => key.clone(),
            place => alloc::format!("{place}.{key}"),
        };
        let known = merged.remove(key);
        let value = match (known, value) {
            (Some(Value::Array(known)), Value::Array(value)) if UNITED.contains(&path.as_str()) => {
                let mut united: Vec<Value> = Vec::new();
                for entry in known.iter().chain(value) {
                    if !united.contains(entry) {
                        united.push(entry.clone());
                    }
                }
                Value::Array(united)
            }
            (Some(known @ Value::Object(_)), Value::Object(value))
                if !REPLACED.contains(&path.as_str()) =>
            {
                Value::Object(merge(Some(known), value, &path))
            }
            (_, value) => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}
