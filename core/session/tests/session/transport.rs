//! Transports that a host writes itself, and CLIs that it starts itself.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use towline::{
    host_pipe, Error, Exit, HostEnd, Launch, Options, Reply, Session, StartError, Transport,
    TransportEnd, Waker,
};

use crate::support::*;

/// Starts a CLI with pipes and three threads around it, as a host would.
fn by_hand(launch: &Launch) -> (towline::HostTransport, std::thread::JoinHandle<()>) {
    let mut child = Command::new(&launch.argv[0])
        .args(&launch.argv[1..])
        .env_clear()
        .envs(launch.env.iter().cloned())
        .current_dir(launch.cwd.as_deref().unwrap_or("/".as_ref()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (end, transport) = host_pipe();
    let end = Arc::new(end);
    let (change, changed) = std::sync::mpsc::channel();
    end.on_change(move || {
        let _ = change.send(());
    })
    .unwrap();
    fn pump(mut from: impl Read, mut to: impl FnMut(&[u8])) {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            to(&buffer[..n]);
        }
    }
    let mut stdin = child.stdin.take().unwrap();
    let host = end.clone();
    let writer = std::thread::spawn(move || {
        while changed.recv().is_ok() {
            while let Some(bytes) = host.take_outgoing() {
                if stdin.write_all(&bytes).is_err() {
                    let _ = host.lose_input();
                }
            }
            if host.input_ended() || host.is_closed() {
                return;
            }
        }
    });
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let feeder = |end: Arc<HostEnd>| {
        move |bytes: &[u8]| {
            let _ = end.feed(bytes);
        }
    };
    let output = std::thread::spawn({
        let feed = feeder(end.clone());
        move || pump(stdout, feed)
    });
    let errors = std::thread::spawn({
        let end = end.clone();
        move || {
            pump(stderr, |bytes| {
                let _ = end.feed_stderr(bytes);
            })
        }
    });
    let all = std::thread::spawn(move || {
        output.join().unwrap();
        errors.join().unwrap();
        let status = child.wait().unwrap();
        end.finish(TransportEnd::exit(Exit::Code(status.code().unwrap_or(-1))))
            .unwrap();
        writer.join().unwrap();
    });
    (transport, all)
}

/// Every option holds: the command line, the environment, private files for as long as they are
/// needed.
#[test]
fn a_cli_that_the_host_starts() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}},
        {"emit": permission("p")},
        answered("p"),
        {"stderr": "to stderr\n"},
        {"emit": result()},
        {"expect_eof": true},
        {"exit": 5}
    ]))
    .set("model", "opus")
    .set(
        "mcpServers",
        json!({"x": {"type": "http", "url": "http://localhost"}}),
    );
    let mut threads = None;
    let mut files = Vec::new();
    let session = fake
        .builder()
        .on_permission(|_| Reply::allow())
        .start_with(|launch| {
            files = launch
                .argv
                .iter()
                .filter_map(|argument| {
                    let argument = argument.to_str()?;
                    argument.strip_prefix("--mcp-config=").map(String::from)
                })
                .collect();
            let (transport, all) = by_hand(&launch);
            threads = Some(all);
            Ok(transport)
        })
        .unwrap();
    assert_eq!(files.len(), 1);
    assert!(std::fs::read_to_string(&files[0])
        .unwrap()
        .contains("localhost"));
    session.send("hi").unwrap();
    message(&session, "result");
    session.close().unwrap();
    let closed = until_closed(&session);
    assert_eq!(closed.failure.exit, Some(Exit::Code(5)));
    assert_eq!(session.stderr_tail(), "to stderr\n");
    assert!(!std::path::Path::new(&files[0]).exists());
    let argv = fake.logged("start")["argv"].to_string();
    assert!(argv.contains("--model=opus"), "{argv}");
    threads.unwrap().join().unwrap();
    fake.check();
}

#[test]
fn a_cli_that_the_host_cannot_start() {
    let fake = Fake::new(json!([]));
    let refused = fake
        .builder()
        .start_with(|_| -> Result<towline::HostTransport, Error> {
            Err(StartError::Transport("no container".into()).into())
        });
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("no container"), "{told}");
}

/// What a transport does and is told.
#[derive(Default)]
struct State {
    waker: Option<Waker>,
    output: VecDeque<u8>,
    ended: bool,
    written: Vec<u8>,
    calls: Vec<&'static str>,
}

/// One byte a call, with interruptions, and a careless count now and then.
struct Odd {
    state: Arc<Mutex<State>>,
    turn: usize,
    polite: bool,
}

impl Odd {
    fn hiccup(&mut self) -> bool {
        self.turn += 1;
        self.turn % 3 == 0
    }
}

