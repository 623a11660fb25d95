//! What the CLI writes, line by line.

use alloc::string::{String, ToString};

use super::{
    Connection, Diagnostic, Event, HandshakeFailure, Input, Mirrored, RequestError, RequestId,
    Response, TurnOutcome,
};
use crate::control::envelope::{self, ResponseBody};
use crate::framing::{Frame, HeadError, Line, MessageType, RawMessage};
use crate::json;
use crate::message::ResultMessage;

/// How much of a line that is no message a diagnostic shows, in bytes.
const SHOWN: usize = 1000;

impl Connection {
    pub(super) fn frame(&mut self, frame: Frame) {
        self.lines_read += 1;
        let line = match frame {
            Frame::Line(line) => line,
            Frame::TooLong(length) => {
                let limit = self.config.line_limit;
                self.diagnose(Diagnostic::LineTooLong { length, limit });
                // The answer is the longest line that a CLI writes so early. Without it nothing
                // would happen until the time for it is over.
                if self.handshake.is_some() {
                    self.handshake_failed(HandshakeFailure::TooLong { length, limit });
                }
                return;
            }
        };
        match RawMessage::scan(line.clone()) {
            Ok(message) => self.message(message),
            Err(error) => self.no_message(&line, error),
        }
    }

    fn no_message(&mut self, line: &Line, error: HeadError) {
        if line.as_bytes().iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if core::str::from_utf8(line.as_bytes()).is_err() {
            if let Some(message) = RawMessage::repaired(line) {
                self.diagnose(Diagnostic::NotUtf8 {
                    message_type: message.message_type().to_string(),
                });
                return self.message(message);
            }
        }
        let shown = line.as_bytes().get(..SHOWN).unwrap_or(line.as_bytes());
        self.diagnose(Diagnostic::NotAMessage {
            reason: error.to_string(),
            line: String::from_utf8_lossy(shown).into_owned(),
        });
    }

    fn message(&mut self, message: RawMessage) {
        match message.kind() {
            MessageType::ControlRequest => self.control_request(message),
            MessageType::ControlResponse => self.control_response(message),
            MessageType::ControlCancelRequest => self.control_cancel_request(&message),
            MessageType::KeepAlive => {}
            _ => self.conversation(message),
        }
    }

    fn conversation(&mut self, message: RawMessage) {
        if self.config.mirror {
            match message.kind() {
                MessageType::TranscriptMirror => {
                    return self.mirrored.push_back(Mirrored::Lines(message))
                }
                MessageType::Result => self.mirrored.push_back(Mirrored::Result),
                _ => {}
            }
        }
        if message.kind() != MessageType::StreamEvent {
            self.note_session(&message);
            self.note_by_type(&message);
        }
        let (turn, ended) = self.turns.attribute(&message, self.now);
        let lifecycle = message.kind() == MessageType::CommandLifecycle;
        let result = (!ended.is_empty() && !lifecycle).then(|| message.clone());
        self.push(Event::Message { message, turn });
        for turn in ended {
            let outcome = match &result {
                Some(result) => TurnOutcome::Result(result.clone()),
                None => TurnOutcome::Cancelled,
            };
            self.push(Event::TurnEnded { turn, outcome });
        }
        self.turn_is_over();
    }

    fn note_by_type(&mut self, message: &RawMessage) {
        if message.kind() == MessageType::Result {
            self.last_error = error_text(message);
            if self.handshake.is_some() && !self.last_error.is_empty() {
                let failure = HandshakeFailure::Result(self.last_error.clone());
                self.handshake_failed(failure);
            }
        } else if message.subtype() == Some("init") && self.cli_version.is_none() {
            let version = message.pointer("/claude_code_version").ok().flatten();
            let version = version.and_then(json::string).map(|text| text.into_owned());
            self.note_version(version);
        }
        self.one_shot.note(message, self.now);
    }

    pub(super) fn handshake_failed(&mut self, failure: HandshakeFailure) {
        self.handshake = None;
        self.failure.get_or_insert(failure);
        self.state = self.state.after(Input::InitializeFailed);
        self.waiting.clear();
        self.finish = true;
    }

    fn control_response(&mut self, message: RawMessage) {
        let Ok(response) = envelope::Response::read(message.json()) else {
            return self.diagnose(Diagnostic::UnexpectedResponse {
                request_id: String::new(),
            });
        };
        let wire = response.request_id.key();
        let Some(request) = self.pending.remove(wire.as_ref()) else {
            let request_id = wire.into_owned();
            // With --replay-user-messages the CLI repeats what the host answers.
            if !self.open.was_asked(&request_id) {
                self.diagnose(Diagnostic::UnexpectedResponse { request_id });
            }
            return;
        };
        let cancelled = request.cancels.filter(|_| {
            let told = message.body().unwrap_or_default();
            json::pointer(told, "/response/cancelled").ok().flatten() == Some("true")
        });
        let result = match response.body {
            ResponseBody::Success { .. } => Ok(()),
            ResponseBody::Error { message, code } => Err(super::RemoteError {
                subtype: request.subtype.clone(),
                message: message.into_owned(),
                code: code.map(|code| code.into_owned()),
            }),
        };
        if self.handshake == Some(request.id) {
            match &result {
                Ok(()) => {
                    self.handshake = None;
                    self.state = self.state.after(Input::InitializeAnswered);
                    let version = json::pointer(
                        message.body().unwrap_or_default(),
                        "/response/claude_code_version",
                    );
                    let version = version.ok().flatten().and_then(json::string);
                    let version = version.map(|text| text.into_owned());
                    self.push(Event::Initialized(message.clone()));
                    let body = message.body().unwrap_or_default();
                    let payload = json::pointer(body, "/response").ok().flatten();
                    self.note_capabilities(payload.unwrap_or("{}"));
                    self.note_version(version);
                    self.pending_requests(&[
                        response.pending_permission_requests,
                        response.pending_user_dialog_requests,
                    ]);
                }
                Err(error) => self.handshake_failed(HandshakeFailure::Refused(error.clone())),
            }
        }
        let result = result
            .map(|()| Response { message })
            .map_err(RequestError::Remote);
        if request.abandoned {
            return;
        }
        self.answered(request.id, request.silent, request.subtype, result);
        if let Some(turn) = cancelled {
            self.turn_cancelled(turn);
        }
    }

    /// Reports the end of a request of the host's.
    pub(super) fn answered(
        &mut self,
        id: RequestId,
        silent: bool,
        subtype: String,
        result: Result<Response, RequestError>,
    ) {
        match (silent, result) {
            (false, result) => self.push(Event::Response {
                id,
                subtype,
                result,
            }),
            (true, Err(RequestError::Remote(error))) => {
                self.diagnose(Diagnostic::Refused(error.to_string()));
            }
            (true, _) => {}
        }
    }
}

/// The text of an error result, empty for a good one. An API failure is a `success` with
/// `is_error` (`protocol.md §5.1`).
fn error_text(result: &RawMessage) -> String {
    match ResultMessage::decode(result.json()) {
        Ok(result) if result.is_error => result.error_text().unwrap_or_default().into_owned(),
        _ => String::new(),
    }
}
