//! Sessions saved on disk. Files are read and written on libuv's threads.

use std::path::{Path, PathBuf};

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Task};
use napi_derive::napi;
use serde::Deserialize;
use towline::transcripts::{
    Dialect, ForkOptions, ListOptions, MessageOptions, SavedSessions, SessionMessage,
};

use crate::error::invalid;

/// What is to be done: an operation and its arguments, absent ones unset.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    operation: String,
    /// The CLI's config directory.
    config_dir: Option<PathBuf>,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    agent_id: String,
    dir: Option<PathBuf>,
    limit: Option<usize>,
    offset: Option<usize>,
    include_worktrees: Option<bool>,
    include_programmatic: Option<bool>,
    include_system_messages: Option<bool>,
    title: Option<String>,
    tag: Option<String>,
    up_to_message_id: Option<String>,
}

/// An operation under way.
pub(crate) struct SavedTask(Request);

impl Task for SavedTask {
    type Output = String;
    type JsValue = String;

    fn compute(&mut self) -> napi::Result<String> {
        self.0.run()
    }

    fn resolve(&mut self, _: Env, output: String) -> napi::Result<String> {
        Ok(output)
    }
}

/// Does what a JSON document asks; gives a JSON text.
#[napi]
pub(crate) fn saved_sessions(request: String) -> napi::Result<AsyncTask<SavedTask>> {
    let request =
        serde_json::from_str(&request).map_err(|error| invalid("INVALID_ARGUMENT", error))?;
    Ok(AsyncTask::new(SavedTask(request)))
}

impl Request {
    fn run(&self) -> napi::Result<String> {
        let saved = match &self.config_dir {
            Some(folder) => SavedSessions::in_config_dir(folder),
            None => SavedSessions::of_process(),
        };
        let saved = saved.in_dialect(Dialect::TypeScript);
        let (id, dir) = (self.session_id.as_str(), self.dir.as_deref());
        let messages = MessageOptions {
            limit: self.limit,
            offset: self.offset.unwrap_or_default(),
            include_system: self.include_system_messages.unwrap_or_default(),
        };
        let nothing = || "null".to_string();
        let failed = |error: towline::transcripts::Error| invalid("SESSION_STORE", error);
        Ok(match self.operation.as_str() {
            "listSessions" => list(&saved, self, dir),
            "getSessionInfo" => saved
                .info(id, dir)
                .map_or_else(nothing, |info| info.to_json()),
            "getSessionMessages" => saved.with_messages(
                id,
                dir,
                &messages,
                SessionMessage::list_to_json_with_timestamps,
            ),
            "listSubagents" => serde_json::json!(saved.subagents(id, dir)).to_string(),
            "getSubagentMessages" => saved.with_subagent_messages(
                id,
                &self.agent_id,
                dir,
                &messages,
                SessionMessage::list_to_json_with_timestamps,
            ),
            "renameSession" => {
                let title = self.title.as_deref().unwrap_or_default();
                saved.rename(id, title, dir).map_err(failed)?;
                nothing()
            }
            "tagSession" => {
                saved.tag(id, self.tag.as_deref(), dir).map_err(failed)?;
                nothing()
            }
            "archiveSession" => {
                saved.archive(id, dir).map_err(failed)?;
                nothing()
            }
            "unarchiveSession" => {
                saved.unarchive(id, dir).map_err(failed)?;
                nothing()
            }
            "deleteSession" => {
                saved.delete(id, dir).map_err(failed)?;
                nothing()
            }
            "forkSession" => {
                let options = ForkOptions {
                    up_to_message_id: self.up_to_message_id.clone(),
                    title: self.title.clone(),
                };
                let fork = saved.fork(id, dir, &options).map_err(failed)?;
                serde_json::json!({"sessionId": fork}).to_string()
            }
            other => {
                let text = format!("no operation is called {other:?}");
                return Err(invalid("INVALID_ARGUMENT", text));
            }
        })
    }
}

fn list(saved: &SavedSessions, request: &Request, dir: Option<&Path>) -> String {
    let defaults = ListOptions::default();
    let options = ListOptions {
        directory: dir.map(Path::to_path_buf),
        limit: request.limit,
        offset: request.offset.unwrap_or_default(),
        include_worktrees: request
            .include_worktrees
            .unwrap_or(defaults.include_worktrees),
        include_programmatic: request
            .include_programmatic
            .unwrap_or(defaults.include_programmatic),
    };
    let infos = saved.list(&options);
    let infos: Vec<String> = infos.iter().map(|info| info.to_json()).collect();
    format!("[{}]", infos.join(","))
}
