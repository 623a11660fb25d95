//! A conversation in the terminal.

use std::io::{self, Write};

use crate::conversation::{Agent, Conversation, Item, Tool, ToolResult, Turn};
use crate::terminal::{clean, cut, one_line, wrapped, Styles};
use crate::words;

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub(super) styles: Styles,
    /// Nothing where lines are not to be broken.
    pub(super) columns: Option<usize>,
    pub(super) full: bool,
}

/// How many lines of an input or a result are shown unless all are.
const LINES: usize = 8;
/// Prose wider than this is hard to read.
const WIDEST: usize = 100;

pub(super) fn write(
    out: &mut impl Write,
    conversation: &Conversation,
    style: Style,
) -> io::Result<()> {
    let mut text = Text {
        out,
        style,
        indent: 0,
    };
    text.head(conversation)?;
    let (before, behind) = conversation.left_out;
    if before > 0 {
        text.remark(&format!("… {} before", words::counted(before, "message")))?;
    }
    text.turns(&conversation.turns)?;
    if behind > 0 {
        text.remark(&format!("… {} behind", words::counted(behind, "message")))?;
    }
    for agent in &conversation.loose {
        text.agent(agent)?;
    }
    text.foot(conversation)
}

struct Text<'o, W> {
    out: &'o mut W,
    style: Style,
    indent: usize,
}

