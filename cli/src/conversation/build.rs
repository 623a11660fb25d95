//! From a transcript's entries to turns.

use std::collections::HashMap;

use towline::protocol::json::string;
use towline::transcripts::{
    messages, subagent_messages, time, MessageKind, MessageOptions, SessionInfo, SessionMessage,
};

use super::{Agent, Conversation, Image, Item, Numbers, Tool, ToolResult, Totals, Turn};
use crate::document::{is_true, list, text, value};
use crate::place::{AgentTranscript, Transcript};

/// Which of the messages are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    #[default]
    All,
    /// At most as many (all without a limit) behind so many.
    Part {
        offset: usize,
        limit: Option<usize>,
    },
    Last(usize),
}

impl Extent {
    /// How many of `count` messages are left out before and behind.
    pub(crate) fn left_out(self, count: usize) -> (usize, usize) {
        match self {
            Extent::All => (0, 0),
            Extent::Part { offset, limit } => {
                let before = offset.min(count);
                let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
                (before, (count - before).saturating_sub(limit))
            }
            Extent::Last(wanted) => (count.saturating_sub(wanted), 0),
        }
    }
}

/// What of a transcript is wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The conversation of a subagent, by its place in the transcript, instead of the session's.
    pub(crate) agent: Option<usize>,
    pub(crate) extent: Extent,
}

/// Reads a session.
pub(crate) fn read(info: SessionInfo, transcript: &Transcript, wanted: Wanted) -> Conversation {
    let extent = wanted.extent;
    let with_notices = MessageOptions {
        include_system: true,
        ..MessageOptions::default()
    };
    let agent = wanted.agent.and_then(|at| transcript.agents.get(at));
    let (entries, mut found) = match agent {
        Some(agent) => {
            let found = subagent_messages(&agent.entries, None, &with_notices);
            (&agent.entries, found)
        }
        None => (
            &transcript.entries,
            messages(&transcript.entries, &with_notices),
        ),
    };
    let is_said = |message: &SessionMessage<'_>| message.kind != MessageKind::System;
    let count = found.iter().filter(|message| is_said(message)).count();
    let left_out = extent.left_out(count);
    if left_out != (0, 0) {
        let mut at = 0;
        found.retain(|message| {
            let here = (left_out.0..count - left_out.1).contains(&at);
            at += usize::from(is_said(message));
            here
        });
    }
    let mut agents = Agents::of(&transcript.agents);
    if let Some(itself) = wanted.agent.and_then(|at| agents.left.get_mut(at)) {
        *itself = None;
    }
    let turns = turns_of(&found, entries, &mut agents);
    let loose: Vec<Agent> = match (extent, agent) {
        (Extent::All, None) => (0..transcript.agents.len())
            .filter_map(|at| agents.take(at))
            .collect(),
        _ => Vec::new(),
    };
    let mut totals = Totals::default();
    for turn in &turns {
        totals.prompts += usize::from(!turn.prompt.is_empty());
        totals.working += turn.numbers.duration().unwrap_or_default();
        totals.first = totals.first.or(turn.numbers.first());
        totals.last = turn.numbers.last().or(totals.last);
        count_turn(&mut totals, turn, false);
    }
    for agent in &loose {
        count_agent(&mut totals, agent);
    }
    totals.take_count(entries);
    Conversation {
        info,
        turns,
        loose,
        totals,
        left_out,
    }
}

fn count_turn(totals: &mut Totals, turn: &Turn, of_agent: bool) {
    let tokens = turn.numbers.tokens();
    totals.tokens = totals.tokens.plus(tokens);
    if of_agent {
        totals.agent_tokens = totals.agent_tokens.plus(tokens);
    }
    for model in &turn.numbers.models {
        if !totals.models.contains(model) {
            totals.models.push(model.clone());
        }
    }
    if let Some(cost) = turn.numbers.cost {
        let so_far = totals.cost.map_or(0.0, |cost| cost.dollars);
        totals.cost = Some(super::Cost {
            dollars: so_far + cost,
            at_least: false,
        });
    }
    for item in &turn.items {
        if let Item::Tool(tool) = item {
            totals.calls += 1;
            totals.denied += usize::from(tool.is_denied());
            for agent in &tool.agents {
                count_agent(totals, agent);
            }
        }
    }
}

