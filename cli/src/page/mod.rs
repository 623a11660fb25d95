//! A conversation as one web page: nothing is fetched, and nothing in the conversation can act.
//!
//! Every text of the transcript passes [`escape::text`]; Markdown loses its HTML, its images and
//! every link that is not `http`, `https` or `mailto`. Should something get through all the same, the
//! page's content security policy lets no script run but its own, and nothing be loaded.

mod blocks;
mod escape;
mod prose;
mod template;

use crate::conversation::{Conversation, Turn};
use crate::words;
use escape::{attribute, line, text};

/// From so many prompts on the page has a list of them.
const WORTH_A_LIST: usize = 3;

/// The whole page.
pub(crate) fn page(conversation: &Conversation) -> String {
    let mut body = String::new();
    head(&mut body, conversation);
    if conversation.totals.prompts >= WORTH_A_LIST {
        contents(&mut body, &conversation.turns);
    }
    body.push_str("<main>\n");
    let (before, behind) = conversation.left_out;
    left_out(&mut body, before, "before");
    for (at, turn) in conversation.turns.iter().enumerate() {
        blocks::turn(&mut body, turn, Some(at + 1));
    }
    left_out(&mut body, behind, "behind");
    for agent in &conversation.loose {
        blocks::agent(&mut body, agent);
    }
    body.push_str("</main>\n");
    template::page(conversation.title(), &body)
}

fn left_out(out: &mut String, count: usize, place: &str) {
    if count > 0 {
        let count = words::counted(count, "message");
        out.push_str(&format!(
            "<p class=\"left-out\">{count} {place} this, not on this page</p>\n"
        ));
    }
}

fn head(out: &mut String, conversation: &Conversation) {
    let info = &conversation.info;
    let totals = &conversation.totals;
    out.push_str("<header>\n");
    out.push_str(&format!(
        "<h1 dir=\"auto\">{}</h1>\n",
        line(conversation.title())
    ));
    out.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            // Long ones get the room of two.
            let wide = match name {
                "Project" | "Session" | "Counts" | "Tokens" => " class=\"wide\"",
                _ => "",
            };
            out.push_str(&format!(
                "<div{wide}><dt>{name}</dt><dd>{value}</dd></div>\n"
            ));
        }
    };
    let shown = |text: &Option<String>| text.as_deref().map(line);
    fact(
        "Project",
        shown(&info.cwd).map(|cwd| format!("<bdi>{cwd}</bdi>")),
    );
    fact(
        "Branch",
        shown(&info.git_branch).map(|it| format!("<bdi>{it}</bdi>")),
    );
    fact(
        "Tag",
        shown(&info.tag).map(|tag| format!("<bdi>{tag}</bdi>")),
    );
    fact(
        "Session",
        Some(format!("<code>{}</code>", line(&info.session_id))),
    );
    fact("Begun", totals.first.map(moment));
    fact("Ended", totals.last.map(moment));
    fact("Work", Some(words::duration(totals.working)));
    fact("Models", Some(line(&totals.models.join(", "))));
    let mut counts = vec![words::counted(totals.prompts, "prompt")];
    counts.push(words::counted(totals.calls, "tool call"));
    if totals.denied > 0 {
        counts.push(format!("{} not allowed", totals.denied));
    }
    if totals.agents > 0 {
        counts.push(words::counted(totals.agents, "subagent"));
    }
    fact("Counts", Some(counts.join(", ")));
    fact("Tokens", tokens(conversation));
    let whole = match conversation.left_out {
        (0, 0) => "",
        _ => " for the whole session",
    };
    fact("Cost", totals.cost.map(|cost| words::cost(cost) + whole));
    fact(
        "Archived",
        (info.archived == Some(true)).then(|| "yes".to_owned()),
    );
    out.push_str("</dl>\n");
    by_model(out, conversation);
    out.push_str(
        "<p class=\"tools\" hidden><button type=\"button\" data-open=\"1\">Open everything</button> \
         <button type=\"button\" data-open=\"\">Close everything</button></p>\n</header>\n",
    );
}

fn tokens(conversation: &Conversation) -> Option<String> {
    let totals = &conversation.totals;
    let tokens = totals.tokens;
    let mut parts = vec![
        format!("{} in", words::grouped(tokens.input)),
        format!("{} out", words::grouped(tokens.output)),
    ];
    if tokens.cache_read > 0 {
        parts.push(format!(
            "{} from the cache",
            words::grouped(tokens.cache_read)
        ));
    }
    if tokens.cache_written > 0 {
        parts.push(format!(
            "{} into the cache",
            words::grouped(tokens.cache_written)
        ));
    }
    let agents = totals.agent_tokens;
    if agents.input + agents.output > 0 {
        parts.push(format!(
            "of these {} in and {} out by subagents",
            words::grouped(agents.input),
            words::grouped(agents.output)
        ));
    }
    Some(parts.join(", "))
}

/// What the CLI itself counted, where that tells more than one sum.
fn by_model(out: &mut String, conversation: &Conversation) {
    let models = &conversation.totals.by_model;
    if models.is_empty() {
        return;
    }
    out.push_str(
        "<details class=\"count\"><summary>As the CLI counted</summary>\n<div class=\"scroll\"><table>\n\
         <tr><th>Model</th><th>In</th><th>Out</th><th>From cache</th><th>Into cache</th><th>Cost</th></tr>\n",
    );
    for one in models {
        out.push_str(&format!("<tr><td>{}</td>", line(&one.model)));
        let tokens = one.tokens;
        for number in [
            tokens.input,
            tokens.output,
            tokens.cache_read,
            tokens.cache_written,
        ] {
            out.push_str(&format!("<td>{}</td>", words::grouped(number)));
        }
        let cost = one.dollars.map(words::dollars).unwrap_or_default();
        out.push_str(&format!("<td>{cost}</td></tr>\n"));
    }
    out.push_str("</table></div></details>\n");
}

fn contents(out: &mut String, turns: &[Turn]) {
    out.push_str("<nav><details><summary>Prompts</summary>\n<ol>\n");
    for (at, turn) in turns.iter().enumerate() {
        let Some(said) = blocks::first_text(&turn.prompt) else {
            continue;
        };
        let said = crate::terminal::cut(&crate::terminal::one_line(said), 100);
        out.push_str(&format!(
            "<li><a href=\"#turn-{}\" dir=\"auto\">{}</a></li>\n",
            at + 1,
            text(&said)
        ));
    }
    out.push_str("</ol></details></nav>\n");
}

/// A moment, with its exact form for programs.
fn moment(at: i64) -> String {
    format!(
        "<time datetime=\"{}\">{}</time>",
        attribute(&towline::transcripts::time::iso(at)),
        words::moment(at)
    )
}
