//! For a host that brings its own MCP server object: requests and answers are paired by their
//! JSON-RPC ids, and nothing else is looked at.

use alloc::string::String;
use alloc::vec::Vec;

use super::jsonrpc::{
    error_response, fields, id_key, push_json, Message, RpcError, ACKNOWLEDGEMENT, SERVER_CLOSED,
};
use super::server::CallId;

/// What to do with a message from the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forward {
    /// Give the message to the host's server; its answer ends this exchange.
    Request(CallId),
    /// Give the message to the host's server, and this text back under `mcp_response` at once.
    Notification(&'static str),
    /// As [`Notification`](Forward::Notification), and the client waits no more for the answer to
    /// this exchange.
    Cancelled(CallId, &'static str),
    /// No message: answer with this text, the host's server sees nothing.
    Refused(String),
}

/// What to do with a message from the host's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The answer to this exchange: goes back under `mcp_response` of the request that brought it.
    Answer(CallId, String),
    /// Goes to the CLI as an `mcp_message` request of the host's.
    Outgoing(String),
    /// An answer that nobody waits for: double, or the client has cancelled. Dropped.
    Unmatched,
}

/// Why a message of the host's server was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BridgeError {
    /// It is not a JSON-RPC message.
    #[error("not a JSON-RPC message: {0}")]
    Invalid(RpcError),
    /// The bridge was closed.
    #[error("the MCP server is closed")]
    Closed,
}

/// Pairs the requests of the CLI with the answers of an MCP server that the host brings.
#[derive(Debug, Default)]
pub struct Bridge {
    open: Vec<(CallId, String)>,
    last: u64,
    closed: bool,
}

impl Bridge {
    /// A bridge with nothing open.
    pub fn new() -> Self {
        Bridge::default()
    }

    /// Takes one message from the client, the `message` of an `mcp_message` request.
    pub fn receive(&mut self, message: &str) -> Forward {
        match Message::read(message) {
            Message::Request { id, .. } if self.closed => {
                let error = RpcError::new(SERVER_CLOSED, "The MCP server is closed");
                Forward::Refused(error_response(id, &error))
            }
            Message::Request { id, .. } => {
                self.last += 1;
                let exchange = CallId(self.last);
                self.open.push((exchange, id_key(id)));
                Forward::Request(exchange)
            }
            Message::Notification { .. } | Message::Response { .. } if self.closed => {
                Forward::Refused(String::from(ACKNOWLEDGEMENT))
            }
            Message::Notification { method, params } => match self.cancelled(&method, params) {
                Some(exchange) => Forward::Cancelled(exchange, ACKNOWLEDGEMENT),
                None => Forward::Notification(ACKNOWLEDGEMENT),
            },
            Message::Response { .. } => Forward::Notification(ACKNOWLEDGEMENT),
            Message::Invalid { id, error } => Forward::Refused(error_response(id, &error)),
        }
    }

    /// Takes one message that the host's server wrote. Its text goes on unchanged, but on one line.
    pub fn send(&mut self, message: &str) -> Result<Sent, BridgeError> {
        if self.closed {
            return Err(BridgeError::Closed);
        }
        let line = || {
            let mut line = String::with_capacity(message.len());
            push_json(&mut line, message);
            line
        };
        match Message::read(message) {
            Message::Response { id, .. } => Ok(match self.take(&id_key(id)) {
                Some(exchange) => Sent::Answer(exchange, line()),
                None => Sent::Unmatched,
            }),
            Message::Request { .. } | Message::Notification { .. } => Ok(Sent::Outgoing(line())),
            Message::Invalid { error, .. } => Err(BridgeError::Invalid(error)),
        }
    }

    /// Ends the bridge: the exchanges without an answer are handed back. Idempotent.
    pub fn close(&mut self) -> Vec<CallId> {
        self.closed = true;
        let open = core::mem::take(&mut self.open);
        open.into_iter().map(|(exchange, _)| exchange).collect()
    }

    fn cancelled(&mut self, method: &str, params: Option<&str>) -> Option<CallId> {
        if method != "notifications/cancelled" {
            return None;
        }
        let [request] = fields(params?, ["requestId"]).ok()?;
        self.take(&id_key(request?))
    }

    /// The latest exchange under this id: a client that starts anew counts from 0 again.
    fn take(&mut self, id: &str) -> Option<CallId> {
        let at = self.open.iter().rposition(|(_, open)| open == id)?;
        Some(self.open.remove(at).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(bridge: &mut Bridge, id: &str) -> CallId {
        let message =
            alloc::format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{}}}}"#);
        match bridge.receive(&message) {
            Forward::Request(exchange) => exchange,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_find_their_request_in_any_order() {
        let mut bridge = Bridge::new();
        let first = request(&mut bridge, "2");
        let second = request(&mut bridge, r#""2""#);
        let answer = r#"{"jsonrpc":"2.0","id":"2","result":{"content":[]}}"#;
        assert_eq!(bridge.send(answer), Ok(Sent::Answer(second, answer.into())));
        assert_eq!(
            bridge.send("{\n\"jsonrpc\":\"2.0\",\"id\":2.0,\"error\":{}\n}\n"),
            Ok(Sent::Answer(
                first,
                "{ \"jsonrpc\":\"2.0\",\"id\":2.0,\"error\":{} }".into()
            ))
        );
        assert_eq!(bridge.send(answer), Ok(Sent::Unmatched));
    }

    #[test]
    fn everything_else_the_host_writes_goes_out() {
        let mut bridge = Bridge::new();
        for message in [
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{}}"#,
        ] {
            assert_eq!(bridge.send(message), Ok(Sent::Outgoing(message.into())));
        }
        for message in ["", "[]", "{}", r#"{"id":null,"error":{"code":1}}"#] {
            assert!(
                matches!(bridge.send(message), Err(BridgeError::Invalid(_))),
                "{message}"
            );
        }
    }

    #[test]
    fn notifications_and_answers_are_acknowledged_and_passed_on() {
        let mut bridge = Bridge::new();
        for message in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#,
            r#"{"jsonrpc":"2.0","id":"e1","result":{}}"#,
        ] {
            assert_eq!(
                bridge.receive(message),
                Forward::Notification(ACKNOWLEDGEMENT)
            );
        }
        assert!(matches!(bridge.receive("x"), Forward::Refused(text) if text.contains("-32700")));
    }

    #[test]
    fn a_cancelled_request_needs_no_answer() {
        let mut bridge = Bridge::new();
        let exchange = request(&mut bridge, "2");
        assert_eq!(
            bridge.receive(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#
            ),
            Forward::Cancelled(exchange, ACKNOWLEDGEMENT)
        );
        assert_eq!(
            bridge.send(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
            Ok(Sent::Unmatched)
        );
    }

    #[test]
    fn closing_hands_back_what_is_open() {
        let mut bridge = Bridge::new();
        let exchange = request(&mut bridge, "2");
        assert_eq!(bridge.close(), [exchange]);
        assert!(bridge.close().is_empty());
        assert_eq!(
            bridge.send(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#),
            Err(BridgeError::Closed)
        );
        assert!(matches!(
            bridge.receive(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#),
            Forward::Refused(text) if text.contains(r#""id":3,"error":{"code":-32000"#)
        ));
        assert_eq!(
            bridge.receive(r#"{"jsonrpc":"2.0","method":"x"}"#),
            Forward::Refused(ACKNOWLEDGEMENT.into())
        );
    }
}
