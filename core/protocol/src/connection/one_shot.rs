//! When a single prompt has settled, so that stdin may end (`protocol.md §11`).

use alloc::collections::BTreeSet;
use alloc::string::String;

use super::Millis;
use crate::framing::{MessageType, RawMessage};
use crate::json;

/// As long as the CLI itself waits for background agents
/// (`CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS`): ten minutes without a running turn.
const BETWEEN_TURNS: Millis = 600_000;

/// Follows the session, to tell when the CLI needs nothing more of the host.
#[derive(Debug)]
pub(super) struct OneShot {
    /// The input is to be ended then.
    wanted: bool,
    /// A result came for what was sent last.
    result: bool,
    /// The CLI's own word, from `session_state_changed`; older CLIs say nothing.
    idle: Option<bool>,
    /// Background agents under way. Shells and monitors never hold the input open.
    agents: BTreeSet<String>,
    /// Since when no turn is running.
    quiet_since: Option<Millis>,
}

impl OneShot {
    pub(super) fn new() -> OneShot {
        OneShot {
            wanted: false,
            result: true,
            idle: None,
            agents: BTreeSet::new(),
            quiet_since: None,
        }
    }

    /// The input is to be ended as soon as all has settled.
    pub(super) fn want(&mut self, prompt_open: bool, now: Millis) {
        self.wanted = true;
        self.quiet_since = (!prompt_open).then_some(now);
    }

    /// The input was ended.
    pub(super) fn done(&mut self) {
        self.wanted = false;
    }

    pub(super) fn prompt_sent(&mut self) {
        self.result = false;
        self.quiet_since = None;
    }

    /// Whether the input is to be ended and nothing but an open prompt stands in the way.
    pub(super) fn settled(&self) -> bool {
        self.wanted && self.agents.is_empty() && self.idle.unwrap_or(self.result)
    }

    pub(super) fn deadline(&self) -> Option<Millis> {
        let since = self.quiet_since.filter(|_| self.wanted);
        since.map(|since| since.saturating_add(BETWEEN_TURNS))
    }

    pub(super) fn note(&mut self, message: &RawMessage, now: Millis) {
        let text = |path: &str| {
            let raw = message.pointer(path).ok().flatten()?;
            json::string(raw)
        };
        match (message.kind(), message.subtype()) {
            (MessageType::Result, _) => {
                self.result = true;
                self.quiet_since = Some(now);
            }
            (MessageType::System, Some("init")) => {
                self.quiet_since = None;
                self.result = false;
            }
            (MessageType::System, Some("session_state_changed")) => {
                self.idle = Some(text("/state").as_deref() == Some("idle"));
            }
            (MessageType::System, Some("task_started")) => {
                if matches!(
                    text("/task_type").as_deref(),
                    Some("local_agent" | "remote_agent")
                ) {
                    self.agents.extend(text("/task_id").map(String::from));
                }
            }
            (MessageType::System, Some("task_notification")) => {
                if let Some(id) = text("/task_id") {
                    if self.agents.remove(id.as_ref()) {
                        // Its own turn follows, with a result of its own.
                        self.result = false;
                        self.quiet_since = Some(now);
                    }
                }
            }
            _ => {}
        }
    }
}
