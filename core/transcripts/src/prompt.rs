//! The first prompt of a session: what stands for it in a list when it has no title.

mod typescript;

use memchr::memmem;
use towline_protocol::json::{elements, members, nested_members, string};
use towline_protocol::launch::Dialect;

use crate::entry::user_texts;
use crate::time;
use crate::unicode::{stripped, stripped_end};

/// A longer prompt is cut at as many characters.
const MAX_CHARACTERS: usize = 200;

/// The search for a first prompt over the lines of a session, oldest first.
#[derive(Debug)]
pub(crate) struct FirstPrompt {
    /// What counts as one differs between the official packages.
    dialect: Dialect,
    pub(crate) found: Option<String>,
    /// The first slash command with a name: what counts if there is no prompt.
    pub(crate) command: Option<String>,
}

impl FirstPrompt {
    pub(crate) fn new(dialect: Dialect) -> FirstPrompt {
        FirstPrompt {
            dialect,
            found: None,
            command: None,
        }
    }

    /// Looks at the head of a transcript. A line that was cut off counts as damaged.
    pub(crate) fn of_head(head: &[u8], dialect: Dialect) -> Option<String> {
        let mut search = FirstPrompt::new(dialect);
        for line in head.split(|byte| *byte == b'\n') {
            if search.found.is_some() {
                break;
            }
            if is_prompt_line(line) {
                search.look_at(&String::from_utf8_lossy(line));
            }
        }
        search.end()
    }

    fn look_at(&mut self, line: &str) {
        let mut kind = None;
        let mut message = None;
        let mut content = None;
        let scanned = nested_members(
            line.trim(),
            "message",
            |key, value| match key {
                "type" => kind = string(value),
                "message" => message = Some(value),
                _ => {}
            },
            |key, value| {
                if key == "content" {
                    content = Some(value);
                }
            },
        );
        let is_user = scanned.is_ok()
            && kind.as_deref() == Some("user")
            && message.is_some_and(|message| message.starts_with('{'));
        if let (true, Some(content)) = (is_user, content) {
            self.consider(content);
        }
    }

    /// Looks at the content of a user's message.
    pub(crate) fn consider(&mut self, content: &str) {
        for text in user_texts(content) {
            if self.dialect == Dialect::TypeScript {
                match typescript::read(&text) {
                    typescript::Text::Nothing => continue,
                    typescript::Text::Command(name) => {
                        self.note_command(&name);
                        continue;
                    }
                    typescript::Text::Prompt(prompt) => {
                        self.found = Some(prompt);
                        return;
                    }
                }
            }
            let text = text.replace('\n', " ");
            let text = stripped(&text);
            if text.is_empty() {
                continue;
            }
            if let Some(command) = command_name(text) {
                self.note_command(command);
                continue;
            }
            if is_marker(text) {
                continue;
            }
            self.found = Some(shortened(text));
            return;
        }
    }

    fn note_command(&mut self, name: &str) {
        if self.command.as_deref().unwrap_or_default().is_empty() {
            self.command = Some(name.to_owned());
        }
    }

    pub(crate) fn end(self) -> Option<String> {
        let command = self.command.filter(|command| !command.is_empty());
        self.found.or(command)
    }
}

/// Whether a line may hold a prompt, told without reading it.
fn is_prompt_line(line: &[u8]) -> bool {
    is_users_line(line)
        && !has(
            line,
            "\"isCompactSummary\":true",
            "\"isCompactSummary\": true",
        )
}

/// Whether a line may be a message that the user has sent, told without reading it.
fn is_users_line(line: &[u8]) -> bool {
    has(line, "\"type\":\"user\"", "\"type\": \"user\"")
        && memmem::find(line, b"\"tool_result\"").is_none()
        && !has(line, "\"isMeta\":true", "\"isMeta\": true")
}

fn has(line: &[u8], compact: &str, spaced: &str) -> bool {
    memmem::find(line, compact.as_bytes()).is_some()
        || memmem::find(line, spaced.as_bytes()).is_some()
}

/// The content of an entry whose message may be a prompt; `None` for another type of entry, for
/// what the CLI has added and for the results of tools.
pub(crate) fn content_of_entry(entry: &str) -> Option<&str> {
    let mut kind = None;
    let mut hidden = false;
    let mut message = None;
    let mut content = None;
    nested_members(
        entry,
        "message",
        |key, value| match key {
            "type" => kind = string(value),
            "isMeta" | "isCompactSummary" => hidden |= value == "true",
            "message" => message = Some(value),
            _ => {}
        },
        |key, value| {
            if key == "content" {
                content = Some(value);
            }
        },
    )
    .ok()?;
    if kind.as_deref() != Some("user") || hidden || !message?.starts_with('{') {
        return None;
    }
    content.filter(|content| !has_tool_result(content))
}

fn has_tool_result(content: &str) -> bool {
    has_block(content, &["tool_result"])
}

/// Whether there is a content block of one of some types.
fn has_block(content: &str, types: &[&str]) -> bool {
    let mut found = false;
    if content.starts_with('[') {
        let _ = elements(content, |block| {
            let mut kind = None;
            let scanned = members(block, |key, value| {
                if key == "type" {
                    kind = string(value);
                }
            });
            found |= scanned.is_ok() && kind.is_some_and(|kind| types.contains(&kind.as_ref()));
        });
    }
    found
}

