//! Whether what the host writes is what the recording has.

use std::collections::BTreeMap;

use serde_json::Value;

/// Members that differ from run to run or from host to host without meaning anything.
///
/// The id of a tool call stands in a permission's answer when the host's language writes it there.
const IDS: [&str; 5] = ["uuid", "session_id", "request_id", "timestamp", "toolUseID"];

/// The member as a text, or nothing.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Whether two messages of the host belong together: the same type, and the same subtype or id.
pub(super) fn same_kind(host: &Value, recorded: &Value) -> bool {
    let kind = text(host, "/type");
    if kind != text(recorded, "/type") {
        return false;
    }
    let pointer = match kind {
        "control_request" => "/request/subtype",
        "control_response" => "/response/request_id",
        _ => return true,
    };
    text(host, pointer) == text(recorded, pointer)
}

/// Whether they say the same.
pub(super) fn same(host: &Value, recorded: &Value, free_answer: bool) -> bool {
    let part = |value: &Value, pointer: &str| value.pointer(pointer).cloned().map(plain);
    match text(host, "/type") {
        // What a host says of itself is its own; the hooks are brought together by their place.
        "control_request" if text(host, "/request/subtype") == "initialize" => true,
        "control_request" => part(host, "/request") == part(recorded, "/request"),
        "control_response" => {
            text(host, "/response/subtype") == text(recorded, "/response/subtype")
                && (free_answer || part(host, "/response") == part(recorded, "/response"))
        }
        "user" => content(host) == content(recorded),
        _ => plain(host.clone()) == plain(recorded.clone()),
    }
}

/// What a prompt says; a text is the same as one block of text.
fn content(user: &Value) -> Option<Value> {
    let content = user.pointer("/message/content").cloned().map(plain)?;
    Some(match content {
        Value::String(text) => serde_json::json!([{ "type": "text", "text": text }]),
        content => content,
    })
}

/// Without ids and without members that are `null`.
fn plain(mut value: Value) -> Value {
    let mut open = vec![&mut value];
    while let Some(next) = open.pop() {
        match next {
            Value::Object(members) => {
                members.retain(|name, value| !value.is_null() && !IDS.contains(&name.as_str()));
                open.extend(members.values_mut());
            }
            Value::Array(elements) => open.extend(elements),
            _ => {}
        }
    }
    value
}

/// The hook callbacks of a recorded `initialize` and those of the host in their places.
pub(super) fn callbacks(host: &Value, recorded: &Value) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    let Some(Value::Object(events)) = recorded.pointer("/request/hooks") else {
        return pairs;
    };
    for (event, matchers) in events {
        let ours = host
            .pointer("/request/hooks")
            .and_then(|hooks| hooks.get(event));
        let (Some(theirs), Some(ours)) = (matchers.as_array(), ours.and_then(Value::as_array))
        else {
            continue;
        };
        let ids = |matcher: &Value| -> Vec<String> {
            let ids = matcher.get("hookCallbackIds").and_then(Value::as_array);
            let ids = ids.into_iter().flatten().filter_map(Value::as_str);
            ids.map(String::from).collect()
        };
        let theirs = theirs.iter().flat_map(ids);
        pairs.extend(theirs.zip(ours.iter().flat_map(ids)));
    }
    pairs
}
