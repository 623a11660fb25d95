//! Saved sessions are renamed, tagged, archived, forked and deleted.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use towline_transcripts::{
    Error, ForkOptions, ListOptions, MessageOptions, SavedSessions, SessionInfo,
};

use crate::tree::{id, prompt, Tree};

fn info(tree: &Tree) -> SessionInfo {
    tree.saved.info(&id(1), None).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn titles_and_tags() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let file = tree.session(&directory, 1, prompt("p") + "\n");
    tree.saved.rename(&id(1), " one ", None).unwrap();
    tree.saved.rename(&id(1), "two", Some(&directory)).unwrap();
    tree.saved.tag(&id(1), Some("v\u{200b}1"), None).unwrap();
    let found = info(&tree);
    assert_eq!(found.custom_title.as_deref(), Some("two"));
    assert_eq!(found.tag.as_deref(), Some("v1"));
    tree.saved.tag(&id(1), None, None).unwrap();
    assert_eq!(info(&tree).tag, None);
    let expected = [
        prompt("p"),
        format!(
            r#"{{"type":"custom-title","customTitle":"one","sessionId":"{}"}}"#,
            id(1)
        ),
        format!(
            r#"{{"type":"custom-title","customTitle":"two","sessionId":"{}"}}"#,
            id(1)
        ),
        format!(r#"{{"type":"tag","tag":"v1","sessionId":"{}"}}"#, id(1)),
        format!(r#"{{"type":"tag","tag":"","sessionId":"{}"}}"#, id(1)),
    ];
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        expected.join("\n") + "\n"
    );
}

#[test]
fn what_cannot_be_changed() {
    let tree = Tree::new();
    let (directory, other) = (tree.directory("d"), tree.directory("other"));
    tree.session(&directory, 1, prompt("p"));
    let empty = tree.session(&directory, 2, "");
    let saved = &tree.saved;
    assert!(matches!(
        saved.rename(&id(1), " \n", None),
        Err(Error::EmptyTitle)
    ));
    assert!(matches!(
        saved.tag(&id(1), Some("\u{200b}"), None),
        Err(Error::EmptyTag)
    ));
    assert!(matches!(
        saved.rename("x", "t", None),
        Err(Error::InvalidSessionId(_))
    ));
    for session in [id(2), id(3)] {
        for directory in [None, Some(directory.as_path())] {
            let missing = |result: Result<(), Error>| {
                assert!(matches!(result, Err(Error::NotFound { .. })), "{result:?}");
            };
            missing(saved.rename(&session, "t", directory));
            missing(saved.tag(&session, Some("t"), directory));
            missing(saved.archive(&session, directory));
            missing(saved.unarchive(&session, directory));
            missing(saved.delete(&session, directory));
            missing(
                saved
                    .fork(&session, directory, &ForkOptions::default())
                    .map(drop),
            );
        }
    }
    assert_eq!(fs::metadata(empty).unwrap().len(), 0);
    let error = saved.delete(&id(1), Some(&other)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "Session {} not found in project directory for {}",
            id(1),
            other.display()
        )
    );
}

#[test]
fn a_cut_last_line_takes_nothing_along() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    tree.session(&directory, 1, prompt("p") + "\n{\"type\":\"assis");
    tree.saved.rename(&id(1), "t", None).unwrap();
    assert_eq!(info(&tree).custom_title.as_deref(), Some("t"));
}

