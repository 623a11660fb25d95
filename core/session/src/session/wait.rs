//! Calls that wait: until the session is open, until an answer has come.

use std::time::Duration;

use towline_protocol::connection::{HandshakeFailure, RequestId, Response};

use super::{Core, End, Session, Waiter};
use crate::error::{Error, RequestError};

impl Core {
    /// Nothing that is waited for can come any more.
    fn has_ended(&self) -> bool {
        !matches!(self.end, End::NotYet) && !self.connection.has_events()
    }

    /// Whether the answer to `initialize` was delivered, or put aside.
    pub(super) fn has_opened(&self) -> bool {
        self.io.initialized.is_some()
    }

    /// Why the session will never be open, once that is known.
    pub(super) fn opening_error(&self) -> Option<Error> {
        if self.has_opened() {
            return None;
        }
        // One that does not answer is not waited for until it is gone.
        let unanswered = matches!(
            self.connection.failure(),
            Some(HandshakeFailure::TimedOut(_) | HandshakeFailure::TooLong { .. })
        );
        (unanswered || self.has_ended()).then(|| self.end_error().unwrap_or(Error::Closed))
    }
}

impl Session {
    /// Waits until the session is open, serving handlers on the way. Events stay for the next
    /// [`poll`](Session::poll). Not needed: prompts may be sent before.
    ///
    /// Fails with what ended the session: [`Error::ExitedBeforeInitialize`],
    /// [`Error::InitializeRefused`], [`Error::InitializeTimedOut`], [`Error::InitializeTooLong`]; with [`Error::TimedOut`] when
    /// `limit` passes first.
    pub fn connect(&self, limit: Option<Duration>) -> Result<(), Error> {
        let found = self.shared.wait_for(limit, |core| {
            if core.has_opened() {
                return Some(Ok(()));
            }
            core.opening_error().map(Err)
        })?;
        found.unwrap_or_else(|| Err(timed_out(limit)))
    }

    /// Why the session will never be open, as soon as the CLI has refused or its time is over: its
    /// end, of which [`Event::Closed`](super::Event::Closed) tells, may take as long as the graces.
    /// `None` before, and when the CLI has ended by itself.
    pub fn opening_error(&self) -> Option<Error> {
        let core = self.shared.lock_core();
        let told = matches!(
            core.connection.failure(),
            Some(
                HandshakeFailure::Refused(_)
                    | HandshakeFailure::TimedOut(_)
                    | HandshakeFailure::TooLong { .. }
            )
        );
        (told && !core.has_opened())
            .then(|| core.end_error())
            .flatten()
    }

    /// Sends a control request and waits for its answer, serving handlers on the way; other events
    /// stay for the next [`poll`](Session::poll). From any thread; in a handler it fails with
    /// [`Error::Reentrant`]: use [`request`](Session::request) there.
    ///
    /// Fails with [`Error::Request`] when the CLI refuses, when the control request deadline of the
    /// options passes or the session ends; with [`Error::TimedOut`] when `limit` passes first, and
    /// the request is then withdrawn.
    pub fn request_wait(
        &self,
        subtype: &str,
        payload: &str,
        limit: Option<Duration>,
    ) -> Result<Response, Error> {
        if self.shared.on_polling_thread() {
            return Err(Error::Reentrant);
        }
        self.shared.check_caller()?;
        let id = {
            let mut core = self.shared.lock_core();
            core.tick();
            core.check_input(&self.shared.reactor)?;
            let id = core.connection.request(subtype, payload);
            let id = id.map_err(|error| core.why(error))?;
            core.note_request(id, subtype);
            core.waiters.insert(id, Waiter::Waiting);
            self.shared.after_command(&mut core);
            id
        };
        let found = self
            .shared
            .wait_for(limit, |core| match core.waiters.get(&id) {
                Some(Waiter::Waiting) => core.has_ended().then_some(None),
                _ => Some(core.waiters.remove(&id)),
            });
        match found {
            Ok(Some(Some(Waiter::Done(result)))) => Ok(result?),
            Ok(Some(_)) => {
                self.forget(id);
                Err(RequestError::SessionEnded {
                    subtype: subtype.into(),
                    reason: self.shared.lock_core().connection.last_error().into(),
                }
                .into())
            }
            Ok(None) => {
                self.forget(id);
                Err(timed_out(limit))
            }
            Err(error) => {
                self.forget(id);
                Err(error)
            }
        }
    }

    /// Nobody waits for this answer any more.
    fn forget(&self, id: RequestId) {
        let mut core = self.shared.lock_core();
        core.waiters.remove(&id);
        core.connection.abandon_request(id);
        self.shared.after_command(&mut core);
    }
}

fn timed_out(limit: Option<Duration>) -> Error {
    Error::TimedOut {
        limit_ms: limit.map_or(0, |limit| limit.as_millis() as u64),
    }
}
