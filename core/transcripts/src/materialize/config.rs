//! What a resumed CLI needs of the user's own config directory.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use towline_protocol::json::{self, Kind};

/// Settings that only do harm in a config directory without plugins: each marketplace would be
/// fetched anew at every resume.
const PLUGINS: [&str; 2] = ["enabledPlugins", "extraKnownMarketplaces"];

/// Where the user's credentials and settings are.
#[derive(Debug, Clone, Default)]
pub struct ConfigSources {
    /// The folder with `.credentials.json` and `settings.json`.
    folder: Option<PathBuf>,
    /// `.claude.json`, which stands beside the default folder but in one that was chosen.
    global: Option<PathBuf>,
    /// Credentials from elsewhere than a file, as JSON text.
    keychain: Option<String>,
}

impl ConfigSources {
    /// The places that the CLI itself looks at, `variable` giving the variables it would have:
    /// `CLAUDE_CONFIG_DIR` unless empty, else `.claude` in the home folder. On macOS the keychain
    /// too, unless that folder was chosen or the variables carry a key or token.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> ConfigSources {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        if let Some(folder) = given("CLAUDE_CONFIG_DIR") {
            let folder = PathBuf::from(folder);
            return ConfigSources {
                global: Some(folder.join(".claude.json")),
                folder: Some(folder),
                keychain: None,
            };
        }
        let home = given("HOME").or_else(|| given("USERPROFILE"));
        let home = home.map(PathBuf::from);
        let by_variable = ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"];
        let keychain = match by_variable.iter().any(|name| given(name).is_some()) {
            true => None,
            false => keychain(&given("USER").unwrap_or_else(|| "claude-code-user".into())),
        };
        ConfigSources {
            folder: home.as_ref().map(|home| home.join(".claude")),
            global: home.map(|home| home.join(".claude.json")),
            keychain,
        }
    }

    /// The folder of the projects' folders, which the CLI writes transcripts to.
    pub fn projects(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("projects"))
    }

    /// Every file to copy: its name in the new folder and what stands in it. What is not there is
    /// left out; `skipped` hears of what cannot be read.
    pub(super) fn files(&self, mut skipped: impl FnMut(String)) -> Vec<(&'static str, Vec<u8>)> {
        let mut read = |path: Option<PathBuf>| {
            let path = path?;
            regular_file(&path).unwrap_or_else(|error| {
                skipped(format!("{} is not taken along: {error}", path.display()));
                None
            })
        };
        let of_folder = |name: &str| self.folder.as_ref().map(|folder| folder.join(name));
        let mut files = Vec::new();
        let saved = read(of_folder(".credentials.json"));
        let credentials = self.keychain.clone().map(String::into_bytes).or(saved);
        if let Some(credentials) = credentials {
            let kept = without_refresh_token(&credentials).into_owned();
            files.push((".credentials.json", kept));
        }
        if let Some(global) = read(self.global.clone()) {
            files.push((".claude.json", global));
        }
        for name in ["settings.json", "cowork_settings.json"] {
            if let Some(settings) = read(of_folder(name)) {
                files.push((name, without_plugins(&settings).into_owned()));
            }
        }
        files
    }
}

/// The contents of a file; `None` when there is none. A FIFO or a device is never opened.
fn regular_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    fs::read(path).map(Some)
}

/// Credentials without `claudeAiOauth.refreshToken`. A resumed CLI that used it would leave the
/// user's own credentials with a token that is spent. What is no JSON object is left as it is: the
/// CLI cannot read it either.
pub fn without_refresh_token(credentials: &[u8]) -> Cow<'_, [u8]> {
    edited(credentials, |text| {
        inside(text, "claudeAiOauth", "refreshToken")
    })
}

/// Settings without plugins and without a `CLAUDE_CONFIG_DIR` in `env`, which would lead the CLI
/// away from its new folder. What is no JSON object is left as it is.
pub fn without_plugins(settings: &[u8]) -> Cow<'_, [u8]> {
    edited(settings, |text| {
        let env = inside(text, "env", "CLAUDE_CONFIG_DIR");
        let plugins = without_members(env.as_deref().unwrap_or(text), &PLUGINS);
        plugins.or(env)
    })
}

/// `edit` gives the new text, `None` to keep the old bytes. A byte order mark is no part of JSON.
fn edited(bytes: &[u8], edit: impl FnOnce(&str) -> Option<String>) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    match edit(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Some(text) => Cow::Owned(text.into_bytes()),
        None => Cow::Borrowed(bytes),
    }
}

/// The object without these members; `None` when it has none of them or is no object. Other values
/// keep their text, numbers of any size too.
pub(super) fn without_members(text: &str, names: &[&str]) -> Option<String> {
    rewritten(text, |name, _| match names.contains(&name) {
        true => Change::Drop,
        false => Change::Keep,
    })
}

/// The object with member `name` of its member `outer` left out; `None` when it is not there.
fn inside(text: &str, outer: &str, name: &str) -> Option<String> {
    rewritten(text, |member, value| {
        let inner = (member == outer && Kind::of(value) == Some(Kind::Object))
            .then(|| without_members(value, &[name]))
            .flatten();
        inner.map_or(Change::Keep, Change::Replace)
    })
}

/// What becomes of a member.
enum Change {
    Keep,
    Drop,
    Replace(String),
}

/// The object with its members changed; `None` when none was, or when it is no object.
fn rewritten(text: &str, mut change: impl FnMut(&str, &str) -> Change) -> Option<String> {
    let mut changed = false;
    let mut out = String::from("{");
    json::members(text, |name, value| {
        let change = change(name, value);
        changed |= !matches!(change, Change::Keep);
        let value = match &change {
            Change::Keep => value,
            Change::Drop => return,
            Change::Replace(value) => value,
        };
        if out.len() > 1 {
            out.push(',');
        }
        json::push_string(&mut out, name);
        out.push(':');
        out.push_str(value);
    })
    .ok()?;
    out.push('}');
    changed.then_some(out)
}

/// The credentials that the CLI keeps in the macOS keychain while `CLAUDE_CONFIG_DIR` is unset.
/// With another folder it looks for others, so they have to stand in a file there.
#[cfg(target_os = "macos")]
fn keychain(user: &str) -> Option<String> {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let mut child = Command::new("security")
        .args(["find-generic-password", "-a", user, "-w", "-s"])
        .arg("Claude Code-credentials")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                // It has ended by itself meanwhile, or it ends now.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
    let output = child.wait_with_output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.into())
}

#[cfg(not(target_os = "macos"))]
fn keychain(_: &str) -> Option<String> {
    None
}
