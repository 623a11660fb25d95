//! What may not stand in a recording: keys, tokens, account data, home folders.

use std::borrow::Cow;

use regex_lite::Regex;
use towline_protocol::json;

use crate::Options;

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";
/// A shorter value is no secret, and would be found everywhere.
const SHORTEST_SECRET: usize = 8;
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
    pattern: &'static str,
    with: &'static str,
}

static PATTERNS: [Pattern; 8] = [
    Pattern {
        marks: &["PRIVATE KEY"],
        pattern: r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
        with: REDACTED,
    },
    Pattern {
        marks: &[
            "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "gh", "glpat-", "npm_", "pypi-", "xox",
            "AKIA", "ASIA", "AIza",
        ],
        pattern: r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bxox[a-z]-[A-Za-z0-9-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}",
        with: REDACTED,
    },
    Pattern {
        marks: &["eyJ"],
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
        with: REDACTED,
    },
    Pattern {
        marks: &["earer", "EARER", "asic", "ASIC"],
        pattern: r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}",
        with: "${1}${2}[redacted]",
    },
    Pattern {
        marks: &["KEY", "TOKEN", "SECRET", "PASSWORD"],
        pattern: r#"\b([A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)\s*[=:]\s*["']?)[^\s"',;]{4,}"#,
        with: "${1}[redacted]",
    },
    Pattern {
        marks: &["://"],
        pattern: r"\b([a-z][a-z0-9+.-]*://[^\s/@:]*):[^\s/@]+@",
        with: "${1}:[redacted]@",
    },
    Pattern {
        marks: &["@"],
        pattern: r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b",
        with: "user@example.com",
    },
    Pattern {
        marks: &["/home/", "/Users/", ":\\Users\\"],
        pattern: r"(/home/|/Users/|[A-Za-z]:\\Users\\)[^/\\\s:;,<>|*?\x22'`()\[\]{}]+",
        with: "${1}user",
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

    /// Also what these options and this process's environment hold: values of their variables with
    /// secret names, of headers, and the home folder.
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

    /// Replaces this text wherever it stands; one of less than eight bytes is left alone.
    #[must_use]
    pub fn secret(self, value: &str) -> Redactor {
        match value.len() >= SHORTEST_SECRET {
            true => self.known(value.into(), REDACTED.into()),
            false => self,
        }
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
                if let Cow::Owned(changed) = regex.replace_all(&text, pattern.with) {
                    text = Cow::Owned(changed);
                }
            }
        }
        text
    }

    /// A line of the protocol without its secrets; one that is not JSON is taken as a text.
    pub fn line(&self, line: &str) -> String {
        match json::validate(line) {
            Ok(()) => self.json(line),
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
                let mut closed = self.json(&closed_string(text, at));
                closed.pop();
                return closed;
            }
            at = end;
        }
        self.json(text)
    }

    /// One pass over a validated text, or the beginning of one, without recursion.
    fn json(&self, text: &str) -> String {
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
                        _ => self.text(&value),
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
        out.push_str(if goes_on && with != REDACTED {
            known
        } else {
            with
        });
        changed |= !goes_on || with == REDACTED;
        rest = after;
    }
    out.push_str(rest);
    changed.then_some(out)
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
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(Redactor::new().patterns.len(), PATTERNS.len());
    }

    #[test]
    fn secret_members_lose_their_texts_and_keep_their_shape() {
        let line = r#"{"mcpServers":{"a":{"env":{"X":"v1","n":3},"headers":{"h":["v2"]}}},"inputTokens":5,"token":"t","maxTokens":7}"#;
        assert_eq!(
            Redactor::new().line(line),
            r#"{"mcpServers":{"a":{"env":{"X":"[redacted]","n":3},"headers":{"h":["[redacted]"]}}},"inputTokens":5,"token":"[redacted]","maxTokens":7}"#
        );
    }

    #[test]
    fn the_account_is_hidden_and_what_follows_it_is_not() {
        let line = r#"{"account":{"email":"a@b.org","subscriptionType":"max","n":1},"models":[{"value":"opus"}]}"#;
        assert_eq!(
            Redactor::new().line(line),
            r#"{"account":{"email":"[redacted]","subscriptionType":"[redacted]","n":1},"models":[{"value":"opus"}]}"#
        );
    }

    #[test]
    fn keys_and_tokens_are_found_in_any_text() {
        let redactor = Redactor::new();
        for secret in [
            "sk-ant-api03-AAAAbbbbCCCCdddd0000",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "AKIAABCDEFGHIJKLMNOP",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
            "xoxb-123456789012-abcdef",
        ] {
            let clean = redactor
                .text(&format!("before {secret} after"))
                .into_owned();
            assert_eq!(clean, "before [redacted] after", "{secret}");
        }
        assert_eq!(
            redactor.text("Authorization: Bearer abcdefgh12345678"),
            "Authorization: Bearer [redacted]"
        );
        assert_eq!(
            redactor.text("export DB_PASSWORD=hunter22; ls"),
            "export DB_PASSWORD=[redacted]; ls"
        );
        assert_eq!(
            redactor.text("postgres://anna:geheim@db/x"),
            "postgres://anna:[redacted]@db/x"
        );
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        let redactor = Redactor::new().home("/home/ann");
        for text in [
            "a task-list with sk-small",
            "the key is under the mat",
            "/home/anna/x".replace("anna", "user").as_str(),
            "1 + 1 = 2; basic math",
        ] {
            assert_eq!(redactor.text(text), text);
        }
    }

    #[test]
    fn the_home_folder_is_replaced_also_in_names_of_project_folders() {
        let redactor = Redactor::new().home("/srv/people/ann");
        assert_eq!(
            redactor.text("/srv/people/ann/p /srv/people/anna -srv-people-ann-p"),
            "/home/user/p /srv/people/anna -home-user-p"
        );
    }

    #[test]
    fn a_beginning_loses_its_secrets_wherever_it_is_cut() {
        let redactor = Redactor::new();
        let line = r#"{"a":"\ud83d\ude00 x","apiKey":"geheim\u0021","h":{"env":{"X":"\"qv1"}},"t":[1,"y"]}"#;
        for cut in 0..line.len() {
            let text = redactor.beginning(&line[..cut]);
            assert!(
                !text.contains("geh") && !text.contains("qv"),
                "{cut}: {text}"
            );
        }
        assert_eq!(redactor.beginning(&line[..5]), r#"{"a":"#);
        assert_eq!(redactor.beginning(&line[..19]), r#"{"a":"\ud83d\ude00 "#);
        let end = redactor.beginning(line);
        assert_eq!(end, redactor.line(line));
        assert_eq!(
            redactor.beginning("no JSON: Bearer abcdefgh123"),
            "no JSON: Bearer [redacted]"
        );
    }

    #[test]
    fn half_a_character_hides_no_secret() {
        let line = r#"{"apiKey":"\ud800geheim","t":"\udc00 sk-ant-api03-0123456789abcdef"}"#;
        let clean = Redactor::new().line(line);
        assert!(
            !clean.contains("geheim") && !clean.contains("0123456789"),
            "{clean}"
        );
    }

    #[test]
    fn escapes_and_depth_do_no_harm() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(Redactor::new().line(&deep), deep);
        assert_eq!(
            Redactor::new().line(r#"{"a\"b":"\u002fhome\/anna\/x","password":"\"q\""}"#),
            r#"{"a\"b":"/home/user/x","password":"[redacted]"}"#
        );
    }
}
