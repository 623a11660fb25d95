//! The control requests and answers of every recording of the real CLI, in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use towline_protocol::control::answer::{prepare_answer, validate_answer, PermissionUpdate};
use towline_protocol::control::catalogue::{self, FieldKind, FieldSpec, Presence, CATALOGUE};
use towline_protocol::control::envelope::{
    write_request, IncomingRequest, Response, ResponseBody, UserMessage,
};
use towline_protocol::control::incoming::{HookEvent, HookEventInput, Incoming, IncomingKind};
use towline_protocol::json::{pointer, string};

struct Line {
    recording: String,
    from_cli: bool,
    text: String,
    value: Value,
}

/// Every line of every recording that is an object, in order.
fn lines() -> Vec<Line> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/transcripts")
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    paths.sort();
    assert!(paths.len() > 100, "{} recordings", paths.len());
    let mut lines = Vec::new();
    for path in paths {
        let recording = path.file_stem().unwrap().to_string_lossy().into_owned();
        for record in std::fs::read_to_string(&path).unwrap().lines() {
            // The recorded line's own text, so that order and spelling stay the CLI's.
            let text = pointer(record, "/line").unwrap().expect("line");
            let value: Value = serde_json::from_str(text).unwrap();
            if value.is_object() {
                lines.push(Line {
                    recording: recording.clone(),
                    from_cli: pointer(record, "/dir").unwrap() == Some("\"out\""),
                    text: text.into(),
                    value,
                });
            }
        }
    }
    lines
}

fn of_type<'a>(
    lines: &'a [Line],
    from_cli: bool,
    kind: &'a str,
) -> impl Iterator<Item = &'a Line> + 'a {
    lines
        .iter()
        .filter(move |line| line.from_cli == from_cli && line.value["type"] == kind)
}

