//! A conversation, read in the way that the host reads.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use towline::{
    Error, Event, Failure, Query, RawMessage, RequestError, RequestId, Response, Session,
};

use crate::error::StepError;
use crate::host::locked;

/// A conversation in one of the two forms the crate offers.
pub(crate) enum Talk {
    Session(Box<Polled>),
    Query(Asked),
}

/// A session and what was received while the host did something else.
pub(crate) struct Polled {
    pub(crate) session: Session,
    /// It is polled only when its descriptor or its time limit says so, and nothing waits inside it.
    event_loop: bool,
    inbox: Mutex<VecDeque<Received>>,
}

/// What a host that reads gets.
pub(crate) enum Received {
    Initialized,
    Message(RawMessage),
    Response(RequestId, Result<Response, RequestError>),
    End(Result<(), StepError>),
}

/// A query on a thread of its own, so that a step can give up waiting for it.
pub(crate) struct Asked {
    /// Asks for the next item; dropping it drops the query.
    want: Mutex<Option<Sender<()>>>,
    items: Mutex<Receiver<Option<Result<RawMessage, Error>>>>,
}

impl Asked {
    pub(crate) fn start(mut query: Query) -> Asked {
        let (want, wanted) = channel();
        let (give, items) = channel();
        std::thread::spawn(move || {
            while wanted.recv().is_ok() {
                if give.send(query.next()).is_err() {
                    break;
                }
            }
            drop(query);
        });
        Asked {
            want: Mutex::new(Some(want)),
            items: Mutex::new(items),
        }
    }

    fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        let asked = locked(&self.want)
            .as_ref()
            .is_some_and(|want| want.send(()).is_ok());
        if !asked {
            return Err(StepError::from(Error::Closed));
        }
        let limit = left(deadline);
        match locked(&self.items).recv_timeout(limit) {
            Ok(Some(Ok(message))) => Ok(Received::Message(message)),
            Ok(Some(Err(error))) => Ok(Received::End(Err(error.into()))),
            Ok(None) => Ok(Received::End(Ok(()))),
            Err(_) => Err(StepError::timeout(limit.as_millis() as u64)),
        }
    }

    pub(crate) fn close(&self, deadline: Instant) -> Result<(), StepError> {
        locked(&self.want).take();
        let limit = left(deadline);
        loop {
            match locked(&self.items).recv_timeout(left(deadline)) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(StepError::timeout(limit.as_millis() as u64))
                }
            }
        }
    }
}

pub(crate) fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// How a session's last event ends the iteration: as [`towline::query`] does.
fn end(closed: towline::Closed) -> Result<(), StepError> {
    let Failure { result, .. } = &closed.failure;
    match closed.error {
        Some(error) => Err(error.into()),
        None if !result.is_empty() => Err(Error::ErrorResult(closed.failure).into()),
        None => Ok(()),
    }
}

impl Polled {
    pub(crate) fn new(session: Session, event_loop: bool) -> Polled {
        Polled {
            session,
            event_loop,
            inbox: Mutex::default(),
        }
    }

    /// The next thing for the host; `Ok(None)` when the time has passed.
    fn poll(&self, deadline: Instant) -> Result<Option<Received>, Error> {
        loop {
            let limit = if self.event_loop {
                Duration::ZERO
            } else {
                left(deadline)
            };
            return Ok(match self.session.poll(Some(limit))? {
                Some(Event::Initialized(_)) => Some(Received::Initialized),
                Some(Event::Message { message, .. }) => Some(Received::Message(message)),
                Some(Event::Response { id, result, .. }) => Some(Received::Response(id, result)),
                Some(Event::Closed(closed)) => Some(Received::End(end(closed))),
                Some(_) => continue,
                None if self.event_loop && !left(deadline).is_zero() => {
                    self.watch(left(deadline))?;
                    continue;
                }
                None => None,
            });
        }
    }

