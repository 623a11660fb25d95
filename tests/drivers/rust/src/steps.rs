//! The steps themselves, each ending by a deadline.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::protocol::control::envelope::UserMessage;
use towline::{Error, Event, Exit, Failure, Query, RawMessage, Session};

use crate::host::{locked, Host};
use crate::message::{recorded, type_name};

/// How a step failed.
pub(crate) struct StepError {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    pub(crate) exit_code: Option<i32>,
}

impl StepError {
    pub(crate) fn timeout(limit: u64) -> StepError {
        StepError {
            kind: "Timeout",
            text: format!("step did not finish within {limit} ms"),
            exit_code: None,
        }
    }

    pub(crate) fn other(text: impl Into<String>) -> StepError {
        StepError {
            kind: "Driver",
            text: text.into(),
            exit_code: None,
        }
    }

    pub(crate) fn timed_out(&self) -> bool {
        self.kind == "Timeout"
    }
}

impl From<Error> for StepError {
    fn from(error: Error) -> StepError {
        let failure = match &error {
            Error::TimedOut { limit_ms } => return StepError::timeout(*limit_ms),
            Error::ExitedBeforeInitialize(failure)
            | Error::InitializeRefused { failure, .. }
            | Error::InitializeTimedOut { failure, .. }
            | Error::Failed(failure)
            | Error::ErrorResult(failure) => failure.exit,
            _ => None,
        };
        StepError {
            kind: "Error",
            text: error.to_string(),
            exit_code: match failure {
                Some(Exit::Code(code)) => Some(code),
                _ => None,
            },
        }
    }
}

/// A conversation in one of the two forms the crate offers.
pub(crate) enum Talk {
    Session(Box<Polled>),
    Query(Asked),
}

/// A session and what was received while the host did something else.
pub(crate) struct Polled {
    session: Session,
    inbox: Mutex<VecDeque<Received>>,
}

/// What a host that reads gets.
enum Received {
    Message(RawMessage),
    End(Result<(), StepError>),
}

/// A query on a thread of its own, so that a step can give up waiting for it.
pub(crate) struct Asked {
    /// Asks for the next item; dropping it drops the query.
    want: Mutex<Option<Sender<()>>>,
    items: Mutex<Receiver<Option<Result<RawMessage, Error>>>>,
}

impl Asked {
    fn start(mut query: Query) -> Asked {
        let (want, wanted) = channel();
        let (give, items) = channel();
        std::thread::spawn(move || {
            while wanted.recv().is_ok() {
                if give.send(query.next()).is_err() {
                    break;
                }
            }
            drop(query);
        });
        Asked {
            want: Mutex::new(Some(want)),
            items: Mutex::new(items),
        }
    }

    fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        let asked = locked(&self.want)
            .as_ref()
            .is_some_and(|want| want.send(()).is_ok());
        if !asked {
            return Err(StepError::from(Error::Closed));
        }
        let limit = left(deadline);
        match locked(&self.items).recv_timeout(limit) {
            Ok(Some(Ok(message))) => Ok(Received::Message(message)),
            Ok(Some(Err(error))) => Ok(Received::End(Err(error.into()))),
            Ok(None) => Ok(Received::End(Ok(()))),
            Err(_) => Err(StepError::timeout(limit.as_millis() as u64)),
        }
    }

    fn close(&self, deadline: Instant) -> Result<(), StepError> {
        locked(&self.want).take();
        let limit = left(deadline);
        loop {
            match locked(&self.items).recv_timeout(left(deadline)) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(StepError::timeout(limit.as_millis() as u64))
                }
            }
        }
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// How a session's last event ends the iteration: as [`towline::query`] does.
fn end(closed: towline::Closed) -> Result<(), StepError> {
    let Failure { result, .. } = &closed.failure;
    match closed.error {
        Some(error) => Err(error.into()),
        None if !result.is_empty() => Err(Error::ErrorResult(closed.failure).into()),
        None => Ok(()),
    }
}

impl Polled {
    fn new(session: Session) -> Polled {
        Polled {
            session,
            inbox: Mutex::default(),
        }
    }

