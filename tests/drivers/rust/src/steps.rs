//! The steps themselves, each ending by a deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::protocol::control::envelope::UserMessage;
use towline::{Error, Session};

use crate::error::StepError;
use crate::host::{locked, Host};
use crate::message::{recorded, type_name};
use crate::talk::{left, Asked, Polled, Received, Talk};

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
        Ok(act(&self.talk()?.polled()?.session)?)
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
        let talk = self.talk()?;
        let response = talk.polled()?.control(subtype, &payload, deadline)?;
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
                Received::Initialized | Received::Response(..) => {}
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
        if let Some(done) = self.saved(step) {
            done
        } else if has("connect").is_some() {
            let builder = self.builder().map_err(StepError::other)?;
            let session = match self.portable {
                true => builder.start_portable()?,
                false => builder.start()?,
            };
            let polled = Polled::new(session, self.event_loop);
            let talk = Arc::new(Talk::Session(Box::new(polled)));
            *locked(&self.talk) = Some(talk.clone());
            talk.polled()?.connect(deadline)?;
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