    /// Waits as an event loop does: for the descriptor, as long as the session allows.
    fn watch(&self, most: Duration) -> Result<(), Error> {
        let fd = self.session.fd()?;
        let limit = self.session.next_timeout()?;
        let limit = limit.map_or(most, |limit| limit.min(most));
        // A descriptor that is not readable yet is not polled early.
        let ms = limit.as_nanos().div_ceil(1_000_000) as i64;
        let limit = Timespec {
            tv_sec: ms / 1000,
            tv_nsec: ms % 1000 * 1_000_000,
        };
        match poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(Error::Wait(error.into())),
        }
    }

    /// Takes events until one is wanted; the others are for later steps.
    fn wait_for<T>(
        &self,
        deadline: Instant,
        mut wanted: impl FnMut(Received) -> ControlFlow<T, Received>,
    ) -> Result<T, StepError> {
        let limit = left(deadline);
        loop {
            let Some(received) = self.poll(deadline)? else {
                return Err(StepError::timeout(limit.as_millis() as u64));
            };
            match wanted(received) {
                ControlFlow::Break(found) => return Ok(found),
                ControlFlow::Continue(other) => locked(&self.inbox).push_back(other),
            }
        }
    }

    pub(crate) fn connect(&self, deadline: Instant) -> Result<(), StepError> {
        if !self.event_loop {
            return Ok(self.session.connect(Some(left(deadline)))?);
        }
        self.wait_for(deadline, |received| match received {
            Received::Initialized => ControlFlow::Break(Ok(())),
            Received::End(end) => {
                let early = || Err(StepError::other("it ended before it was open"));
                ControlFlow::Break(end.and_then(|()| early()))
            }
            other => ControlFlow::Continue(other),
        })?
    }

    pub(crate) fn control(
        &self,
        subtype: &str,
        payload: &str,
        deadline: Instant,
    ) -> Result<Response, StepError> {
        if !self.event_loop {
            let limit = Some(left(deadline));
            return Ok(self.session.request_wait(subtype, payload, limit)?);
        }
        let id = self.session.request(subtype, payload)?;
        let answer = self.wait_for(deadline, |received| match received {
            Received::Response(of, result) if of == id => ControlFlow::Break(result),
            other => ControlFlow::Continue(other),
        });
        match answer {
            Ok(result) => Ok(result.map_err(Error::Request)?),
            Err(error) => {
                if error.timed_out() {
                    self.session.cancel_request(id)?;
                }
                Err(error)
            }
        }
    }

    fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        let limit = left(deadline);
        loop {
            let kept = locked(&self.inbox).pop_front();
            let received = match kept {
                Some(received) => Some(received),
                None => self.poll(deadline)?,
            };
            match received {
                Some(Received::Initialized | Received::Response(..)) => {}
                Some(received) => return Ok(received),
                None => return Err(StepError::timeout(limit.as_millis() as u64)),
            }
        }
    }

    /// Lets time pass as a host with an event loop does: what comes is kept for later steps.
    pub(crate) fn idle(&self, deadline: Instant) {
        while !left(deadline).is_zero() {
            match self.poll(deadline) {
                Ok(Some(received)) => locked(&self.inbox).push_back(received),
                Ok(None) => {}
                // Another thread polls, or all is over.
                Err(_) => return std::thread::sleep(left(deadline)),
            }
        }
    }

    /// Ends it; what the handlers still have to hear is delivered.
    fn close(&self, deadline: Instant) -> Result<(), StepError> {
        if !self.event_loop {
            self.session.close()?;
            // After the end, so that every handler has had its say.
            while let Ok(Some(_)) = self.session.poll(Some(Duration::ZERO)) {}
            return Ok(());
        }
        self.session.begin_close()?;
        let limit = left(deadline);
        loop {
            match self.poll(deadline) {
                Ok(Some(Received::End(_))) | Err(Error::Closed) => return Ok(()),
                Ok(Some(_)) => {}
                Ok(None) => return Err(StepError::timeout(limit.as_millis() as u64)),
                // The thread that polls sees it through.
                Err(Error::Busy) => return Ok(self.session.close()?),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Talk {
    /// The session, which a query keeps to itself.
    pub(crate) fn polled(&self) -> Result<&Polled, StepError> {
        match self {
            Talk::Session(polled) => Ok(polled),
            Talk::Query(_) => Err(StepError::other("a query takes no such step")),
        }
    }

    pub(crate) fn next(&self, deadline: Instant) -> Result<Received, StepError> {
        match self {
            Talk::Session(polled) => polled.next(deadline),
            Talk::Query(asked) => asked.next(deadline),
        }
    }

    /// Ends it.
    pub(crate) fn close(&self, deadline: Instant) -> Result<(), StepError> {
        match self {
            Talk::Query(asked) => asked.close(deadline),
            Talk::Session(polled) => polled.close(deadline),
        }
    }
}
