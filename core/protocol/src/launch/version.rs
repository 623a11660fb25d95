//! Versions of the CLI.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::options::Options;

/// A version of the CLI, ordered as such. A pre-release comes before its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
    /// Whether it is a release, not one before it (`-beta.1`).
    pub release: bool,
}

impl Version {
    /// The oldest CLI that is supported.
    pub const MINIMUM: Version = Version::new(2, 0, 0);
    /// The first that honours `client_composed` on user messages (`verbatimPrompts`).
    pub const VERBATIM_PROMPTS: Version = Version::new(2, 1, 248);
    /// The first that knows `--await-initialize`.
    pub const AWAIT_INITIALIZE: Version = Version::new(2, 1, 261);

    /// A release.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Version {
        Version {
            major,
            minor,
            patch,
            release: true,
        }
    }

    /// Reads `2.1.332`, `v2.1.332`, `2.1.332-beta.1` and `2.1.332 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.trim();
        let text = text.strip_prefix('v').unwrap_or(text);
        let word = text.split_whitespace().next()?;
        let word = word.split('+').next().unwrap_or(word);
        let (numbers, release) = match word.split_once('-') {
            Some((numbers, _)) => (numbers, false),
            None => (word, true),
        };
        let mut parts = numbers.split('.').map(|part| {
            part.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| part.parse::<u32>().ok())
                .flatten()
        });
        let version = Version {
            major: parts.next()??,
            minor: parts.next()??,
            patch: parts.next()??,
            release,
        };
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Version {
            major,
            minor,
            patch,
            release,
        } = self;
        write!(
            f,
            "{major}.{minor}.{patch}{}",
            if *release { "" } else { "-pre" }
        )
    }
}

/// What to warn of, now that the CLI has told its version (`claude_code_version` in the answer to
/// `initialize` or in `system/init`); `None` when it tells none, as the first 2.0 releases do.
///
/// Nothing when the host's `CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK` is set.
pub fn version_warnings(
    reported: Option<&str>,
    cli_path: &str,
    options: &Options,
    inherited: &BTreeMap<String, String>,
) -> Vec<String> {
    let skip = inherited
        .get("CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK")
        .is_some_and(|value| !value.is_empty());
    if skip {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    let version = reported.and_then(Version::parse);
    let older = |than: Version| version.is_none_or(|version| version < than);
    if older(Version::MINIMUM) {
        warnings.push(match reported {
            Some(reported) => format!(
                "Claude Code {reported} at {cli_path} is not supported: {} is the oldest that is. \
                 Update it; some features may not work",
                Version::MINIMUM
            ),
            None => format!(
                "Claude Code at {cli_path} does not tell its version and may be too old: {} is the \
                 oldest that is supported. Update it; some features may not work",
                Version::MINIMUM
            ),
        });
    }
    if options.verbatim_prompts && older(Version::VERBATIM_PROMPTS) {
        warnings.push(format!(
            "verbatimPrompts: Claude Code {} at {cli_path} ignores it and still expands @ mentions \
             and slash commands; {} is the first that honours it",
            reported.unwrap_or("of unknown version"),
            Version::VERBATIM_PROMPTS
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn versions_are_read_and_ordered() {
        for (text, expected) in [
            ("2.1.332 (Claude Code)", Some((2, 1, 332, true))),
            (" v2.1.332\n", Some((2, 1, 332, true))),
            ("2.0.0-beta.1", Some((2, 0, 0, false))),
            ("2.1.332+build.5", Some((2, 1, 332, true))),
            ("2.1", None),
            ("2.1.x", None),
            ("2.1.+3", None),
            ("2.1.3.4", None),
            ("2.1.99999999999", None),
            ("", None),
            ("Claude Code", None),
        ] {
            let read = Version::parse(text).map(|v| (v.major, v.minor, v.patch, v.release));
            assert_eq!(read, expected, "{text:?}");
        }
        let order = ["1.9.9", "2.0.0-rc.1", "2.0.0", "2.0.10", "2.1.9", "10.0.0"];
        assert!(order.is_sorted_by_key(|text| Version::parse(text)));
    }

    #[test]
    fn old_versions_are_warned_of_by_path() {
        let none = BTreeMap::new();
        let verbatim = Options {
            verbatim_prompts: true,
            ..Options::default()
        };
        let warn =
            |reported, options: &Options| version_warnings(reported, "/bin/claude", options, &none);
        assert!(warn(Some("2.0.0"), &Options::default()).is_empty());
        for reported in [Some("1.0.128 (Claude Code)"), Some("2.0.0-beta"), None] {
            let warnings = warn(reported, &Options::default());
            assert_eq!(warnings.len(), 1, "{reported:?}");
            assert!(warnings[0].contains("/bin/claude") && warnings[0].contains("2.0.0"));
        }
        assert_eq!(warn(Some("2.1.247"), &verbatim).len(), 1);
        assert_eq!(warn(Some("1.0.0"), &verbatim).len(), 2);
        assert!(warn(Some("2.1.248"), &verbatim).is_empty());

        let skip = |value: &str| {
            let name = "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK".to_string();
            let inherited = BTreeMap::from([(name, value.to_string())]);
            version_warnings(None, "/bin/claude", &verbatim, &inherited).len()
        };
        assert_eq!((skip("1"), skip("0"), skip("")), (0, 0, 2));
    }
}
