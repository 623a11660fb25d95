//! What the CLI asks: sorted, checked for what every answer needs, and kept until answered.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::{
    CancelReason, Connection, Diagnostic, Event, LocalError, Millis, Request, RequestKey,
    RequestKind,
};
use crate::control::envelope::{self, CancelRequest, IncomingRequest};
use crate::control::incoming::IncomingKind;
use crate::framing::RawMessage;
use crate::json::{self, Kind};
use crate::launch::Dialect;

/// Withdrawn requests that are remembered, to tell a late answer from a second one.
const REMEMBERED: usize = 256;

/// Requests of the CLI whose answers are known when it repeats them.
const ECHOED: usize = 64;

/// The code of an answer to a request of a subtype that is not known here.
const UNSUPPORTED: &str = "unsupported_request";

/// A request that waits for the host's answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) kind: RequestKind,
    pub(super) message: RawMessage,
    /// Where in the line the JSON text of its id stands.
    id: Range<usize>,
    asked: Millis,
}

impl Open {
    /// The id to answer under.
    pub(super) fn wire_id(&self) -> Option<envelope::RequestId<'_>> {
        envelope::RequestId::from_json(self.message.json().get(self.id.clone())?)
    }
}

/// Where the id stands in the line of a request.
fn place_of_id(line: &str) -> Range<usize> {
    let Some(id) = IncomingRequest::id_of(line) else {
        return 0..0;
    };
    place_of(id.json(), line)
}

fn place_of(part: &str, line: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    start..start + part.len()
}

/// All requests that wait for the host's answer.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    by_key: BTreeMap<RequestKey, Open>,
    last: u64,
    withdrawn: VecDeque<RequestKey>,
    /// Wire ids of the newest requests, answered or not.
    asked: VecDeque<String>,
}

impl OpenRequests {
    fn add(
        &mut self,
        kind: RequestKind,
        message: RawMessage,
        id: Range<usize>,
        now: Millis,
    ) -> RequestKey {
        self.last += 1;
        let key = RequestKey(self.last);
        let open = Open {
            kind,
            id,
            message,
            asked: now,
        };
        self.by_key.insert(key, open);
        key
    }

    pub(super) fn any(&self) -> bool {
        !self.by_key.is_empty()
    }

    pub(super) fn get(&self, key: RequestKey) -> Result<&Open, LocalError> {
        self.by_key.get(&key).ok_or_else(|| {
            if key.0 == 0 || key.0 > self.last {
                LocalError::UnknownRequest(key)
            } else if self.withdrawn.contains(&key) {
                LocalError::Withdrawn
            } else {
                LocalError::AlreadyAnswered
            }
        })
    }

    pub(super) fn answered(&mut self, key: RequestKey) {
        self.by_key.remove(&key);
    }

    fn note_asked(&mut self, wire: String) {
        if self.asked.len() == ECHOED {
            self.asked.pop_front();
        }
        self.asked.push_back(wire);
    }

    /// Whether the CLI made a request of this wire id lately.
    pub(super) fn was_asked(&self, wire: &str) -> bool {
        self.asked.iter().rev().any(|id| id == wire)
    }

    fn withdraw(&mut self, key: RequestKey) {
        if self.by_key.remove(&key).is_some() {
            self.remember_withdrawn(key);
        }
    }

    /// A late answer to this one is harmless.
    pub(super) fn remember_withdrawn(&mut self, key: RequestKey) {
        self.withdrawn.push_back(key);
        if self.withdrawn.len() > REMEMBERED {
            self.withdrawn.pop_front();
        }
    }

    fn find(&self, wanted: impl Fn(&Open) -> bool) -> Option<RequestKey> {
        let found = self.by_key.iter().find(|(_, open)| wanted(open));
        found.map(|(key, _)| *key)
    }

    pub(super) fn asked(&self) -> impl Iterator<Item = Millis> + '_ {
        self.by_key.values().map(|open| open.asked)
    }

    pub(super) fn older_than(&self, now: Millis, limit: Millis) -> Vec<RequestKey> {
        let old = |open: &Open| now.saturating_sub(open.asked) >= limit;
        let found = self.by_key.iter().filter(|(_, open)| old(open));
        found.map(|(key, _)| *key).collect()
    }

    /// The keys of what is asked of an in-process server.
    pub(super) fn of_server(&self, wanted: &str) -> Vec<RequestKey> {
        let of_it = |open: &Open| {
            matches!(
                &open.kind,
                RequestKind::McpMessage { server }
                | RequestKind::ToolCall { server, .. }
                | RequestKind::ResourceRead { server, .. }
                | RequestKind::PromptGet { server, .. } if server == wanted
            )
        };
        let found = self.by_key.iter().filter(|(_, open)| of_it(open));
        found.map(|(key, _)| *key).collect()
    }

    /// The keys of all that is open.
    pub(super) fn keys(&self) -> Vec<RequestKey> {
        self.by_key.keys().copied().collect()
    }

    /// The session is over: the keys of all that was open.
    pub(super) fn close(&mut self) -> Vec<RequestKey> {
        let keys = self.keys();
        for key in &keys {
            self.withdraw(*key);
        }
        keys
    }
}

