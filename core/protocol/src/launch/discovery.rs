//! Where the CLI may be (`protocol.md §1.5`).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::environment::Platform;

/// What a search starts from.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The option `cliPath`: a path, or a bare name that is looked up in `PATH`. With it, nothing
    /// else is searched.
    pub cli_path: Option<&'a str>,
    /// A CLI that comes with the host.
    pub bundled: Option<&'a str>,
    /// The host's variables; `PATH` is looked at.
    pub inherited: &'a BTreeMap<String, String>,
    /// The user's home directory.
    pub home: Option<&'a str>,
    /// Whose rules paths follow.
    pub platform: Platform,
}

/// One place to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The path.
    pub path: String,
    /// Why it is a candidate.
    pub origin: Origin,
}

/// Why a path is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The option says so.
    Option,
    /// It comes with the host.
    Bundled,
    /// `PATH` leads there.
    Path,
    /// Installers put it there.
    Known,
    /// A batch file on Windows, which is found only to be refused with the reason: starting it is
    /// never safe.
    Shim,
}

/// Below the home directory, in the official order.
const KNOWN_AT_HOME: &[&str] = &[
    ".npm-global/bin/claude",
    "/usr/local/bin/claude",
    ".local/bin/claude",
    "node_modules/.bin/claude",
    ".yarn/bin/claude",
    ".claude/local/claude",
];

/// The native program beside npm's batch file.
const BESIDE_SHIM: &str = "node_modules/@anthropic-ai/claude-code/bin/claude.exe";

/// The places to look at, the best first. The first that is an executable file is the CLI.
///
/// Entries of `PATH` that are not absolute are left out: they would mean another directory when
/// the host's changes, and on Windows the one whose files an attacker may choose.
pub fn candidates(search: &Search<'_>) -> Vec<Candidate> {
    let mut found = Found(Vec::new());
    if let Some(path) = search.cli_path {
        if path.contains('/') || windows(search) && path.contains(['\\', ':']) {
            found.add(Origin::Option, path.to_string());
        } else {
            let exe = windows(search) && !path.to_ascii_lowercase().ends_with(".exe");
            for directory in directories(search) {
                let name = if exe {
                    format!("{path}.exe")
                } else {
                    path.to_string()
                };
                found.add(Origin::Option, join(search, directory, &name));
            }
        }
        return found.0;
    }
    if let Some(path) = search.bundled {
        found.add(Origin::Bundled, path.to_string());
    }
    if !windows(search) {
        for directory in directories(search) {
            found.add(Origin::Path, join(search, directory, "claude"));
        }
        for place in KNOWN_AT_HOME {
            if place.starts_with('/') {
                found.add(Origin::Known, place.to_string());
            } else if let Some(home) = search.home {
                found.add(Origin::Known, join(search, home, place));
            }
        }
        return found.0;
    }
    for directory in directories(search) {
        found.add(Origin::Path, join(search, directory, "claude.exe"));
    }
    if let Some(home) = search.home {
        found.add(Origin::Known, join(search, home, ".local/bin/claude.exe"));
    }
    for directory in directories(search) {
        found.add(Origin::Path, join(search, directory, BESIDE_SHIM));
    }
    for directory in directories(search) {
        found.add(Origin::Shim, join(search, directory, "claude.cmd"));
    }
    found.0
}

/// What to say when no candidate is there: where it was looked for, and how to get one.
pub fn not_found(search: &Search<'_>) -> String {
    let candidates = candidates(search);
    if let (Some(path), 0 | 1) = (search.cli_path, candidates.len()) {
        return format!(
            "Claude Code not found at: {path}\nCheck the option cliPath, or leave it out to have \
             the CLI looked for."
        );
    }
    let mut text = match search.cli_path {
        Some(name) => format!("Claude Code not found: no \"{name}\" (option cliPath) in PATH"),
        None => "Claude Code not found".to_string(),
    };
    text.push_str(". Looked at:\n");
    for candidate in candidates
        .iter()
        .filter(|candidate| candidate.origin != Origin::Shim)
    {
        text.push_str("  ");
        text.push_str(&candidate.path);
        text.push('\n');
    }
    text.push_str(if windows(search) {
        "Install the native claude.exe (PowerShell):\n  irm https://claude.ai/install.ps1 | iex\n\
         or set the option cliPath to a claude.exe. The claude.cmd that npm installs is never \
         started: Windows runs it through cmd.exe, where arguments can become commands."
    } else {
        "Install it with:\n  npm install -g @anthropic-ai/claude-code\n\
         or set the option cliPath to the path of a claude executable."
    });
    text
}

struct Found(Vec<Candidate>);

impl Found {
    fn add(&mut self, origin: Origin, path: String) {
        if !self.0.iter().any(|candidate| candidate.path == path) {
            self.0.push(Candidate { path, origin });
        }
    }
}

fn windows(search: &Search<'_>) -> bool {
    search.platform == Platform::Windows
}