impl<W: Write> Text<'_, W> {
    fn head(&mut self, conversation: &Conversation) -> io::Result<()> {
        let styles = self.style.styles;
        writeln!(self.out, "{}", styles.bold(&one_line(conversation.title())))?;
        let info = &conversation.info;
        let archived = (info.archived == Some(true)).then(|| "archived".to_owned());
        let facts = [
            Some(info.session_id.clone()),
            info.cwd.clone(),
            info.git_branch
                .as_ref()
                .map(|branch| format!("branch {branch}")),
            info.tag.as_ref().map(|tag| format!("tag {tag}")),
            archived,
        ];
        let facts: Vec<String> = facts
            .into_iter()
            .flatten()
            .map(|fact| one_line(&fact))
            .collect();
        writeln!(self.out, "{}", styles.dim(&facts.join(" · ")))
    }

    fn foot(&mut self, conversation: &Conversation) -> io::Result<()> {
        let totals = &conversation.totals;
        let mut facts = vec![words::counted(totals.prompts, "prompt")];
        facts.push(words::counted(totals.calls, "tool call"));
        if totals.denied > 0 {
            facts.push(format!("{} not allowed", totals.denied));
        }
        if totals.agents > 0 {
            facts.push(words::counted(totals.agents, "subagent"));
        }
        let tokens = totals.tokens;
        let read = tokens.input + tokens.cache_read + tokens.cache_written;
        facts.push(format!(
            "{} tokens in, {} out",
            words::grouped(read),
            words::grouped(tokens.output)
        ));
        facts.push(format!("{} of work", words::duration(totals.working)));
        let whole = match conversation.left_out {
            (0, 0) => "",
            _ => "the whole session ",
        };
        facts.extend(
            totals
                .cost
                .map(|cost| format!("{whole}{}", words::cost(cost))),
        );
        facts.extend((!totals.models.is_empty()).then(|| totals.models.join(", ")));
        writeln!(self.out)?;
        let facts = one_line(&facts.join(" · "));
        self.lines(&facts, Styles::dim)
    }

    /// How many columns prose may take.
    fn room(&self) -> usize {
        let columns = self.style.columns.unwrap_or(usize::MAX);
        let room = columns.saturating_sub(self.indent).max(20);
        match self.style.columns {
            Some(_) => room.min(WIDEST),
            None => room,
        }
    }

    fn lines(&mut self, text: &str, style: fn(Styles, &str) -> String) -> io::Result<()> {
        for line in wrapped(&clean(text), self.room()) {
            match line.is_empty() {
                true => writeln!(self.out)?,
                false => writeln!(
                    self.out,
                    "{:indent$}{}",
                    "",
                    style(self.style.styles, &line),
                    indent = self.indent
                )?,
            }
        }
        Ok(())
    }

    fn remark(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out)?;
        self.lines(text, Styles::dim)
    }

    fn turns(&mut self, turns: &[Turn]) -> io::Result<()> {
        for turn in turns {
            self.prompt(turn)?;
            for item in &turn.items {
                self.item(item)?;
            }
            let numbers = words::numbers(&turn.numbers);
            if !turn.items.is_empty() && !numbers.is_empty() {
                writeln!(self.out)?;
                self.lines(&one_line(&numbers.join(" · ")), Styles::dim)?;
            }
        }
        Ok(())
    }

    fn prompt(&mut self, turn: &Turn) -> io::Result<()> {
        if turn.prompt.is_empty() {
            return Ok(());
        }
        let when = turn.at.map(words::moment).unwrap_or_default();
        writeln!(
            self.out,
            "\n{:indent$}{} {}",
            "",
            self.style.styles.good("❯"),
            self.style.styles.dim(&when),
            indent = self.indent
        )?;
        self.indent += 2;
        for item in &turn.prompt {
            match item {
                Item::Text(text) => self.lines(text.trim(), Styles::bold)?,
                other => self.item(other)?,
            }
        }
        self.indent -= 2;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> io::Result<()> {
        writeln!(self.out)?;
        match item {
            Item::Text(text) => self.lines(text.trim(), |_, text| text.to_owned()),
            Item::Thinking(text) if self.style.full => {
                self.lines("Thinking", Styles::dim)?;
                self.indented(|here| here.lines(text.trim(), Styles::dim))
            }
            Item::Thinking(text) => {
                let count = clean(text).trim().lines().count();
                self.lines(
                    &format!("Thinking ({})", words::counted(count, "line")),
                    Styles::dim,
                )
            }
            Item::Tool(tool) => self.tool(tool),
            Item::Result(result) => {
                self.lines("Result of a call before", Styles::dim)?;
                self.result(result)
            }
            Item::Image(image) => self.lines(&one_line(&image.words()), Styles::dim),
            Item::Notice { label, text } => {
                self.lines(&one_line(label), Styles::tag)?;
                self.indented(|here| here.shortened(text, Styles::dim))
            }
            Item::Failure(text) => self.lines(text.trim(), Styles::bad),
        }
    }

    fn indented(&mut self, write: impl FnOnce(&mut Self) -> io::Result<()>) -> io::Result<()> {
        self.indent += 2;
        let written = write(self);
        self.indent -= 2;
        written
    }

    fn tool(&mut self, tool: &Tool) -> io::Result<()> {
        let styles = self.style.styles;
        let name = one_line(&tool.name);
        let room = self.room().saturating_sub(name.len() + 3);
        let subject = match self.style.full {
            true => String::new(),
            false => cut(&one_line(&tool.subject()), room),
        };
        let mark = match (tool.is_denied(), tool.failed()) {
            (true, _) | (_, true) => styles.bad("●"),
            _ => styles.good("●"),
        };
        let line = format!("{mark} {} {}", styles.accent(&name), subject);
        writeln!(
            self.out,
            "{:indent$}{}",
            "",
            line.trim_end(),
            indent = self.indent
        )?;
        self.indented(|here| {
            if here.style.full {
                for (name, argument) in tool.arguments() {
                    here.lines(&format!("{}:", one_line(&name)), Styles::dim)?;
                    here.indented(|here| here.lines(&argument, |_, text| text.to_owned()))?;
                }
            }
            for agent in &tool.agents {
                here.agent(agent)?;
            }
            match &tool.result {
                Some(result) => here.result(result),
                None => here.lines("no result", Styles::dim),
            }
        })
    }

    fn result(&mut self, result: &ToolResult) -> io::Result<()> {
        if let Some(decision) = &result.decision {
            let style = if decision.allowed {
                Styles::dim
            } else {
                Styles::bad
            };
            self.lines(&one_line(&decision.words), style)?;
        }
        let style = if result.is_error {
            Styles::bad
        } else {
            Styles::dim
        };
        self.shortened(&result.text(), style)
    }

    /// A text of any length: its first lines, unless all are wanted.
    fn shortened(&mut self, text: &str, style: fn(Styles, &str) -> String) -> io::Result<()> {
        let text = clean(text);
        let text = text.trim_end();
        if text.is_empty() {
            return Ok(());
        }
        if self.style.full {
            return self.lines(text, style);
        }
        let count = text.lines().count();
        let room = self.room();
        for line in text.lines().take(LINES) {
            let line = cut(&line.replace('\t', "    "), room.min(400));
            self.lines(&line, style)?;
        }
        if count > LINES {
            let more = words::counted(count - LINES, "more line");
            self.lines(&format!("… {more}"), Styles::dim)?;
        }
        Ok(())
    }

    fn agent(&mut self, agent: &Agent) -> io::Result<()> {
        let kind = agent.kind.as_deref().unwrap_or("subagent");
        let description = agent.description.as_deref().unwrap_or_default();
        let name = one_line(&format!("{kind} {} {description}", agent.id));
        self.lines(&format!("▸ {}", name.trim()), Styles::tag)?;
        match self.style.full {
            true => self.indented(|here| here.turns(&agent.turns)),
            false => {
                let calls = agent.turns.iter().flat_map(|turn| &turn.items);
                let calls = calls.filter(|item| matches!(item, Item::Tool(_))).count();
                let told = format!(
                    "  {}; --full or --agent {} shows it",
                    words::counted(calls, "tool call"),
                    one_line(&agent.id)
                );
                self.lines(&told, Styles::dim)
            }
        }
    }
}
