//! The blocks a content is made of, by their `type`.

use alloc::borrow::Cow;

use super::content::Content;
use crate::json::JsonText;
use crate::view::view;

view! {
    /// `text`
    pub struct TextBlock {
        /// The text.
        text: Cow<'a, str>,
        /// Where it was taken from.
        citations: Option<JsonText<'a>>,
    }
}

impl<'a> TextBlock<'a> {
    /// The block that a plain string stands for.
    pub(super) fn plain(text: Cow<'a, str>) -> Self {
        TextBlock {
            text,
            ..TextBlock::default()
        }
    }
}

view! {
    /// `thinking`
    pub struct ThinkingBlock {
        /// The thoughts, maybe in summary.
        thinking: Cow<'a, str>,
        /// Proves to the API that it wrote them.
        signature: Option<Cow<'a, str>>,
    }
}

view! {
    /// `redacted_thinking`
    pub struct RedactedThinkingBlock {
        /// The thoughts, encrypted.
        data: Cow<'a, str>,
    }
}

view! {
    /// `tool_use` or `server_tool_use`
    pub struct ToolUseBlock {
        /// The call; its result names it as `tool_use_id`.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// The arguments, an object.
        input: JsonText<'a>,
        /// Who called: the model, or a server tool such as code execution.
        caller: Option<JsonText<'a>>,
    }
}

view! {
    /// `tool_result` or `mcp_tool_result`
    pub struct ToolResultBlock {
        /// The call.
        tool_use_id: Cow<'a, str>,
        /// What the model is told.
        content [default]: Content<'a>,
        /// Whether the call failed.
        is_error [default]: bool,
    }
}

view! {
    /// The result of one of the API's own tools.
    pub struct ServerToolResultBlock {
        /// The block's type, which tells the tool: `web_search_tool_result`, ….
        block_type as "type": Cow<'a, str>,
        /// The call.
        tool_use_id: Cow<'a, str>,
        /// The result, of a shape of the tool's own.
        content: JsonText<'a>,
        /// Who called.
        caller: Option<JsonText<'a>>,
    }
}

view! {
    /// `mcp_tool_use`
    pub struct McpToolUseBlock {
        /// The call.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// The server.
        server_name: Cow<'a, str>,
        /// The arguments, an object.
        input: JsonText<'a>,
    }
}

view! {
    /// `image`
    pub struct ImageBlock {
        /// Where the image is: `base64` with data, `url` or `file`.
        source [default]: Source<'a>,
    }
}

view! {
    /// `document`
    pub struct DocumentBlock {
        /// Where the document is: `base64`, `text`, `content`, `url` or `file`.
        source [default]: Source<'a>,
        /// Its title.
        title: Option<Cow<'a, str>>,
        /// What is said about it.
        context: Option<Cow<'a, str>>,
        /// Whether it may be cited.
        citations: Option<JsonText<'a>>,
    }
}

view! {
    /// Where the content of an image or document is.
    pub struct Source {
        /// `base64`, `url`, `file`, `text` or `content`.
        kind as "type": Cow<'a, str>,
        /// The media type, such as `image/png`.
        media_type: Option<Cow<'a, str>>,
        /// The content, in base64 or as text.
        data: Option<Cow<'a, str>>,
        /// Its address.
        url: Option<Cow<'a, str>>,
        /// Its id in the Files API.
        file_id: Option<Cow<'a, str>>,
    }
}

view! {
    /// `search_result`
    pub struct SearchResultBlock {
        /// Where it was found.
        source: Cow<'a, str>,
        /// Its title.
        title: Cow<'a, str>,
        /// Its text.
        content [default]: Content<'a>,
    }
}

view! {
    /// `tool_reference`
    pub struct ToolReferenceBlock {
        /// The tool.
        tool_name: Cow<'a, str>,
    }
}

view! {
    /// `container_upload`
    pub struct ContainerUploadBlock {
        /// The file's id in the Files API.
        file_id: Cow<'a, str>,
    }
}

view! {
    /// `compaction`
    pub struct CompactionBlock {
        /// The summary; `None` when it is encrypted or compaction failed.
        content: Option<Cow<'a, str>>,
        /// The summary, encrypted.
        encrypted_content: Option<Cow<'a, str>>,
    }
}

view! {
    /// `fallback`
    pub struct FallbackBlock {
        /// The model that stopped.
        from: JsonText<'a>,
        /// The model that went on.
        to: JsonText<'a>,
        /// Why.
        trigger: Option<JsonText<'a>>,
    }
}

view! {
    /// A block of a type not known here, or an element that is no block.
    pub struct UnknownBlock {
        /// Its type, empty when it has none.
        block_type as "type": Cow<'a, str>,
    }
}

impl<'a> UnknownBlock<'a> {
    /// An element that is no object.
    pub(super) fn element(json: &'a str) -> Self {
        UnknownBlock {
            json,
            ..UnknownBlock::default()
        }
    }
}
