//! What is left when the host dies.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use towline::Watchdog;

use crate::support::*;

/// A CLI that ignores the end of input and SIGTERM, with a shell of its own in another session.
fn start_host_to_kill(name: &str, watched: bool) {
    let fake = Fake::new(json!([{"ignore_signals": ["SIGTERM", "SIGHUP"]},
        {"on_eof": "ignore"}]));
    let script = fake.path("cli.sh");
    std::fs::write(
        &script,
        format!(
            "#!/bin/sh\nsetsid sleep 300 &\necho $! > {0}/shell\nexec {1} \"$@\"\n",
            fake.folder.path().display(),
            fake_cli().display()
        ),
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let fake = fake
        .set("cliPath", script.to_str().unwrap())
        .set(
            "mcpServers",
            json!({"x": {"command": "x", "env": {"SECRET": "s3cret"}}}),
        )
        .set("watchdog", watched);
    let session = fake.begin();
    session.connect(Some(LONG)).unwrap();
    let shell = wait_for("the shell", || {
        std::fs::read_to_string(fake.path("shell"))
            .ok()
            .filter(|pid| pid.ends_with('\n'))
    });
    println!("\nPIDS {name} {} {}", pid_of(&session), shell.trim());
    loop {
        std::thread::park();
    }
}

/// Kills a host; its processes, and where its private files are.
fn kill_host(name: &str, watched: bool) -> (Vec<u64>, tempfile::TempDir) {
    let temp = tempfile::tempdir().unwrap();
    let mut host = child_command(name)
        .env("TMPDIR", temp.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(host.stdout.take().unwrap());
    let pids = output
        .lines()
        .find_map(|line| {
            let line = line.unwrap();
            let rest = line.strip_prefix(&format!("PIDS {name} "))?.to_owned();
            Some(
                rest.split(' ')
                    .map(|pid| pid.parse().unwrap())
                    .collect::<Vec<u64>>(),
            )
        })
        .expect("the host tells its processes");
    assert!(pids.iter().all(|pid| is_alive(*pid)), "{watched}");
    // SIGKILL.
    host.kill().unwrap();
    host.wait().unwrap();
    (pids, temp)
}

/// Folders of private files below this one.
fn private_folders(temp: &tempfile::TempDir) -> usize {
    let entries = std::fs::read_dir(temp.path()).unwrap().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("towline-"))
        .count()
}

#[test]
fn a_killed_host_leaves_nothing() {
    const NAME: &str = "watchdog::a_killed_host_leaves_nothing";
    if is_child(NAME) {
        return start_host_to_kill(NAME, true);
    }
    let (pids, temp) = kill_host(NAME, true);
    let killed = Instant::now();
    wait_for("the end of the CLI and its shell", || {
        let gone = pids.iter().all(|pid| !is_alive(*pid)) && private_folders(&temp) == 0;
        gone.then_some(())
    });
    assert!(
        killed.elapsed() < Duration::from_secs(5),
        "{:?}",
        killed.elapsed()
    );
}

/// What the test above proves is the watchdog's doing.
#[test]
fn without_a_watchdog_it_leaves_them() {
    const NAME: &str = "watchdog::without_a_watchdog_it_leaves_them";
    if is_child(NAME) {
        return start_host_to_kill(NAME, false);
    }
    let (pids, temp) = kill_host(NAME, false);
    assert_eq!(private_folders(&temp), 1);
    // The CLI has seen the end of its input and goes on.
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    for pid in pids {
        // SAFETY: no pointers; the processes were started by this test.
        unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
    }
}

fn watchdogs() -> Vec<u64> {
    children()
        .into_iter()
        .filter(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            command.windows(16).any(|part| part == b"towline-watchdog")
        })
        .collect()
}

#[test]
fn sessions_share_one() {
    in_child("watchdog::sessions_share_one", || {
        let watchdog = Watchdog::default();
        let fake = Fake::new(json!([]));
        let sessions: Vec<_> = (0..5)
            .map(|_| fake.builder().watchdog(&watchdog).begin().unwrap())
            .collect();
        assert_eq!(watchdogs().len(), 1);
        let own = fake.begin();
        assert_eq!(watchdogs().len(), 2);
        own.close().unwrap();
        wait_for("the end of one", || (watchdogs().len() == 1).then_some(()));
        for session in sessions {
            assert_eq!(watchdogs().len(), 1);
            session.close().unwrap();
        }
        assert_eq!(watchdogs(), [0; 0]);
        // The next session starts another.
        let session = fake.builder().watchdog(&watchdog).begin().unwrap();
        assert_eq!(watchdogs().len(), 1);
        session.close().unwrap();
        assert_eq!(children(), [0; 0]);
    });
}

#[test]
fn an_option_turns_it_off() {
    in_child("watchdog::an_option_turns_it_off", || {
        let fake = Fake::new(json!([])).set("watchdog", false);
        let session = fake.begin();
        assert_eq!(watchdogs(), [0; 0]);
        session.close().unwrap();
    });
}

/// A signal to the whole group of the terminal does not take the watchdog with it.
#[test]
fn it_outlives_signals() {
    in_child("watchdog::it_outlives_signals", || {
        let fake = Fake::new(json!([]));
        let session = fake.begin();
        session.connect(Some(LONG)).unwrap();
        let watchdog = watchdogs()[0];
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: no pointers; the process was started by this test.
            unsafe { libc::kill(watchdog as libc::pid_t, signal) };
        }
        assert!(is_alive(watchdog));
        session.close().unwrap();
    });
}

/// A CLI that leaves something behind in a session of its own does not do so for long.
#[test]
fn what_the_cli_left_behind_ends_with_it() {
    let fake = Fake::new(json!([{"spawn_child": 300}, {"emit": assistant("a")}]));
    let session = fake.begin();
    let child = fake.logged("child")["pid"].as_u64().unwrap();
    message(&session, "assistant");
    assert!(is_alive(child));
    session.close().unwrap();
    wait_for("its end", || (!is_alive(child)).then_some(()));
}

#[test]
fn a_killed_host_leaves_no_folder() {
    const NAME: &str = "watchdog::a_killed_host_leaves_no_folder";
    if is_child(NAME) {
        let fake =
            crate::stores::resuming(json!([{"on_eof": "ignore"}])).set("resume", crate::stores::ID);
        let builder = fake
            .builder()
            .session_store(crate::stores::stored(&fake), None);
        let session = builder.begin().unwrap();
        session.connect(Some(LONG)).unwrap();
        println!("\nREADY {}", session.pid().unwrap());
        loop {
            std::thread::park();
        }
    }
    let temp = tempfile::tempdir().unwrap();
    let mut host = child_command(NAME)
        .env("TMPDIR", temp.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let output = std::io::BufReader::new(host.stdout.take().unwrap());
    let pid: u64 = std::io::BufRead::lines(output)
        .find_map(|line| line.unwrap().strip_prefix("READY ")?.parse().ok())
        .unwrap();
    assert_eq!(crate::stores::private_folders(temp.path()), 1);
    host.kill().unwrap();
    host.wait().unwrap();
    wait_for("the end of the CLI and its folder", || {
        (!is_alive(pid) && crate::stores::private_folders(temp.path()) == 0).then_some(())
    });
}
