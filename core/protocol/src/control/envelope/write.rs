//! Writing envelopes.

use alloc::string::String;

use super::read::RequestId;
use crate::control::answer::{Answer, PermissionResult};
use crate::control::catalogue::ControlRequest;
use crate::control::LocalError;
use crate::json::{push_string, string, validate, Kind};
use crate::view::member;

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

/// Appends the line of a typed request.
pub fn write_typed_request<R: ControlRequest>(
    out: &mut String,
    request_id: &str,
    request: &R,
) -> Result<(), LocalError> {
    write_request(out, request_id, R::SUBTYPE, &request.payload())
}

/// Appends the `control_response` line of a success. `payload` is the JSON text of an object, `""`
/// for none.
pub fn write_success_response(
    out: &mut String,
    request_id: &RequestId<'_>,
    payload: &str,
) -> Result<(), LocalError> {
    if payload.is_empty() {
        push_success(out, request_id);
        out.push_str("}}\n");
        return Ok(());
    }
    if Kind::of(payload) != Some(Kind::Object) {
        return Err(LocalError::malformed(PAYLOAD, "it is no object", OBJECT));
    }
    success_with(out, request_id, |out| push_json(out, PAYLOAD, payload))
}

/// Appends the `control_response` line of a permission's answer; see
/// [`PermissionResult::write_payload`].
pub fn write_permission_response(
    out: &mut String,
    request_id: &RequestId<'_>,
    result: &PermissionResult<'_>,
    input: &str,
    tool_use_id: Option<&str>,
) -> Result<(), LocalError> {
    success_with(out, request_id, |out| {
        result.write_payload(input, tool_use_id, out)
    })
}

fn push_success(out: &mut String, request_id: &RequestId<'_>) {
    out.push_str(r#"{"type":"control_response","response":{"subtype":"success","request_id":"#);
    request_id.push(out);
}

/// Appends the line of a success around what `write` appends, or nothing when that fails.
fn success_with(
    out: &mut String,
    request_id: &RequestId<'_>,
    write: impl FnOnce(&mut String) -> Result<(), LocalError>,
) -> Result<(), LocalError> {
    let start = out.len();
    push_success(out, request_id);
    out.push_str(r#","response":"#);
    let written = write(out);
    match written {
        Ok(()) => out.push_str("}}\n"),
        Err(_) => out.truncate(start),
    }
    written
}

/// Appends the `control_response` line of an error.
pub fn write_error_response(out: &mut String, request_id: &RequestId<'_>, error: &str) {
    write_coded_error_response(out, request_id, error, None);
}

/// As [`write_error_response`], with an `error_code`, as in `protocol.md §3`.
pub fn write_coded_error_response(
    out: &mut String,
    request_id: &RequestId<'_>,
    error: &str,
    code: Option<&str>,
) {
    out.push_str(r#"{"type":"control_response","response":{"subtype":"error","request_id":"#);
    request_id.push(out);
    out.push_str(r#","error":"#);
    push_string(out, error);
    if let Some(code) = code {
        out.push_str(r#","error_code":"#);
        push_string(out, code);
    }
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

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use super::*;
    use crate::control::catalogue::{GetSettings, SetModel};

    fn id(json: &str) -> RequestId<'_> {
        RequestId::from_json(json).unwrap()
    }

    #[test]
    fn a_request_is_one_line_whatever_the_payload_looks_like() {
        for (payload, request) in [
            ("", r#"{"subtype":"x"}"#),
            ("{}", r#"{"subtype":"x"}"#),
            (" {\n } ", r#"{"subtype":"x"}"#),
            (r#"{"a":"b\n"}"#, r#"{"subtype":"x","a":"b\n"}"#),
            (
                "\n{\n  \"a\": 1,\r\n  \"b\": [\n]\n}\n",
                "{\"subtype\":\"x\",\"a\": 1,    \"b\": [ ]}",
            ),
            (
                r#"{"subtype":"x","a":1}"#,
                r#"{"subtype":"x","subtype":"x","a":1}"#,
            ),
        ] {
            let mut out = String::new();
            write_request(&mut out, "id\"1", "x", payload).unwrap();
            assert_eq!(
                out,
                alloc::format!(
                    "{{\"type\":\"control_request\",\"request_id\":\"id\\\"1\",\"request\":{request}}}\n"
                )
            );
        }
    }

    #[test]
    fn a_payload_that_is_no_object_of_this_request_is_refused() {
        for payload in [
            "null",
            "[]",
            "\"x\"",
            "{",
            "{}}",
            r#"{"a":1}{"#,
            r#"{"subtype":"other"}"#,
            r#"{"subtype":null}"#,
        ] {
            let mut out = String::from("kept");
            assert!(
                write_request(&mut out, "1", "x", payload).is_err(),
                "{payload}"
            );
            assert_eq!(out, "kept");
        }
    }

    #[test]
    fn typed_requests_leave_unset_fields_out() {
        let mut out = String::new();
        write_typed_request(&mut out, "1", &GetSettings {}).unwrap();
        write_typed_request(
            &mut out,
            "2",
            &SetModel {
                model: "opus".to_owned().into(),
            },
        )
        .unwrap();
        assert_eq!(
            out,
            concat!(
                r#"{"type":"control_request","request_id":"1","request":{"subtype":"get_settings"}}"#,
                "\n",
                r#"{"type":"control_request","request_id":"2","request":{"subtype":"set_model","model":"opus"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn answers_have_their_id_inside() {
        for (id_json, answer, line) in [
            (
                "\"a\"",
                Answer::Success(r#"{"behavior":"deny","message":"m"}"#.into()),
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"behavior":"deny","message":"m"}}}"#,
            ),
            (
                "7",
                Answer::Success("".into()),
                r#"{"type":"control_response","response":{"subtype":"success","request_id":7}}"#,
            ),
            (
                "\"a\\u0000\"",
                Answer::Error("bad\n".into()),
                r#"{"type":"control_response","response":{"subtype":"error","request_id":"a\u0000","error":"bad\n"}}"#,
            ),
        ] {
            let mut out = String::new();
            write_answer(&mut out, &id(id_json), &answer).unwrap();
            assert_eq!(out, alloc::format!("{line}\n"));
        }
        let mut out = String::new();
        let deny = PermissionResult::deny("m");
        write_permission_response(&mut out, &id("1"), &deny, "{}", Some("t")).unwrap();
        assert_eq!(
            out,
            concat!(
                r#"{"type":"control_response","response":{"subtype":"success","request_id":1,"#,
                r#""response":{"behavior":"deny","message":"m","toolUseID":"t"}}}"#,
                "\n"
            )
        );
        let bad = PermissionResult::Allow {
            updated_input: Some("[]"),
            updated_permissions: None,
            decision_classification: None,
        };
        let mut out = String::from("kept");
        assert!(write_permission_response(&mut out, &id("1"), &bad, "{}", None).is_err());
        assert!(write_success_response(&mut out, &id("1"), "[]").is_err());
        assert!(write_success_response(&mut out, &id("1"), "{").is_err());
        write_answer(&mut out, &id("1"), &Answer::Nothing).unwrap();
        assert_eq!(out, "kept");
    }

    #[test]
    fn withdrawals_and_keep_alives() {
        let mut out = String::new();
        write_cancel_request(&mut out, "r\\1");
        write_keep_alive(&mut out);
        assert_eq!(
            out,
            "{\"type\":\"control_cancel_request\",\"request_id\":\"r\\\\1\"}\n{\"type\":\"keep_alive\"}\n"
        );
    }
}