fn count_agent(totals: &mut Totals, agent: &Agent) {
    totals.agents += 1;
    for turn in &agent.turns {
        count_turn(totals, turn, true);
    }
}

/// Subagents are shown so deep within each other; those below stand by themselves.
const DEEPEST: usize = 12;

/// The subagents that are still to be shown; each is shown once.
struct Agents<'a> {
    /// How many are being read, each within the one before.
    depth: usize,
    left: Vec<Option<&'a AgentTranscript>>,
    by_call: HashMap<String, Vec<usize>>,
}

impl<'a> Agents<'a> {
    fn of(agents: &'a [AgentTranscript]) -> Self {
        let mut by_call: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, agent) in agents.iter().enumerate() {
            if let Some(call) = text(&agent.metadata, "/toolUseId") {
                by_call.entry(call).or_default().push(at);
            }
        }
        Agents {
            depth: 0,
            left: agents.iter().map(Some).collect(),
            by_call,
        }
    }

    /// Those that a call started; its result may name one as well.
    fn of_call(&mut self, call: &str, named: Option<&str>) -> Vec<Agent> {
        if self.depth >= DEEPEST {
            return Vec::new();
        }
        let mut places = self.by_call.remove(call).unwrap_or_default();
        let named = named.and_then(|id| {
            let fits = |one: &Option<&AgentTranscript>| one.is_some_and(|agent| agent.id == id);
            self.left.iter().position(fits)
        });
        places.extend(named.filter(|at| !places.contains(at)));
        places.into_iter().filter_map(|at| self.take(at)).collect()
    }

    fn take(&mut self, at: usize) -> Option<Agent> {
        let agent = self.left.get_mut(at)?.take()?;
        let found = subagent_messages(&agent.entries, None, &MessageOptions::default());
        self.depth += 1;
        let turns = turns_of(&found, &agent.entries, self);
        self.depth -= 1;
        Some(Agent {
            id: agent.id.clone(),
            kind: text(&agent.metadata, "/agentType"),
            description: text(&agent.metadata, "/description"),
            turns,
        })
    }
}

fn turns_of(
    found: &[SessionMessage<'_>],
    entries: &[String],
    agents: &mut Agents<'_>,
) -> Vec<Turn> {
    let lines = Lines::of(entries, found);
    // The last line that a fork copies bears the time of copying.
    let is_copied = |entry: &&String| value(entry, "/forkedFrom").is_some();
    let last_copied = entries.iter().rev().find(is_copied);
    let last_copied = last_copied.and_then(|entry| text(entry, "/uuid"));
    let mut turns = Turns::default();
    for message in found {
        let line = lines.line(&message.uuid);
        let at = text(line, "/timestamp")
            .filter(|_| last_copied.as_deref() != Some(message.uuid.as_ref()))
            .and_then(|at| time::parse_iso(&at));
        match message.kind {
            MessageKind::User => turns.user(message, line, at, agents),
            MessageKind::Assistant => turns.assistant(message, line, at),
            MessageKind::System => turns.notice(line, at),
        }
    }
    turns.done
}

/// The line that each message stands in.
struct Lines<'a>(HashMap<String, &'a str>);

impl<'a> Lines<'a> {
    fn of(entries: &'a [String], found: &[SessionMessage<'_>]) -> Self {
        let wanted: std::collections::HashSet<&str> =
            found.iter().map(|message| message.uuid.as_ref()).collect();
        let lines = entries.iter().filter_map(|entry| {
            let uuid = text(entry, "/uuid")?;
            wanted
                .contains(uuid.as_str())
                .then_some((uuid, entry.as_str()))
        });
        Lines(lines.collect())
    }

    fn line(&self, uuid: &str) -> &'a str {
        self.0.get(uuid).copied().unwrap_or("{}")
    }
}

