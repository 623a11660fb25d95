//! Sessions started ahead, and conversations that are resumed.

use std::time::{Duration, Instant};

use serde_json::json;
use towline::{Event, Pool, PoolOptions, Session, TurnOutcome};
use towline_real_cli::{on_both_versions, Stage, LIMIT};

on_both_versions!(
    a_warm_session_answers_at_once,
    a_conversation_makes_room_and_is_resumed
);

/// Holds a turn; its text, and how long its first message took.
fn ask(session: &Session, prompt: &str) -> (String, Duration) {
    let asked = Instant::now();
    session.send(prompt).expect("a prompt can be sent");
    let mut first = None;
    loop {
        match session.poll(Some(LIMIT)).expect("it can be polled") {
            Some(Event::Message { turn: Some(_), .. }) => {
                first.get_or_insert(asked.elapsed());
            }
            Some(Event::TurnEnded { outcome, .. }) => {
                let TurnOutcome::Result(result) = outcome else {
                    panic!("no result: {outcome:?}");
                };
                let text = result.pointer("/result").ok().flatten();
                let text = text.unwrap_or_default().trim_matches('"').to_string();
                return (text, first.expect("there were messages"));
            }
            Some(Event::Closed(closed)) => panic!("{closed:?}"),
            Some(_) => {}
            None => panic!("nothing came within {LIMIT:?}"),
        }
    }
}

fn a_warm_session_answers_at_once(stage: &Stage) {
    // One after the other, so that neither is disturbed by the other's start.
    let began = Instant::now();
    let cold = stage
        .builder(json!({}))
        .start()
        .expect("the CLI can be started");
    let (text, first) = ask(&cold, "cold");
    assert_eq!(text, "echo: cold");
    let cold_took = first;
    assert!(cold_took <= began.elapsed());
    cold.close().expect("it can be closed");

    let limits = PoolOptions {
        size: 1,
        max_sessions: Some(1),
        check_interval_ms: Some(50),
        ..PoolOptions::default()
    };
    let pool = Pool::new(stage.options(json!({})), limits).expect("a pool can be made");
    assert!(pool.fill(Some(LIMIT)).expect("a session gets warm"));
    // A sign of life is asked for and given.
    let until = Instant::now() + Duration::from_millis(300);
    while Instant::now() < until {
        pool.poll(Some(Duration::from_millis(20)))
            .expect("it can be driven");
    }
    let began = Instant::now();
    let warm = pool.take().expect("there is a warm one");
    let (text, _) = ask(&warm, "warm");
    assert_eq!(text, "echo: warm");
    let start = warm.stats().startup;
    let first = start.first_message.expect("there was one");
    let warm_took = first - start.taken.expect("it was taken");
    println!(
        "{:?}: first message after {cold_took:?} cold, {warm_took:?} warm ({:?} with all)",
        stage.version(),
        began.elapsed()
    );
    assert!(start.initialized.expect("it was open") <= start.taken.expect("it was taken"));
    assert!(warm_took < cold_took, "{warm_took:?}, cold {cold_took:?}");
    let stats = pool.stats().expect("it counts");
    // In the middle of a check its answer is waited for, which is no hit.
    assert_eq!(stats.hits + stats.misses, 1);
    assert_eq!((stats.started, stats.unhealthy), (1, 0));
    drop(warm);
    pool.close().expect("it can be closed");
}

fn a_conversation_makes_room_and_is_resumed(stage: &Stage) {
    let limits = PoolOptions {
        size: 0,
        max_sessions: Some(1),
        ..PoolOptions::default()
    };
    let pool = Pool::new(stage.options(json!({})), limits).expect("a pool can be made");
    let session = pool.take().expect("a session starts");
    let (first, id) = (session.pid(), {
        ask(&session, "remember me");
        session.session_id().expect("known after a turn")
    });
    pool.put_back(session).expect("it can be parked");
    let live = pool.take_for(&id).expect("it is there");
    assert_eq!(live.pid(), first);
    ask(&live, "again");
    live.put_back().expect("it can be parked");
    let other = pool.take().expect("room is made");
    assert_ne!(other.pid(), first);
    drop(other);
    let resumed = pool.take_for(&id).expect("it is resumed");
    assert_eq!(ask(&resumed, "going on").0, "echo: going on");
    let asked = stage.api().requests();
    let last = asked
        .iter()
        .find(|request| request.is_message() && request.user_text() == "going on")
        .expect("the model was asked");
    assert!(last.body["messages"].to_string().contains("remember me"));
    let stats = pool.stats().expect("it counts");
    assert_eq!((stats.evicted, stats.resumed, stats.hits), (1, 1, 1));
}
