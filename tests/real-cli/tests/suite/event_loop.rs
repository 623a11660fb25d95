//! Two sessions in one loop on one thread, by their descriptors.

use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde_json::json;
use towline::{Event, Session, TurnOutcome};
use towline_real_cli::{on_the_current_version, Stage, LIMIT};

on_the_current_version!(two_sessions_in_one_poll_loop);

/// What one session has said so far.
struct Half {
    session: Session,
    said: Vec<String>,
    closed: bool,
}

fn two_sessions_in_one_poll_loop(stage: &Stage) {
    let mut halves = ["left", "right"].map(|name| {
        let session = stage.builder(json!({})).start().unwrap();
        session.send(&format!("{name} one")).unwrap();
        Half {
            session,
            said: Vec::new(),
            closed: false,
        }
    });
    let until = Instant::now() + LIMIT;
    while halves.iter().any(|half| !half.closed) {
        let left = until.saturating_duration_since(Instant::now());
        assert!(!left.is_zero(), "not over within {LIMIT:?}");
        wait(&halves, left);
        for half in halves.iter_mut().filter(|half| !half.closed) {
            serve(half);
        }
    }
    for (name, half) in ["left", "right"].iter().zip(&halves) {
        assert_eq!(
            half.said,
            [format!("echo: {name} one"), "echo: two".to_string()]
        );
    }
}

/// Waits as a host's own loop does: on both descriptors, no longer than either session allows.
fn wait(halves: &[Half; 2], left: Duration) {
    let open = || halves.iter().filter(|half| !half.closed);
    let limit = open()
        .filter_map(|half| half.session.next_timeout().unwrap())
        .fold(left, Duration::min);
    let mut fds: Vec<PollFd> = open()
        .map(|half| PollFd::from_borrowed_fd(half.session.fd().unwrap(), PollFlags::IN))
        .collect();
    poll(&mut fds, Some(&Timespec::try_from(limit).unwrap())).unwrap();
}

fn serve(half: &mut Half) {
    while let Some(event) = half.session.poll(Some(Duration::ZERO)).unwrap() {
        match event {
            Event::TurnEnded { outcome, .. } => {
                let TurnOutcome::Result(result) = outcome else {
                    panic!("{outcome:?}")
                };
                let result: serde_json::Value = serde_json::from_str(result.json()).unwrap();
                half.said.push(result["result"].as_str().unwrap().into());
                match half.said.len() {
                    1 => drop(half.session.send("two").unwrap()),
                    _ => half.session.begin_close().unwrap(),
                }
            }
            Event::Closed(closed) => {
                assert!(closed.error.is_none(), "{closed:?}");
                half.closed = true;
                return;
            }
            _ => {}
        }
    }
}