#[derive(Default)]
struct Turns {
    done: Vec<Turn>,
}

impl Turns {
    /// The turn that goes on; a new one where there is none.
    fn here(&mut self) -> &mut Turn {
        if self.done.is_empty() {
            self.done.push(Turn::default());
        }
        let last = self.done.len() - 1;
        &mut self.done[last]
    }

    fn begin(&mut self, at: Option<i64>) -> &mut Turn {
        self.done.push(Turn {
            at,
            ..Turn::default()
        });
        self.here()
    }

    fn add(&mut self, item: Item, at: Option<i64>) {
        let turn = self.here();
        turn.numbers.at(at);
        turn.items.push(item);
    }

    fn assistant(&mut self, message: &SessionMessage<'_>, line: &str, at: Option<i64>) {
        let failed = is_true(line, "/isApiErrorMessage");
        self.here().numbers.message(line, &message.message);
        for block in blocks(&message.message) {
            let item = match text(block, "/type").as_deref() {
                Some("text") => match text(block, "/text") {
                    Some(said) if failed => Item::Failure(said),
                    Some(said) => Item::Text(said),
                    None => continue,
                },
                Some("thinking") => match text(block, "/thinking") {
                    Some(thought) => Item::Thinking(thought),
                    None => continue,
                },
                Some("redacted_thinking") => Item::Notice {
                    label: "Thinking that the API keeps to itself".to_owned(),
                    text: String::new(),
                },
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    Item::Tool(Box::new(Tool::read(block)))
                }
                Some(kind) if kind.ends_with("_tool_result") => {
                    self.result(ToolResult::read(block, line), at);
                    continue;
                }
                Some("image") => Item::Image(Image::read(block)),
                Some(kind) => Item::Notice {
                    label: kind.replace('_', " "),
                    text: crate::document::pretty(block),
                },
                None => match string(block) {
                    Some(said) => Item::Text(said.into_owned()),
                    None => continue,
                },
            };
            self.add(item, at);
        }
    }

    fn user(
        &mut self,
        message: &SessionMessage<'_>,
        line: &str,
        at: Option<i64>,
        agents: &mut Agents<'_>,
    ) {
        let mut prompt = Vec::new();
        for block in blocks(&message.message) {
            match text(block, "/type").as_deref() {
                Some("tool_result") => {
                    let result = ToolResult::read(block, line);
                    let agent = text(line, "/toolUseResult/agentId");
                    let started = agents.of_call(&result.call, agent.as_deref());
                    self.started(&result.call, started);
                    self.result(result, at);
                }
                Some("text") => prompt.extend(text(block, "/text").map(Item::Text)),
                Some("image") => prompt.push(Item::Image(Image::read(block))),
                Some("document") => prompt.push(Item::Notice {
                    label: text(block, "/title").unwrap_or_else(|| "A document".to_owned()),
                    text: String::new(),
                }),
                Some(kind) => prompt.push(Item::Notice {
                    label: kind.replace('_', " "),
                    text: crate::document::pretty(block),
                }),
                None => prompt.extend(string(block).map(|said| Item::Text(said.into_owned()))),
            }
        }
        if !prompt.is_empty() {
            self.prompt(prompt, line, at);
        }
    }

    fn prompt(&mut self, mut prompt: Vec<Item>, line: &str, at: Option<i64>) {
        let whole = match prompt.as_slice() {
            [Item::Text(text)] => text.clone(),
            _ => String::new(),
        };
        let tag = |name: &str| tagged(&whole, name);
        if whole.starts_with("[Request interrupted by user") {
            let label = "Interrupted by the user".to_owned();
            let text = String::new();
            return self.add(Item::Notice { label, text }, at);
        }
        if let Some(output) = tag("local-command-stdout").or_else(|| tag("bash-stdout")) {
            let label = "Output of the command".to_owned();
            return self.add(
                Item::Notice {
                    label,
                    text: output,
                },
                at,
            );
        }
        let origin = text(line, "/origin/kind").filter(|origin| origin != "human");
        if is_true(line, "/isCompactSummary") {
            let label = "What was said before, in a summary".to_owned();
            self.begin(at);
            return self.add(Item::Notice { label, text: whole }, at);
        }
        if let Some(origin) = origin {
            let label = tag("summary").unwrap_or_else(|| origin.replace(['-', '_'], " "));
            let text = tag("result").unwrap_or(whole);
            self.begin(at);
            return self.add(Item::Notice { label, text }, at);
        }
        if let Some(command) = tag("command-name") {
            let arguments = tag("command-args").unwrap_or_default();
            prompt = vec![Item::Text(
                format!("{command} {arguments}").trim().to_owned(),
            )];
        } else if let Some(command) = tag("bash-input") {
            prompt = vec![Item::Text(format!("! {command}"))];
        }
        let turn = self.begin(at);
        turn.numbers.at(at);
        turn.prompt = prompt;
    }

    /// Puts a result to its call, the newest of that id.
    fn result(&mut self, result: ToolResult, at: Option<i64>) {
        match self.call(&result.call) {
            Some((numbers, tool)) => {
                numbers.at(at);
                tool.result = Some(result);
            }
            None => self.add(Item::Result(result), at),
        }
    }

    fn started(&mut self, call: &str, started: Vec<Agent>) {
        if let Some((_, tool)) = self.call(call) {
            tool.agents.extend(started);
        }
    }

    fn call(&mut self, id: &str) -> Option<(&mut Numbers, &mut Tool)> {
        self.done.iter_mut().rev().find_map(|turn| {
            let numbers = &mut turn.numbers;
            let mut tools = turn.items.iter_mut().rev().filter_map(|item| match item {
                Item::Tool(tool) if tool.id == id => Some(tool),
                _ => None,
            });
            tools.next().map(|tool| (numbers, &mut **tool))
        })
    }

    fn notice(&mut self, line: &str, at: Option<i64>) {
        let said = text(line, "/content");
        let (label, text) = match text(line, "/subtype").as_deref() {
            Some("compact_boundary") => ("The conversation was compacted".to_owned(), None),
            Some("turn_duration" | "stop_hook_summary") | None => return,
            Some(kind) => match said {
                Some(said) => (kind.replace('_', " "), Some(said)),
                None => return,
            },
        };
        let text = text.unwrap_or_default();
        self.add(Item::Notice { label, text }, at);
    }
}