    /// Polls once; `Ok(None)` when the time has passed.
    fn poll(&self, deadline: Instant) -> Result<Option<Received>, Error> {
        loop {
            return Ok(match self.session.poll(Some(left(deadline)))? {
                Some(Event::Message { message, .. }) => Some(Received::Message(message)),
                Some(Event::Closed(closed)) => Some(Received::End(end(closed))),
                None => None,
                Some(_) => continue,
            });
        }
    }

    fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        if let Some(received) = locked(&self.inbox).pop_front() {
            return Ok(received);
        }
        let limit = left(deadline);
        self.poll(deadline)?
            .ok_or_else(|| StepError::timeout(limit.as_millis() as u64))
    }

    /// Lets time pass as a host with an event loop does: what comes is kept for later steps.
    fn idle(&self, deadline: Instant) {
        while !left(deadline).is_zero() {
            match self.poll(deadline) {
                Ok(Some(received)) => locked(&self.inbox).push_back(received),
                Ok(None) => {}
                // Another thread polls, or all is over.
                Err(_) => return std::thread::sleep(left(deadline)),
            }
        }
    }

    /// Takes what is left after the end, so that every handler has had its say.
    fn drain(&self) {
        while let Ok(Some(_)) = self.session.poll(Some(Duration::ZERO)) {}
    }
}

impl Talk {
    fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        match self {
            Talk::Session(polled) => polled.next(deadline),
            Talk::Query(asked) => asked.next(deadline),
        }
    }

    /// Ends it; what the handlers still have to hear is delivered.
    pub(crate) fn close(&self, deadline: Instant) -> Result<(), StepError> {
        match self {
            Talk::Query(asked) => asked.close(deadline),
            Talk::Session(polled) => {
                polled.session.close()?;
                polled.drain();
                Ok(())
            }
        }
    }
}

impl Host {
    fn talk(&self) -> Result<Arc<Talk>, StepError> {
        locked(&self.talk)
            .clone()
            .ok_or_else(|| StepError::other("there is no session"))
    }

