//! Entries, and a second process that appends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use towline_transcripts::store::{open, Entry, SessionKey, SessionStore};

/// How many entries the other process appends at once.
pub(crate) const BATCH: u64 = 5;

pub(crate) fn key() -> SessionKey {
    SessionKey::main("-work-project", "11111111-2222-4333-8444-555555555555")
}

pub(crate) fn entry(writer: u64, number: u64) -> Entry {
    let text = "x".repeat(usize::try_from(number % 700).unwrap());
    Entry::new(format!(
        r#"{{"type":"user","uuid":"{writer}/{number}","writer":{writer},"n":{number},"text":"{text}"}}"#
    ))
    .unwrap()
}

pub(crate) fn batch(writer: u64, first: u64) -> Vec<Entry> {
    (first..first + BATCH)
        .map(|number| entry(writer, number))
        .collect()
}

/// The numbers of one writer's entries in the order in which they stand.
pub(crate) fn numbers(entries: &[Entry], writer: u64) -> Vec<u64> {
    let number = |entry: &Entry, name: &str| entry.member(name).unwrap().parse::<u64>().unwrap();
    let of_writer = entries
        .iter()
        .filter(|entry| number(entry, "writer") == writer);
    of_writer.map(|entry| number(entry, "n")).collect()
}

pub(crate) fn load(store: &dyn SessionStore) -> Vec<Entry> {
    store.load(&key()).unwrap().unwrap_or_default()
}

/// A process of its own that appends batches, and says so after each.
pub(crate) struct Appender {
    child: Child,
    acknowledged: BufReader<ChildStdout>,
}

impl Appender {
    /// Begins with the entry `first` and appends `batches` times.
    pub(crate) fn start(url: &str, writer: u64, first: u64, batches: u64) -> Self {
        let program = std::env::current_exe().unwrap();
        Self::started(Command::new(program), url, writer, first, batches)
    }

    /// As [`Appender::start`], where no file can grow beyond some kilobytes.
    pub(crate) fn start_on_a_full_disk(url: &str, writer: u64, first: u64, batches: u64) -> Self {
        let mut limited = Command::new("sh");
        limited
            .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .stderr(Stdio::null());
        Self::started(limited, url, writer, first, batches)
    }

    fn started(mut command: Command, url: &str, writer: u64, first: u64, batches: u64) -> Self {
        let mut child = command
            .args(["--exact", "support::appends_in_a_process_of_its_own"])
            .args(["--ignored", "--nocapture", "--quiet"])
            .env("STORE_URL", url)
            .env("STORE_NUMBERS", format!("{writer} {first} {batches}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let acknowledged = BufReader::new(child.stdout.take().unwrap());
        Appender {
            child,
            acknowledged,
        }
    }

    /// Waits until the store has told the process that a batch is safe; gives the number after the
    /// batch's last, or `None` when the process has ended.
    pub(crate) fn acknowledged(&mut self) -> Option<u64> {
        let mut line = String::new();
        while self.acknowledged.read_line(&mut line).unwrap() > 0 {
            if let Some(next) = line
                .strip_prefix("safe ")
                .and_then(|rest| rest.strip_suffix('\n'))
            {
                return Some(next.parse().unwrap());
            }
            line.clear();
        }
        None
    }

    /// SIGKILL; gives the last number that was still acknowledged.
    pub(crate) fn kill(mut self) -> Option<u64> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::iter::from_fn(|| self.acknowledged()).last()
    }

    /// Waits for the end; gives the last number that was acknowledged.
    pub(crate) fn finish(mut self) -> Option<u64> {
        let last = std::iter::from_fn(|| self.acknowledged()).last();
        self.child.wait().unwrap();
        last
    }
}

#[test]
#[ignore = "the other process of the tests that need one"]
fn appends_in_a_process_of_its_own() {
    let url = std::env::var("STORE_URL").unwrap();
    let numbers = std::env::var("STORE_NUMBERS").unwrap();
    let mut numbers = numbers
        .split(' ')
        .map(|number| number.parse::<u64>().unwrap());
    let mut next = || numbers.next().unwrap();
    let (writer, first, batches) = (next(), next(), next());
    let store = open(&url).unwrap();
    let mut stdout = std::io::stdout();
    for number in (0..batches).map(|index| first + index * BATCH) {
        store.append(&key(), &batch(writer, number)).unwrap();
        stdout
            .write_all(format!("safe {}\n", number + BATCH).as_bytes())
            .unwrap();
        stdout.flush().unwrap();
    }
}
