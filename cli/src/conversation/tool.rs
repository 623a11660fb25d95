//! A call of a tool, what was decided about it, and its result.

use super::Agent;
use crate::document::{is_true, list, object, pretty, text, value};

/// A call.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON text.
    pub(crate) input: String,
    pub(crate) result: Option<ToolResult>,
    /// The subagents it started.
    pub(crate) agents: Vec<Agent>,
}

/// What came of a call.
#[derive(Debug)]
pub(crate) struct ToolResult {
    pub(crate) call: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) is_error: bool,
    pub(crate) decision: Option<Decision>,
}

/// A piece of a result.
#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Image(Image),
}

/// An image in the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Image {
    pub(crate) media_type: String,
    /// Base64; empty where the transcript does not hold the image.
    pub(crate) data: String,
}

/// What was decided when the CLI asked whether a tool may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) allowed: bool,
    /// In words, such as `denied by the user`.
    pub(crate) words: String,
}

impl Tool {
    pub(crate) fn read(block: &str) -> Tool {
        Tool {
            id: text(block, "/id").unwrap_or_default(),
            name: text(block, "/name").unwrap_or_else(|| "a tool without a name".to_owned()),
            input: value(block, "/input").unwrap_or("{}").to_owned(),
            result: None,
            agents: Vec::new(),
        }
    }

    pub(crate) fn is_denied(&self) -> bool {
        let decision = self.result.as_ref().and_then(|it| it.decision.as_ref());
        decision.is_some_and(|decision| !decision.allowed)
    }

    pub(crate) fn failed(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.is_error)
    }

    /// What the call is about in a few words: the value that tells most of it.
    pub(crate) fn subject(&self) -> String {
        const TELLING: [&str; 12] = [
            "command",
            "file_path",
            "notebook_path",
            "path",
            "pattern",
            "query",
            "url",
            "subject",
            "description",
            "skill",
            "prompt",
            "text",
        ];
        // A subagent is told by its description, not by its whole prompt; a search by its pattern.
        let named = |name: &&str| text(&self.input, &format!("/{name}"));
        let told = match self.name.as_str() {
            "Grep" | "Glob" => text(&self.input, "/pattern"),
            _ => None,
        };
        told.or_else(|| TELLING.iter().find_map(named))
            .unwrap_or_else(|| {
                let only = object(&self.input).into_iter().find_map(|(_, value)| {
                    towline::protocol::json::string(value).map(|text| text.into_owned())
                });
                only.unwrap_or_default()
            })
    }

    /// The members of the input with their values for people: texts as they are, the rest as JSON.
    pub(crate) fn arguments(&self) -> Vec<(String, String)> {
        let members = object(&self.input).into_iter();
        members
            .map(|(name, value)| (name, readable(value)))
            .collect()
    }
}

/// A JSON value for people.
fn readable(value: &str) -> String {
    match towline::protocol::json::string(value) {
        Some(text) => text.into_owned(),
        None => pretty(value),
    }
}

impl ToolResult {
    /// From a `tool_result` block and the line it stands in.
    pub(crate) fn read(block: &str, line: &str) -> ToolResult {
        let content = value(block, "/content").unwrap_or("null");
        let parts = match towline::protocol::json::string(content) {
            Some(text) => vec![Part::Text(text.into_owned())],
            None => list(content).into_iter().map(Part::read).collect(),
        };
        let call = text(block, "/tool_use_id").unwrap_or_default();
        ToolResult {
            decision: Decision::read(line),
            call,
            parts,
            is_error: is_true(block, "/is_error"),
        }
    }

