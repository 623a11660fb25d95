//! Writes inputs for every fuzz target from the recordings of the real CLI, into the folder that is
//! its argument.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{json, Value};

/// No input is longer.
const MOST: usize = 4000;

fn main() -> Result<(), String> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("usage: towline-fuzz-seeds FOLDER")?;
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/transcripts");
    let mut seeds = Seeds {
        folder: folder.into(),
        count: BTreeMap::new(),
    };
    for entry in fs::read_dir(&recordings).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "jsonl")
        {
            let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let records = text
                .lines()
                .filter_map(|line| serde_json::from_str(line).ok());
            seeds.of(&records.collect::<Vec<Value>>())?;
        }
    }
    for (target, count) in seeds.count {
        println!("{target}: {count}");
    }
    Ok(())
}

struct Seeds {
    folder: PathBuf,
    count: BTreeMap<&'static str, usize>,
}

impl Seeds {
    fn of(&mut self, records: &[Value]) -> Result<(), String> {
        let mut calls = vec![vec![0]];
        let mut c_calls = vec![b"{}".to_vec()];
        let (mut lines, mut mcp, mut entries) = (String::new(), String::new(), String::new());
        for record in records {
            let Some(line) = record.get("line").filter(|line| line.is_object()) else {
                continue;
            };
            let text = line.to_string();
            if record["dir"] == "in" {
                let (command, c_command) = (9, 2);
                if line["type"] == "user" {
                    calls.push(call(command, &text));
                    c_calls.push(call(c_command, &text));
                } else if line["type"] == "control_response" {
                    let answer = line["response"]["response"].to_string();
                    calls.push(call(4, &answer));
                    c_calls.push(call(4, &answer));
                } else if line["request"]["subtype"] == "initialize" {
                    let options = json!({"appendSystemPrompt": line["request"]["appendSystemPrompt"],
                        "hooks": line["request"]["hooks"]});
                    self.write("options", options.to_string().as_bytes())?;
                } else {
                    calls.push(vec![2]);
                    let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
                    c_calls.push(call(3, &format!("{subtype} {}", line["request"])));
                }
                continue;
            }
            calls.push(call(11, &text));
            c_calls.push(call(7, &text));
            lines.push_str(&text);
            lines.push('\n');
            let request = &line["request"];
            if request["subtype"] == "mcp_message" {
                mcp.push_str(&request["message"].to_string());
                mcp.push('\n');
            }
            if matches!(line["type"].as_str(), Some("user" | "assistant")) {
                let mut entry = line.clone();
                entry["parentUuid"] = Value::Null;
                entry["sessionId"] = line["session_id"].clone();
                entry["timestamp"] = json!("2026-01-02T03:04:05.678Z");
                entries.push_str(&entry.to_string());
                entries.push('\n');
            }
        }
        self.write("connection", &calls.join(&0xff))?;
        self.write("c", &c_calls.join(&0xff))?;
        self.write("framer", format!("\u{7f}\u{7}{lines}").as_bytes())?;
        // From different places, since no input takes all of them.
        for (at, _) in lines.match_indices('\n').step_by(8) {
            self.write("messages", &lines.as_bytes()[at + 1..])?;
            self.write("redactor", &lines.as_bytes()[at + 1..])?;
        }
        self.write("mcp", mcp.as_bytes())?;
        self.write("transcripts", entries.as_bytes())
    }

    fn write(&mut self, target: &'static str, input: &[u8]) -> Result<(), String> {
        if input.is_empty() {
            return Ok(());
        }
        let number = self.count.entry(target).or_default();
        *number += 1;
        let folder = self.folder.join(target);
        let input = &input[..input.len().min(MOST)];
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join(format!("recorded-{number}")), input))
            .map_err(|error| format!("{}: {error}", folder.display()))
    }
}

fn call(command: u8, text: &str) -> Vec<u8> {
    let mut call = vec![command];
    call.extend_from_slice(text.as_bytes());
    call
}
