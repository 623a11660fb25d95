//! Skills as permission rules.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::error::LaunchError;
use super::options::{Options, Skills};

/// `allowedTools` with what `skills` adds, each rule once.
pub(super) fn allowed_tools(options: &Options) -> Result<Vec<String>, LaunchError> {
    let mut allowed = options.allowed_tools.clone();
    let rules: Vec<String> = match &options.skills {
        None => Vec::new(),
        Some(Skills::All) => Vec::from(["Skill".to_string()]),
        Some(Skills::List(names)) => names
            .iter()
            .map(|name| match refusal(name) {
                None => Ok(format!("Skill({name})")),
                Some(reason) => Err(LaunchError::SkillName {
                    name: name.clone(),
                    reason,
                }),
            })
            .collect::<Result<_, _>>()?,
    };
    for rule in rules {
        if !allowed.contains(&rule) {
            allowed.push(rule);
        }
    }
    Ok(allowed)
}

/// Why a name cannot stand in the rule `Skill(name)`, or stands there for nothing: the CLI splits
/// rules at commas and spaces outside parentheses before it reads escapes, and its Skill tool trims
/// names (`protocol.md §1.3`).
fn refusal(name: &str) -> Option<&'static str> {
    let delimiter = |c: char| matches!(c, '(' | ')' | ',' | '\u{feff}') || c.is_control();
    Some(if name.trim().is_empty() {
        "is empty; name a skill"
    } else if name.trim() != name {
        "has white space around it, which never matches; remove it"
    } else if name.contains(char::REPLACEMENT_CHARACTER) {
        "is not valid Unicode, which no skill's name is; correct it"
    } else if name.contains(delimiter) {
        "has a parenthesis, comma or control character, which a permission rule cannot carry; \
         rename the skill"
    } else if name == "*" {
        "stands for every skill; say \"skills\": \"all\""
    } else if name.ends_with(":*") || name.ends_with(" *") || name.ends_with("__*") {
        "ends in a wildcard; list each skill by its exact name"
    } else if name.starts_with('/') {
        "starts with '/'; use the skill's name, not its command"
    } else if name.contains("\\\\") {
        "has two backslashes in a row, which a permission rule reads as one; rename the skill"
    } else if name.ends_with('\\') {
        "ends with a backslash, which a permission rule cannot carry; rename the skill"
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(names: &[&str]) -> Result<Vec<String>, LaunchError> {
        allowed_tools(&Options {
            allowed_tools: Vec::from(["Read".to_string(), "Skill(pdf)".to_string()]),
            skills: Some(Skills::List(
                names.iter().map(ToString::to_string).collect(),
            )),
            ..Options::default()
        })
    }

    #[test]
    fn rules_stand_once() {
        assert_eq!(
            with(&["pdf", "my plugin:a b", "pdf"]).unwrap(),
            ["Read", "Skill(pdf)", "Skill(my plugin:a b)"]
        );
    }

    #[test]
    fn names_that_cannot_be_carried_or_never_match_are_refused() {
        for name in [
            "",
            " ",
            " pdf",
            "pdf\t",
            "a(b",
            "a)b",
            "a,b",
            "a\u{1}",
            "a\u{7f}",
            "a\u{85}b",
            "\u{feff}a",
            "a\u{fffd}",
            "*",
            "a:*",
            "a *",
            "mcp__*",
            "/a",
            "a\\\\b",
            "a\\",
            "a\nb",
        ] {
            let error = with(&["pdf", name]).unwrap_err();
            assert_eq!(error.option(), "skills", "{name:?}");
            assert!(matches!(&error, LaunchError::SkillName { name: named, .. } if named == name));
        }
        for name in ["a*b", "a\\b", "ü", "plugin:skill", "a:b:c", "a/b"] {
            assert!(with(&[name]).is_ok(), "{name:?}");
        }
    }
}
