//! The round trip of a permission request through a session, against a bare `poll`, `read`, `write`
//! loop that parses nothing.

use std::time::Instant;

use towline::{Event, Options, Reply, Session};
use towline_session_benches::bare::{find, Bare, INITIALIZE, PROMPT};
use towline_session_benches::{fake_cli, machine, pin, report};

const REQUESTS: u32 = 2000;
const ROUNDS: usize = 61;
const BAR: f64 = 2.5;

fn main() {
    let core = pin();
    println!("{}; core {core}", machine());
    let mode = format!("permission:{REQUESTS}");

    let bare = Bare::start(&mode);
    bare.write(INITIALIZE);
    let options = format!(
        r#"{{"cliPath":{:?},"env":{{"FAKE_CLI_BENCH":"{mode}"}}}}"#,
        fake_cli()
    );
    let options = Options::from_json(&options).expect("options");
    let session = Session::builder(options)
        .on_permission(|_| Reply::allow())
        .start()
        .expect("a session");
    session.connect(None).expect("an open session");

    let mut pairs = Vec::new();
    for round in 0..ROUNDS + 1 {
        let times = match round % 2 {
            0 => {
                let ours = by_session(&session);
                (ours, by_loop(&bare))
            }
            _ => {
                let bare = by_loop(&bare);
                (by_session(&session), bare)
            }
        };
        // The first pair warms up.
        if round > 0 {
            pairs.push(times);
        }
    }
    session.close().expect("an end");
    let kept = report("permission round trip", &pairs, "µs", BAR);
    std::process::exit(i32::from(!kept));
}

/// Microseconds a request.
fn each(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(REQUESTS)
}

fn by_session(session: &Session) -> f64 {
    let begun = Instant::now();
    session.send("go").expect("a prompt");
    loop {
        if let Some(Event::TurnEnded { .. }) = session.poll(None).expect("an event") {
            return each(begun);
        }
    }
}

fn by_loop(bare: &Bare) -> f64 {
    let begun = Instant::now();
    bare.write(PROMPT);
    let mut buffer = [0; 64 * 1024];
    let mut answer = Vec::new();
    loop {
        bare.poll();
        let n = bare.read(&mut buffer);
        let line = &buffer[..n];
        let Some(at) = find(line, b"\"bench-") else {
            // The answer to initialize, or the result.
            if find(line, b"\"result\"").is_some() {
                return each(begun);
            }
            continue;
        };
        let id = &line[at..at + 24];
        answer.clear();
        answer.extend_from_slice(
            b"{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":",
        );
        answer.extend_from_slice(id);
        answer.extend_from_slice(b",\"response\":{\"behavior\":\"allow\",\"updatedInput\":{}}}}\n");
        bare.write(&answer);
    }
}
