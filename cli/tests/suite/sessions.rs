//! `towline sessions …` over generated trees.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{id, jsonl, uuid, Script, Tree};
use serde_json::{json, Value};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_list_is_a_table_of_one_directory() {
    let tree = Tree::new();
    let (one, other) = (tree.directory("one"), tree.directory("other"));
    for number in 1..=3 {
        let script = Script::new(&one).prompt(&format!("prompt {number}"));
        tree.session(&one, number, &script.lines);
    }
    let titled = json!({"type": "custom-title", "customTitle": "漢字 and 👩‍👩‍👧\u{1b}[31m red"});
    let tagged = json!({"type": "tag", "tag": "later"});
    let script = Script::new(&other).prompt("x").entry(titled).entry(tagged);
    tree.session(&other, 4, &script.lines);

    let listed = tree.run(&one, &["sessions", "list"]).ok();
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines.len(), 4, "{listed}");
    assert!(
        lines[0].starts_with("ID ") && lines[0].contains("BRANCH"),
        "{listed}"
    );
    assert!(
        lines[1].contains(&id(1)) && lines[1].contains("1 min ago"),
        "{listed}"
    );
    assert!(
        lines[3].contains("prompt 3") && lines[3].contains("main"),
        "{listed}"
    );

    let page = tree
        .run(&one, &["session", "list", "--limit", "1", "--offset", "1"])
        .ok();
    assert!(page.contains(&id(2)) && page.lines().count() == 2, "{page}");

    let directory = other.to_str().unwrap();
    let listed = tree
        .run(&one, &["sessions", "list", "--dir", directory])
        .ok();
    assert!(
        listed.contains("漢字 and 👩‍👩‍👧 red") && listed.contains("later"),
        "{listed}"
    );
    assert!(!listed.contains('\u{1b}'), "{listed}");

    let all = parsed(
        &tree
            .run(&one, &["sessions", "list", "--all", "--json"])
            .ok(),
    );
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), 4);
    assert_eq!(all[0]["session_id"], id(1));
    assert_eq!(all[3]["tag"], "later");
    assert_eq!(all[3]["cwd"], json!(other));

    let mut narrow = tree.command(&one, &["sessions", "list", "--all"]);
    let narrow = crate::support::Ran::of(narrow.env("COLUMNS", "50").output().unwrap()).ok();
    assert!(
        narrow
            .lines()
            .take(4)
            .all(|line| line.chars().count() <= 50),
        "{narrow}"
    );
    assert!(
        narrow.contains(&id(4)[..8]) && !narrow.contains(&id(4)),
        "{narrow}"
    );
}

#[test]
fn an_empty_list_says_where_it_looked() {
    let tree = Tree::new();
    let empty = tree.directory("empty");
    let ran = tree.run(&empty, &["sessions", "list"]);
    assert!(
        ran.stderr.contains("--all") && ran.stderr.contains("empty"),
        "{ran:?}"
    );
    assert_eq!(ran.ok(), "");
    assert_eq!(
        tree.run(&empty, &["sessions", "list", "--json"]).ok(),
        "[]\n"
    );
}

#[test]
fn a_session_is_named_by_what_tells_it_apart() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    for number in [0x11, 0x12, 0x20] {
        let title = json!({"type": "custom-title", "customTitle": format!("Title {number}")});
        let script = Script::new(&directory).prompt("x").entry(title);
        tree.session(&directory, number, &script.lines);
    }
    let elsewhere = tree.directory("elsewhere");
    let show = |named: &str| tree.run(&elsewhere, &["sessions", "show", named]);
    for named in [
        "0000002",
        "00000020-0000-4000-8000-000000000000",
        "title 32",
        " 00000020",
    ] {
        assert!(show(named).ok().contains("Title 32"), "{named}");
    }
    let ambiguous = show("0000001").failed(1);
    assert!(
        ambiguous.contains(&id(0x11)) && ambiguous.contains(&id(0x12)),
        "{ambiguous}"
    );
    assert!(
        ambiguous.contains("Title 17") && ambiguous.contains("give more"),
        "{ambiguous}"
    );
    for unknown in ["9", "nothing", "", "../x", &id(9)] {
        let error = show(unknown).failed(1);
        assert!(
            error.contains("no session") && error.contains("list --all"),
            "{error}"
        );
    }
    let elsewhere_only = ["sessions", "show", "0000002", "--dir", "."];
    let error = tree.run(&elsewhere, &elsewhere_only).failed(1);
    assert!(error.contains("no session of ."), "{error}");
}

