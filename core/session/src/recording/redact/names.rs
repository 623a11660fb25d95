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

pub(super) fn is_secret_member(name: &str) -> bool {
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
pub(super) fn is_secret_flag(flag: &str) -> bool {
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
pub(super) fn is_secret_variable(name: &str) -> bool {
    let is_variable = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    is_variable
        && ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "AUTH"]
            .iter()
            .any(|end| name.ends_with(end))
}