#[test]
fn every_request_of_the_cli_decodes_typed() {
    let lines = lines();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut events: BTreeSet<String> = BTreeSet::new();
    for line in of_type(&lines, true, "control_request") {
        let place = &line.recording;
        let envelope = IncomingRequest::read(&line.text).unwrap();
        let request = &line.value["request"];
        assert_eq!(
            envelope.request_id.key(),
            line.value["request_id"].as_str().unwrap()
        );
        assert_eq!(envelope.subtype, request["subtype"].as_str().unwrap());
        *seen
            .entry(envelope.subtype.clone().into_owned())
            .or_default() += 1;
        let text = |name: &str| request[name].as_str().unwrap_or_default().to_owned();
        match Incoming::decode(&envelope.subtype, envelope.request).unwrap() {
            Incoming::CanUseTool(ask) => {
                assert_eq!(ask.tool_name, text("tool_name"));
                assert_eq!(ask.tool_use_id, text("tool_use_id"));
                assert!(!ask.tool_use_id.is_empty());
                assert_eq!(
                    ask.display_name.as_deref(),
                    request["display_name"].as_str()
                );
                assert_eq!(ask.description.as_deref(), request["description"].as_str());
                assert_eq!(
                    ask.blocked_path.as_deref(),
                    request["blocked_path"].as_str()
                );
                assert_eq!(
                    ask.decision_reason.as_deref(),
                    request["decision_reason"].as_str()
                );
                assert_eq!(
                    ask.decision_reason_type.as_deref(),
                    request["decision_reason_type"].as_str()
                );
                assert_eq!(ask.agent_id.as_deref(), request["agent_id"].as_str());
                assert_eq!(
                    ask.requires_user_interaction,
                    request["requires_user_interaction"].as_bool()
                );
                assert_eq!(
                    ask.classifier_approvable,
                    request["classifier_approvable"].as_bool()
                );
                assert_eq!(
                    ask.mcp_server.as_ref().map(|server| server.name.as_ref()),
                    request["mcp_server"]["name"].as_str()
                );
                let input: Value = serde_json::from_str(ask.input.as_str()).unwrap();
                assert_eq!(input, request["input"]);
                let suggestions = ask.suggestions();
                let given = request["permission_suggestions"].as_array();
                assert_eq!(suggestions.len(), given.map_or(0, Vec::len), "{place}");
                for (update, given) in suggestions.iter().zip(given.into_iter().flatten()) {
                    assert!(
                        !matches!(update, PermissionUpdate::Other(_)),
                        "{place}: {given}"
                    );
                    assert_eq!(&serde_json::to_value(update).unwrap(), given);
                }
                for (name, value) in request.as_object().unwrap() {
                    let raw = ask.get(name).unwrap_or_else(|| panic!("{place}: {name}"));
                    assert_eq!(&serde_json::from_str::<Value>(raw).unwrap(), value);
                }
            }
            Incoming::HookCallback(callback) => {
                assert_eq!(callback.callback_id, text("callback_id"));
                assert_eq!(
                    callback.tool_use_id.as_deref(),
                    request["tool_use_id"].as_str()
                );
                let input = callback.hook_input().unwrap();
                let given = &request["input"];
                let name = given["hook_event_name"].as_str().unwrap();
                assert_eq!(input.event().map(HookEvent::name), Some(name), "{place}");
                assert_eq!(
                    input.common.session_id,
                    given["session_id"].as_str().unwrap()
                );
                assert_eq!(input.common.cwd, given["cwd"].as_str().unwrap());
                assert_eq!(
                    input.common.transcript_path,
                    given["transcript_path"].as_str().unwrap()
                );
                assert_eq!(
                    input.common.prompt_id.as_deref(),
                    given["prompt_id"].as_str()
                );
                assert_eq!(
                    input.common.permission_mode.as_deref(),
                    given["permission_mode"].as_str()
                );
                hook_fields(place, &input.event, given);
                events.insert(name.into());
            }
            Incoming::McpMessage(message) => {
                assert_eq!(message.server_name, text("server_name"));
                let inner: Value = serde_json::from_str(message.message.as_str()).unwrap();
                assert_eq!(inner, request["message"]);
            }
            Incoming::Elicitation(ask) => {
                assert_eq!(ask.mcp_server_name, text("mcp_server_name"));
                assert_eq!(ask.message, text("message"));
                assert_eq!(ask.mode.as_deref(), request["mode"].as_str());
                let schema: Value =
                    serde_json::from_str(ask.requested_schema.unwrap().as_str()).unwrap();
                assert_eq!(schema, request["requested_schema"]);
                assert_eq!(
                    serde_json::to_value(ask.property_order.unwrap()).unwrap(),
                    request["property_order"]
                );
            }
            other => panic!("{place}: {other:?}"),
        }
    }
    assert_eq!(
        seen.keys().collect::<Vec<_>>(),
        [
            "can_use_tool",
            "elicitation",
            "hook_callback",
            "mcp_message"
        ]
    );
    assert!(
        seen["can_use_tool"] > 40 && seen["hook_callback"] > 80,
        "{seen:?}"
    );
    assert!(events.len() > 20, "{events:?}");
}

