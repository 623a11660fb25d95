//! Many sessions at once in one process, for long, with a CLI that does something wrong in most of
//! them and a host that ends them in every way. Each session is looked at as it ends: every turn
//! and every request of the host has one outcome, and its process is gone. The process is looked at
//! all the while: memory, descriptors, threads and processes.

mod census;
mod chance;
mod life;
mod script;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use towline::Watchdog;

pub use census::{census, Census};
use chance::Chance;
use life::{End, Ground, Life};

/// Marks the processes of a run.
const MARK: &str = "TOWLINE_SOAK";

/// How a run goes.
#[derive(Debug, Clone)]
pub struct Soak<'a> {
    /// The scripted CLI.
    pub cli: &'a Path,
    /// How many sessions there are at any time.
    pub sessions: usize,
    /// How long new sessions follow those that have ended.
    pub length: Duration,
    /// How often the process is looked at.
    pub every: Duration,
    /// How many threads drive the sessions.
    pub threads: usize,
    /// Factor of the times between what the hosts do; the greater, the fewer sessions a second.
    pub pace: u64,
    /// The seed of what happens.
    pub seed: u64,
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Report {
    /// Before the first session and after the last.
    pub before: Census,
    /// See `before`.
    pub after: Census,
    /// At each look between.
    pub between: Vec<(Duration, Census)>,
    /// Sessions that have closed, were dropped, could not be started.
    pub ends: [u64; 3],
    /// What did not hold, the first few.
    pub wrong: Vec<String>,
}

#[derive(Default)]
struct Board {
    ends: [AtomicU64; 3],
    number: AtomicU64,
    over: AtomicBool,
    wrong: Mutex<Vec<String>>,
}

