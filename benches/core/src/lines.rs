//! Lines as the CLI writes them, with the members of every object in any order.

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn object(&mut self, mut members: Vec<String>) -> String {
        for last in (1..members.len()).rev() {
            members.swap(last, self.below(last + 1));
        }
        format!("{{{}}}", members.join(","))
    }
}

/// `count` lines of type `stream_event` with a text delta, of about 300 bytes. One in eight texts
/// has an escape.
pub fn text_deltas(count: usize) -> Vec<String> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let texts = [
        " the quick brown fox",
        " jumps over",
        "\\n\\n",
        " the lazy dog, and then",
        " writes a function",
        " über die Straße",
        " that returns",
        ".",
    ];
    (0..count)
        .map(|index| {
            let text = texts[index % texts.len()];
            let delta = numbers.object(vec![
                "\"type\":\"text_delta\"".into(),
                format!("\"text\":\"{text}\""),
            ]);
            let event = numbers.object(vec![
                "\"type\":\"content_block_delta\"".into(),
                format!("\"index\":{}", index % 3),
                format!("\"delta\":{delta}"),
            ]);
            numbers.object(vec![
                "\"type\":\"stream_event\"".into(),
                format!("\"event\":{event}"),
                "\"session_id\":\"93708785-c276-45a4-87e3-10f8e05051ec\"".into(),
                "\"parent_tool_use_id\":null".into(),
                format!("\"uuid\":\"823794a8-edea-4fc4-bfc1-{index:012x}\""),
                "\"api_message_id\":\"msg_e69f9372beb842448c65\"".into(),
            ])
        })
        .collect()
}

/// The messages of one type in the recordings of the real CLI.
pub fn recorded(message_type: &str, subtype: Option<&str>) -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/transcripts");
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(folder).expect("tests/transcripts") {
        let path = entry.expect("tests/transcripts").path();
        if path
            .extension()
            .is_none_or(|extension| extension != "jsonl")
        {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a recording");
        for record in text.lines() {
            let record: serde_json::Value = serde_json::from_str(record).expect("a record");
            let line = &record["line"];
            if record["dir"] == "out"
                && line["type"] == message_type
                && subtype.is_none_or(|subtype| line["subtype"] == subtype)
            {
                lines.push(line.to_string());
            }
        }
    }
    assert!(!lines.is_empty(), "no {message_type} in the recordings");
    lines
}
