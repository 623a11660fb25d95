//! From a line of the CLI to the message classes of `towline.types`, with the rules of the official
//! package: what it raises, what it skips, what it leaves `None`.

mod parse;
mod shape;
mod types;

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

/// Reads messages of one session.
pub(crate) struct Decoder<'py, 's> {
    py: Python<'py>,
    types: &'py Types,
    parser: Parser<'s, 'py, 's>,
    /// Whether unknown messages are delivered.
    unknown: bool,
}

impl<'py, 's> Decoder<'py, 's> {
    pub(crate) fn new(
        py: Python<'py>,
        types: &'py Types,
        strings: &'s mut Strings,
        unknown: bool,
    ) -> Self {
        Decoder {
            py,
            types,
            parser: Parser::new(py, "", strings),
            unknown,
        }
    }

    /// Decodes a line.
    pub(crate) fn decode(&mut self, message: &'s RawMessage) -> PyResult<Decoded<'py>> {
        if message.kind() == MessageType::StreamEvent {
            if let Some(event) = self.stream_event(message.json())? {
                return Ok(Decoded::Message(event));
            }
        }
        self.parser.restart(message.json());
        let data = self.parser.value()?.cast_into::<PyDict>()?;
        parse::parse(self.py, self.types, &data, self.unknown)
    }

    /// A stream event, read straight into its fields; `None` when it lacks some or has more, which
    /// the long way sees to.
    fn stream_event(&mut self, text: &'s str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let parser = &mut self.parser;
        parser.restart(text);
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