/// A conversation with a bit of everything.
fn rich(tree: &Tree) -> std::path::PathBuf {
    let directory = tree.directory("rich");
    let picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let script = Script::new(&directory)
        .prompt("Please look")
        .says(json!([{"type": "thinking", "thinking": "Hm.\nLet me see."}]))
        .text("I **look**.")
        .call("t1", "Bash", json!({"command": "ls", "description": "List"}))
        .result(
            "t1",
            json!((1..=20).map(|n| format!("file {n}\n")).collect::<String>()),
            json!({"permissionDecision": {"decision": "accept", "source": "user_temporary"}}),
        )
        .call("t2", "Bash", json!({"command": "rm -r /", "description": "Away"}))
        .result(
            "t2",
            json!("No."),
            json!({
                "toolDenialKind": "permission-rule",
                "permissionDecision": {"decision": "reject", "source": "user_reject"},
            }),
        )
        .call("t3", "Agent", json!({"description": "look around", "prompt": "p"}))
        .result("t3", json!([{"type": "text", "text": "found"}]), json!({}))
        .call("t4", "Read", json!({"file_path": "/x.png"}))
        .result(
            "t4",
            json!([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}]),
            json!({}),
        )
        .text("Done.")
        .prompt("Thanks")
        .text("You are welcome.")
        .entry(json!({
            "type": "cost-state", "totalCostUSD": 0.25, "hasUnknownModelCost": false,
            "modelUsage": {"claude-test-1": {"inputTokens": 700, "outputTokens": 140, "costUSD": 0.25}},
        }));
    tree.session(&directory, 7, &script.lines);
    let folder = tree
        .transcript(&directory, 7)
        .with_extension("")
        .join("subagents");
    fs::create_dir_all(&folder).unwrap();
    let agent = Script::new(&directory)
        .line(
            "user",
            json!({"role": "user", "content": "p"}),
            json!({"isSidechain": true}),
        )
        .line(
            "assistant",
            json!({"id": "m", "content": [{"type": "text", "text": "I looked around"}]}),
            json!({"isSidechain": true}),
        );
    fs::write(folder.join("agent-a1.jsonl"), jsonl(&agent.lines)).unwrap();
    let metadata = json!({"agentType": "Explore", "toolUseId": "t3", "description": "look around"});
    fs::write(folder.join("agent-a1.meta.json"), metadata.to_string()).unwrap();
    directory
}

