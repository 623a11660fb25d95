//! What comes from the client.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};

use super::super::jsonrpc::{
    error_response, fields, id_key, response, Message, RpcError, ACKNOWLEDGEMENT, INVALID_PARAMS,
    METHOD_NOT_FOUND, SERVER_CLOSED,
};
use super::super::result::not_found;
use super::{
    Call, CallId, LogLevel, Operation, Pending, PendingSubject, Received, Server, ServerRequestId,
};
use crate::json::{string, Kind};

/// A result made here, or a call for the host with the JSON text of its `_meta`.
enum Served<'a> {
    Result(String),
    Call(Operation, Option<&'a str>),
}

impl Server {
    /// Takes one JSON-RPC message, the `message` of an `mcp_message` request.
    ///
    /// Nothing that comes in is left without an answer: what is not JSON-RPC gets the error the
    /// standard asks for.
    pub fn receive(&mut self, message: &str) -> Received {
        match Message::read(message) {
            Message::Request { id, method, params } => self.request_from_client(id, method, params),
            Message::Notification { method, params } => {
                if method == "notifications/cancelled" {
                    self.cancelled_by_client(params)
                } else {
                    Received::Accepted(ACKNOWLEDGEMENT)
                }
            }
            Message::Response { id, outcome } => self.answer_from_client(id, outcome),
            Message::Invalid { id, error } => Received::Reply(error_response(id, &error)),
        }
    }

    fn request_from_client(
        &mut self,
        id: &str,
        method: Cow<'_, str>,
        params: Option<&str>,
    ) -> Received {
        let served = if self.closed {
            Err(RpcError::new(SERVER_CLOSED, "The MCP server is closed"))
        } else if params.is_some_and(|params| Kind::of(params) != Some(Kind::Object)) {
            Err(invalid_params("params is not an object"))
        } else {
            self.serve(&method, params)
        };
        match served {
            Ok(Served::Result(result)) => Received::Reply(response(id, &result)),
            Ok(Served::Call(operation, meta)) => {
                Received::Call(self.open_call(id, operation, meta))
            }
            Err(error) => Received::Reply(error_response(id, &error)),
        }
    }

