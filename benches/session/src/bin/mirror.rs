//! What a session store does to permission requests: their slowest hundredth with the transcript
//! mirrored to a store, against that without a store.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use towline::transcripts::store::{
    open, Capabilities, Entry, SessionKey, SessionStore, StoreError,
};
use towline::{Event, OpenStore, Options, Reply, Session};
use towline_session_benches::{fake_cli, machine, report};

const REQUESTS: usize = 2000;
const ROUNDS: usize = 21;
const BAR: f64 = 1.5;
/// The rate of entries that is promised, and how many come with each request.
const ENTRIES: usize = 1;
const PER_SECOND: f64 = 10_000.0;

/// Takes its time for every append.
struct Slow {
    kept: Mutex<usize>,
}

impl SessionStore for Slow {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn append(&self, _: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        std::thread::sleep(Duration::from_millis(50));
        if let Ok(mut kept) = self.kept.lock() {
            *kept += entries.len();
        }
        Ok(())
    }

    fn load(&self, _: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        Ok(None)
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
    let slow = Arc::new(Slow {
        kept: Mutex::default(),
    });
    let sqlite = open(&format!("sqlite:{}", folder.join("store.db").display()));
    let stores = [
        ("slow", OpenStore::from(slow)),
        ("SQLite", OpenStore::from(sqlite.expect("SQLite opens"))),
    ];
    let mut kept = true;
    for (name, store) in stores {
        let plain = Run::start(None);
        let mirrored = Run::start(Some(store));
        let mut pairs = Vec::new();
        let mut rates = Vec::new();
        for round in 0..ROUNDS + 1 {
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
                pairs.push((ours.slowest_hundredth, bare.slowest_hundredth));
                rates.push(ours.requests_per_second * ENTRIES as f64);
            }
        }
        kept &= report(&format!("permission p99, {name} store"), &pairs, "µs", BAR);
        rates.sort_by(f64::total_cmp);
        let rate = rates[rates.len() / 2];
        let fast = rate >= PER_SECOND;
        println!("  with {rate:.0} entries a second (bar {PER_SECOND}: {fast})");
        kept &= fast;
        plain.session.close().expect("an end");
        mirrored.session.close().expect("an end");
    }
    kept
}

struct Run {
    session: Session,
    /// When the handler was called.
    asked: Arc<Mutex<Vec<Instant>>>,
}

struct Round {
    slowest_hundredth: f64,
    requests_per_second: f64,
}

impl Run {
    fn start(store: Option<OpenStore>) -> Run {
        let mirror = match &store {
            Some(_) => format!(r#","FAKE_CLI_BENCH_MIRROR":"{ENTRIES}""#),
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
        let asked = self.asked.lock().expect("no panic");
        let mut times: Vec<f64> = asked
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e6)
            .collect();
        let whole = asked[asked.len() - 1] - asked[0];
        times.sort_by(f64::total_cmp);
        Round {
            slowest_hundredth: times[times.len() * 99 / 100],
            requests_per_second: times.len() as f64 / whole.as_secs_f64(),
        }
    }
}
