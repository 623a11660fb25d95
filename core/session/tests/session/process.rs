//! The process that is started: its group, signals, descriptors, environment; what is left of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use towline::{Exit, Watchdog};

use crate::support::*;

fn status_field(process: &str, name: &str) -> String {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_once(':').unwrap().1.trim().to_owned()
}

fn block(signals: &[libc::c_int]) {
    // SAFETY: the set is initialised before it is used.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in signals {
            libc::sigaddset(&mut set, *signal);
        }
        assert_eq!(
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()),
            0
        );
    }
}

#[test]
fn it_has_a_group_of_its_own() {
    let fake = Fake::new(json!([]));
    let session = fake.begin();
    let start = fake.logged("start");
    assert_eq!(start["pid"], pid_of(&session));
    assert_eq!(start["pgid"], start["pid"]);
    session.close().unwrap();

    let fake = Fake::new(json!([])).set("processGroup", false);
    let session = fake.begin();
    let start = fake.logged("start");
    assert_ne!(start["pgid"], start["pid"]);
    session.close().unwrap();
}

/// What the host blocks or ignores is no business of the CLI's.
#[test]
fn its_signal_mask_is_clean() {
    in_child("process::its_signal_mask_is_clean", || {
        block(&[libc::SIGTERM, libc::SIGINT, libc::SIGCHLD, libc::SIGUSR1]);
        // SAFETY: ignoring signals runs no code.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_IGN);
            libc::signal(libc::SIGTERM, libc::SIG_IGN);
        }
        // Its first message comes when it has started its threads, around which it blocks signals.
        let fake = Fake::new(json!([{"emit": assistant("a")}]));
        let session = fake.begin();
        message(&session, "assistant");
        let pid = pid_of(&session).to_string();
        assert_eq!(status_field(&pid, "SigBlk"), "0000000000000000");
        let ignored = u64::from_str_radix(&status_field(&pid, "SigIgn"), 16).unwrap();
        for signal in [libc::SIGTERM, libc::SIGCHLD] {
            assert_eq!(
                ignored & (1 << (signal - 1)),
                0,
                "signal {signal} is ignored"
            );
        }
        // The host's own mask is as it was.
        assert_ne!(status_field("thread-self", "SigBlk"), "0000000000000000");
        session.close().unwrap();
    });
}

/// Of this program's descriptors the CLI gets its three, and no other program gets any.
#[test]
fn descriptors_are_not_inherited() {
    in_child("process::descriptors_are_not_inherited", || {
        let before: Vec<_> = std::fs::read_dir("/proc/self/fd")
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        let fake = Fake::new(json!([]));
        let first = fake.begin();
        first.connect(Some(LONG)).unwrap();
        let second = fake.begin();
        second.connect(Some(LONG)).unwrap();
        for session in [&first, &second] {
            let fds = std::fs::read_dir(format!("/proc/{}/fd", pid_of(session))).unwrap();
            let links: Vec<_> = fds
                .flatten()
                .map(|entry| (entry.file_name(), std::fs::read_link(entry.path())))
                .collect();
            let own: Vec<_> = std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .flatten()
                .filter(|entry| !before.contains(&entry.file_name()))
                .filter_map(|entry| std::fs::read_link(entry.path()).ok())
                .collect();
            let inherited = links.iter().filter(|(number, link)| {
                let standard = ["0", "1", "2"].iter().any(|standard| number == standard);
                !standard && link.as_ref().is_ok_and(|link| own.contains(link))
            });
            assert_eq!(inherited.count(), 0, "{links:?}");
        }
        for entry in std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten() {
            if before.contains(&entry.file_name()) {
                continue;
            }
            // The one that reads this folder is gone by now.
            let Ok(info) = std::fs::read_to_string(entry.path()) else {
                continue;
            };
            let flags = info
                .lines()
                .find_map(|line| line.strip_prefix("flags:"))
                .unwrap();
            let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
            let closed_on_exec = libc::O_CLOEXEC as u32;
            assert_ne!(flags & closed_on_exec, 0, "{:?}: {info}", entry.file_name());
        }
        first.close().unwrap();
        second.close().unwrap();
    });
}

