//! Starts that fail, and the handshake.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::json;
use towline::protocol::launch::Dialect;
use towline::{Diagnostic, Error, Event, Exit, LocalError, Options, Session, StartError};

use crate::support::*;

fn start_error(fake: Fake) -> StartError {
    match fake.builder().begin() {
        Err(Error::Start(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn script_file(fake: &Fake, text: &str, mode: u32) -> std::path::PathBuf {
    let path = fake.path("claude");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

fn plain() -> Fake {
    Fake::new(json!([]))
}

#[test]
fn a_missing_folder() {
    let error = start_error(plain().set("cwd", "/no/such/folder"));
    assert!(matches!(&error, StartError::CwdMissing { path, .. } if path.ends_with("folder")));
    let text = error.to_string();
    assert!(
        text.contains("/no/such/folder") && text.contains("cwd"),
        "{text}"
    );
    let fake = plain();
    let file = fake.path("script.json");
    let error = start_error(fake.set("cwd", file.to_str().unwrap()));
    assert!(matches!(error, StartError::CwdNotAFolder { .. }), "{error}");
}

#[test]
fn a_settings_file_that_is_read_is_relative_to_the_folder() {
    let fake = plain();
    let settings = fake.path("settings.json");
    std::fs::write(&settings, r#"{"model":"m"}"#).unwrap();
    let folder = settings.parent().unwrap().to_str().unwrap().to_string();
    let given = fake
        .set("dialect", "python")
        .set("sandbox", json!({"enabled": true}))
        .set("settings", "settings.json");
    let given = given.set("cwd", folder);
    given.builder().start().unwrap();
}

#[test]
fn a_missing_cli() {
    let error = start_error(plain().set("cliPath", "/no/such/claude"));
    assert!(matches!(&error, StartError::NotFound { path } if path.ends_with("claude")));
    let text = error.to_string();
    for part in ["/no/such/claude", "cliPath", "npm install"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_cli_that_cannot_be_executed() {
    let fake = plain();
    let path = script_file(&fake, "#!/bin/sh\n", 0o644);
    let error = start_error(fake.set("cliPath", path.to_str().unwrap()));
    assert!(matches!(error, StartError::NotExecutable { .. }));
    let text = error.to_string();
    assert!(
        text.contains("claude") && text.contains("chmod +x"),
        "{text}"
    );

    let fake = plain();
    let folder = fake.folder.path().to_str().unwrap().to_owned();
    let error = start_error(fake.set("cliPath", folder));
    assert!(
        matches!(&error, StartError::NotExecutable { reason, .. } if reason.contains("folder"))
    );

    let fake = plain();
    let path = script_file(&fake, "neither ELF nor script\n", 0o755);
    let error = start_error(fake.set("cliPath", path.to_str().unwrap()));
    assert!(matches!(&error, StartError::NotExecutable { reason, .. } if reason.contains("#!")));
}

#[test]
fn a_missing_interpreter() {
    let fake = plain();
    let path = script_file(&fake, "#!/no/such/node --x\n", 0o755);
    let error = start_error(fake.set("cliPath", path.to_str().unwrap()));
    let StartError::InterpreterMissing { interpreter, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(interpreter, "/no/such/node --x");
    assert!(error.to_string().contains("install"), "{error}");
}

#[test]
fn an_unknown_user() {
    let error = start_error(plain().set("user", "no-such-user-here"));
    match crate::PORTABLE {
        true => assert!(error.to_string().contains("option user"), "{error}"),
        false => {
            assert!(
                matches!(&error, StartError::UnknownUser { user } if user == "no-such-user-here")
            );
        }
    }
}

#[test]
fn arguments_that_are_too_long() {
    let long = "x".repeat(200 * 1024);
    let fake = plain().set("extraArgs", json!({"some-flag": long}));
    let error = fake.builder().begin().unwrap_err().to_string();
    for part in ["extraArgs", "the system takes", "shorten"] {
        assert!(error.contains(part), "{part}: {error:.300}");
    }
}

/// A start that fails leaves no process and no descriptor behind.
#[test]
fn a_failed_start_leaves_nothing() {
    in_child("start::a_failed_start_leaves_nothing", || {
        let before = open_descriptors();
        for _ in 0..20 {
            start_error(plain().set("cliPath", "/no/such/claude"));
            start_error(plain().set("user", "no-such-user-here"));
            let fake = plain();
            let path = script_file(&fake, "#!/no/such/node\n", 0o755);
            start_error(fake.set("cliPath", path.to_str().unwrap()));
        }
        assert_eq!(open_descriptors(), before);
        assert_eq!(children(), [0; 0]);
    });
}

fn connect_error(session: &Session) -> Error {
    let begun = Instant::now();
    let error = session.connect(Some(LONG)).unwrap_err();
    assert!(begun.elapsed() < LONG / 2, "{error}");
    error
}

#[test]
fn a_cli_that_dies_at_once() {
    // The last step keeps the reader from answering by itself.
    let fake = Fake::new(json!([{"stderr": "unknown option --x\n"}, {"exit": 3}, initialize()]));
    let session = fake.begin();
    let Error::ExitedBeforeInitialize(failure) = connect_error(&session) else {
        panic!("another error");
    };
    assert_eq!(failure.exit, Some(Exit::Code(3)));
    assert_eq!(failure.stderr, "unknown option --x\n");
}

fn initialize() -> serde_json::Value {
    json!({"expect": {"request": {"subtype": "initialize"}}})
}

#[test]
fn a_cli_that_exits_instead_of_answering() {
    for (code, text) in [(0, ""), (1, "Invalid session ID\n"), (7, "x")] {
        let fake = Fake::new(json!([initialize(), {"stderr": text}, {"exit": code}]));
        let session = fake.begin();
        let error = connect_error(&session);
        let told = error.to_string();
        assert!(told.contains(&format!("exit status {code}")), "{told}");
        assert!(told.contains(text.trim()), "{told}");
        assert!(matches!(error, Error::ExitedBeforeInitialize(_)));
        // The last event says the same.
        let closed = until_closed(&session);
        assert!(matches!(
            closed.error,
            Some(Error::ExitedBeforeInitialize(_))
        ));
    }
    let fake = Fake::new(json!([initialize(), {"kill": "SIGSEGV"}]));
    let session = fake.begin();
    let Error::ExitedBeforeInitialize(failure) = connect_error(&session) else {
        panic!("another error");
    };
    assert_eq!(failure.exit, Some(Exit::Signal(libc::SIGSEGV)));
}

/// `protocol.md §1.6`: a result before the answer means that the handshake has failed.
#[test]
fn an_error_result_before_the_answer() {
    let fake = Fake::new(json!([
        initialize(),
        {"emit": error_result("No conversation found with session ID: x")},
        {"expect_eof": true},
        {"exit": 1}
    ]));
    let session = fake.begin();
    let Error::ExitedBeforeInitialize(failure) = connect_error(&session) else {
        panic!("another error");
    };
    assert_eq!(failure.exit, Some(Exit::Code(1)));
    assert_eq!(failure.result, "No conversation found with session ID: x");
    fake.check();
}

#[test]
fn an_initialize_that_is_refused() {
    let fake =
        Fake::new(json!([initialize(), {"answer_error": "not today"}, {"expect_eof": true}]));
    let session = fake.begin();
    let error = connect_error(&session);
    assert!(
        matches!(&error, Error::InitializeRefused { message, .. } if message == "not today"),
        "{error}"
    );
    let closed = until_closed(&session);
    assert!(matches!(
        closed.error,
        Some(Error::InitializeRefused { .. })
    ));
    fake.check();
}

/// The error comes when the time is up, not when the process is gone at last.
#[test]
fn an_initialize_that_is_not_answered() {
    let fake =
        Fake::new(json!([{"ignore_signals": ["SIGTERM"]}, initialize(), {"on_eof": "ignore"}]))
            .set("initializeTimeoutMs", 200)
            .set("closeGraceMs", 60_000);
    let session = fake.begin();
    let begun = Instant::now();
    let error = connect_error(&session);
    let Error::InitializeTimedOut {
        connecting,
        limit_ms,
        failure,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*limit_ms, failure.exit), (200, None));
    assert!(!connecting);
    assert!(error.to_string().contains("initializeTimeoutMs"));
    assert!(begun.elapsed() >= Duration::from_millis(200));
    session.close_within(Some(Duration::ZERO)).unwrap();
    let closed = until_closed(&session);
    assert!(matches!(
        closed.error,
        Some(Error::InitializeTimedOut { .. })
    ));
}

/// The text names the option that set the limit, by the name it has in the host's language, and
/// leaves alone what the CLI wrote.
#[test]
fn the_limit_of_connecting_is_named() {
    let fake = Fake::new(json!([
        {"stderr": "initializeTimeoutMs\n"},
        initialize(),
        {"on_eof": "ignore"}
    ]))
    .set("connectTimeoutMs", 300)
    .set("closeGraceMs", 60_000);
    let session = fake.begin();
    let error = connect_error(&session);
    for (dialect, name) in [
        (Dialect::Towline, "connectTimeoutMs"),
        (Dialect::TypeScript, "connectTimeoutMs"),
        (Dialect::Python, "connect_timeout_ms"),
    ] {
        let text = error.text(dialect);
        assert!(text.ends_with(&format!("; option {name}")), "{text}");
        assert!(!text.contains("initialize_timeout_ms"), "{text}");
    }
    session.close_within(Some(Duration::ZERO)).unwrap();
    until_closed(&session);
}

#[test]
fn a_missing_launcher_is_told_from_a_missing_cli() {
    let start = |launcher: &str| {
        let options = format!(r#"{{"launcher":["{launcher}"],"cliPath":"/nowhere/claude"}}"#);
        let builder = Session::builder(Options::from_json(&options).unwrap());
        builder.begin().map(drop).unwrap_err()
    };
    for launcher in ["/nowhere/launcher", "no-such-launcher"] {
        let error = start(launcher);
        assert!(
            matches!(error, Error::Start(StartError::LauncherNotFound { .. })),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains(launcher) && text.contains("option launcher"),
            "{text}"
        );
        assert!(!text.contains("Claude Code"), "{text}");
    }
}

/// What comes before the answer is served and kept.
#[test]
fn requests_and_messages_before_the_answer() {
    let fake = Fake::new(json!([
        initialize(),
        {"emit": {"type": "system", "subtype": "session_title_changed", "title": "t"}},
        {"emit": hook("early", "hook_0")},
        {"expect": {"type": "control_response", "response": {"request_id": "early"}}},
        {"emit": {"type": "control_response", "response": {"subtype": "success",
            "request_id": "towline_1", "response": {"claude_code_version": "9.9.9"}}}},
    ]));
    let session = fake
        .builder()
        .on_hook("PreToolUse", None, |_| towline::Reply::Json("{}".into()))
        .begin()
        .unwrap();
    session.connect(Some(LONG)).unwrap();
    assert_eq!(session.cli_version().as_deref(), Some("9.9.9"));
    let message = message(&session, "system");
    assert_eq!(message["title"], "t");
    assert!(matches!(next(&session), Event::Initialized(_)));
    session.close().unwrap();
    fake.check();
}

/// A CLI too old to tell its version is warned of at its first turn.
#[test]
fn a_cli_without_a_version() {
    let init = json!({"type": "system", "subtype": "init", "session_id": "s"});
    let fake = Fake::new(json!([{"emit": init}, {"emit": init}]));
    let session = fake.begin();
    let warning = loop {
        if let Event::Diagnostic(Diagnostic::OldCli(text)) = next(&session) {
            break text;
        }
    };
    assert!(warning.contains("2.0.0"), "{warning}");
    session.begin_close().unwrap();
    let again = |event: &Event| matches!(event, Event::Diagnostic(Diagnostic::OldCli(_)));
    assert!(!rest(&session).0.iter().any(again));
    fake.check();
}

#[test]
fn connect_gives_up_when_the_caller_does() {
    let fake = Fake::new(json!([initialize()]));
    let session = fake.begin();
    let error = session
        .connect(Some(Duration::from_millis(50)))
        .unwrap_err();
    assert!(matches!(error, Error::TimedOut { limit_ms: 50 }), "{error}");
}

/// What the host sends to a CLI that has died already is not what went wrong.
#[test]
fn sending_to_a_dead_cli_does_not_hide_its_end() {
    let fake = Fake::new(json!([]));
    let script = fake.path("cli.sh");
    std::fs::write(&script, "#!/bin/sh\necho no licence >&2\nexit 3\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).unwrap();
    let fake = fake.set("cliPath", script.to_str().unwrap());
    let told = |error: &Error| {
        let text = error.to_string();
        matches!(error, Error::ExitedBeforeInitialize(_)) && text.contains("no licence")
    };

    let session = fake.begin();
    let pid = pid_of(&session);
    wait_for("the end of the CLI", || (!is_alive(pid)).then_some(()));
    for _ in 0..3 {
        // The first may still be taken, as if it were on its way.
        if let Err(error) = session.send("hi") {
            // In the portable way its end is known a moment after that of its stdin.
            let lost = matches!(error, Error::Local(LocalError::InputLost));
            assert!(told(&error) || (crate::PORTABLE && lost), "{error:?}");
        }
    }
    let error = session.connect(Some(LONG)).unwrap_err();
    assert!(told(&error), "{error:?}");
    let closed = until_closed(&session);
    assert!(told(closed.error.as_ref().unwrap()), "{closed:?}");
    let error = session.send("hi").unwrap_err();
    assert!(told(&error), "{error:?}");

    let error = match towline::query("hi", fake.options()) {
        Ok(query) => query.last().unwrap().unwrap_err(),
        Err(error) => error,
    };
    assert!(told(&error), "{error:?}");
}

#[test]
fn the_phases_of_a_start_are_told() {
    let fake = Fake::new(json!([{"expect": {"type": "user"}}, {"emit": assistant("hi")}]));
    let before = std::time::Instant::now();
    let session = fake.begin();
    let start = session.stats().startup;
    assert!(start.spawned.is_some());
    assert_eq!((start.initialized, start.first_message), (None, None));
    session.send("hi").unwrap();
    message(&session, "assistant");
    let start = session.stats().startup;
    assert!(start.spawned <= start.initialized);
    assert!(start.initialized <= start.first_message);
    assert!(start.first_message.unwrap() <= before.elapsed());
}
