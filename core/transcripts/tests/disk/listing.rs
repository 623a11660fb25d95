//! What a list shows, and in which order.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use towline_transcripts::{ListOptions, SessionInfo};

use crate::tree::{id, prompt, touch, Tree};

fn titles(found: &[SessionInfo]) -> Vec<&str> {
    found.iter().map(|info| info.summary.as_str()).collect()
}

fn list(tree: &Tree, options: ListOptions) -> Vec<String> {
    let found = tree.saved.list(&options);
    titles(&found).into_iter().map(str::to_owned).collect()
}

#[test]
fn newest_first_in_pages() {
    let tree = Tree::new();
    let (one, two) = (tree.directory("one"), tree.directory("two"));
    for number in 1..=50 {
        let directory = if number % 2 == 0 { &one } else { &two };
        tree.session(directory, number, prompt(&format!("p{number}")));
    }
    let all = list(&tree, ListOptions::default());
    let expected: Vec<String> = (1..=50).rev().map(|number| format!("p{number}")).collect();
    assert_eq!(all, expected);
    let page = |limit, offset| ListOptions {
        limit,
        offset,
        ..ListOptions::default()
    };
    assert_eq!(list(&tree, page(Some(3), 0)), expected[..3]);
    assert_eq!(list(&tree, page(Some(3), 4)), expected[4..7]);
    assert_eq!(list(&tree, page(Some(0), 48)), expected[48..]);
    assert_eq!(list(&tree, page(Some(9), 60)), [""; 0]);
    let of_one = ListOptions {
        directory: Some(one),
        limit: Some(2),
        ..ListOptions::default()
    };
    assert_eq!(list(&tree, of_one), ["p50", "p48"]);
}

#[test]
fn what_is_not_shown_takes_no_place() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    tree.session(&directory, 1, prompt("old"));
    tree.session(&directory, 2, "{}\n");
    tree.session(
        &directory,
        3,
        r#"{"type":"user","isSidechain":true,"message":{"content":"x"}}"#,
    );
    tree.session(&directory, 4, "");
    tree.session(&directory, 5, b"\xff\xfe\x00\n");
    let folder = tree.folder(&directory);
    fs::write(folder.join("notes.jsonl"), prompt("no id")).unwrap();
    fs::write(folder.join(format!("{}.json", id(6))), prompt("no jsonl")).unwrap();
    fs::create_dir(folder.join(format!("{}.jsonl", id(7)))).unwrap();
    symlink("nowhere", folder.join(format!("{}.jsonl", id(8)))).unwrap();
    let options = ListOptions {
        limit: Some(1),
        ..ListOptions::default()
    };
    assert_eq!(list(&tree, options.clone()), ["old"]);
    assert_eq!(
        list(
            &tree,
            ListOptions {
                offset: 1,
                ..options
            }
        ),
        [""; 0]
    );
}

#[test]
fn all_fields() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let file = tree.session(
        &directory,
        1,
        concat!(
            r#"{"type":"mode","mode":"default"}"#, "\n",
            r#"{"type":"user","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/w","gitBranch":"a","message":{"content":"first\nprompt"}}"#, "\n",
            r#"{"type":"assistant","gitBranch":"b","message":{"content":[]}}"#, "\n",
            r#"{"type":"tag","tag":"t"}"#, "\n",
            r#"{"type":"custom-title","customTitle":"title"}"#, "\n",
        ),
    );
    touch(&file, 1_767_323_045);
    let info = tree.saved.info(&id(1), Some(&directory)).unwrap();
    let expected = SessionInfo {
        session_id: id(1),
        summary: "title".into(),
        last_modified: 1_767_323_045_000,
        file_size: Some(fs::metadata(&file).unwrap().len()),
        custom_title: Some("title".into()),
        first_prompt: Some("first prompt".into()),
        git_branch: Some("b".into()),
        cwd: Some("/w".into()),
        tag: Some("t".into()),
        created_at: Some(1_767_323_045_678),
        archived: None,
    };
    assert_eq!(info, expected);
    assert_eq!(tree.saved.list(&ListOptions::default()), [expected]);
    assert_eq!(tree.saved.info("no-uuid", None), None);
    assert_eq!(tree.saved.info(&id(9), None), None);
}