impl Connection {
    pub(super) fn control_request(&mut self, message: RawMessage) {
        let json = message.json();
        let read = match IncomingRequest::read(json) {
            Ok(read) => read,
            Err(error) => {
                if let Some(id) = IncomingRequest::id_of(json) {
                    envelope::write_error_response(&mut self.out, &id, &error.to_string());
                }
                return self.diagnose(Diagnostic::BadRequest {
                    reason: error.to_string(),
                });
            }
        };
        self.open.note_asked(read.request_id.key().into_owned());
        let kind = match self.kind_of(&read) {
            Sorted::Host(kind) => kind,
            Sorted::Server {
                server,
                message: text,
            } => {
                let (server, text) = (server.to_string(), text.to_string());
                return self.mcp_message(message.clone(), &server, &text);
            }
            Sorted::Safe(reason) => {
                let kinds: Vec<&str> = self
                    .config
                    .dialog_kinds
                    .iter()
                    .map(String::as_str)
                    .collect();
                let kind = IncomingKind::of(&read.subtype);
                let answer =
                    crate::control::answer::safe_answer(kind, read.request, &reason, &kinds);
                if let Err(error) = envelope::write_answer(&mut self.out, &read.request_id, &answer)
                {
                    self.diagnose(Diagnostic::Refused(error.to_string()));
                }
                return;
            }
            Sorted::Ready(payload) => {
                let written =
                    envelope::write_success_response(&mut self.out, &read.request_id, payload);
                if let Err(error) = written {
                    self.diagnose(Diagnostic::Refused(error.to_string()));
                }
                return;
            }
            Sorted::Unsupported => {
                let reason = unsupported(&read.subtype);
                // The Python package sends no code.
                let code = (self.config.dialect != Dialect::Python).then_some(UNSUPPORTED);
                let id = &read.request_id;
                return envelope::write_coded_error_response(&mut self.out, id, &reason, code);
            }
            Sorted::Refused(reason) => {
                envelope::write_error_response(&mut self.out, &read.request_id, &reason);
                return self.diagnose(Diagnostic::BadRequest { reason });
            }
        };
        let id = place_of(read.request_id.json(), json);
        self.ask_host_under(id, kind, message);
    }

    pub(super) fn ask_host(&mut self, kind: RequestKind, message: RawMessage) {
        let id = place_of_id(message.json());
        self.ask_host_under(id, kind, message);
    }

    fn ask_host_under(&mut self, id: Range<usize>, kind: RequestKind, message: RawMessage) {
        let key = self.open.add(kind.clone(), message.clone(), id, self.now);
        self.push(Event::Request(Request { key, kind, message }));
    }

