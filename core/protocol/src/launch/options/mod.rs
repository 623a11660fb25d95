//! `Options`: one JSON document for every language.

mod error;
mod field;
pub(super) mod json;
mod names;
mod shapes;
mod table;

pub use error::OptionsError;
pub use json::{Json, JsonObject};
pub use shapes::{
    Delivery, Dialect, EnvMap, ExtraArgs, McpServers, OutputFormat, Plugin, Preset, PromptForm,
    PromptText, SessionStoreChoice, Settings, Skills, SystemPrompt, TaskBudget, Thinking,
    ThinkingDisplay, Timeout, Tools, ToolsPreset,
};
pub use table::Options;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use crate::json::{members, surrogates_replaced, validate};

/// Names of the official packages that stand for a callback or an object, and what to do instead.
const NOT_DATA: &[(&str, &str)] = &[
    ("canUseTool", "register a permission handler"),
    ("hooks", "register a handler for each hook"),
    ("stderr", "register a handler for stderr lines"),
    ("debugStderr", "register a handler for stderr lines"),
    ("abortController", "close or interrupt the session"),
    ("onElicitation", "register an elicitation handler"),
    ("onUserDialog", "register a dialog handler"),
    (
        "spawnClaudeCodeProcess",
        "use \"launcher\", or give the session a transport of your own",
    ),
];

impl Options {
    /// The defaults: nothing set.
    pub fn new() -> Options {
        Options::default()
    }

    /// Reads one document; the same as [`Options::merge_json`] onto the defaults.
    pub fn from_json(text: &str) -> Result<Options, OptionsError> {
        let mut options = Options::new();
        options.merge_json(text)?;
        Ok(options)
    }

    /// Applies a document over what is set, key by key: a key that it has replaces the option
    /// whole, one that it lacks leaves it alone, and `null` sets it back to its default (a time
    /// limit to none). Either all of the document is applied or none.
    pub fn merge_json(&mut self, text: &str) -> Result<(), OptionsError> {
        let text = surrogates_replaced(text);
        let mut pairs: Vec<(String, &str)> = Vec::new();
        members(&text, |key, value| pairs.push((key.to_string(), value))).map_err(|error| {
            OptionsError::NotAnObject {
                reason: error.to_string(),
            }
        })?;
        let mut merged = self.clone();
        for (key, value) in pairs {
            merged.apply(&key, value)?;
        }
        *self = merged;
        Ok(())
    }

    /// Sets one option from a JSON value (`"sonnet"` with its quotes, `3`, `["Bash"]`, `null`).
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), OptionsError> {
        let value = surrogates_replaced(value.trim());
        if let Err(error) = validate(&value) {
            return Err(OptionsError::WrongType {
                key: key.to_string(),
                expected: "JSON",
                reason: error.to_string(),
            });
        }
        self.apply(key, &value)
    }

    fn apply(&mut self, key: &str, value: &str) -> Result<(), OptionsError> {
        match self.assign(key, value) {
            Some(Ok(())) => Ok(()),
            Some(Err((expected, reason))) => Err(OptionsError::WrongType {
                key: key.to_string(),
                expected,
                reason,
            }),
            None => Err(unknown(key)),
        }
    }
}

impl FromStr for Options {
    type Err = OptionsError;

    fn from_str(text: &str) -> Result<Options, OptionsError> {
        Options::from_json(text)
    }
}

fn unknown(key: &str) -> OptionsError {
    let camel = camel_case(key);
    if let Some((_, remedy)) = NOT_DATA.iter().find(|(name, _)| *name == camel) {
        return OptionsError::NotData {
            key: key.to_string(),
            remedy,
        };
    }
    OptionsError::Unknown {
        key: key.to_string(),
        nearest: error::nearest(key, Options::KEYS.iter().copied()),
    }
}

fn camel_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut raised = false;
    for character in name.chars() {
        if character == '_' {
            raised = true;
        } else if raised {
            out.push(character.to_ascii_uppercase());
            raised = false;
        } else {
            out.push(character);
        }
    }
    out
}
