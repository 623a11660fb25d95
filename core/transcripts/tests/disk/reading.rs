//! Conversations read from files.

use std::fs;
use std::os::unix::fs::symlink;

use towline_transcripts::{MessageOptions, SessionMessage};

use crate::tree::{id, prompt, Tree};

fn ids(found: &[SessionMessage<'_>]) -> Vec<String> {
    found
        .iter()
        .map(|message| message.uuid.to_string())
        .collect()
}

fn child(uuid: &str, parent: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"s","message":{{"content":"{uuid}"}}}}"#
    )
}

#[test]
fn damage_costs_the_damaged_lines_only() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let mut content = prompt("a").into_bytes();
    content.extend(b"\n\nno json\n\xff\xfe\n{\"type\":\"user\",\"uuid\":\n");
    content.extend(child("b\u{2028}", "a").as_bytes());
    content.extend(b"\n{\"type\":\"user\",\"uuid\":\"c\",\"parentUuid\":\"b");
    tree.session(&directory, 1, content);
    let options = MessageOptions::default();
    for place in [None, Some(directory.as_path())] {
        let found = tree.saved.messages(&id(1), place, &options);
        assert_eq!(ids(&found), ["a", "b\u{2028}"]);
    }
    assert_eq!(found_in(&tree, 9), 0);
    assert!(tree.saved.messages("../x", None, &options).is_empty());
}

fn found_in(tree: &Tree, number: u32) -> usize {
    tree.saved
        .messages(&id(number), None, &MessageOptions::default())
        .len()
}

/// A session is read again and again while it is written byte by byte.
#[test]
fn a_file_being_written_shows_its_whole_lines() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let content = format!("{}\n{}\n", prompt("é"), child("b", "é")).into_bytes();
    let first = prompt("é").len();
    for length in 1..content.len() {
        tree.session(&directory, 1, &content[..length]);
        let expected = match length {
            _ if length < first => 0,
            _ if length < content.len() - 1 => 1,
            _ => 2,
        };
        assert_eq!(found_in(&tree, 1), expected, "{length}");
    }
}

#[test]
fn subagents_and_what_they_descend_from() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let transcript = tree.session(&directory, 1, prompt("p"));
    let folder = transcript.with_extension("").join("subagents");
    let run = folder.join("workflows/run-1");
    fs::create_dir_all(&run).unwrap();
    fs::write(
        folder.join("agent-b.jsonl"),
        prompt("b") + "\n" + &child("c", "b"),
    )
    .unwrap();
    fs::write(
        folder.join("agent-b.meta.json"),
        r#"{"toolUseId":"t","parentAgentId":"p"}"#,
    )
    .unwrap();
    fs::write(run.join("agent-a.jsonl"), prompt("a")).unwrap();
    fs::write(run.join("agent-a.meta.json"), r#"{"toolUseId":"#).unwrap();
    fs::write(folder.join("other.jsonl"), prompt("x")).unwrap();
    symlink(&folder, run.join("circle")).unwrap();
    assert_eq!(tree.saved.subagents(&id(1), None), ["b", "a"]);
    let options = MessageOptions::default();
    let found = tree
        .saved
        .subagent_messages(&id(1), "b", Some(&directory), &options);
    assert_eq!(ids(&found), ["b", "c"]);
    assert_eq!(found[1].parent_tool_use_id.as_deref(), Some("t"));
    assert_eq!(found[1].parent_agent_id.as_deref(), Some("p"));
    let found = tree.saved.subagent_messages(&id(1), "a", None, &options);
    assert_eq!(found[0].parent_tool_use_id, None);
    assert!(tree
        .saved
        .subagent_messages(&id(1), "", None, &options)
        .is_empty());
    assert!(tree.saved.subagents(&id(2), None).is_empty());
}
