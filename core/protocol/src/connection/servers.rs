//! In-process MCP servers of a connection, and servers that the host runs itself.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};

use super::{Connection, LocalError, RequestKey, RequestKind};
use crate::control::envelope::{self, IncomingRequest};
use crate::framing::RawMessage;
use crate::json;
use crate::mcp::{
    error_response, Bridge, CallId, CallResult, FinishError, Forward, Operation, Received,
    RpcError, Sent, Server, METHOD_NOT_FOUND, SERVER_CLOSED,
};

#[derive(Debug)]
enum Slot {
    Own(Box<Server>),
    Bridged {
        bridge: Bridge,
        /// Which request of the CLI waits for which exchange.
        waiting: BTreeMap<CallId, RequestKey>,
    },
}

#[derive(Debug, Default)]
pub(super) struct Servers {
    by_name: BTreeMap<String, Slot>,
}

impl Servers {
    pub(super) fn close(&mut self) {
        for slot in self.by_name.values_mut() {
            match slot {
                // What was open is reported as cancelled requests.
                Slot::Own(server) => drop(server.close()),
                Slot::Bridged { bridge, .. } => drop(bridge.close()),
            }
        }
    }

    pub(super) fn exchange_key(&self, server: &str, exchange: CallId) -> Option<RequestKey> {
        match self.by_name.get(server)? {
            Slot::Bridged { waiting, .. } => waiting.get(&exchange).copied(),
            Slot::Own(_) => None,
        }
    }

    /// The JSON-RPC response that answers a call.
    pub(super) fn finish(
        &mut self,
        kind: &RequestKind,
        result: &CallResult<'_>,
    ) -> Result<String, LocalError> {
        let (RequestKind::ToolCall { server, call, .. }
        | RequestKind::ResourceRead { server, call }
        | RequestKind::PromptGet { server, call, .. }) = kind
        else {
            return Err(LocalError::WrongAnswer {
                kind: kind.name(),
                reason: "it is no call of an in-process server".into(),
            });
        };
        match self.by_name.get_mut(server) {
            Some(Slot::Own(own)) => own.finish(*call, result).map_err(|error| match error {
                FinishError::Cancelled => LocalError::Withdrawn,
                FinishError::AlreadyAnswered | FinishError::Unknown => LocalError::AlreadyAnswered,
            }),
            _ => Err(LocalError::UnknownServer(server.clone())),
        }
    }
}

impl Connection {
    /// Adds an in-process server; it answers `mcp_message` requests for its name from then on. One of
    /// the same name is replaced: calls that run are answered all the same, and the client stays
    /// connected. What a server run by the host has left open is answered with an error.
    pub fn add_server(&mut self, mut server: Server) {
        let name = server.name().to_string();
        match self.servers.by_name.remove(&name) {
            Some(Slot::Own(former)) => server.take_over(*former),
            Some(Slot::Bridged { .. }) => self.refuse_requests_of(&name),
            None => {}
        }
        let slot = Slot::Own(Box::new(server));
        self.servers.by_name.insert(name, slot);
    }

    /// Adds a server that the host runs itself: its messages come as requests of kind
    /// [`RequestKind::McpMessage`] and go by [`Connection::mcp_send`]. Nothing changes when there is
    /// one of this name already; what another kind of server has left open is answered with an
    /// error. For another instance under a known name, [`remove_server`](Connection::remove_server)
    /// first.
    pub fn add_bridged_server(&mut self, name: &str) {
        match self.servers.by_name.get(name) {
            Some(Slot::Bridged { .. }) => return,
            Some(Slot::Own(_)) => {
                self.remove_server(name);
            }
            None => {}
        }
        let slot = Slot::Bridged {
            bridge: Bridge::new(),
            waiting: BTreeMap::new(),
        };
        self.servers.by_name.insert(name.to_string(), slot);
    }

    /// Takes a server of either kind out; `false` when there is none of this name. Each of its open
    /// requests is answered with an error and reported as withdrawn, and so is what the CLI asks it
    /// from then on.
    pub fn remove_server(&mut self, name: &str) -> bool {
        let known = self.servers.by_name.contains_key(name);
        if known {
            self.refuse_requests_of(name);
            self.servers.by_name.remove(name);
        }
        known
    }

    /// Nobody answers them any more, and the CLI would wait for ever.
    fn refuse_requests_of(&mut self, server: &str) {
        for key in self.open.of_server(server) {
            if let Ok(open) = self.open.get(key) {
                let message = open.message.clone();
                let rpc = message
                    .body()
                    .and_then(|body| json::pointer(body, "/message").ok()?);
                let reply = rpc_error(
                    rpc.unwrap_or("{}"),
                    SERVER_CLOSED,
                    "The MCP server is closed",
                );
                self.mcp_reply(&message, &reply);
            }
            self.withdraw(key);
        }
    }

