//! Writing envelopes.

use alloc::string::String;

use super::read::RequestId;
use crate::control::answer::Answer;
use crate::control::incoming::view::member;
use crate::control::LocalError;
use crate::json::{push_string, string, validate, Kind};

const PAYLOAD: &str = "the payload";
const OBJECT: &str = "a payload is a JSON object";

/// Appends `text` on one line: newlines between its tokens, which would end the message in the
/// middle, become spaces. An error, with nothing appended, when it is not JSON.
pub(crate) fn push_json(
    out: &mut String,
    what: &'static str,
    text: &str,
) -> Result<(), LocalError> {
    validate(text).map_err(|error| LocalError::NotJson { what, error })?;
    push_valid(out, text);
    Ok(())
}

/// Inside a string JSON has no raw newline, so each one stands between tokens.
pub(super) fn push_valid(out: &mut String, text: &str) {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    for (at, piece) in text.split(['\n', '\r']).enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(piece);
    }
}

/// Appends a `control_request` line. `payload` is the JSON text of an object with the request's
/// fields, `""` for none.
pub fn write_request(
    out: &mut String,
    request_id: &str,
    subtype: &str,
    payload: &str,
) -> Result<(), LocalError> {
    let payload = payload.trim_matches([' ', '\t', '\r', '\n']);
    let mut fields = "";
    if !payload.is_empty() {
        if Kind::of(payload) != Some(Kind::Object) {
            return Err(LocalError::malformed(PAYLOAD, "it is no object", OBJECT));
        }
        validate(payload).map_err(|error| LocalError::NotJson {
            what: PAYLOAD,
            error,
        })?;
        if let Some(given) = member(payload, "subtype") {
            if string(given).as_deref() != Some(subtype) {
                return Err(LocalError::malformed(
                    PAYLOAD,
                    alloc::format!("it says subtype {given}, but the request is {subtype}"),
                    OBJECT,
                ));
            }
        }
        fields = payload
            .get(1..payload.len() - 1)
            .unwrap_or_default()
            .trim_matches([' ', '\t', '\r', '\n']);
    }
    out.push_str(r#"{"type":"control_request","request_id":"#);
    push_string(out, request_id);
    out.push_str(r#","request":{"subtype":"#);
    push_string(out, subtype);
    if !fields.is_empty() {
        out.push(',');
        push_valid(out, fields);
    }
    out.push_str("}}\n");
    Ok(())
}

/// Appends the `control_response` line of a success. `payload` is the JSON text of an object, `""`
/// for none.
pub fn write_success_response(
    out: &mut String,
    request_id: &RequestId<'_>,
    payload: &str,
) -> Result<(), LocalError> {
    let start = out.len();
    out.push_str(r#"{"type":"control_response","response":{"subtype":"success","request_id":"#);
    request_id.push(out);
    if !payload.is_empty() {
        let written = if Kind::of(payload) == Some(Kind::Object) {
            out.push_str(r#","response":"#);
            push_json(out, PAYLOAD, payload)
        } else {
            Err(LocalError::malformed(PAYLOAD, "it is no object", OBJECT))
        };
        if written.is_err() {
            out.truncate(start);
            return written;
        }
    }
    out.push_str("}}\n");
    Ok(())
}

/// Appends the `control_response` line of an error.
pub fn write_error_response(out: &mut String, request_id: &RequestId<'_>, error: &str) {
    out.push_str(r#"{"type":"control_response","response":{"subtype":"error","request_id":"#);
    request_id.push(out);
    out.push_str(r#","error":"#);
    push_string(out, error);
    out.push_str("}}\n");
}

/// Appends the line of an answer; nothing for [`Answer::Nothing`].
pub fn write_answer(
    out: &mut String,
    request_id: &RequestId<'_>,
    answer: &Answer,
) -> Result<(), LocalError> {
    match answer {
        Answer::Success(payload) => write_success_response(out, request_id, payload),
        Answer::Error(error) => {
            write_error_response(out, request_id, error);
            Ok(())
        }
        Answer::Nothing => Ok(()),
    }
}

/// Appends a `control_cancel_request` line: the host no longer wants the answer. The CLI aborts
/// what it can and still answers the request, with an error.
pub fn write_cancel_request(out: &mut String, request_id: &str) {
    out.push_str(r#"{"type":"control_cancel_request","request_id":"#);
    push_string(out, request_id);
    out.push_str("}\n");
}

/// Appends a `keep_alive` line, which the CLI ignores.
pub fn write_keep_alive(out: &mut String) {
    out.push_str("{\"type\":\"keep_alive\"}\n");
}
