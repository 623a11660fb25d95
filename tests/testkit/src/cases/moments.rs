//! Cases that are made: everything that a CLI can send, at every moment of a session.

use std::path::PathBuf;

use super::Case;
use crate::json::Json;

/// When the CLI sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Before the host's `initialize` is read.
    BeforeHandshake,
    /// Between `initialize` and its answer.
    InHandshake,
    /// After a result, before the next prompt is read.
    BetweenTurns,
    InTurn,
    /// While a permission callback of the host waits.
    InCallback,
    /// When the host has asked one question and ended its input.
    Ending,
    /// When the host closes.
    Closing,
}

impl Moment {
    const ALL: [Moment; 7] = [
        Moment::BeforeHandshake,
        Moment::InHandshake,
        Moment::BetweenTurns,
        Moment::InTurn,
        Moment::InCallback,
        Moment::Ending,
        Moment::Closing,
    ];

    fn name(self) -> &'static str {
        match self {
            Moment::BeforeHandshake => "before-handshake",
            Moment::InHandshake => "in-handshake",
            Moment::BetweenTurns => "between-turns",
            Moment::InTurn => "in-turn",
            Moment::InCallback => "in-callback",
            Moment::Ending => "ending",
            Moment::Closing => "closing",
        }
    }

    /// The host's input is over: it cannot answer any more.
    fn is_late(self) -> bool {
        matches!(self, Moment::Ending | Moment::Closing)
    }
}

