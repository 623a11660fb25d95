//! Steps that say with what a session starts.

use std::sync::Arc;

use serde_json::{json, Map, Value};
use towline::{Options, Session, SessionBuilder, Tool, ToolServer};

use crate::callbacks::{call, Kind};
use crate::host::Host;

/// What the setup steps so far have asked for.
#[derive(Default)]
pub(crate) struct Setup {
    options: Map<String, Value>,
    permission: Option<Value>,
    hooks: Vec<Value>,
    tools: Vec<Value>,
    stderr: Option<Value>,
}

impl Setup {
    /// Takes a setup step; `false` when it is none.
    pub(crate) fn take(&mut self, step: &Value) -> bool {
        if let Some(policy) = step.get("permission") {
            self.permission = Some(policy.clone());
        } else if let Some(hook) = step.get("hook") {
            self.hooks.push(hook.clone());
        } else if let Some(tool) = step.get("tool") {
            self.tools.push(tool.clone());
        } else if let Some(how) = step.get("stderr_callback") {
            self.stderr = Some(how.clone());
        } else if let Some(Value::Object(options)) = step.get("options") {
            for (name, value) in options {
                let fill = |bytes: &Value| "p".repeat(bytes.as_u64().unwrap_or(0) as usize);
                let (name, value) = match name.as_str() {
                    "system_prompt_fill" => ("system_prompt", json!(fill(value))),
                    "agents_fill" => ("agents", agents(fill(value).len())),
                    name => (name, value.clone()),
                };
                self.options.insert(name.into(), value);
            }
        } else {
            return false;
        }
        true
    }

    /// A builder with all of it.
    pub(crate) fn builder(&self, host: &Arc<Host>) -> Result<SessionBuilder, String> {
        let mut document = json!({"cli_path": host.fake_cli, "cwd": host.work});
        if let Value::Object(all) = &mut document {
            all.extend(self.options.clone());
        }
        let options =
            Options::from_json(&document.to_string()).map_err(|error| error.to_string())?;
        let mut builder = Session::builder(options);
        let callback = |kind: Kind, policy: &Value| {
            let (host, policy) = (host.clone(), policy.clone());
            move |handle: &towline::RequestHandle| call(&host, kind, &policy, handle)
        };
        if let Some(policy) = &self.permission {
            builder = builder.on_permission(callback(Kind::Permission, policy));
        }
        for hook in &self.hooks {
            builder = builder.on_hook_with(
                &text(hook, "event"),
                hook.get("matcher").and_then(Value::as_str),
                hook.get("timeout_s").and_then(Value::as_f64),
                None,
                callback(Kind::Hook, &hook["do"]),
            );
        }
        let mut names: Vec<String> = self.tools.iter().map(|tool| text(tool, "server")).collect();
        names.dedup();
        for name in names {
            let mut server = ToolServer::new(&name, "1.0.0");
            for tool in self.tools.iter().filter(|tool| tool["server"] == *name) {
                let empty = json!({"type": "object", "properties": {}});
                let schema = tool.get("schema").unwrap_or(&empty).to_string();
                let description = tool.get("description").and_then(Value::as_str);
                let handler = callback(Kind::Tool, &tool["do"]);
                let mut made = Tool::new(
                    text(tool, "name"),
                    description.unwrap_or("d"),
                    schema,
                    handler,
                );
                if let Some(annotations) = tool.get("annotations") {
                    made = made.annotations(annotations.to_string());
                }
                server.add(made).map_err(|error| error.to_string())?;
            }
            builder = builder.tool_server(server);
        }
        if let Some(how) = &self.stderr {
            let (record, fails) = (host.record.clone(), how == "raise");
            builder = builder.on_stderr(move |line| {
                record.change(|state| state.stderr.push(line.into()));
                assert!(!fails, "stderr callback");
            });
        }
        Ok(builder)
    }

    /// Whether the case means a callback to panic.
    pub(crate) fn panics(&self) -> bool {
        self.stderr.as_ref().is_some_and(|how| how == "raise")
    }
}

fn text(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .into()
}

/// Four agents of that many bytes in all.
fn agents(bytes: usize) -> Value {
    let agent = json!({"description": "d", "prompt": "p".repeat(bytes / 4)});
    (0..4)
        .map(|n| (format!("a{n}"), agent.clone()))
        .collect::<Map<_, _>>()
        .into()
}
