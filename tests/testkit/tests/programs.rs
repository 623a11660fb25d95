//! The binaries of the kit, run as a user runs them.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};

use towline_testkit::isolation::ALLOW_UNISOLATED;
use towline_testkit::Program;

fn isolated(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isolated"))
        .args(arguments)
        .env("PASSED_ON", "from the caller")
        .env("NOT_PASSED", "secret")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn isolated_gives_the_command_its_environment_and_takes_its_status() {
    let output = isolated(&[
        "--env",
        "PASSED_ON",
        "--env",
        "SET=a=b",
        "--env",
        "ABSENT",
        "--",
        "sh",
        "-c",
        "env; test -d $TMPDIR && exit 7",
    ]);
    let printed = stdout(&output);
    let names: Vec<&str> = printed
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    for name in ["HOME", "TMPDIR", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"] {
        assert!(names.contains(&name), "{name} in {printed}");
    }
    assert!(printed.contains("PASSED_ON=from the caller\n") && printed.contains("SET=a=b\n"));
    assert!(
        !printed.contains("NOT_PASSED") && !printed.contains("ABSENT"),
        "{printed}"
    );
    assert_eq!(output.status.code(), Some(7));
}

/// Whether the user allows tests to run without a network namespace.
fn unisolated_allowed() -> bool {
    std::env::var_os(ALLOW_UNISOLATED).is_some_and(|value| value == "1")
}

#[test]
fn isolated_runs_on_loopback_alone_and_removes_its_home() {
    let caller = fs::read_link("/proc/self/ns/net").unwrap();
    let output = isolated(&[
        "sh",
        "-c",
        "readlink /proc/self/ns/net; echo $HOME; cat /proc/net/route",
    ]);
    assert!(output.status.success());
    if unisolated_allowed() && !output.stderr.is_empty() {
        return;
    }
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "",
        "there is a namespace"
    );
    let printed = stdout(&output);
    let mut lines = printed.lines();
    assert_ne!(lines.next().unwrap(), caller.to_str().unwrap());
    let home = lines.next().unwrap();
    assert!(home.contains("/isolated-") && !fs::exists(home).unwrap());
    assert_eq!(
        lines.count(),
        1,
        "only the heading of the table of routes: {printed}"
    );
}

/// Runs `isolated` under other programs of util-linux.
fn isolated_under(wrapper: &[&str], script: &str) -> Output {
    let mut words = wrapper.to_vec();
    words.extend([env!("CARGO_BIN_EXE_isolated"), "sh", "-c", script]);
    let output = Command::new(words[0]).args(&words[1..]).output();
    output.unwrap_or_else(|error| panic!("{} (install util-linux): {error}", words[0]))
}

#[test]
fn isolated_makes_a_user_namespace_where_it_lacks_the_right() {
    let root = fs::read_to_string("/proc/self/status")
        .unwrap()
        .contains("\nUid:\t0\t");
    // Anyone else lacks the right anyway.
    let wrapper: &[&str] = if root {
        &[
            "setpriv",
            "--bounding-set=-sys_admin",
            "--inh-caps=-sys_admin",
        ]
    } else {
        &["env"]
    };
    let output = isolated_under(
        wrapper,
        "id -u; readlink /proc/self/ns/user; tail -n +3 /proc/net/dev",
    );
    if unisolated_allowed() && !output.stderr.is_empty() {
        return;
    }
    let printed = stdout(&output);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 3, "{output:?}");
    assert_eq!(
        lines[0], "0",
        "mapped to root, so that sandboxes can be entered inside"
    );
    let caller = fs::read_link("/proc/self/ns/user").unwrap();
    assert_ne!(lines[1], caller.to_str().unwrap());
    assert!(lines[2].trim_start().starts_with("lo:"));
}

