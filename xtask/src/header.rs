//! `include/towline.h`, from the signatures and comments of the crate `towline-ffi`.

use cbindgen::{Builder, Config, DocumentationStyle, Language, SortKey, Style};

use crate::files::{root, Generated};

/// The sources, in the order in which the header has their functions.
const SOURCES: &[&str] = &[
    "status",
    "library",
    "error",
    "buffer",
    "callback",
    "options",
    "options_handlers",
    "transport",
    "session",
    "session_control",
    "pool",
    "request",
    "event",
    "event_values",
    "connection",
    "saved",
    "store",
    "store_callbacks",
];

/// The header.
///
/// # Errors
/// Says what cbindgen could not do.
pub fn generate() -> Result<Generated, String> {
    let mut config = Config {
        language: Language::C,
        include_guard: Some("TOWLINE_H".into()),
        header: Some(include_str!("header.txt").trim_end().into()),
        after_includes: Some(macros()),
        no_includes: true,
        cpp_compat: true,
        style: Style::Type,
        documentation_style: DocumentationStyle::Doxy,
        usize_is_size_t: true,
        tab_width: 4,
        line_length: 100,
        ..Config::default()
    };
    config.sys_includes = vec!["stdbool.h".into(), "stddef.h".into(), "stdint.h".into()];
    config.function.sort_by = Some(SortKey::None);
    config.constant.sort_by = Some(SortKey::None);
    let mut builder = Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root().join(format!("ffi/src/{source}.rs")));
    }
    let bindings = builder.generate().map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = String::from_utf8(text).map_err(|error| error.to_string())?;
    Ok(Generated {
        path: "include/towline.h",
        text: text.replace("`", ""),
    })
}

fn macros() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0u32));
    let mut part = || parts.next().unwrap_or(0);
    let (major, minor, patch) = (part(), part(), part());
    format!(
        r#"
/** The version of this header. That of the library: towline_version(). */
#define TOWLINE_VERSION "{version}"
#define TOWLINE_VERSION_MAJOR {major}
#define TOWLINE_VERSION_MINOR {minor}
#define TOWLINE_VERSION_PATCH {patch}
/** One number that grows with the version, for comparisons in #if. */
#define TOWLINE_VERSION_NUMBER {number}
/** The binary interface of this header; see towline_abi_version(). */
#define TOWLINE_ABI_VERSION 0

/** As the length of a text: it ends with a NUL. */
#define TOWLINE_NUL SIZE_MAX"#,
        number = major * 1_000_000 + minor * 1_000 + patch,
    )
}
