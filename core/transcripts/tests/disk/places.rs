//! Where a directory's sessions are looked for.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use towline_transcripts::{project_key, ListOptions, SavedSessions};

use crate::tree::{id, prompt, Tree};

fn found(tree: &Tree, directory: &Path) -> usize {
    let directory = Some(directory.to_owned());
    tree.saved
        .list(&ListOptions {
            directory,
            ..ListOptions::default()
        })
        .len()
}

#[test]
fn the_config_directory() {
    let dir = |pairs: &[(&str, &str)]| {
        let saved = SavedSessions::find(|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        saved.projects_dir().to_str().unwrap().to_owned()
    };
    assert_eq!(
        dir(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c")]),
        "/c/projects"
    );
    assert_eq!(
        dir(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "")]),
        "/h/.claude/projects"
    );
    assert_eq!(
        dir(&[("CLAUDE_CONFIG_DIR", "/e\u{301}")]),
        "/\u{e9}/projects"
    );
    let none = SavedSessions::in_config_dir(Path::new("/no-such-place"));
    assert!(none.list(&ListOptions::default()).is_empty());
    assert_eq!(none.transcript(&id(1), None), None);
}

#[test]
fn links_lead_to_the_real_directory() {
    let tree = Tree::new();
    let real = tree.directory("real");
    tree.session(&real, 1, prompt("p"));
    let link = real.with_file_name("link");
    symlink(&real, &link).unwrap();
    assert_eq!(found(&tree, &link), 1);
    assert_eq!(
        project_key(&link.join("gone")),
        project_key(&real.join("gone"))
    );
}

#[test]
fn emoji_are_two_units() {
    let tree = Tree::new();
    let directory = tree.directory("🚀");
    assert!(project_key(&directory).ends_with("-home---"));
    tree.session(&directory, 1, prompt("p"));
    assert_eq!(found(&tree, &directory), 1);
}

#[test]
fn another_program_may_have_hashed_a_long_path() {
    let tree = Tree::new();
    let directory = tree.directory(&"long/".repeat(50));
    let file = tree.session(&directory, 1, prompt("p"));
    assert_eq!(found(&tree, &directory), 1);
    let folder = file.parent().unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let renamed = folder.with_file_name(format!("{}-otherhash", &name[..200]));
    fs::rename(folder, &renamed).unwrap();
    assert_eq!(found(&tree, &directory), 1);
    assert_eq!(
        tree.saved.info(&id(1), Some(&directory)).unwrap().summary,
        "p"
    );
}

#[test]
fn a_project_folder_and_a_transcript_may_be_links() {
    let tree = Tree::new();
    let elsewhere = tree.directory("elsewhere");
    let file = elsewhere.join(format!("{}.jsonl", id(1)));
    fs::write(&file, prompt("p")).unwrap();
    symlink(&elsewhere, tree.saved.projects_dir().join("-linked")).unwrap();
    let folder = tree.folder(&tree.directory("d"));
    symlink(&file, folder.join(format!("{}.jsonl", id(2)))).unwrap();
    assert_eq!(tree.saved.list(&ListOptions::default()).len(), 2);
}

#[test]
fn sessions_are_found_by_the_beginning_of_their_ids() {
    let tree = Tree::new();
    let (one, other) = (tree.directory("one"), tree.directory("other"));
    for (directory, number) in [(&one, 12), (&one, 13), (&other, 12), (&other, 2)] {
        tree.session(directory, number, prompt("a"));
    }
    tree.session(&one, 14, "");
    fs::write(tree.folder(&one).join("00000000-no-session.jsonl"), "x").unwrap();
    let ids = |prefix: &str, directory| tree.saved.ids(prefix, directory);
    assert_eq!(ids("", None), [id(2), id(12), id(13)]);
    assert_eq!(ids(&id(12), None), [id(12)]);
    assert_eq!(
        ids("00000000-0000-4000-8000-0000000000", Some(&one)),
        [id(12), id(13)]
    );
    assert!(ids("1", None).is_empty());
    let upper = "ABCDEF00-0000-4000-8000-000000000001";
    fs::write(
        tree.folder(&one).join(format!("{upper}.jsonl")),
        prompt("a"),
    )
    .unwrap();
    assert_eq!(ids("abcdef", None), [upper]);
}
