//! What else is the matter in the host's process, whatever the CLI does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{json, Value};
use towline::transcripts::store::{Capabilities, Entry, SessionKey, SessionStore, StoreError};
use towline::{FlushMode, OpenStore, SessionBuilder};

use crate::expected::{End, Odd, Outcome, Process};
use crate::fault::Fault;
use crate::moment::Moment;
use crate::support::Fake;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Plain,
    BlocksSignals,
    IgnoresSigchld,
    ReapsEverything,
    HasForked,
    RecordsToFullDisk,
    StoresToFullDisk,
}

use Condition::*;

pub(crate) const CONDITIONS: [Condition; 6] = [
    BlocksSignals,
    IgnoresSigchld,
    ReapsEverything,
    HasForked,
    RecordsToFullDisk,
    StoresToFullDisk,
];

/// Where the scripts say that transcripts are.
const CONFIG: &str = "/home/user/.claude";

impl Condition {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Plain => "",
            BlocksSignals => "blocks every signal",
            IgnoresSigchld => "ignores SIGCHLD",
            ReapsEverything => "reaps every child process itself",
            HasForked => "has forked; the child lives on with all its descriptors",
            RecordsToFullDisk => "records to a full disk (option `record`)",
            StoresToFullDisk => "has a session store whose disk is full",
        }
    }

    /// What of the table is different then.
    pub(crate) fn difference(self) -> &'static str {
        match self {
            Plain | BlocksSignals | HasForked => "nothing",
            IgnoresSigchld | ReapsEverything => {
                "the exit status is `Unknown`, which counts as a failure unless the host has closed"
            }
            RecordsToFullDisk => "`NotRecorded`, once",
            StoresToFullDisk => {
                "a `mirror_error` message, once; the result of the turn is delivered a second \
                 later, after the last try"
            }
        }
    }

    /// Runs this in a process of which it is true.
    pub(crate) fn with(self, run: impl FnOnce()) {
        match self {
            BlocksSignals => {
                // SAFETY: sigset_t is plain data; the pointers are valid for the calls. Threads
                // that this one starts inherit it.
                unsafe {
                    let mut set: libc::sigset_t = std::mem::zeroed();
                    libc::sigfillset(&mut set);
                    assert_eq!(
                        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()),
                        0
                    );
                }
                run();
            }
            IgnoresSigchld => {
                // SAFETY: no handler is installed; this process is the test's own.
                unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
                run();
            }
            ReapsEverything => {
                let over = Arc::new(AtomicBool::new(false));
                let seen = over.clone();
                let reaper = std::thread::spawn(move || {
                    while !seen.load(Ordering::Relaxed) {
                        let mut status = 0;
                        // SAFETY: the pointer is valid.
                        let reaped = unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) };
                        if reaped <= 0 {
                            std::thread::park_timeout(Duration::from_micros(200));
                        }
                    }
                });
                run();
                over.store(true, Ordering::Relaxed);
                reaper.join().unwrap();
            }
            _ => run(),
        }
    }

    pub(crate) fn options(self, fake: Fake) -> Fake {
        match self {
            RecordsToFullDisk => fake.set("record", "/dev/full"),
            StoresToFullDisk => fake.env("CLAUDE_CONFIG_DIR", CONFIG),
            _ => fake,
        }
    }

    pub(crate) fn builder(self, builder: SessionBuilder) -> SessionBuilder {
        match self {
            StoresToFullDisk => {
                let store: Arc<dyn SessionStore> = Arc::new(FullStore);
                builder.session_store(OpenStore::new(store), FlushMode::Batched)
            }
            _ => builder,
        }
    }

    /// The script that shows it.
    pub(crate) fn script(self, mut script: Value) -> Value {
        if self == StoresToFullDisk {
            let line = json!({"type": "transcript_mirror", "entries": [{"n": 1}],
                "filePath": format!("{CONFIG}/projects/-p/s.jsonl")});
            let steps = script.as_array_mut().unwrap();
            // Behind what every script waits for first.
            steps.insert(1, json!({"emit": line}));
        }
        script
    }

    /// What is expected where `plain` is otherwise.
    pub(crate) fn expected(self, mut plain: Outcome, fault: Fault, moment: Moment) -> Outcome {
        match self {
            IgnoresSigchld | ReapsEverything => {
                plain.process = Process::Unknown;
                let by_itself = fault == Fault::ClosesStdout && moment != Moment::Closing;
                if by_itself && plain.end == End::Well {
                    plain.end = End::Failed;
                }
            }
            RecordsToFullDisk => plain.odd.push(Odd::NotRecorded),
            StoresToFullDisk => {
                plain.odd.push(Odd::NotMirrored);
                if fault == Fault::ClosesStdin && moment == Moment::InTurn {
                    // While the result is held back, the session that has lost its input closes.
                    plain.end = End::Failed;
                }
            }
            _ => {}
        }
        plain
    }
}

static FORKING: Mutex<()> = Mutex::new(());

/// One process is made at a time: another that is made in the middle of it holds copies of its pipes
/// until it has become its program.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    FORKING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process with copies of all descriptors of this one, until it is dropped.
pub(crate) struct Forked(libc::pid_t);

impl Forked {
    pub(crate) fn new() -> Forked {
        let _alone = alone();
        // SAFETY: the child makes system calls alone. It ends by itself should the test not get to it.
        let pid = unsafe { libc::fork() };
        assert!(pid >= 0);
        if pid == 0 {
            // SAFETY: no pointers.
            unsafe {
                libc::alarm(120);
                loop {
                    libc::pause();
                }
            }
        }
        Forked(pid)
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        // SAFETY: our own child; no status is wanted.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

struct FullStore;

impl SessionStore for FullStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn append(&self, _: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
        Err(StoreError::failed(std::io::Error::from_raw_os_error(
            libc::ENOSPC,
        )))
    }

    fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        Ok(None)
    }
}