#[test]
fn isolated_runs_without_a_namespace_where_none_is_permitted_and_says_so() {
    let forbid = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"";
    let wrapper = ["unshare", "--map-root-user", "sh", "-c", forbid, "sh"];
    let output = isolated_under(&wrapper, "echo $ANTHROPIC_API_KEY");
    let said = String::from_utf8_lossy(&output.stderr);
    if unisolated_allowed() && said.contains("unshare failed") {
        return;
    }
    assert!(said.contains("without a network namespace"), "{output:?}");
    assert_eq!(stdout(&output), "dummy-not-a-key\n");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn isolated_keeps_a_given_home_and_logs_the_requests() {
    let folder = tempfile::tempdir().unwrap();
    let (home, log) = (folder.path().join("home"), folder.path().join("log"));
    // Bash speaks TCP without any tool.
    let script = r#"
        address=${ANTHROPIC_BASE_URL#http://}
        body='{"model":"m","messages":[{"role":"user","content":"hi"}]}'
        exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
        printf 'POST /v1/messages HTTP/1.1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s' ${#body} "$body" >&3
        cat <&3; touch "$HOME/kept""#;
    let output = isolated(&[
        "--home",
        home.to_str().unwrap(),
        "--api-log",
        log.to_str().unwrap(),
        "bash",
        "-c",
        script,
    ]);
    assert!(stdout(&output).contains("echo: hi"), "{output:?}");
    assert!(home.join("kept").exists());
    let log: serde_json::Value = serde_json::from_str(&fs::read_to_string(log).unwrap()).unwrap();
    assert_eq!(log["messages"][0]["content"], "hi");
}

#[test]
fn isolated_says_what_cannot_be_run() {
    for (arguments, hint) in [
        (&["--", "/no/such/program"][..], "/no/such/program"),
        (&["--env"], "--env needs a value"),
        (&["--bogus", "true"], "--bogus"),
        (&[], "no command"),
    ] {
        let output = isolated(arguments);
        assert_eq!(output.status.code(), Some(125));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(hint), "{said}");
    }
}

/// A child that is ended when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `isolated` in a process group of its own around a script that prints a line when ready.
fn started(script: &str) -> (Running, BufReader<impl Read>) {
    // Whoever runs the tests in the background may have them ignore interrupts, and a shell cannot
    // trap what it was started to ignore.
    let mut child = Command::new("env")
        .args(["--default-signal=INT", env!("CARGO_BIN_EXE_isolated")])
        .args(["bash", "-c", script])
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut ready = String::new();
    lines.read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    (Running(child), lines)
}

fn signal(pid: u32, name: &str, group: bool) {
    let target = format!("{}{pid}", if group { "-" } else { "" });
    let status = Command::new("kill")
        .args(["-s", name, "--", &target])
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn isolated_outlives_an_interrupt_that_its_command_handles() {
    let (mut running, mut lines) = started(
        "trap 'echo handled; exit 3' INT; echo ready; while :; do read -rt 1 <> <(:); done",
    );
    signal(running.0.id(), "INT", true);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "handled\n");
    assert_eq!(running.0.wait().unwrap().code(), Some(3));
}

#[test]
fn isolated_passes_a_termination_on_and_tells_it_from_an_exit() {
    let (mut running, _lines) = started("echo ready; exec sleep 600");
    signal(running.0.id(), "TERM", false);
    assert_eq!(running.0.wait().unwrap().code(), Some(128 + 15));
}

#[test]
fn scripted_api_prints_its_url_and_serves() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-api"))
        .args(["--port", "0", "--log"])
        .arg(&log)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    let _running = Running(child);
    let address = url.trim().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /v1/models HTTP/1.1\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with(r#"{"data":[]}"#), "{answer}");
    assert!(fs::read_to_string(log).unwrap().contains("/v1/models"));
}

/// Asks for a message and reads the answer's first bytes.
fn ask(address: &str, prompt: &str) -> (TcpStream, String) {
    let body = format!(
        r#"{{"model":"m","max_tokens":1,"stream":true,"messages":[{{"role":"user","content":"{prompt}"}}]}}"#
    );
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    (stream, first)
}

#[test]
fn scripted_api_obeys_its_stdin_and_ends_with_it() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-api"))
        .arg("--control")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    let mut commands = child.stdin.take().unwrap();
    let mut running = Running(child);
    let address = line().strip_prefix("http://").unwrap().to_owned();
    let (mut waiting, first) = ask(&address, "GATE one");
    assert_eq!(first, "HTTP/1.1 200");
    writeln!(commands, "await one").unwrap();
    assert_eq!(line(), "at one");
    writeln!(commands, "release one").unwrap();
    assert_eq!(line(), "released one");
    let mut rest = String::new();
    waiting.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("after"), "{rest}");
    drop(commands);
    assert!(running.0.wait().unwrap().success());
}

/// Runs the case C001 and more with the shell as the host.
fn run_cases(options: &[&str], host: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_run-cases"))
        .args(options)
        .args(["--", "sh", "-c", host, "host"])
        .output()
        .unwrap()
}

#[test]
fn run_cases_counts_what_passes_and_what_does_not() {
    let record = r#"echo '{"messages": []}' > "$CASE_OUT""#;
    let output = run_cases(&["--name", "shell", "--pick", "C001"], record);
    let printed = stdout(&output);
    assert!(
        printed.contains("FAIL C001 (shell)")
            && printed.ends_with("shell: 1 cases ran: 0 passed, 1 failed (C001)\n"),
        "{printed}"
    );
    assert_eq!(output.status.code(), Some(1));
    // One session, of which nothing is known.
    let record = r#"echo '{"messages": [], "values": [[{}]]}' > "$CASE_OUT""#;
    let left_out = ["--with", "list_sessions", "--exclude", "C170,C174: no"];
    let printed = stdout(&run_cases(&left_out, record));
    assert!(
        printed.contains("1 cases ran") && printed.ends_with("2 excluded (C170 C174): no\n"),
        "{printed}"
    );
    let nothing = run_cases(&["--pick", "no such case"], record);
    assert_eq!(nothing.status.code(), Some(1), "nothing ran");
}

#[test]
fn every_program_explains_itself() {
    for program in [
        env!("CARGO_BIN_EXE_isolated"),
        env!("CARGO_BIN_EXE_scripted-api"),
        env!("CARGO_BIN_EXE_run-cases"),
    ] {
        let output = Command::new(program).arg("--help").output().unwrap();
        assert!(output.status.success());
        assert!(stdout(&output).contains("Usage:"));
    }
}

#[test]
fn programs_are_found_from_other_crates() {
    for (program, expected) in [
        (Program::FakeCli, env!("CARGO_BIN_EXE_fake-cli")),
        (Program::Isolated, env!("CARGO_BIN_EXE_isolated")),
        (Program::ScriptedApi, env!("CARGO_BIN_EXE_scripted-api")),
        (Program::RunCases, env!("CARGO_BIN_EXE_run-cases")),
    ] {
        assert_eq!(program.locate().unwrap().to_str(), Some(expected));
    }
}
