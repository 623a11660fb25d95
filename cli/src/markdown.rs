//! A conversation as a Markdown file.

use crate::conversation::{Agent, Conversation, Item, Tool, ToolResult, Turn};
use crate::document::quoted;
use crate::terminal::{clean, one_line};
use crate::words;

/// The whole conversation. What people and tools wrote is quoted or fenced, so that it cannot be
/// taken for the file's own structure; Claude's text is Markdown as it is.
pub(crate) fn markdown(conversation: &Conversation) -> String {
    let info = &conversation.info;
    let mut out = format!("# {}\n\n", escaped(&one_line(conversation.title())));
    let facts = [
        ("Session", Some(info.session_id.clone())),
        ("Project", info.cwd.clone()),
        ("Branch", info.git_branch.clone()),
        ("Tag", info.tag.clone()),
        ("Models", Some(conversation.totals.models.join(", "))),
        ("Begun", conversation.totals.first.map(words::moment)),
        ("Cost", conversation.totals.cost.map(words::cost)),
    ];
    for (name, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            out.push_str(&format!("- {name}: {}\n", code(&one_line(&fact))));
        }
    }
    turns(&mut out, &conversation.turns, 2);
    for agent in &conversation.loose {
        subagent(&mut out, agent, 2);
    }
    out
}

fn turns(out: &mut String, turns: &[Turn], level: usize) {
    for turn in turns {
        if !turn.prompt.is_empty() {
            let when = turn
                .at
                .map(words::moment)
                .map_or(String::new(), |at| format!(" · {at}"));
            heading(out, level, &format!("Prompt{when}"));
            for item in &turn.prompt {
                match item {
                    Item::Text(text) => quote(out, text),
                    other => self::item(out, other, level),
                }
            }
        }
        if !turn.items.is_empty() {
            heading(out, level, "Claude");
        }
        for item in &turn.items {
            self::item(out, item, level);
        }
        let numbers = words::numbers(&turn.numbers);
        if !turn.items.is_empty() && !numbers.is_empty() {
            out.push_str(&format!(
                "\n*{}*\n",
                escaped(&one_line(&numbers.join(" · ")))
            ));
        }
    }
}

fn item(out: &mut String, item: &Item, level: usize) {
    match item {
        Item::Text(text) => out.push_str(&format!("\n{}\n", clean(text).trim())),
        Item::Thinking(text) => {
            out.push_str("\n*Thinking:*\n");
            quote(out, text);
        }
        Item::Tool(tool) => call(out, tool, level),
        Item::Result(result) => self::result(out, result),
        Item::Image(image) => out.push_str(&format!("\n{}\n", escaped(&one_line(&image.words())))),
        Item::Notice { label, text } => {
            out.push_str(&format!("\n*{}*\n", escaped(&one_line(label))));
            if !text.is_empty() {
                fence(out, text);
            }
        }
        Item::Failure(text) => {
            out.push_str("\n**Error:**\n");
            fence(out, text);
        }
    }
}

fn call(out: &mut String, tool: &Tool, level: usize) {
    out.push_str(&format!("\n**{}**\n", escaped(&one_line(&tool.name))));
    for (name, argument) in tool.arguments() {
        match argument.contains('\n') || argument.len() > 100 {
            true => {
                out.push_str(&format!("\n{}:\n", code(&one_line(&name))));
                fence(out, &argument);
            }
            false => out.push_str(&format!(
                "\n{}: {}\n",
                code(&one_line(&name)),
                code(&one_line(&argument))
            )),
        }
    }
    for agent in &tool.agents {
        subagent(out, agent, level + 1);
    }
    match &tool.result {
        Some(result) => self::result(out, result),
        None => out.push_str("\n*No result*\n"),
    }
}

fn result(out: &mut String, result: &ToolResult) {
    let mut label = match result.is_error {
        true => "Error".to_owned(),
        false => "Result".to_owned(),
    };
    if let Some(decision) = &result.decision {
        label.push_str(&format!(" ({})", decision.words));
    }
    out.push_str(&format!("\n*{}:*\n", escaped(&one_line(&label))));
    fence(out, &result.text());
}

fn subagent(out: &mut String, agent: &Agent, level: usize) {
    let kind = agent.kind.as_deref().unwrap_or("subagent");
    heading(out, level, &format!("Subagent {kind} {}", agent.id));
    turns(out, &agent.turns, level + 1);
}

fn heading(out: &mut String, level: usize, text: &str) {
    let marks = "#".repeat(level.min(6));
    out.push_str(&format!("\n{marks} {}\n", escaped(&one_line(text))));
}

/// A fence that the text does not contain.
fn fence(out: &mut String, text: &str) {
    let text = clean(text);
    let marks = "`".repeat(longest_run(&text, '`').max(2) + 1);
    out.push_str(&format!(
        "\n{marks}text\n{}\n{marks}\n",
        text.trim_end_matches('\n')
    ));
}

fn quote(out: &mut String, text: &str) {
    out.push('\n');
    for line in clean(text).lines() {
        out.push_str(&format!("> {}\n", escaped(line)));
    }
}

fn code(text: &str) -> String {
    if text.is_empty() {
        return code(&quoted(text));
    }
    let marks = "`".repeat(longest_run(text, '`') + 1);
    let space = if text.contains('`') { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

fn longest_run(text: &str, of: char) -> usize {
    let runs = text.split(|character| character != of).map(str::len);
    runs.max().unwrap_or_default()
}

/// Text that no reader of Markdown takes for anything else.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation()
            && !matches!(
                character,
                '.' | ',' | ':' | '/' | '-' | '\'' | '"' | '?' | '(' | ')' | '$' | ';' | '%'
            )
        {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        let mut out = String::new();
        fence(&mut out, "```\n# no heading");
        assert!(out.starts_with("\n````text\n```\n# no heading\n````"));
        out.clear();
        quote(&mut out, "# a\n<script>");
        assert_eq!(out, "\n> \\# a\n> \\<script\\>\n");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code(""), "`\"\"`");
    }
}
