//! From a line of the CLI to the message classes of `towline.types`, with the rules of the official
//! package: what it raises, what it skips, what it leaves `None`.

mod field;
mod parse;
mod saved;
mod shape;
mod types;

use std::sync::LazyLock;

use memchr::memmem::Finder;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use towline::{MessageType, RawMessage};

use crate::json::{self, Parser};
use crate::strings::Strings;
pub(crate) use field::{fill, StreamField};
pub(crate) use saved::{saved_messages, settle, SavedField};
pub(crate) use types::Types;

/// What a line becomes.
pub(crate) enum Decoded<'py> {
    /// A message.
    Message(Bound<'py, PyAny>),
    /// An exception for whoever reads messages.
    Raise(Bound<'py, PyAny>),
    /// Nothing: a type that this version does not know and nobody asked for.
    Skipped,
}

/// Decodes a line; with `unknown` messages of types that have no class are delivered.
pub(crate) fn decode<'py>(
    py: Python<'py>,
    line: &RawMessage,
    unknown: bool,
) -> PyResult<Decoded<'py>> {
    let types = Types::get(py)?;
    let text = line.json();
    if line.kind() == MessageType::StreamEvent {
        if field::is_read() {
            if let Some(event) = event_alone(py, text)? {
                let message = types.stream_event.undecoded(py, text)?;
                shape::set_own(&message, pyo3::intern!(py, "event"), &event)?;
                return Ok(Decoded::Message(message));
            }
        } else if has_event(text) {
            return Ok(Decoded::Message(types.stream_event.undecoded(py, text)?));
        }
    }
    Strings::with(|strings| {
        let mut parser = Parser::new(py, text, strings);
        let data = parser.value()?.cast_into::<PyDict>()?;
        parse::parse(py, types, &data, unknown)
    })
}

/// Whether a stream event can have the member that it must have.
fn has_event(text: &str) -> bool {
    // As the CLI begins one.
    static EVENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"event\""));
    text.starts_with(r#"{"type":"stream_event","event":"#) || EVENT.find(text.as_bytes()).is_some()
}

/// The fields of a stream event that was given out undecoded.
fn stream_event<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let types = Types::get(py)?;
    let decoded = Strings::with(|strings| {
        let mut parser = Parser::new(py, text, strings);
        if let Some(fields) = stream_event_fields(&mut parser, types)? {
            return Ok(Ok(fields));
        }
        parser.restart();
        let data = parser.value()?.cast_into::<PyDict>()?;
        parse::parse(py, types, &data, false).map(Err)
    })?;
    match decoded {
        Ok(fields) => Ok(fields),
        Err(Decoded::Message(message)) => shape::fields(&message),
        Err(Decoded::Raise(error)) => Err(PyErr::from_value(error)),
        Err(Decoded::Skipped) => Err(PyValueError::new_err("not a stream event")),
    }
}

/// The same read in one step; `None` when it lacks some, which the long way sees to.
fn stream_event_fields<'py>(
    parser: &mut Parser<'_, 'py, '_>,
    types: &Types,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let mut fields = [const { None }; 6];
    let mut more = parser.begin_object()?;
    while more {
        let name = parser.name()?;
        if name.escaped {
            return Ok(None);
        }
        let (place, repeats) = match name.text {
            "uuid" => (0, false),
            "session_id" => (1, true),
            "event" => (2, false),
            "parent_tool_use_id" => (3, true),
            "user_message_uuid" => (4, true),
            "user_message_uuids" => (5, false),
            _ => {
                parser.skip()?;
                more = parser.more_members()?;
                continue;
            }
        };
        let value = if repeats {
            parser.repeated()?
        } else {
            parser.value()?
        };
        if let Some(field) = fields.get_mut(place) {
            *field = Some(value);
        }
        more = parser.more_members()?;
    }
    if fields.iter().take(3).any(Option::is_none) {
        return Ok(None);
    }
    types
        .stream_event
        .fields(parser.py(), &mut fields)
        .map(Some)
}

/// What a stream event has for `event`, if that is found without more ado.
fn event_alone<'py>(py: Python<'py>, text: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    Strings::with(|strings| {
        let mut parser = Parser::new(py, text, strings);
        let mut more = parser.begin_object()?;
        while more {
            let name = parser.name()?;
            if name.escaped {
                return Ok(None);
            }
            if name.text == "event" {
                return parser.value().map(Some);
            }
            parser.skip()?;
            more = parser.more_members()?;
        }
        Ok(None)
    })
}

/// The arguments of a permission callback: the tool, its input and the `ToolPermissionContext`, which
/// lacks the signal and has the suggestions as the CLI wrote them.
pub(crate) fn permission_call<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<[Option<Bound<'py, PyAny>>; 3]> {
    let names = [
        "tool_name",
        "input",
        "permission_suggestions",
        "tool_use_id",
        "agent_id",
        "blocked_path",
        "decision_reason",
        "title",
        "display_name",
        "description",
    ];
    let [tool, input, suggestions, id, agent, path, reason, title, name, description] =
        json::members(py, text, names)?;
    let suggestions = suggestions.filter(|suggestions| !suggestions.is_none());
    let suggestions = suggestions.unwrap_or_else(|| PyList::empty(py).into_any());
    let mut fields = [
        None,
        Some(suggestions),
        id,
        agent,
        path,
        reason,
        title,
        name,
        description,
    ];
    let class = &Types::get(py)?.permission_context;
    let context = class.build(py, &mut fields, None)?;
    Ok([tool, input, Some(context)])
}

/// Decodes a message that is a dict already; `None` when it is one to skip.
pub(crate) fn from_dict<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyDict>,
    unknown: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match parse::parse(py, Types::get(py)?, data, unknown)? {
        Decoded::Message(message) => Ok(Some(message)),
        Decoded::Raise(error) => Err(PyErr::from_value(error)),
        Decoded::Skipped => Ok(None),
    }
}
