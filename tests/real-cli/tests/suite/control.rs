//! Control requests of the host (`protocol.md §8`).

use std::fs;

use serde_json::{json, Value};
use towline::protocol::control::envelope::UserMessage;
use towline::{fresh_uuid, Error, Reply, RequestError, Tool, ToolServer};
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Record, Stage};

on_both_versions!(set_model);
on_the_current_version!(
    an_unknown_request_is_refused,
    set_permission_mode,
    mcp_status,
    get_context_usage,
    get_settings,
    mcp_set_servers,
    rewind_files,
);

fn asked_models(stage: &Stage, prompt: &str) -> Vec<Value> {
    let asked = stage.api().requests();
    asked
        .iter()
        .filter(|request| request.is_message() && request.user_text().contains(prompt))
        .map(|request| request.body["model"].clone())
        .collect()
}

fn set_model(stage: &Stage) {
    let mut host = stage.open(json!({}));
    assert_eq!(host.turn("with the first").text(), "echo: with the first");
    host.ask("set_model", json!({"model": "claude-opus-4-5"}));
    host.turn("with the other");
    assert_eq!(asked_models(stage, "with the first"), ["claude-sonnet-4-5"]);
    let other = asked_models(stage, "with the other");
    assert_eq!(other.len(), 1);
    assert!(
        other[0]
            .as_str()
            .is_some_and(|name| name.starts_with("claude-opus-4-5")),
        "{other:?}"
    );
    host.end().is_clean();
}

fn an_unknown_request_is_refused(stage: &Stage) {
    let host = stage.open(json!({}));
    let error = host.try_ask("no_such_request", json!({})).unwrap_err();
    let Error::Request(RequestError::Remote(error)) = error else {
        panic!("{error}")
    };
    assert!(error.message.contains("no_such_request"), "{error}");
    assert_eq!(error.code.as_deref(), Some("unsupported_request"));
    host.end().is_clean();
}

fn set_permission_mode(stage: &Stage) {
    let asked = Record::new();
    let builder = stage.builder(json!({})).on_permission({
        let asked = asked.clone();
        move |_| {
            asked.push(());
            Reply::allow()
        }
    });
    let mut host = stage.start(builder);
    let write = |name: &str| {
        let path = stage.project().join(name);
        prompt_tool("Write", &json!({"file_path": path, "content": "text"}))
    };
    host.turn(&write("asked"));
    assert_eq!(asked.take().len(), 1);
    let answer = host.ask("set_permission_mode", json!({"mode": "acceptEdits"}));
    assert_eq!(answer["mode"], "acceptEdits");
    host.message("the status with the new mode", |message| {
        message["subtype"] == "status" && message["permissionMode"] == "acceptEdits"
    });
    host.turn(&write("not-asked"));
    assert!(asked.take().is_empty());
    assert!(stage.project().join("not-asked").exists());
    let error = host.try_ask("set_permission_mode", json!({"mode": "bypassPermissions"}));
    let Err(Error::Request(RequestError::Remote(error))) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.code.as_deref(), Some("bypass_not_launched"));
    host.end().is_clean();
}

fn kit() -> ToolServer {
    let mut server = ToolServer::new("kit", "1.0.0");
    server
        .add(Tool::new("one", "One.", r#"{"type":"object"}"#, |_| {
            Reply::text("one")
        }))
        .expect("a good definition");
    server
}

fn mcp_status(stage: &Stage) {
    let mut host = stage.start(stage.builder(json!({})).tool_server(kit()));
    // The first turn waits for the servers.
    host.turn("hello");
    let status = host.ask("mcp_status", json!({}));
    let servers = status["mcpServers"].as_array().expect("a list").clone();
    let kit = servers
        .iter()
        .find(|server| server["name"] == "kit")
        .expect("the in-process server is listed");
    assert_eq!(kit["status"], "connected");
    assert_eq!(kit["serverInfo"]["version"], "1.0.0");
    assert_eq!(kit["tools"][0]["name"], "one");
    host.end().is_clean();
}

fn get_context_usage(stage: &Stage) {
    let mut host = stage.open(json!({}));
    host.turn("hello");
    let usage = host.ask("get_context_usage", json!({}));
    assert!(usage["totalTokens"].is_u64() && usage["maxTokens"].is_u64());
    assert!(!usage["categories"].as_array().expect("a list").is_empty());
    host.end().is_clean();
}

fn get_settings(stage: &Stage) {
    let host = stage.open(json!({"settings": {"cleanupPeriodDays": 17}}));
    let settings = host.ask("get_settings", json!({}));
    assert_eq!(settings["effective"]["cleanupPeriodDays"], 17);
    assert!(settings["sources"].is_array(), "{settings:#}");
    host.end().is_clean();
}

fn mcp_set_servers(stage: &Stage) {
    let mut host = stage.start(stage.builder(json!({})).tool_server(kit()));
    host.turn("hello");
    let server = json!({"type": "stdio", "command": "/nowhere/mcp-server", "args": []});
    let sdk = json!({"type": "sdk", "name": "kit"});
    let answer = host.ask(
        "mcp_set_servers",
        json!({"servers": {"other": server, "kit": sdk}}),
    );
    assert_eq!(answer["added"], json!(["other"]));
    let answer = host.ask("mcp_set_servers", json!({"servers": {"kit": sdk}}));
    assert_eq!(answer["removed"], json!(["other"]));
    let status = host.ask("mcp_status", json!({}));
    assert_eq!(status["mcpServers"][0]["name"], "kit", "{status:#}");
    host.end().is_clean();
}

fn rewind_files(stage: &Stage) {
    let file = stage.project().join("draft");
    fs::write(&file, "before").unwrap();
    let mut host = stage.open(json!({
        "enableFileCheckpointing": true,
        "permissionMode": "acceptEdits",
    }));
    let read = json!({"file_path": file});
    host.turn(&prompt_tool("Read", &read));
    let uuid = fresh_uuid();
    let write = json!({"file_path": file, "content": "after"});
    let prompt = prompt_tool("Write", &write);
    let sent = host.send_message(&UserMessage {
        uuid: Some(uuid.as_str().into()),
        ..UserMessage::text(prompt.as_str())
    });
    assert_eq!(host.finish(sent).text(), "done");
    assert_eq!(fs::read_to_string(&file).unwrap(), "after");
    let dry = host.ask(
        "rewind_files",
        json!({"user_message_id": uuid, "dry_run": true}),
    );
    assert_eq!(dry["canRewind"], true);
    assert_eq!(dry["filesChanged"], json!([file]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "after");
    let done = host.ask("rewind_files", json!({"user_message_id": uuid}));
    assert_eq!(done["canRewind"], true);
    assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    assert!(host
        .try_ask("rewind_files", json!({"user_message_id": fresh_uuid()}))
        .is_err());
    host.end().is_clean();
}
