//! Every request a host can send (`protocol.md §8`), in one table.
//!
//! [`CATALOGUE`] describes the requests for whoever generates methods, documentation or schemas
//! from it; a typed struct a request, such as [`SetModel`], comes from the same lines.
//!
//! Any other subtype can be sent too, as text with
//! [`write_request`](super::envelope::write_request): the CLI answers one it does not know with an
//! error. Left out here are the binary's requests that only its own user interface, the cloud
//! service or a remote worker sends (`ui_*`, `*_cloud_session`, `remote_tools_*`, …).

mod macros;
mod requests;
mod responses;
#[cfg(feature = "schema")]
mod schema;
mod value;

pub use requests::*;
pub use responses::*;
pub use value::Nullable;

use alloc::string::String;

use crate::json::ScanError;

/// A typed request to the CLI.
pub trait ControlRequest {
    /// The subtype on the wire.
    const SUBTYPE: &'static str;
    /// What a success carries.
    type Response: ControlResponse;

    /// Appends the payload: an object with the fields that are set. An unset one is left out and
    /// never null, but where null has a meaning of its own.
    fn write_payload(&self, out: &mut String);

    /// The payload.
    fn payload(&self) -> String {
        let mut out = String::new();
        self.write_payload(&mut out);
        out
    }
}

/// The payload of a success, read tolerantly: a field that is missing, null or of another kind than
/// expected is `None`.
pub trait ControlResponse: Sized {
    /// The fields known.
    const FIELDS: &'static [FieldSpec];

    /// Reads a payload; an error when it is not an object.
    fn read(payload: &str) -> Result<Self, ScanError>;
}

/// Where the knowledge of a request is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// Seen on the real 2.1.332.
    Seen,
    /// The type listing of the official TypeScript package, not tried.
    Listed,
    /// The binary and the official package's code. 2.1.332 knows it, its work was not tried.
    Binary,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A string.
    String,
    /// A string, one of these as far as known.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// An array of strings.
    Strings,
    /// An object whose values are strings.
    StringMap,
    /// An object.
    Object,
    /// An array.
    Array,
    /// Any value.
    Any,
}

/// Whether a field must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    /// Always.
    Required,
    /// It may be left out.
    Optional,
    /// It may be left out, and null says something else than leaving it out or resets.
    Nullable,
    /// It is always there but may be null.
    OrNull,
}

/// One field of a request or its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    /// The name on the wire.
    pub wire: &'static str,
    /// The name in snake case.
    pub name: &'static str,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether it must be there.
    pub presence: Presence,
    /// What it means.
    pub doc: &'static str,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSpec {
    /// The subtype on the wire; also the name of a method.
    pub subtype: &'static str,
    /// The name of the Rust type.
    pub type_name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Where the knowledge is from.
    pub source: Source,
    /// Whether 2.1.197 knows it (`protocol.md §13`).
    pub since_older: bool,
    /// The payload's fields.
    pub fields: &'static [FieldSpec],
    /// The fields of a success, as far as known.
    pub response: &'static [FieldSpec],
}

