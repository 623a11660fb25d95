//! Nothing of ours is left behind, however a session or its host ends.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{json, Value};
use towline_real_cli::processes::{descendants, mark_of, marked, running, Watched};
use towline_real_cli::{on_both_versions, on_the_current_version, prompt_tool, Host, Stage, LIMIT};

on_both_versions!(
    a_host_that_is_killed_leaves_nothing,
    a_close_in_mid_turn_leaves_nothing,
    a_dropped_session_leaves_nothing,
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
    fn start(stage: &Stage, options: Value) -> Victim {
        let document = serde_json::to_string(&stage.options(options)).unwrap();
        let mut host = stage
            .sandbox()
            .command(env!("CARGO_BIN_EXE_towline-custody-host"))
            .args([document.as_str(), &background_shell(), "GATE never"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the host program starts");
        let mut lines = BufReader::new(host.stdout.take().expect("piped")).lines();
        let mut line = || lines.next().expect("the host goes on").unwrap();
        let cli = line();
        let cli = cli.strip_prefix("cli ").expect("the CLI's pid first");
        let cli = cli.parse().unwrap();
        assert_eq!(line(), "ended");
        assert!(stage.api().wait_at_gate("never", LIMIT));
        Victim { host, cli }
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
    let mut victim = Victim::start(stage, options());
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
    let mut victim = Victim::start(stage, options);
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
