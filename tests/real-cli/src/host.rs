//! A program that holds one session.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use towline::protocol::control::envelope::UserMessage;
use towline::{
    CancelReason, Error, Event, Exit, RequestError, RequestHandle, RequestId, RequestKey, Session,
    TurnId, TurnOutcome,
};

use crate::LIMIT;

/// What a session said, kept for later looks.
#[derive(Debug)]
pub enum Seen {
    /// `initialize` was answered.
    Initialized,
    /// A message of the conversation.
    Message {
        /// The whole of it.
        json: Value,
        /// The turn it was said to belong to.
        turn: Option<TurnId>,
    },
    /// A request without a handler.
    Request(RequestHandle),
    /// A request that needs no answer any more.
    Cancelled(RequestKey, CancelReason),
    /// The answer to a control request: its payload, or why there is none.
    Response(RequestId, Result<Value, RequestError>),
    /// The end of a turn.
    Ended(TurnId, TurnOutcome),
    /// Something odd.
    Diagnostic(String),
    /// The end of the session: exit, error text of the last result, stderr, and what went wrong.
    Closed(Closing),
    /// Anything else.
    Other(String),
}

/// How a session ended.
#[derive(Debug, Clone)]
pub struct Closing {
    /// The exit of the process.
    pub exit: Option<Exit>,
    /// The text of its last error result, or empty.
    pub result: String,
    /// The error, if the end was one.
    pub error: Option<String>,
}

/// A turn that has ended.
#[derive(Debug)]
pub struct Turn {
    /// Which.
    pub id: TurnId,
    /// The messages that carried its id.
    pub messages: Vec<Value>,
    /// How it ended.
    pub outcome: TurnOutcome,
}

impl Turn {
    /// Its result message.
    ///
    /// # Panics
    /// It ended without one.
    pub fn result(&self) -> Value {
        match &self.outcome {
            TurnOutcome::Result(message) => parse(message.json()),
            other => panic!("turn {} ended without a result: {other:?}", self.id),
        }
    }

    /// The text of a good result.
    ///
    /// # Panics
    /// The result is an error.
    pub fn text(&self) -> String {
        let result = self.result();
        assert_eq!(result["is_error"], false, "an error result: {result:#}");
        result["result"]
            .as_str()
            .expect("a text result")
            .to_string()
    }

    /// The tool results of the turn: their text, and whether they are errors.
    pub fn tool_results(&self) -> Vec<(String, bool)> {
        let of_user = self
            .messages
            .iter()
            .filter(|message| message["type"] == "user");
        let blocks = of_user.flat_map(|message| {
            let content = message["message"]["content"].as_array();
            content.into_iter().flatten()
        });
        blocks
            .filter(|block| block["type"] == "tool_result")
            .map(|block| {
                let text = match &block["content"] {
                    Value::String(text) => text.clone(),
                    Value::Array(parts) => parts
                        .iter()
                        .filter_map(|part| part["text"].as_str())
                        .collect(),
                    _ => String::new(),
                };
                (text, block["is_error"] == true)
            })
            .collect()
    }
}

/// How a session ended, and all it had said.
#[derive(Debug)]
pub struct Ending {
    /// The last event.
    pub closing: Closing,
    /// Every event.
    pub log: Vec<Seen>,
}

impl Ending {
    /// Checks that the session ended by itself with success.
    pub fn is_clean(&self) {
        assert_eq!(
            self.closing.exit,
            Some(Exit::Code(0)),
            "{:#?}",
            self.closing
        );
        assert_eq!(self.closing.error, None);
    }

    /// Checks that the CLI reported its last error result by its exit status, which is no error of
    /// the session (`protocol.md §11`), and returns that result's text.
    pub fn after_an_error_result(self) -> String {
        assert_eq!(
            self.closing.exit,
            Some(Exit::Code(1)),
            "{:#?}",
            self.closing
        );
        assert_eq!(self.closing.error, None);
        self.closing.result
    }
}