    /// All its texts.
    pub(crate) fn text(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Image(image) => image.words(),
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Part {
    fn read(block: &str) -> Part {
        match text(block, "/type").as_deref() {
            Some("text") => Part::Text(text(block, "/text").unwrap_or_default()),
            Some("image") => Part::Image(Image::read(block)),
            _ => Part::Text(pretty(block)),
        }
    }
}

impl Image {
    /// From an `image` block.
    pub(crate) fn read(block: &str) -> Image {
        Image {
            media_type: text(block, "/source/media_type").unwrap_or_default(),
            data: text(block, "/source/data").unwrap_or_default(),
        }
    }

    /// In words, where it cannot be shown.
    pub(crate) fn words(&self) -> String {
        let kind = match self.media_type.as_str() {
            "" => "image",
            kind => kind,
        };
        let padding = self.data.bytes().rev().take_while(|byte| *byte == b'=');
        match (self.data.len() / 4 * 3).saturating_sub(padding.count()) {
            0 => format!("[{kind}, not in the transcript]"),
            bytes => format!("[{kind}, {}]", crate::words::size(bytes as u64)),
        }
    }
}

impl Decision {
    /// From the line of a result: what the CLI wrote of the decision about the call.
    fn read(line: &str) -> Option<Decision> {
        let Some(decision) = value(line, "/permissionDecision") else {
            let denial = text(line, "/toolDenialKind")?;
            return Some(Decision {
                allowed: false,
                words: match denial.as_str() {
                    "user-rejected" => "denied by the user".to_owned(),
                    "permission-rule" => "denied".to_owned(),
                    "cancelled" => "cancelled".to_owned(),
                    other => format!("not run: {}", other.replace(['-', '_'], " ")),
                },
            });
        };
        let allowed = match text(decision, "/decision")?.as_str() {
            "accept" => true,
            "reject" => false,
            _ => return None,
        };
        let verb = if allowed { "allowed" } else { "denied" };
        let words = match text(decision, "/source").as_deref() {
            Some("user_temporary") => format!("{verb} by the user, this time"),
            Some("user_permanent") => format!("{verb} by the user, always"),
            Some("user_reject" | "user_abort") => format!("{verb} by the user"),
            Some("config") => format!("{verb} by the rules"),
            Some("hook") => format!("{verb} by a hook"),
            Some(other) => format!("{verb} ({})", other.replace('_', " ")),
            None => verb.to_owned(),
        };
        Some(Decision { allowed, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_told_in_words() {
        for (line, allowed, words) in [
            (
                r#"{"permissionDecision":{"decision":"accept","source":"user_temporary"}}"#,
                true,
                "allowed by the user, this time",
            ),
            (
                r#"{"permissionDecision":{"decision":"reject","source":"user_reject"},"toolDenialKind":"permission-rule"}"#,
                false,
                "denied by the user",
            ),
            (
                r#"{"permissionDecision":{"decision":"reject","source":"new_one"}}"#,
                false,
                "denied (new one)",
            ),
            (
                r#"{"toolDenialKind":"user-rejected"}"#,
                false,
                "denied by the user",
            ),
        ] {
            let decision = Decision::read(line).unwrap();
            assert_eq!(
                (decision.allowed, decision.words.as_str()),
                (allowed, words)
            );
        }
        assert_eq!(
            Decision::read(r#"{"permissionDecision":{"decision":7}}"#),
            None
        );
        assert_eq!(Decision::read("{}"), None);
    }

    #[test]
    fn a_call_is_told_by_what_it_is_about() {
        let subject = |name: &str, input: &str| {
            Tool::read(&format!(r#"{{"id":"t","name":"{name}","input":{input}}}"#)).subject()
        };
        assert_eq!(
            subject("Bash", r#"{"description":"d","command":"ls"}"#),
            "ls"
        );
        assert_eq!(subject("Grep", r#"{"path":"/p","pattern":"x"}"#), "x");
        assert_eq!(
            subject("Agent", r#"{"prompt":"long","description":"look"}"#),
            "look"
        );
        assert_eq!(subject("mcp__a__b", r#"{"n":1,"city":"Oslo"}"#), "Oslo");
        assert_eq!(subject("Odd", "[]"), "");
    }
}