/// What has to become of it.
#[derive(Clone, Copy)]
enum Fate {
    /// A message that every host gets, once and in its place; the part tells it from others.
    Delivered(&'static str),
    /// The same for a host that gets messages of every type; another gets it once or not at all.
    DeliveredToSome(&'static str),
    /// No message comes of it.
    Swallowed,
    /// A request: there is one answer to it, which has this part.
    Answered(&'static str),
    /// A request that is not for this host, which leaves it to others (`protocol.md §8`).
    Unanswered,
    /// A request that is taken back at once: the callback is cancelled, and nothing is answered.
    Withdrawn,
    /// The host's stderr callback gets the line.
    OnStderr,
}

use Fate::{Answered, Delivered, DeliveredToSome, OnStderr, Swallowed, Unanswered, Withdrawn};

/// A name, what is written (an object as a line, anything else as it is), and what comes of it.
const THINGS: &[(&str, &str, Fate)] = &[
    (
        "assistant",
        r#"{"type":"assistant","message":{"id":"msg_t","type":"message","role":"assistant","model":"claude-x","content":[{"type":"text","text":"thing"}],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s-1","uuid":"u-t"}"#,
        Delivered(r#"{"type":"assistant","text":"thing"}"#),
    ),
    (
        "user",
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_t","content":"thing"}]},"parent_tool_use_id":null,"session_id":"s-1","uuid":"u-t"}"#,
        Delivered(r#"{"type":"user"}"#),
    ),
    (
        "stream_event",
        r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"thing"}},"parent_tool_use_id":null,"session_id":"s-1","uuid":"u-t"}"#,
        Delivered(r#"{"type":"stream_event"}"#),
    ),
    (
        "system-status",
        r#"{"type":"system","subtype":"status","status":"compacting","session_id":"s-1","uuid":"u-t"}"#,
        Delivered(r#"{"type":"system","subtype":"status"}"#),
    ),
    (
        "system-new",
        r#"{"type":"system","subtype":"something_new","session_id":"s-1","uuid":"u-t","more":[1,{"a":null}]}"#,
        Delivered(r#"{"type":"system","subtype":"something_new"}"#),
    ),
    (
        "rate_limit_event",
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.9},"session_id":"s-1","uuid":"u-t"}"#,
        Delivered(r#"{"type":"rate_limit_event"}"#),
    ),
    (
        "conversation_reset",
        r#"{"type":"conversation_reset","new_conversation_id":"s-2","session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"conversation_reset"}"#),
    ),
    (
        "tool_progress",
        r#"{"type":"tool_progress","tool_use_id":"toolu_t","tool_name":"Bash","parent_tool_use_id":null,"elapsed_time_seconds":1.5,"session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"tool_progress"}"#),
    ),
    (
        "tool_use_summary",
        r#"{"type":"tool_use_summary","summary":"s","preceding_tool_use_ids":["toolu_t"],"session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"tool_use_summary"}"#),
    ),
    (
        "auth_status",
        r#"{"type":"auth_status","isAuthenticating":false,"output":[],"session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"auth_status"}"#),
    ),
    (
        "prompt_suggestion",
        r#"{"type":"prompt_suggestion","suggestion":"s","session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"prompt_suggestion"}"#),
    ),
    (
        "unknown-type",
        r#"{"type":"something_new","a":{"b":[]},"session_id":"s-1","uuid":"u-t"}"#,
        DeliveredToSome(r#"{"type":"something_new"}"#),
    ),
    ("keep_alive", r#"{"type":"keep_alive"}"#, Swallowed),
    (
        "transcript_mirror",
        r#"{"type":"transcript_mirror","filePath":"/nowhere/s-1.jsonl","entries":[{"uuid":"u-t"}]}"#,
        Swallowed,
    ),
    ("blank-line", "\n", Swallowed),
    ("blank-lines-with-space", " \t\r\n\r\n", Swallowed),
    ("garbage", "no JSON at all {\n", Swallowed),
    ("no-object", "[1,2]\n", Swallowed),
    ("no-type", "{\"a\":1}\n", Swallowed),
    (
        "answer-to-nothing",
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"none-of-yours","response":{}}}"#,
        Swallowed,
    ),
    (
        "cancel-of-nothing",
        r#"{"type":"control_cancel_request","request_id":"none-of-mine"}"#,
        Swallowed,
    ),
    ("stderr", "thing on stderr\n", OnStderr),
    (
        "can_use_tool",
        r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"toolu_t","permission_suggestions":[]}"#,
        Answered(r#"{"subtype":"success","response":{"behavior":"allow"}}"#),
    ),
    (
        "withdrawn",
        r#"{"subtype":"can_use_tool","tool_name":"Slow","input":{"command":"ls"},"tool_use_id":"toolu_t","permission_suggestions":[]}"#,
        Withdrawn,
    ),
    (
        "hook_callback",
        r#"{"subtype":"hook_callback","callback_id":"hook_0","tool_use_id":"toolu_t","input":{"hook_event_name":"PreToolUse","session_id":"s-1","transcript_path":"/t","cwd":"/w","tool_name":"Bash","tool_input":{}}}"#,
        Answered(r#"{"subtype":"success"}"#),
    ),
    (
        "hook_callback-unknown",
        r#"{"subtype":"hook_callback","callback_id":"nobody","input":{"hook_event_name":"PreToolUse"}}"#,
        Answered("{}"),
    ),
    (
        "mcp-initialize",
        r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}}}"#,
        Answered(r#"{"subtype":"success","response":{"mcp_response":{"id":0,"result":{}}}}"#),
    ),
    (
        "mcp-tools-list",
        r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#,
        Answered(r#"{"subtype":"success","response":{"mcp_response":{"id":1}}}"#),
    ),
    (
        "mcp-tools-call",
        r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}}"#,
        Answered(r#"{"subtype":"success","response":{"mcp_response":{"id":2}}}"#),
    ),
    (
        "mcp-notification",
        r#"{"subtype":"mcp_message","server_name":"calc","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}"#,
        Answered(r#"{"subtype":"success"}"#),
    ),
    (
        "mcp-unknown-server",
        r#"{"subtype":"mcp_message","server_name":"nope","message":{"jsonrpc":"2.0","id":3,"method":"tools/list"}}"#,
        Answered("{}"),
    ),
    (
        "elicitation",
        r#"{"subtype":"elicitation","mcp_server_name":"outside","message":"?","requested_schema":{"type":"object","properties":{}}}"#,
        Answered("{}"),
    ),
    (
        "request_user_dialog",
        r#"{"subtype":"request_user_dialog","dialog_kind":"something","payload":{}}"#,
        Unanswered,
    ),
    (
        "remote-request",
        r#"{"subtype":"remote_something","a":1}"#,
        Unanswered,
    ),
    (
        "oauth_token_refresh",
        r#"{"subtype":"oauth_token_refresh"}"#,
        Answered("{}"),
    ),
    (
        "host_auth_token_refresh",
        r#"{"subtype":"host_auth_token_refresh"}"#,
        Answered("{}"),
    ),
    (
        "unknown-request",
        r#"{"subtype":"something_new","a":1}"#,
        Answered(r#"{"subtype":"error"}"#),
    ),
    (
        "request-without-subtype",
        r#"{"a":1}"#,
        Answered(r#"{"subtype":"error"}"#),
    ),
];

/// What the turns of a case say.
fn says(text: &str) -> String {
    format!(
        r#"{{"emit":{{"type":"assistant","message":{{"id":"msg_{text}","type":"message","role":"assistant","model":"claude-x","content":[{{"type":"text","text":"{text}"}}],"stop_reason":null,"usage":{{"input_tokens":1,"output_tokens":1}}}},"parent_tool_use_id":null,"session_id":"s-1","uuid":"u-{text}"}}}}"#
    )
}

const INITIALIZE: &str =
    r#"{"expect":{"type":"control_request","request":{"subtype":"initialize"}}}"#;
const OPENED: &str = r#"{"answer":{"commands":[],"agents":[],"models":[],"output_style":"default","available_output_styles":["default"],"account":{}}}"#;
const USER: &str = r#"{"expect":{"type":"user"}}"#;
const DONE: &str = r#"{"emit":{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"duration_api_ms":4,"num_turns":1,"result":"ok","stop_reason":"end_turn","session_id":"s-1","total_cost_usd":0.0,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{},"permission_denials":[],"uuid":"u-r"}}"#;
const SLOW: &str = r#"{"emit":{"type":"control_request","request_id":"slow","request":{"subtype":"can_use_tool","tool_name":"Slow","input":{},"tool_use_id":"toolu_slow","permission_suggestions":[]}}}"#;
const SLOW_ANSWERED: &str = r#"{"expect":{"type":"control_response","response":{"subtype":"success","request_id":"slow","response":{"behavior":"allow"}}}}"#;
const EOF: &str = r#"{"expect_eof":true}"#;
const EXIT: &str = r#"{"exit":0}"#;

/// The steps by which the thing is sent, and its answer read.
fn sent(what: &str, fate: Fate, moment: Moment) -> Vec<String> {
    let request = |what: &str| {
        format!(r#"{{"emit":{{"type":"control_request","request_id":"thing","request":{what}}}}}"#)
    };
    let text = || String::from_utf8_lossy(&Json::string(what).ascii()).into_owned();
    match fate {
        Answered(_) if moment.is_late() => vec![request(what)],
        Unanswered => vec![request(what)],
        Answered(part) => vec![
            request(what),
            format!(
                r#"{{"expect":{{"type":"control_response","response":{}}}}}"#,
                with_member(part, r#""request_id":"thing""#)
            ),
        ],
        Withdrawn => {
            let cancel = r#"{"emit":{"type":"control_cancel_request","request_id":"thing"}}"#;
            vec![request(what), r#"{"sleep_ms":50}"#.into(), cancel.into()]
        }
        OnStderr => vec![format!(r#"{{"stderr":{}}}"#, text())],
        _ if what.starts_with('{') && !what.ends_with('\n') => {
            vec![format!(r#"{{"emit":{what}}}"#)]
        }
        _ => vec![format!(r#"{{"emit_raw":{}}}"#, text())],
    }
}

/// An object with one member more.
fn with_member(object: &str, member: &str) -> String {
    let rest = object.strip_prefix('{').unwrap_or(object);
    match rest {
        "}" => format!("{{{member}}}"),
        rest => format!("{{{member},{rest}"),
    }
}

/// The steps of the CLI.
fn script(what: &str, fate: Fate, moment: Moment) -> String {
    let thing = sent(what, fate, moment);
    let [a, b] = ["a", "b"].map(says);
    let mut steps: Vec<&str> = Vec::new();
    let at = |when: Moment, steps: &mut Vec<_>| {
        if when == moment {
            steps.extend(thing.iter().map(String::as_str));
        }
    };
    at(Moment::BeforeHandshake, &mut steps);
    steps.push(INITIALIZE);
    at(Moment::InHandshake, &mut steps);
    steps.extend([OPENED, USER, &a]);
    at(Moment::InTurn, &mut steps);
    if moment == Moment::InCallback {
        steps.push(SLOW);
        at(Moment::InCallback, &mut steps);
        steps.push(SLOW_ANSWERED);
    }
    steps.push(DONE);
    at(Moment::BetweenTurns, &mut steps);
    if moment == Moment::Ending {
        steps.push(EOF);
        at(Moment::Ending, &mut steps);
        steps.extend([&b, EXIT]);
    } else {
        steps.extend([USER, &b, DONE, EOF]);
        at(Moment::Closing, &mut steps);
        steps.push(EXIT);
    }
    steps.join(",")
}

/// The steps of the host.
fn host(moment: Moment) -> String {
    let before = r#"{"permission":{"by_tool":{"Bash":{"allow":true},"Slow":{"sleep_ms":400,"then":{"allow":true}}}}},
        {"hook":{"event":"PreToolUse","matcher":null,"do":{"return":{}}}},
        {"tool":{"server":"calc","name":"add","schema":{"type":"object","properties":{"a":{"type":"number"}}},"do":{"return":{"content":[{"type":"text","text":"3"}]}}}},
        {"stderr_callback":true}"#;
    let after = match moment {
        Moment::Ending => r#"{"query":"one"},{"recv_until":"end"}"#,
        _ => {
            r#"{"connect":true},{"send_user":"one"},{"recv_until":"result"},{"send_user":"two"},{"recv_until":"result"}"#
        }
    };
    format!(r#"{before},{after},{{"close":true,"max_ms":6000}}"#)
}

/// What has to hold.
fn expected(fate: Fate, moment: Moment, every_type: bool) -> String {
    let says = |text| format!(r#"{{"type":"assistant","text":"{text}"}}"#);
    let part = match fate {
        Delivered(part) => Some(part),
        DeliveredToSome(part) if every_type => Some(part),
        _ => None,
    };
    let in_order = match (moment, part) {
        // What comes while the host closes is not for it any more.
        (Moment::Closing, _) | (_, None) => vec![says("a"), says("b")],
        (Moment::BeforeHandshake | Moment::InHandshake, Some(part)) => {
            vec![part.into(), says("a"), says("b")]
        }
        (_, Some(part)) => vec![says("a"), part.into(), says("b")],
    };
    let results = if moment == Moment::Ending { 1 } else { 2 };
    let mut expected = vec![
        format!(r#"{{"order":[{}]}}"#, in_order.join(",")),
        format!(r#"{{"count":{{"type":"result"}},"eq":{results}}}"#),
        r#"{"no_loop_errors":true}"#.into(),
    ];
    if let DeliveredToSome(part) = fate {
        expected.push(format!(r#"{{"count":{part},"le":1}}"#));
    }
    let answers = |request: &str, times| {
        format!(
            r#"{{"cli":{{"type":"control_response","response":{{"request_id":"{request}"}}}},"eq":{times}}}"#
        )
    };
    match fate {
        _ if moment.is_late() => {}
        Answered(_) => expected.push(answers("thing", 1)),
        Withdrawn => {
            expected.push(answers("thing", 0));
            expected.push(r#"{"callback_cancelled":1}"#.into());
        }
        OnStderr => {}
        _ => {
            // Nothing but the slow permission is answered.
            let slow = u32::from(moment == Moment::InCallback);
            expected.push(format!(
                r#"{{"cli":{{"type":"control_response"}},"eq":{slow}}}"#
            ));
        }
    }
    if matches!(fate, OnStderr) && moment != Moment::Closing {
        expected.push(r#"{"stderr_lines":1}"#.into());
        expected.push(r#"{"stderr_contains":"thing on stderr"}"#.into());
    }
    expected.join(",")
}

/// Every thing at every moment, each a case of its own. A host that gets messages of every type gets
/// them all; otherwise those that the official packages leave out may be missing.
///
/// # Errors
/// A text, when a case is no JSON.
pub(super) fn moments(every_type: bool) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for moment in Moment::ALL {
        for (name, what, fate) in THINGS {
            let id = format!("{}-{name}", moment.name());
            let document = format!(
                r#"{{"id":"{id}","kind":"moments","title":"{name}, {}","cli_script":[{}],"host":[{}],"expect":[{}]}}"#,
                moment.name().replace('-', " "),
                script(what, *fate, moment),
                host(moment),
                expected(*fate, moment, every_type)
            );
            let document =
                Json::parse(document.as_bytes()).map_err(|error| format!("{id}: {error}"))?;
            cases.push(Case {
                id,
                kind: "moments".into(),
                title: format!("{name}, {}", moment.name().replace('-', " ")),
                path: PathBuf::from("moments"),
                document,
            });
        }
    }
    Ok(cases)
}
