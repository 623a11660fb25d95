//! Agent definitions as `initialize` takes them.

use alloc::string::String;

use super::options::json::{members_of, ObjectWriter};
use super::options::JsonObject;
use crate::json::Kind;

/// Snake case names of definition keys, and what the CLI calls them (`protocol.md §1.3`). It
/// ignores a key it does not know, so that a wrong spelling would be lost without a word.
const SPELLINGS: &[(&str, &str)] = &[
    ("disallowed_tools", "disallowedTools"),
    ("mcp_servers", "mcpServers"),
    ("initial_prompt", "initialPrompt"),
    ("max_turns", "maxTurns"),
    ("permission_mode", "permissionMode"),
];

/// Name to definition, with unset keys left out and every key as the CLI spells it.
pub(super) fn agents(agents: &JsonObject) -> String {
    let mut out = ObjectWriter::new();
    for (name, definition) in agents.members() {
        if Kind::of(definition) != Some(Kind::Object) {
            out.raw(&name, definition);
            continue;
        }
        let mut written = ObjectWriter::new();
        for (key, value) in members_of(definition) {
            if value == "null" {
                continue;
            }
            let spelling = SPELLINGS.iter().find(|(snake, _)| *snake == key);
            written.raw(spelling.map_or(key.as_str(), |(_, camel)| *camel), value);
        }
        out.raw(&name, &written.finish());
    }
    out.finish()
}
