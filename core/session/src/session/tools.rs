//! In-process tools: their definitions, and the check of arguments against their schemas.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use towline_protocol::connection::{Request, RequestKind};
use towline_protocol::json;
use towline_protocol::mcp::{self, CallResult};

use super::arguments::Schema;
use super::handlers::Handler;
use super::{Reply, RequestHandle};
use crate::error::{Error, StartError};

/// A tool inside this program.
pub struct Tool {
    pub(super) definition: mcp::Tool,
    pub(super) handler: Option<Handler>,
}

impl Tool {
    /// A tool with a name, a description for the model, the JSON Schema of its arguments (an
    /// object), and what it does. Arguments that do not fit the schema never reach the handler (a
    /// host built without the feature `tool-arguments` checks them itself).
    ///
    /// The handler runs on the polling thread; one that takes long returns [`Reply::Later`] and
    /// answers by the handle from elsewhere.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: impl Into<String>,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> Tool {
        Tool {
            definition: mcp::Tool::new(name, description, schema),
            handler: Some(Box::new(handler)),
        }
    }

    /// A tool whose calls come as [`Event::Request`](super::Event::Request).
    pub fn without_handler(definition: mcp::Tool) -> Tool {
        Tool {
            definition,
            handler: None,
        }
    }

    /// A tool with everything that MCP knows of one.
    pub fn from_definition(
        definition: mcp::Tool,
        handler: impl FnMut(&RequestHandle) -> Reply + Send + 'static,
    ) -> Tool {
        Tool {
            definition,
            handler: Some(Box::new(handler)),
        }
    }

    /// Annotations: JSON text of an object (`{"readOnlyHint":true}`).
    pub fn annotations(mut self, json: impl Into<String>) -> Tool {
        self.definition.annotations = Some(json.into());
        self
    }
}

/// An MCP server inside this program.
pub struct ToolServer {
    pub(super) server: mcp::Server,
    pub(super) tools: Vec<(String, Handler)>,
    pub(super) schemas: Vec<(String, String)>,
    pub(super) timeout_ms: Option<u64>,
}

impl ToolServer {
    /// A server without tools. Tools are called `mcp__NAME__TOOL` by the model.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> ToolServer {
        ToolServer {
            server: mcp::Server::new(name, version),
            tools: Vec::new(),
            schemas: Vec::new(),
            timeout_ms: None,
        }
    }

    /// Adds a tool. Fails when its definition is refused or its name taken.
    pub fn add(&mut self, tool: Tool) -> Result<&mut ToolServer, Error> {
        let name = tool.definition.name.clone();
        self.server
            .add_tool(tool.definition)
            .map_err(StartError::Tool)?;
        if let Some(registered) = self.server.tool(&name) {
            self.schemas
                .push((name.clone(), registered.input_schema.clone()));
        }
        if let Some(handler) = tool.handler {
            self.tools.push((name, handler));
        }
        Ok(self)
    }

    /// The protocol's own server, for resources, prompts and instructions.
    pub fn server_mut(&mut self) -> &mut mcp::Server {
        &mut self.server
    }

    /// Limit of a tool call in milliseconds, kept by the CLI; at least 1,000.
    pub fn timeout_ms(&mut self, limit: u64) -> &mut ToolServer {
        self.timeout_ms = Some(limit);
        self
    }
}

/// Compiled schemas, each once a session.
#[derive(Default)]
pub(super) struct Tools {
    schemas: RwLock<BTreeMap<(String, String), Arc<Schema>>>,
    /// Hooks, in-process servers or permission requests need stdin open (`protocol.md §11`).
    pub(super) needs_host: bool,
    /// Every prompt says `client_composed: true`.
    pub(super) verbatim_prompts: bool,
    /// A tool whose schema cannot be checked against is served all the same, as the official packages
    /// serve one that their validators know more of.
    pub(super) serves_unchecked: bool,
}

impl Tools {
    /// What the host should know of tools that are served unchecked.
    pub(super) fn add(&self, server: &ToolServer) -> Result<Vec<String>, StartError> {
        let name = server.server.name();
        let mut compiled = BTreeMap::new();
        let mut unchecked = Vec::new();
        for (tool, schema) in &server.schemas {
            match Schema::compile(schema) {
                Ok(schema) => {
                    compiled.insert((name.to_string(), tool.clone()), Arc::new(schema));
                }
                Err(reason) if self.serves_unchecked => unchecked.push(format!(
                    "the arguments of tool {tool:?} are not checked: its input schema is not a JSON \
                     Schema that can be checked against: {reason}"
                )),
                Err(reason) => {
                    let tool = tool.clone();
                    return Err(StartError::BadSchema { tool, reason });
                }
            }
        }
        let schemas = self.schemas.write();
        let mut schemas = schemas.unwrap_or_else(PoisonError::into_inner);
        schemas.retain(|(server, _), _| server != name);
        schemas.append(&mut compiled);
        Ok(unchecked)
    }

    /// The error result for a tool call whose arguments do not fit the tool's schema.
    pub(super) fn refusal(&self, request: &Request) -> Option<CallResult<'static>> {
        let RequestKind::ToolCall { server, tool, .. } = &request.kind else {
            return None;
        };
        let schema = {
            let schemas = self.schemas.read();
            let schemas = schemas.unwrap_or_else(PoisonError::into_inner);
            schemas.get(&(server.clone(), tool.clone()))?.clone()
        };
        let arguments = json::pointer(request.json(), "/message/params/arguments");
        let arguments = arguments.ok().flatten().unwrap_or("{}");
        let arguments: serde_json::Value =
            match serde_json::from_str(&json::surrogates_replaced(arguments)) {
                Ok(arguments) => arguments,
                Err(error) => return Some(CallResult::invalid_arguments(tool, [("", error)])),
            };
        let problems = schema.problems(&arguments);
        if problems.is_empty() {
            return None;
        }
        Some(CallResult::invalid_arguments(tool, problems))
    }
}
