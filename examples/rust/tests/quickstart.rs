//! The quick start with a scripted CLI: its exit status tells whether the turn had a result.

use std::process::Command;

use serde_json::{json, Value};
use towline_testkit::Program;

fn assistant(text: &str) -> Value {
    json!({"emit": {"type": "assistant", "session_id": "s", "uuid": "a", "parent_tool_use_id": null,
        "message": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": text}]}}})
}

/// Whether it succeeds with a CLI that does this after the prompt, what it prints, and what it says of
/// the failure.
fn played(steps: &[Value]) -> (bool, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut script = vec![json!({"expect": {"type": "user"}})];
    script.extend_from_slice(steps);
    std::fs::write(path("script.json"), Value::from(script).to_string()).unwrap();
    std::os::unix::fs::symlink(Program::FakeCli.locate().unwrap(), path("claude")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .env("PATH", folder.path())
        .env("FAKE_CLI_SCRIPT", path("script.json"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn half_an_answer_is_a_failure() {
    let result = json!({"emit": {"type": "result", "subtype": "success", "is_error": false,
        "result": "whole", "num_turns": 1, "session_id": "s", "uuid": "u"}});
    let (succeeded, printed, told) = played(&[assistant("whole"), result]);
    assert!(succeeded && printed.contains("whole"), "{told}");
    assert_eq!(told, "");

    let (succeeded, printed, told) = played(&[assistant("half"), json!({"exit": 0})]);
    assert!(!succeeded && printed.contains("half"), "{printed}");
    assert_eq!(told, "the turn ended without a result\n");

    let (succeeded, _, told) = played(&[json!({"exit": 3})]);
    assert!(!succeeded && told.contains("exit status 3"), "{told}");
}
