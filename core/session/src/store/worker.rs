//! A store that blocks, and the one thread on which it does so.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use towline_transcripts::store::{
    open, CallKind, Capabilities, PendingCall, SessionStore, StoreAnswer, StoreCall, StoreError,
    StoreTask, TaskError,
};

/// An open [`SessionStore`] and the one thread that all its calls run on, one after another.
///
/// Clones mean the same store and thread; sessions that are given clones share them. The thread
/// starts with the first call. It ends with the last clone, after the calls that were handed to it.
#[derive(Clone)]
pub struct OpenStore(Arc<Inner>);

struct Inner {
    store: Arc<dyn SessionStore>,
    thread: Mutex<Option<Thread>>,
}

/// The running thread.
struct Thread {
    jobs: Sender<Job>,
    /// Its process: a forked child has the store without the thread.
    owner: u32,
}

/// Gets the answer to a call, on the store's thread.
type Done = Box<dyn FnOnce(Result<StoreAnswer, StoreError>) + Send>;

struct Job {
    call: StoreCall,
    done: Done,
}

impl OpenStore {
    /// Opens nothing: the store is open. No thread is started yet.
    pub fn new(store: Arc<dyn SessionStore>) -> OpenStore {
        OpenStore(Arc::new(Inner {
            store,
            thread: Mutex::new(None),
        }))
    }

    /// Opens the store that a URL names; see [`towline_transcripts::store::open`]. Blocks.
    pub fn open(url: &str) -> Result<OpenStore, StoreError> {
        // A thread of its own: that of the host may belong to a runtime in which nothing may block.
        let opened = std::thread::scope(|scope| {
            let opening = std::thread::Builder::new()
                .name("towline-store".into())
                .spawn_scoped(scope, || open(url));
            let opening = opening.map_err(StoreError::failed)?;
            let panicked = |_| Err(StoreError::failed("opening the store panicked"));
            opening.join().unwrap_or_else(panicked)
        });
        opened.map(OpenStore::from)
    }

    /// The store, for calls on the caller's own thread.
    pub fn store(&self) -> &Arc<dyn SessionStore> {
        &self.0.store
    }

    /// Which of the optional calls the store has.
    pub fn capabilities(&self) -> Capabilities {
        self.0.store.capabilities()
    }

    /// Has the thread make a call and tell `done`. Fails when there can be no thread.
    pub(crate) fn submit(&self, call: StoreCall, done: Done) -> Result<(), StoreError> {
        let running = self.0.thread.lock();
        let mut running = running.unwrap_or_else(PoisonError::into_inner);
        let owner = std::process::id();
        let jobs = match &*running {
            Some(thread) if thread.owner == owner => thread.jobs.clone(),
            _ => {
                let jobs = start(Arc::clone(&self.0.store)).map_err(|error| {
                    StoreError::failed(format!("cannot start the store's thread: {error}"))
                })?;
                *running = Some(Thread {
                    jobs: jobs.clone(),
                    owner,
                });
                jobs
            }
        };
        let sent = jobs.send(Job { call, done });
        sent.map_err(|_| StoreError::failed("the store's thread has ended"))
    }

    /// Does a task on the store's thread while this one waits, each call no longer than its limit.
    ///
    /// A call whose time is up goes on running; the store's next call waits for it.
    pub fn run<T>(&self, mut task: StoreTask<T>) -> Result<T, TaskError> {
        while let Some(pending) = task.next_call() {
            let answer = self.call_within(&pending);
            task.answer(pending.id, answer);
        }
        task.finished().unwrap_or(Err(TaskError::Stuck))
    }

    fn call_within(&self, pending: &PendingCall) -> Result<StoreAnswer, StoreError> {
        let (sender, answer) = channel();
        let kind = pending.call.kind();
        if pending.timeout_ms == Some(0) {
            return Err(late(kind, 0));
        }
        // Nobody may be waiting any more.
        let done = Box::new(move |answer| drop(sender.send(answer)));
        self.submit(pending.call.clone(), done)?;
        // For ever is as good as some hundred million years.
        let limit = pending.timeout_ms.unwrap_or(u64::MAX);
        match answer.recv_timeout(Duration::from_millis(limit)) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(late(kind, limit)),
            Err(RecvTimeoutError::Disconnected) => {
                Err(StoreError::failed("the store's thread has ended"))
            }
        }
    }
}

