//! What a CLI does in its life: some turns, and perhaps something wrong on the way.

use serde_json::{json, Value};

use crate::chance::Chance;

/// Each is in as many scripts as the others.
pub(crate) const FAULTS: [&str; 21] = [
    "none",
    "exit",
    "crash",
    "stop",
    "hang",
    "stop reading",
    "never answer",
    "close stdin",
    "close stdout",
    "close stderr",
    "flood stderr",
    "garbage",
    "flood requests",
    "flood messages",
    "big line",
    "over-long line",
    "half a line",
    "answer twice",
    "answer another",
    "dead at once",
    // The last.
    "grandchild",
];

/// One that is a line longer than the sessions' limit.
pub(crate) const MAX_LINE: u64 = 2 << 20;

/// The script of one life with this fault, and the number of prompts that it is made for.
pub(crate) fn script(chance: &mut Chance, fault: &str) -> (Value, u64) {
    if fault == "dead at once" {
        return (json!([{"stderr": "no licence\n"}, {"exit": 1}]), 1);
    }
    let turns = chance.between(1, 4);
    let mut steps = Vec::new();
    for turn in 0..turns {
        steps.push(json!({"expect": {"type": "user"}, "timeout_ms": 120_000}));
        steps.extend(said(chance));
        if chance.one_in(2) {
            steps.extend(asks(chance, turn));
        }
        steps.push(json!({"sleep_ms": chance.between(0, 3_000)}));
        steps.extend(said(chance));
        steps.push(
            json!({"emit": {"type": "result", "subtype": "success", "is_error": false,
            "result": "ok", "num_turns": 1, "session_id": "s", "uuid": "u"}}),
        );
    }
    let at = chance.below(steps.len() as u64 + 1) as usize;
    steps.splice(at..at, wrong(chance, fault));
    if chance.one_in(6) {
        steps.insert(0, json!({"ignore_signals": ["SIGTERM"]}));
    }
    if chance.one_in(6) {
        steps.insert(0, json!({"on_eof": "ignore"}));
    }
    (steps.into(), turns)
}

fn said(chance: &mut Chance) -> Vec<Value> {
    let text = "word ".repeat(chance.between(1, 400) as usize);
    let deltas = json!({"repeat": chance.between(1, 60), "steps": [{"emit": {"type": "stream_event",
        "session_id": "s", "uuid": "u", "parent_tool_use_id": null, "event": {"type":
        "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word $i"}}}}]});
    let assistant = json!({"emit": {"type": "assistant", "session_id": "s", "uuid": "u",
        "parent_tool_use_id": null, "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "x", "content": [{"type": "text", "text": text}]}}});
    let mirror = json!({"emit": {"type": "transcript_mirror",
        "filePath": "@CONFIG@/projects/-soak/0b54ad2e-4b52-4df5-a3ad-0ec39ba9a1d4.jsonl",
        "entries": [{"type": "user", "uuid": "$i", "message": {"role": "user", "content": text}}]}});
    vec![deltas, mirror, assistant]
}

/// A request of the CLI; it waits for the answer half of the times.
fn asks(chance: &mut Chance, turn: u64) -> Vec<Value> {
    let id = format!("asked-{turn}");
    let request = match chance.below(3) {
        0 => json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"},
            "tool_use_id": "t"}),
        1 => json!({"subtype": "hook_callback", "callback_id": "hook_0", "tool_use_id": "t",
            "input": {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t",
            "cwd": "/w", "tool_name": "Bash", "tool_input": {}}}),
        _ => json!({"subtype": "mcp_message", "server_name": "calc", "message": {"jsonrpc": "2.0",
            "id": 7, "method": "tools/call", "params": {"name": "add", "arguments": {}}}}),
    };
    let asked = json!({"emit": {"type": "control_request", "request_id": id, "request": request}});
    match chance.below(4) {
        0 => vec![asked],
        1 => vec![
            asked,
            json!({"emit": {"type": "control_cancel_request", "request_id": id}}),
        ],
        _ => vec![
            asked,
            json!({"expect": {"type": "control_response", "response": {"request_id": id}},
                "timeout_ms": 60_000}),
        ],
    }
}

fn wrong(chance: &mut Chance, fault: &str) -> Vec<Value> {
    let request = json!({"type": "control_request", "request_id": "flood-$i",
        "request": {"subtype": "of_no_known_kind"}});
    match fault {
        "exit" => vec![json!({"exit": chance.pick(&[0, 1, 3, 143])})],
        "crash" => vec![json!({"kill": "SIGSEGV"})],
        "stop" => vec![json!({"kill": "SIGSTOP"})],
        "hang" => vec![
            json!({"ignore_signals": ["SIGTERM"]}),
            json!({"on_eof": "ignore"}),
            json!({"ignore_stdin": true}),
            json!({"sleep_ms": 600_000}),
        ],
        "stop reading" => vec![json!({"ignore_stdin": true}), json!({"sleep_ms": 600_000})],
        "never answer" => vec![json!({"sleep_ms": 600_000})],
        "close stdin" => vec![json!({"close_stdin": true})],
        "close stdout" => vec![json!({"close_stdout": true})],
        "close stderr" => vec![json!({"close_stderr": true})],
        "flood stderr" => vec![json!({"stderr": format!("{}\n", "flood ".repeat(21)),
            "times": 10_000})],
        "garbage" => vec![json!({"emit_raw": "Debugger attached.\n{\"type\":\n[1,2]\n\u{0}\n"})],
        "flood requests" => vec![json!({"repeat": 300, "steps": [{"emit": request}]})],
        "flood messages" => vec![
            json!({"repeat": 100, "steps": [{"emit_big": {"type": "system",
            "subtype": "flood", "fill": "@FILL@"}, "bytes": 20_000}]}),
        ],
        "big line" => vec![json!({"emit_big": {"type": "system", "subtype": "big",
            "fill": "@FILL@"}, "bytes": MAX_LINE / 2})],
        "over-long line" => vec![json!({"emit_big": {"type": "system", "subtype": "big",
            "fill": "@FILL@"}, "bytes": MAX_LINE * 2})],
        "half a line" => vec![
            json!({"emit_raw": "{\"type\":\"assistant\",\"mess"}),
            json!({"exit": 1}),
        ],
        "answer twice" => vec![
            json!({"expect": {"request": {"subtype": "set_model"}}, "timeout_ms": 500}),
            json!({"answer": {}}),
            json!({"answer": {}}),
        ],
        "answer another" => vec![json!({"emit": {"type": "control_response", "response":
            {"subtype": "success", "request_id": "nobody", "response": {}}}})],
        "grandchild" => vec![json!({"spawn_child": 600}), json!({"exit": 3})],
        _ => vec![],
    }
}