/// The fields of each event that the recordings have.
fn hook_fields(place: &str, input: &HookEventInput<'_>, given: &Value) {
    let text = |name: &str| {
        given[name]
            .as_str()
            .unwrap_or_else(|| panic!("{place}: {name}"))
    };
    let json = |raw: &str| serde_json::from_str::<Value>(raw).unwrap();
    match input {
        HookEventInput::PreToolUse(input) => {
            assert_eq!(input.tool_name, text("tool_name"));
            assert_eq!(input.tool_use_id, text("tool_use_id"));
            assert_eq!(json(input.tool_input.as_str()), given["tool_input"]);
        }
        HookEventInput::PostToolUse(input) => {
            assert_eq!(json(input.tool_response.as_str()), given["tool_response"]);
            assert_eq!(input.duration_ms, given["duration_ms"].as_f64());
        }
        HookEventInput::PostToolUseFailure(input) => {
            assert_eq!(input.error, text("error"));
            assert_eq!(input.is_interrupt, given["is_interrupt"].as_bool());
        }
        HookEventInput::PostToolBatch(input) => {
            let calls = given["tool_calls"].as_array().unwrap();
            assert_eq!(input.tool_calls.len(), calls.len());
            for (call, given) in input.tool_calls.iter().zip(calls) {
                assert_eq!(call.tool_use_id, given["tool_use_id"].as_str().unwrap());
                assert_eq!(json(call.tool_input.as_str()), given["tool_input"]);
            }
        }
        HookEventInput::PermissionRequest(input) => {
            assert_eq!(input.tool_name, text("tool_name"));
            assert!(input.permission_suggestions.is_some());
        }
        HookEventInput::UserPromptSubmit(input) => assert_eq!(input.prompt, text("prompt")),
        HookEventInput::Stop(input) => {
            assert_eq!(
                Some(input.stop_hook_active),
                given["stop_hook_active"].as_bool()
            );
            assert_eq!(
                input.last_assistant_message.as_deref(),
                given["last_assistant_message"].as_str()
            );
        }
        HookEventInput::StopFailure(input) => assert_eq!(input.error, text("error")),
        HookEventInput::SubagentStart(input) => {
            assert_eq!(input.agent_id, text("agent_id"));
            assert_eq!(input.agent_type, text("agent_type"));
        }
        HookEventInput::SubagentStop(input) => {
            assert_eq!(input.agent_id, text("agent_id"));
            assert_eq!(input.agent_transcript_path, text("agent_transcript_path"));
        }
        HookEventInput::PreCompact(input) => {
            assert_eq!(input.trigger, text("trigger"));
            assert_eq!(
                input.custom_instructions.as_deref(),
                given["custom_instructions"].as_str()
            );
        }
        HookEventInput::PostCompact(input) => {
            assert_eq!(input.compact_summary, text("compact_summary"));
        }
        HookEventInput::SessionStart(input) => assert_eq!(input.source, text("source")),
        HookEventInput::SessionEnd(input) => assert_eq!(input.reason, text("reason")),
        HookEventInput::TaskCreated(input) => assert_eq!(input.task_id, text("task_id")),
        HookEventInput::TaskCompleted(input) => {
            assert_eq!(input.task_subject, text("task_subject"));
        }
        HookEventInput::MessageDisplay(input) => {
            assert_eq!(Some(input.index), given["index"].as_u64());
            assert_eq!(Some(input.is_final), given["final"].as_bool());
            assert_eq!(input.delta, text("delta"));
        }
        HookEventInput::PreModelSwitch(input) => {
            assert_eq!(input.to_model, text("to_model"));
            assert_eq!(input.context_tokens, given["context_tokens"].as_f64());
        }
        HookEventInput::PostModelSwitch(input) => {
            assert_eq!(input.from_model, text("from_model"));
            assert_eq!(
                input.requested_model.as_deref(),
                given["requested_model"].as_str()
            );
        }
        HookEventInput::DirectoryAdded(input) => assert_eq!(input.directory, text("directory")),
        HookEventInput::InstructionsLoaded(input) => {
            assert_eq!(input.file_path, text("file_path"));
            assert_eq!(input.load_reason, text("load_reason"));
        }
        HookEventInput::Elicitation(input) => assert_eq!(input.message, text("message")),
        HookEventInput::ElicitationResult(input) => assert_eq!(input.action, text("action")),
        other => panic!("{place}: {other:?}"),
    }
}

/// What was written wrong on purpose, and the null that the official Python SDK writes for "none".
const WRONG: [&str; 5] = [
    "other_controls: apply_flag_settings.settings: 5",
    "sdk_mcp_tool: initialize.hooks: null",
    "sdk_mcp_unnamed: initialize.hooks: null",
    "set_model_and_mode: set_max_thinking_tokens.max_thinking_tokens: \"x\"",
    "unknown_control: no_such_subtype",
];

fn fits(field: &FieldSpec, value: &Value) -> bool {
    if value.is_null() {
        return matches!(field.presence, Presence::Nullable | Presence::OrNull);
    }
    match field.kind {
        FieldKind::String | FieldKind::OneOf(_) => value.is_string(),
        FieldKind::Boolean => value.is_boolean(),
        FieldKind::Integer => value.is_i64(),
        FieldKind::Number => value.is_number(),
        FieldKind::Strings => value
            .as_array()
            .is_some_and(|list| list.iter().all(Value::is_string)),
        FieldKind::StringMap => value
            .as_object()
            .is_some_and(|map| map.values().all(Value::is_string)),
        FieldKind::Object => value.is_object(),
        FieldKind::Array => value.is_array(),
        FieldKind::Any => true,
    }
}