fn late(kind: CallKind, limit: u64) -> StoreError {
    StoreError::timeout(&format!("SessionStore.{}()", kind.name()), limit)
}

fn start(store: Arc<dyn SessionStore>) -> std::io::Result<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    std::thread::Builder::new()
        .name("towline-store".into())
        .spawn(move || {
            for Job { call, done } in jobs {
                let answer = catch_unwind(AssertUnwindSafe(|| store.call(&call)));
                let answer = answer.unwrap_or_else(|_| {
                    Err(StoreError::failed(format!(
                        "{}() of the store panicked",
                        call.kind().name()
                    )))
                });
                done(answer);
            }
        })?;
    Ok(sender)
}

impl From<Arc<dyn SessionStore>> for OpenStore {
    fn from(store: Arc<dyn SessionStore>) -> OpenStore {
        OpenStore::new(store)
    }
}

impl From<Box<dyn SessionStore>> for OpenStore {
    fn from(store: Box<dyn SessionStore>) -> OpenStore {
        OpenStore::new(store.into())
    }
}

impl<S: SessionStore + 'static> From<Arc<S>> for OpenStore {
    fn from(store: Arc<S>) -> OpenStore {
        OpenStore::new(store)
    }
}

impl std::fmt::Debug for OpenStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenStore").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::thread::ThreadId;

    use towline_transcripts::store::{Entry, SessionKey};

    use super::*;

    /// Tells on which thread it is called; loads wait for word.
    struct Told {
        threads: Mutex<Vec<ThreadId>>,
        go: Mutex<Receiver<()>>,
    }

    impl SessionStore for Told {
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }

        fn append(&self, key: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
            let mut threads = self.threads.lock().unwrap();
            threads.push(std::thread::current().id());
            drop(threads);
            assert_ne!(key.session_id, "panic");
            Ok(())
        }

        fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
            self.go.lock().unwrap().recv().unwrap();
            Ok(None)
        }
    }

    fn told() -> (OpenStore, Arc<Told>, Sender<()>) {
        let (go, wait) = channel();
        let store = Arc::new(Told {
            threads: Mutex::default(),
            go: Mutex::new(wait),
        });
        (OpenStore::from(Arc::clone(&store)), store, go)
    }

    fn append(store: &OpenStore, id: &str) -> Result<(), TaskError> {
        let key = SessionKey::main("-p", id);
        store.run(StoreTask::new(store.capabilities(), |calls| async move {
            calls.append(key, Vec::new()).await
        }))
    }

    #[test]
    fn all_calls_are_made_on_one_thread_that_survives_a_panic() {
        let (store, told, _go) = told();
        append(&store, "a").unwrap();
        let panicked = append(&store.clone(), "panic").unwrap_err();
        assert!(panicked.to_string().contains("panicked"), "{panicked}");
        append(&store, "b").unwrap();
        let threads = told.threads.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(threads.len(), 3);
        assert!(threads.iter().all(|id| *id == threads[0]));
        assert_ne!(threads[0], std::thread::current().id());
    }

    #[test]
    fn a_call_is_waited_for_no_longer_than_its_limit() {
        let (store, _, go) = told();
        let load = |limit| {
            let task = StoreTask::new(store.capabilities(), move |calls| async move {
                let calls = calls.with_timeout_ms(Some(limit));
                calls.load(SessionKey::main("-p", "a")).await
            });
            store.run(task)
        };
        let late = load(20).unwrap_err();
        assert!(
            late.to_string().contains("load() timed out after 20ms"),
            "{late}"
        );
        assert!(load(0).is_err(), "no time at all");
        go.send(()).unwrap();
        go.send(()).unwrap();
        assert_eq!(load(60_000).unwrap(), None);
    }
}
