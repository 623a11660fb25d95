//! Functions over saved sessions as JSON documents.

use std::fs;

use serde_json::{json, Value};
use towline_transcripts::{OperationError, SavedOperation};

use crate::tree::{id, prompt, Tree};

fn run(tree: &Tree, mut document: Value) -> Result<Value, OperationError> {
    let config = tree.saved.projects_dir().parent().unwrap();
    document["env"] = json!({"CLAUDE_CONFIG_DIR": config, "HOME": null});
    let answer = SavedOperation::from_json(&document.to_string())?.run()?;
    Ok(serde_json::from_str(&answer).unwrap())
}

#[test]
fn every_operation() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let transcript = tree.session(&directory, 1, prompt("hello"));
    let agents = transcript.with_extension("").join("subagents");
    fs::create_dir_all(&agents).unwrap();
    fs::write(agents.join("agent-a.jsonl"), prompt("sub")).unwrap();
    let ask = |operation: &str, arguments: Value| {
        let mut document = json!({"operation": operation, "session_id": id(1)});
        for (name, value) in arguments.as_object().unwrap() {
            document[name] = value.clone();
        }
        run(&tree, document).unwrap()
    };
    let none = json!({});
    for (operation, arguments) in [
        (
            "rename_session",
            json!({"title": "t", "directory": directory}),
        ),
        ("tag_session", json!({"tag": "v"})),
        ("archive_session", none.clone()),
    ] {
        assert_eq!(ask(operation, arguments), Value::Null);
    }
    let info = ask("get_session_info", json!({"dir": directory}));
    assert_eq!(info["summary"], "t");
    assert_eq!(
        (&info["tag"], &info["archived"]),
        (&json!("v"), &json!(true))
    );
    assert_eq!(info["created_at"], Value::Null);
    let listed = run(
        &tree,
        json!({"operation": "list_sessions", "directory": directory, "limit": -1, "offset": -1}),
    );
    assert_eq!(listed.unwrap(), json!([info]));
    let messages = ask(
        "get_session_messages",
        json!({"limit": 5, "includeSystemMessages": true}),
    );
    assert_eq!(messages[0]["message"]["content"], "hello");
    assert_eq!(ask("list_subagents", none.clone()), json!(["a"]));
    let messages = ask("get_subagent_messages", json!({"agent_id": "a"}));
    assert_eq!(messages[0]["uuid"], "sub");
    assert_eq!(ask("unarchive_session", none.clone()), Value::Null);
    assert_eq!(ask("tag_session", json!({"tag": null})), Value::Null);
    let info = ask("get_session_info", none.clone());
    assert_eq!(
        (&info["tag"], &info["archived"]),
        (&Value::Null, &json!(false))
    );
    let fork = ask("fork_session", json!({"title": "f"}));
    let fork = fork["session_id"].as_str().unwrap();
    assert!(tree.saved.info(fork, None).is_some());
    assert_eq!(ask("delete_session", none.clone()), Value::Null);
    assert_eq!(ask("get_session_info", none), Value::Null);
}

#[test]
fn what_is_refused() {
    let tree = Tree::new();
    for document in [
        json!({"operation": "explode"}),
        json!({"operation": "list_sessions", "limt": 1}),
        json!({"operation": "list_sessions", "limit": "x"}),
        json!({"operation": "get_session_info"}),
        json!({"operation": "rename_session", "session_id": id(1)}),
        json!({"operation": "get_subagent_messages", "session_id": id(1)}),
    ] {
        let error = run(&tree, document.clone()).unwrap_err();
        assert!(
            matches!(error, OperationError::InvalidArgument(_)),
            "{document}: {error}"
        );
    }
    let error = run(
        &tree,
        json!({"operation": "delete_session", "session_id": id(1)}),
    );
    assert!(matches!(error, Err(OperationError::Session(_))));
    assert!(SavedOperation::from_json("[]").is_err());
}
