//! What the fake CLI tells about itself: to the log, and to a host that initializes it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::json::{object, system_string, Json};
use crate::sys;

/// The fields of the log's first event.
pub(super) fn event() -> [(&'static str, Json); 7] {
    const LOGGED: [&str; 5] = [
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CONFIG_DIR",
        "PWD",
        "CASE_VAR",
    ];
    let number = |number: u64| Json::Number(number.to_string());
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let length = arguments
        .iter()
        .map(|argument| argument.len() as u64 + 1)
        .sum();
    let arguments = arguments
        .iter()
        .map(|argument| system_string(argument.as_bytes()))
        .collect();
    let cwd = std::env::current_dir().map_or(Json::Null, |path| {
        system_string(path.as_os_str().as_bytes())
    });
    let environment = LOGGED
        .iter()
        .filter_map(|name| Some((name.as_bytes().to_vec(), std::env::var_os(name)?)))
        .map(|(name, value)| (name, environment_value(Some(value))))
        .collect();
    [
        ("pid", number(std::process::id().into())),
        ("ppid", number(std::os::unix::process::parent_id().into())),
        ("pgid", number(sys::process_group() as u64)),
        ("argv", Json::Array(arguments)),
        ("argv_bytes", number(length)),
        ("cwd", cwd),
        ("env", Json::Object(environment)),
    ]
}

/// The answer to `initialize` that no step of the script expects.
pub(super) fn initialize_payload() -> Json {
    let described = |first: (&'static str, &str), last: (&'static str, &str)| {
        Json::Array(vec![object([
            (first.0, Json::string(first.1)),
            ("description", Json::string("d")),
            (last.0, Json::string(last.1)),
        ])])
    };
    object([
        (
            "commands",
            described(("name", "compact"), ("argumentHint", "")),
        ),
        ("agents", Json::Array(Vec::new())),
        ("output_style", Json::string("default")),
        (
            "available_output_styles",
            Json::Array(vec![Json::string("default")]),
        ),
        (
            "models",
            described(("value", "default"), ("displayName", "Default")),
        ),
        ("account", object([("apiKeySource", Json::string("none"))])),
        ("pid", Json::Number(std::process::id().to_string())),
        (
            "capabilities",
            Json::Array(vec![Json::string("msg_lifecycle_v1")]),
        ),
    ])
}

/// The value of an environment variable; null when it is not set.
pub(super) fn environment_value(value: Option<OsString>) -> Json {
    value.map_or(Json::Null, |value| system_string(value.as_bytes()))
}