impl Soak<'_> {
    /// Runs. `look` is called at each look at the process.
    ///
    /// # Panics
    /// When the machine has no room for the run itself.
    pub fn run(&self, mut look: impl FnMut(Duration, &Census, [u64; 3])) -> Report {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(folder.path().join("config/projects")).expect("a folder");
        let value = format!("{}-{}", std::process::id(), self.seed);
        let mark = format!("{MARK}={value}");
        let mut report = Report {
            before: census(&mark),
            ..Report::default()
        };
        let board = Board::default();
        let watchdog = Watchdog::default();
        let ground = Ground {
            folder: folder.path(),
            cli: self.cli,
            mark: (MARK, &value),
            watchdog: &watchdog,
            pace: self.pace,
        };
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..self.threads {
                let (board, ground) = (&board, &ground);
                scope.spawn(move || self.drive(thread, begun, board, ground));
            }
            let mut next = begun + self.every;
            while begun.elapsed() < self.length && !board.over.load(Ordering::Relaxed) {
                std::thread::park_timeout(next.saturating_duration_since(Instant::now()));
                if Instant::now() < next {
                    continue;
                }
                next += self.every;
                let seen = census(&mark);
                look(begun.elapsed(), &seen, board.ends());
                report.between.push((begun.elapsed(), seen));
            }
            board.over.store(true, Ordering::Relaxed);
        });
        drop(watchdog);
        report.after = settled(&mark, &report.before);
        report.ends = board.ends();
        report.wrong = board.wrong.into_inner().unwrap_or_default();
        report
    }

    /// Keeps its share of the sessions going.
    fn drive(&self, thread: usize, begun: Instant, board: &Board, ground: &Ground<'_>) {
        let share =
            self.sessions / self.threads + usize::from(thread < self.sessions % self.threads);
        let mut lives: Vec<Life> = Vec::new();
        loop {
            let over = board.over.load(Ordering::Relaxed) || begun.elapsed() >= self.length;
            if over {
                lives
                    .iter_mut()
                    .for_each(|life| life.finish(Instant::now()));
                if lives.is_empty() {
                    return;
                }
            }
            // A few at a time, so that those that run are not kept waiting.
            let mut room = (share - lives.len()).min(4);
            while !over && room > 0 {
                room -= 1;
                let number = board.number.fetch_add(1, Ordering::Relaxed);
                let chance =
                    Chance::new((self.seed << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                match Life::start(ground, number, chance) {
                    Ok(life) => lives.push(life),
                    Err(end) => board.count(end),
                }
            }
            wait(&lives, over || lives.len() == share);
            let now = Instant::now();
            let mut at = 0;
            while at < lives.len() {
                match lives[at].go_on(now) {
                    Ok(None) => at += 1,
                    Ok(Some(end)) => {
                        board.count(end);
                        board.held(lives.swap_remove(at).bury());
                    }
                    Err(wrong) => {
                        board.held(Err(wrong));
                        board.held(lives.swap_remove(at).bury());
                    }
                }
            }
        }
    }
}

impl Board {
    fn count(&self, end: End) {
        self.ends[end as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn ends(&self) -> [u64; 3] {
        [0, 1, 2].map(|end: usize| self.ends[end].load(Ordering::Relaxed))
    }

    fn held(&self, result: Result<(), String>) {
        const MOST: usize = 20;
        if let (Err(what), Ok(mut wrong)) = (result, self.wrong.lock()) {
            if wrong.len() < MOST {
                wrong.push(what);
            }
        }
    }
}

/// Until something is to be done.
fn wait(lives: &[Life], whole: bool) {
    let now = Instant::now();
    let most = match whole {
        true => Duration::from_millis(500),
        false => Duration::from_millis(10),
    };
    let limit = lives
        .iter()
        .map(|life| life.wait(now))
        .fold(most, Duration::min);
    let descriptors: Vec<_> = lives
        .iter()
        .filter(|life| life.is_awake())
        .map(|life| life.session().fd().expect("a session of this process"))
        .collect();
    let mut polled: Vec<_> = descriptors
        .iter()
        .map(|fd| PollFd::new(fd, PollFlags::IN))
        .collect();
    let limit = Timespec::try_from(limit).expect("a short time");
    // A signal ends it early, which does no harm.
    let _ = poll(&mut polled, Some(&limit));
}

/// What is left once all processes of the run had the time to go.
fn settled(mark: &str, before: &Census) -> Census {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let seen = census(mark);
        let gone = seen.processes <= before.processes && seen.threads <= before.threads;
        if gone || Instant::now() > until {
            return seen;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

impl Report {
    /// What does not hold of the whole run. In its last third nothing may be much more than in the
    /// first third after `warm`.
    pub fn problems(&self, warm: Duration) -> Vec<String> {
        let mut problems = self.wrong.clone();
        let (before, after) = (self.before, self.after);
        let mut same = |what: &str, before: u64, after: u64| {
            if after > before {
                problems.push(format!("{what}: {before} before, {after} after"));
            }
        };
        same("descriptors", before.descriptors, after.descriptors);
        same("threads", before.threads, after.threads);
        same("processes", before.processes, after.processes);
        let looks: Vec<&Census> = self
            .between
            .iter()
            .filter(|(at, _)| *at >= warm)
            .map(|(_, seen)| seen)
            .collect();
        let third = looks.len() / 3;
        if third > 0 {
            let most = |looks: &[&Census], of: fn(&Census) -> u64| {
                looks.iter().map(|seen| of(seen)).max().unwrap_or(0)
            };
            let mut flat = |what: &str, of: fn(&Census) -> u64, slack: u64| {
                let first = most(&looks[..third], of);
                let last = most(&looks[looks.len() - third..], of);
                if last > first + first / 5 + slack {
                    problems.push(format!("{what} grows: {first} at first, {last} at last"));
                }
            };
            flat("memory (KiB)", |seen| seen.memory, 4096);
            flat("descriptors", |seen| seen.descriptors, 50);
            flat("threads", |seen| seen.threads, 20);
            flat("processes", |seen| seen.processes, 50);
        }
        problems
    }
}
