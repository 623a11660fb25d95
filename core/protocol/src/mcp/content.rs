//! The shapes of results that a host gives as JSON: what MCP 2025-11-25 asks for is checked, so
//! that a slip in a tool becomes a readable error instead of a schema failure inside the CLI.
//!
//! A member that is `null` is left out: serialisers write it for "not set", CLI 2.1.332 refuses it.
//! A block of a type not known here goes through; whether it is known is for the CLI to say.

use alloc::format;
use alloc::string::{String, ToString};

use super::jsonrpc::push_json;
use crate::json::{elements, members, push_string, string, Kind};

/// What is wrong with a result, for whoever wrote the tool.
type Checked<T> = Result<T, String>;

/// Whether a value goes out as it is or has to be written anew.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Verbatim,
    Rewrite,
}

impl Form {
    fn and(self, other: Form) -> Form {
        if self == Form::Rewrite {
            self
        } else {
            other
        }
    }
}

/// Appends the result of `tools/call`. `content` may be missing; `is_error` and
/// `structured_content` are taken as well.
pub(super) fn push_tool_result(out: &mut String, raw: &str) -> Checked<()> {
    let mut form = Form::Verbatim;
    let (mut content, mut structured, mut is_error, mut meta) = (None, None, None, None);
    object("the result", raw, |key, value| {
        let slot = match key {
            "content" => &mut content,
            "structuredContent" => &mut structured,
            "structured_content" => {
                form = Form::Rewrite;
                &mut structured
            }
            "isError" => &mut is_error,
            "is_error" => {
                form = Form::Rewrite;
                &mut is_error
            }
            "_meta" => &mut meta,
            _ => {
                form = form.and(null_form(value));
                return;
            }
        };
        if value == "null" {
            form = Form::Rewrite;
        } else {
            *slot = Some(value);
        }
    })?;
    for (key, value) in [("structuredContent", structured), ("_meta", meta)] {
        if let Some(value) = value {
            expect(key, value, Kind::Object)?;
        }
    }
    if let Some(value) = is_error {
        expect("isError", value, Kind::Bool)?;
    }
    match content {
        Some(blocks) => {
            let rewrite = array("content", blocks, |at, block| {
                check_block(&format!("content/{at}"), block)
            })?;
            form = form.and(rewrite);
        }
        None => form = Form::Rewrite,
    }
    if form == Form::Verbatim {
        push_json(out, raw);
        return Ok(());
    }
    out.push_str(r#"{"content":"#);
    push_array(out, content.unwrap_or("[]"));
    if let Some(structured) = structured {
        out.push_str(r#","structuredContent":"#);
        push_json(out, structured);
    }
    if let Some(is_error) = is_error {
        out.push_str(r#","isError":"#);
        out.push_str(is_error);
    }
    if let Some(meta) = meta {
        out.push_str(r#","_meta":"#);
        push_json(out, meta);
    }
    push_others(
        out,
        raw,
        &[
            "content",
            "structuredContent",
            "structured_content",
            "isError",
            "is_error",
            "_meta",
        ],
    );
    out.push('}');
    Ok(())
}

/// Appends the result of `resources/read`: `{"contents":[{"uri":…,"text" or "blob":…}]}`.
pub(super) fn push_resource_result(out: &mut String, raw: &str) -> Checked<()> {
    push_list_result(out, raw, "contents", check_resource)
}

/// Appends the result of `prompts/get`: `{"messages":[{"role":…,"content":{…}}]}`.
pub(super) fn push_prompt_result(out: &mut String, raw: &str) -> Checked<()> {
    push_list_result(out, raw, "messages", check_prompt_message)
}

fn push_list_result(
    out: &mut String,
    raw: &str,
    list: &str,
    check: fn(&str, &str) -> Checked<Form>,
) -> Checked<()> {
    let mut form = Form::Verbatim;
    let mut found = None;
    object("the result", raw, |key, value| {
        form = form.and(null_form(value));
        if key == list {
            found = Some(value);
        }
    })?;
    let values = found.ok_or_else(|| format!("\"{list}\" is missing"))?;
    let items = array(list, values, |at, value| {
        check(&format!("{list}/{at}"), value)
    })?;
    if form.and(items) == Form::Verbatim {
        push_json(out, raw);
        return Ok(());
    }
    out.push('{');
    push_string(out, list);
    out.push(':');
    push_array(out, values);
    push_others(out, raw, &[list]);
    out.push('}');
    Ok(())
}

fn check_block(path: &str, block: &str) -> Checked<Form> {
    let mut form = Form::Verbatim;
    let mut kind = None;
    let (mut text, mut data, mut mime, mut uri, mut name) = (None, None, None, None, None);
    let mut resource = None;
    object(path, block, |key, value| {
        form = form.and(null_form(value));
        match key {
            "type" => kind = string(value),
            "text" => text = Some(value),
            "data" => data = Some(value),
            "mimeType" => mime = Some(value),
            "uri" => uri = Some(value),
            "name" => name = Some(value),
            "resource" => resource = Some(value),
            _ => {}
        }
    })?;
    let is_string = |value: Option<&str>| value.and_then(Kind::of) == Some(Kind::String);
    let Some(kind) = kind else {
        return Err(format!(
            "{path}: a content block needs a \"type\", such as \"text\""
        ));
    };
    match kind.as_ref() {
        "text" if !is_string(text) => Err(format!("{path}: a text block needs a string \"text\"")),
        "image" | "audio" if !is_string(mime) || !data.is_some_and(is_base64) => Err(format!(
            "{path}: an {kind} block needs \"data\" (base64) and \"mimeType\", both strings"
        )),
        "resource_link" if !is_string(uri) || !is_string(name) => Err(format!(
            "{path}: a resource_link block needs strings \"uri\" and \"name\""
        )),
        "resource" => {
            let Some(resource) = resource else {
                return Err(format!(
                    "{path}: a resource block needs an object \"resource\""
                ));
            };
            Ok(form.and(check_resource(&format!("{path}/resource"), resource)?))
        }
        _ => Ok(form),
    }
}

fn check_resource(path: &str, resource: &str) -> Checked<Form> {
    let mut form = Form::Verbatim;
    let (mut uri, mut text, mut blob) = (false, false, false);
    object(path, resource, |key, value| {
        form = form.and(null_form(value));
        let is_string = Kind::of(value) == Some(Kind::String);
        match key {
            "uri" => uri = is_string,
            "text" => text = is_string,
            "blob" => blob = is_base64(value),
            _ => {}
        }
    })?;
    if uri && (text || blob) {
        Ok(form)
    } else {
        Err(format!(
            "{path}: needs \"uri\", and \"text\" or \"blob\" (base64), all strings"
        ))
    }
}

fn check_prompt_message(path: &str, message: &str) -> Checked<Form> {
    let mut form = Form::Verbatim;
    let (mut role, mut content) = (false, None);
    object(path, message, |key, value| {
        form = form.and(null_form(value));
        match key {
            "role" => role = matches!(string(value).as_deref(), Some("user" | "assistant")),
            "content" => content = Some(value),
            _ => {}
        }
    })?;
    match content {
        Some(content) if role => Ok(form.and(check_block(&format!("{path}/content"), content)?)),
        _ => Err(format!(
            "{path}: needs \"role\" (\"user\" or \"assistant\") and \"content\""
        )),
    }
}

/// The bytes that the CLI's base64 decoder takes: the standard alphabet, padding, white space.
const BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        table[byte] = ascii.is_ascii_alphanumeric()
            || ascii.is_ascii_whitespace()
            || matches!(ascii, b'+' | b'/' | b'=');
        byte += 1;
    }
    table
};

/// Whether a JSON value is a string of base64.
fn is_base64(value: &str) -> bool {
    // No early exit: large images are the common case, and the right ones.
    string(value).is_some_and(|text| {
        let bytes = text.bytes();
        bytes.fold(true, |sound, byte| sound & BASE64[usize::from(byte)])
    })
}

fn null_form(value: &str) -> Form {
    if value == "null" {
        Form::Rewrite
    } else {
        Form::Verbatim
    }
}

fn object<'a>(path: &str, text: &'a str, visit: impl FnMut(&str, &'a str)) -> Checked<()> {
    members(text, visit).map_err(|error| shape_error(path, text, "an object", error))
}

fn array(
    path: &str,
    text: &str,
    mut check: impl FnMut(usize, &str) -> Checked<Form>,
) -> Checked<Form> {
    let mut form = Ok(Form::Verbatim);
    let mut at = 0;
    elements(text, |value| {
        if let Ok(before) = form {
            form = check(at, value).map(|this| before.and(this));
        }
        at += 1;
    })
    .map_err(|error| shape_error(path, text, "an array", error))?;
    form
}

#[cold]
fn shape_error(path: &str, text: &str, wanted: &str, error: impl ToString) -> String {
    match crate::json::validate(text) {
        Ok(()) => format!("{path} is {}, not {wanted}", kind_name(text)),
        Err(_) => format!("{path} is not JSON: {}", error.to_string()),
    }
}

fn expect(key: &str, value: &str, wanted: Kind) -> Checked<()> {
    if Kind::of(value) == Some(wanted) {
        return Ok(());
    }
    let wanted = if wanted == Kind::Bool {
        "true or false"
    } else {
        "an object"
    };
    Err(format!("{key} is {}, not {wanted}", kind_name(value)))
}

fn kind_name(text: &str) -> &'static str {
    match Kind::of(text) {
        Some(Kind::Null) | None => "null",
        Some(Kind::Bool) => "true or false",
        Some(Kind::Number) => "a number",
        Some(Kind::String) => "a string",
        Some(Kind::Array) => "an array",
        Some(Kind::Object) => "an object",
    }
}

/// Appends an array of objects without their null members.
fn push_array(out: &mut String, text: &str) {
    out.push('[');
    let mut first = true;
    // Read before, so this cannot fail half-way; the same holds for the members below.
    let _ = elements(text, |value| {
        if !first {
            out.push(',');
        }
        first = false;
        push_object(out, value);
    });
    out.push(']');
}

/// Appends an object without its null members, and the same for the objects whose shape is ours:
/// an embedded resource and the content of a prompt message.
fn push_object(out: &mut String, text: &str) {
    out.push('{');
    let mut first = true;
    let _ = members(text, |key, value| {
        if value == "null" {
            return;
        }
        if !first {
            out.push(',');
        }
        first = false;
        push_string(out, key);
        out.push(':');
        if matches!(key, "resource" | "content") && Kind::of(value) == Some(Kind::Object) {
            push_object(out, value);
        } else {
            push_json(out, value);
        }
    });
    out.push('}');
}

/// Appends `,"key":value` for every member that is neither null nor among the `written` ones.
fn push_others(out: &mut String, text: &str, written: &[&str]) {
    let _ = members(text, |key, value| {
        if value != "null" && !written.contains(&key) {
            out.push(',');
            push_string(out, key);
            out.push(':');
            push_json(out, value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(raw: &str) -> Checked<String> {
        let mut out = String::new();
        push_tool_result(&mut out, raw).map(|()| out)
    }

    #[test]
    fn a_right_result_goes_out_as_it_is() {
        for raw in [
            r#"{"content":[]}"#,
            r#"{"content":[{"type":"text","text":"3"}],"isError":false,"x":[null]}"#,
            r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#,
            r#"{"content":[{"type":"audio","data":"","mimeType":"audio/wav"}]}"#,
            r#"{"content":[{"type":"resource_link","uri":"file:///a.txt","name":"a"}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"u","text":"t"}}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"u","blob":"aGk="}}]}"#,
            r#"{"content":[{"type":"from_the_future","x":1}]}"#,
            r#"{"content":[],"structuredContent":{"sum":null},"_meta":{"k":1}}"#,
        ] {
            assert_eq!(tool(raw).unwrap(), raw);
        }
    }

    #[test]
    fn other_spellings_nulls_and_a_missing_content_are_mended() {
        for (raw, wanted) in [
            ("{}", r#"{"content":[]}"#),
            (r#"{"content":null,"isError":null}"#, r#"{"content":[]}"#),
            (
                r#"{"is_error":true,"content":[{"type":"text","text":"no"}],"extra":1}"#,
                r#"{"content":[{"type":"text","text":"no"}],"isError":true,"extra":1}"#,
            ),
            (
                r#"{"structured_content":{"a":1}}"#,
                r#"{"content":[],"structuredContent":{"a":1}}"#,
            ),
            (
                r#"{"content":[{"type":"text","text":"x","annotations":null,"_meta":null}]}"#,
                r#"{"content":[{"type":"text","text":"x"}]}"#,
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"u","text":"t","mimeType":null}}],"_meta":{"k":null}}"#,
                r#"{"content":[{"type":"resource","resource":{"uri":"u","text":"t"}}],"_meta":{"k":null}}"#,
            ),
            ("{\n\"content\":\r\n[]}", "{ \"content\":  []}"),
        ] {
            assert_eq!(tool(raw).unwrap(), wanted, "{raw}");
        }
    }

    #[test]
    fn a_wrong_result_says_where_and_what() {
        for (raw, wanted) in [
            ("", "the result is not JSON: not an object at byte 0"),
            (
                "{",
                "the result is not JSON: expected a member name at byte 1",
            ),
            ("null", "the result is null, not an object"),
            (r#""3""#, "the result is a string, not an object"),
            ("[]", "the result is an array, not an object"),
            (r#"{"content":"3"}"#, "content is a string, not an array"),
            (r#"{"content":[3]}"#, "content/0 is a number, not an object"),
            (
                r#"{"content":[{"type":"text","text":"x"},{"text":"x"}]}"#,
                "content/1: a content block needs a \"type\", such as \"text\"",
            ),
            (
                r#"{"content":[{"type":"text","text":3}]}"#,
                "content/0: a text block needs a string \"text\"",
            ),
            (
                r#"{"content":[{"type":"image","source":{"type":"base64","data":"aGk="}}]}"#,
                "content/0: an image block needs \"data\" (base64) and \"mimeType\", both strings",
            ),
            (
                r#"{"content":[{"type":"image","data":"data:image/png;base64,aGk=","mimeType":"image/png"}]}"#,
                "content/0: an image block needs \"data\" (base64) and \"mimeType\", both strings",
            ),
            (
                r#"{"content":[{"type":"resource_link","uri":"u"}]}"#,
                "content/0: a resource_link block needs strings \"uri\" and \"name\"",
            ),
            (
                r#"{"content":[{"type":"resource"}]}"#,
                "content/0: a resource block needs an object \"resource\"",
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"u"}}]}"#,
                "content/0/resource: needs \"uri\", and \"text\" or \"blob\" (base64), all strings",
            ),
            (
                r#"{"content":[],"isError":"yes"}"#,
                "isError is a string, not true or false",
            ),
            (
                r#"{"structuredContent":[]}"#,
                "structuredContent is an array, not an object",
            ),
            (r#"{"_meta":1}"#, "_meta is a number, not an object"),
        ] {
            assert_eq!(tool(raw).unwrap_err(), wanted, "{raw}");
        }
    }

    #[test]
    fn resource_and_prompt_results_are_checked_alike() {
        let resource = |raw| {
            let mut out = String::new();
            push_resource_result(&mut out, raw).map(|()| out)
        };
        let raw = r#"{"contents":[{"uri":"u","text":"t"}]}"#;
        assert_eq!(resource(raw).unwrap(), raw);
        assert_eq!(
            resource(r#"{"_meta":null,"contents":[{"uri":"u","blob":"aGk=","mimeType":null}]}"#)
                .unwrap(),
            r#"{"contents":[{"uri":"u","blob":"aGk="}]}"#
        );
        assert_eq!(resource("{}").unwrap_err(), "\"contents\" is missing");
        assert_eq!(
            resource(r#"{"contents":[{"text":"t"}]}"#).unwrap_err(),
            "contents/0: needs \"uri\", and \"text\" or \"blob\" (base64), all strings"
        );

        let prompt = |raw| {
            let mut out = String::new();
            push_prompt_result(&mut out, raw).map(|()| out)
        };
        let raw = r#"{"messages":[{"role":"user","content":{"type":"text","text":"t"}}]}"#;
        assert_eq!(prompt(raw).unwrap(), raw);
        assert_eq!(
            prompt(
                r#"{"description":null,"messages":[{"role":"user","content":{"type":"text","text":"t","annotations":null}}]}"#
            )
            .unwrap(),
            raw
        );
        assert_eq!(
            prompt(r#"{"messages":[{"role":"system","content":{}}]}"#).unwrap_err(),
            "messages/0: needs \"role\" (\"user\" or \"assistant\") and \"content\""
        );
        assert_eq!(
            prompt(r#"{"messages":[{"role":"user","content":{"type":"text"}}]}"#).unwrap_err(),
            "messages/0/content: a text block needs a string \"text\""
        );
    }
}
