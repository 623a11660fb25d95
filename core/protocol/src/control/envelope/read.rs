//! Reading envelopes from a validated line.

use alloc::borrow::Cow;
use alloc::string::String;

use super::write::push_valid;
use crate::json::{members, nested_members, string, Kind, ScanError};

/// A request's id, as the JSON value it came as.
///
/// The CLI's are UUID strings; one of another type is kept and echoed as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestId<'a> {
    json: &'a str,
}

impl<'a> RequestId<'a> {
    /// Takes the JSON text of an id, such as [`RequestId::json`] gave; `None` for no valid value.
    pub fn from_json(json: &'a str) -> Option<Self> {
        crate::json::validate(json)
            .is_ok()
            .then_some(RequestId { json })
    }

    /// The id's JSON text.
    pub fn json(&self) -> &'a str {
        self.json
    }

    /// The id as a key: a string's value, the JSON text of anything else.
    pub fn key(&self) -> Cow<'a, str> {
        string(self.json).unwrap_or(Cow::Borrowed(self.json))
    }

    pub(super) fn push(&self, out: &mut String) {
        push_valid(out, self.json);
    }
}

/// Why an envelope cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// The line is no JSON object.
    #[error("the line is no JSON object: {0}")]
    NotAnObject(#[from] ScanError),
    /// There is no id to answer under.
    #[error("request_id is missing")]
    MissingRequestId,
    /// A `control_request` has no `request`, or one that is not an object.
    #[error("request is missing or not an object")]
    MissingRequest,
    /// A request has no `subtype`, or one that is not a string.
    #[error("the request's subtype is missing or not a string")]
    MissingSubtype,
    /// A `control_response` has no `response`, or one that is not an object.
    #[error("response is missing or not an object")]
    MissingResponse,
    /// A response is neither a success nor an error.
    #[error("the response's subtype is neither success nor error")]
    UnknownOutcome,
}

/// A `control_request` of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingRequest<'a> {
    /// The id to answer under.
    pub request_id: RequestId<'a>,
    /// The subtype, which says what [`Incoming::decode`](crate::control::incoming::Incoming::decode)
    /// makes of the request.
    pub subtype: Cow<'a, str>,
    /// The `request` object's text.
    pub request: &'a str,
}

impl<'a> IncomingRequest<'a> {
    /// Reads the line of a `control_request`.
    pub fn read(line: &'a str) -> Result<Self, EnvelopeError> {
        let (mut id, mut request, mut subtype) = (None, None, None);
        nested_members(
            line,
            "request",
            |name, value| match name {
                "request_id" => id = Some(value),
                "request" => request = Some(value),
                _ => {}
            },
            |name, value| {
                if name == "subtype" {
                    subtype = string(value);
                }
            },
        )?;
        let request_id = read_id(id)?;
        let request = object(request).ok_or(EnvelopeError::MissingRequest)?;
        Ok(IncomingRequest {
            request_id,
            subtype: subtype.ok_or(EnvelopeError::MissingSubtype)?,
            request,
        })
    }

    /// The id of a line that cannot be read further, so that it can be answered with an error.
    pub fn id_of(line: &'a str) -> Option<RequestId<'a>> {
        let mut id = None;
        members(line, |name, value| {
            if name == "request_id" {
                id = Some(value);
            }
        })
        .ok()?;
        read_id(id).ok()
    }
}

/// A `control_cancel_request` of the CLI: it no longer wants the answer. A late one is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelRequest<'a> {
    /// The request withdrawn.
    pub request_id: RequestId<'a>,
}

impl<'a> CancelRequest<'a> {
    /// Reads the line of a `control_cancel_request`.
    pub fn read(line: &'a str) -> Result<Self, EnvelopeError> {
        match IncomingRequest::id_of(line) {
            Some(request_id) => Ok(CancelRequest { request_id }),
            None => Err(EnvelopeError::MissingRequestId),
        }
    }
}

/// A `control_response` of the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response<'a> {
    /// The host's request it answers.
    pub request_id: RequestId<'a>,
    /// What it says.
    pub body: ResponseBody<'a>,
    /// The requests the CLI waits for already, an array: beside the answer to `initialize`.
    pub pending_permission_requests: Option<&'a str>,
    /// The same for dialogs.
    pub pending_user_dialog_requests: Option<&'a str>,
}

/// What a response says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseBody<'a> {
    /// Done.
    Success {
        /// The payload's text; `{}` when there is none, as for many requests.
        payload: &'a str,
    },
    /// The CLI refused or failed.
    Error {
        /// Its text.
        message: Cow<'a, str>,
        /// `unsupported_request`, `invalid_mode`, …; 2.1.197 sends none.
        code: Option<Cow<'a, str>>,
    },
}

