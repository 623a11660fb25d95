//! What may not stand in a recording: keys, tokens, account data, home folders.

mod json;
mod keys;
mod lines;
mod names;
mod patterns;
mod values;

use std::borrow::Cow;

use regex_lite::Regex;
use towline_protocol::json::push_string;

pub(crate) use lines::{KeyLines, StreamRedactor};
use names::{is_secret_flag, is_secret_variable, LOGINS};
use patterns::{replace, Pattern, PATTERNS};

use crate::Options;

/// What stands in the place of a secret.
pub(crate) const REDACTED: &str = "[redacted]";
/// A shorter value is no secret, and would be found everywhere.
const SHORTEST_SECRET: usize = 8;
/// How deep in JSON texts a secret with letters that are escaped there is known.
const ESCAPED_SECRETS: usize = 3;
/// How deep JSON in the texts of JSON is read as such.
const DEEPEST: usize = 12;

/// Takes secrets out of lines of the protocol: values of members that hold keys, tokens, headers and
/// variables; what looks like a key or a token; account data and mail addresses; home folders. The
/// shape of a line stays as it is, and so do numbers.
///
/// ```
/// let redactor = towline::Redactor::new();
/// assert_eq!(
///     redactor.line(r#"{"apiKey":"abc","path":"/home/anna/x","text":"sk-ant-api03-0123456789abcdef"}"#),
///     r#"{"apiKey":"[redacted]","path":"/home/user/x","text":"[redacted]"}"#,
/// );
/// ```
#[derive(Clone)]
pub struct Redactor {
    patterns: Vec<(Regex, &'static Pattern)>,
    /// Texts replaced wherever they stand, the longest first.
    known: Vec<(String, String)>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Default for Redactor {
    fn default() -> Redactor {
        Redactor::new()
    }
}

impl Redactor {
    /// What is the same on every machine.
    pub fn new() -> Redactor {
        let compiled = PATTERNS
            .iter()
            .filter_map(|pattern| Some((Regex::new(pattern.pattern).ok()?, pattern)));
        Redactor {
            patterns: compiled.collect(),
            known: Vec::new(),
        }
    }

    /// Also what these options and this process's environment hold: the login variables of this
    /// process, the variables of option `env` with secret names, and the home folder. Headers of
    /// MCP servers are found by the members they stand in, not by their values.
    pub fn of(options: &Options) -> Redactor {
        let mut redactor = Redactor::new();
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if LOGINS.contains(&&*name) {
                redactor = redactor.secret(&value.to_string_lossy());
            }
        }
        let variables = options.env.iter().flat_map(|env| &env.0);
        for (name, value) in variables {
            if let (true, Some(value)) = (is_secret_variable(name), value) {
                redactor = redactor.secret(value);
            }
        }
        match std::env::var("HOME") {
            Ok(home) => redactor.home(&home),
            Err(_) => redactor,
        }
    }

    /// Replaces this text wherever it stands, also as it stands in JSON; one of less than eight
    /// bytes is left alone.
    #[must_use]
    pub fn secret(mut self, value: &str) -> Redactor {
        if value.len() < SHORTEST_SECRET {
            return self;
        }
        let mut value = value.to_string();
        for _ in 0..=ESCAPED_SECRETS {
            self = self.known(value.clone(), REDACTED.into());
            let mut quoted = String::new();
            push_string(&mut quoted, &value);
            let escaped = quoted.trim_start_matches('"').strip_suffix('"');
            match escaped {
                Some(escaped) if quoted.len() != value.len() + 2 => value = escaped.into(),
                _ => break,
            }
        }
        self
    }

    /// Replaces this folder by `/home/user`, also as the CLI writes it in the names of its project
    /// folders (`protocol.md §10`).
    #[must_use]
    pub fn home(self, path: &str) -> Redactor {
        let path = path.trim_end_matches(['/', '\\']);
        if path.len() < 2 {
            return self;
        }
        let key: String = path
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() {
                    letter
                } else {
                    '-'
                }
            })
            .collect();
        self.known(path.into(), "/home/user".into())
            .known(key, "-home-user".into())
    }

    fn known(mut self, text: String, with: String) -> Redactor {
        self.known.push((text, with));
        self.known
            .sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        self
    }

    /// A text without its secrets.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for (known, with) in &self.known {
            if let Some(changed) = replace_whole(&text, known, with) {
                text = Cow::Owned(changed);
            }
        }
        for (regex, pattern) in &self.patterns {
            if pattern.marks.iter().any(|mark| text.contains(mark)) {
                if let Some(changed) = replace(&text, regex, pattern) {
                    text = Cow::Owned(changed);
                }
            }
        }
        text
    }

    /// The arguments of a program without the values of flags that take secrets.
    pub(crate) fn args(&self, args: &[String]) -> Vec<String> {
        let mut value_is_secret = false;
        let mut clean = Vec::with_capacity(args.len());
        for arg in args {
            let is_flag = arg.starts_with('-');
            let named = is_flag.then(|| arg.split_once('=')).flatten();
            clean.push(match named {
                Some((flag, _)) if is_secret_flag(flag) => format!("{flag}={REDACTED}"),
                _ if value_is_secret && !is_flag => REDACTED.into(),
                _ => self.value(arg, DEEPEST).into_owned(),
            });
            value_is_secret = is_flag && named.is_none() && is_secret_flag(arg);
        }
        clean
    }
}

/// Replaces what is not the beginning of a longer name: `/home/ann` does not stand in `/home/anna`.
fn replace_whole(text: &str, known: &str, with: &str) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find(known) {
        let (before, found) = rest.split_at(at);
        let after = found.get(known.len()..).unwrap_or_default();
        out.push_str(before);
        let goes_on = after
            .chars()
            .next()
            .is_some_and(|next| next.is_alphanumeric() || next == '_');
        if goes_on && with != REDACTED {
            out.push_str(known);
        } else {
            // The letter may belong to an escape, which stays one.
            if let (true, Some(letter)) = (before.ends_with('\\'), known.chars().next()) {
                if "bfnrtu\"\\/".contains(letter) {
                    out.push(letter);
                }
            }
            out.push_str(with);
            changed = true;
        }
        rest = after;
    }
    out.push_str(rest);
    changed.then_some(out)
}

#[cfg(test)]
mod tests;
