//! A thousand conversations at once in one thread, each streaming two hundred messages, against a
//! bare loop of `posix_spawn`, `epoll` and `read`. Each run is a process of its own, so that its
//! memory can be told.

use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use towline::{Event, Options, Session, Watchdog};
use towline_session_benches::bare::{Bare, INITIALIZE, PROMPT};
use towline_session_benches::{
    fake_cli, machine, peak_memory, pin, raise_descriptor_limit, report,
};

const SESSIONS: usize = 1000;
const MESSAGES: usize = 200;
const ROUNDS: usize = 7;
const BAR: f64 = 1.5;
const MEMORY_BAR_KIB: u64 = 28 * 1024;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("sessions") => measure(sessions),
        Some("bare") => measure(bare),
        _ => compare(),
    }
}

fn compare() {
    let core = pin();
    println!("{}; core {core}", machine());
    let mut pairs = Vec::new();
    let mut memory = Vec::new();
    for round in 0..ROUNDS {
        let (ours, theirs) = match round % 2 {
            0 => {
                let ours = run("sessions");
                (ours, run("bare"))
            }
            _ => {
                let theirs = run("bare");
                (run("sessions"), theirs)
            }
        };
        pairs.push((ours.0, theirs.0));
        memory.push((ours.1, theirs.1));
    }
    let name = format!("{SESSIONS} sessions of {MESSAGES} messages");
    let in_time = report(&name, &pairs, "s", BAR);
    let most = memory.iter().map(|(ours, _)| *ours).max().unwrap_or(0);
    let bare = memory.iter().map(|(_, bare)| *bare).max().unwrap_or(0);
    let small = most <= MEMORY_BAR_KIB;
    println!(
        "peak memory of the host: {:.1} MiB against {:.1} MiB (bar 28 MiB: {})",
        most as f64 / 1024.0,
        bare as f64 / 1024.0,
        if small { "kept" } else { "MISSED" }
    );
    std::process::exit(i32::from(!(in_time && small)));
}

/// Seconds and KiB of one run.
fn run(mode: &str) -> (f64, u64) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .arg(mode)
        .env("BENCH_FAKE_CLI", fake_cli())
        .stderr(std::process::Stdio::inherit())
        .output()
        .expect("a run");
    assert!(output.status.success(), "{mode} failed");
    let text = String::from_utf8(output.stdout).expect("two numbers");
    let (seconds, kib) = text.trim().split_once(' ').expect("two numbers");
    (seconds.parse().expect("seconds"), kib.parse().expect("KiB"))
}

fn measure(run: fn()) {
    raise_descriptor_limit();
    let begun = Instant::now();
    run();
    println!("{} {}", begun.elapsed().as_secs_f64(), peak_memory());
}

struct Epoll(i32);

impl Epoll {
    fn new() -> Epoll {
        // SAFETY: no pointers.
        Epoll(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })
    }

    fn add(&self, fd: i32, token: usize) {
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: token as u64,
        };
        // SAFETY: a valid event.
        let status = unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_ADD, fd, &mut event) };
        assert_eq!(status, 0, "epoll_ctl");
    }

    fn remove(&self, fd: i32) {
        // SAFETY: the event is not looked at.
        unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_DEL, fd, std::ptr::null_mut()) };
    }

    fn wait(&self, ready: &mut Vec<usize>) {
        const ROOM: usize = 256;
        // SAFETY: plain data, and as many entries as are named.
        let found = unsafe {
            let mut events: [libc::epoll_event; ROOM] = std::mem::zeroed();
            let found = libc::epoll_wait(self.0, events.as_mut_ptr(), ROOM as i32, 10_000);
            ready.clear();
            let found = usize::try_from(found).expect("epoll_wait");
            ready.extend(events.iter().take(found).map(|event| event.u64 as usize));
            found
        };
        assert!(found > 0, "nothing happened for ten seconds");
    }
}

fn sessions() {
    let options = format!(
        r#"{{"cliPath":{:?},"env":{{"FAKE_CLI_BENCH":"stream:{MESSAGES}"}}}}"#,
        fake_cli()
    );
    let options = Options::from_json(&options).expect("options");
    let watchdog = Watchdog::default();
    let epoll = Epoll::new();
    let mut sessions: Vec<Option<(Session, usize)>> = (0..SESSIONS)
        .map(|token| {
            let session = Session::builder(options.clone())
                .watchdog(&watchdog)
                .start()
                .expect("a session");
            session.send("go").expect("a prompt");
            epoll.add(session.fd().expect("a descriptor").as_raw_fd(), token);
            Some((session, 0))
        })
        .collect();
    let mut open = SESSIONS;
    let mut ready = Vec::new();
    while open > 0 {
        epoll.wait(&mut ready);
        for token in &ready {
            let Some((session, messages)) = &mut sessions[*token] else {
                continue;
            };
            let closed = loop {
                match session.poll(Some(Duration::ZERO)).expect("an event") {
                    None => break false,
                    Some(Event::Message { .. }) => *messages += 1,
                    Some(Event::TurnEnded { .. }) => session.begin_close().expect("an end"),
                    Some(Event::Closed(_)) => break true,
                    Some(_) => {}
                }
            };
            if closed {
                assert_eq!(*messages, MESSAGES + 1);
                epoll.remove(session.fd().expect("a descriptor").as_raw_fd());
                sessions[*token] = None;
                open -= 1;
            }
        }
    }
}

fn bare() {
    let mode = format!("stream:{MESSAGES}");
    let epoll = Epoll::new();
    let mut processes: Vec<(Bare, usize)> = (0..SESSIONS)
        .map(|token| {
            let process = Bare::start(&mode);
            process.write(INITIALIZE);
            process.write(PROMPT);
            epoll.add(process.stdout.as_raw_fd(), token);
            (process, 0)
        })
        .collect();
    let mut open = SESSIONS;
    let mut ready = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while open > 0 {
        epoll.wait(&mut ready);
        for token in &ready {
            let (process, lines) = &mut processes[*token];
            let n = process.read(&mut buffer);
            if n == 0 {
                epoll.remove(process.stdout.as_raw_fd());
                process.reap();
                open -= 1;
                continue;
            }
            *lines += buffer[..n].iter().filter(|byte| **byte == b'\n').count();
            // The answer to initialize, the messages, the result.
            if *lines == MESSAGES + 2 {
                process.stdin = None;
            }
        }
    }
}
