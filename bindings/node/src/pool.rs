//! The decisions of a pool whose sessions JavaScript starts and drives.

use std::cell::RefCell;
use std::time::Instant;

use napi::bindgen_prelude::{Either, Object};
use napi_derive::napi;
use serde_json::{json, Value};
use towline::pool::{Action, Loss, Member, Policy, Ticket};
use towline::protocol::launch::Dialect;
use towline::{Options, PoolOptions};

use crate::error::{describe, to_js};

/// Those of the options that the core looks at.
fn looked_at(given: &Object<'_>) -> napi::Result<Options> {
    let mut options = Options::default();
    for key in Policy::SESSION_OPTIONS {
        let name = Dialect::TypeScript.option_name(key);
        let value = match given.get::<Either<bool, String>>(&name) {
            Ok(Some(Either::A(flag))) => json!(flag),
            Ok(Some(Either::B(text))) => json!(text),
            // What is of no such type is refused at the start.
            Ok(None) | Err(_) => continue,
        };
        let set = options.set(key, &value.to_string());
        set.map_err(|error| napi::Error::from_reason(error.to_string()))?;
    }
    Ok(options)
}

/// The core's policy, with a clock of its own. Members and tickets are numbers.
#[napi]
pub struct NativePool {
    policy: RefCell<Policy>,
    epoch: Instant,
}

impl NativePool {
    fn now(&self) -> u64 {
        self.epoch.elapsed().as_millis() as u64
    }
}

#[napi]
impl NativePool {
    /// `limits` is a JSON document, `options` what each session is started with.
    #[napi(constructor)]
    pub fn new(limits: String, options: Object<'_>) -> napi::Result<NativePool> {
        Policy::check_sessions(&looked_at(&options)?).map_err(to_js)?;
        let policy = PoolOptions::from_json(&limits).and_then(Policy::new);
        Ok(NativePool {
            policy: RefCell::new(policy.map_err(to_js)?),
            epoch: Instant::now(),
        })
    }

    /// Asks for a session, or for that of a conversation; returns the ticket.
    #[napi]
    pub fn take(&self, key: Option<String>, limit_ms: Option<f64>) -> f64 {
        let limit = limit_ms.map(|limit| limit.max(0.0) as u64);
        self.policy.borrow_mut().take(key, limit, self.now()).0 as f64
    }

    /// A session comes back, with the id of its conversation if it has one.
    #[napi]
    pub fn put_back(&self, member: f64, key: Option<String>) {
        let member = Member(member as u64);
        self.policy.borrow_mut().put_back(member, key, self.now());
    }

    /// Everything is to be closed.
    #[napi]
    pub fn close(&self) {
        self.policy.borrow_mut().close();
    }

    /// Whether no session is left but those in use.
    #[napi]
    pub fn is_empty(&self) -> bool {
        self.policy.borrow().is_empty()
    }

    /// Whether as many are warm as shall be, or there is no room for more.
    #[napi]
    pub fn is_full(&self) -> bool {
        self.policy.borrow().is_full()
    }

    /// A session is open.
    #[napi]
    pub fn opened(&self, member: f64) {
        let member = Member(member as u64);
        self.policy.borrow_mut().opened(member, self.now());
    }

    /// A session could not be started; returns the ticket that gets the error, if one does.
    #[napi]
    pub fn failed(&self, member: f64) -> Option<f64> {
        let member = Member(member as u64);
        let ticket = self.policy.borrow_mut().failed(member, self.now());
        ticket.map(|ticket| ticket.0 as f64)
    }

    /// A session that waits has ended.
    #[napi]
    pub fn lost(&self, member: f64) {
        let member = Member(member as u64);
        let now = self.now();
        self.policy.borrow_mut().lost(member, Loss::Exited, now);
    }

    /// A session has given a sign of life.
    #[napi]
    pub fn answered(&self, member: f64) {
        let member = Member(member as u64);
        self.policy.borrow_mut().answered(member, self.now());
    }

    /// A session was given to who waited.
    #[napi]
    pub fn given(&self, ticket: f64, member: f64) {
        let (ticket, member) = (Ticket(ticket as u64), Member(member as u64));
        self.policy.borrow_mut().given(ticket, member);
    }

    /// A session is gone.
    #[napi]
    pub fn gone(&self, member: f64) {
        self.policy.borrow_mut().gone(Member(member as u64));
    }

    /// What to do next, a JSON text: `{"do":"start","member","resume"?}`, `{"do":"check","member"}`,
    /// `{"do":"close","member"}`, `{"do":"give","ticket","member"}`,
    /// `{"do":"refuse","ticket","error"}`.
    #[napi]
    pub fn next(&self) -> Option<String> {
        let now = self.now();
        let action = self.policy.borrow_mut().next(now)?;
        let action: Value = match action {
            Action::Start { member, resume } => {
                json!({"do": "start", "member": member.0, "resume": resume})
            }
            Action::Check { member } => json!({"do": "check", "member": member.0}),
            Action::Close { member } => json!({"do": "close", "member": member.0}),
            Action::Give { ticket, member } => {
                json!({"do": "give", "ticket": ticket.0, "member": member.0})
            }
            Action::Refuse { ticket, error } => {
                json!({"do": "refuse", "ticket": ticket.0, "error": describe(&error.into())})
            }
        };
        Some(action.to_string())
    }

    /// Milliseconds until `next` has to be asked again.
    #[napi]
    pub fn timeout_ms(&self) -> Option<f64> {
        let due = self.policy.borrow().deadline()?;
        Some(due.saturating_sub(self.now()) as f64)
    }

    /// Counters, a JSON text.
    #[napi]
    pub fn stats(&self) -> String {
        json!(self.policy.borrow().stats()).to_string()
    }
}