/// Several writers append at once, as a CLI and programs do: every line comes whole.
#[test]
fn appends_do_not_mix() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let file = tree.session(&directory, 1, prompt("p") + "\n");
    let long = "x".repeat(10_000);
    thread::scope(|scope| {
        for writer in 0..3 {
            let (saved, long) = (&tree.saved, &long);
            scope.spawn(move || {
                for line in 0..40 {
                    let title = format!("{writer} {line} {long}");
                    saved.rename(&id(1), &title, None).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let mut cli = OpenOptions::new().append(true).open(&file).unwrap();
            for line in 0..40 {
                let text = format!("{{\"type\":\"x\",\"line\":{line},\"y\":\"{long}\"}}\n");
                cli.write_all(text.as_bytes()).unwrap();
            }
        });
    });
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.lines().count(), 1 + 4 * 40);
    for line in text.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn archived_and_taken_out() {
    let tree = Tree::new();
    let (one, two) = (tree.directory("one"), tree.directory("two"));
    let file = tree.session(&one, 1, prompt("p"));
    let copy = tree.session(&two, 1, prompt("p"));
    tree.saved.archive(&id(1), None).unwrap();
    assert_eq!(info(&tree).archived, Some(true));
    for file in [&file, &copy] {
        let mark = file.with_extension("").join("archived.json");
        let text = fs::read_to_string(&mark).unwrap();
        assert!(text.starts_with("{\"archived\":true,\"at\":\"20"), "{text}");
        assert!(text.ends_with("Z\",\"by\":\"sdk\"}"), "{text}");
        assert_eq!((mode(&mark), mode(mark.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(mark.parent().unwrap()).unwrap().count(), 1);
    }
    tree.saved.unarchive(&id(1), Some(&one)).unwrap();
    let archived = |directory| tree.saved.info(&id(1), Some(directory)).unwrap().archived;
    assert_eq!(archived(&one), Some(false));
    assert_eq!(archived(&two), Some(true));
    assert_eq!(fs::read_to_string(&file).unwrap(), prompt("p"));
}

#[test]
fn deleted_with_its_folder() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let file = tree.session(&directory, 1, prompt("p"));
    let kept = tree.session(&directory, 2, prompt("kept"));
    let agents = file.with_extension("").join("subagents");
    fs::create_dir_all(&agents).unwrap();
    File::create(agents.join("agent-a.jsonl")).unwrap();
    tree.saved.delete(&id(1), Some(&directory)).unwrap();
    let left: Vec<_> = fs::read_dir(tree.folder(&directory)).unwrap().collect();
    assert_eq!(left.len(), 1);
    assert!(kept.exists());
    tree.saved.delete(&id(2), None).unwrap();
    assert!(tree.saved.list(&ListOptions::default()).is_empty());
}

#[test]
fn forks_lie_beside_the_original() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let title = r#"{"type":"custom-title","customTitle":"old"}"#;
    let content = format!(
        "{}\n\nno json\n{title}\n{}",
        prompt("a\u{2028}b"),
        "{\"type\":\"user\","
    );
    let file = tree.session(&directory, 1, content);
    let fork = tree
        .saved
        .fork(&id(1), None, &ForkOptions::default())
        .unwrap();
    let new = tree.saved.transcript(&fork, Some(&directory)).unwrap();
    assert_eq!(new.parent(), file.parent());
    assert_eq!(mode(&new), 0o600);
    let found = tree.saved.info(&fork, None).unwrap();
    assert_eq!(found.custom_title.as_deref(), Some("old (fork)"));
    let messages = tree.saved.messages(&fork, None, &MessageOptions::default());
    assert_eq!(messages.len(), 1);
    assert!(messages[0].message.contains("a\u{2028}b"));
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 2);
}

#[test]
fn a_fork_that_fails_leaves_nothing() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let file = tree.session(&directory, 1, "{}\n");
    let result = tree.saved.fork(&id(1), None, &ForkOptions::default());
    assert!(matches!(result, Err(Error::NothingToFork(_))));
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
}

/// How many lines the session has that is forked until the forking process is killed.
const LINES: usize = 100;

#[test]
fn a_fork_that_is_killed_shows_no_half_file() {
    let tree = Tree::new();
    let directory = tree.directory("d");
    let line = |number: usize| {
        let text = "y".repeat(2_000);
        format!(r#"{{"type":"user","uuid":"{number}","message":{{"content":"{text}"}}}}"#)
    };
    let content: Vec<String> = (0..LINES).map(line).collect();
    let file = tree.session(&directory, 1, content.join("\n"));
    let folder = file.parent().unwrap();
    let config = tree.saved.projects_dir().parent().unwrap();
    let (mut whole, mut random) = (0, RandomState::new().hash_one(0));
    for _ in 0..200 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "changing::forks_until_it_is_killed"])
            .env("FORKED_CONFIG", config)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // It forks as soon as it says something.
        let mut said = [0];
        child.stdout.take().unwrap().read_exact(&mut said).unwrap();
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let moment = Instant::now() + Duration::from_micros(random >> 32 & 0xffff);
        while Instant::now() < moment {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path == file {
                continue;
            }
            if path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
            {
                let text = fs::read_to_string(&path).unwrap();
                // The title is one more.
                assert_eq!(text.lines().count(), LINES + 1);
                assert!(text.ends_with("\"}\n"), "{path:?}");
                whole += 1;
            }
            fs::remove_file(path).unwrap();
        }
        assert_eq!(tree.saved.list(&ListOptions::default()).len(), 1);
    }
    assert!(whole > 0, "it was never let finish");
}

#[test]
#[ignore = "the process that another test kills"]
fn forks_until_it_is_killed() {
    let config = std::env::var("FORKED_CONFIG").expect("run by the other test");
    let saved = SavedSessions::in_config_dir(Path::new(&config));
    println!("forking");
    loop {
        saved.fork(&id(1), None, &ForkOptions::default()).unwrap();
    }
}