#[test]
fn a_conversation_is_readable() {
    let tree = Tree::new();
    let directory = rich(&tree);
    let show = |more: &[&str]| {
        let mut arguments = vec!["sessions", "show", "00000007"];
        arguments.extend(more);
        tree.run(&directory, &arguments).ok()
    };
    let shown = show(&[]);
    for part in [
        "Please look\n",
        "Thinking (2 lines)",
        "I **look**.",
        "● Bash ls",
        "allowed by the user, this time",
        "file 8\n",
        "… 12 more lines",
        "● Bash rm -r /",
        "denied by the user",
        "No.",
        "▸ Explore a1 look around",
        "[image/png, 70 B]",
        "2 prompts · 4 tool calls · 1 not allowed · 1 subagent",
        "$0.2500",
        "claude-test-1",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    for hidden in ["file 9\n", "Let me see", "I looked around", "\u{1b}"] {
        assert!(!shown.contains(hidden), "{hidden:?} is in {shown}");
    }
    let full = show(&["--full"]);
    for part in [
        "file 20\n",
        "Let me see.",
        "I looked around",
        "description:",
        "List",
    ] {
        assert!(full.contains(part), "{part:?} is not in {full}");
    }
    let last = show(&["--last", "2"]);
    assert!(
        last.contains("Thanks") && !last.contains("I **look**"),
        "{last}"
    );
    assert!(last.contains("… 12 messages before"), "{last}");
    let part = show(&["--offset", "3", "--limit", "2"]);
    assert!(
        part.contains("● Bash ls") && part.contains("… 9 messages behind"),
        "{part}"
    );
    assert!(
        !part.contains("I **look**") && !part.contains("rm -r"),
        "{part}"
    );
    let agent = show(&["--agent", "a"]);
    assert!(
        agent.contains("I looked around") && !agent.contains("I **look**"),
        "{agent}"
    );
    let unknown = ["sessions", "show", "00000007", "--agent", "zz"];
    let error = tree.run(&directory, &unknown).failed(1);
    assert!(error.contains("a1"), "{error}");

    let document = parsed(&show(&["--json"]));
    assert_eq!(document["session"]["session_id"], id(7));
    assert_eq!(document["messages"].as_array().map(Vec::len), Some(14));
    assert_eq!(document["subagents"]["a1"][1]["message"]["id"], "m");
    assert_eq!(document["subagents"]["a1"][1]["parent_tool_use_id"], "t3");
    let document = parsed(&show(&["--json", "--last", "1"]));
    assert_eq!(document["messages"].as_array().map(Vec::len), Some(1));
}

#[test]
fn changes_are_seen_at_once() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let script = Script::new(&directory)
        .prompt("first")
        .text("one")
        .prompt("second");
    let whole = tree.session(&directory, 1, &script.lines);
    let do_it = |arguments: &[&str]| {
        let mut all = vec!["sessions"];
        all.extend(arguments);
        tree.run(&directory, &all)
    };
    let info = |id: &str| {
        let listed = parsed(&do_it(&["list", "--json"]).ok());
        let found = listed
            .as_array()
            .unwrap()
            .iter()
            .find(|info| info["session_id"] == id)
            .cloned();
        found.unwrap_or(Value::Null)
    };
    do_it(&["rename", "00000001", "  A title "]).ok();
    assert_eq!(info(&whole)["custom_title"], "A title");
    let error = do_it(&["rename", "00000001", "  "]).failed(1);
    assert!(error.contains("title must be non-empty"), "{error}");
    do_it(&["tag", "a title", "urgent"]).ok();
    assert_eq!(info(&whole)["tag"], "urgent");
    let error = do_it(&["tag", "00000001", " "]).failed(1);
    assert!(error.contains("--clear takes one away"), "{error}");
    let error = do_it(&["fork", "00000001", "--at", "2"]).failed(1);
    assert!(error.contains("--at") && error.contains("\"2\""), "{error}");
    do_it(&["tag", "00000001", "--clear"]).ok();
    assert_eq!(info(&whole)["tag"], Value::Null);
    do_it(&["archive", "00000001"]).ok();
    assert_eq!(info(&whole)["archived"], true);
    assert!(do_it(&["list"]).ok().contains("[archived] A title"));
    do_it(&["unarchive", "00000001"]).ok();
    assert_eq!(info(&whole)["archived"], false);

    let fork = do_it(&["fork", "00000001", "--at", &uuid(2), "--title", "Shorter"]).ok();
    let fork = fork.trim();
    assert_eq!(info(fork)["custom_title"], "Shorter");
    let shown = do_it(&["show", fork]).ok();
    assert!(
        !shown.contains(" h ") && !shown.contains(" d "),
        "the time until the copy is no work: {shown}"
    );
    assert!(
        shown.contains("one") && !shown.contains("second"),
        "{shown}"
    );
    let error = do_it(&["fork", "00000001", "--at", &uuid(9)]).failed(1);
    assert!(error.contains(&uuid(9)), "{error}");

    let error = do_it(&["delete", fork]).failed(2);
    assert!(
        error.contains("--yes") && info(fork) != Value::Null,
        "{error}"
    );
    do_it(&["delete", fork, "--yes"]).ok();
    assert_eq!(info(fork), Value::Null);
    assert!(do_it(&["delete", fork, "--yes"])
        .failed(1)
        .contains("no session"));
}

