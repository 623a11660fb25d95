//! A saved conversation as people read it: turns, tool calls with their results, subagents where
//! they were started, and what it took.

mod build;
mod numbers;
mod tool;

pub(crate) use build::{read, Extent, Wanted};
pub(crate) use numbers::{Cost, Numbers, Totals};
pub(crate) use tool::{Image, Part, Tool, ToolResult};

use towline::transcripts::SessionInfo;

/// A session.
pub(crate) struct Conversation {
    pub(crate) info: SessionInfo,
    pub(crate) turns: Vec<Turn>,
    /// Subagents that no tool call shown names.
    pub(crate) loose: Vec<Agent>,
    pub(crate) totals: Totals,
    /// How many messages were left out before and behind those that are here.
    pub(crate) left_out: (usize, usize),
}

impl Conversation {
    /// The title, else what stands for it.
    pub(crate) fn title(&self) -> &str {
        match self.info.summary.trim() {
            "" => "Untitled session",
            summary => summary,
        }
    }
}

/// A prompt and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Empty for what nobody typed.
    pub(crate) prompt: Vec<Item>,
    /// When it was sent, in milliseconds since 1970.
    pub(crate) at: Option<i64>,
    pub(crate) items: Vec<Item>,
    pub(crate) numbers: Numbers,
}

/// Something said or done.
#[derive(Debug)]
pub(crate) enum Item {
    Text(String),
    Thinking(String),
    Tool(Box<Tool>),
    /// The result of a call that is not among the messages shown.
    Result(ToolResult),
    Image(Image),
    /// A notice of the CLI, with more to read where there is.
    Notice {
        label: String,
        text: String,
    },
    /// The API or the CLI failed.
    Failure(String),
}

/// A subagent's conversation.
#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    /// Its type, such as `general-purpose`.
    pub(crate) kind: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) turns: Vec<Turn>,
}