    fn serve<'a>(&mut self, method: &str, params: Option<&'a str>) -> Result<Served<'a>, RpcError> {
        let empty = || Ok(Served::Result(String::from("{}")));
        match method {
            "tools/call" => self.call_tool(params),
            "tools/list" => self.list("tools", params),
            "initialize" => Ok(Served::Result(self.initialize(params))),
            "ping" => empty(),
            "resources/list" => self.list("resources", params),
            "resources/templates/list" => self.list("resourceTemplates", params),
            "resources/read" => self.read_resource(params),
            "prompts/list" => self.list("prompts", params),
            "prompts/get" => self.get_prompt(params),
            "logging/setLevel" => {
                let [level] = read(params, ["level"])?;
                let level = text(level, "level")?;
                self.log_level = LogLevel::from_name(&level)
                    .ok_or_else(|| invalid_params(&format!("unknown level \"{level}\"")))?;
                empty()
            }
            "completion/complete" => Ok(Served::Result(String::from(
                r#"{"completion":{"values":[],"hasMore":false}}"#,
            ))),
            _ => Err(RpcError::new(
                METHOD_NOT_FOUND,
                format!("Method not found: {method}"),
            )),
        }
    }

    fn list(&self, member: &str, params: Option<&str>) -> Result<Served<'static>, RpcError> {
        let [cursor] = read(params, ["cursor"])?;
        let cursor = cursor.map(|cursor| text(Some(cursor), "cursor"));
        let cursor = cursor.transpose()?;
        let cursor = cursor.as_deref();
        let page = match member {
            "tools" => self.tools.page(member, cursor, self.page_size),
            "resources" => self.resources.page(member, cursor, self.page_size),
            "prompts" => self.prompts.page(member, cursor, self.page_size),
            _ => self.templates.page(member, cursor, self.page_size),
        };
        page.map(Served::Result)
            .ok_or_else(|| invalid_params("unknown cursor"))
    }

    fn call_tool<'a>(&self, params: Option<&'a str>) -> Result<Served<'a>, RpcError> {
        let [name, arguments, meta] = read(params, ["name", "arguments", "_meta"])?;
        let name = text(name, "name")?;
        let arguments = object(arguments, "arguments")?;
        if self.tools.get(&name).is_none() {
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("Unknown tool: {name}"),
            ));
        }
        let operation = Operation::CallTool {
            name: name.into_owned(),
            arguments: arguments.to_string(),
        };
        Ok(Served::Call(operation, meta))
    }

    fn read_resource<'a>(&self, params: Option<&'a str>) -> Result<Served<'a>, RpcError> {
        let [uri, meta] = read(params, ["uri", "_meta"])?;
        let uri = text(uri, "uri")?.into_owned();
        if self.resources.get(&uri).is_none() && self.templates.is_empty() {
            return Err(not_found(&uri));
        }
        Ok(Served::Call(Operation::ReadResource { uri }, meta))
    }

    fn get_prompt<'a>(&self, params: Option<&'a str>) -> Result<Served<'a>, RpcError> {
        let [name, arguments, meta] = read(params, ["name", "arguments", "_meta"])?;
        let name = text(name, "name")?;
        let arguments = object(arguments, "arguments")?;
        let Some(prompt) = self.prompts.get(&name) else {
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("Unknown prompt: {name}"),
            ));
        };
        for argument in prompt.arguments.iter().filter(|known| known.required) {
            let [value] = fields(arguments, [argument.name.as_str()]).unwrap_or_default();
            if value.is_none() {
                return Err(invalid_params(&format!(
                    "argument \"{}\" is missing",
                    argument.name
                )));
            }
        }
        let operation = Operation::GetPrompt {
            name: name.into_owned(),
            arguments: arguments.to_string(),
        };
        Ok(Served::Call(operation, meta))
    }

    fn open_call(&mut self, rpc_id: &str, operation: Operation, meta: Option<&str>) -> Call {
        self.last_call += 1;
        let id = CallId(self.last_call);
        let wanted = ["progressToken", "claudecode/toolUseId"];
        let [token, tool_use_id] = meta
            .and_then(|meta| fields(meta, wanted).ok())
            .unwrap_or_default();
        let progress_token = token
            .filter(|token| matches!(Kind::of(token), Some(Kind::String | Kind::Number)))
            .map(ToString::to_string);
        let subject = match &operation {
            Operation::CallTool { .. } => PendingSubject::Tool,
            Operation::ReadResource { uri } => PendingSubject::Resource(uri.clone()),
            Operation::GetPrompt { .. } => PendingSubject::Prompt,
        };
        self.calls.insert(
            id,
            Pending {
                rpc_id: rpc_id.to_string(),
                progress_token: progress_token.clone(),
                subject,
            },
        );
        Call {
            id,
            rpc_id: rpc_id.to_string(),
            operation,
            progress_token,
            tool_use_id: tool_use_id.and_then(string).map(Cow::into_owned),
            meta: meta.map(ToString::to_string),
        }
    }

    fn cancelled_by_client(&mut self, params: Option<&str>) -> Received {
        let [request, reason] = read(params, ["requestId", "reason"]).unwrap_or_default();
        // A client that starts anew counts its ids from 0 again: the latest call is meant.
        let call = request.map(id_key).and_then(|wanted| {
            let mut open = self.calls.iter().rev();
            open.find(|(_, pending)| id_key(&pending.rpc_id) == wanted)
                .map(|(call, _)| *call)
        });
        let Some(call) = call else {
            return Received::Accepted(ACKNOWLEDGEMENT);
        };
        self.calls.remove(&call);
        self.remember_cancelled(call);
        Received::Cancelled {
            call,
            reason: reason.and_then(string).map(Cow::into_owned),
            ack: ACKNOWLEDGEMENT,
        }
    }

    fn answer_from_client(&mut self, id: &str, outcome: Result<&str, RpcError>) -> Received {
        let request = id_key(id).parse().ok().map(ServerRequestId);
        let known = request.and_then(|request| {
            let at = self.requests.iter().position(|open| *open == request)?;
            Some(self.requests.swap_remove(at))
        });
        match known {
            Some(request) => Received::Response {
                request,
                outcome: outcome.map(ToString::to_string),
                ack: ACKNOWLEDGEMENT,
            },
            None => Received::Accepted(ACKNOWLEDGEMENT),
        }
    }
}

fn invalid_params(what: &str) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("Invalid params: {what}"))
}

fn read<'a, const N: usize>(
    params: Option<&'a str>,
    wanted: [&str; N],
) -> Result<[Option<&'a str>; N], RpcError> {
    match params {
        Some(params) => fields(params, wanted).map_err(|error| invalid_params(&error.to_string())),
        None => Ok([None; N]),
    }
}

fn text<'a>(value: Option<&'a str>, key: &str) -> Result<Cow<'a, str>, RpcError> {
    value
        .and_then(string)
        .ok_or_else(|| invalid_params(&format!("{key} is not a string")))
}

fn object<'a>(value: Option<&'a str>, key: &str) -> Result<&'a str, RpcError> {
    match value {
        None => Ok("{}"),
        Some(value) if Kind::of(value) == Some(Kind::Object) => Ok(value),
        Some(_) => Err(invalid_params(&format!("{key} is not an object"))),
    }
}
