//! Launchers in front of the CLI: a real ssh to a real sshd on loopback, and a namespace.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{json, Value};
use tempfile::TempDir;
use towline::{Event, Options, Reply, Session};

use crate::support::*;

/// An sshd that lets one key in, on loopback.
struct Sshd {
    folder: TempDir,
    port: u16,
    child: Child,
}

impl Sshd {
    fn start() -> Sshd {
        let program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"]
            .map(PathBuf::from)
            .into_iter()
            .find(|path| path.exists())
            .expect("sshd is not installed; Debian: apt-get install openssh-server");
        let folder = tempfile::tempdir().unwrap();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.path().join(key))
                .status()
                .expect("ssh-keygen; Debian: apt-get install openssh-client");
            assert!(made.success());
        }
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let place = folder.path().display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\n\
             StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\nPidFile none\nMaxStartups 100\n"
        );
        std::fs::write(folder.path().join("config"), config).unwrap();
        // For root it insists on this empty folder, which its service makes elsewhere; any other
        // user's sshd does without.
        let _ = std::fs::create_dir("/run/sshd");
        let child = Command::new(program)
            .args(["-D", "-f"])
            .arg(folder.path().join("config"))
            .arg("-E")
            .arg(folder.path().join("log"))
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let sshd = Sshd {
            folder,
            port,
            child,
        };
        wait_for("sshd", || TcpStream::connect(("127.0.0.1", port)).ok());
        sshd
    }

    /// What stands in front of the CLI; the rest is for the other side's shell.
    fn launcher(&self, fake: &Fake) -> Vec<String> {
        let of = |name: &str| self.folder.path().join(name).display().to_string();
        let mut launcher: Vec<String> = ["ssh", "-q", "-F", "none", "-i"].map(String::from).into();
        launcher.extend([of("user"), "-p".into(), self.port.to_string()]);
        for option in [
            "BatchMode=yes".to_string(),
            "StrictHostKeyChecking=no".into(),
            format!("UserKnownHostsFile={}", of("known")),
        ] {
            launcher.extend(["-o".into(), option]);
        }
        launcher.extend(["127.0.0.1".into(), "env".into()]);
        launcher.extend(variables(fake));
        launcher
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn variables(fake: &Fake) -> [String; 2] {
    let of = |name: &str| fake.path(name).display().to_string();
    [
        format!("FAKE_CLI_SCRIPT={}", of("script.json")),
        format!("FAKE_CLI_LOG={}", of("log")),
    ]
}

fn behind(launcher: Vec<String>, extra: Value) -> Options {
    let mut options = json!({ "cliPath": fake_cli(), "launcher": launcher });
    for (key, value) in extra.as_object().unwrap() {
        options[key] = value.clone();
    }
    Options::from_json(&options.to_string()).unwrap()
}

fn conversation() -> Fake {
    Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": permission("a")}, answered("a"),
        {"emit": result()},
        {"expect_eof": true}
    ]))
}

fn converse(options: Options) -> towline::Closed {
    let session = Session::builder(options)
        .on_permission(|_| Reply::allow())
        .begin()
        .unwrap();
    session.send("hi").unwrap();
    message(&session, "result");
    session.begin_close().unwrap();
    until_closed(&session)
}

fn runs(fake: &Fake) -> bool {
    is_alive(fake.logged("start")["pid"].as_u64().unwrap())
}

#[test]
fn every_option_holds_behind_ssh() {
    let sshd = Sshd::start();
    let fake = conversation();
    let odd = "it's \"quoted\"; echo $HOME `id` \\ *";
    let folder = tempfile::tempdir().unwrap();
    let options = behind(
        sshd.launcher(&fake),
        json!({
            "model": odd,
            "cwd": folder.path(),
            "mcpServers": {"box": {"command": "true", "env": {"KEY": odd}}},
        }),
    );
    let closed = converse(options);
    fake.check();
    assert!(closed.error.is_none(), "{:?}", closed.error);
    let start = fake.logged("start");
    let argv: Vec<&str> = start["argv"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        argv.contains(&format!("--model={odd}").as_str())
            || argv.windows(2).any(|pair| pair == ["--model", odd]),
        "{argv:?}"
    );
    assert_eq!(
        Path::new(start["cwd"].as_str().unwrap())
            .canonicalize()
            .unwrap(),
        folder.path().canonicalize().unwrap()
    );
    assert!(!runs(&fake));
}

#[test]
fn a_cli_behind_ssh_ends_with_its_session() {
    let sshd = Sshd::start();
    let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"expect_eof": true}]));
    let session = Session::start(behind(sshd.launcher(&fake), json!({}))).unwrap();
    session.send("hi").unwrap();
    session.connect(Some(LONG)).unwrap();
    assert!(runs(&fake));
    drop(session);
    wait_for("the end of the CLI behind ssh", || {
        (!runs(&fake)).then_some(())
    });
}

#[test]
fn a_host_that_cannot_be_reached_is_told_with_what_ssh_says() {
    let sshd = Sshd::start();
    let fake = conversation();
    let mut launcher = sshd.launcher(&fake);
    launcher.retain(|argument| argument != "-q");
    drop(sshd);
    let session = Session::start(behind(launcher, json!({}))).unwrap();
    let error = until_closed(&session).error.unwrap().to_string();
    assert!(error.contains("onnection refused"), "{error}");
}

#[test]
fn in_a_namespace() {
    // SAFETY: it has no arguments and cannot fail.
    let is_root = unsafe { libc::geteuid() } == 0;
    let mut launcher: Vec<String> = vec!["unshare".into(), "--net".into()];
    if !is_root {
        launcher.push("--map-root-user".into());
    }
    let fake = conversation();
    launcher.extend(["--".into(), "env".into()]);
    launcher.extend(variables(&fake));
    let session = Session::builder(behind(launcher, json!({})))
        .on_permission(|_| Reply::allow())
        .begin()
        .unwrap();
    session.send("hi").unwrap();
    until(&session, |event| {
        matches!(event, Event::Initialized(_)).then_some(())
    });
    let pid = fake.logged("start")["pid"].as_u64().unwrap();
    let network = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).unwrap();
    assert_ne!(network(&pid.to_string()), network("self"));
    message(&session, "result");
    session.begin_close().unwrap();
    assert!(until_closed(&session).error.is_none());
    fake.check();
    assert!(!runs(&fake));
}
