//! What may not stand in a recording: keys, tokens, account data, home folders.

use std::borrow::Cow;

use regex_lite::Regex;
use towline_protocol::json;

use crate::Options;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";
/// A shorter value is no secret, and would be found everywhere.
const SHORTEST_SECRET: usize = 8;
/// How deep in JSON texts a secret with letters that are escaped there is known.
const ESCAPED_SECRETS: usize = 3;
/// How deep JSON in the texts of JSON is read as such.
const DEEPEST: usize = 12;
/// A private key over several lines has fewer of them.
const MOST_KEY_LINES: usize = 400;
/// What stands behind a secret's name in programs and sentences.
const NO_SECRETS: [&str; 18] = [
    "string",
    "number",
    "boolean",
    "bool",
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "unknown",
    "invalid",
    "missing",
    "expired",
    "redacted",
    "bearer",
    "basic",
];
/// What the CLI and this library are logged in with.
const LOGINS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
];
/// Members whose texts are secrets, whatever they are; compared without case, `-` and `_`.
const SECRET_MEMBERS: [&str; 21] = [
    "apikey",
    "xapikey",
    "authorization",
    "proxyauthorization",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "idtoken",
    "oauthtoken",
    "sessiontoken",
    "token",
    "password",
    "passwd",
    "secret",
    "clientsecret",
    "privatekey",
    "cookie",
    "setcookie",
    "credentials",
    "env",
    "headers",
];
/// Members about the account.
const ACCOUNT_MEMBERS: [&str; 10] = [
    "account",
    "email",
    "emailaddress",
    "organization",
    "organizationname",
    "organizationuuid",
    "organizationid",
    "accountuuid",
    "accountid",
    "userid",
];
/// Texts that are secrets wherever they stand.
struct Pattern {
    /// One of these stands in every such text: the rest need not be looked at closely.
    marks: &'static [&'static str],
    /// Matched against the text as [`without_escapes`] shows it.
    pattern: &'static str,
    found: Found,
}