impl Transport for Odd {
    fn start(&mut self, waker: Waker) -> io::Result<()> {
        self.state.lock().unwrap().waker = Some(waker);
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.hiccup() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let mut state = self.state.lock().unwrap();
        match state.output.pop_front() {
            Some(byte) => {
                buffer[0] = byte;
                Ok(1)
            }
            None if state.ended => Err(io::ErrorKind::ConnectionReset.into()),
            None => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.hiccup() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.state.lock().unwrap().written.push(bytes[0]);
        Ok(1)
    }

    fn end_input(&mut self) {
        self.state.lock().unwrap().calls.push("end_input");
    }

    fn terminate(&mut self) -> bool {
        self.state.lock().unwrap().calls.push("terminate");
        self.polite
    }

    fn close(&mut self) {
        self.state.lock().unwrap().calls.push("close");
    }

    fn pid(&self) -> Option<u32> {
        Some(77)
    }
}

fn odd(polite: bool, close_grace: u64, terminate_grace: u64) -> (Session, Arc<Mutex<State>>) {
    let state = Arc::new(Mutex::new(State::default()));
    let transport = Odd {
        state: state.clone(),
        turn: 0,
        polite,
    };
    let graces = json!({"closeGraceMs": close_grace, "terminateGraceMs": terminate_grace});
    let session = Session::builder(Options::from_json(&graces.to_string()).unwrap())
        .start_over(transport)
        .unwrap();
    (session, state)
}

#[test]
fn a_transport_that_does_as_little_as_it_may() {
    let (session, state) = odd(false, 10, 10);
    assert_eq!(session.pid(), Some(77));
    {
        let mut state = state.lock().unwrap();
        assert!(state.written.ends_with(b"}\n"));
        let line = format!("{}\n", assistant("grüße"));
        state.output.extend(line.as_bytes());
    }
    let waker = state.lock().unwrap().waker.clone().unwrap();
    waker.wake();
    message(&session, "assistant");
    state.lock().unwrap().ended = true;
    waker.wake();
    until_closed(&session);
    assert_eq!(state.lock().unwrap().calls, ["end_input", "close"]);
    drop(session);
    // Nobody is there any more.
    waker.wake();
}

/// One that can be asked to end is waited for; one that cannot is ended at once.
#[test]
fn the_steps_of_closing() {
    for (polite, least) in [(false, 0), (true, 300)] {
        let (session, state) = odd(polite, 10, 300);
        let begun = Instant::now();
        session.close().unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(10 + least));
        if !polite {
            assert!(begun.elapsed() < Duration::from_millis(300));
        }
        let steps = ["end_input", "terminate", "close"];
        assert_eq!(state.lock().unwrap().calls, steps);
        let closed = until_closed(&session);
        assert_eq!(closed.failure.exit, None);
        assert!(matches!(session.poll(None), Err(Error::Closed)));
    }
}

#[test]
fn a_transport_that_does_not_start() {
    struct Broken;
    impl Transport for Broken {
        fn start(&mut self, _: Waker) -> io::Result<()> {
            Err(io::Error::other("no such socket"))
        }
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Ok(0)
        }
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn end_input(&mut self) {}
        fn close(&mut self) {}
    }
    let refused = Session::builder(Options::new()).start_over(Broken);
    let told = refused.unwrap_err().to_string();
    assert!(told.contains("no such socket"), "{told}");
}

/// A transport is called with the session locked: what it calls of the session says so.
#[test]
fn a_transport_that_calls_the_session() {
    type Later = Arc<Mutex<Option<Arc<Session>>>>;
    struct Curious(Later, Arc<Mutex<Vec<String>>>);
    impl Transport for Curious {
        fn start(&mut self, _: Waker) -> io::Result<()> {
            Ok(())
        }
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            let session = self.0.lock().unwrap().clone().unwrap();
            let mut told = self.1.lock().unwrap();
            for refused in [
                session.send("x").map(drop),
                session.poll(None).map(drop),
                session.close(),
                session.next_timeout().map(drop),
                session.wake(),
            ] {
                told.push(format!("{refused:?}"));
            }
            assert_eq!(session.session_id(), None);
            Ok(0)
        }
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn end_input(&mut self) {}
        fn close(&mut self) {}
    }
    let (later, told) = (Later::default(), Arc::new(Mutex::new(Vec::new())));
    let session = Session::builder(Options::new())
        .start_over(Curious(later.clone(), told.clone()))
        .unwrap();
    let session = Arc::new(session);
    *later.lock().unwrap() = Some(session.clone());
    until_closed(&session);
    *later.lock().unwrap() = None;
    assert_eq!(*told.lock().unwrap(), ["Err(Reentrant)"; 5]);
}

