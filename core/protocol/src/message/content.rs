//! Content: the blocks a message is made of (Messages API), decoded one at a time.

use alloc::borrow::Cow;

use super::blocks::*;
use crate::json::{string, Elements, JsonText, Kind};
use crate::view::{member, Read};

/// The `content` of a message or of a tool result: a list of blocks, or a plain string that stands
/// for one text block. Empty by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Content<'a>(JsonText<'a>);

impl<'a> Content<'a> {
    /// The content as it came.
    pub fn json(&self) -> JsonText<'a> {
        self.0
    }

    /// The string, when it came as one.
    pub fn as_string(&self) -> Option<Cow<'a, str>> {
        self.0.string()
    }

    /// The blocks, each decoded when it is reached. A plain string gives one text block.
    pub fn blocks(&self) -> Blocks<'a> {
        Blocks(match self.0.kind() {
            Kind::Array => Rest::List(Elements::of(self.0.as_str())),
            Kind::String => Rest::Text(self.0),
            _ => Rest::Nothing,
        })
    }

    /// The text of the text blocks, one after the other; borrowed when there is only one.
    pub fn text(&self) -> Cow<'a, str> {
        let mut text = Cow::Borrowed("");
        for block in self.blocks() {
            if let Block::Text(block) = block {
                if text.is_empty() {
                    text = block.text;
                } else {
                    text.to_mut().push_str(&block.text);
                }
            }
        }
        text
    }
}

impl<'a> Read<'a> for Content<'a> {
    fn read(text: &'a str) -> Option<Self> {
        match Kind::of(text)? {
            Kind::Array | Kind::String => Some(Content(JsonText::of(text))),
            _ => None,
        }
    }
}

/// The blocks of a [`Content`].
#[derive(Debug, Clone)]
pub struct Blocks<'a>(Rest<'a>);

#[derive(Debug, Clone)]
enum Rest<'a> {
    List(Elements<'a>),
    Text(JsonText<'a>),
    Nothing,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        match &mut self.0 {
            Rest::List(elements) => elements.next()?.ok().map(Block::decode),
            Rest::Text(text) => {
                let text = text.string()?;
                self.0 = Rest::Nothing;
                Some(Block::Text(TextBlock::plain(text)))
            }
            Rest::Nothing => None,
        }
    }
}

/// A content block. In an `assistant` message there is one per message (`protocol.md §5.1`).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block<'a> {
    /// `text`
    Text(TextBlock<'a>),
    /// `thinking`
    Thinking(ThinkingBlock<'a>),
    /// `redacted_thinking`
    RedactedThinking(RedactedThinkingBlock<'a>),
    /// `tool_use`: a tool the CLI runs.
    ToolUse(ToolUseBlock<'a>),
    /// `tool_result`: what it gave back, in a `user` message.
    ToolResult(ToolResultBlock<'a>),
    /// `server_tool_use`: a tool that ran at the API.
    ServerToolUse(ToolUseBlock<'a>),
    /// `web_search_tool_result`, `web_fetch_tool_result`, `code_execution_tool_result` and every
    /// other `…_tool_result` of the API's own tools.
    ServerToolResult(ServerToolResultBlock<'a>),
    /// `mcp_tool_use`: a tool of an MCP server that the API itself called.
    McpToolUse(McpToolUseBlock<'a>),
    /// `mcp_tool_result`
    McpToolResult(ToolResultBlock<'a>),
    /// `image`
    Image(ImageBlock<'a>),
    /// `document`
    Document(DocumentBlock<'a>),
    /// `search_result`
    SearchResult(SearchResultBlock<'a>),
    /// `tool_reference`: a tool found by a tool search.
    ToolReference(ToolReferenceBlock<'a>),
    /// `container_upload`: a file given to the code execution container.
    ContainerUpload(ContainerUploadBlock<'a>),
    /// `compaction`: what the API put in place of earlier messages.
    Compaction(CompactionBlock<'a>),
    /// `fallback`: another model took over.
    Fallback(FallbackBlock<'a>),
    /// Any other, or no object at all.
    Unknown(UnknownBlock<'a>),
}

impl<'a> Block<'a> {
    /// Decodes a block from its validated JSON text. Never fails: what cannot be decoded is
    /// [`Unknown`](Block::Unknown).
    pub(crate) fn decode(json: &'a str) -> Self {
        Self::typed(json).unwrap_or_else(|| {
            Block::Unknown(UnknownBlock::decode(json).unwrap_or(UnknownBlock::element(json)))
        })
    }
}

macro_rules! block_types {
    ($($wire:literal => $variant:ident($block:ty),)*) => {
        impl<'a> Block<'a> {
            fn typed(json: &'a str) -> Option<Self> {
                let block_type = member(json, "type").and_then(string)?;
                Some(match &*block_type {
                    $($wire => Block::$variant(Read::read(json)?),)*
                    other if other.ends_with("_tool_result") => {
                        Block::ServerToolResult(Read::read(json)?)
                    }
                    _ => return None,
                })
            }

            #[cfg(feature = "schema")]
            pub(super) fn schemas(
                generator: &mut schemars::SchemaGenerator,
            ) -> alloc::vec::Vec<(&'static str, schemars::Schema)> {
                alloc::vec![$(($wire, generator.subschema_for::<$block>()),)*]
            }
        }
    };
}

block_types! {
    "text" => Text(TextBlock<'_>),
    "thinking" => Thinking(ThinkingBlock<'_>),
    "redacted_thinking" => RedactedThinking(RedactedThinkingBlock<'_>),
    "tool_use" => ToolUse(ToolUseBlock<'_>),
    "tool_result" => ToolResult(ToolResultBlock<'_>),
    "server_tool_use" => ServerToolUse(ToolUseBlock<'_>),
    "mcp_tool_use" => McpToolUse(McpToolUseBlock<'_>),
    "mcp_tool_result" => McpToolResult(ToolResultBlock<'_>),
    "image" => Image(ImageBlock<'_>),
    "document" => Document(DocumentBlock<'_>),
    "search_result" => SearchResult(SearchResultBlock<'_>),
    "tool_reference" => ToolReference(ToolReferenceBlock<'_>),
    "container_upload" => ContainerUpload(ContainerUploadBlock<'_>),
    "compaction" => Compaction(CompactionBlock<'_>),
    "fallback" => Fallback(FallbackBlock<'_>),
}
