//! What a host answers a call with.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use core::fmt::Display;

use super::content::{push_prompt_result, push_resource_result, push_tool_result};
use super::jsonrpc::{
    error_response, push_display, response_head, RpcError, INTERNAL_ERROR, RESOURCE_NOT_FOUND,
};
use crate::json::push_string;

/// The answer to a [`Call`](super::Call).
///
/// Whatever a host puts in, the CLI gets a well-formed answer: JSON of the wrong shape becomes an
/// error result that says what is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult<'a> {
    /// One text: a text block, the text of the resource, or one user message of the prompt.
    Text(Cow<'a, str>),
    /// A failure for the model to read: an `isError` result of a tool, a JSON-RPC error otherwise.
    Error(Cow<'a, str>),
    /// A whole MCP result as JSON text: `CallToolResult` for a tool (`content` may be missing,
    /// Python's `is_error` is taken), `ReadResourceResult` or `GetPromptResult`.
    Json(Cow<'a, str>),
    /// A JSON-RPC error. The model sees its message (recording `sdk_mcp_error`).
    Rpc(RpcError),
}

impl<'a> CallResult<'a> {
    /// A text.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        CallResult::Text(text.into())
    }

    /// A failure with a text for the model.
    pub fn error(text: impl Into<Cow<'a, str>>) -> Self {
        CallResult::Error(text.into())
    }

    /// A whole result as JSON text; its shape is checked when the call is finished.
    pub fn json(json: impl Into<Cow<'a, str>>) -> Self {
        CallResult::Json(json.into())
    }

    /// A JSON-RPC error without data.
    pub fn rpc_error(code: i64, message: impl Into<String>) -> Self {
        CallResult::Rpc(RpcError::new(code, message))
    }

    /// The answer to `resources/read` of something that is not there.
    pub fn resource_not_found(uri: &str) -> Self {
        CallResult::Rpc(not_found(uri))
    }

    /// The error result for arguments that do not fit the tool's schema. A problem is where (a JSON
    /// Pointer, empty for the arguments as a whole) and what.
    pub fn invalid_arguments<P: Display, M: Display>(
        tool: &str,
        problems: impl IntoIterator<Item = (P, M)>,
    ) -> Self {
        let mut text = format!("Invalid arguments for tool \"{tool}\":");
        for (pointer, message) in problems {
            text.push_str("\n- ");
            let start = text.len();
            push_display(&mut text, pointer);
            if text.len() > start {
                text.push_str(": ");
            }
            push_display(&mut text, message);
        }
        CallResult::Error(text.into())
    }

    /// The JSON-RPC response to the request `id`.
    pub(super) fn response(&self, id: &str, subject: Subject<'_>) -> String {
        match self {
            CallResult::Text(text) => {
                let mut out = response_head(id, text.len() + 80);
                push_text(&mut out, text, subject);
                out.push('}');
                out
            }
            CallResult::Error(text) => error(id, text, subject),
            CallResult::Json(raw) => {
                let mut out = response_head(id, raw.len() + 16);
                let pushed = match subject {
                    Subject::Tool => push_tool_result(&mut out, raw),
                    Subject::Resource { .. } => push_resource_result(&mut out, raw),
                    Subject::Prompt => push_prompt_result(&mut out, raw),
                };
                match pushed {
                    Ok(()) => {
                        out.push('}');
                        out
                    }
                    Err(problem) => {
                        let text = format!("The host gave an invalid MCP result: {problem}");
                        error(id, &text, subject)
                    }
                }
            }
            CallResult::Rpc(error) => error_response(id, error),
        }
    }
}

/// What a call is about, as far as its answer depends on it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
    Tool,
    Resource {
        uri: &'a str,
        mime_type: Option<&'a str>,
    },
    Prompt,
}

