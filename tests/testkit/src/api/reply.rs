//! Writes an answer: as one JSON document, or as the event stream of the Messages API.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{json, Map, Value};

use super::http::{write_json, EventStream};
use super::script::{Answer, Block, Reply};

/// How an answer waits; both return false when the API stops and the answer is to be dropped.
pub(super) trait Pacing {
    fn pause(&self, duration: Duration) -> bool;
    fn wait_for_gate(&self, name: &str) -> bool;
}

/// Whether the connection can carry another request afterwards.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Connection {
    Keep,
    Close,
}

fn error_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}

pub(super) fn write_error(stream: &mut impl Write, status: u16, message: &str) -> io::Result<()> {
    let body = json!({"type": "error", "error": {"type": error_type(status), "message": message}});
    write_json(stream, status, &body, false)
}

/// Answers a request to `/v1/messages`.
pub(super) fn write_answer(
    stream: &mut impl Write,
    request: &Value,
    answer: &Answer,
    pacing: &impl Pacing,
) -> io::Result<Connection> {
    let reply = match answer {
        Answer::Error { status, message } => {
            write_error(stream, *status, message)?;
            return Ok(Connection::Keep);
        }
        Answer::Reply(reply) => reply,
    };
    if !pacing.pause(reply.before) {
        return Ok(Connection::Close);
    }
    let model = request["model"].as_str().unwrap_or("unknown");
    if request["stream"] == true {
        write_stream(stream, model, reply, pacing)
    } else {
        write_document(stream, model, reply, pacing)
    }
}

/// An id no other message or tool call has, in this process or in another.
fn fresh_id(prefix: &str) -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_micros() as u64;
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!(
        "{prefix}_{now:014x}{:04x}{:04x}",
        std::process::id() as u16,
        count as u16
    )
}

fn usage(reply: &Reply) -> Value {
    json!({
        "input_tokens": reply.input_tokens,
        "output_tokens": reply.output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    })
}

fn message(model: &str, reply: &Reply, content: Vec<Value>, stop_reason: Value) -> Value {
    json!({
        "id": fresh_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(reply),
    })
}

fn write_document(
    stream: &mut impl Write,
    model: &str,
    reply: &Reply,
    pacing: &impl Pacing,
) -> io::Result<Connection> {
    if let Some(gate) = &reply.gate {
        if !pacing.wait_for_gate(gate) {
            return Ok(Connection::Close);
        }
    }
    let content = reply
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(deltas) => json!({"type": "text", "text": deltas.concat()}),
            Block::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": "scripted"})
            }
            Block::ToolUse { name, input } => {
                let input = serde_json::from_str(input).unwrap_or_else(|_| json!({}));
                tool_use(name, input)
            }
        })
        .collect();
    let body = message(model, reply, content, json!(reply.stop_reason));
    write_json(stream, 200, &body, reply.cut)?;
    Ok(if reply.cut {
        Connection::Close
    } else {
        Connection::Keep
    })
}

fn tool_use(name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": fresh_id("toolu"), "name": name, "input": input})
}

fn write_stream(
    stream: &mut impl Write,
    model: &str,
    reply: &Reply,
    pacing: &impl Pacing,
) -> io::Result<Connection> {
    let mut out = Events {
        out: EventStream::start(stream),
    };
    out.send(
        "message_start",
        json!({"message": message(model, reply, Vec::new(), Value::Null)}),
    )?;
    let mut first_delta = true;
    for (index, block) in reply.blocks.iter().enumerate() {
        let (start, deltas) = in_parts(block);
        out.send(
            "content_block_start",
            json!({"index": index, "content_block": start}),
        )?;
        let last = deltas.len().saturating_sub(1);
        for (place, delta) in deltas.into_iter().enumerate() {
            out.send(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            )?;
            if std::mem::take(&mut first_delta) {
                if let Some(gate) = &reply.gate {
                    out.out.flush()?;
                    if !pacing.wait_for_gate(gate) {
                        return Ok(Connection::Close);
                    }
                }
                if reply.cut {
                    out.out.flush()?;
                    return Ok(Connection::Close);
                }
            }
            if place < last && !reply.delta_pause.is_zero() {
                out.out.flush()?;
                if !pacing.pause(reply.delta_pause) {
                    return Ok(Connection::Close);
                }
            }
        }
        out.send("content_block_stop", json!({"index": index}))?;
    }
    out.send(
        "message_delta",
        json!({
            "delta": {"stop_reason": reply.stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": reply.output_tokens},
        }),
    )?;
    out.send("message_stop", json!({}))?;
    out.out.finish()?;
    Ok(Connection::Keep)
}

struct Events<'a, W: Write> {
    out: EventStream<'a, W>,
}

impl<W: Write> Events<'_, W> {
    fn send(&mut self, kind: &str, mut data: Value) -> io::Result<()> {
        if let Some(fields) = data.as_object_mut() {
            fields.insert("type".to_owned(), json!(kind));
        }
        self.out.event(kind, &data)
    }
}

/// A block as its empty beginning and the deltas that fill it.
fn in_parts(block: &Block) -> (Value, Vec<Value>) {
    match block {
        Block::Text(deltas) => (
            json!({"type": "text", "text": ""}),
            deltas
                .iter()
                .map(|text| json!({"type": "text_delta", "text": text}))
                .collect(),
        ),
        Block::Thinking(text) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": text}),
                json!({"type": "signature_delta", "signature": "scripted"}),
            ],
        ),
        Block::ToolUse { name, input } => (
            tool_use(name, Value::Object(Map::new())),
            vec![json!({"type": "input_json_delta", "partial_json": input})],
        ),
    }
}