#[test]
fn every_request_of_the_host_fits_the_catalogue() {
    let lines = lines();
    let (mut seen, mut wrong) = (BTreeSet::new(), BTreeSet::new());
    for line in of_type(&lines, false, "control_request") {
        let place = &line.recording;
        let Some(request) = line.value["request"].as_object() else {
            continue;
        };
        let Some(subtype) = request.get("subtype").and_then(Value::as_str) else {
            continue;
        };
        let Some(spec) = catalogue::spec(subtype) else {
            wrong.insert(format!("{place}: {subtype}"));
            continue;
        };
        seen.insert(subtype.to_owned());
        let mut payload = request.clone();
        payload.remove("subtype");
        for (name, value) in &payload {
            let field = spec.fields.iter().find(|field| field.wire == name);
            let field = field.unwrap_or_else(|| panic!("{place}: {subtype}.{name}"));
            if !fits(field, value) {
                wrong.insert(format!("{place}: {subtype}.{name}: {value}"));
            }
        }
        for field in spec.fields {
            if field.presence == Presence::Required && !payload.contains_key(field.wire) {
                wrong.insert(format!("{place}: {subtype}.{} is missing", field.wire));
            }
        }
        let Some(id) = line.value["request_id"].as_str() else {
            continue;
        };
        let mut out = String::new();
        write_request(&mut out, id, subtype, &Value::from(payload).to_string()).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&out).unwrap(),
            line.value,
            "{place}"
        );
    }
    assert_eq!(wrong.into_iter().collect::<Vec<_>>(), WRONG);
    let never: Vec<_> = CATALOGUE
        .iter()
        .filter(|spec| spec.source == catalogue::Source::Seen && !seen.contains(spec.subtype))
        .map(|spec| spec.subtype)
        .collect();
    assert!(
        never.is_empty(),
        "marked as seen, but in no recording: {never:?}"
    );
}

#[test]
fn every_response_of_the_cli_reads() {
    let lines = lines();
    let mut subtypes: BTreeMap<(String, String), String> = BTreeMap::new();
    let mut unread: BTreeSet<String> = BTreeSet::new();
    let (mut without_payload, mut codes) = (BTreeSet::new(), BTreeSet::new());
    for line in &lines {
        if !line.from_cli && line.value["type"] == "control_request" {
            let subtype = line.value["request"]["subtype"].as_str();
            let id = line.value["request_id"].to_string();
            subtypes.insert(
                (line.recording.clone(), id),
                subtype.unwrap_or_default().into(),
            );
        }
        if !line.from_cli || line.value["type"] != "control_response" {
            continue;
        }
        let given = &line.value["response"];
        let response = match Response::read(&line.text) {
            Ok(response) => response,
            Err(error) => {
                assert!(
                    given.get("request_id").is_none(),
                    "{}: {error}",
                    line.recording
                );
                unread.insert(line.recording.clone());
                continue;
            }
        };
        let key = (line.recording.clone(), given["request_id"].to_string());
        assert_eq!(response.request_id.json(), key.1);
        let subtype = subtypes.get(&key).unwrap_or_else(|| panic!("{key:?}"));
        match response.body {
            ResponseBody::Success { payload } => {
                let object: Value = serde_json::from_str(payload).unwrap();
                if given.get("response").is_none() {
                    assert_eq!(payload, "{}");
                    without_payload.insert(subtype.clone());
                }
                let spec = catalogue::spec(subtype).unwrap();
                for field in spec.response {
                    if let Some(value) = object.get(field.wire) {
                        assert!(
                            value.is_null() || fits(field, value),
                            "{subtype}: {}: {value}",
                            field.wire
                        );
                    }
                }
            }
            ResponseBody::Error { message, code } => {
                assert_eq!(message, given["error"].as_str().unwrap());
                assert_eq!(code.as_deref(), given["error_code"].as_str());
                codes.extend(code.map(|code| code.into_owned()));
            }
        }
        assert_eq!(
            response.pending_permission_requests.is_some(),
            given.get("pending_permission_requests").is_some()
        );
    }
    assert_eq!(
        unread.iter().collect::<Vec<_>>(),
        ["malformed_no_request_id"],
        "only the answer to a request without an id has none"
    );
    for subtype in [
        "set_max_thinking_tokens",
        "mcp_toggle",
        "mcp_message",
        "end_session",
    ] {
        assert!(without_payload.contains(subtype), "{subtype}");
    }
    assert_eq!(
        codes.iter().collect::<Vec<_>>(),
        ["bypass_not_launched", "invalid_mode", "unsupported_request"]
    );
}

