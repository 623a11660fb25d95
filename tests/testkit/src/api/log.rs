//! The optional request log: one JSON object a line.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{json, Map, Value};

use super::RecordedRequest;

/// Headers worth reading afterwards. Those that carry a key are left out on purpose.
const HEADERS: [&str; 3] = ["user-agent", "anthropic-beta", "x-app"];
const FIELDS: [&str; 6] = [
    "model",
    "stream",
    "thinking",
    "output_config",
    "messages",
    "system",
];

pub(super) struct Log {
    file: File,
}

impl Log {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Log { file })
    }

    pub(super) fn write(&self, request: &RecordedRequest) {
        let mut line = Map::new();
        line.insert("method".to_owned(), json!(request.method));
        line.insert("path".to_owned(), json!(request.path));
        for field in FIELDS {
            line.insert(field.to_owned(), request.body[field].clone());
        }
        let tools = request.body["tools"].as_array().into_iter().flatten();
        let names: Vec<&Value> = tools.map(|tool| &tool["name"]).collect();
        line.insert("tools".to_owned(), json!(names));
        let headers: Map<String, Value> = HEADERS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), json!(request.header(name)?))))
            .collect();
        line.insert("headers".to_owned(), Value::Object(headers));
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // One write a line, so that lines of several connections do not mix.
        if let Err(error) = (&self.file).write_all(text.as_bytes()) {
            eprintln!("scripted-api: cannot write the log: {error}");
        }
    }
}
