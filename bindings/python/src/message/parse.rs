//! A message's dict to its class.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};

use super::{Decoded, Types};

/// Why a dict is no message.
enum Fault {
    /// It is not what its type promises.
    Shape(String),
    /// Python failed.
    Python(PyErr),
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Fault {
        Fault::Python(error)
    }
}

type Value<'py> = Bound<'py, PyAny>;
type Parsed<'py> = Result<Value<'py>, Fault>;

/// The class instance of a message's dict.
pub(super) fn parse<'py>(
    py: Python<'py>,
    types: &'py Types,
    data: &Bound<'py, PyDict>,
    unknown: bool,
) -> PyResult<Decoded<'py>> {
    let reader = Reader { py, types, data };
    match reader.message(unknown) {
        Ok(decoded) => Ok(decoded),
        Err(Fault::Python(error)) => Err(error),
        Err(Fault::Shape(text)) => {
            let error = types.parse_error.bind(py).call1((text, data))?;
            Ok(Decoded::Raise(error))
        }
    }
}

struct Reader<'a, 'py> {
    py: Python<'py>,
    types: &'py Types,
    data: &'a Bound<'py, PyDict>,
}

/// What stands for a member that should be there and is not. Gateways in front of the API leave some
/// out, and a conversation does not end for that.
#[derive(Clone, Copy)]
enum Instead {
    Text,
    Number,
    False,
    Object,
}

/// A member that should be there.
fn expected<'py>(of: &Bound<'py, PyDict>, name: &str, instead: Instead) -> Parsed<'py> {
    let py = of.py();
    Ok(match of.get_item(name)? {
        Some(value) => value,
        None => match instead {
            Instead::Text => PyString::new(py, "").into_any(),
            Instead::Number => PyInt::new(py, 0).into_any(),
            Instead::False => PyBool::new(py, false).to_owned().into_any(),
            Instead::Object => PyDict::new(py).into_any(),
        },
    })
}

/// A member without which there is nothing to deliver.
fn required<'py>(of: &Bound<'py, PyDict>, name: &str, what: &str) -> Parsed<'py> {
    match of.get_item(name)? {
        Some(value) => Ok(value),
        None => Err(Fault::Shape(format!(
            "Missing required field in {what} message: '{name}'"
        ))),
    }
}

fn optional<'py>(of: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Value<'py>>> {
    of.get_item(name)
}

/// A member as a dict.
fn object<'py>(
    of: &Bound<'py, PyDict>,
    name: &str,
    what: &str,
) -> Result<Bound<'py, PyDict>, Fault> {
    let value = required(of, name, what)?;
    value.cast_into::<PyDict>().map_err(|error| {
        let found = type_name(&error.into_inner());
        Fault::Shape(format!(
            "Invalid {name} in {what} message (expected dict, got {found})"
        ))
    })
}

fn type_name(value: &Value<'_>) -> String {
    let name = value.get_type().name();
    name.map(|name| name.to_string()).unwrap_or_default()
}

fn text(value: Option<Value<'_>>) -> Option<String> {
    value?.extract::<String>().ok()
}

