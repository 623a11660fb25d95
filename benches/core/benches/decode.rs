//! Head scan and typed decoding against plain serde loops over the same lines.
//!
//! Both sides start from the bytes of a line, so ours checks UTF-8 too. Exits with 1 when a median
//! misses its bar.

use std::hint::black_box;
use std::str::from_utf8;

use serde::de::DeserializeOwned;
use towline_benches::{compare, lines, plain, report, Ratio};
use towline_protocol::framing::{Frame, Framer, Head, RawMessage};
use towline_protocol::json;
use towline_protocol::message::{ApiEvent, Delta, Message};

const HEAD_BAR: f64 = 0.6;
const TYPED_BAR: f64 = 1.15;

/// The routing members by `json::members`, as JSON text.
fn members(line: &[u8]) -> [Option<&str>; 6] {
    let mut head = [None; 6];
    let line = from_utf8(line).expect("UTF-8");
    json::members(line, |key, value| match key {
        "type" => head[0] = Some(value),
        "subtype" => head[1] = Some(value),
        "request_id" => head[2] = Some(value),
        "session_id" => head[3] = Some(value),
        "uuid" => head[4] = Some(value),
        "parent_tool_use_id" => head[5] = Some(value),
        _ => {}
    })
    .expect("an object");
    head
}

fn head(line: &[u8]) -> Head {
    Head::scan(from_utf8(line).expect("UTF-8")).expect("a message")
}

/// Head and typed message, and of an assistant message its blocks.
fn decode(line: &[u8], subtype: Option<&str>) {
    let head = head(line);
    let text = from_utf8(line).expect("UTF-8");
    let message = Message::decode(head.kind, subtype, text).expect("a typed message");
    if let Message::Assistant(message) = &message {
        for block in message.message.content.blocks() {
            black_box(block);
        }
    }
    black_box((head, message));
}

fn text_delta(line: &[u8]) {
    let head = head(line);
    let text = from_utf8(line).expect("UTF-8");
    match Message::decode(head.kind, None, text) {
        Ok(Message::StreamEvent(message)) => match &message.event {
            ApiEvent::ContentBlockDelta {
                delta: Delta::Text(text),
                ..
            } => {
                black_box(text);
                black_box(&message);
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
    black_box(head);
}

fn against_plain<T: DeserializeOwned>(lines: &[String], ours: impl Fn(&[u8])) -> Ratio {
    compare(
        lines.len(),
        || lines.iter().for_each(|line| ours(line.as_bytes())),
        || {
            for line in lines {
                black_box(serde_json::from_slice::<T>(line.as_bytes()).expect("the plain type"));
            }
        },
    )
}

fn against_envelope(lines: &[String], ours: impl Fn(&[u8])) -> Ratio {
    compare(
        lines.len(),
        || lines.iter().for_each(|line| ours(line.as_bytes())),
        || {
            for line in lines {
                let envelope = serde_json::from_slice::<plain::Envelope>(line.as_bytes());
                black_box(envelope.expect("an envelope"));
            }
        },
    )
}

/// Whole reads of lines: ours through the framer, plainly by splitting at line feeds. The copy stands
/// for what `read` does on both sides.
fn framed(lines: &[String]) -> Ratio {
    let mut block = lines.join("\n").into_bytes();
    block.push(b'\n');
    let mut framer = Framer::new(1 << 26);
    let mut buffer = vec![0; block.len()];
    compare(
        lines.len(),
        || {
            let mut rest = block.as_slice();
            while !rest.is_empty() {
                let room = framer.read_buffer();
                let n = room.len().min(rest.len());
                room[..n].copy_from_slice(&rest[..n]);
                rest = &rest[n..];
                framer.received(n);
                while let Some(frame) = framer.next_frame() {
                    match frame {
                        Frame::Line(line) => {
                            black_box(RawMessage::scan(line).expect("a message"));
                        }
                        Frame::TooLong(length) => panic!("{length}"),
                    }
                }
            }
        },
        || {
            buffer.copy_from_slice(&block);
            for line in buffer.split(|byte| *byte == b'\n') {
                if !line.is_empty() {
                    let envelope = serde_json::from_slice::<plain::Envelope>(line);
                    black_box(envelope.expect("an envelope"));
                }
            }
        },
    )
}

fn main() {
    let deltas = lines::text_deltas(256);
    let bytes: usize = deltas.iter().map(String::len).sum();
    println!("text deltas of {} bytes on average", bytes / deltas.len());
    let recorded = |message_type, subtype| lines::recorded(message_type, subtype);
    let kept = [
        report(
            "members against an envelope",
            against_envelope(&deltas, |line| {
                black_box(members(line));
            }),
            HEAD_BAR,
        ),
        report(
            "head against an envelope",
            against_envelope(&deltas, |line| {
                black_box(head(line));
            }),
            HEAD_BAR,
        ),
        report(
            "framer and head against split lines and an envelope",
            framed(&deltas),
            HEAD_BAR,
        ),
        report(
            "text delta, typed",
            against_plain::<plain::StreamEvent>(&deltas, text_delta),
            TYPED_BAR,
        ),
        report(
            "assistant, typed",
            against_plain::<plain::Assistant>(&recorded("assistant", None), |line| {
                decode(line, None)
            }),
            TYPED_BAR,
        ),
        report(
            "result, typed",
            against_plain::<plain::Result>(&recorded("result", None), |line| decode(line, None)),
            TYPED_BAR,
        ),
        report(
            "init, typed",
            against_plain::<plain::Init>(&recorded("system", Some("init")), |line| {
                decode(line, Some("init"))
            }),
            TYPED_BAR,
        ),
    ];
    if kept.contains(&false) {
        std::process::exit(1);
    }
}