#[test]
fn exports_are_whole_and_private() {
    let tree = Tree::new();
    let directory = rich(&tree);
    let export = |arguments: &[&str]| {
        let mut all = vec!["sessions", "export", "00000007"];
        all.extend(arguments);
        tree.run(&directory, &all)
    };
    let lines = export(&[]).ok();
    let entries: Vec<Value> = lines.lines().map(parsed).collect();
    assert_eq!(entries.len(), 15 + 1 + 2);
    assert_eq!(entries[15]["type"], "agent_metadata");
    assert_eq!(
        (&entries[15]["agentId"], &entries[15]["toolUseId"]),
        (&json!("a1"), &json!("t3"))
    );

    let markdown = export(&["--format", "markdown"]).ok();
    assert!(markdown.starts_with("# Please look\n"), "{markdown}");
    assert!(
        markdown.contains("> Please look") && markdown.contains("I **look**."),
        "{markdown}"
    );
    assert!(markdown.contains("denied by the user") && markdown.contains("Subagent Explore"));

    let path = directory.join("out.html");
    let file = path.to_str().unwrap();
    export(&["--format", "html", "-o", file]).ok();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let error = export(&["--format", "json", "-o", file]).failed(1);
    assert!(error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), page);
    export(&["--format", "json", "-o", file, "--force"]).ok();
    assert_eq!(
        parsed(&fs::read_to_string(&path).unwrap())["session"]["session_id"],
        id(7)
    );
    let names: Vec<_> = fs::read_dir(&directory)
        .unwrap()
        .flatten()
        .map(|it| it.file_name())
        .collect();
    assert_eq!(names, ["out.html"], "nothing unfinished is left");
    let error = export(&["-o", "/nonexistent/x"]).failed(1);
    assert!(error.contains("/nonexistent/x"), "{error}");
}

#[test]
fn nothing_but_files_is_replaced_by_an_export() {
    let tree = Tree::new();
    let directory = rich(&tree);
    let out = tree.directory("out");
    let export = |path: &Path| {
        let path = path.to_str().unwrap();
        tree.run(
            &directory,
            &["sessions", "export", &id(7), "-o", path, "--force"],
        )
    };
    let file = out.join("file");
    fs::write(&file, "old").unwrap();
    let link = out.join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    export(&link).ok();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let whole = fs::read_to_string(&file).unwrap();
    assert!(whole.starts_with('{'), "{whole}");

    let pipe = out.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    export(&pipe).ok();
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), whole);

    let error = export(&out).failed(1);
    assert!(error.contains("no file"), "{error}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 3);
}

#[test]
fn a_store_that_is_not_there_is_named_and_not_made() {
    let tree = Tree::new();
    let directory = tree.directory("somewhere");
    let path = tree.path("mistyped");
    for scheme in ["sqlite", "dir", "file"] {
        let url = format!("{scheme}:{}", path.display());
        for command in [vec!["list"], vec!["show", "00000007"]] {
            let arguments = [vec!["sessions"], command, vec!["--store", &url]].concat();
            let error = tree.run(&directory, &arguments).failed(1);
            assert!(error.contains(&url) && error.contains("no such"), "{error}");
        }
    }
    assert!(!path.exists());
}

#[test]
fn a_store_serves_what_was_imported() {
    let tree = Tree::new();
    let directory = rich(&tree);
    let elsewhere = tree.directory("elsewhere");
    for url in [
        format!("sqlite:{}", tree.path("sessions.db").display()),
        format!("dir:{}", tree.path("store").display()),
    ] {
        let told = tree.run(
            &elsewhere,
            &["sessions", "import", "00000007", "--store", &url],
        );
        assert!(told.stderr.contains("18 entries imported"), "{told:?}");
        told.ok();
        let do_it = |arguments: &[&str]| {
            let mut all = vec!["sessions"];
            all.extend(arguments);
            all.extend(["--store", &url]);
            tree.run(&directory, &all)
        };
        assert!(do_it(&["list"]).ok().contains(&id(7)));
        let shown = do_it(&["show", "00000007", "--full"]).ok();
        assert!(
            shown.contains("I looked around") && shown.contains("$0.2500"),
            "{shown}"
        );
        do_it(&["rename", "00000007", "In the store"]).ok();
        let fork = do_it(&["fork", "in the store"]).ok();
        assert_eq!(do_it(&["list"]).ok().lines().count(), 3);
        do_it(&["delete", fork.trim(), "--yes"]).ok();
        assert!(do_it(&["archive", "00000007"])
            .failed(2)
            .contains("--store"));
        let other = ["sessions", "show", "00000007", "--store", &url];
        let error = tree.run(&elsewhere, &other).failed(1);
        assert!(
            error.contains("project key") && error.contains("--dir"),
            "{error}"
        );
        let (_, key) = error.split_once("project key ").unwrap();
        let key = key.split(';').next().unwrap();
        let of_key = ["sessions", "list", "--store", &url, "--project", key];
        tree.run(&elsewhere, &of_key).ok();
    }
    let wrong = ["sessions", "list", "--store", "mysql:x"];
    let error = tree.run(&directory, &wrong).failed(1);
    assert!(
        error.contains("mysql") && error.contains("--store"),
        "{error}"
    );
}

