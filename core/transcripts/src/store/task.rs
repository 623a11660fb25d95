//! An operation that makes several store calls, without doing any of them itself.

use std::collections::{BTreeMap, VecDeque};
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{
    Capabilities, Entry, SessionKey, SessionSummaryEntry, StoreAnswer, StoreCall, StoreError,
    StoreListEntry, TaskError,
};

/// How many loads a task has open at once at most, so that a listing exhausts no connection pool
/// (the official packages' number).
pub const CONCURRENT_LOADS: usize = 16;

/// Tells the calls of one task apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// A call that the driver of a task has to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// By which the answer is handed back.
    pub id: CallId,
    /// What the store is asked.
    pub call: StoreCall,
    /// After how many milliseconds the driver gives up and answers with
    /// [`StoreError::timeout`]; `None`: never.
    pub timeout_ms: Option<u64>,
}

#[derive(Debug, Default)]
struct Queue {
    last_id: u64,
    waiting: VecDeque<PendingCall>,
    /// Open calls, and their answers until somebody takes them.
    open: BTreeMap<CallId, Option<Result<StoreAnswer, StoreError>>>,
}

/// How long each call may take unless the task says otherwise: as long as one that loads a session to
/// be resumed.
const CALL_TIMEOUT_MS: u64 = 60_000;

/// The store as a task sees it: calls that somebody else does.
#[derive(Debug, Clone)]
pub struct Calls {
    queue: Arc<Mutex<Queue>>,
    capabilities: Capabilities,
    timeout_ms: Option<u64>,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which calls the store has.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The same store with a time limit for each call.
    pub fn with_timeout_ms(&self, timeout_ms: Option<u64>) -> Calls {
        Calls {
            timeout_ms,
            ..self.clone()
        }
    }

    fn open(&self, call: StoreCall) -> CallId {
        let mut queue = self.lock();
        queue.last_id += 1;
        let id = CallId(queue.last_id);
        queue.open.insert(id, None);
        queue.waiting.push_back(PendingCall {
            id,
            call,
            timeout_ms: self.timeout_ms,
        });
        id
    }

    fn take(&self, id: CallId) -> Option<Result<StoreAnswer, TaskError>> {
        let mut queue = self.lock();
        let answer = queue.open.get_mut(&id)?.take()?;
        queue.open.remove(&id);
        Some(answer.map_err(|error| TaskError::Store { call: id, error }))
    }

    /// Asks the store.
    pub async fn call(&self, call: StoreCall) -> Result<(CallId, StoreAnswer), TaskError> {
        let id = self.open(call);
        let answer = poll_fn(|_| match self.take(id) {
            Some(answer) => Poll::Ready(answer),
            None => Poll::Pending,
        });
        Ok((id, answer.await?))
    }

    /// `append`.
    pub async fn append(&self, key: SessionKey, entries: Vec<Entry>) -> Result<(), TaskError> {
        match self.call(StoreCall::Append { key, entries }).await? {
            (_, StoreAnswer::Done) => Ok(()),
            (id, _) => Err(mismatch(id)),
        }
    }

    /// `load`.
    pub async fn load(&self, key: SessionKey) -> Result<Option<Vec<Entry>>, TaskError> {
        let (id, answer) = self.call(StoreCall::Load { key }).await?;
        loaded(id, answer)
    }

    /// `list_sessions`.
    pub async fn list_sessions(
        &self,
        project_key: String,
    ) -> Result<Vec<StoreListEntry>, TaskError> {
        match self.call(StoreCall::ListSessions { project_key }).await? {
            (_, StoreAnswer::Sessions(sessions)) => Ok(sessions),
            (id, _) => Err(mismatch(id)),
        }
    }

    /// `list_session_summaries`.
    pub async fn list_session_summaries(
        &self,
        project_key: String,
    ) -> Result<Vec<SessionSummaryEntry>, TaskError> {
        let call = StoreCall::ListSessionSummaries { project_key };
        match self.call(call).await? {
            (_, StoreAnswer::Summaries(summaries)) => Ok(summaries),
            (id, _) => Err(mismatch(id)),
        }
    }

    /// `delete`.
    pub async fn delete(&self, key: SessionKey) -> Result<(), TaskError> {
        match self.call(StoreCall::Delete { key }).await? {
            (_, StoreAnswer::Done) => Ok(()),
            (id, _) => Err(mismatch(id)),
        }
    }

    /// `list_subkeys` of a session, whose key has no subpath.
    pub async fn list_subkeys(&self, key: SessionKey) -> Result<Vec<String>, TaskError> {
        match self.call(StoreCall::ListSubkeys { key }).await? {
            (_, StoreAnswer::Subkeys(subkeys)) => Ok(subkeys),
            (id, _) => Err(mismatch(id)),
        }
    }