/// What of a match is the secret.
#[derive(Clone, Copy)]
enum Found {
    /// Its first group, or all of it.
    Text(&'static str),
    /// The value that follows it.
    Value,
    /// The value that follows it, where it looks like one: the name may stand in a sentence.
    LikelyValue,
}

static PATTERNS: [Pattern; 14] = [
    Pattern {
        marks: &["PRIVATE KEY"],
        pattern: concat!(
            r#"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[^"\x01]|\x01*"[\s+,]*\x01*")*?"#,
            r#"(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)"#,
            r#"|-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[^"\x01]*"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &[
            "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gh", "glpat-", "npm_", "pypi-", "xox",
            "AKIA", "ASIA", "AIza", "hf_",
        ],
        pattern: r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}|\bhf_[A-Za-z0-9]{20,}",
        found: Found::Text(REDACTED),
    },
    // One that was cut is known by its first two parts.
    Pattern {
        marks: &["eyJ"],
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["earer", "EARER", "asic", "ASIC"],
        pattern: r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{8,})",
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &[
            "KEY",
            "TOKEN",
            "SECRET",
            "PASSWORD",
            "PASSWD",
            "CREDENTIALS",
        ],
        pattern: concat!(
            r#"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS)"#,
            r#"["'\x01]*[ \t]*[=:][ \t]*"#,
        ),
        found: Found::Value,
    },
    Pattern {
        marks: &["ey", "EY", "oken", "ecret", "assw", "ASSW"],
        pattern: concat!(
            r#"(?i)(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|auth[-_]?key"#,
            r#"|token|secret|password|passwd|passphrase)["'\x01]*[ \t]*(?::=|=>|[=:])[ \t]*"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["--"],
        pattern: concat!(
            r#"(?i)--[a-z0-9_-]*(?:api[-_]?key|access[-_]?key|secret[-_]?key"#,
            r#"|token|secret|password|passwd|passphrase)[ \t]+"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["uthorization", "UTHORIZATION"],
        pattern: concat!(
            r#"(?i)authorization["'\x01]*[ \t]*[=:][ \t]*"#,
            r#"(?:(?:basic|bearer|digest|negotiate|token)[ \t]+)?"#,
        ),
        found: Found::LikelyValue,
    },
    Pattern {
        marks: &["ookie", "OOKIE"],
        pattern: concat!(
            r#"(?i)\bcookie["'\x01]*[ \t]*:[ \t]*["'\x01]*"#,
            r#"([^\s"'\x01=;:,]+=[^\r\n"'\x01]+)"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["curl"],
        pattern: concat!(
            r#"\bcurl\b[^\r\n]*?\s(?:-u|--user|--proxy-user)[\s=]*["'\x01]*"#,
            r#"([^\s:"'\x01]+:[^\s"'\x01]+)"#,
        ),
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["://"],
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:"'\x01]*:([^\s/"'\x01]+)@"#,
        found: Found::Text(REDACTED),
    },
    Pattern {
        marks: &["@"],
        pattern: r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b",
        found: Found::Text("user@example.com"),
    },
    Pattern {
        marks: &["home/", "Users/"],
        pattern: concat!(
            r"/(?:home|Users)/+([^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]+",
            r"(?: [A-Z][^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]*){1,2})(?:[/\\\x01\x22']|$)",
            r"|/(?:home|Users)/+([^/\\\s:;,<>|*?\x01\x22'`()\[\]{}]+)",
        ),
        found: Found::Text("user"),
    },
    // As many backslashes before the name as before the folder: a further one begins an escape.
    Pattern {
        marks: &["\\Users\\"],
        pattern: concat!(
            r"[A-Za-z]:(?:\\Users\\|\\{2}Users\\{2}|\\{4}Users\\{4}|\\{8}Users\\{8}|\\{16}Users\\{16})",
            r"(?:([^/\\\s:;,<>|*?\x22'`()\[\]{}]+(?: [A-Z][^/\\\s:;,<>|*?\x22'`()\[\]{}]*){1,2})",
            r"(?:[/\\\x22']|$)|([^/\\\s:;,<>|*?\x22'`()\[\]{}]+))",
        ),
        found: Found::Text("user"),
    },
];

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
            json::push_string(&mut quoted, &value);
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

    /// A text that may be JSON itself.
    fn value<'a>(&self, text: &'a str, depth: usize) -> Cow<'a, str> {
        let is_json = depth > 0
            && text.trim_start().starts_with(['{', '[', '"'])
            && json::validate(text).is_ok();
        match is_json {
            true => Cow::Owned(self.json(text, depth - 1)),
            false => self.text(text),
        }
    }

    /// A line of the protocol without its secrets; one that is not JSON is taken as a text.
    pub fn line(&self, line: &str) -> String {
        match json::validate(line) {
            Ok(()) => self.json(line, DEEPEST),
            Err(_) => self.text(line).into_owned(),
        }
    }

    /// The beginning of a line that goes on, cut anywhere. A secret at its very end, of which the
    /// cut has left too little to know it by, may stay: the caller drops the end.
    pub(crate) fn beginning(&self, text: &str) -> String {
        if !text.trim_start().starts_with(['{', '[']) {
            return self.text(text).into_owned();
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            if *byte != b'"' {
                at += 1;
                continue;
            }
            let end = string_end(bytes, at);
            if end >= bytes.len() && !is_whole(text.get(at..).unwrap_or_default()) {
                let mut closed = self.json(&closed_string(text, at), DEEPEST);
                closed.pop();
                return closed;
            }
            at = end;
        }
        self.json(text, DEEPEST)
    }

    /// One pass over a validated text, or the beginning of one. Recursion is for JSON in texts
    /// alone, `depth` deep.
    fn json(&self, text: &str, depth: usize) -> String {
        let bytes = text.as_bytes();
        let mut out = String::with_capacity(text.len());
        // For each open container, whether every text in it is secret.
        let mut open: Vec<bool> = Vec::new();
        // Whether the value of the member that is being read is.
        let mut secret = false;
        let mut copied = 0;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'{' | b'[' => {
                    open.push(secret || open.last().copied().unwrap_or(false));
                    secret = false;
                    at += 1;
                }
                b'}' | b']' => {
                    open.pop();
                    secret = false;
                    at += 1;
                }
                b',' => {
                    secret = false;
                    at += 1;
                }
                b'"' => {
                    let end = string_end(bytes, at);
                    let quoted = text.get(at..end).unwrap_or_default();
                    let value = json::string(quoted).unwrap_or_default();
                    let is_name = followed_by_colon(bytes, end);
                    let hidden = secret || open.last().copied().unwrap_or(false);
                    let clean = match (is_name, hidden && !value.is_empty()) {
                        (false, true) => Cow::Borrowed(REDACTED),
                        _ => self.value(&value, depth),
                    };
                    if clean != value {
                        out.push_str(text.get(copied..at).unwrap_or_default());
                        json::push_string(&mut out, &clean);
                        copied = end;
                    }
                    if is_name {
                        secret = is_secret_member(&value);
                    }
                    at = end;
                }
                _ => at += 1,
            }
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        out
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

