//! What a session store does to permission requests: their slowest hundredth while 10,000 entries a
//! second are mirrored to a store, against that without a store. The turns follow each other as fast
//! as they can; a turn ends when the store has what belongs to it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use towline::transcripts::store::{
    open, Capabilities, Entry, SessionKey, SessionStore, StoreError,
};
use towline::{Event, OpenStore, Options, Reply, Session};
use towline_session_benches::{fake_cli, machine, report};
use towline_testkit::TemporaryPostgres;

const REQUESTS: usize = 60_000;
const ROUNDS: usize = 15;
const BAR: f64 = 1.5;
/// Entries a second that are promised; a turn also waits for its last flush.
const PER_SECOND: usize = 10_000;
const ENOUGH: f64 = 0.9 * PER_SECOND as f64;

/// Takes its time for every append.
struct Slow;

impl SessionStore for Slow {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn append(&self, _: &SessionKey, _: &[Entry]) -> Result<(), StoreError> {
        std::thread::sleep(Duration::from_millis(30));
        Ok(())
    }

    fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        Ok(None)
    }
}

/// A store, and how many entries it has taken.
struct Counted {
    store: Box<dyn SessionStore>,
    kept: AtomicUsize,
}

impl SessionStore for Counted {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        self.store.append(key, entries)?;
        self.kept.fetch_add(entries.len(), Ordering::Relaxed);
        Ok(())
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        self.store.load(key)
    }
}

fn main() {
    println!("{}", machine());
    let folder = std::env::temp_dir().join(format!("towline-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let kept = measure(&folder);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    std::process::exit(i32::from(!kept));
}

fn measure(folder: &Path) -> bool {
    let postgres = TemporaryPostgres::start().expect("a PostgreSQL server");
    let sqlite = format!("sqlite:{}", folder.join("store.db").display());
    let stores: [(&str, Box<dyn SessionStore>); 3] = [
        ("slow", Box::new(Slow)),
        ("SQLite", open(&sqlite).expect("SQLite opens")),
        ("PostgreSQL", open(&postgres.url()).expect("a connection")),
    ];
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut kept = true;
    for (name, store) in stores {
        if wanted.is_empty() || wanted.iter().any(|kind| kind == name) {
            kept &= measure_store(name, store);
        }
    }
    kept
}

fn measure_store(name: &str, store: Box<dyn SessionStore>) -> bool {
    let store = Arc::new(Counted {
        store,
        kept: AtomicUsize::new(0),
    });
    let plain = Run::start(None);
    let mirrored = Run::start(Some(Arc::clone(&store).into()));
    let mut pairs = Vec::new();
    let mut middles = Vec::new();
    let mut rates = Vec::new();
    for round in 0..ROUNDS + 1 {
        let before = store.kept.load(Ordering::Relaxed);
        let (ours, bare) = match round % 2 {
            0 => {
                let ours = mirrored.round();
                (ours, plain.round())
            }
            _ => {
                let bare = plain.round();
                (mirrored.round(), bare)
            }
        };
        // The first pair warms up.
        if round > 0 {
            let entries = store.kept.load(Ordering::Relaxed) - before;
            rates.push(entries as f64 / ours.whole.as_secs_f64());
            pairs.push((ours.slowest_hundredth, bare.slowest_hundredth));
            middles.push((ours.middle, bare.middle));
        }
    }
    let kept = report(&format!("permission p99, {name} store"), &pairs, "µs", BAR);
    report("  the middle one", &middles, "µs", BAR);
    rates.sort_by(f64::total_cmp);
    let rate = rates[rates.len() / 2];
    let fast = rate >= ENOUGH;
    println!(
        "  with {rate:.0} entries a second, all stored when a turn ends{}",
        match (name, fast) {
            ("slow", _) => "",
            (_, true) => " (bar 10000: kept)",
            (_, false) => " (bar 10000: MISSED)",
        }
    );
    plain.session.close().expect("an end");
    mirrored.session.close().expect("an end");
    kept && (fast || name == "slow")
}

struct Run {
    session: Session,
    /// When the handler was called.
    asked: Arc<Mutex<Vec<Instant>>>,
}

struct Round {
    slowest_hundredth: f64,
    middle: f64,
    /// From the prompt to the end of the turn.
    whole: Duration,
}

impl Run {
    fn start(store: Option<OpenStore>) -> Run {
        let mirror = match &store {
            Some(_) => format!(r#","FAKE_CLI_BENCH_MIRROR":"{PER_SECOND}/s""#),
            None => String::new(),
        };
        let options = format!(
            r#"{{"cliPath":{:?},"env":{{"FAKE_CLI_BENCH":"permission:{REQUESTS}","CLAUDE_CONFIG_DIR":"/bench"{mirror}}}}}"#,
            fake_cli()
        );
        let options = Options::from_json(&options).expect("options");
        let asked = Arc::new(Mutex::new(Vec::with_capacity(REQUESTS)));
        let times = Arc::clone(&asked);
        let mut builder = Session::builder(options).on_permission(move |_| {
            if let Ok(mut times) = times.lock() {
                times.push(Instant::now());
            }
            Reply::allow()
        });
        if let Some(store) = store {
            builder = builder.session_store(store, None);
        }
        let session = builder.start().expect("a session");
        session.connect(None).expect("an open session");
        Run { session, asked }
    }

    fn round(&self) -> Round {
        self.asked.lock().expect("no panic").clear();
        let start = Instant::now();
        self.session.send("go").expect("a prompt");
        loop {
            match self.session.poll(None).expect("an event") {
                Some(Event::TurnEnded { .. }) => break,
                Some(Event::Diagnostic(diagnostic)) => panic!("{diagnostic}"),
                Some(Event::Message { message, .. })
                    if message.subtype() == Some("mirror_error") =>
                {
                    panic!("{}", message.json())
                }
                _ => {}
            }
        }
        let whole = start.elapsed();
        let asked = self.asked.lock().expect("no panic");
        let mut times: Vec<f64> = asked
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e6)
            .collect();
        times.sort_by(f64::total_cmp);
        Round {
            slowest_hundredth: times[times.len() * 99 / 100],
            middle: times[times.len() / 2],
            whole,
        }
    }
}