    /// Loads many transcripts, [`CONCURRENT_LOADS`] at once at most, and gives what `each` makes
    /// of every one in the order of `keys`. `each` sees a transcript as soon as it is there, so
    /// that all of them need not be in memory together.
    pub async fn load_each<R>(
        &self,
        keys: Vec<SessionKey>,
        mut each: impl FnMut(usize, Result<Option<Vec<Entry>>, TaskError>) -> R,
    ) -> Vec<R> {
        let count = keys.len();
        let mut keys = keys.into_iter().enumerate();
        let mut open: Vec<(usize, CallId)> = Vec::new();
        let mut results: Vec<(usize, R)> = Vec::with_capacity(count);
        poll_fn(|_| {
            open.retain(|&(index, id)| match self.take(id) {
                Some(answer) => {
                    let loaded = answer.and_then(|answer| loaded(id, answer));
                    results.push((index, each(index, loaded)));
                    false
                }
                None => true,
            });
            while open.len() < CONCURRENT_LOADS {
                let Some((index, key)) = keys.next() else {
                    break;
                };
                open.push((index, self.open(StoreCall::Load { key })));
            }
            if open.is_empty() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }
}

fn loaded(id: CallId, answer: StoreAnswer) -> Result<Option<Vec<Entry>>, TaskError> {
    match answer {
        StoreAnswer::Entries(entries) => Ok(entries),
        _ => Err(mismatch(id)),
    }
}

fn mismatch(call: CallId) -> TaskError {
    TaskError::Store {
        call,
        error: StoreError::failed("the answer is one to another call"),
    }
}

type Work<T> = Pin<Box<dyn Future<Output = Result<T, TaskError>> + Send>>;

/// An operation over a store that whoever owns it drives: blocking code, callbacks, coroutines and
/// promises alike.
///
/// [`StoreTask::next_call`] is asked until it gives `None`; the calls may be done at the same time
/// and answered in any order; after every answer it is asked again. When [`StoreTask::finished`]
/// gives the output, nothing more comes. Dropping a task gives it up; answers that come later are
/// ignored.
pub struct StoreTask<T> {
    work: Option<Work<T>>,
    calls: Calls,
    output: Option<Result<T, TaskError>>,
    /// Something happened since `work` was last polled.
    awake: bool,
}

impl<T> std::fmt::Debug for StoreTask<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoreTask")
            .field("calls", &self.calls)
            .field("working", &self.work.is_some())
            .finish_non_exhaustive()
    }
}

impl<T: 'static> StoreTask<T> {
    /// A task that does `work` with the calls it is given. `work` awaits nothing but those calls.
    pub fn new<F>(capabilities: Capabilities, work: impl FnOnce(Calls) -> F) -> Self
    where
        F: Future<Output = Result<T, TaskError>> + Send + 'static,
    {
        let calls = Calls {
            queue: Arc::default(),
            capabilities,
            timeout_ms: Some(CALL_TIMEOUT_MS),
        };
        StoreTask {
            work: Some(Box::pin(work(calls.clone()))),
            calls,
            output: None,
            awake: true,
        }
    }

    /// The same task, its output changed by `change`.
    pub fn map<U: 'static>(self, change: impl FnOnce(T) -> U + Send + 'static) -> StoreTask<U>
    where
        T: Send,
    {
        let StoreTask {
            work,
            calls,
            output,
            ..
        } = self;
        StoreTask {
            work: Some(Box::pin(async move {
                match (output, work) {
                    (Some(output), _) => output.map(change),
                    (None, Some(work)) => work.await.map(change),
                    (None, None) => Err(TaskError::Stuck),
                }
            })),
            calls,
            output: None,
            awake: true,
        }
    }
}

impl<T> StoreTask<T> {
    /// The next call to do, if one can be done before another answer comes.
    pub fn next_call(&mut self) -> Option<PendingCall> {
        self.advance();
        self.calls.lock().waiting.pop_front()
    }

    /// Hands back what a call gave. Tells whether the task was waiting for it.
    pub fn answer(&mut self, id: CallId, answer: Result<StoreAnswer, StoreError>) -> bool {
        let known = match self.calls.lock().open.get_mut(&id) {
            Some(slot @ None) => {
                *slot = Some(answer);
                true
            }
            _ => false,
        };
        self.awake |= known;
        known
    }

    /// The output, once, when everything is done.
    pub fn finished(&mut self) -> Option<Result<T, TaskError>> {
        self.advance();
        self.output.take()
    }

    fn advance(&mut self) {
        if !std::mem::take(&mut self.awake) {
            return;
        }
        let Some(work) = self.work.as_mut() else {
            return;
        };
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => self.finish(output),
            Poll::Pending if self.calls.lock().open.is_empty() => {
                self.finish(Err(TaskError::Stuck));
            }
            Poll::Pending => {}
        }
    }

    fn finish(&mut self, output: Result<T, TaskError>) {
        self.work = None;
        self.output = Some(output);
        let mut queue = self.calls.lock();
        queue.waiting.clear();
        queue.open.clear();
    }
}
