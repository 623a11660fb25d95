//! Callbacks: policies that answer at once, or later from a thread of their own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::protocol::mcp::CallResult;
use towline::{Answer, Reply, RequestHandle};

use crate::host::Host;

/// How long a callback waits at a barrier.
const AT_A_BARRIER: Duration = Duration::from_secs(5);
/// How often a waiting callback looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Permission,
    Hook,
    Tool,
}

/// What a policy comes to.
enum Outcome {
    Answer(Value),
    Cancelled,
    Failed(String),
}

/// Counts the call and answers as the policy says.
pub(crate) fn call(host: &Arc<Host>, kind: Kind, policy: &Value, handle: &RequestHandle) -> Reply {
    host.record.change(|state| match kind {
        Kind::Permission => {
            state.permission += 1;
            state.perm_args.push(described(handle));
        }
        Kind::Hook => state.hook += 1,
        Kind::Tool => state.tool += 1,
    });
    if !waits(policy) {
        return reply(kind, by_tool(policy, handle));
    }
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    host.record.change(|state| state.running.insert(id));
    let (host, policy, handle) = (host.clone(), policy.clone(), handle.clone());
    std::thread::spawn(move || {
        let outcome = settle(&host, kind, &policy, &handle);
        host.record.change(|state| {
            state.running.remove(&id);
            state.cancelled += u32::from(matches!(outcome, Outcome::Cancelled));
        });
        let reply = match outcome {
            Outcome::Answer(policy) => reply(kind, &policy),
            Outcome::Cancelled => return,
            Outcome::Failed(text) => Reply::Error(text),
        };
        if let Err(error) = answer(&handle, reply) {
            // A late answer is harmless and says so.
            if !handle.is_cancelled() {
                let text = format!("a late answer was refused: {error}");
                host.record.change(|state| state.loop_errors.push(text));
            }
        }
    });
    Reply::Later
}

fn described(handle: &RequestHandle) -> Value {
    let value = |path| {
        let text = towline::protocol::json::surrogates_replaced(handle.pointer(path)?);
        serde_json::from_str::<Value>(&text).ok()
    };
    let suggestions = value("/permission_suggestions");
    json!({
        "tool": handle.tool_name(),
        "input": value("/input"),
        "suggestions": suggestions.and_then(|list| Some(list.as_array()?.len())).unwrap_or(0),
        "tool_use_id": value("/tool_use_id"),
    })
}

fn waits(policy: &Value) -> bool {
    ["barrier", "sleep_ms", "call"]
        .iter()
        .any(|key| policy.get(key).is_some())
        || policy
            .get("by_tool")
            .and_then(Value::as_object)
            .is_some_and(|tools| tools.values().any(waits))
}

fn by_tool<'a>(policy: &'a Value, handle: &RequestHandle) -> &'a Value {
    match policy.get("by_tool") {
        Some(tools) => {
            let tool = handle.tool_name().unwrap_or_default();
            tools.get(tool.as_ref()).unwrap_or(&Value::Null)
        }
        None => policy,
    }
}

/// Waits as the policy says.
fn settle(host: &Arc<Host>, kind: Kind, policy: &Value, handle: &RequestHandle) -> Outcome {
    let mut policy = by_tool(policy, handle);
    loop {
        if let Some(count) = policy.get("barrier").and_then(Value::as_u64) {
            let name = policy.get("name").map_or_else(
                || format!("kind {}", kind as u8),
                |name| name.as_str().unwrap_or_default().into(),
            );
            host.record
                .change(|state| *state.barriers.entry(name.clone()).or_default() += 1);
            let opened = wait(host, handle, AT_A_BARRIER, || {
                let state = host.record.state();
                state.barriers.get(&name).is_some_and(|come| *come >= count)
            });
            match opened {
                Some(true) => {}
                Some(false) => return Outcome::Failed("nobody else came to the barrier".into()),
                None => return Outcome::Cancelled,
            }
        } else if let Some(ms) = policy.get("sleep_ms").and_then(Value::as_u64) {
            if wait(host, handle, Duration::from_millis(ms), || false).is_none() {
                return Outcome::Cancelled;
            }
        } else if let Some(step) = policy.get("call") {
            let deadline = Instant::now() + Duration::from_secs(8);
            if let Err(error) = host.step(step, deadline) {
                return Outcome::Failed(error.text);
            }
        } else {
            return Outcome::Answer(policy.clone());
        }
        policy = policy.get("then").unwrap_or(&Value::Null);
    }
}

/// Waits until it holds or the time has passed; `None` when the request was cancelled.
fn wait(
    host: &Host,
    handle: &RequestHandle,
    limit: Duration,
    holds: impl Fn() -> bool,
) -> Option<bool> {
    let until = Instant::now() + limit;
    loop {
        if handle.is_cancelled() {
            return None;
        }
        if holds() {
            return Some(true);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(false);
        }
        // The condition is looked at again whenever the record changes.
        host.record.wait_change(left.min(LOOK));
    }
}

fn text_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

/// The answer that a policy without anything to wait for gives.
fn reply(kind: Kind, policy: &Value) -> Reply {
    // Rust has no exceptions: a handler that cannot answer says so with an error. One that panics
    // has failed, and denies.
    if let Some(text) = policy.get("raise") {
        return Reply::Error(text_of(text));
    }
    match kind {
        Kind::Permission => {
            if let Some(raw) = policy.get("return_raw") {
                return Reply::Json(raw.to_string());
            }
            if let Some(message) = policy.get("deny") {
                return Reply::Deny {
                    message: text_of(message),
                    interrupt: policy.get("interrupt").and_then(Value::as_bool) == Some(true),
                };
            }
            Reply::Allow {
                input: policy.get("updated_input").map(Value::to_string),
                permissions: None,
            }
        }
        Kind::Hook => Reply::Json(policy.get("return").unwrap_or(&json!({})).to_string()),
        Kind::Tool => {
            if let Some(bytes) = policy.get("return_big").and_then(Value::as_u64) {
                return Reply::text("y".repeat(bytes as usize));
            }
            let result = policy.get("return").unwrap_or(&Value::Null).to_string();
            Reply::Call(CallResult::json(result))
        }
    }
}

/// Answers by the handle, from any thread.
fn answer(handle: &RequestHandle, reply: Reply) -> Result<(), towline::Error> {
    match reply {
        Reply::Allow { input, permissions } => {
            handle.allow_with(input.as_deref(), permissions.as_deref())
        }
        Reply::Deny { message, interrupt } => handle.deny(&message, interrupt),
        Reply::Json(text) => handle.respond(&Answer::Json(&text)),
        Reply::Call(result) => handle.finish(result),
        Reply::Error(text) => handle.respond(&Answer::Error(&text)),
        _ => Ok(()),
    }
}