/// Holds one session and everything it has said. [`end`](Host::end) checks that each prompt's turn
/// ended exactly once and that there was no diagnostic the test did not take.
pub struct Host {
    session: Arc<Session>,
    log: Vec<Seen>,
    /// Up to where the log has been looked through.
    looked: usize,
    sent: Vec<TurnId>,
}

impl Host {
    /// A host of a session that was started outside.
    pub fn new(session: Session) -> Host {
        Host {
            session: Arc::new(session),
            log: Vec::new(),
            looked: 0,
            sent: Vec::new(),
        }
    }

    /// The session, to share with a thread too.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Waits until the session is open.
    pub fn connect(&self) {
        if let Err(error) = self.session.connect(Some(LIMIT)) {
            panic!("the session did not open: {error}");
        }
    }

    /// Sends a prompt.
    pub fn send(&mut self, text: &str) -> TurnId {
        self.send_message(&UserMessage::text(text))
    }

    /// Sends a prompt with more to it.
    pub fn send_message(&mut self, message: &UserMessage<'_>) -> TurnId {
        let turn = self
            .session
            .send_message(message)
            .expect("the prompt is sent");
        self.sent.push(turn);
        turn
    }

    /// Sends a prompt and waits until its turn has ended.
    pub fn turn(&mut self, text: &str) -> Turn {
        let turn = self.send(text);
        self.finish(turn)
    }

    /// Waits until this turn has ended.
    pub fn finish(&mut self, turn: TurnId) -> Turn {
        let ended = |seen: &Seen| match seen {
            Seen::Ended(id, outcome) if *id == turn => Some(outcome.clone()),
            _ => None,
        };
        // It may have ended while something else was waited for.
        let outcome = match self.log[..self.looked].iter().find_map(ended) {
            Some(outcome) => outcome,
            None => self.until(&format!("the end of turn {turn}"), ended),
        };
        let messages = self.log.iter().filter_map(|seen| match seen {
            Seen::Message {
                json,
                turn: Some(id),
            } if *id == turn => Some(json.clone()),
            _ => None,
        });
        Turn {
            id: turn,
            messages: messages.collect(),
            outcome,
        }
    }

    /// The first event that is wanted and was not looked at before.
    ///
    /// # Panics
    /// It does not come in time, or the session ends first.
    pub fn until<T>(&mut self, what: &str, mut wanted: impl FnMut(&Seen) -> Option<T>) -> T {
        let until = Instant::now() + LIMIT;
        loop {
            while let Some(seen) = self.log.get(self.looked) {
                self.looked += 1;
                if let Some(found) = wanted(seen) {
                    return found;
                }
                assert!(
                    !matches!(seen, Seen::Closed(_)),
                    "the session ended while {what} was waited for; it had said:{}",
                    self.story()
                );
            }
            self.poll(until, what);
        }
    }

    /// The first message that is wanted and was not looked at before.
    pub fn message(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        self.until(what, |seen| match seen {
            Seen::Message { json, .. } if wanted(json) => Some(json.clone()),
            _ => None,
        })
    }

    /// The first request without a handler that was not looked at before.
    pub fn request(&mut self) -> RequestHandle {
        self.until("a request of the CLI", |seen| match seen {
            Seen::Request(handle) => Some(handle.clone()),
            _ => None,
        })
    }

    /// Waits until this request is taken back.
    pub fn withdrawal_of(&mut self, key: RequestKey) {
        let reason = self.until("the withdrawal of a request", |seen| match seen {
            Seen::Cancelled(found, reason) if *found == key => Some(*reason),
            _ => None,
        });
        assert_eq!(reason, CancelReason::Withdrawn);
    }

    /// Waits for the answer to a control request sent before.
    pub fn response(&mut self, id: RequestId) -> Result<Value, RequestError> {
        self.until("the answer to a control request", |seen| match seen {
            Seen::Response(found, result) if *found == id => Some(result.clone()),
            _ => None,
        })
    }

    /// Sends a control request and waits for the payload of its answer.
    pub fn ask(&self, subtype: &str, payload: Value) -> Value {
        self.try_ask(subtype, payload)
            .unwrap_or_else(|error| panic!("{subtype}: {error}"))
    }

