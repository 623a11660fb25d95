//! The whole way with the real CLI: a prompt, changes to the session, going on with it, the page.

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use towline_testkit::{RealCli, Sandbox, Version};

struct Stage {
    sandbox: Sandbox,
    cli: PathBuf,
    project: PathBuf,
}

impl Stage {
    fn new() -> Stage {
        let sandbox = Sandbox::enter().expect("a sandbox can be set up");
        sandbox
            .require_isolation()
            .unwrap_or_else(|hint| panic!("{hint}"));
        let cli = RealCli::locate(Version::Current).unwrap_or_else(|hint| panic!("{hint}"));
        let project = sandbox.home().join("project");
        std::fs::create_dir(&project).unwrap();
        Stage {
            sandbox,
            cli,
            project,
        }
    }

    fn towline(&self, arguments: &[&str]) -> Output {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_towline"));
        command
            .current_dir(&self.project)
            .args(arguments)
            .output()
            .unwrap()
    }

    fn prompt(&self, more: &[&str]) -> (String, String) {
        let cli = self.cli.to_str().unwrap();
        let mut arguments = vec!["run", "--cli-path", cli, "--model", "claude-sonnet-4-5"];
        arguments.extend(more);
        let output = self.towline(&arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        (String::from_utf8(output.stdout).unwrap(), stderr)
    }

    fn sessions(&self, arguments: &[&str]) -> String {
        let mut all = vec!["sessions"];
        all.extend(arguments);
        let output = self.towline(&all);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn a_session_is_held_changed_and_gone_on_with() {
    let stage = Stage::new();
    let (answer, told) = stage.prompt(&["TEXT The first answer"]);
    assert_eq!(answer, "The first answer\n");
    assert!(
        told.contains("tokens in") && told.contains("session "),
        "{told}"
    );

    let list: Value = serde_json::from_str(&stage.sessions(&["list", "--json"])).unwrap();
    let id = list[0]["session_id"].as_str().unwrap();
    assert!(told.contains(id), "{told}");
    stage.sessions(&["rename", id, "Begun here"]);
    let fork = stage.sessions(&["fork", "begun here", "--title", "Gone on"]);
    let fork = fork.trim();

    // A tool that may run, one that nobody allows, and a subagent.
    let chain = r#"CHAIN [["Bash", {"command": "echo made > made.txt", "description": "Make a file"}],
        ["Write", {"file_path": "other.txt", "content": "x"}],
        ["Agent", {"description": "look around", "subagent_type": "general-purpose", "prompt": "TEXT seen <b>it</b>", "run_in_background": false}]]"#;
    let chain = chain.replace('\n', " ");
    let (answer, told) = stage.prompt(&["--resume", "gone on", "--allow", "Bash", &chain]);
    assert!(answer.ends_with("done\n"), "{answer}");
    assert!(
        told.contains("● Bash echo made") && told.contains("--allow Write"),
        "{told}"
    );
    assert!(stage.project.join("made.txt").exists() && !stage.project.join("other.txt").exists());

    let shown = stage.sessions(&["show", fork, "--full"]);
    for part in [
        "Gone on",
        "The first answer",
        "● Bash",
        "● Write",
        "denied by the user",
        "▸ general-purpose",
        "seen <b>it</b>",
        "claude-sonnet-4-5",
        "$0.",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    let page = stage.sessions(&["show", fork, "--html", "-"]);
    for part in [
        "<h1 dir=\"auto\">Gone on</h1>",
        "<details class=\"tool denied\" open><summary><b>Write</b>",
        "Subagent <b>general-purpose</b>",
        "seen &lt;b&gt;it&lt;/b&gt;",
        "<dt>Cost</dt><dd>$0.",
    ] {
        assert!(page.contains(part), "{part:?} is not in {page}");
    }
    let first = stage.sessions(&["show", id]);
    assert!(
        first.contains("Begun here") && !first.contains("● Bash"),
        "{first}"
    );
}

#[test]
fn a_store_keeps_what_the_disk_has_lost() {
    let stage = Stage::new();
    let url = format!(
        "sqlite:{}",
        stage.sandbox.home().join("sessions.db").display()
    );
    let store = ["--store", url.as_str()];
    stage.prompt(&[&store[..], &["TEXT Kept"]].concat());
    std::fs::remove_dir_all(stage.sandbox.home().join(".claude/projects")).unwrap();

    let listed = stage.sessions(&[&["list", "--json"][..], &store].concat());
    let list: Value = serde_json::from_str(&listed).unwrap();
    let id = list[0]["session_id"].as_str().unwrap();
    let (answer, _) = stage.prompt(&[&store[..], &["--resume", &id[..8], "TEXT Gone on"]].concat());
    assert_eq!(answer, "Gone on\n");
    let shown = stage.sessions(&[&["show", id][..], &store].concat());
    assert!(
        shown.contains("Kept") && shown.contains("Gone on"),
        "{shown}"
    );
}