#[test]
fn nothing_is_left_of_two_hundred_sessions() {
    in_child("process::nothing_is_left_of_two_hundred_sessions", || {
        let watchdog = Watchdog::default();
        let run = |n: usize| {
            let fake = Fake::new(json!([]));
            let session = fake.builder().watchdog(&watchdog).begin().unwrap();
            if n % 3 == 0 {
                session.connect(Some(LONG)).unwrap();
            }
            if n % 2 == 0 {
                session.close().unwrap();
            }
        };
        run(0);
        let before = open_descriptors();
        for n in 0..200 {
            run(n);
        }
        assert_eq!(open_descriptors(), before);
        assert_eq!(children(), [0; 0], "a process or zombie is left");
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().count();
        // The main thread and the one that runs this test.
        assert!(tasks <= 2, "{tasks} threads");
    });
}

#[test]
fn no_thread_is_started() {
    in_child("process::no_thread_is_started", || {
        let tasks = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = tasks();
        let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"emit": result()}]));
        let session = fake.begin();
        session.send("x").unwrap();
        session
            .request_wait("mcp_status", "", Some(Duration::from_millis(50)))
            .unwrap_err();
        message(&session, "result");
        assert_eq!(tasks(), before);
        session.close().unwrap();
        assert_eq!(tasks(), before);
    });
}

/// A host that ignores SIGCHLD reaps the CLI before anybody can ask how it ended.
#[test]
fn a_host_that_reaps_everything() {
    in_child("process::a_host_that_reaps_everything", || {
        // SAFETY: ignoring a signal runs no code.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        let fake =
            Fake::new(json!([{"expect": {"type": "user"}}, {"emit": result()}, {"exit": 5}]));
        let session = fake.begin();
        session.send("x").unwrap();
        let (events, closed) = rest(&session);
        assert_eq!(messages(&events).last().unwrap()["type"], "result");
        assert_eq!(closed.failure.exit, Some(Exit::Unknown));
    });
}

#[test]
fn its_environment_and_folder() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::new(json!([{"log_env": ["CASE_VAR", "TOWLINE_SESSION"]}]))
        .env("CASE_VAR", "from the options")
        .set("cwd", folder.path().to_str().unwrap());
    let session = fake.begin();
    let env = fake.logged("env");
    assert_eq!(env["env"]["CASE_VAR"], "from the options");
    assert!(env["env"]["TOWLINE_SESSION"].is_string());
    let cwd = fake.logged("start")["cwd"].as_str().unwrap().to_owned();
    assert_eq!(
        std::fs::canonicalize(cwd).unwrap(),
        std::fs::canonicalize(folder.path()).unwrap()
    );
    session.close().unwrap();
}

#[test]
fn private_files_go_with_the_process() {
    let secret = "sk-not-for-the-command-line";
    let fake = Fake::new(json!([])).set(
        "mcpServers",
        json!({"remote": {"type": "http", "url": "http://localhost", "headers": {"X": secret}}}),
    );
    let session = fake.begin();
    let start = fake.logged("start");
    let arguments = start["argv"].to_string();
    assert!(!arguments.contains(secret), "{arguments}");
    let path = start["argv"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|argument| argument.as_str()?.strip_prefix("--mcp-config="))
        .map(std::path::PathBuf::from);
    if let Some(path) = &path {
        assert!(std::fs::read_to_string(path).unwrap().contains(secret));
    } else {
        let initialize = fake.received().remove(0);
        assert!(initialize.to_string().contains(secret), "{initialize}");
    }
    session.close().unwrap();
    if let Some(path) = path {
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}

#[test]
fn a_session_is_shared_and_sent() {
    fn shared<T: Send + Sync>(_: &T) {}
    let fake = Fake::new(json!([]));
    let session = Arc::new(fake.begin());
    shared(&session);
    session.close().unwrap();
}
