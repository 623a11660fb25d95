//! Turns, and what is in them.

use base64::Engine;

use super::escape::{attribute, line, text};
use super::moment;
use super::prose::prose;
use crate::conversation::{Agent, Image, Item, Part, Tool, ToolResult, Turn};
use crate::terminal::{cut, one_line};
use crate::words;

/// No more of one text is on the page than as many bytes; the transcript has the rest.
const LONGEST: usize = 256 << 10;
/// What is longer than as many lines is closed at first.
const SHORT: usize = 12;

pub(super) fn turn(out: &mut String, turn: &Turn, number: Option<usize>) {
    match number {
        Some(number) => out.push_str(&format!("<section class=\"turn\" id=\"turn-{number}\">\n")),
        None => out.push_str("<section class=\"turn\">\n"),
    }
    if !turn.prompt.is_empty() {
        let when = turn.at.map(moment).unwrap_or_default();
        out.push_str(&format!("<div class=\"prompt\"><h2>Prompt {when}</h2>\n"));
        for item in &turn.prompt {
            match item {
                Item::Text(said) => {
                    out.push_str(&format!(
                        "<div class=\"said\" dir=\"auto\">{}</div>\n",
                        long(said.trim())
                    ));
                }
                other => self::item(out, other),
            }
        }
        out.push_str("</div>\n");
    }
    for item in &turn.items {
        self::item(out, item);
    }
    let numbers = words::numbers(&turn.numbers);
    if !turn.items.is_empty() && !numbers.is_empty() {
        out.push_str(&format!(
            "<p class=\"numbers\">{}</p>\n",
            line(&numbers.join(" · "))
        ));
    }
    out.push_str("</section>\n");
}