impl<'a> Response<'a> {
    /// Reads the line of a `control_response`.
    pub fn read(line: &'a str) -> Result<Self, EnvelopeError> {
        let mut response = None;
        let (mut id, mut outcome, mut payload, mut error, mut code) =
            (None, None, None, None, None);
        let (mut permissions, mut dialogs) = (None, None);
        nested_members(
            line,
            "response",
            |name, value| {
                if name == "response" {
                    response = Some(value);
                }
            },
            |name, value| match name {
                "request_id" => id = Some(value),
                "subtype" => outcome = string(value),
                "response" => payload = Some(value),
                "error" => error = Some(value),
                "error_code" => code = string(value),
                "pending_permission_requests" => permissions = Some(value),
                "pending_user_dialog_requests" => dialogs = Some(value),
                _ => {}
            },
        )?;
        object(response).ok_or(EnvelopeError::MissingResponse)?;
        let body = match outcome.as_deref() {
            Some("success") => ResponseBody::Success {
                payload: payload.filter(|text| *text != "null").unwrap_or("{}"),
            },
            Some("error") => ResponseBody::Error {
                message: match error {
                    Some(text) => string(text).unwrap_or(Cow::Borrowed(text)),
                    None => Cow::Borrowed(""),
                },
                code,
            },
            _ => return Err(EnvelopeError::UnknownOutcome),
        };
        Ok(Response {
            request_id: read_id(id)?,
            body,
            pending_permission_requests: permissions,
            pending_user_dialog_requests: dialogs,
        })
    }
}

fn read_id(json: Option<&str>) -> Result<RequestId<'_>, EnvelopeError> {
    match json {
        None | Some("null") => Err(EnvelopeError::MissingRequestId),
        Some(json) => Ok(RequestId { json }),
    }
}

fn object(text: Option<&str>) -> Option<&str> {
    text.filter(|text| Kind::of(text) == Some(Kind::Object))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_in_any_order() {
        for line in [
            r#"{"type":"control_request","request_id":"a","request":{"subtype":"s","x":1}}"#,
            r#"{"request":{"subtype":"s","x":1},"extra":null,"type":"control_request","request_id":"a"}"#,
            r#" { "request_id" : "a" , "req\u0075est" : {"subtype":"s","x":1} } "#,
        ] {
            let request = IncomingRequest::read(line).unwrap();
            assert_eq!(request.request_id.key(), "a");
            assert_eq!(request.subtype, "s");
            assert_eq!(request.request, r#"{"subtype":"s","x":1}"#);
        }
    }

    #[test]
    fn ids_of_other_types_are_kept_as_they_are() {
        for json in ["7", "-1.50e3", "true", r#"{"a": [1]}"#, r#""é\ud83d""#] {
            let line = alloc::format!(r#"{{"request_id":{json},"request":{{"subtype":"s"}}}}"#);
            let request = IncomingRequest::read(&line).unwrap();
            assert_eq!(request.request_id.json(), json);
            let mut out = String::new();
            request.request_id.push(&mut out);
            assert_eq!(out, json);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (line, error) in [
            (
                r#"{"request":{"subtype":"s"}}"#,
                EnvelopeError::MissingRequestId,
            ),
            (
                r#"{"request_id":null,"request":{"subtype":"s"}}"#,
                EnvelopeError::MissingRequestId,
            ),
            (r#"{"request_id":"a"}"#, EnvelopeError::MissingRequest),
            (
                r#"{"request_id":"a","request":[]}"#,
                EnvelopeError::MissingRequest,
            ),
            (
                r#"{"request_id":"a","request":null}"#,
                EnvelopeError::MissingRequest,
            ),
            (
                r#"{"request_id":"a","request":{}}"#,
                EnvelopeError::MissingSubtype,
            ),
            (
                r#"{"request_id":"a","request":{"subtype":5}}"#,
                EnvelopeError::MissingSubtype,
            ),
        ] {
            assert_eq!(IncomingRequest::read(line), Err(error), "{line}");
        }
        for (line, error) in [
            ("{}", EnvelopeError::MissingResponse),
            (r#"{"response":"x"}"#, EnvelopeError::MissingResponse),
            (
                r#"{"response":{"request_id":"a"}}"#,
                EnvelopeError::UnknownOutcome,
            ),
            (
                r#"{"response":{"request_id":"a","subtype":"maybe"}}"#,
                EnvelopeError::UnknownOutcome,
            ),
            (
                r#"{"request_id":"a","response":{"subtype":"success"}}"#,
                EnvelopeError::MissingRequestId,
            ),
        ] {
            assert_eq!(Response::read(line), Err(error), "{line}");
        }
        assert!(matches!(
            Response::read("[1]"),
            Err(EnvelopeError::NotAnObject(_))
        ));
        assert_eq!(
            CancelRequest::read("{}"),
            Err(EnvelopeError::MissingRequestId)
        );
        assert_eq!(
            CancelRequest::read(r#"{"request_id":"a","type":"control_cancel_request"}"#)
                .unwrap()
                .request_id
                .key(),
            "a"
        );
    }

    /// `protocol.md §3`, `§13`: no payload and no error code is as good as an empty one.
    #[test]
    fn a_response_without_payload_or_code() {
        for line in [
            r#"{"response":{"subtype":"success","request_id":"a"}}"#,
            r#"{"response":{"response":null,"request_id":"a","subtype":"success"}}"#,
        ] {
            let response = Response::read(line).unwrap();
            assert_eq!(response.body, ResponseBody::Success { payload: "{}" });
        }
        let line = r#"{"response":{"error":"E","subtype":"error","request_id":"a"}}"#;
        assert_eq!(
            Response::read(line).unwrap().body,
            ResponseBody::Error {
                message: "E".into(),
                code: None
            }
        );
        let line =
            r#"{"response":{"error":{"m":1},"error_code":"c","subtype":"error","request_id":"a"}}"#;
        assert_eq!(
            Response::read(line).unwrap().body,
            ResponseBody::Error {
                message: r#"{"m":1}"#.into(),
                code: Some("c".into())
            }
        );
    }
}