    /// Changes an in-process server or makes it send something; what it has to tell the CLI is
    /// queued when `change` returns.
    pub fn with_server<T>(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Server) -> T,
    ) -> Result<T, LocalError> {
        match self.servers.by_name.get_mut(name) {
            Some(Slot::Own(server)) => {
                let value = change(server);
                self.flush_server(name);
                Ok(value)
            }
            _ => Err(LocalError::UnknownServer(name.to_string())),
        }
    }

    /// The input schema of a tool.
    pub fn tool_schema(&self, server: &str, tool: &str) -> Option<&str> {
        match self.servers.by_name.get(server)? {
            Slot::Own(own) => own.tool(tool).map(|tool| tool.input_schema.as_str()),
            Slot::Bridged { .. } => None,
        }
    }

    /// Takes a JSON-RPC message that a server run by the host has written: an answer goes back
    /// under the request that asked, anything else to the CLI.
    pub fn mcp_send(&mut self, server: &str, message: &str) -> Result<(), LocalError> {
        let Some(Slot::Bridged { bridge, .. }) = self.servers.by_name.get_mut(server) else {
            return Err(LocalError::UnknownServer(server.to_string()));
        };
        match bridge
            .send(message)
            .map_err(|error| LocalError::Mcp(error.to_string()))?
        {
            Sent::Answer(exchange, text) => {
                let Some(key) = self.find_bridged(server, exchange) else {
                    return Err(LocalError::Withdrawn);
                };
                self.respond(key, &super::Answer::Mcp(&text))?;
                if let Some(Slot::Bridged { waiting, .. }) = self.servers.by_name.get_mut(server) {
                    waiting.remove(&exchange);
                }
                Ok(())
            }
            Sent::Outgoing(text) => {
                self.send_mcp_message(server, &text);
                Ok(())
            }
            Sent::Unmatched => Err(LocalError::Withdrawn),
        }
    }

    fn send_mcp_message(&mut self, server: &str, message: &str) {
        if !self.state.takes_input() {
            return;
        }
        let mut payload = String::with_capacity(message.len() + server.len() + 32);
        payload.push_str("{\"server_name\":");
        json::push_string(&mut payload, server);
        payload.push_str(",\"message\":");
        payload.push_str(message);
        payload.push('}');
        if let Err(error) = self.write_silent_request("mcp_message", &payload) {
            self.diagnose(super::Diagnostic::Refused(error.to_string()));
        }
    }

    fn flush_server(&mut self, name: &str) {
        while let Some(Slot::Own(server)) = self.servers.by_name.get_mut(name) {
            let Some(message) = server.poll_outgoing() else {
                return;
            };
            self.send_mcp_message(name, &message);
        }
    }

    pub(super) fn mcp_message(&mut self, message: RawMessage, server: &str, text: &str) {
        match self.servers.by_name.get_mut(server) {
            None => {
                let reply = unknown_server(server, text);
                self.mcp_reply(&message, &reply);
            }
            Some(Slot::Own(own)) => {
                let received = own.receive(text);
                self.mcp_received(message, server, received);
                self.flush_server(server);
            }
            Some(Slot::Bridged { bridge, .. }) => {
                let forward = bridge.receive(text);
                self.mcp_forward(message, server, forward);
            }
        }
    }

    fn mcp_received(&mut self, message: RawMessage, server: &str, received: Received) {
        let server = server.to_string();
        match received {
            Received::Reply(reply) => self.mcp_reply(&message, &reply),
            Received::Accepted(ack) => self.mcp_reply(&message, ack),
            Received::Response { ack, .. } => self.mcp_reply(&message, ack),
            Received::Cancelled { call, ack, .. } => {
                self.mcp_reply(&message, ack);
                self.withdraw_call(&server, call);
            }
            Received::Call(call) => {
                let kind = match call.operation {
                    Operation::CallTool { name, .. } => RequestKind::ToolCall {
                        server,
                        tool: name,
                        call: call.id,
                    },
                    Operation::ReadResource { .. } => RequestKind::ResourceRead {
                        server,
                        call: call.id,
                    },
                    Operation::GetPrompt { name, .. } => RequestKind::PromptGet {
                        server,
                        prompt: name,
                        call: call.id,
                    },
                };
                self.ask_host(kind, message);
            }
        }
    }

    fn mcp_forward(&mut self, message: RawMessage, server: &str, forward: Forward) {
        let kind = RequestKind::McpMessage {
            server: server.to_string(),
        };
        match forward {
            Forward::Refused(reply) => self.mcp_reply(&message, &reply),
            Forward::Request(exchange) => {
                self.ask_host(kind, message);
                let key = self.last_key();
                if let Some(Slot::Bridged { waiting, .. }) = self.servers.by_name.get_mut(server) {
                    waiting.insert(exchange, key);
                }
            }
            Forward::Notification(ack) => {
                self.mcp_reply(&message, ack);
                self.push(super::Event::McpNotification {
                    server: server.to_string(),
                    message,
                });
            }
            Forward::Cancelled(exchange, ack) => {
                self.mcp_reply(&message, ack);
                if let Some(key) = self.find_bridged(server, exchange) {
                    self.withdraw(key);
                }
                if let Some(Slot::Bridged { waiting, .. }) = self.servers.by_name.get_mut(server) {
                    waiting.remove(&exchange);
                }
                self.push(super::Event::McpNotification {
                    server: server.to_string(),
                    message,
                });
            }
        }
    }

    fn mcp_reply(&mut self, message: &RawMessage, reply: &str) {
        let Some(id) = IncomingRequest::id_of(message.json()) else {
            return;
        };
        let payload = format!("{{\"mcp_response\":{reply}}}");
        if let Err(error) = envelope::write_success_response(&mut self.out, &id, &payload) {
            self.diagnose(super::Diagnostic::Refused(error.to_string()));
        }
    }
}

fn unknown_server(server: &str, message: &str) -> String {
    let text = format!("Server '{server}' not found");
    rpc_error(message, METHOD_NOT_FOUND, &text)
}

/// The JSON-RPC error that answers `message`.
fn rpc_error(message: &str, code: i64, text: &str) -> String {
    let id = json::pointer(message, "/id").ok().flatten();
    error_response(id.unwrap_or("null"), &RpcError::new(code, text))
}
