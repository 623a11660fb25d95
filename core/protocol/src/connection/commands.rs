//! What the host wants: prompts, requests, answers, the end.

use alloc::format;
use alloc::string::String;

use super::incoming::Open;
use super::{
    CancelReason, Connection, Diagnostic, Event, HandshakeFailure, Input, LocalError, Millis,
    PendingRequest, RequestError, RequestId, RequestKey, RequestKind, State, TurnId, TurnOutcome,
};
use crate::control::answer::{prepare_answer, safe_answer, PermissionResult};
use crate::control::envelope::{self, Priority, UserMessage};
use crate::control::incoming::IncomingKind;
use crate::json::{self, Kind};
use crate::mcp::CallResult;

/// An answer of the host to a request of the CLI.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer<'a> {
    /// To a permission request.
    Permission(PermissionResult<'a>),
    /// A success payload as JSON text, checked against what the CLI takes. To a permission, hook,
    /// elicitation, dialog or other request.
    Json(&'a str),
    /// An error, to any request.
    Error(&'a str),
    /// To a tool call, a resource read or a prompt of an in-process server.
    Call(CallResult<'a>),
    /// A JSON-RPC message, to an MCP message for a server that the host runs itself.
    Mcp(&'a str),
}

impl Connection {
    /// Writes `initialize`, which opens the session. `payload` is the JSON text of its fields, `""`
    /// for none.
    pub fn initialize(&mut self, payload: &str) -> Result<RequestId, LocalError> {
        if self.state != State::Start {
            return Err(LocalError::AlreadyInitialized);
        }
        let id = self.write_request("initialize", payload, self.config.limits.initialize, true)?;
        self.state = self.state.after(Input::InitializeWritten);
        self.handshake = Some(id);
        Ok(id)
    }

    /// Writes a control request (`protocol.md §8`). `payload` is the JSON text of its fields, `""`
    /// for none. Its answer comes as [`Event::Response`].
    pub fn request(&mut self, subtype: &str, payload: &str) -> Result<RequestId, LocalError> {
        self.request_within(subtype, payload, self.config.limits.control_request)
    }

    /// As [`request`](Connection::request), with a time limit of its own in milliseconds.
    pub fn request_within(
        &mut self,
        subtype: &str,
        payload: &str,
        limit: Option<Millis>,
    ) -> Result<RequestId, LocalError> {
        self.check_open()?;
        self.check_queue()?;
        if subtype.is_empty() {
            return Err(LocalError::WrongShape {
                what: "the subtype of a control request",
                expected: "a name",
            });
        }
        self.write_request(subtype, payload, limit, false)
    }

    fn write_request(
        &mut self,
        subtype: &str,
        payload: &str,
        limit: Option<Millis>,
        silent: bool,
    ) -> Result<RequestId, LocalError> {
        let id = RequestId(self.last_request + 1);
        let wire = format!("towline_{}", id.0);
        envelope::write_request(&mut self.out, &wire, subtype, payload)?;
        self.last_request = id.0;
        self.pending.insert(
            wire,
            PendingRequest {
                id,
                subtype: subtype.into(),
                asked: self.now,
                limit,
                silent,
                abandoned: false,
                cancels: None,
            },
        );
        Ok(id)
    }

    /// A request of the library's own: only a refusal is reported.
    pub(super) fn write_silent_request(
        &mut self,
        subtype: &str,
        payload: &str,
    ) -> Result<(), LocalError> {
        let limit = self.config.limits.control_request;
        self.write_request(subtype, payload, limit, true)
            .map(|_| ())
    }

    pub(super) fn interrupt_silently(&mut self) {
        if self.state.takes_input() {
            if let Err(error) = self.write_silent_request("interrupt", "") {
                self.diagnose(Diagnostic::Refused(format!("{error}")));
            }
        }
    }

    /// Withdraws a control request: the CLI aborts what it can and answers with an error, which
    /// still comes as [`Event::Response`]. `false` when it was answered already.
    pub fn cancel_request(&mut self, id: RequestId) -> bool {
        let mut waiting = self.pending.iter();
        let Some((wire, _)) = waiting.find(|(_, request)| request.id == id && !request.abandoned)
        else {
            return false;
        };
        if self.state.takes_input() {
            envelope::write_cancel_request(&mut self.out, wire);
        }
        true
    }

    /// Withdraws a control request whose answer nobody wants any more.
    pub fn abandon_request(&mut self, id: RequestId) {
        let found = self.pending.iter().find(|(_, request)| request.id == id);
        let Some(wire) = found.map(|(wire, _)| wire.clone()) else {
            return;
        };
        if self.state.takes_input() {
            envelope::write_cancel_request(&mut self.out, &wire);
        }
        if let Some(request) = self.pending.get_mut(&wire) {
            request.abandoned = true;
        }
    }

    pub(super) fn request_timed_out(&mut self, wire: &str, limit: Millis) {
        let Some(request) = self.pending.get_mut(wire) else {
            return;
        };
        if request.abandoned || self.handshake == Some(request.id) {
            let handshake = self.handshake == Some(request.id);
            self.pending.remove(wire);
            if handshake {
                self.handshake_failed(HandshakeFailure::TimedOut(limit));
            }
            return;
        }
        // The CLI answers a withdrawn request too; for as long again that is expected.
        request.abandoned = true;
        request.asked = self.now;
        let (id, silent, subtype) = (request.id, request.silent, request.subtype.clone());
        if self.state.takes_input() {
            envelope::write_cancel_request(&mut self.out, wire);
        }
        let error = RequestError::TimedOut {
            subtype: subtype.clone(),
            limit_ms: limit,
        };
        self.answered(id, silent, subtype, Err(error));
    }

    /// Writes a prompt. Give each a fresh UUID: a CLI that knows them (2.1.332) names it in
    /// everything that comes of it, so that the leftovers of one turn are never taken for another's.
    /// One that does not (2.1.197) gets a prompt when the turn before is over, unless its priority
    /// is `now`.
    pub fn send_user(&mut self, message: &UserMessage<'_>) -> Result<TurnId, LocalError> {
        self.check_open()?;
        self.check_queue()?;
        if let Some(uuid) = message
            .uuid
            .as_deref()
            .filter(|uuid| self.turns.knows(uuid))
        {
            return Err(LocalError::DuplicateUuid(uuid.into()));
        }
        let mut line = String::new();
        let wait = message.priority != Some(Priority::Now) && self.prompts_wait();
        message.write(if wait { &mut line } else { &mut self.out })?;
        Ok(self.prompt_sent(message.uuid.as_deref(), wait.then_some(line)))
    }

    /// Begins the turn of a prompt that was written, or that waits.
    fn prompt_sent(&mut self, uuid: Option<&str>, waiting: Option<String>) -> TurnId {
        self.one_shot.prompt_sent();
        let turn = self.turns.add(uuid, self.now);
        if let Some(line) = waiting {
            self.turns.waits(turn);
            self.waiting.add(turn, line);
        }
        turn
    }

    /// Writes a user message given as a whole JSON object, as [`send_user`](Connection::send_user).
    /// A `uuid` in it is used; otherwise `fresh_uuid` is added.
    pub fn send_user_json(
        &mut self,
        message: &str,
        fresh_uuid: &str,
    ) -> Result<TurnId, LocalError> {
        self.check_open()?;
        self.check_queue()?;
        let (mut uuid, mut now) = (None, false);
        json::members(message, |name, value| match name {
            "uuid" => uuid = json::string(value),
            "priority" => now = json::string(value).as_deref() == Some("now"),
            _ => {}
        })
        .map_err(|error| LocalError::InvalidJson {
            what: "the user message",
            error,
        })?;
        if let Some(uuid) = uuid.as_deref().filter(|uuid| self.turns.knows(uuid)) {
            return Err(LocalError::DuplicateUuid(uuid.into()));
        }
        let mut line = String::new();
        let wait = !now && self.prompts_wait();
        let out = if wait { &mut line } else { &mut self.out };
        match uuid.as_deref() {
            Some(_) => UserMessage::write_json(message, out)?,
            None => {
                let mut named = String::from("{\"uuid\":");
                json::push_string(&mut named, fresh_uuid);
                let rest = message.trim_start().strip_prefix('{').unwrap_or_default();
                if !rest.trim_start().starts_with('}') {
                    named.push(',');
                }
                named.push_str(rest);
                UserMessage::write_json(&named, out)?;
            }
        }
        let uuid = uuid.as_deref().unwrap_or(fresh_uuid);
        Ok(self.prompt_sent(Some(uuid), wait.then_some(line)))
    }

    /// Takes back a prompt whose turn has not begun (`cancel_async_message`). Its answer comes as
    /// [`Event::Response`], the turn's end as [`Event::TurnEnded`]. One that was not written yet
    /// ends at once, and the CLI answers that it does not know it.
    pub fn cancel_turn(&mut self, turn: TurnId) -> Result<RequestId, LocalError> {
        let uuid = self.turns.uuid(turn).ok_or(LocalError::UnknownTurn(turn))?;
        let mut payload = String::from("{\"message_uuid\":");
        json::push_string(&mut payload, uuid);
        payload.push('}');
        let id = self.request("cancel_async_message", &payload)?;
        if self.waiting.remove(turn) {
            self.turn_cancelled(turn);
        } else if let Some(request) = self.pending.values_mut().find(|request| request.id == id) {
            request.cancels = Some(turn);
        }
        Ok(id)
    }

    /// The prompt of this turn never reaches the model.
    pub(super) fn turn_cancelled(&mut self, turn: TurnId) {
        for turn in self.turns.end(turn) {
            self.push(Event::TurnEnded {
                turn,
                outcome: TurnOutcome::Cancelled,
            });
        }
        self.turn_is_over();
    }

    /// After the end of a turn.
    pub(super) fn turn_is_over(&mut self) {
        self.release_prompts();
        self.one_shot_settles();
    }

    /// Ends the host's input: what is queued is written, then stdin is to be ended
    /// ([`wants_end_of_input`](Connection::wants_end_of_input)). What is under way goes on to its
    /// end, but later requests of the CLI do not come any more (`protocol.md §11`).
    pub fn finish_input(&mut self) {
        self.state = self.state.after(Input::Finish);
        self.finish = true;
        self.one_shot.done();
    }

    /// Ends the input by itself as soon as the CLI needs nothing more of the host: at once, or,
    /// when `needs_host` (hooks, in-process servers or permission requests exist), when the prompts
    /// sent so far and the background agents they started have settled (`protocol.md §11`).
    pub fn finish_when_settled(&mut self, needs_host: bool) {
        if needs_host {
            self.one_shot.want(self.turns.any_open(), self.now);
            self.one_shot_settles();
        } else {
            self.finish_input();
        }
    }

    pub(super) fn one_shot_settles(&mut self) {
        if self.one_shot.settled() && !self.turns.any_open() {
            self.finish_input();
        }
    }

    /// Answers a request of the CLI. Nothing is written when this fails; after
    /// [`LocalError::WrongAnswer`] the request is still open.
    pub fn respond(&mut self, key: RequestKey, answer: &Answer<'_>) -> Result<(), LocalError> {
        let open = self.open.get(key)?;
        if let (
            RequestKind::ToolCall { .. }
            | RequestKind::ResourceRead { .. }
            | RequestKind::PromptGet { .. },
            answer,
        ) = (&open.kind, answer)
        {
            return self.answer_call(key, answer);
        }
        let start = self.out.len();
        let written = write_answer(&mut self.out, open, answer);
        match written {
            Ok(()) => {
                self.answered_by_host(key);
                Ok(())
            }
            Err(error) => {
                self.out.truncate(start);
                Err(error)
            }
        }
    }

    fn answer_call(&mut self, key: RequestKey, answer: &Answer<'_>) -> Result<(), LocalError> {
        let open = self.open.get(key)?;
        let result = match answer {
            Answer::Call(result) => result.clone(),
            Answer::Json(text) => CallResult::json(*text),
            Answer::Error(text) => CallResult::error(*text),
            Answer::Permission(_) | Answer::Mcp(_) => {
                return Err(LocalError::WrongAnswer {
                    kind: open.kind.name(),
                    reason: "it takes a result of the call".into(),
                })
            }
        };
        let reply = self.servers.finish(&open.kind, &result)?;
        write_mcp_response(&mut self.out, open, &reply)?;
        self.answered_by_host(key);
        Ok(())
    }

    fn answered_by_host(&mut self, key: RequestKey) {
        self.open.answered(key);
        self.turns.answered(self.now);
    }

    /// Answers a request so that nothing passes: permissions are denied, hooks report an error,
    /// calls get an error result, elicitations are cancelled.
    pub fn respond_safely(&mut self, key: RequestKey, reason: &str) -> Result<(), LocalError> {
        let open = self.open.get(key)?;
        let kinds: alloc::vec::Vec<&str> = self
            .config
            .dialog_kinds
            .iter()
            .map(String::as_str)
            .collect();
        let answer = match &open.kind {
            RequestKind::ToolCall { .. }
            | RequestKind::ResourceRead { .. }
            | RequestKind::PromptGet { .. } => {
                return self.answer_call(key, &Answer::Error(reason));
            }
            _ => {
                let request = open.message.body().unwrap_or("{}");
                safe_answer(wire_kind(&open.kind), request, reason, &kinds)
            }
        };
        if let Some(id) = open.wire_id() {
            envelope::write_answer(&mut self.out, &id, &answer)?;
        }
        self.answered_by_host(key);
        Ok(())
    }

    pub(super) fn answer_safely(&mut self, key: RequestKey, why: &str, reason: CancelReason) {
        if let Err(error) = self.respond_safely(key, why) {
            self.diagnose(Diagnostic::Refused(format!("{error}")));
        }
        self.open.remember_withdrawn(key);
        self.push(Event::RequestCancelled { key, reason });
    }

    /// Answers every open request as [`respond_safely`](Connection::respond_safely) does, since the
    /// host is about to end the session and nobody will answer any more.
    pub fn refuse_open_requests(&mut self) {
        for key in self.open.keys() {
            self.answer_safely(key, "The session is closing", CancelReason::SessionEnded);
        }
    }

    /// Whether a request still waits for its answer.
    pub fn is_request_open(&self, key: RequestKey) -> bool {
        self.open.get(key).is_ok()
    }

    fn check_open(&self) -> Result<(), LocalError> {
        match self.state {
            State::Ended | State::Failed => Err(LocalError::Ended),
            State::Finishing => Err(LocalError::InputFinished),
            State::Start | State::Handshake | State::Open if self.finish => {
                Err(LocalError::InputFinished)
            }
            State::Start | State::Handshake | State::Open => Ok(()),
        }
    }

    fn check_queue(&self) -> Result<(), LocalError> {
        let queued = self.outgoing().len() + self.waiting.bytes();
        let limit = self.config.queue_limit;
        if queued > limit {
            Err(LocalError::QueueFull { queued, limit })
        } else {
            Ok(())
        }
    }
}

fn wire_kind(kind: &RequestKind) -> IncomingKind {
    match kind {
        RequestKind::Permission => IncomingKind::CanUseTool,
        RequestKind::Hook { .. } => IncomingKind::HookCallback,
        RequestKind::Elicitation => IncomingKind::Elicitation,
        RequestKind::Dialog => IncomingKind::UserDialog,
        RequestKind::Other { subtype } => IncomingKind::of(subtype),
        RequestKind::McpMessage { .. }
        | RequestKind::ToolCall { .. }
        | RequestKind::ResourceRead { .. }
        | RequestKind::PromptGet { .. } => IncomingKind::McpMessage,
    }
}

fn write_answer(out: &mut String, open: &Open, answer: &Answer<'_>) -> Result<(), LocalError> {
    let wrong = |reason: &str| LocalError::WrongAnswer {
        kind: open.kind.name(),
        reason: reason.into(),
    };
    let Some(id) = open.wire_id() else {
        return Ok(());
    };
    let request = open.message.body().unwrap_or("{}");
    match (answer, &open.kind) {
        (Answer::Error(text), _) => envelope::write_error_response(out, &id, text),
        (Answer::Permission(result), RequestKind::Permission) => {
            let (mut input, mut tool_use_id) = ("{}", None);
            // A request that is no object never gets this far.
            let _ = json::members(request, |name, value| match name {
                "input" if Kind::of(value) == Some(Kind::Object) => input = value,
                "tool_use_id" => tool_use_id = json::string(value),
                _ => {}
            });
            envelope::write_permission_response(out, &id, result, input, tool_use_id.as_deref())?;
        }
        (Answer::Json(text), RequestKind::McpMessage { .. }) => {
            write_mcp_response(out, open, text)?
        }
        (Answer::Mcp(text), RequestKind::McpMessage { .. }) => write_mcp_response(out, open, text)?,
        (Answer::Json(text), kind) => {
            let payload = prepare_answer(wire_kind(kind), request, text)?;
            envelope::write_success_response(out, &id, &payload)?;
        }
        (Answer::Permission(_), _) => {
            return Err(wrong("allow and deny answer a permission request"))
        }
        (Answer::Call(_), _) => return Err(wrong("a call result answers a tool call")),
        (Answer::Mcp(_), _) => return Err(wrong("a JSON-RPC message answers an MCP message")),
    }
    Ok(())
}

fn write_mcp_response(out: &mut String, open: &Open, message: &str) -> Result<(), LocalError> {
    let Some(id) = open.wire_id() else {
        return Ok(());
    };
    let mut payload = String::with_capacity(message.len() + 20);
    payload.push_str("{\"mcp_response\":");
    payload.push_str(message);
    payload.push('}');
    envelope::write_success_response(out, &id, &payload)?;
    Ok(())
}
