//! Which subpaths of a store may become files.

/// Longer names leave no room for `.meta.json`.
const LONGEST_NAME: usize = 240;

/// Whether a subpath names a file below its session's folder, on any system: a store may have been
/// filled elsewhere, or by somebody else.
pub(super) fn is_safe(subpath: &str) -> bool {
    subpath.chars().nth(1) != Some(':') && subpath.split(['/', '\\']).all(is_name)
}

/// Whether a file or folder may be called so.
pub(super) fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && name.len() <= LONGEST_NAME
        && !name.contains(['/', '\\', '\0'])
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn what_subagents_are_called() {
        for subpath in [
            "subagents/agent-a1",
            "subagents/workflows/run-1/agent-a1",
            "subagents/agent-über",
            "subagents/a..b",
        ] {
            assert!(is_safe(subpath), "{subpath}");
        }
    }

    #[test]
    fn what_would_lead_elsewhere() {
        let long = "a".repeat(300);
        for subpath in [
            "",
            "/etc/passwd",
            "\\etc",
            "//host/share/x",
            "\\\\host\\share\\x",
            "..",
            "../x",
            "subagents/../../x",
            "subagents\\..\\..\\x",
            "./x",
            "subagents/./x",
            "subagents//x",
            "subagents/",
            "C:x",
            "c:\\x",
            "subagents/a\0b",
            &long,
        ] {
            assert!(!is_safe(subpath), "{subpath:?}");
        }
    }
}
