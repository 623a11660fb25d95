//! Nothing of ours is left behind, however a session or its host ends.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline_real_cli::processes::{descendants, mark_of, marked, running, Watched};
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Host, Stage, LIMIT};

on_both_versions!(
    a_host_that_is_killed_leaves_nothing,
    a_close_in_mid_turn_leaves_nothing,
    a_dropped_session_leaves_nothing,
    a_close_ends_a_running_tool_and_a_server,
    a_drop_ends_a_running_tool_and_a_server,
    a_host_that_is_killed_leaves_no_running_tool_and_no_server,
);
on_the_current_version!(without_a_watchdog_a_killed_host_leaves_them_all);

/// How soon everything is gone.
const SOON: Duration = Duration::from_secs(5);

/// A shell that the CLI puts into a session of its own, and that would run on for long.
fn background_shell() -> String {
    prompt_tool(
        "Bash",
        &json!({"command": "sleep 987", "run_in_background": true, "description": "d"}),
    )
}

fn options() -> Value {
    json!({"allowedTools": ["Bash"]})
}

/// Everything that the session of this CLI has started, the CLI included; the background shell is
/// among it.
fn family(cli: u32) -> (String, BTreeSet<u32>) {
    let mark = mark_of(cli).expect("the CLI is marked");
    let family = marked(&mark);
    assert!(family.contains(&cli));
    assert!(
        running(&family, "sleep 987").is_some(),
        "the background shell runs: {family:?}"
    );
    (mark, family)
}

/// A session with the shell in the background, in the middle of a second turn.
fn busy(stage: &Stage, options: Value) -> (Host, String, Watched) {
    let mut host = stage.open(options);
    let turn = host.turn(&background_shell());
    assert_eq!(turn.text(), "done");
    host.send("GATE never");
    assert!(stage.api().wait_at_gate("never", LIMIT));
    let (mark, family) = family(host.session().pid().unwrap());
    (host, mark, Watched::new(family))
}

/// A tool that runs in the foreground for long; 2.1.332 refuses a `sleep` there.
fn long_tool() -> String {
    prompt_tool(
        "Bash",
        &json!({"command": "tail -f /dev/null", "timeout": 600_000, "description": "d"}),
    )
}

/// An MCP server that the CLI starts; it minds neither the end of its input nor polite signals.
const SERVER: &str = r#"#!/bin/sh
trap '' TERM INT HUP
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
exec sleep 986
"#;

fn options_with_server(stage: &Stage) -> Value {
    let server = stage.project().join("outside-server.sh");
    std::fs::write(&server, SERVER).unwrap();
    std::fs::set_permissions(&server, PermissionsExt::from_mode(0o755)).unwrap();
    json!({"allowedTools": ["Bash"],
        "mcpServers": {"outside": {"type": "stdio", "command": server, "args": []}}})
}

