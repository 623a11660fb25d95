//! From a line of the CLI to the message classes of `towline.types`, with the rules of the official
//! package: what it raises, what it skips, what it leaves `None`.

mod parse;
mod shape;
mod types;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use towline::{MessageType, RawMessage};

use crate::json::Parser;
use crate::strings::Strings;
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
    Strings::with(|strings| {
        let text = line.json();
        if line.kind() == MessageType::StreamEvent && has_event(text) {
            return Ok(Decoded::Message(types.stream_event.undecoded(py, text)?));
        }
        let mut parser = Parser::new(py, text, strings);
        let data = parser.value()?.cast_into::<PyDict>()?;
        parse::parse(py, types, &data, unknown)
    })
}

/// Whether a stream event can have the member that it must have.
fn has_event(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"\"event\"").is_some()
}

/// The stream event that is given out undecoded, with its fields.
pub(crate) fn stream_event<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let types = Types::get(py)?;
    let decoded = Strings::with(|strings| {
        let parser = Parser::new(py, text, strings);
        let mut decoder = Decoder { py, types, parser };
        if let Some(event) = decoder.stream_event()? {
            return Ok(Decoded::Message(event));
        }
        decoder.parser.restart();
        let data = decoder.parser.value()?.cast_into::<PyDict>()?;
        parse::parse(py, types, &data, false)
    })?;
    match decoded {
        Decoded::Message(message) => Ok(message),
        Decoded::Raise(error) => Err(PyErr::from_value(error)),
        Decoded::Skipped => Err(PyValueError::new_err("not a stream event")),
    }
}

struct Decoder<'a, 'py, 's> {
    py: Python<'py>,
    types: &'py Types,
    parser: Parser<'a, 'py, 's>,
}

impl<'py> Decoder<'_, 'py, '_> {
    /// A stream event, read straight into its fields; `None` when it lacks some or has more, which
    /// the long way sees to.
    fn stream_event(&mut self) -> PyResult<Option<Bound<'py, PyAny>>> {
        let parser = &mut self.parser;
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
                "type" => {
                    parser.skip()?;
                    more = parser.more_members()?;
                    continue;
                }
                _ => return Ok(None),
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
        self.types
            .stream_event
            .build(self.py, &mut fields, None)
            .map(Some)
    }
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
