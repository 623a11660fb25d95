//! The decisions of a pool whose sessions Python starts and drives.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use towline::pool::{Action, Loss, Member, Policy, Ticket};
use towline::protocol::launch::Dialect;
use towline::{Options, PoolOptions};

use crate::errors::exception;

/// Those of the options that the core looks at.
fn looked_at(given: &Bound<'_, PyAny>) -> PyResult<Options> {
    let py = given.py();
    let mut options = Options::default();
    for key in Policy::SESSION_OPTIONS {
        let name = Dialect::Python.option_name(key);
        let Some(value) = given.getattr_opt(&*name)?.filter(|value| !value.is_none()) else {
            continue;
        };
        let value = match value.extract::<bool>() {
            Ok(flag) => flag.to_string(),
            Err(_) => {
                let text = py.import("os")?.call_method1("fspath", (value,))?;
                text_of(&text.extract::<String>()?)
            }
        };
        let set = options.set(key, &value);
        set.map_err(|error| PyValueError::new_err(error.to_string()))?;
    }
    Ok(options)
}

fn text_of(text: &str) -> String {
    let mut quoted = String::new();
    towline::protocol::json::push_string(&mut quoted, text);
    quoted
}

/// The core's policy, with a clock of its own. Members and tickets are numbers.
#[pyclass(frozen, module = "towline._native")]
pub(crate) struct PoolPolicy {
    policy: Mutex<Policy>,
    epoch: Instant,
    owner: u32,
}

impl PoolPolicy {
    /// The policy and the time; an error in a child of `fork`, where the lock may be held for ever.
    fn lock(&self) -> PyResult<(MutexGuard<'_, Policy>, u64)> {
        if std::process::id() != self.owner {
            let error = towline::Error::Forked { owner: self.owner };
            return Err(Python::attach(|py| exception(py, error)));
        }
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((policy, self.epoch.elapsed().as_millis() as u64))
    }
}

#[pymethods]
impl PoolPolicy {
    /// `limits` is a JSON document, `options` what each session is started with.
    #[new]
    fn new(limits: &str, options: &Bound<'_, PyAny>) -> PyResult<PoolPolicy> {
        let py = options.py();
        let refused = |error: towline::PoolError| exception(py, error.into());
        Policy::check_sessions(&looked_at(options)?).map_err(refused)?;
        let policy = PoolOptions::from_json(limits).and_then(Policy::new);
        let policy = policy.map_err(refused)?;
        Ok(PoolPolicy {
            policy: Mutex::new(policy),
            epoch: Instant::now(),
            owner: std::process::id(),
        })
    }

    /// Asks for a session, or for that of a conversation; `limit` is in milliseconds.
    fn take(&self, key: Option<String>, limit: Option<u64>) -> PyResult<u64> {
        let (mut policy, now) = self.lock()?;
        Ok(policy.take(key, limit, now).0)
    }

    fn cancel(&self, ticket: u64) -> PyResult<()> {
        self.lock()?.0.cancel(Ticket(ticket));
        Ok(())
    }

    fn put_back(&self, member: u64, key: Option<String>) -> PyResult<()> {
        let (mut policy, now) = self.lock()?;
        policy.put_back(Member(member), key, now);
        Ok(())
    }

    fn discard(&self, member: u64) -> PyResult<()> {
        self.lock()?.0.discard(Member(member));
        Ok(())
    }

    fn close(&self) -> PyResult<()> {
        self.lock()?.0.close();
        Ok(())
    }

    fn is_empty(&self) -> PyResult<bool> {
        Ok(self.lock()?.0.is_empty())
    }

    fn is_full(&self) -> PyResult<bool> {
        Ok(self.lock()?.0.is_full())
    }

    fn is_closed(&self) -> PyResult<bool> {
        Ok(self.lock()?.0.is_closed())
    }

    fn opened(&self, member: u64) -> PyResult<()> {
        let (mut policy, now) = self.lock()?;
        policy.opened(Member(member), now);
        Ok(())
    }

    /// The ticket that gets the error, if one does.
    fn failed(&self, member: u64) -> PyResult<Option<u64>> {
        let (mut policy, now) = self.lock()?;
        Ok(policy.failed(Member(member), now).map(|ticket| ticket.0))
    }

    fn lost(&self, member: u64) -> PyResult<()> {
        let (mut policy, now) = self.lock()?;
        policy.lost(Member(member), Loss::Exited, now);
        Ok(())
    }

    fn answered(&self, member: u64) -> PyResult<()> {
        let (mut policy, now) = self.lock()?;
        policy.answered(Member(member), now);
        Ok(())
    }

    fn given(&self, ticket: u64, member: u64) -> PyResult<()> {
        self.lock()?.0.given(Ticket(ticket), Member(member));
        Ok(())
    }

    fn gone(&self, member: u64) -> PyResult<()> {
        self.lock()?.0.gone(Member(member));
        Ok(())
    }

    /// What to do next: `("start", member, session id or None)`, `("check", member)`,
    /// `("close", member)`, `("give", ticket, member)`, `("refuse", ticket, exception)`.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let action = {
            let (mut policy, now) = self.lock()?;
            policy.next(now)
        };
        let Some(action) = action else {
            return Ok(None);
        };
        let action = match action {
            Action::Start { member, resume } => ("start", member.0, resume).into_pyobject(py)?,
            Action::Check { member } => ("check", member.0).into_pyobject(py)?,
            Action::Close { member } => ("close", member.0).into_pyobject(py)?,
            Action::Give { ticket, member } => ("give", ticket.0, member.0).into_pyobject(py)?,
            Action::Refuse { ticket, error } => {
                let error = exception(py, error.into()).into_value(py);
                ("refuse", ticket.0, error).into_pyobject(py)?
            }
        };
        Ok(Some(action))
    }

    /// Seconds until `next` has to be asked again.
    fn timeout(&self) -> PyResult<Option<f64>> {
        let (policy, now) = self.lock()?;
        let due = policy.deadline();
        Ok(due.map(|due| due.saturating_sub(now) as f64 / 1000.0))
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let stats = self.lock()?.0.stats();
        let counts = [
            ("warm", stats.warm as u64),
            ("parked", stats.parked as u64),
            ("starting", stats.starting as u64),
            ("handed_out", stats.handed_out as u64),
            ("closing", stats.closing as u64),
            ("waiting", stats.waiting as u64),
            ("started", stats.started),
            ("resumed", stats.resumed),
            ("hits", stats.hits),
            ("misses", stats.misses),
            ("failed", stats.failed),
            ("failures", u64::from(stats.failures)),
            ("exited", stats.exited),
            ("unhealthy", stats.unhealthy),
            ("idle", stats.idle),
            ("evicted", stats.evicted),
        ];
        let dict = PyDict::new(py);
        for (name, count) in counts {
            dict.set_item(name, count)?;
        }
        Ok(dict)
    }
}