fn directories<'a>(search: &Search<'a>) -> impl Iterator<Item = &'a str> {
    let windows = windows(search);
    let path = search
        .inherited
        .iter()
        .find(|(name, _)| *name == "PATH" || windows && name.eq_ignore_ascii_case("PATH"))
        .map_or("", |(_, path)| path.as_str());
    path.split(if windows { ';' } else { ':' })
        .map(move |entry| {
            if windows {
                entry.trim_matches('"')
            } else {
                entry
            }
        })
        .filter(move |entry| is_absolute(entry, windows))
}

fn is_absolute(path: &str, windows: bool) -> bool {
    if !windows {
        return path.starts_with('/');
    }
    let mut characters = path.chars();
    let drive = characters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && characters.next() == Some(':')
        && matches!(characters.next(), Some('\\' | '/'));
    drive || path.starts_with("\\\\")
}

fn join(search: &Search<'_>, directory: &str, name: &str) -> String {
    if windows(search) {
        let directory = directory.trim_end_matches(['\\', '/']);
        format!("{directory}\\{}", name.replace('/', "\\"))
    } else {
        format!("{}/{name}", directory.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search<'a>(inherited: &'a BTreeMap<String, String>, platform: Platform) -> Search<'a> {
        Search {
            cli_path: None,
            bundled: None,
            inherited,
            home: Some(match platform {
                Platform::Unix => "/home/me",
                Platform::Windows => "C:\\Users\\me",
            }),
            platform,
        }
    }

    fn path(value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("PATH".to_string(), value.to_string())])
    }

    fn paths(search: &Search<'_>) -> Vec<String> {
        candidates(search)
            .into_iter()
            .map(|candidate| candidate.path)
            .collect()
    }

    #[test]
    fn the_official_order() {
        let inherited = path("/usr/bin::bin:/usr/local/bin/:.");
        let mut search = search(&inherited, Platform::Unix);
        search.bundled = Some("/opt/host/claude");
        assert_eq!(
            paths(&search),
            [
                "/opt/host/claude",
                "/usr/bin/claude",
                "/usr/local/bin/claude",
                "/home/me/.npm-global/bin/claude",
                "/home/me/.local/bin/claude",
                "/home/me/node_modules/.bin/claude",
                "/home/me/.yarn/bin/claude",
                "/home/me/.claude/local/claude",
            ]
        );
        search.cli_path = Some("./claude");
        assert_eq!(paths(&search), ["./claude"]);
        search.cli_path = Some("my-claude");
        assert_eq!(
            paths(&search),
            ["/usr/bin/my-claude", "/usr/local/bin/my-claude"]
        );
        search.cli_path = None;
        search.home = None;
        assert!(paths(&search).contains(&"/usr/local/bin/claude".to_string()));
        assert_eq!(paths(&search).len(), 3);
    }

    #[test]
    fn windows_prefers_native_programs_to_the_batch_file() {
        let inherited = BTreeMap::from([(
            "Path".to_string(),
            "C:\\npm;relative;\"D:\\My Tools\\\";\\\\server\\bin;C:x".to_string(),
        )]);
        let mut search = search(&inherited, Platform::Windows);
        let found = candidates(&search);
        let paths: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(
            paths,
            [
                "C:\\npm\\claude.exe",
                "D:\\My Tools\\claude.exe",
                "\\\\server\\bin\\claude.exe",
                "C:\\Users\\me\\.local\\bin\\claude.exe",
                "C:\\npm\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe",
                "D:\\My Tools\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe",
                "\\\\server\\bin\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe",
                "C:\\npm\\claude.cmd",
                "D:\\My Tools\\claude.cmd",
                "\\\\server\\bin\\claude.cmd",
            ]
        );
        assert!(found
            .iter()
            .all(|found| (found.origin == Origin::Shim) == found.path.ends_with(".cmd")));
        search.cli_path = Some("claude");
        assert_eq!(candidates(&search)[0].path, "C:\\npm\\claude.exe");
        search.cli_path = Some("C:claude.exe");
        assert_eq!(candidates(&search).len(), 1);
    }

    #[test]
    fn not_found_says_where_it_looked_and_how_to_install() {
        let inherited = path("/usr/bin");
        let mut unix = search(&inherited, Platform::Unix);
        let text = not_found(&unix);
        assert!(text.starts_with("Claude Code not found. Looked at:\n  /usr/bin/claude\n"));
        assert!(text.contains("/home/me/.claude/local/claude\n"));
        assert!(text.contains("npm install -g @anthropic-ai/claude-code"));
        assert!(text.contains("cliPath"));
        unix.cli_path = Some("/nowhere/claude");
        assert!(not_found(&unix).starts_with("Claude Code not found at: /nowhere/claude\n"));

        let inherited = path("C:\\npm");
        let text = not_found(&search(&inherited, Platform::Windows));
        assert!(text.contains("C:\\npm\\claude.exe\n") && text.contains("install.ps1"));
        assert!(!text.contains("npm\\claude.cmd"));
        assert!(!text.contains("npm install -g"));
    }
}
