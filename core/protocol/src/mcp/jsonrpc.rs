//! JSON-RPC 2.0 as MCP uses it: reading one message, writing answers and notifications.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::json::{members, push_string, string, validate, Kind, ScanError};

pub(super) const PARSE_ERROR: i64 = -32700;
pub(super) const INVALID_REQUEST: i64 = -32600;
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
pub(super) const INTERNAL_ERROR: i64 = -32603;
pub(crate) const SERVER_CLOSED: i64 = -32000;
pub(super) const RESOURCE_NOT_FOUND: i64 = -32002;

/// What a notification is answered with: the CLI waits for an answer to every `mcp_message`
/// (recording `sdk_mcp_tool`). No request of the CLI's is open under this id by then.
pub(super) const ACKNOWLEDGEMENT: &str = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;

/// The error member of a JSON-RPC response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (JSON-RPC error {code})")]
pub struct RpcError {
    /// `-32601` and the like; servers may use their own.
    pub code: i64,
    /// One sentence. The model sees it when a tool call fails this way.
    pub message: String,
    /// More about the error, as JSON text.
    pub data: Option<String>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }
}

/// The wanted members of a JSON object, in one pass. Of duplicates the last counts; `null` is the
/// same as absent, because no member of MCP gives it a meaning of its own.
pub(super) fn fields<'a, const N: usize>(
    text: &'a str,
    wanted: [&str; N],
) -> Result<[Option<&'a str>; N], ScanError> {
    let mut found = [None; N];
    members(text, |key, value| {
        if let Some(at) = wanted.iter().position(|name| *name == key) {
            if let Some(slot) = found.get_mut(at) {
                *slot = Some(value).filter(|value| *value != "null");
            }
        }
    })?;
    Ok(found)
}

