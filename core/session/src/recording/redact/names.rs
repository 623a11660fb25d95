//! Names whose values are secrets.

/// What the CLI and this library are logged in with.
pub(super) const LOGINS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_SECRET_ACCESS_KEY",
];
/// Members whose texts are secrets, whatever they are; compared without case, `-` and `_`.
const SECRET_MEMBERS: [&str; 14] = [
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "cookies",
    "credentials",
    "env",
    "headers",
    "proxyauthorization",
    "requestheaders",
    "secrets",
    "sessionkey",
    "setcookie",
    "tokens",
];
/// And those that end in one of these.
const SECRET_ENDS: [&str; 9] = [
    "accesskey",
    "apikey",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "token",
];
/// What belongs to the MCP protocol.
const NO_SECRET: &str = "progresstoken";
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

pub(super) fn is_secret_member(name: &str) -> bool {
    let plain = plain(name);
    is_secret_name(&plain) || ACCOUNT_MEMBERS.contains(&plain.as_str()) || is_secret_variable(name)
}

/// `--api-key`, `--token`.
pub(super) fn is_secret_flag(flag: &str) -> bool {
    is_secret_name(&plain(flag))
}

fn is_secret_name(plain: &str) -> bool {
    let ends = || SECRET_ENDS.iter().any(|end| plain.ends_with(end));
    plain != NO_SECRET && (SECRET_MEMBERS.contains(&plain) || ends())
}

fn plain(name: &str) -> String {
    name.chars()
        .filter(|letter| !matches!(letter, '-' | '_'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

/// `ANTHROPIC_API_KEY`, `DB_PASSWORD`.
pub(super) fn is_secret_variable(name: &str) -> bool {
    let is_variable = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        && ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "AUTH"]
            .iter()
            .any(|end| name.ends_with(end))
}
