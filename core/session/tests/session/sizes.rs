//! Sizes one below a limit, at it, and one above.

use serde_json::json;
use towline::{Diagnostic, Event};

use crate::support::*;

/// A line of exactly this many bytes, its line feed not counted.
fn line_of(length: usize) -> serde_json::Value {
    let around = json!({"type": "system", "subtype": "n", "fill": ""}).to_string();
    json!({"emit_big": {"type": "system", "subtype": "n", "fill": "@FILL@"},
        "bytes": length - around.len()})
}

/// Lines of one byte less than the limit, of the limit, and of one byte more.
pub(crate) fn lines_about(limit: usize, fake: impl FnOnce(serde_json::Value) -> Fake) {
    let fake = fake(json!([
        {"expect": {"type": "user"}},
        line_of(limit - 1),
        line_of(limit),
        line_of(limit + 1),
        {"emit": result()},
        {"exit": 0}
    ]));
    let session = fake.begin();
    session.send("x").unwrap();
    let (events, closed) = rest(&session);
    let mut seen = Vec::new();
    for event in &events {
        match event {
            Event::Message { message, .. } => seen.push((message.json().len(), "message")),
            Event::Diagnostic(Diagnostic::LineTooLong {
                length,
                limit: told,
            }) => {
                assert_eq!(*told, limit);
                seen.push((*length as usize, "skipped"));
            }
            _ => {}
        }
    }
    let result = result().to_string().len();
    let wanted = [
        (limit - 1, "message"),
        (limit, "message"),
        (limit + 1, "skipped"),
        (result, "message"),
    ];
    assert_eq!(seen, wanted);
    assert!(closed.error.is_none(), "{:?}", closed.error);
}

#[test]
fn lines_about_the_longest() {
    // As long as a pipe, a read buffer and odd numbers.
    for limit in [1_000, 4_096, 65_535, 65_536, 65_537, 1 << 20] {
        lines_about(limit, |script| Fake::new(script).set("maxLineBytes", limit));
    }
}

/// Reading stops above the mark and goes on below it, wherever the mark is: nothing is lost, and
/// nothing stands still.
#[test]
fn messages_about_the_high_water_mark() {
    let length = 10_000;
    for mark in [1, length - 1, length, length + 1, 3 * length] {
        let fake = Fake::new(json!([
            {"expect": {"type": "user"}},
            {"repeat": 40, "steps": [line_of(length)]},
            {"emit": result()},
            {"exit": 0}
        ]))
        .set("highWaterBytes", mark);
        let session = fake.begin();
        session.send("x").unwrap();
        let (events, closed) = rest(&session);
        let messages = messages(&events);
        assert_eq!(messages.len(), 41, "a mark of {mark}");
        assert_eq!(messages[40]["type"], "result");
        assert!(closed.error.is_none());
    }
}

#[test]
fn stderr_about_its_tail() {
    for (limit, length) in [
        (64 << 10, (64 << 10) - 1),
        (64 << 10, 64 << 10),
        (64 << 10, (64 << 10) + 1),
        (1, 1),
        (1, 2),
    ] {
        let text: String = ('a'..='z').cycle().take(length).collect();
        let mut fake = Fake::new(json!([{"stderr": text}, {"exit": 3}]));
        if limit != 64 << 10 {
            fake = fake.set("stderrTailBytes", limit);
        }
        let closed = until_closed(&fake.begin());
        let kept = &text[length.saturating_sub(limit)..];
        assert!(
            closed.failure.stderr == kept,
            "{} of {length} bytes, the first {:?}",
            closed.failure.stderr.len(),
            closed.failure.stderr.chars().next()
        );
    }
}

/// A cut inside a character leaves no half of it.
#[test]
fn a_tail_of_whole_characters() {
    let text = "é".repeat(10);
    for (limit, kept) in [(5, 2), (4, 2), (3, 1), (1, 0)] {
        let fake = Fake::new(json!([{"stderr": text}, {"exit": 3}])).set("stderrTailBytes", limit);
        let closed = until_closed(&fake.begin());
        assert_eq!(closed.failure.stderr, "é".repeat(kept), "{limit} bytes");
    }
}

/// A line longer than 64 KiB comes in pieces; its end is no line of its own.
#[test]
fn lines_of_stderr_about_the_longest() {
    let longest = 64 * 1024;
    for (text, wanted) in [
        ("x".repeat(longest - 1), vec![longest - 1]),
        ("x".repeat(longest), vec![longest]),
        ("x".repeat(longest + 1), vec![longest, 1]),
        ("x".repeat(2 * longest), vec![longest, longest]),
        // A character that the cut would go through goes to the next piece.
        ("é".repeat(longest / 2 - 1) + "x😀", vec![longest - 1, 4]),
    ] {
        for end in ["\n", "\r\n", ""] {
            let fake = Fake::new(json!([
                {"stderr": format!("{text}{end}")},
                {"stderr": "\nlast\n"},
                {"exit": 0}
            ]));
            let session = fake.builder().stderr_events().begin().unwrap();
            let (events, _) = rest(&session);
            let lines: Vec<&String> = events
                .iter()
                .filter_map(|event| match event {
                    Event::Stderr(line) => Some(line),
                    _ => None,
                })
                .collect();
            let lengths: Vec<usize> = lines.iter().map(|line| line.len()).collect();
            let mut wanted = wanted.clone();
            if !end.is_empty() {
                // The empty line that follows.
                wanted.push(0);
            }
            wanted.push(4);
            assert_eq!(lengths, wanted, "{} bytes and {end:?}", text.len());
            assert!(lines.iter().all(|line| !line.contains('\u{FFFD}')));
        }
    }
}

/// The system takes an argument of 128 KiB, its NUL counted.
#[test]
fn arguments_about_the_longest() {
    let longest = 128 * 1024 - "--model=".len() - 1;
    for length in [longest - 1, longest] {
        let fake =
            Fake::new(json!([{"emit": result()}, {"exit": 0}])).set("model", "m".repeat(length));
        let closed = until_closed(&fake.begin());
        assert!(closed.failure.exit.unwrap().success());
        let arguments = fake.logged("start")["argv"].clone();
        let model = arguments
            .as_array()
            .unwrap()
            .iter()
            .find(|argument| argument.as_str().unwrap().starts_with("--model="));
        assert_eq!(model.unwrap().as_str().unwrap().len(), length + 8);
    }
    let fake = Fake::new(json!([])).set("model", "m".repeat(longest + 1));
    let error = fake.builder().begin().unwrap_err().to_string();
    assert!(error.contains("131073 bytes"), "{error:.200}");
}