/// A JSON-RPC message by its direction and purpose. Ids are JSON text.
#[derive(Debug)]
pub(super) enum Message<'a> {
    Request {
        id: &'a str,
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Response {
        id: &'a str,
        outcome: Result<&'a str, RpcError>,
    },
    /// Not a message; `id` is the id to answer with, `null` when there is none to see.
    Invalid { id: &'a str, error: RpcError },
}

impl<'a> Message<'a> {
    /// Reads a message. A missing `jsonrpc` member is let through, another version is not.
    pub(super) fn read(text: &'a str) -> Message<'a> {
        let wanted = ["jsonrpc", "id", "method", "params", "result", "error"];
        let [version, id, method, params, result, error] = match fields(text, wanted) {
            Ok(found) => found,
            Err(problem) => {
                let error = match validate(text) {
                    Err(_) => RpcError::new(PARSE_ERROR, format!("Parse error: {problem}")),
                    Ok(()) => RpcError::new(INVALID_REQUEST, "Invalid request: not an object"),
                };
                return Message::Invalid { id: "null", error };
            }
        };
        let invalid = |id, what: &str| Message::Invalid {
            id,
            error: RpcError::new(INVALID_REQUEST, format!("Invalid request: {what}")),
        };
        let id = match id.map(|id| (id, Kind::of(id))) {
            Some((id, Some(Kind::String | Kind::Number))) => Some(id),
            Some(_) => return invalid("null", "id is neither a string nor a number"),
            None => None,
        };
        let answer_id = id.unwrap_or("null");
        if version.is_some_and(|version| string(version).as_deref() != Some("2.0")) {
            return invalid(answer_id, "jsonrpc is not \"2.0\"");
        }
        if let Some(method) = method {
            let Some(method) = string(method) else {
                return invalid(answer_id, "method is not a string");
            };
            return match id {
                Some(id) => Message::Request { id, method, params },
                None => Message::Notification { method, params },
            };
        }
        match (id, result, error) {
            (Some(id), _, Some(error)) => Message::Response {
                id,
                outcome: Err(read_error(error)),
            },
            (Some(id), Some(result), None) => Message::Response {
                id,
                outcome: Ok(result),
            },
            _ => invalid(answer_id, "neither a method nor an answer"),
        }
    }
}

fn read_error(text: &str) -> RpcError {
    let [code, message, data] = fields(text, ["code", "message", "data"]).unwrap_or_default();
    RpcError {
        code: code
            .and_then(|code| code.parse().ok())
            .unwrap_or(INTERNAL_ERROR),
        message: message
            .and_then(string)
            .map_or_else(|| text.to_string(), Cow::into_owned),
        data: data.map(ToString::to_string),
    }
}

/// A JSON-RPC id in a form that compares as the value does: `2`, `2.0` and `2e0` are one id,
/// `"2"` is another, and escapes in a string make no difference.
pub(super) fn id_key(id: &str) -> String {
    if let Some(text) = string(id) {
        let mut key = String::with_capacity(text.len() + 1);
        key.push('"');
        key.push_str(&text);
        return key;
    }
    let id = id.trim();
    if id.parse::<i64>().is_ok() {
        return id.to_string();
    }
    match id.parse::<f64>() {
        Ok(number) => format!("{number}"),
        Err(_) => id.to_string(),
    }
}

/// Appends validated JSON `text` to `out` without line breaks: they may stand between tokens only,
/// and would end the line of the control protocol early.
pub(super) fn push_json(out: &mut String, text: &str) {
    let mut rest = text.trim_matches([' ', '\t', '\r', '\n']);
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        out.push(' ');
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Starts a response; the caller appends the result and the closing brace.
pub(super) fn response_head(id: &str, room: usize) -> String {
    let mut out = String::with_capacity(id.len() + room + 40);
    out.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_json(&mut out, id);
    out.push_str(r#","result":"#);
    out
}

/// A response with a result that is one line already.
pub(super) fn response(id: &str, result: &str) -> String {
    let mut out = response_head(id, result.len());
    out.push_str(result);
    out.push('}');
    out
}

pub(crate) fn error_response(id: &str, error: &RpcError) -> String {
    let mut out = String::with_capacity(id.len() + error.message.len() + 80);
    out.push_str(r#"{"jsonrpc":"2.0","id":"#);
    push_json(&mut out, id);
    out.push_str(r#","error":{"code":"#);
    push_display(&mut out, error.code);
    out.push_str(r#","message":"#);
    push_string(&mut out, &error.message);
    if let Some(data) = &error.data {
        out.push_str(r#","data":"#);
        push_json(&mut out, data);
    }
    out.push_str("}}");
    out
}

/// Writes a request (with `id`) or a notification (without). `params` is validated JSON text.
pub(super) fn call(id: Option<u64>, method: &str, params: Option<&str>) -> String {
    let mut out = String::with_capacity(method.len() + params.map_or(0, str::len) + 64);
    out.push_str(r#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.push_str(r#""id":"#);
        push_display(&mut out, id);
        out.push(',');
    }
    out.push_str(r#""method":"#);
    push_string(&mut out, method);
    if let Some(params) = params {
        out.push_str(r#","params":"#);
        push_json(&mut out, params);
    }
    out.push('}');
    out
}

pub(super) fn push_display(out: &mut String, value: impl core::fmt::Display) {
    // A String takes everything it is given.
    let _ = write!(out, "{value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let read = Message::read;
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Message::Request { id: r#""a""#, method, params: None } if method == "ping"
        ));
        assert!(matches!(
            read(r#"{"method":"n","params":{"x":1}}"#),
            Message::Notification {
                params: Some(r#"{"x":1}"#),
                ..
            }
        ));
        assert!(matches!(
            read(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#),
            Message::Response {
                id: "7",
                outcome: Ok("{}")
            }
        ));
        let Message::Response {
            outcome: Err(error),
            ..
        } = read(
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found","data":[1]}}"#,
        )
        else {
            panic!()
        };
        assert_eq!(
            error,
            RpcError {
                code: -32601,
                message: "Method not found".into(),
                data: Some("[1]".into())
            }
        );
    }

    #[test]
    fn what_is_no_message_gets_a_code_and_the_id_that_can_be_seen() {
        for (text, wanted_id, wanted_code) in [
            ("", "null", PARSE_ERROR),
            (r#"{"id":1,"#, "null", PARSE_ERROR),
            (r#"{"id":1} x"#, "null", PARSE_ERROR),
            ("[]", "null", INVALID_REQUEST),
            (
                r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
                "null",
                INVALID_REQUEST,
            ),
            ("{}", "null", INVALID_REQUEST),
            (r#"{"id":1}"#, "1", INVALID_REQUEST),
            (r#"{"id":{},"method":"ping"}"#, "null", INVALID_REQUEST),
            (r#"{"id":1,"method":2}"#, "1", INVALID_REQUEST),
            (
                r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
                "1",
                INVALID_REQUEST,
            ),
        ] {
            let Message::Invalid { id, error } = Message::read(text) else {
                panic!("{text}")
            };
            assert_eq!((id, error.code), (wanted_id, wanted_code), "{text}");
        }
    }

    #[test]
    fn ids_compare_by_value() {
        assert_eq!(id_key("2"), id_key("2.0"));
        assert_eq!(id_key("2"), id_key("2e0"));
        assert_eq!(id_key(r#""\u0061""#), id_key(r#""a""#));
        assert_ne!(id_key("2"), id_key(r#""2""#));
        assert_eq!(id_key("9007199254740993"), "9007199254740993");
    }

    #[test]
    fn line_breaks_between_tokens_go() {
        let mut out = String::new();
        push_json(&mut out, "\r\n{\n  \"a\": \"x\\n\"\r\n}\n");
        assert_eq!(out, "{   \"a\": \"x\\n\"  }");
    }
}
