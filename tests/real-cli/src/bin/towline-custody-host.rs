//! A host program that is made to be killed: it starts a session with the options given as JSON in
//! its first argument, runs the prompts that follow, and says on stdout `cli PID` and, for each
//! prompt but the last, `ended`. The last turn is left running.

use std::io::Write;
use std::time::Duration;

use towline::{Event, Options, Session};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let options = arguments.next().ok_or("no options given")?;
    let session = Session::start(Options::from_json(&options)?)?;
    say(&format!("cli {}", session.pid().unwrap_or(0)))?;
    for prompt in arguments {
        let sent = session.send(&prompt)?;
        loop {
            match session.poll(Some(Duration::from_secs(60)))? {
                Some(Event::TurnEnded { turn, .. }) if turn == sent => break,
                Some(Event::Closed(closed)) => return Err(format!("{closed:?}").into()),
                Some(_) => {}
                None => return Err("nothing happened for a minute".into()),
            }
        }
        say("ended")?;
    }
    Err("the last turn was to be left running".into())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