/// Replaces what this pattern finds.
fn replace(text: &str, regex: &Regex, pattern: &Pattern) -> Option<String> {
    let view = without_escapes(text);
    let mut out = String::new();
    let mut copied = 0;
    let mut hide = |range: std::ops::Range<usize>, with: &str| {
        if range.start >= copied && text.get(range.clone()).is_some_and(|old| old != with) {
            out.push_str(text.get(copied..range.start).unwrap_or_default());
            out.push_str(with);
            copied = range.end;
        }
    };
    match pattern.found {
        Found::Text(with) => {
            for found in regex.captures_iter(&view) {
                let group = (1..found.len()).find_map(|index| found.get(index));
                if let Some(secret) = group.or(found.get(0)) {
                    hide(secret.range(), with);
                }
            }
        }
        Found::Value | Found::LikelyValue => {
            let likely = matches!(pattern.found, Found::LikelyValue);
            for found in regex.find_iter(&view) {
                if let Some(value) = value_at(&view, found.end(), likely) {
                    hide(value, REDACTED);
                }
            }
        }
    }
    (copied > 0).then(|| {
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    })
}

/// The text with blanks in the place of escapes, as they stand in JSON, of any depth; every other
/// byte stays in its place. Backslashes before a quote become `\x01`.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut view = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at) == Some(&b'\\') {
            at += 1;
        }
        // A folder of Windows is no escape.
        let is_folder = text
            .get(..start)
            .is_some_and(|before| before.ends_with("Users"));
        let (blank, letters) = match bytes.get(at) {
            Some(b'"') => ('\x01', 0),
            Some(b'/') => ('/', 0),
            _ if is_folder => continue,
            Some(b't') => ('\t', 1),
            Some(b'b' | b'f' | b'n' | b'r') => ('\n', 1),
            Some(b'u') if is_code(bytes.get(at + 1..at + 5)) => ('\n', 5),
            _ => continue,
        };
        view.push_str(text.get(copied..start).unwrap_or_default());
        at += letters;
        view.extend(std::iter::repeat_n(blank, at - start));
        copied = at;
    }
    view.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(view)
}

fn is_code(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Where the value behind a name stands, without its quotes.
fn value_at(view: &str, start: usize, likely: bool) -> Option<std::ops::Range<usize>> {
    let rest = view.get(start..)?;
    let escapes = rest.bytes().take_while(|byte| *byte == 1).count();
    let inner = rest.get(escapes..)?;
    if let Some(quote @ (b'"' | b'\'' | b'`')) = inner.bytes().next() {
        let start = start + escapes + 1;
        let length = quoted_length(inner.get(1..)?, quote, escapes);
        let value = view.get(start..start + length)?;
        let is_shown = value.is_empty() || (likely && is_no_secret(value));
        return (!is_shown).then_some(start..start + length);
    }
    if escapes > 0 {
        return None;
    }
    let ends = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '"' | '\'' | '`' | ',' | ';' | '\x01')
            || (likely && letter == '&')
    };
    let length = rest.find(ends).unwrap_or(rest.len());
    let value = rest.get(..length)?;
    let after = rest.get(length..)?;
    let long = value.len() >= 4;
    (long && (!likely || is_likely(value, after))).then_some(start..start + length)
}