pub(super) fn not_found(uri: &str) -> RpcError {
    let mut data = String::from(r#"{"uri":"#);
    push_string(&mut data, uri);
    data.push('}');
    RpcError {
        data: Some(data),
        ..RpcError::new(RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"))
    }
}

fn push_text(out: &mut String, text: &str, subject: Subject<'_>) {
    match subject {
        Subject::Tool => {
            out.push_str(r#"{"content":[{"type":"text","text":"#);
            push_string(out, text);
            out.push_str("}]}");
        }
        Subject::Resource { uri, mime_type } => {
            out.push_str(r#"{"contents":[{"uri":"#);
            push_string(out, uri);
            if let Some(mime_type) = mime_type {
                out.push_str(r#","mimeType":"#);
                push_string(out, mime_type);
            }
            out.push_str(r#","text":"#);
            push_string(out, text);
            out.push_str("}]}");
        }
        Subject::Prompt => {
            out.push_str(r#"{"messages":[{"role":"user","content":{"type":"text","text":"#);
            push_string(out, text);
            out.push_str("}}]}");
        }
    }
}

fn error(id: &str, text: &str, subject: Subject<'_>) -> String {
    if !matches!(subject, Subject::Tool) {
        return error_response(id, &RpcError::new(INTERNAL_ERROR, text));
    }
    let mut out = response_head(id, text.len() + 80);
    out.push_str(r#"{"content":[{"type":"text","text":"#);
    push_string(&mut out, text);
    out.push_str(r#"}],"isError":true}}"#);
    out
}

/// Builds the JSON of a tool result with several blocks.
///
/// JSON given to [`block`](Self::block), [`structured_content`](Self::structured_content) and
/// [`meta`](Self::meta) is checked when the call is finished.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolResult {
    content: String,
    rest: String,
}

impl ToolResult {
    /// A result without content.
    pub fn new() -> Self {
        ToolResult::default()
    }

    /// Appends a content block given as JSON text.
    pub fn block(mut self, json: &str) -> Self {
        self.start_block();
        self.content.push_str(json);
        self
    }

    /// Appends a text block.
    pub fn text(self, text: &str) -> Self {
        self.strings(&[("type", "text"), ("text", text)])
    }

    /// Appends an image; `data` is base64.
    pub fn image(self, data: &str, mime_type: &str) -> Self {
        self.strings(&[("type", "image"), ("data", data), ("mimeType", mime_type)])
    }

    /// Appends a sound; `data` is base64.
    pub fn audio(self, data: &str, mime_type: &str) -> Self {
        self.strings(&[("type", "audio"), ("data", data), ("mimeType", mime_type)])
    }

    /// Appends a link to a resource. The CLI shows it to the model as text (recording
    /// `sdk_mcp_results`).
    pub fn resource_link(self, uri: &str, name: &str) -> Self {
        self.strings(&[("type", "resource_link"), ("uri", uri), ("name", name)])
    }

    /// Sets `structuredContent`, a JSON object. The CLI shows its JSON to the model in place of the
    /// text blocks (recording `sdk_mcp_results`).
    pub fn structured_content(self, json: &str) -> Self {
        self.member("structuredContent", json)
    }

    /// Sets `_meta`, a JSON object.
    pub fn meta(self, json: &str) -> Self {
        self.member("_meta", json)
    }

    /// Marks the result as a failure.
    pub fn failed(self) -> Self {
        self.member("isError", "true")
    }

    fn start_block(&mut self) {
        if !self.content.is_empty() {
            self.content.push(',');
        }
    }

    fn strings(mut self, members: &[(&str, &str)]) -> Self {
        self.start_block();
        let mut separator = '{';
        for (key, value) in members {
            self.content.push(separator);
            push_string(&mut self.content, key);
            self.content.push(':');
            push_string(&mut self.content, value);
            separator = ',';
        }
        self.content.push('}');
        self
    }

    fn member(mut self, key: &str, json: &str) -> Self {
        self.rest.push(',');
        push_string(&mut self.rest, key);
        self.rest.push(':');
        self.rest.push_str(json);
        self
    }
}

impl From<ToolResult> for CallResult<'static> {
    fn from(result: ToolResult) -> Self {
        let ToolResult { content, rest } = result;
        CallResult::Json(format!("{{\"content\":[{content}]{rest}}}").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESOURCE: Subject<'static> = Subject::Resource {
        uri: "file:///a",
        mime_type: Some("text/plain"),
    };

    #[test]
    fn a_text_and_an_error_suit_what_was_asked() {
        let text = CallResult::text("a\nb");
        assert_eq!(
            text.response("1", Subject::Tool),
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a\nb"}]}}"#
        );
        assert_eq!(
            text.response("1", RESOURCE),
            r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"file:///a","mimeType":"text/plain","text":"a\nb"}]}}"#
        );
        assert_eq!(
            text.response("1", Subject::Prompt),
            r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"text","text":"a\nb"}}]}}"#
        );
        let error = CallResult::error("bad");
        assert_eq!(
            error.response(r#""x""#, Subject::Tool),
            r#"{"jsonrpc":"2.0","id":"x","result":{"content":[{"type":"text","text":"bad"}],"isError":true}}"#
        );
        assert_eq!(
            error.response("1", RESOURCE),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"bad"}}"#
        );
        assert_eq!(
            CallResult::resource_not_found("u:\"").response("1", RESOURCE),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found: u:\"","data":{"uri":"u:\""}}}"#
        );
    }

    #[test]
    fn a_wrong_shape_becomes_an_error_the_model_can_read() {
        let wrong = CallResult::json(r#"{"content":"3"}"#);
        assert_eq!(
            wrong.response("1", Subject::Tool),
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"#,
                r#""The host gave an invalid MCP result: content is a string, not an array"}],"#,
                r#""isError":true}}"#
            )
        );
        assert_eq!(
            wrong.response("1", Subject::Prompt),
            concat!(
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"#,
                r#""The host gave an invalid MCP result: \"messages\" is missing"}}"#
            )
        );
    }

    #[test]
    fn a_built_result_has_the_recorded_shape() {
        let result = ToolResult::new()
            .text("3")
            .image("aGk=", "image/png")
            .resource_link("file:///a.txt", "a")
            .structured_content(r#"{"sum":3}"#)
            .meta(r#"{"k":1}"#);
        assert_eq!(
            CallResult::from(result).response("2", Subject::Tool),
            concat!(
                r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"},"#,
                r#"{"type":"image","data":"aGk=","mimeType":"image/png"},"#,
                r#"{"type":"resource_link","uri":"file:///a.txt","name":"a"}],"#,
                r#""structuredContent":{"sum":3},"_meta":{"k":1}}}"#
            )
        );
        let broken = ToolResult::new()
            .audio("aGk=", "audio/wav")
            .block("{")
            .failed();
        let answer = CallResult::from(broken).response("2", Subject::Tool);
        assert!(answer.contains("the result is not JSON"), "{answer}");
    }

    #[test]
    fn invalid_arguments_are_listed() {
        let result = CallResult::invalid_arguments(
            "add",
            [("/a", "\"x\" is not a number"), ("", "\"b\" is required")],
        );
        assert_eq!(
            result,
            CallResult::error(
                "Invalid arguments for tool \"add\":\n- /a: \"x\" is not a number\n- \"b\" is required"
            )
        );
    }
}