/// The description of a subtype.
pub fn spec(subtype: &str) -> Option<&'static RequestSpec> {
    CATALOGUE.iter().find(|spec| spec.subtype == subtype)
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;
    use alloc::vec;

    use super::*;
    use crate::control::RawJson;

    fn json(text: &str) -> RawJson {
        RawJson::new(text).unwrap()
    }

    #[test]
    fn unset_fields_are_absent_and_null_only_where_it_means_something() {
        assert_eq!(Initialize::default().payload(), "{}");
        assert_eq!(SetModel::default().payload(), "{}");
        assert_eq!(
            SetModel {
                model: Nullable::or_null(None)
            }
            .payload(),
            r#"{"model":null}"#
        );
        assert_eq!(
            SetMaxThinkingTokens {
                max_thinking_tokens: Nullable::Null,
                ..Default::default()
            }
            .payload(),
            r#"{"max_thinking_tokens":null}"#
        );
        assert_eq!(
            SetHasSubscribers::default().payload(),
            r#"{"has_subscribers":null}"#
        );
        assert_eq!(
            Interrupt {
                cancel_queued: Some(false)
            }
            .payload(),
            r#"{"cancel_queued":false}"#
        );
    }

    #[test]
    fn the_wire_has_its_own_spelling() {
        assert_eq!(
            McpToggle {
                server_name: "a \"b\"".to_owned(),
                enabled: true
            }
            .payload(),
            r#"{"serverName":"a \"b\"","enabled":true}"#
        );
        assert_eq!(
            SendMcpMessage {
                server_name: "a".to_owned(),
                message: json(r#"{"jsonrpc":"2.0"}"#)
            }
            .payload(),
            r#"{"server_name":"a","message":{"jsonrpc":"2.0"}}"#
        );
        assert_eq!(
            SubmitFeedback {
                description: "d".to_owned(),
                feedback_type: Some("bug".to_owned()),
                ..Default::default()
            }
            .payload(),
            r#"{"description":"d","type":"bug"}"#
        );
    }

    #[test]
    fn every_kind_of_value() {
        let mut aliases = alloc::collections::BTreeMap::new();
        aliases.insert("A".to_owned(), "B".to_owned());
        aliases.insert("C".to_owned(), "D".to_owned());
        let initialize = Initialize {
            system_prompt: Some(vec!["a".to_owned(), "b\n".to_owned()]),
            tool_aliases: Some(aliases),
            agents: Some(json("{}")),
            skills: Some(vec![]),
            title: Some("t".to_owned()),
            forward_subagent_text: Some(true),
            ..Default::default()
        };
        assert_eq!(
            initialize.payload(),
            concat!(
                r#"{"systemPrompt":["a","b\n"],"toolAliases":{"A":"B","C":"D"},"agents":{},"#,
                r#""title":"t","skills":[],"forwardSubagentText":true}"#
            )
        );
        for (mtime, text) in [
            (1.5, "1.5"),
            (1_700_000_000_000.0, "1700000000000.0"),
            (f64::NAN, "null"),
        ] {
            let seed = SeedReadState {
                path: "p".to_owned(),
                mtime,
            };
            let expected = alloc::format!(r#"{{"path":"p","mtime":{text}}}"#);
            assert_eq!(seed.payload(), expected);
        }
    }

    #[test]
    fn responses_read_what_is_there() {
        let interrupt = InterruptResponse::read("{}").unwrap();
        assert_eq!(interrupt, InterruptResponse::default());
        let interrupt =
            InterruptResponse::read(r#"{"still_queued":["a"],"cancelled":null,"new":1}"#).unwrap();
        assert_eq!(interrupt.still_queued, Some(vec!["a".to_owned()]));
        assert_eq!(interrupt.cancelled, None);
        let status = McpStatusResponse::read(
            r#"{"mcpServers":[{"name":"a","status":"failed","error":5,"tools":[1]},7]}"#,
        )
        .unwrap();
        let servers = status.mcp_servers.unwrap();
        assert_eq!(servers.len(), 1);
        assert_eq!(servers[0].name.as_deref(), Some("a"));
        assert_eq!(servers[0].error, None);
        assert_eq!(servers[0].tools, Some(json("[1]")));
        assert_eq!(Empty::read(r#"{"a":1}"#), Ok(Empty {}));
        assert_eq!(RawJson::read(r#"{"a":1}"#), Ok(json(r#"{"a":1}"#)));
        assert!(Empty::read("[]").is_err());
        assert!(InterruptResponse::read("null").is_err());
    }

    #[test]
    fn the_description_follows_the_type() {
        let spec = spec("mcp_toggle").unwrap();
        assert_eq!(spec.type_name, "McpToggle");
        assert_eq!(McpToggle::SUBTYPE, spec.subtype);
        assert_eq!(spec.source, Source::Seen);
        assert!(spec.since_older);
        assert_eq!(
            spec.doc,
            "Turns a server on or off. 2.1.197 cannot turn an in-process one on."
        );
        assert_eq!(
            spec.fields[0],
            FieldSpec {
                wire: "serverName",
                name: "server_name",
                kind: FieldKind::String,
                presence: Presence::Required,
                doc: "The server."
            }
        );
        assert_eq!(super::spec("nope"), None);
    }
}
