//! What a sandbox keeps in, and what it leaves behind.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use towline_testkit::Sandbox;

/// A sandbox with a namespace; none when the user allows tests to run without, which leaves
/// nothing to check.
fn isolated() -> Option<Sandbox> {
    let sandbox = Sandbox::enter().unwrap();
    sandbox
        .require_isolation()
        .unwrap_or_else(|hint| panic!("{hint}"));
    sandbox.isolated().then_some(sandbox)
}

fn network() -> String {
    let link = fs::read_link("/proc/thread-self/ns/net").unwrap();
    link.to_string_lossy().into_owned()
}

#[test]
fn nothing_but_loopback_is_reachable() {
    let Some(sandbox) = isolated() else { return };
    // An address nobody has (RFC 5737): with a route this would wait, without one it fails at once.
    let outside = "192.0.2.1:9".parse().unwrap();
    let error = TcpStream::connect_timeout(&outside, Duration::from_secs(5)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
    let url = sandbox.api().url();
    TcpStream::connect(url.strip_prefix("http://").unwrap()).expect("loopback is up");
}

#[test]
fn a_process_started_inside_has_the_same_network_and_nothing_of_the_environment() {
    let Some(sandbox) = isolated() else { return };
    let inside = sandbox
        .command("readlink")
        .arg("/proc/self/ns/net")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&inside.stdout).trim(), network());
    let printed = sandbox.command("env").output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    let mut seen: Vec<(String, String)> = printed
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut given = sandbox.env();
    seen.sort();
    given.sort();
    assert_eq!(seen, given);
    let given: HashMap<String, String> = given.into_iter().collect();
    assert_eq!(given["HOME"], sandbox.home().to_str().unwrap());
    assert_eq!(given["ANTHROPIC_BASE_URL"], sandbox.api().url());
    assert!(fs::exists(&given["TMPDIR"]).unwrap());
}

#[test]
fn each_thread_has_a_sandbox_of_its_own_and_comes_back() {
    let before = network();
    let Some(sandbox) = isolated() else { return };
    let first = network();
    assert_ne!(first, before);
    let other = thread::spawn(|| {
        let sandbox = isolated();
        let inside = network();
        drop(sandbox.expect("as the first"));
        (inside, network())
    });
    let (second, after_second) = other.join().unwrap();
    assert_ne!(second, first);
    assert_eq!(after_second, first, "a thread begins where it was started");
    let folder = sandbox.home().parent().unwrap().to_owned();
    assert!(folder.is_dir());
    drop(sandbox);
    assert_eq!(network(), before);
    assert!(!folder.exists(), "with the home and temporary files");
}

#[test]
fn dropping_a_sandbox_elsewhere_leaves_that_thread_where_it_is() {
    let Some(sandbox) = isolated() else { return };
    let inside = network();
    thread::spawn(move || {
        drop(sandbox);
        assert_eq!(network(), inside);
    })
    .join()
    .unwrap();
}