#[test]
fn wrong_use_is_told_from_failure() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    for wrong in [
        &["sessions", "lst"][..],
        &["sessions", "list", "--limit", "x"],
        &["sessions", "list", "--all", "--dir", "x"],
        &["sessions", "tag", "1"],
        &["sessions", "import", "1"],
        &["run"],
    ] {
        let error = tree.run(&directory, wrong).failed(2);
        assert!(
            error.contains("Usage") || error.contains("--help"),
            "{wrong:?}: {error}"
        );
    }
    let suggestion = tree.run(&directory, &["sessions", "lst"]).failed(2);
    assert!(suggestion.contains("list"), "{suggestion}");
    for help in [
        &["--help"][..],
        &["sessions", "--help"],
        &["sessions", "list", "--help"],
        &["sessions", "show", "-h"],
        &["help", "sessions", "delete"],
        &["run", "--help"],
    ] {
        let help = tree.run(&directory, help).ok();
        assert!(help.contains("Exit status"), "{help}");
    }
    let version = tree.run(&directory, &["--version"]).ok();
    assert_eq!(
        version.trim(),
        concat!("towline ", env!("CARGO_PKG_VERSION"))
    );
}

/// A reader that has seen enough ends the command without an error.
#[test]
fn a_closed_pipe_is_no_failure() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    // More than a pipe holds.
    let script = Script::new(&directory)
        .prompt("x")
        .text(&"words ".repeat(100_000));
    tree.session(&directory, 1, &script.lines);
    for arguments in [
        &["sessions", "show", "1"][..],
        &["sessions", "export", "1", "--format", "json"],
    ] {
        let arguments: Vec<&str> = arguments
            .iter()
            .map(|it| if *it == "1" { "00000001" } else { it })
            .collect();
        let mut command = tree.command(&directory, &arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 16];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut start).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
}

/// Subagents that start each other, a thousand deep and in a circle.
#[test]
fn nested_subagents_are_each_shown_once() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let agent = |call: &str, name: &str| {
        Script::new(&directory)
            .prompt("p")
            .call(call, "Agent", json!({"description": name}))
            .result(call, json!("r"), json!({}))
    };
    tree.session(&directory, 1, &agent("t0", "start").lines);
    let folder = tree
        .transcript(&directory, 1)
        .with_extension("")
        .join("subagents");
    fs::create_dir_all(&folder).unwrap();
    const COUNT: usize = 1000;
    for at in 0..COUNT {
        // The last one calls the first.
        let script = agent(
            &format!("t{}", (at + 1) % COUNT),
            &format!("called by {at}"),
        );
        fs::write(
            folder.join(format!("agent-a{at}.jsonl")),
            jsonl(&script.lines),
        )
        .unwrap();
        let metadata = json!({"agentType": format!("type-{at}"), "toolUseId": format!("t{at}")});
        fs::write(
            folder.join(format!("agent-a{at}.meta.json")),
            metadata.to_string(),
        )
        .unwrap();
    }
    let shown = tree
        .run(&directory, &["sessions", "show", "00000001", "--full"])
        .ok();
    let page = tree
        .run(&directory, &["sessions", "show", "00000001", "--html", "-"])
        .ok();
    assert_eq!(shown.matches("▸ type-").count(), COUNT);
    assert_eq!(page.matches("Subagent <b>type-").count(), COUNT);
}