/// Each answer of a host that the CLI took as it was meant passes; each that it took for malformed
/// is refused here.
#[test]
fn the_checks_agree_with_the_cli() {
    let refused_by_the_cli: BTreeSet<String> = [
        r#"permission_bad_answers {"allowed":false}"#,
        r#"permission_bad_answers {}"#,
        r#"permission_bad_answers "text""#,
        r#"permission_bad_answers {"behavior":"deny"}"#,
        r#"permission_bad_answers {"behavior":"ask"}"#,
        r#"permission_bad_answers {"behavior":"allow","updated_input":{"command":"x"}}"#,
        r#"permission_null_input {"behavior":"allow","updatedInput":null}"#,
        r#"hook_bad_answers {"decision":5}"#,
        r#"hook_bad_answers {"hookSpecificOutput":{"hookEventName":"Nope"}}"#,
    ]
    .into_iter()
    .map(String::from)
    .collect();
    let lines = lines();
    let mut requests: BTreeMap<(String, String), (IncomingKind, String)> = BTreeMap::new();
    let (mut refused, mut taken) = (BTreeSet::new(), 0);
    for line in &lines {
        if line.from_cli && line.value["type"] == "control_request" {
            let envelope = IncomingRequest::read(&line.text).unwrap();
            requests.insert(
                (line.recording.clone(), envelope.request_id.key().into()),
                (IncomingKind::of(&envelope.subtype), envelope.request.into()),
            );
        }
        if line.from_cli || line.value["type"] != "control_response" {
            continue;
        }
        let id = line.value["response"]["request_id"]
            .as_str()
            .unwrap_or_default();
        let Some((kind, request)) = requests.get(&(line.recording.clone(), id.into())) else {
            continue;
        };
        let Some(answer) = pointer(&line.text, "/response/response").unwrap() else {
            continue;
        };
        match validate_answer(*kind, request, answer) {
            Ok(()) => {
                taken += 1;
                let whole = prepare_answer(*kind, request, answer).unwrap();
                if answer != r#"{"behavior": "allow"}"# {
                    assert_eq!(whole, answer);
                }
            }
            Err(_) => {
                let value: Value = serde_json::from_str(answer).unwrap();
                refused.insert(format!("{} {value}", line.recording));
            }
        }
    }
    assert_eq!(refused, refused_by_the_cli);
    assert!(taken > 150, "{taken}");
}

/// Where the CLI dropped a user message or died on one.
const BAD_USER_MESSAGES: [&str; 4] = [
    "malformed_stdin_shapes",
    "malformed_user_content",
    "malformed_user_no_message",
    "malformed_user_role",
];

#[test]
fn user_messages_pass_but_those_the_cli_drops_or_dies_on() {
    let lines = lines();
    let mut refused = BTreeSet::new();
    let mut taken = 0;
    for line in of_type(&lines, false, "user") {
        let mut out = String::new();
        match UserMessage::write_json(&line.text, &mut out) {
            Ok(()) => {
                taken += 1;
                let mut written: Value = serde_json::from_str(&out).unwrap();
                if line.value.get("parent_tool_use_id").is_none() {
                    written
                        .as_object_mut()
                        .unwrap()
                        .remove("parent_tool_use_id");
                }
                assert_eq!(written, line.value);
                assert!(out.ends_with('\n') && out.matches('\n').count() == 1);
            }
            Err(_) => {
                assert_eq!(out, "");
                refused.insert(line.recording.as_str());
            }
        }
    }
    assert_eq!(refused.into_iter().collect::<Vec<_>>(), BAD_USER_MESSAGES);
    assert!(taken > 100, "{taken}");
}