/// What was said first.
pub(super) fn first_text(items: &[Item]) -> Option<&str> {
    items.iter().find_map(|item| match item {
        Item::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn item(out: &mut String, item: &Item) {
    match item {
        Item::Text(said) => {
            let (shown, missing) = shortened(said);
            out.push_str(&format!(
                "<div class=\"prose\" dir=\"auto\">{}{missing}</div>\n",
                prose(shown)
            ));
        }
        Item::Thinking(thought) => {
            let first = cut(&one_line(thought), 80);
            out.push_str(&format!(
                "<details class=\"thinking\"><summary>Thinking <span class=\"hint\">{}</span></summary>\
                 <div class=\"said\" dir=\"auto\">{}</div></details>\n",
                text(&first),
                long(thought.trim())
            ));
        }
        Item::Tool(tool) => self::tool(out, tool),
        Item::Result(result) => {
            out.push_str("<div class=\"tool\"><div class=\"body\"><h4>Result of a call before</h4>\n");
            self::result(out, result);
            out.push_str("</div></div>\n");
        }
        Item::Image(image) => self::image(out, image),
        Item::Notice { label, text: more } => match more.is_empty() {
            true => out.push_str(&format!("<p class=\"notice\">{}</p>\n", line(label))),
            false => out.push_str(&format!(
                "<details class=\"notice\"><summary>{}</summary><pre dir=\"auto\">{}</pre></details>\n",
                line(label),
                long(more)
            )),
        },
        Item::Failure(said) => {
            out.push_str(&format!("<pre class=\"failure\" dir=\"auto\">{}</pre>\n", long(said)));
        }
    }
}

fn tool(out: &mut String, tool: &Tool) {
    let (state, badge) = match &tool.result {
        _ if tool.is_denied() => ("denied", String::new()),
        Some(result) if result.is_error => ("failed", "failed".to_owned()),
        Some(_) => ("done", String::new()),
        None => ("open", "no result".to_owned()),
    };
    let open = if state == "denied" { " open" } else { "" };
    out.push_str(&format!(
        "<details class=\"tool {state}\"{open}><summary><b>{}</b> <code dir=\"auto\">{}</code>",
        line(&tool.name),
        text(&cut(&one_line(&tool.subject()), 160))
    ));
    let decision = tool.result.as_ref().and_then(|it| it.decision.as_ref());
    if let Some(decision) = decision {
        let kind = if decision.allowed {
            "allowed"
        } else {
            "denied"
        };
        out.push_str(&format!(
            " <span class=\"badge {kind}\">{}</span>",
            line(&decision.words)
        ));
    }
    if !badge.is_empty() {
        out.push_str(&format!(" <span class=\"badge {state}\">{badge}</span>"));
    }
    out.push_str("</summary>\n<div class=\"body\">\n");
    input(out, tool);
    for agent in &tool.agents {
        self::agent(out, agent);
    }
    if let Some(result) = &tool.result {
        out.push_str(if result.is_error {
            "<h4>Error</h4>\n"
        } else {
            "<h4>Result</h4>\n"
        });
        self::result(out, result);
    }
    out.push_str("</div></details>\n");
}

fn input(out: &mut String, tool: &Tool) {
    let arguments = tool.arguments();
    if arguments.is_empty() {
        return;
    }
    out.push_str("<dl class=\"input\">\n");
    for (name, value) in arguments {
        let class = match (tool.name.as_str(), name.as_str()) {
            ("Edit" | "MultiEdit", "old_string") => " class=\"removed\"",
            ("Edit" | "MultiEdit", "new_string") => " class=\"added\"",
            _ => "",
        };
        out.push_str(&format!("<dt>{}</dt><dd>", line(&name)));
        pre(out, &value, class);
        out.push_str("</dd>\n");
    }
    out.push_str("</dl>\n");
}

fn result(out: &mut String, result: &ToolResult) {
    for part in &result.parts {
        match part {
            Part::Text(said) if said.trim().is_empty() => {}
            Part::Text(said) => {
                let class = if result.is_error {
                    " class=\"failure\""
                } else {
                    ""
                };
                pre(out, said, class);
            }
            Part::Image(image) => self::image(out, image),
        }
    }
}

/// A text as it is; a long one scrolls within a box.
fn pre(out: &mut String, said: &str, class: &str) {
    let said = said.trim_end_matches('\n');
    let open = match said.lines().count() > SHORT {
        true => "<div class=\"tall\" tabindex=\"0\">",
        false => "<div>",
    };
    out.push_str(&format!(
        "{open}<pre dir=\"auto\"{class}>{}</pre></div>",
        long(said)
    ));
}

/// Text, and how much of it is missing where it is too much.
fn long(said: &str) -> String {
    let (shown, missing) = shortened(said);
    text(shown) + &missing
}

/// The beginning of a text, and the HTML that says how much is missing.
fn shortened(said: &str) -> (&str, String) {
    if said.len() <= LONGEST {
        return (said, String::new());
    }
    let mut end = LONGEST;
    while !said.is_char_boundary(end) {
        end -= 1;
    }
    let missing = words::size((said.len() - end) as u64);
    (
        said.get(..end).unwrap_or_default(),
        format!("\n<em>… {missing} more in the transcript</em>"),
    )
}

/// An image that is in the transcript, of a kind that is a picture and nothing else.
fn image(out: &mut String, image: &Image) {
    let is_picture = matches!(
        image.media_type.as_str(),
        "image/png" | "image/jpeg" | "image/gif" | "image/webp"
    );
    let decoded = base64::engine::general_purpose::STANDARD.decode(&image.data);
    match decoded.is_ok_and(|bytes| !bytes.is_empty()) && is_picture {
        true => out.push_str(&format!(
            "<img alt=\"image\" src=\"data:{};base64,{}\">\n",
            attribute(&image.media_type),
            attribute(&image.data)
        )),
        false => out.push_str(&format!(
            "<p class=\"notice\">{}</p>\n",
            line(&image.words())
        )),
    }
}

pub(super) fn agent(out: &mut String, agent: &Agent) {
    let kind = agent.kind.as_deref().unwrap_or("subagent");
    let description = agent.description.as_deref().unwrap_or_default();
    out.push_str(&format!(
        "<details class=\"agent\"><summary>Subagent <b>{}</b> <span class=\"hint\">{}</span></summary>\n\
         <div class=\"body\">\n",
        line(kind),
        line(description)
    ));
    for turn in &agent.turns {
        self::turn(out, turn, None);
    }
    out.push_str("</div></details>\n");
}