impl<'py> Reader<'_, 'py> {
    fn message(&self, unknown: bool) -> Result<Decoded<'py>, Fault> {
        let kind = optional(self.data, "type")?;
        let Some(kind) = kind.filter(|kind| kind.is_truthy().unwrap_or_default()) else {
            return Err(Fault::Shape("Message missing 'type' field".into()));
        };
        let kind = text(Some(kind)).unwrap_or_default();
        let message = match kind.as_str() {
            "stream_event" => self.stream_event(),
            "assistant" => self.assistant(),
            "user" => self.user(),
            "result" => self.result(),
            "system" => {
                if self.for_the_host_alone()? {
                    return Ok(Decoded::Skipped);
                }
                self.system()
            }
            "rate_limit_event" => self.rate_limit(),
            "conversation_reset" => self.conversation_reset(),
            // Those the mirror of sessions is made of are no part of the conversation.
            "transcript_mirror" => return Ok(Decoded::Skipped),
            _ if unknown => {
                let mut fields = [self.get("type")?];
                Ok(self
                    .types
                    .unknown
                    .build(self.py, &mut fields, Some(self.data))?)
            }
            _ => return Ok(Decoded::Skipped),
        };
        message.map(Decoded::Message)
    }

    /// State that the CLI tells only because the library asked for it (`protocol.md §4.5`).
    fn for_the_host_alone(&self) -> PyResult<bool> {
        match optional(self.data, "sdk_host_only")? {
            Some(only) => Ok(only.extract::<bool>().unwrap_or_default()
                && text(optional(self.data, "subtype")?).as_deref()
                    == Some("session_state_changed")),
            None => Ok(false),
        }
    }

    fn get(&self, name: &str) -> PyResult<Option<Value<'py>>> {
        optional(self.data, name)
    }

    fn text(&self, name: &str) -> Parsed<'py> {
        expected(self.data, name, Instead::Text)
    }

    fn list(&self, items: Vec<Value<'py>>) -> PyResult<Option<Value<'py>>> {
        Ok(Some(PyList::new(self.py, items)?.into_any()))
    }

    /// `origin`, when it says what kind it is.
    fn origin(&self) -> PyResult<Option<Value<'py>>> {
        let Some(origin) = self.get("origin")? else {
            return Ok(None);
        };
        let Ok(members) = origin.cast::<PyDict>() else {
            return Ok(None);
        };
        let named = members
            .get_item("kind")?
            .is_some_and(|kind| kind.is_instance_of::<PyString>());
        Ok(named.then_some(origin))
    }

    fn stream_event(&self) -> Parsed<'py> {
        let mut fields = [
            Some(self.text("uuid")?),
            Some(self.text("session_id")?),
            Some(required(self.data, "event", "stream_event")?),
            self.get("parent_tool_use_id")?,
            self.get("user_message_uuid")?,
            self.get("user_message_uuids")?,
        ];
        let event = &self.types.stream_event;
        Ok(event.build(self.py, &mut fields, Some(self.data))?)
    }

    fn user(&self) -> Parsed<'py> {
        let what = "user";
        let message = object(self.data, "message", what)?;
        let content = required(&message, "content", what)?;
        let content = match content.cast::<PyList>() {
            Ok(blocks) => self.blocks(blocks, what)?,
            Err(_) => Some(content),
        };
        let mut fields = [
            content,
            self.get("uuid")?,
            self.get("parent_tool_use_id")?,
            self.get("tool_use_result")?,
            self.origin()?,
        ];
        Ok(self
            .types
            .user
            .build(self.py, &mut fields, Some(self.data))?)
    }

    fn assistant(&self) -> Parsed<'py> {
        let what = "assistant";
        let message = object(self.data, "message", what)?;
        let content = required(&message, "content", what)?;
        let Ok(blocks) = content.cast::<PyList>() else {
            let found = type_name(&content);
            return Err(Fault::Shape(format!(
                "Invalid assistant content (expected list, got {found})"
            )));
        };
        let mut fields = [
            self.blocks(blocks, what)?,
            Some(expected(&message, "model", Instead::Text)?),
            self.get("parent_tool_use_id")?,
            self.get("error")?,
            optional(&message, "usage")?,
            optional(&message, "id")?,
            optional(&message, "stop_reason")?,
            self.get("session_id")?,
            self.get("uuid")?,
            self.get("user_message_uuid")?,
            self.get("user_message_uuids")?,
        ];
        let assistant = &self.types.assistant;
        Ok(assistant.build(self.py, &mut fields, Some(self.data))?)
    }

    /// The blocks of a content; those of other kinds are left out.
    fn blocks(
        &self,
        blocks: &Bound<'py, PyList>,
        what: &'static str,
    ) -> Result<Option<Value<'py>>, Fault> {
        let mut found = Vec::with_capacity(blocks.len());
        for block in blocks.iter() {
            let Ok(block) = block.cast::<PyDict>() else {
                let name = type_name(&block);
                return Err(Fault::Shape(format!(
                    "Invalid content block (expected dict, got {name})"
                )));
            };
            let kind = text(optional(block, "type")?).unwrap_or_default();
            let of_model = what == "assistant";
            let must = |name| expected(block, name, Instead::Text).map(Some);
            let input = || expected(block, "input", Instead::Object).map(Some);
            let (py, types) = (self.py, self.types);
            found.push(match kind.as_str() {
                "text" => types.text.build(py, &mut [must("text")?], None)?,
                "tool_use" => {
                    let mut fields = [must("id")?, must("name")?, input()?];
                    types.tool_use.build(py, &mut fields, None)?
                }
                "tool_result" => {
                    let mut fields = [
                        must("tool_use_id")?,
                        optional(block, "content")?,
                        optional(block, "is_error")?,
                    ];
                    types.tool_result.build(py, &mut fields, None)?
                }
                "thinking" if of_model => {
                    let mut fields = [must("thinking")?, must("signature")?];
                    types.thinking.build(py, &mut fields, None)?
                }
                "server_tool_use" if of_model => {
                    let mut fields = [must("id")?, must("name")?, input()?];
                    types.server_tool_use.build(py, &mut fields, None)?
                }
                "advisor_tool_result" if of_model => {
                    let mut fields = [must("tool_use_id")?, must("content")?];
                    types.server_tool_result.build(py, &mut fields, None)?
                }
                _ => continue,
            });
        }
        Ok(self.list(found)?)
    }

    fn system(&self) -> Parsed<'py> {
        let (py, types, data) = (self.py, self.types, self.data);
        let must = |name| self.text(name).map(Some);
        let subtype = text(self.get("subtype")?);
        if let Some("hook_started" | "hook_response") = subtype.as_deref() {
            return self.hook_event();
        }
        let subtype_value = must("subtype")?;
        let whole = Some(data.clone().into_any());
        Ok(match subtype.as_deref().unwrap_or_default() {
            "task_started" => {
                let mut fields = [
                    subtype_value,
                    whole,
                    must("task_id")?,
                    must("description")?,
                    must("uuid")?,
                    must("session_id")?,
                    self.get("tool_use_id")?,
                    self.get("task_type")?,
                ];
                types.task_started.build(py, &mut fields, Some(data))?
            }
            "task_progress" => {
                let mut fields = [
                    subtype_value,
                    whole,
                    must("task_id")?,
                    must("description")?,
                    Some(expected(data, "usage", Instead::Object)?),
                    must("uuid")?,
                    must("session_id")?,
                    self.get("tool_use_id")?,
                    self.get("last_tool_name")?,
                ];
                types.task_progress.build(py, &mut fields, Some(data))?
            }
            "task_notification" => {
                let mut fields = [
                    subtype_value,
                    whole,
                    must("task_id")?,
                    must("status")?,
                    must("output_file")?,
                    must("summary")?,
                    must("uuid")?,
                    must("session_id")?,
                    self.get("tool_use_id")?,
                    self.get("usage")?,
                ];
                types.task_notification.build(py, &mut fields, Some(data))?
            }
            "task_updated" => {
                let patch = match self.get("patch")? {
                    Some(patch) => patch.cast_into::<PyDict>().ok(),
                    None => None,
                };
                let patch = patch.unwrap_or_else(|| PyDict::new(py));
                let status = optional(&patch, "status")?;
                let mut fields = [
                    subtype_value,
                    whole,
                    Some(self.or_empty("task_id")?),
                    Some(patch.into_any()),
                    status,
                    self.get("session_id")?,
                    self.get("uuid")?,
                ];
                types.task_updated.build(py, &mut fields, Some(data))?
            }
            "mirror_error" => {
                let mut fields = [
                    subtype_value,
                    whole,
                    self.get("key")?,
                    Some(self.or_empty("error")?),
                ];
                types.mirror_error.build(py, &mut fields, Some(data))?
            }
            _ => types
                .system
                .build(py, &mut [subtype_value, whole], Some(data))?,
        })
    }

    fn or_empty(&self, name: &str) -> PyResult<Value<'py>> {
        let empty = || PyString::new(self.py, "").into_any();
        Ok(self.get(name)?.unwrap_or_else(empty))
    }

    fn hook_event(&self) -> Parsed<'py> {
        let mut event = PyString::new(self.py, "").into_any();
        for name in ["hook_event", "hook_name", "hook_event_name"] {
            match self.get(name)? {
                Some(value) if value.is_truthy()? => {
                    event = value;
                    break;
                }
                _ => {}
            }
        }
        let mut fields = [
            self.get("subtype")?,
            Some(self.data.clone().into_any()),
            Some(event),
            self.get("session_id")?,
            self.get("uuid")?,
        ];
        let hook_event = &self.types.hook_event;
        Ok(hook_event.build(self.py, &mut fields, Some(self.data))?)
    }

    fn result(&self) -> Parsed<'py> {
        let deferred = match self.get("deferred_tool_use")? {
            Some(deferred) if deferred.is_truthy()? => {
                let deferred = object(self.data, "deferred_tool_use", "result")?;
                let must = |name| expected(&deferred, name, Instead::Text).map(Some);
                let input = expected(&deferred, "input", Instead::Object)?;
                let mut fields = [must("id")?, must("name")?, Some(input)];
                let shape = &self.types.deferred_tool_use;
                Some(shape.build(self.py, &mut fields, None)?)
            }
            _ => None,
        };
        let number = |name| expected(self.data, name, Instead::Number).map(Some);
        let mut fields = [
            Some(self.text("subtype")?),
            number("duration_ms")?,
            number("duration_api_ms")?,
            Some(expected(self.data, "is_error", Instead::False)?),
            number("num_turns")?,
            Some(self.text("session_id")?),
            self.get("stop_reason")?,
            self.get("total_cost_usd")?,
            self.get("usage")?,
            self.get("result")?,
            self.get("structured_output")?,
            self.get("modelUsage")?,
            self.get("permission_denials")?,
            deferred,
            self.get("errors")?,
            self.get("api_error_status")?,
            self.get("uuid")?,
            self.get("terminal_reason")?,
            self.origin()?,
            self.get("user_message_uuid")?,
            self.get("user_message_uuids")?,
        ];
        Ok(self
            .types
            .result
            .build(self.py, &mut fields, Some(self.data))?)
    }

    fn rate_limit(&self) -> Parsed<'py> {
        let info = object(self.data, "rate_limit_info", "rate_limit_event")?;
        let mut fields = [
            Some(expected(&info, "status", Instead::Text)?),
            optional(&info, "resetsAt")?,
            optional(&info, "rateLimitType")?,
            optional(&info, "utilization")?,
            optional(&info, "overageStatus")?,
            optional(&info, "overageResetsAt")?,
            optional(&info, "overageDisabledReason")?,
            Some(info.clone().into_any()),
        ];
        let info = self
            .types
            .rate_limit_info
            .build(self.py, &mut fields, None)?;
        let mut fields = [
            Some(info),
            Some(self.text("uuid")?),
            Some(self.text("session_id")?),
        ];
        let rate_limit = &self.types.rate_limit;
        Ok(rate_limit.build(self.py, &mut fields, Some(self.data))?)
    }

    fn conversation_reset(&self) -> Parsed<'py> {
        let mut fields = [
            Some(self.text("new_conversation_id")?),
            Some(self.text("uuid")?),
            Some(self.text("session_id")?),
        ];
        let reset = &self.types.conversation_reset;
        Ok(reset.build(self.py, &mut fields, Some(self.data))?)
    }
}