#[test]
fn only_the_ends_of_a_file_are_read() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let filler = format!("{{\"type\":\"x\",\"y\":\"{}\"}}", "z".repeat(70_000));
    let hidden = r#"{"type":"custom-title","customTitle":"hidden"}"#;
    let content = [
        &prompt("first"),
        &filler,
        hidden,
        &filler,
        r#"{"lastPrompt":"last"}"#,
    ]
    .join("\n");
    tree.session(&directory, 1, content);
    assert_eq!(list(&tree, ListOptions::default()), ["last"]);
}

#[test]
fn the_newest_file_of_a_session_counts() {
    let tree = Tree::new();
    let (one, two) = (tree.directory("one"), tree.directory("two"));
    let old = tree.session(&one, 1, prompt("old"));
    let new = tree.session(&two, 1, prompt("new"));
    touch(&new, 5);
    assert_eq!(list(&tree, ListOptions::default()), ["new"]);
    assert_eq!(tree.saved.info(&id(1), None).unwrap().summary, "new");
    touch(&old, 6);
    assert_eq!(list(&tree, ListOptions::default()), ["old"]);
    assert_eq!(tree.saved.transcript(&id(1), None), Some(old));
    assert_eq!(tree.saved.transcript(&id(1), Some(&two)), Some(new));
}

#[test]
fn those_that_programs_ran_can_be_left_out() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let by = |entrypoint: &str| format!("{{\"entrypoint\":\"{entrypoint}\"}}\n{}", prompt("p"));
    for (number, entrypoint) in ["cli", "sdk-cli", "sdk-ts", "sdk-py"].iter().enumerate() {
        tree.session(&directory, number as u32, by(entrypoint));
    }
    tree.session(
        &directory,
        9,
        format!("{{\"sessionKind\":\"daemon\"}}\n{}", prompt("p")),
    );
    assert_eq!(list(&tree, ListOptions::default()).len(), 5);
    let options = ListOptions {
        include_programmatic: false,
        ..ListOptions::default()
    };
    let found = tree.saved.list(&options);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].session_id, id(0));
}

fn git(arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=x", "-c", "user.email=x@example.com"])
        .args(arguments)
        .output()
        .expect("these tests need git");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_directory_covers_its_git_worktrees() {
    let tree = Tree::new();
    let repository = tree.directory("repository");
    let linked = tree.directory("").join("linked");
    let path = repository.to_str().unwrap();
    git(&["init", "-q", path]);
    tree.session(&repository, 1, prompt("main"));
    let of = |directory: &std::path::Path, include_worktrees| ListOptions {
        directory: Some(directory.to_owned()),
        include_worktrees,
        ..ListOptions::default()
    };
    assert_eq!(list(&tree, of(&repository, true)), ["main"]);
    git(&["-C", path, "commit", "-q", "--allow-empty", "-m", "x"]);
    git(&[
        "-C",
        path,
        "worktree",
        "add",
        "-q",
        linked.to_str().unwrap(),
    ]);
    tree.session(&linked, 2, prompt("linked"));
    let deep = repository.join("deep");
    fs::create_dir(&deep).unwrap();
    tree.session(&deep, 3, prompt("deep"));
    // A name that begins alike is another project.
    tree.session(&tree.directory("repository-2"), 4, prompt("other"));
    for directory in [&repository, &linked] {
        assert_eq!(list(&tree, of(directory, true)), ["linked", "main"]);
    }
    assert_eq!(list(&tree, of(&repository, false)), ["main"]);
    assert_eq!(list(&tree, of(&deep, true)), ["deep", "linked", "main"]);
    assert_eq!(
        tree.saved.info(&id(2), Some(&repository)).unwrap().summary,
        "linked"
    );
    assert_eq!(tree.saved.info(&id(3), Some(&repository)), None);
    // The directory of a worktree may be gone.
    fs::remove_dir_all(&linked).unwrap();
    assert_eq!(list(&tree, of(&repository, true)), ["linked", "main"]);
    // A folder that only looks like a repository is none.
    let fake = tree.directory("fake");
    fs::create_dir_all(fake.join(".git/worktrees/x")).unwrap();
    fs::write(
        fake.join(".git/worktrees/x/gitdir"),
        format!("{path}/.git\n"),
    )
    .unwrap();
    assert_eq!(list(&tree, of(&fake, true)), [""; 0]);
}