    /// As [`ask`](Host::ask), for a request that may be refused.
    pub fn try_ask(&self, subtype: &str, payload: Value) -> Result<Value, Error> {
        let answer = self
            .session
            .request_wait(subtype, &payload.to_string(), Some(LIMIT))?;
        Ok(parse(answer.payload()))
    }

    /// Takes the diagnostics out that were made so far.
    pub fn diagnostics(&mut self) -> Vec<String> {
        let mut taken = Vec::new();
        for seen in &mut self.log {
            if let Seen::Diagnostic(text) = seen {
                taken.push(std::mem::take(text));
            }
        }
        taken
    }

    /// Closes the session as a program does, and reads to its end.
    pub fn end(self) -> Ending {
        self.session.close().expect("the session closes");
        self.ended()
    }

    /// As [`end`](Host::end), with a grace between the steps of closing.
    pub fn end_within(self, grace: Duration) -> Ending {
        self.session
            .close_within(Some(grace))
            .expect("the session closes");
        self.ended()
    }

    /// Reads to the end of a session that ends by itself or was closed.
    pub fn ended(mut self) -> Ending {
        let closed = |seen: &Seen| match seen {
            Seen::Closed(closing) => Some(closing.clone()),
            _ => None,
        };
        let closing = self.until("the end of the session", closed);
        let mut ends: BTreeMap<TurnId, usize> = self.sent.iter().map(|turn| (*turn, 0)).collect();
        for seen in &self.log {
            match seen {
                Seen::Ended(turn, _) => *ends.entry(*turn).or_default() += 1,
                Seen::Diagnostic(text) if !text.is_empty() => {
                    panic!("unexpected diagnostic: {text}\n{}", self.story())
                }
                _ => {}
            }
        }
        assert!(
            ends.values().all(|count| *count == 1),
            "each turn ends exactly once, and these did so often: {ends:?}\n{}",
            self.story()
        );
        Ending {
            closing,
            log: self.log,
        }
    }

    fn poll(&mut self, until: Instant, what: &str) {
        let left = until.saturating_duration_since(Instant::now());
        assert!(
            !left.is_zero(),
            "{what} did not come within {LIMIT:?}; stderr: {}; the session said:{}",
            self.session.stderr_tail(),
            self.story()
        );
        let event = self.session.poll(Some(left));
        if let Some(event) = event.expect("the session can be polled") {
            self.note(event);
        }
    }

    /// Keeps an event that was polled elsewhere.
    pub fn note(&mut self, event: Event) {
        self.log.push(match event {
            Event::Initialized(_) => Seen::Initialized,
            Event::Message { message, turn } => Seen::Message {
                json: parse(message.json()),
                turn,
            },
            Event::Request(handle) => Seen::Request(handle),
            Event::RequestCancelled { key, reason } => Seen::Cancelled(key, reason),
            Event::Response { id, result, .. } => {
                Seen::Response(id, result.map(|answer| parse(answer.payload())))
            }
            Event::TurnEnded { turn, outcome } => Seen::Ended(turn, outcome),
            Event::Diagnostic(diagnostic) => Seen::Diagnostic(diagnostic.to_string()),
            Event::Closed(closed) => Seen::Closed(Closing {
                exit: closed.failure.exit,
                result: closed.failure.result,
                error: closed.error.map(|error| error.to_string()),
            }),
            other => Seen::Other(format!("{other:?}")),
        });
    }

    /// Everything said so far, one shortened line each.
    fn story(&self) -> String {
        let mut story = String::new();
        for seen in &self.log {
            let line = match seen {
                Seen::Message { json, turn } => {
                    let turn = turn.map_or("-".into(), |turn| turn.to_string());
                    format!("[{turn}] {json}")
                }
                other => format!("{other:?}"),
            };
            let shown: String = line.chars().take(400).collect();
            let _ = write!(story, "\n  {shown}");
        }
        story
    }
}

/// Whether a message is a result.
pub fn is_result(message: &Value) -> bool {
    message["type"] == "result"
}

/// The prompt that makes the scripted model call a tool.
pub fn prompt_tool(name: &str, input: &Value) -> String {
    format!("TOOL {name} {input}")
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}
