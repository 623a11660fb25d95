//! A host that is slow, and one that has no descriptors left.

use std::fs::File;
use std::time::Duration;

use serde_json::{json, Value};
use towline::{Error, Event, Session};

use crate::fault::Fault;
use crate::moment::{Moment, MOMENTS};
use crate::support::*;

const MESSAGES: usize = 1000;
/// More in all than pipes, buffers and the high-water mark hold.
const BYTES: usize = 20_000;

/// A CLI that does nothing wrong, with `more` at the moment.
fn script(fake: &Fake, moment: Moment, more: Option<Value>) {
    let (now, done) = (fake.path("now"), fake.path("done"));
    let mut script = moment.script(Fault::Nothing, &now, &done);
    let steps = script.as_array_mut().unwrap();
    let at = steps.iter().position(|step| step["touch"].is_string());
    steps.splice(at.unwrap() + 1..at.unwrap() + 1, more);
    std::fs::write(fake.path("script.json"), script.to_string()).unwrap();
}

/// Goes on to the moment with what the CLI asks as events, and tells it to go on.
fn begin(session: &Session, moment: Moment) {
    session.send("one").unwrap();
    match moment {
        Moment::BeforeHandshake | Moment::InHandshake => {}
        Moment::InTurn => drop(message(session, "assistant")),
        Moment::BetweenTurns | Moment::Closing => drop(message(session, "result")),
        Moment::InPermission | Moment::InTool => {
            message(session, "assistant");
        }
    }
}

#[test]
fn a_slow_host_misses_nothing() {
    for moment in [
        Moment::BeforeHandshake,
        Moment::BetweenTurns,
        Moment::InTurn,
    ] {
        let fake = Fake::new(json!([])).set("highWaterBytes", 100_000);
        let flood = json!({"repeat": MESSAGES, "steps": [{"emit_big": {"type": "system",
            "subtype": "flood", "number": "$i", "fill": "@FILL@"}, "bytes": BYTES}]});
        script(&fake, moment, Some(flood));
        let session = fake.begin();
        begin(&session, moment);
        std::fs::write(fake.path("now"), "").unwrap();
        if moment == Moment::BetweenTurns {
            session.send("two").unwrap();
        }
        session.request("set_model", r#"{"model":"m"}"#).unwrap();
        let mut seen = 0;
        while seen < MESSAGES {
            if let Event::Message { message, .. } = next(&session) {
                if message.subtype() == Some("flood") {
                    let value: Value = serde_json::from_str(message.json()).unwrap();
                    assert_eq!(value["number"], seen.to_string(), "{moment:?}");
                    seen += 1;
                    if seen < 100 {
                        // This is what makes it slow.
                        std::thread::park_timeout(Duration::from_millis(1));
                    }
                }
            }
        }
        message(&session, "result");
        session.close().unwrap();
        fake.check();
        assert_eq!(session.stats().shed, 0);
    }
}

/// Every descriptor that there can be, taken.
struct Taken(Vec<File>);

impl Taken {
    fn all() -> Taken {
        let mut files = Vec::new();
        while let Ok(file) = File::open("/dev/null") {
            files.push(file);
        }
        Taken(files)
    }
}

#[test]
fn a_host_without_descriptors() {
    in_child("resources::a_host_without_descriptors", || {
        let few = libc::rlimit {
            rlim_cur: 200,
            rlim_max: 200,
        };
        // SAFETY: the pointer is valid; this process is the test's own.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &few) }, 0);
        let before = open_descriptors();
        for moment in MOMENTS {
            let fake = Fake::new(json!([]));
            script(&fake, moment, None);
            let (now, done) = (fake.path("now"), fake.path("done"));
            let session = fake.builder().permission_events().start().unwrap();
            begin(&session, moment);
            let taken = Taken::all();
            // A folder needs no descriptor.
            std::fs::create_dir(&now).unwrap();
            wait_for("the CLI", || done.exists().then_some(()));
            if moment == Moment::BetweenTurns {
                session.send("two").unwrap();
            }
            session.request("set_model", r#"{"model":"m"}"#).unwrap();
            if moment == Moment::Closing {
                session.begin_close().unwrap();
            }
            let (mut results, mut closed) = (0, None);
            while closed.is_none() {
                match next(&session) {
                    Event::Message { message, .. } if message.message_type() == "result" => {
                        results += 1;
                        session.begin_close().unwrap();
                    }
                    Event::Request(request) => request.allow().unwrap(),
                    Event::Closed(last) => closed = Some(last),
                    _ => {}
                }
            }
            let closed = closed.unwrap();
            assert!(closed.error.is_none(), "{moment:?}: {closed:?}");
            assert_eq!(results, usize::from(moment != Moment::Closing));
            drop(session);
            drop(taken);
            fake.check();
        }
        assert_eq!(open_descriptors(), before);
        assert!(children().is_empty());

        // The start, with each number of descriptors there may be left.
        let fake = Fake::new(json!([]));
        let builder = || fake.builder();
        let mut failed = 0;
        for left in 0..40 {
            let (plain, portable) = (builder(), builder());
            let mut taken = Taken::all();
            taken.0.truncate(taken.0.len().saturating_sub(left));
            let started = [plain.start(), portable.start_portable()];
            drop(taken);
            for session in started {
                match session {
                    Ok(session) => session.close().unwrap(),
                    Err(Error::Start(_)) => failed += 1,
                    Err(other) => panic!("{other}"),
                }
            }
            wait_for("the end of what was begun", || {
                (open_descriptors() == before && children().is_empty()).then_some(())
            });
        }
        assert!(failed > 2 && failed < 60, "{failed}");
    });
}
