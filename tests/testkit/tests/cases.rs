//! Cases with hosts that are a few lines of shell.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use tempfile::TempDir;
use towline_testkit::cases::{Case, Excluded, Host, Suite, Verdict};

const FAKE_CLI: &str = env!("CARGO_BIN_EXE_fake-cli");

fn case(folder: &Path, id: &str, more: Value) -> std::path::PathBuf {
    let mut case =
        json!({"id": id, "kind": "k", "title": "t", "cli_script": [], "host": [], "expect": []});
    let members = case.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    let path = folder.join(format!("{id}.json"));
    fs::write(&path, case.to_string()).unwrap();
    path
}

fn shell(script: &str) -> Host {
    Host::new("sh", FAKE_CLI).arg("-c").arg(script).arg("sh")
}

fn run(more: Value, script: &str) -> Verdict {
    let folder = TempDir::new().unwrap();
    let path = case(folder.path(), "T1", more);
    Case::load(&path).unwrap().run(&shell(script)).unwrap()
}

/// A host that writes this record once its conditions hold.
fn recording(conditions: &str, record: &str) -> String {
    format!("{conditions}\nprintf '%s' '{record}' > \"$CASE_OUT\"")
}

#[test]
fn the_host_finds_what_the_case_promises() {
    let more = json!({
        "env": {"CASE_VAR": "é"},
        "fixture": {
            "files": [
                {"path": "a/b", "text": "at @WORK@", "mode": "600"},
                {"path": "c", "b64": "/w==", "mtime": 1},
            ],
            "dirs": ["d/e"],
        },
        "expect": [{"file_exists": "@WORK@/made"}, {"text": "x"}],
    });
    let script = recording(
        r#"set -e
        [ "$(cat "$CASE_WORK/a/b")" = "at $CASE_WORK" ]
        [ "$(stat -c %a "$CASE_WORK/a/b")" = 600 ]
        [ "$(od -An -tx1 "$CASE_WORK/c" | tr -d ' ')" = ff ]
        [ "$(stat -c %Y "$CASE_WORK/c")" = 1 ]
        [ -d "$CASE_WORK/d/e" ] && [ -d "$CLAUDE_CONFIG_DIR" ] && [ "$HOME" = "$CASE_WORK" ]
        [ "$CASE_VAR" = é ] && [ -x "$CASE_FAKE_CLI" ] && [ "$1" = "$FAKE_CLI_SCRIPT" ]
        grep -q "$CASE_WORK/made" "$1"
        touch "$CASE_WORK/made""#,
        r#"{"messages":[{"type":"assistant","text":"x"}]}"#,
    );
    let verdict = run(more, &script);
    assert!(verdict.passed(), "{verdict:?}");
}

#[test]
fn a_host_without_a_record_fails() {
    let verdict = run(json!({}), "echo why; exit 3");
    assert!(verdict.must[0].contains("no record"), "{verdict:?}");
    assert!(verdict.output.contains("why"));
    let verdict = run(json!({}), &recording("", "no JSON"));
    assert!(verdict.must[0].contains("record"), "{verdict:?}");
    let verdict = run(json!({}), &(recording("", "{}") + "\nexit 3"));
    assert!(verdict.must[0].contains("exit status: 3"), "{verdict:?}");
}

#[test]
fn a_cli_that_stays_is_told_and_ended() {
    let more = json!({"cli_script": [{"on_eof": "ignore"}]});
    let started = r#""$CASE_FAKE_CLI" < /dev/null > /dev/null 2>&1 &
        echo "pid $!"
        until [ -s "$FAKE_CLI_LOG" ]; do :; done"#;
    let verdict = run(more, &recording(started, "{}"));
    assert!(verdict.must[0].contains("still running"), "{verdict:?}");
    let pid = verdict.output.trim().strip_prefix("pid ").unwrap();
    // Gone, or about to be waited for by whoever inherited it; the signal takes effect in its time.
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit(')')
            .next()
            .and_then(|rest| rest.split_whitespace().next());
        if matches!(state, None | Some("Z" | "X")) {
            return;
        }
        assert!(Instant::now() < until, "{stat}");
        std::thread::yield_now();
    }
}

#[test]
fn a_suite_tells_what_failed_and_what_did_not_run() {
    let folder = TempDir::new().unwrap();
    case(folder.path(), "T1", json!({}));
    case(folder.path(), "T2", json!({"expect": [{"text": "x"}]}));
    case(folder.path(), "T3", json!({"host": [{"close": true}]}));
    let load = || Suite::load(folder.path()).unwrap();

    let mut suite = load();
    let unknown = suite.exclude(Excluded {
        ids: &["T9"],
        reason: "r",
    });
    assert!(unknown.unwrap_err().contains("T9"));
    suite
        .exclude(Excluded {
            ids: &["T3"],
            reason: "later",
        })
        .unwrap();
    let report = suite.run(&shell(&recording("", "{}")), 2, |_, _| ());
    assert_eq!(
        report.to_string(),
        "2 cases ran: 1 passed, 1 failed (T2); 1 excluded (T3): later"
    );

    let mut suite = load();
    suite.keep(|case| case.has_step("close"));
    assert_eq!(suite.cases().len(), 1);
    let mut suite = load();
    suite.pick(&["T2".into()]);
    assert_eq!(suite.cases()[0].id, "T2");
    let empty = TempDir::new().unwrap();
    assert!(Suite::load(empty.path()).is_err());
}
