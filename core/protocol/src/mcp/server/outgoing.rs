//! What the server says by itself. It waits in a queue until the owner sends it to the CLI as an
//! `mcp_message` request of the host's (recording `sdk_mcp_server_push`).

use alloc::string::String;

use super::super::jsonrpc::{call, push_display, push_json};
use super::{CallId, Feature, LogLevel, RequestError, Server, ServerRequestId};
use crate::json::{members, push_string, validate, ScanError};

impl Server {
    /// The next JSON-RPC message for the client.
    pub fn poll_outgoing(&mut self) -> Option<String> {
        self.outgoing.pop_front()
    }

    /// Reports how far a call has come. `false`, and nothing is sent, when the client asked for no
    /// progress, when the call is no longer open, or when a number is not finite.
    pub fn progress(
        &mut self,
        call: CallId,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        let token = self
            .calls
            .get(&call)
            .and_then(|pending| pending.progress_token.as_deref());
        let Some(token) = token else {
            return false;
        };
        if !progress.is_finite() || total.is_some_and(|total| !total.is_finite()) {
            return false;
        }
        let mut params = String::from(r#"{"progressToken":"#);
        push_json(&mut params, token);
        params.push_str(r#","progress":"#);
        push_display(&mut params, progress);
        if let Some(total) = total {
            params.push_str(r#","total":"#);
            push_display(&mut params, total);
        }
        if let Some(message) = message {
            params.push_str(r#","message":"#);
            push_string(&mut params, message);
        }
        params.push('}');
        self.push("notifications/progress", Some(&params));
        true
    }

    /// Sends a log message; `data` is JSON text. `false`, and nothing is sent, below the level that
    /// the client has set, and when [`Feature::Logging`] was not announced.
    pub fn log(
        &mut self,
        level: LogLevel,
        logger: Option<&str>,
        data: &str,
    ) -> Result<bool, ScanError> {
        validate(data)?;
        if level < self.log_level || !self.has_announced(Feature::Logging) || self.closed {
            return Ok(false);
        }
        let mut params = String::from(r#"{"level":"#);
        push_string(&mut params, level.name());
        if let Some(logger) = logger {
            params.push_str(r#","logger":"#);
            push_string(&mut params, logger);
        }
        params.push_str(r#","data":"#);
        push_json(&mut params, data);
        params.push('}');
        self.push("notifications/message", Some(&params));
        Ok(true)
    }

    /// Sends a notification; `params` is the JSON text of an object.
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), RequestError> {
        self.check(params)?;
        self.push(method, params);
        Ok(())
    }

    /// Asks the client something: `roots/list`, `sampling/createMessage`, `elicitation/create`.
    /// The answer comes as [`Received::Response`](super::Received::Response); the CLI refuses
    /// elicitation from an in-process server (recording `sdk_mcp_server_push`).
    pub fn request(
        &mut self,
        method: &str,
        params: Option<&str>,
    ) -> Result<ServerRequestId, RequestError> {
        self.check(params)?;
        self.last_request += 1;
        let id = ServerRequestId(self.last_request);
        self.requests.push(id);
        self.outgoing
            .push_back(call(Some(self.last_request), method, params));
        Ok(id)
    }

    /// Takes a request back; `false` when it has its answer. A later answer is ignored.
    pub fn cancel_request(&mut self, request: ServerRequestId, reason: Option<&str>) -> bool {
        let Some(at) = self.requests.iter().position(|open| *open == request) else {
            return false;
        };
        self.requests.swap_remove(at);
        let mut params = String::from(r#"{"requestId":"#);
        push_display(&mut params, request.0);
        if let Some(reason) = reason {
            params.push_str(r#","reason":"#);
            push_string(&mut params, reason);
        }
        params.push('}');
        self.push("notifications/cancelled", Some(&params));
        true
    }

    /// Queues a `list_changed`, unless one waits already or the client has seen no list yet.
    pub(super) fn list_changed(&mut self, feature: Feature) {
        if !self.has_announced(feature) || self.closed {
            return;
        }
        let method = match feature {
            Feature::Tools => "notifications/tools/list_changed",
            Feature::Resources => "notifications/resources/list_changed",
            Feature::Prompts => "notifications/prompts/list_changed",
            Feature::Logging => return,
        };
        let message = call(None, method, None);
        if !self.outgoing.contains(&message) {
            self.outgoing.push_back(message);
        }
    }

    fn has_announced(&self, feature: Feature) -> bool {
        self.announced & feature as u8 != 0
    }

    fn check(&self, params: Option<&str>) -> Result<(), RequestError> {
        if self.closed {
            return Err(RequestError::Closed);
        }
        params.map_or(Ok(()), |params| {
            members(params, |_, _| ()).map_err(RequestError::Params)
        })
    }

    fn push(&mut self, method: &str, params: Option<&str>) {
        self.outgoing.push_back(call(None, method, params));
    }
}