/// The content blocks of a message; a text stands for itself.
fn blocks(message: &str) -> Vec<&str> {
    match value(message, "/content") {
        Some(content) if content.starts_with('[') => list(content),
        Some(content) if content.starts_with('"') => vec![content],
        _ => Vec::new(),
    }
}

/// What stands between `<name>` and `</name>`, unless that is nothing.
fn tagged(text: &str, name: &str) -> Option<String> {
    let (_, behind) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = behind.split_once(&format!("</{name}>"))?;
    let inner = inner.trim();
    (!inner.is_empty()).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents() {
        let part = |offset, limit| Extent::Part { offset, limit };
        for (extent, expected) in [
            (Extent::All, (0, 0)),
            (Extent::Last(3), (7, 0)),
            (Extent::Last(30), (0, 0)),
            (part(2, Some(3)), (2, 5)),
            (part(2, None), (2, 0)),
            (part(2, Some(0)), (2, 0)),
            (part(20, Some(3)), (10, 0)),
        ] {
            assert_eq!(extent.left_out(10), expected, "{extent:?}");
        }
    }

    #[test]
    fn tags() {
        assert_eq!(tagged("<a>x</a>", "a").as_deref(), Some("x"));
        assert_eq!(tagged("<a> </a>", "a"), None);
        assert_eq!(tagged("<a>x", "a"), None);
    }
}