/// Each subtype named in the first column of the table of `docs/protocol.md §8`.
#[test]
fn the_table_of_requests_stands_in_the_catalogue() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol.md");
    let text = std::fs::read_to_string(path).expect("docs/protocol.md");
    let section = text
        .split("\n## ")
        .find(|section| section.starts_with("8. "))
        .expect("section 8");
    let mut named = 0;
    for row in section
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
    {
        let column = row.split('|').nth(1).unwrap();
        for word in column.replace("[S]", "").split(',').map(str::trim) {
            // "many ui_*, cloud and remote ones" names no subtype.
            if word.contains(' ') || word.contains('*') {
                continue;
            }
            named += 1;
            assert!(catalogue::spec(word).is_some(), "{word}");
        }
    }
    assert!(named > 45, "{named}");
}

/// The requests of a host in the type listing of the official TypeScript package.
const LISTED: [&str; 37] = [
    "interrupt",
    "initialize",
    "set_permission_mode",
    "set_model",
    "set_max_thinking_tokens",
    "rename_session",
    "set_color",
    "mcp_status",
    "get_context_usage",
    "get_session_cost",
    "list_models",
    "get_usage",
    "get_binary_version",
    "mcp_call",
    "file_suggestions",
    "mcp_message",
    "rewind_files",
    "cancel_async_message",
    "read_file",
    "seed_read_state",
    "mcp_set_servers",
    "register_repo_root",
    "reload_plugins",
    "reload_skills",
    "reload_output_styles",
    "mcp_reconnect",
    "mcp_toggle",
    "set_has_subscribers",
    "stop_task",
    "background_tasks",
    "get_task_output",
    "apply_flag_settings",
    "get_settings",
    "get_hooks_listing",
    "update_settings",
    "list_permission_rules",
    "mcp_read_resource",
];

#[test]
fn the_type_listing_stands_in_the_catalogue() {
    for subtype in LISTED {
        assert!(catalogue::spec(subtype).is_some(), "{subtype}");
    }
}

#[test]
fn the_catalogue_is_sound() {
    let mut subtypes = BTreeSet::new();
    let mut types = BTreeSet::new();
    for spec in CATALOGUE {
        assert!(subtypes.insert(spec.subtype), "{} twice", spec.subtype);
        assert!(types.insert(spec.type_name), "{} twice", spec.type_name);
        assert!(
            !spec.doc.is_empty() && !spec.doc.contains("  "),
            "{}",
            spec.doc
        );
        let mut names = BTreeSet::from(["subtype"]);
        for field in spec.fields.iter().chain(spec.response) {
            assert!(field.doc.ends_with('.'), "{}: {}", spec.subtype, field.doc);
            let snake: String = field
                .wire
                .chars()
                .flat_map(|letter| {
                    let mark = letter.is_ascii_uppercase().then_some('_');
                    mark.into_iter().chain(letter.to_lowercase())
                })
                .collect();
            assert!(
                snake == field.name || field.name.ends_with(&format!("_{snake}")),
                "{}: {} is {}",
                spec.subtype,
                field.wire,
                field.name
            );
        }
        for field in spec.fields {
            assert!(names.insert(field.wire), "{}.{}", spec.subtype, field.wire);
        }
    }
}

/// `protocol.md §13`.
#[test]
fn what_2_1_197_does_not_know() {
    let newer: BTreeSet<_> = CATALOGUE
        .iter()
        .filter(|spec| spec.source == catalogue::Source::Seen && !spec.since_older)
        .map(|spec| spec.subtype)
        .collect();
    assert_eq!(
        newer.into_iter().collect::<Vec<_>>(),
        [
            "get_hooks_listing",
            "get_task_output",
            "list_models",
            "list_permission_rules",
            "mcp_read_resource",
            "reload_output_styles",
            "set_color",
            "set_has_subscribers",
            "update_settings",
        ]
    );
}

#[test]
fn ids_are_echoed_as_they_came() {
    let lines = lines();
    for line in of_type(&lines, true, "control_request") {
        let envelope = IncomingRequest::read(&line.text).unwrap();
        let id = string(envelope.request_id.json()).unwrap();
        assert_eq!(id.len(), 36, "{id}");
    }
}