/// All that the CLI has started, once the tool in the foreground, the one in the background and the
/// server run.
fn working_family(cli: u32) -> (String, BTreeSet<u32>) {
    let mark = mark_of(cli).expect("the CLI is marked");
    let until = Instant::now() + LIMIT;
    loop {
        let mut family = marked(&mark);
        family.extend(descendants(cli));
        let missing = ["sleep 987", "tail -f /dev/null", "outside-server.sh"]
            .into_iter()
            .find(|text| !family.iter().any(|pid| runs(*pid, text)));
        let Some(missing) = missing else {
            return (mark, family);
        };
        assert!(Instant::now() < until, "{missing} does not run: {family:?}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// Whether the arguments of a process contain this text, shells that name it apart.
fn runs(pid: u32, text: &str) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    line.contains(text) && !line.contains("-c ")
}

/// A session with all that in the middle of a turn.
fn working(stage: &Stage) -> (Host, String, Watched) {
    let mut host = stage.open(options_with_server(stage));
    let turn = host.turn(&background_shell());
    assert_eq!(turn.text(), "done");
    host.send(&long_tool());
    let (mark, family) = working_family(host.session().pid().unwrap());
    (host, mark, Watched::new(family))
}

fn a_close_ends_a_running_tool_and_a_server(stage: &Stage) {
    let (host, mark, watched) = working(stage);
    host.end_within(Duration::from_millis(300));
    is_gone(&mark, &watched, SOON);
}

fn a_drop_ends_a_running_tool_and_a_server(stage: &Stage) {
    let (host, mark, watched) = working(stage);
    drop(host);
    is_gone(&mark, &watched, SOON);
}

fn a_host_that_is_killed_leaves_no_running_tool_and_no_server(stage: &Stage) {
    let mut victim = Victim::start(stage, options_with_server(stage), &long_tool());
    let (mark, family) = working_family(victim.cli);
    let of_the_host = descendants(victim.host.id());
    let watched = Watched::new(family.union(&of_the_host).copied());
    victim.kill();
    is_gone(&mark, &watched, SOON);
}

fn is_gone(mark: &str, watched: &Watched, limit: Duration) {
    let survivors = watched.survivors(limit);
    assert!(survivors.is_empty(), "still running: {survivors:?}");
    let others = marked(mark);
    assert!(others.is_empty(), "started meanwhile: {others:?}");
}

fn a_close_in_mid_turn_leaves_nothing(stage: &Stage) {
    let (host, mark, watched) = busy(stage, options());
    host.end_within(Duration::from_millis(300));
    is_gone(&mark, &watched, SOON);
}

fn a_dropped_session_leaves_nothing(stage: &Stage) {
    let (host, mark, watched) = busy(stage, options());
    drop(host);
    is_gone(&mark, &watched, SOON);
}

/// A host process of its own in the middle of a turn, with the shell in the background.
struct Victim {
    host: Child,
    cli: u32,
}

impl Victim {
    /// With this as the prompt of the turn that it is left in.
    fn start(stage: &Stage, options: Value, last: &str) -> Victim {
        let document = serde_json::to_string(&stage.options(options)).unwrap();
        let mut host = stage
            .sandbox()
            .command(env!("CARGO_BIN_EXE_towline-custody-host"))
            .args([document.as_str(), &background_shell(), last])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the host program starts");
        let mut lines = BufReader::new(host.stdout.take().expect("piped")).lines();
        let mut line = || lines.next().expect("the host goes on").unwrap();
        let cli = line();
        let cli = cli.strip_prefix("cli ").expect("the CLI's pid first");
        let cli = cli.parse().unwrap();
        assert_eq!(line(), "ended");
        Victim { host, cli }
    }

    /// In a turn in which the model says nothing.
    fn at_gate(stage: &Stage, options: Value) -> Victim {
        let victim = Victim::start(stage, options, "GATE never");
        assert!(stage.api().wait_at_gate("never", LIMIT));
        victim
    }

    /// Ends the host as nothing can prepare for: SIGKILL.
    fn kill(&mut self) {
        self.host.kill().unwrap();
        self.host.wait().unwrap();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // Only when a test has failed is it still running here.
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

fn a_host_that_is_killed_leaves_nothing(stage: &Stage) {
    let mut victim = Victim::at_gate(stage, options());
    let (mark, family) = family(victim.cli);
    let of_the_host = descendants(victim.host.id());
    let watchdog = of_the_host.difference(&family).count();
    assert_eq!(watchdog, 1, "{of_the_host:?} beside {family:?}");
    let watched = Watched::new(family.union(&of_the_host).copied());
    victim.kill();
    is_gone(&mark, &watched, SOON);
}

/// What the watchdog is for. Without one the end of its input is all that the CLI notices, and as
/// long as it waits for what it put into the background, both stay.
fn without_a_watchdog_a_killed_host_leaves_them_all(stage: &Stage) {
    let mut options = options();
    options["watchdog"] = json!(false);
    let mut victim = Victim::at_gate(stage, options);
    let (mark, family) = family(victim.cli);
    let of_the_host = descendants(victim.host.id());
    assert!(
        of_the_host.is_subset(&family),
        "no watchdog: {of_the_host:?} beside {family:?}"
    );
    let watched = Watched::new(family.iter().copied());
    victim.kill();
    stage.api().release("never");
    // The turn ends and nothing more happens: so this takes its whole time.
    let survivors = watched.survivors(Duration::from_secs(2));
    watched.kill();
    assert!(survivors.contains(&victim.cli), "{survivors:?}");
    is_gone(&mark, &watched, SOON);
}
