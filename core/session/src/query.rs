//! One prompt, one answer: a session that ends by itself.

use towline_protocol::connection::TurnOutcome;
use towline_protocol::framing::RawMessage;

use crate::error::Error;
use crate::session::{Event, Session, SessionBuilder};
use crate::Options;

/// Asks one thing: starts a CLI, sends the prompt, gives out the messages, ends the CLI.
///
/// ```no_run
/// # fn main() -> Result<(), towline::Error> {
/// for message in towline::query("What is 2 + 2?", towline::Options::new())? {
///     println!("{}", message?.json());
/// }
/// # Ok(())
/// # }
/// ```
pub fn query(prompt: &str, options: Options) -> Result<Query, Error> {
    Session::builder(options).query(prompt)
}

/// The messages of a single prompt, in order. Background agents it starts are waited for.
///
/// What fails comes as the last item: the error of a CLI that could not go on, or
/// [`Error::ErrorResult`] after a result that is an error (an API failure, too many turns), which
/// is delivered as a message first, or [`Error::TurnTimedOut`]. A CLI that exits with status 0 and without a result ends the
/// messages, without an error. Dropping it ends the CLI.
pub struct Query {
    session: Session,
    done: bool,
}

impl SessionBuilder {
    /// Starts a session for this one prompt.
    pub fn query(self, prompt: &str) -> Result<Query, Error> {
        let session = self.start()?;
        session.send(prompt)?;
        session.end_input_when_settled()?;
        Ok(Query {
            session,
            done: false,
        })
    }
}

impl Query {
    /// The session, for control requests while the query runs.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Iterator for Query {
    type Item = Result<RawMessage, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            match self.session.poll(None) {
                Ok(Some(Event::Message { message, .. })) => return Some(Ok(message)),
                Ok(Some(Event::TurnEnded {
                    outcome: TurnOutcome::TimedOut(limit),
                    ..
                })) => {
                    self.done = true;
                    return Some(Err(Error::TurnTimedOut(limit)));
                }
                Ok(Some(Event::Closed(closed))) => {
                    self.done = true;
                    let error = closed.error.or_else(|| {
                        let failed = !closed.failure.result.is_empty();
                        failed.then_some(Error::ErrorResult(closed.failure))
                    });
                    return error.map(Err);
                }
                Ok(_) => {}
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