    fn kind_of<'a>(&self, read: &IncomingRequest<'a>) -> Sorted<'a> {
        let fields = Fields::of(read.request);
        match IncomingKind::of(&read.subtype) {
            IncomingKind::CanUseTool if !fields.names_a_tool => {
                Sorted::Refused("can_use_tool: tool_name is missing or not a string".into())
            }
            IncomingKind::CanUseTool if self.config.permission => {
                Sorted::Host(RequestKind::Permission)
            }
            IncomingKind::CanUseTool => {
                Sorted::Safe("This host answers no permission requests".into())
            }
            IncomingKind::HookCallback => {
                let id = fields.callback_id.and_then(json::string);
                let Some(id) = id else {
                    return Sorted::Refused(
                        "hook_callback: callback_id is missing or not a string".into(),
                    );
                };
                match &self.config.hook_callbacks {
                    Some(known) if !known.contains(id.as_ref()) => Sorted::Refused(format!(
                        "hook_callback: no hook callback has the id {id:?}"
                    )),
                    _ => Sorted::Host(RequestKind::Hook {
                        callback_id: id.into_owned(),
                    }),
                }
            }
            IncomingKind::McpMessage => {
                let server = fields.server_name.and_then(json::string);
                let message = fields
                    .message
                    .filter(|text| Kind::of(text) == Some(Kind::Object));
                match (server, message) {
                    (Some(server), Some(message)) => Sorted::Server { server, message },
                    (None, _) => Sorted::Refused(
                        "mcp_message: server_name is missing or not a string".into(),
                    ),
                    (_, None) => {
                        Sorted::Refused("mcp_message: message is missing or not an object".into())
                    }
                }
            }
            IncomingKind::Elicitation if self.config.elicitation => {
                Sorted::Host(RequestKind::Elicitation)
            }
            IncomingKind::Elicitation if self.config.dialect == Dialect::TypeScript => {
                Sorted::Ready(r#"{"action":"decline"}"#)
            }
            IncomingKind::Elicitation => Sorted::Safe("This host answers no elicitations".into()),
            IncomingKind::UserDialog => {
                let kind = fields.dialog_kind.and_then(json::string);
                let declared =
                    |kind: &str| self.config.dialog_kinds.iter().any(|known| known == kind);
                match kind.as_deref().is_some_and(declared) {
                    true => Sorted::Host(RequestKind::Dialog),
                    false => Sorted::Safe("This host shows no such dialog".into()),
                }
            }
            _ if self.config.catch_all => Sorted::Host(RequestKind::Other {
                subtype: read.subtype.clone().into_owned(),
            }),
            IncomingKind::Unknown => Sorted::Unsupported,
            _ => Sorted::Safe(unsupported(&read.subtype)),
        }
    }

    /// Requests that the CLI made of a host before this one and that still wait: they stand beside
    /// the answer to `initialize`. One that was heard of on its own is not asked twice.
    pub(super) fn pending_requests(&mut self, waiting: &[Option<&str>]) {
        for list in waiting.iter().flatten() {
            let mut requests = Vec::new();
            // The list was validated with its line; what is no list holds nothing.
            let _ = json::elements(list, |request| requests.push(request));
            for request in requests {
                let known = IncomingRequest::id_of(request)
                    .is_some_and(|id| self.open.was_asked(id.key().as_ref()));
                if known {
                    continue;
                }
                match RawMessage::from_text(request) {
                    Ok(message) => self.control_request(message),
                    Err(error) => self.diagnose(Diagnostic::BadRequest {
                        reason: error.to_string(),
                    }),
                }
            }
        }
    }

    pub(super) fn control_cancel_request(&mut self, message: &RawMessage) {
        let Ok(cancel) = CancelRequest::read(message.json()) else {
            return self.diagnose(Diagnostic::BadRequest {
                reason: "control_cancel_request: request_id is missing".into(),
            });
        };
        let wanted = cancel.request_id.key();
        let found = self
            .open
            .find(|open| open.wire_id().is_some_and(|id| id.key() == wanted));
        // One that is answered or unknown needs no cancelling.
        if let Some(key) = found {
            self.withdraw(key);
        }
    }

    pub(super) fn withdraw_call(&mut self, server: &str, cancelled: crate::mcp::CallId) {
        let found = self.open.find(|open| match &open.kind {
            RequestKind::ToolCall {
                server: name, call, ..
            }
            | RequestKind::ResourceRead { server: name, call }
            | RequestKind::PromptGet {
                server: name, call, ..
            } => name == server && *call == cancelled,
            _ => false,
        });
        if let Some(key) = found {
            self.withdraw(key);
        }
    }

    pub(super) fn withdraw(&mut self, key: RequestKey) {
        self.open.withdraw(key);
        self.turns.answered(self.now);
        self.push(Event::RequestCancelled {
            key,
            reason: CancelReason::Withdrawn,
        });
    }

    /// The open request for an MCP message of this server with this key of a bridge exchange.
    pub(super) fn find_bridged(
        &self,
        server: &str,
        exchange: crate::mcp::CallId,
    ) -> Option<RequestKey> {
        let key = self.servers.exchange_key(server, exchange)?;
        self.open.get(key).is_ok().then_some(key)
    }

    pub(super) fn last_key(&self) -> RequestKey {
        RequestKey(self.open.last)
    }
}

fn unsupported(subtype: &str) -> String {
    format!("Unsupported control request subtype: {subtype}")
}

/// What a request of any subtype is sorted by.
#[derive(Default)]
struct Fields<'a> {
    names_a_tool: bool,
    callback_id: Option<&'a str>,
    server_name: Option<&'a str>,
    message: Option<&'a str>,
    dialog_kind: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn of(request: &'a str) -> Fields<'a> {
        let mut fields = Fields::default();
        // The request was validated with its line.
        let _ = json::members(request, |name, value| match name {
            "tool_name" => fields.names_a_tool = Kind::of(value) == Some(Kind::String),
            "callback_id" => fields.callback_id = Some(value),
            "server_name" => fields.server_name = Some(value),
            "message" => fields.message = Some(value),
            "dialog_kind" => fields.dialog_kind = Some(value),
            _ => {}
        });
        fields
    }
}

/// Where a request goes.
enum Sorted<'a> {
    Host(RequestKind),
    Server {
        server: alloc::borrow::Cow<'a, str>,
        message: &'a str,
    },
    /// The safe answer, for this reason.
    Safe(String),
    /// A success with this payload.
    Ready(&'static str),
    /// No subtype that is known here.
    Unsupported,
    /// An error, for this reason.
    Refused(String),
}
