//! The end of a session (`protocol.md §11`).

use std::time::Duration;

use serde_json::json;
use towline::{Error, Exit, LocalError, TurnOutcome};
use towline_real_cli::{on_both_versions, on_the_current_version, Seen, Stage, LIMIT};

on_both_versions!(idle, in_mid_turn, the_input_ends_after_the_last_prompt,);
on_the_current_version!(in_mid_turn_with_patience, before_the_session_is_open);

fn idle(stage: &Stage) {
    let mut host = stage.open(json!({}));
    host.turn("hello");
    let session = host.session().clone();
    host.end().is_clean();
    assert!(matches!(session.poll(Some(LIMIT)), Err(Error::Closed)));
    assert!(matches!(
        session.send("too late"),
        Err(Error::Local(LocalError::Ended))
    ));
    session.close().expect("closing again changes nothing");
}

/// A CLI in the middle of a turn ends its turn first; one that cannot is told by SIGTERM.
fn in_mid_turn(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let turn = host.send("GATE never");
    assert!(stage.api().wait_at_gate("never", LIMIT));
    let ending = host.end_within(Duration::from_millis(300));
    assert_eq!(ending.closing.exit, Some(Exit::Code(143)));
    assert_eq!(ending.closing.error, None, "the host wanted the end");
    assert!(ending.log.iter().any(|seen| matches!(
        seen,
        Seen::Ended(id, TurnOutcome::SessionEnded(_)) if *id == turn
    )));
}

fn in_mid_turn_with_patience(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let turn = host.send("GATE soon");
    assert!(stage.api().wait_at_gate("soon", LIMIT));
    host.session().begin_close().unwrap();
    stage.api().release("soon");
    assert_eq!(host.finish(turn).text(), "before after");
    host.ended().is_clean();
}

fn the_input_ends_after_the_last_prompt(stage: &Stage) {
    let mut host = stage.open(json!({}));
    let turn = host.send("the only one");
    host.session().end_input_when_settled().unwrap();
    assert!(matches!(
        host.session().send("one more"),
        Err(Error::Local(LocalError::InputFinished))
    ));
    assert_eq!(host.finish(turn).text(), "echo: the only one");
    host.ended().is_clean();
}

fn before_the_session_is_open(stage: &Stage) {
    let host = stage.open(json!({}));
    let ending = host.end();
    assert_eq!(ending.closing.error, None);
}