    /// Does something with the session.
    fn with_session<T>(
        &self,
        act: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, StepError> {
        match self.talk()?.as_ref() {
            Talk::Session(polled) => Ok(act(&polled.session)?),
            Talk::Query(_) => Err(StepError::other("a query takes no such step")),
        }
    }

    fn control(
        &self,
        subtype: &str,
        payload: &Value,
        deadline: Instant,
    ) -> Result<Value, StepError> {
        let payload = match payload {
            Value::Null => String::new(),
            payload => payload.to_string(),
        };
        let response = self.with_session(|session| {
            session.request_wait(subtype, &payload, Some(left(deadline)))
        })?;
        let text = towline::protocol::json::surrogates_replaced(response.payload()).into_owned();
        serde_json::from_str(&text).map_err(|error| StepError::other(error.to_string()))
    }

    /// Receives until a message of that type (`end`: until the end), or that many messages.
    fn receive(
        &self,
        until: Option<&str>,
        most: Option<u64>,
        deadline: Instant,
    ) -> Result<(), StepError> {
        let talk = self.talk()?;
        let mut received = 0;
        loop {
            match talk.next(deadline)? {
                Received::Message(message) => {
                    self.record
                        .change(|state| state.messages.push(recorded(&message)));
                    received += 1;
                    let found = until.is_some_and(|until| type_name(&message) == until);
                    if found || most.is_some_and(|most| received >= most) {
                        return Ok(());
                    }
                }
                Received::End(end) => {
                    end?;
                    return match until {
                        None | Some("end") => Ok(()),
                        Some(until) => {
                            Err(StepError::other(format!("stream ended before {until}")))
                        }
                    };
                }
            }
        }
    }

    /// Does a step.
    pub(crate) fn step(self: &Arc<Self>, step: &Value, deadline: Instant) -> Result<(), StepError> {
        let has = |key: &str| step.get(key);
        let text = |key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| step.get(key).and_then(Value::as_u64).unwrap_or(0);
        if has("connect").is_some() {
            let session = self.builder().map_err(StepError::other)?.start()?;
            let talk = Arc::new(Talk::Session(Box::new(Polled::new(session))));
            *locked(&self.talk) = Some(talk);
            self.with_session(|session| session.connect(Some(left(deadline))))?;
            match has("prompt").and_then(Value::as_str) {
                Some(prompt) => self.with_session(|session| session.send(prompt)).map(drop),
                None => Ok(()),
            }
        } else if has("query").is_some() {
            let query = self.builder().map_err(StepError::other)?;
            let query = query.query(text("query"))?;
            *locked(&self.talk) = Some(Arc::new(Talk::Query(Asked::start(query))));
            Ok(())
        } else if has("send_user").is_some() {
            let mut message = UserMessage::text(text("send_user"));
            if has("session_id").is_some() {
                message.session_id = Some(text("session_id").into());
            }
            self.with_session(|session| session.send_message(&message))
                .map(drop)
        } else if has("send_user_fill").is_some() {
            let prompt = "u".repeat(number("send_user_fill") as usize);
            self.with_session(|session| session.send(&prompt)).map(drop)
        } else if has("recv_until").is_some() {
            self.receive(Some(text("recv_until")), None, deadline)
        } else if has("recv_n").is_some() {
            self.receive(None, Some(number("recv_n")), deadline)
        } else if has("drop_iterator").is_some() {
            // Only a query's iterator is the conversation itself.
            match self.talk()?.as_ref() {
                Talk::Query(asked) => asked.close(deadline),
                Talk::Session(_) => Ok(()),
            }
        } else if has("interrupt").is_some() {
            self.control("interrupt", &Value::Null, deadline).map(drop)
        } else if let Some(model) = has("set_model") {
            let payload = json!({"model": model});
            self.control("set_model", &payload, deadline).map(drop)
        } else if let Some(mode) = has("set_permission_mode") {
            let payload = json!({"mode": mode});
            self.control("set_permission_mode", &payload, deadline)
                .map(drop)
        } else if has("mcp_status").is_some() {
            let value = self.control("mcp_status", &Value::Null, deadline)?;
            self.record.change(|state| state.values.push(value));
            Ok(())
        } else if has("server_info").is_some() {
            let info = self.with_session(|session| Ok(session.capabilities()))?;
            let info = info.and_then(|text| serde_json::from_str(&text).ok());
            self.record
                .change(|state| state.values.push(info.unwrap_or_default()));
            Ok(())
        } else if let Some(inner) = has("background") {
            self.in_background(text("as"), inner);
            Ok(())
        } else if has("join").is_some() {
            self.join(text("join"), left(deadline))
        } else if let Some(steps) = has("parallel").and_then(Value::as_array) {
            std::thread::scope(|scope| {
                for step in steps {
                    scope.spawn(|| self.timed(step));
                }
            });
            Ok(())
        } else if has("cancel_after_ms").is_some() {
            let limit = Duration::from_millis(number("cancel_after_ms"));
            self.cancelled(&step["step"], (Instant::now() + limit).min(deadline))
        } else if has("sleep_ms").is_some() {
            let until = Instant::now() + Duration::from_millis(number("sleep_ms"));
            let talk = locked(&self.talk).clone();
            match talk.as_deref() {
                Some(Talk::Session(polled)) if !self.asleep => polled.idle(until),
                _ => std::thread::sleep(left(until)),
            }
            Ok(())
        } else if has("close").is_some() {
            let talk = locked(&self.talk).clone();
            talk.map_or(Ok(()), |talk| talk.close(deadline))
        } else {
            Err(StepError::other(format!("unknown host step {step}")))
        }
    }

    /// A step that is given up at the deadline.
    fn cancelled(self: &Arc<Self>, step: &Value, deadline: Instant) -> Result<(), StepError> {
        if step.get("close").is_none() {
            return match self.step(step, deadline) {
                Err(error) if !error.timed_out() => Err(error),
                _ => Ok(()),
            };
        }
        // The form of close that does not wait; the host looks on for a while and goes.
        self.with_session(Session::begin_close)?;
        if let Talk::Session(polled) = self.talk()?.as_ref() {
            polled.idle(deadline);
        }
        Ok(())
    }
}
