//! Every recording of the real CLI through the connection: whole, byte by byte, and at random
//! splits the events are the same, and no message is lost.

use std::path::PathBuf;
use std::sync::OnceLock;

use proptest::prelude::*;
use serde_json::value::RawValue;
use towline_protocol::connection::{Config, Connection, Diagnostic, Event};

/// A recording's name and what the CLI wrote: each line's own bytes, keys in their order.
type Recording = (String, Vec<Box<RawValue>>);

#[derive(serde::Deserialize)]
struct Record {
    dir: String,
    line: Box<RawValue>,
}

fn recordings() -> &'static [Recording] {
    static ALL: OnceLock<Vec<Recording>> = OnceLock::new();
    ALL.get_or_init(read_recordings)
}

fn read_recordings() -> Vec<Recording> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut found: Vec<_> = std::fs::read_dir(&folder)
        .expect("tests/transcripts")
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let records = text.lines().map(|line| serde_json::from_str(line).unwrap());
            let written = records.filter(|record: &Record| record.dir == "out");
            (name, written.map(|record| record.line).collect())
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(
        found.len() > 100,
        "{} recordings in {}",
        found.len(),
        folder.display()
    );
    found
}

fn output(lines: &[Box<RawValue>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend(line.get().as_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// The events of a connection that gets these chunks, and what it wrote.
fn replay<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Vec<Event>, String) {
    let config = Config {
        catch_all: true,
        ..Config::default()
    };
    let mut connection = Connection::new(config, 0);
    connection.initialize("").unwrap();
    let mut events = Vec::new();
    for chunk in chunks {
        connection.receive(chunk);
        while let Some(event) = connection.poll_event() {
            events.push(event);
        }
        connection.shrink();
    }
    let written = String::from_utf8(connection.outgoing().to_vec()).unwrap();
    connection.output_ended();
    while let Some(event) = connection.poll_event() {
        events.push(event);
    }
    (events, written)
}

#[test]
fn no_message_is_lost() {
    for (name, records) in recordings() {
        let bytes = output(records);
        let (events, _) = replay(std::iter::once(bytes.as_slice()));
        let values: Vec<serde_json::Value> = records
            .iter()
            .map(|line| serde_json::from_str(line.get()).unwrap())
            .collect();
        let envelopes = [
            "control_request",
            "control_response",
            "control_cancel_request",
            "keep_alive",
        ];
        let mut expected = values
            .iter()
            .zip(records)
            .filter(|(value, _)| !envelopes.contains(&value["type"].as_str().unwrap()))
            .map(|(_, line)| line.get());
        for event in &events {
            match event {
                Event::Message { message, .. } => {
                    assert_eq!(Some(message.json()), expected.next(), "{name}");
                }
                Event::Diagnostic(diagnostic) => assert!(
                    matches!(diagnostic, Diagnostic::UnexpectedResponse { .. }),
                    "{name}: {diagnostic}"
                ),
                _ => {}
            }
        }
        assert_eq!(expected.next(), None, "{name}: a message was lost");
        let asked = values.iter().filter(|line| {
            line["type"] == "control_request" && line["request"]["subtype"] != "mcp_message"
        });
        let delivered = events
            .iter()
            .filter(|event| matches!(event, Event::Request(_)))
            .count();
        assert_eq!(delivered, asked.count(), "{name}");
    }
}

#[test]
fn byte_by_byte_is_the_same() {
    for (name, records) in recordings() {
        let bytes = output(records);
        let whole = replay(std::iter::once(bytes.as_slice()));
        assert_eq!(replay(bytes.chunks(1)), whole, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_is_the_same(index in 0usize..1000, sizes in prop::collection::vec(1usize..5000, 1..60)) {
        let all = recordings();
        let (name, records) = &all[index % all.len()];
        let bytes = output(records);
        let mut chunks = Vec::new();
        let mut rest = bytes.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (now, later) = rest.split_at((*size).min(rest.len()));
            chunks.push(now);
            rest = later;
        }
        let whole = replay(std::iter::once(bytes.as_slice()));
        prop_assert_eq!(replay(chunks.into_iter()), whole, "{}", name);
    }
}
