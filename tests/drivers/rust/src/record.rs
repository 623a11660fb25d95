//! What the host saw.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{json, Value};

/// Everything that goes into the record, and what callbacks wait for.
#[derive(Default)]
pub(crate) struct Record {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) messages: Vec<Box<RawValue>>,
    pub(crate) permission: u32,
    pub(crate) hook: u32,
    pub(crate) tool: u32,
    pub(crate) cancelled: u32,
    pub(crate) stderr: Vec<String>,
    pub(crate) steps: Vec<Value>,
    pub(crate) values: Vec<Value>,
    pub(crate) fail: Vec<String>,
    pub(crate) perm_args: Vec<Value>,
    pub(crate) loop_errors: Vec<String>,
    /// How many have come to each barrier.
    pub(crate) barriers: BTreeMap<String, u64>,
    /// Callbacks that answer later and have not yet.
    pub(crate) running: HashSet<u64>,
}

impl Record {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something that others may wait for.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = change(&mut self.state());
        self.changed.notify_all();
        value
    }

    /// Waits until it holds; `false` when it does not within the limit.
    pub(crate) fn wait_until(
        &self,
        limit: Duration,
        mut holds: impl FnMut(&mut State) -> bool,
    ) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), limit, |state| !holds(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits for any change, at most that long.
    pub(crate) fn wait_change(&self, limit: Duration) {
        drop(self.changed.wait_timeout(self.state(), limit));
    }

    /// The record as JSON text.
    pub(crate) fn text(&self) -> Result<String, serde_json::Error> {
        let state = self.state();
        let rest = json!({
            "calls": {"permission": state.permission, "hook": state.hook, "tool": state.tool},
            "cancelled": state.cancelled,
            "stderr": state.stderr,
            "steps": state.steps,
            "values": state.values,
            "fail": state.fail,
            "perm_args": state.perm_args,
            "loop_errors": state.loop_errors,
            "cpu_ms": processor_ms(),
        });
        let messages = serde_json::to_string(&state.messages)?;
        let rest = rest.to_string();
        let members = rest.strip_prefix('{').unwrap_or_default();
        Ok(format!("{{\"messages\":{messages},{members}"))
    }
}

/// Processor time of this process in milliseconds.
fn processor_ms() -> u64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as u64 * 1000 + used.tv_nsec as u64 / 1_000_000
}