/// How far a quoted text goes whose quotes have so many backslashes before them.
fn quoted_length(text: &str, quote: u8, escapes: usize) -> usize {
    let mut before = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            1 => {
                before += 1;
                continue;
            }
            b'"' if quote != b'"'
                || before <= escapes
                || (before - escapes) % (2 * (escapes + 1)) == 0 =>
            {
                return at - before;
            }
            byte if byte == quote && quote != b'"' => return at - before,
            _ => {}
        }
        before = 0;
    }
    // One that was not ended does not go beyond its line.
    text.find(['\n', '\r', '\x01', '"']).unwrap_or(text.len())
}

/// Whether a text behind a name and `:` or `=` is a value, and not the next word of a sentence or
/// part of a program.
fn is_likely(value: &str, after: &str) -> bool {
    let word = value.trim_end_matches(['.', '!', '?', ')']);
    if is_no_secret(value)
        || value.starts_with(['{', '[', '(', '<', '$', '\\', '-', '*', '%'])
        || value.contains('(')
        || [
            "process.env",
            "os.environ",
            "os.getenv",
            "self.",
            "this.",
            "env.",
        ]
        .iter()
        .any(|start| value.starts_with(start))
    {
        return false;
    }
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    // Alone on the rest of its line it is no word of a sentence.
    let goes_on = after.starts_with([' ', '\t']) || word.len() < value.len();
    !is_word || word.len() >= 20 || !goes_on
}

fn is_no_secret(value: &str) -> bool {
    let plain = value.trim_matches(|letter: char| !letter.is_alphanumeric());
    NO_SECRETS.contains(&plain.to_ascii_lowercase().as_str())
}

/// Private keys that come a line at a time.
#[derive(Debug, Default)]
pub(crate) struct KeyLines {
    /// How many lines the key has had; none outside of one.
    lines: usize,
}

impl KeyLines {
    /// The next line, or what stands for one within a key.
    pub(crate) fn line<'a>(&mut self, line: &'a str) -> &'a str {
        let begun = line.rfind("-----BEGIN ").filter(|at| is_key(line, *at));
        let ended = line.rfind("-----END ").filter(|at| is_key(line, *at));
        let within = self.lines > 0;
        if begun > ended {
            self.lines = 1;
        } else if ended.is_some() || self.lines >= MOST_KEY_LINES {
            self.lines = 0;
        } else if within {
            self.lines += 1;
        }
        match within {
            true => REDACTED,
            false => line,
        }
    }
}

fn is_key(line: &str, at: usize) -> bool {
    line.get(at..)
        .is_some_and(|rest| rest.contains("PRIVATE KEY"))
}

/// The end of a string of validated JSON, from its opening quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Whether this is a string with its closing quote.
fn is_whole(quoted: &str) -> bool {
    quoted.len() > 1 && json::string(quoted).is_some()
}

/// Ends the string that begins at `start` and was cut, before an escape that was cut too.
fn closed_string(text: &str, start: usize) -> String {
    let mut end = text.len();
    loop {
        if text.is_char_boundary(end) {
            let quoted = format!("{}\"", text.get(start..end).unwrap_or_default());
            if end <= start + 1 || is_whole(&quoted) {
                return format!("{}{quoted}", text.get(..start).unwrap_or_default());
            }
        }
        end -= 1;
    }
}

fn followed_by_colon(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    rest.iter()
        .find(|byte| !byte.is_ascii_whitespace())
        .is_some_and(|byte| *byte == b':')
}

fn is_secret_member(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    SECRET_MEMBERS.contains(&&*plain)
        || ACCOUNT_MEMBERS.contains(&&*plain)
        || is_secret_variable(name)
}

/// `--api-key`, `--token`.
fn is_secret_flag(flag: &str) -> bool {
    let name = flag.trim_start_matches('-').replace(['-', '_'], "");
    let name = name.to_ascii_lowercase();
    SECRET_MEMBERS.contains(&name.as_str())
        || [
            "apikey",
            "accesskey",
            "secretkey",
            "token",
            "secret",
            "password",
            "passwd",
        ]
        .iter()
        .any(|end| name.ends_with(end))
}

/// `ANTHROPIC_API_KEY`, `DB_PASSWORD`.
fn is_secret_variable(name: &str) -> bool {
    let is_variable = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        && ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "AUTH"]
            .iter()
            .any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests;