/// What no transport can return ends the session with an error that says what it was; a stream that
/// breaks does so unless its end tells otherwise.
#[test]
fn a_transport_that_returns_the_impossible() {
    #[derive(Clone, Copy, PartialEq)]
    enum Of {
        Read,
        Stderr,
        Write,
    }
    type Returned = fn(usize) -> io::Result<usize>;
    struct Faulty(Of, Returned, Option<Exit>);
    impl Faulty {
        fn returned(&self, of: Of, len: usize) -> io::Result<usize> {
            match (self.0 == of, of) {
                (true, _) => (self.1)(len),
                (false, Of::Write) => Ok(len),
                (false, _) => Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }
    impl Transport for Faulty {
        fn start(&mut self, waker: Waker) -> io::Result<()> {
            waker.wake();
            Ok(())
        }
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.returned(Of::Read, buffer.len())
        }
        fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.returned(Of::Stderr, buffer.len())
        }
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.returned(Of::Write, bytes.len())
        }
        fn end_input(&mut self) {}
        fn close(&mut self) {}
        fn ended(&mut self) -> Option<TransportEnd> {
            Some(TransportEnd {
                exit: self.2,
                error: None,
            })
        }
    }
    let above: Returned = |len| Ok(len + 1);
    let nothing: Returned = |_| Ok(0);
    let doubtful: Returned = |_| Err(io::Error::new(io::ErrorKind::InvalidData, "is no record"));
    let reset: Returned = |_| Err(io::Error::other("reset"));
    let exited = Some(Exit::Code(0));
    for (of, returned, exit, told) in [
        (Of::Read, above, exited, "read returned"),
        (Of::Read, doubtful, exited, "read is no record"),
        (Of::Read, reset, None, "reading its output failed: reset"),
        (Of::Read, reset, exited, ""),
        (
            Of::Stderr,
            above,
            exited,
            "read_stderr returned 4097, of 4096 bytes",
        ),
        (Of::Stderr, reset, None, ""),
        (Of::Write, above, exited, "write returned"),
        (Of::Write, nothing, exited, "write returned 0"),
        (Of::Write, reset, None, "writing its input failed: reset"),
    ] {
        let graces =
            json!({"closeGraceMs": 50, "terminateGraceMs": 50, "initializeTimeoutMs": 300});
        let options = Options::from_json(&graces.to_string()).unwrap();
        let session = Session::builder(options)
            .start_over(Faulty(of, returned, exit))
            .unwrap();
        let closed = until_closed(&session);
        let error = closed.error.unwrap().to_string();
        assert!(error.contains(told), "{error} without {told}");
        let ended = closed.failure.transport.unwrap_or_default();
        assert!(ended.contains(told), "{ended} without {told}");
        if told.is_empty() {
            assert!(!ended.contains("failed: reset"), "{ended}");
        }
    }
}

/// Neither its output nor its stderr runs dry, nor does it say that it has ended before it is
/// closed: dropping the session takes no longer than the graces.
#[test]
fn a_transport_that_never_runs_dry() {
    struct Endless(u8, bool);
    impl Transport for Endless {
        fn start(&mut self, waker: Waker) -> io::Result<()> {
            waker.wake();
            Ok(())
        }
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(self.0);
            Ok(buffer.len())
        }
        fn read_stderr(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if !self.1 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            buffer.fill(self.0);
            Ok(buffer.len())
        }
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
        fn end_input(&mut self) {}
        fn close(&mut self) {}
    }
    for (byte, stderr) in [(b'\n', false), (b'x', false), (b'x', true)] {
        let graces = json!({"closeGraceMs": 100, "terminateGraceMs": 100});
        let begin = || {
            Session::builder(Options::from_json(&graces.to_string()).unwrap())
                .start_over(Endless(byte, stderr))
                .unwrap()
        };
        let session = begin();
        let begun = Instant::now();
        drop(session);
        let took = begun.elapsed();
        println!("dropped in {took:?}");
        assert!(took < Duration::from_secs(2), "dropping took {took:?}");
        // A host that polls sees the end, and its limits are kept.
        let session = begin();
        session.begin_close().unwrap();
        let end = Instant::now() + LONG;
        loop {
            let begun = Instant::now();
            let event = session.poll(Some(Duration::from_millis(100))).unwrap();
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(2), "a poll took {took:?}");
            if let Some(towline::Event::Closed(_)) = event {
                break;
            }
            assert!(Instant::now() < end, "no end in {LONG:?}");
        }
    }
}