/// Whether a window holds a prompt that somebody sent after a moment (milliseconds since 1970).
pub(crate) fn is_prompted_after(window: &[u8], moment: i64, dialect: Dialect) -> bool {
    window
        .split(|byte| *byte == b'\n')
        .filter(|line| memmem::find(line, b"\"user\"").is_some())
        .filter(|line| memmem::find(line, b"\"tool_result\"").is_none())
        .any(|line| {
            let line = String::from_utf8_lossy(line);
            prompted_at(line.trim(), dialect).is_some_and(|prompted| prompted > moment)
        })
}

/// When a line's prompt was sent, if the line is one that a person sent.
fn prompted_at(line: &str, dialect: Dialect) -> Option<i64> {
    let content = content_of_entry(line)?;
    let mut moment = None;
    let mut by_hand = true;
    members(line, |key, value| match key {
        "timestamp" => moment = string(value).and_then(|moment| time::parse_iso(&moment)),
        "origin" => by_hand &= is_human(value),
        "toolUseResult" => by_hand &= value == "null",
        "isSidechain"
        | "isVirtual"
        | "isVisibleInTranscriptOnly"
        | "textNotTyped"
        | "handedOff" => by_hand &= value == "false",
        "wakeupSource" | "scheduledTaskId" => by_hand = false,
        _ => {}
    })
    .ok()?;
    let mut search = FirstPrompt::new(dialect);
    search.consider(content);
    let says = search.found.is_some()
        || search.command.is_some()
        || has_block(content, &["image", "document"]);
    moment.filter(|_| by_hand && says)
}

/// What names a session in the TypeScript package that says nothing in words: the first image or
/// document that was sent in its head.
pub(crate) fn attachment_of_head(head: &[u8]) -> Option<&'static str> {
    let lines = head.split(|byte| *byte == b'\n');
    lines.filter(|line| is_users_line(line)).find_map(|line| {
        if has(line, "\"type\":\"image\"", "\"type\": \"image\"") {
            Some("Image")
        } else if has(line, "\"type\":\"document\"", "\"type\": \"document\"") {
            Some("Document")
        } else {
            None
        }
    })
}

fn is_human(origin: &str) -> bool {
    let mut human = false;
    let scanned = members(origin, |key, value| {
        if key == "kind" {
            human = string(value).as_deref() == Some("human");
        }
    });
    scanned.is_ok() && human
}

fn command_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-name>")?;
    Some(rest.split_once("</command-name>")?.0)
}

/// Whether a text was put there by the CLI or an editor and says nothing of the conversation.
pub(crate) fn is_marker(text: &str) -> bool {
    const STARTS: [&str; 4] = [
        "<local-command-stdout>",
        "<session-start-hook>",
        "<tick>",
        "<goal>",
    ];
    let framed = |open: &str, close: &str| {
        text.strip_prefix(open)
            .is_some_and(|rest| rest.ends_with(close))
    };
    STARTS.iter().any(|start| text.starts_with(start))
        || text
            .strip_prefix("[Request interrupted by user")
            .is_some_and(|rest| rest.contains(']'))
        || framed("<ide_opened_file>", "</ide_opened_file>")
        || framed("<ide_selection>", "</ide_selection>")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARACTERS) {
        None => text.to_owned(),
        Some((at, _)) => {
            let kept = text.get(..at).map(stripped_end).unwrap_or_default();
            format!("{kept}\u{2026}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(content: &str) -> Option<String> {
        let line = format!(r#"{{"type":"user","message":{{"content":{content}}}}}"#);
        FirstPrompt::of_head(line.as_bytes(), Dialect::Python)
    }

    #[test]
    fn prompts_are_shortened_and_stripped() {
        assert_eq!(prompt(r#""  a\nb ""#).as_deref(), Some("a b"));
        let long = format!("\"{} {}\"", "é".repeat(199), "x".repeat(20));
        assert_eq!(prompt(&long), Some(format!("{}…", "é".repeat(199))));
        let exact = "x".repeat(200);
        assert_eq!(prompt(&format!("\"{exact}\"")), Some(exact));
        assert_eq!(
            prompt(r#"[{"type":"image"},{"type":"text","text":" "},{"type":"text","text":"t"}]"#)
                .as_deref(),
            Some("t")
        );
    }

    #[test]
    fn what_is_no_prompt() {
        for content in [
            "\"\"",
            "null",
            "7",
            "\"<tick>1\"",
            "\"[Request interrupted by user for tool use] x\"",
            "\"<ide_selection>a</ide_selection> \"",
            "\"<local-command-stdout>x\"",
            r#"[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"x"}]"#,
        ] {
            assert_eq!(prompt(content), None, "{content}");
        }
        assert!(prompt("\"[Request interrupted by user\"").is_some());
        assert!(prompt("\"<ide_selection>a</ide_selection> and\"").is_some());
    }

    #[test]
    fn a_command_counts_if_there_is_no_prompt() {
        let head = concat!(
            r#"{"type":"user","message":{"content":"<command-name>/one</command-name>"}}"#,
            "\n",
            r#"{"type":"user","message":{"content":"<command-name>/two</command-name>"}}"#,
            "\n",
        );
        assert_eq!(
            FirstPrompt::of_head(head.as_bytes(), Dialect::Python).as_deref(),
            Some("/one")
        );
        let more = format!("{head}{}", r#"{"type":"user","message":{"content":"hi"}}"#);
        assert_eq!(
            FirstPrompt::of_head(more.as_bytes(), Dialect::Python).as_deref(),
            Some("hi")
        );
    }

    #[test]
    fn bad_bytes_and_cut_lines_are_survived() {
        let mut head = b"\xff\xfe \"type\":\"user\"\n".to_vec();
        head.extend(br#"{"type":"user","message":{"content":"hi"#);
        assert_eq!(FirstPrompt::of_head(&head, Dialect::Python), None);
    }
}
