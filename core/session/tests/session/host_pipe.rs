//! Sessions over a stream that the host supplies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::{
    host_pipe, CancelReason, Diagnostic, Error, Event, Exit, HostEnd, HostTransport, LocalError,
    Options, Reply, Session, Tool, ToolServer, TransportEnd, TurnOutcome,
};

use crate::event_loop::drive;
use crate::support::*;

/// A CLI inside the test, at the host's end of the pipe.
struct Peer {
    end: HostEnd,
    changed: Receiver<()>,
    unread: Vec<u8>,
    /// What it writes is fed in pieces of this many bytes; 0 is whole.
    piece: usize,
}

impl Peer {
    fn new() -> (Peer, HostTransport) {
        let (end, transport) = host_pipe();
        let (change, changed) = channel();
        end.on_change(move || {
            // The peer may be gone.
            let _ = change.send(());
        })
        .unwrap();
        let peer = Peer {
            end,
            changed,
            unread: Vec::new(),
            piece: 0,
        };
        (peer, transport)
    }

    /// Waits until `look` finds something, each time something has changed.
    fn wait<T>(&mut self, what: &str, mut look: impl FnMut(&mut Peer) -> Option<T>) -> T {
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            match self.changed.recv_timeout(LONG) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => panic!("waited in vain for {what}"),
                // The session is gone; one last look.
                Err(RecvTimeoutError::Disconnected) => {
                    return look(self).unwrap_or_else(|| panic!("the end instead of {what}"))
                }
            }
        }
    }

    /// The next line of the host; `None` at the end of its input.
    fn line(&mut self) -> Option<Value> {
        self.wait("a line", |peer| {
            peer.unread
                .extend(peer.end.take_outgoing().unwrap_or_default());
            if let Some(at) = peer.unread.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = peer.unread.drain(..=at).collect();
                return Some(Some(serde_json::from_slice(&line).unwrap()));
            }
            (peer.end.input_ended() || peer.end.is_closed()).then_some(None)
        })
    }

    fn say(&self, value: Value) {
        self.feed(format!("{value}\n").as_bytes());
    }

    fn feed(&self, bytes: &[u8]) {
        let pieces = bytes.chunks(if self.piece == 0 {
            usize::MAX
        } else {
            self.piece
        });
        for piece in pieces {
            if self.end.feed(piece).is_err() {
                return;
            }
        }
    }

    fn answer(&self, request: &Value, payload: Value) {
        self.say(
            json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": request["request_id"], "response": payload}}),
        );
    }

    fn initialize(&mut self) -> Value {
        let request = self.line().unwrap();
        assert_eq!(request["request"]["subtype"], "initialize");
        self.answer(
            &request,
            json!({"commands": [], "capabilities": [], "claude_code_version": "2.1.332"}),
        );
        request["request"].clone()
    }

    /// Asks and returns the answer.
    fn ask(&mut self, request: Value) -> Value {
        let id = request["request_id"].clone();
        self.say(request);
        let line = self.line().unwrap();
        assert_eq!(line["response"]["request_id"], id, "{line}");
        line["response"].clone()
    }

    /// Reads on to the end of the host's input and returns what came.
    fn rest(&mut self) -> Vec<Value> {
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            lines.push(line);
        }
        lines
    }

    fn exit(&self, code: i32) {
        self.end
            .finish(TransportEnd::exit(Exit::Code(code)))
            .unwrap();
    }

    /// A whole life: every prompt gets a permission request, a message and a result.
    fn serve(mut self) {
        let Some(request) = self.line() else { return };
        self.answer(&request, json!({}));
        while let Some(line) = self.line() {
            if line["type"] == "user" {
                self.say(permission("p"));
                self.say(assistant("hello"));
                self.say(result());
            } else if line["request"]["subtype"].is_string() {
                self.answer(&line, json!({}));
            }
        }
        self.exit(0);
    }
}

fn options(value: Value) -> Options {
    Options::from_json(&value.to_string()).unwrap()
}

fn start(transport: HostTransport) -> Session {
    Session::builder(Options::new())
        .start_over(transport)
        .unwrap()
}

fn quick(transport: HostTransport) -> Session {
    let options = options(json!({"closeGraceMs": 20, "terminateGraceMs": 20}));
    Session::builder(options).start_over(transport).unwrap()
}

fn conversation(piece: usize) {
    let (mut peer, transport) = Peer::new();
    peer.piece = piece;
    let mut server = ToolServer::new("calc", "1");
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"}},"required":["a"]}"#;
    server
        .add(Tool::new("double", "doubles", schema, |call| {
            let a: Value = serde_json::from_str(call.arguments()).unwrap();
            Reply::text((a["a"].as_i64().unwrap() * 2).to_string())
        }))
        .unwrap();
    let session = Session::builder(options(json!({"systemPrompt": "Be brief."})))
        .on_permission(|request| match request.tool_name().as_deref() {
            Some("Bash") => Reply::allow(),
            _ => Reply::deny("no"),
        })
        .on_hook("PreToolUse", None, |_| Reply::Json("{}".into()))
        .tool_server(server)
        .stderr_events()
        .start_over(transport)
        .unwrap();
    assert_eq!(session.pid(), None);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let sent = peer.initialize();
            assert_eq!(sent["systemPrompt"], json!(["Be brief."]));
            assert_eq!(sent["sdkMcpServers"], json!(["calc"]));
            let callback = sent["hooks"]["PreToolUse"][0]["hookCallbackIds"][0].clone();
            let prompt = peer.line().unwrap();
            assert_eq!(prompt["message"]["content"], "hi");
            let said = peer.ask(permission("p"));
            assert_eq!(said["response"]["behavior"], "allow");
            let said = peer.ask(hook("h", callback.as_str().unwrap()));
            assert_eq!(said["subtype"], "success");
            let said = peer.ask(mcp(
                "m",
                "calc",
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                    "params": {"name": "double", "arguments": {"a": 21}}}),
            ));
            let text = &said["response"]["mcp_response"]["result"]["content"][0]["text"];
            assert_eq!(text, "42");
            peer.end.feed_stderr(b"a warning\nand the rest").unwrap();
            peer.say(assistant("grüße"));
            peer.say(result());
            let request = peer.line().unwrap();
            assert_eq!(request["request"]["subtype"], "mcp_status");
            peer.answer(&request, json!({"mcpServers": []}));
            assert!(peer.rest().is_empty());
            peer.exit(0);
            peer.wait("the close", |peer| peer.end.is_closed().then_some(()));
        });
        session.send("hi").unwrap();
        let said = message(&session, "assistant");
        assert_eq!(said["message"]["content"][0]["text"], "grüße");
        message(&session, "result");
        let status = session.request_wait("mcp_status", "", Some(LONG)).unwrap();
        assert_eq!(status.payload(), r#"{"mcpServers":[]}"#);
        session.close().unwrap();
        let (events, closed) = rest(&session);
        assert!(closed.error.is_none(), "{closed:?}");
        assert_eq!(closed.failure.exit, Some(Exit::Code(0)));
        assert_eq!(session.exit(), Some(Exit::Code(0)));
        assert!(events
            .iter()
            .any(|event| matches!(event, Event::TurnEnded { .. })));
        assert_eq!(session.stderr_tail(), "a warning\nand the rest");
        assert_eq!(session.cli_version().as_deref(), Some("2.1.332"));
    });
}

#[test]
fn a_conversation() {
    conversation(0);
}

#[test]
fn a_conversation_in_single_bytes() {
    conversation(1);
    conversation(7);
}

#[test]
fn what_was_fed_before_the_start_is_read() {
    let (peer, transport) = Peer::new();
    peer.say(assistant("early"));
    peer.exit(0);
    let session = start(transport);
    let (events, closed) = rest(&session);
    assert_eq!(messages(&events).len(), 1);
    // Initialize was never answered.
    assert!(matches!(
        closed.error,
        Some(Error::ExitedBeforeInitialize(_))
    ));
}

#[test]
fn the_end_in_the_middle_of_a_turn() {
    let ends = [
        (TransportEnd::error("reset by peer"), "reset by peer"),
        (TransportEnd::exit(Exit::Code(3)), "exit status 3"),
        (TransportEnd::default(), ""),
    ];
    for (end, text) in ends {
        let (mut peer, transport) = Peer::new();
        let session = start(transport);
        session.send("x").unwrap();
        peer.initialize();
        peer.line().unwrap();
        peer.say(assistant("half"));
        peer.feed(b"{\"type\":\"assis");
        peer.end.finish(end.clone()).unwrap();
        assert!(matches!(peer.end.feed(b"x"), Err(Error::Closed)));
        let (events, closed) = rest(&session);
        assert_eq!(messages(&events).len(), 1);
        assert!(events.iter().any(|event| matches!(
            event,
            Event::TurnEnded {
                outcome: TurnOutcome::SessionEnded(_),
                ..
            }
        )));
        assert_eq!(closed.failure.exit, end.exit);
        let failure = closed.failure.to_string();
        match closed.error {
            Some(Error::Failed(_)) => assert!(failure.contains(text), "{failure}"),
            None => assert_eq!(end, TransportEnd::default()),
            other => panic!("{other:?}"),
        }
        assert!(peer.end.is_closed());
        assert!(matches!(session.poll(None), Err(Error::Closed)));
        assert!(session.send("y").is_err());
    }
}

/// An open request gets the safe answer, behind it comes the end of the input.
#[test]
fn closing_while_a_request_is_open() {
    let (mut peer, transport) = Peer::new();
    let session = Session::builder(Options::new())
        .permission_events()
        .start_over(transport)
        .unwrap();
    peer.initialize();
    peer.say(permission("p"));
    let request = until(&session, |event| match event {
        Event::Request(request) => Some(request),
        _ => None,
    });
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let lines = peer.rest();
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert_eq!(lines[0]["response"]["response"]["behavior"], "deny");
            peer.exit(0);
        });
        session.close().unwrap();
    });
    assert!(request.is_cancelled());
    assert!(until_closed(&session).error.is_none());
}

/// A host that never ends its side: the graces bound the wait.
#[test]
fn closing_is_bounded() {
    let (mut peer, transport) = Peer::new();
    let session = quick(transport);
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    let begun = Instant::now();
    session.close().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(peer.end.input_ended() && peer.end.is_closed());
    let closed = until_closed(&session);
    assert!(closed.error.is_none(), "{closed:?}");
    let told = closed.failure.transport.unwrap();
    assert!(told.contains("did not end"), "{told}");
}

/// After the host was told to close, it may still say how the other side ended.
#[test]
fn the_end_after_the_close_is_told() {
    let (mut peer, transport) = Peer::new();
    let options = options(json!({"closeGraceMs": 10}));
    let session = Session::builder(options).start_over(transport).unwrap();
    peer.initialize();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            peer.wait("the close", |peer| peer.end.is_closed().then_some(()));
            peer.end
                .finish(TransportEnd::exit(Exit::Signal(9)))
                .unwrap();
        });
        session.close().unwrap();
    });
    assert_eq!(until_closed(&session).failure.exit, Some(Exit::Signal(9)));
}

/// A host that does not write: the queue fills up to its limit, and everything goes once it does.
#[test]
fn a_host_that_does_not_write() {
    let (mut peer, transport) = Peer::new();
    let options = options(json!({"maxQueuedBytes": 100_000}));
    let session = Session::builder(options).start_over(transport).unwrap();
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    let text = "x".repeat(10_000);
    let mut sent = 0;
    let refused = loop {
        match session.send(&text) {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
        assert!(sent < 1000, "no limit");
    };
    assert!(
        matches!(refused, Error::Local(LocalError::QueueFull { .. })),
        "{refused}"
    );
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..sent {
                assert_eq!(peer.line().unwrap()["type"], "user");
            }
            assert!(peer.rest().is_empty());
            peer.exit(0);
        });
        session.end_input().unwrap();
        assert!(until_closed(&session).error.is_none());
    });
}

/// A host that feeds more than is read is asked to stop, and told when there is room.
#[test]
fn a_host_that_feeds_too_much() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    let line = format!("{}\n", assistant(&"x".repeat(10_000)));
    let mut fed = 1;
    while peer.end.feed(line.as_bytes()).unwrap() {
        fed += 1;
        assert!(fed < 1000, "no limit");
    }
    assert!(!peer.end.wants_more());
    while peer.changed.try_recv().is_ok() {}
    for _ in 0..fed {
        message(&session, "assistant");
    }
    peer.wait("room", |peer| peer.end.wants_more().then_some(()));
    assert!(peer.end.feed(line.as_bytes()).unwrap());
    message(&session, "assistant");
    peer.exit(0);
}

/// The session hears of it although it has nothing else to write, and does not wait for an answer
/// to what did not arrive.
#[test]
fn input_that_is_lost_after_it_was_taken() {
    let (mut peer, transport) = Peer::new();
    let options = Options::from_json(r#"{"closeGraceMs":100}"#).unwrap();
    let session = Session::builder(options).start_over(transport).unwrap();
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    let turn = session.send("x").unwrap();
    peer.wait("the prompt", |peer| peer.end.take_outgoing());
    peer.end.lose_input().unwrap();
    let mut events = Vec::new();
    wait_for("the close of the stream", || {
        events.extend(session.poll(Some(Duration::from_millis(10))).unwrap());
        peer.end.is_closed().then_some(())
    });
    peer.end.finish(TransportEnd::error("gone")).unwrap();
    let (last, closed) = rest(&session);
    events.extend(last);
    let ended = |event: &Event| matches!(event, Event::TurnEnded { turn: of, .. } if *of == turn);
    assert!(events.iter().any(ended), "{events:?}");
    assert!(matches!(closed.error, Some(Error::Failed(_))), "{closed:?}");
}

#[test]
fn input_that_is_lost() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    peer.end.lose_input().unwrap();
    // The first may be taken, as if it were on its way.
    let _ = session.send("x");
    let told = session.send("y").unwrap_err();
    assert!(
        matches!(told, Error::Local(LocalError::InputLost)),
        "{told}"
    );
    peer.say(assistant("still here"));
    message(&session, "assistant");
    peer.exit(1);
    until_closed(&session);
}

/// A host that cannot write: what is on its way is read, then the session ends with its error, and
/// nobody has looked at a clock but the session.
#[test]
fn input_that_fails() {
    for late in [false, true] {
        let (mut peer, transport) = Peer::new();
        let session = start(transport);
        peer.initialize();
        session.connect(Some(LONG)).unwrap();
        session.send("x").unwrap();
        peer.line().unwrap();
        peer.say(assistant("on its way"));
        peer.end.fail_input("broken cable").unwrap();
        if late {
            peer.say(assistant("and this"));
        }
        let begun = Instant::now();
        let (events, closed) = rest(&session);
        assert_eq!(messages(&events).len(), 1 + usize::from(late));
        let Some(Error::Failed(failure)) = closed.error else {
            panic!("{closed:?}");
        };
        assert!(failure.to_string().contains("broken cable"), "{failure}");
        assert!(begun.elapsed() < Duration::from_secs(1));
        assert!(peer.end.is_closed());
        assert!(matches!(peer.end.feed(b"x"), Err(Error::Closed)));
    }
}

/// The same where a loop sleeps on the descriptor and the session's own time limit.
#[test]
fn input_that_fails_in_an_event_loop() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    peer.say(assistant("on its way"));
    peer.end.fail_input("broken cable").unwrap();
    let mut seen = 0;
    let begun = Instant::now();
    drive(&session, |event| {
        seen += usize::from(matches!(event, Event::Message { .. }));
    });
    assert_eq!(seen, 1);
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(peer.end.is_closed());
}

/// What talks without a pause is given up all the same.
#[test]
fn input_that_fails_while_the_output_goes_on() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    peer.end.fail_input("broken cable").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while peer.end.feed(b"{\"type\":\"keep_alive\"}\n").is_ok() {
                std::thread::yield_now();
            }
        });
        let begun = Instant::now();
        let closed = until_closed(&session);
        assert!(matches!(closed.error, Some(Error::Failed(_))));
        assert!(begun.elapsed() > Duration::from_secs(1));
    });
}

/// An input that could not be ended is well if the output ends, and an error if it does not.
#[test]
fn an_end_of_the_input_that_fails() {
    for ends in [true, false] {
        let (mut peer, transport) = Peer::new();
        let session = start(transport);
        peer.initialize();
        session.connect(Some(LONG)).unwrap();
        session.end_input().unwrap();
        assert!(peer.rest().is_empty());
        peer.end.fail_end_of_input("broken cable").unwrap();
        if ends {
            peer.exit(0);
        }
        let closed = until_closed(&session);
        assert_eq!(closed.error.is_none(), ends, "{closed:?}");
    }
}

/// An end that the host tells of goes before the failure.
#[test]
fn input_that_fails_at_the_end() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    peer.end.fail_input("broken cable").unwrap();
    peer.exit(3);
    assert_eq!(until_closed(&session).failure.exit, Some(Exit::Code(3)));
}

/// The loop of the host sleeps on the descriptor; the stream is fed by another thread.
#[test]
fn the_descriptor_tells_of_what_is_fed() {
    for piece in [0, 1, 100] {
        let (mut peer, transport) = Peer::new();
        peer.piece = piece;
        let session = Session::builder(Options::new())
            .on_permission(|_| Reply::allow())
            .start_over(transport)
            .unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || peer.serve());
            session.send("x").unwrap();
            let mut seen = Vec::new();
            drive(&session, |event| {
                if let Event::Message { message, .. } = event {
                    seen.push(message.message_type().to_string());
                    if message.message_type() == "result" {
                        session.begin_close().unwrap();
                    }
                }
            });
            assert_eq!(seen, ["assistant", "result"]);
        });
    }
}

/// What the host is told runs with nothing locked, on whatever thread.
#[test]
fn notices_may_call_the_session() {
    let (end, transport) = host_pipe();
    let end = Arc::new(end);
    let session = Arc::new(start(transport));
    let told = Arc::new(AtomicBool::new(false));
    let (weak, seen, their_end) = (Arc::downgrade(&session), told.clone(), end.clone());
    end.on_change(move || {
        seen.store(true, Ordering::Relaxed);
        if let Some(session) = weak.upgrade() {
            session.stats();
            their_end.wants_more();
        }
    })
    .unwrap();
    // `initialize` was written before there was anybody to tell.
    assert!(told.swap(false, Ordering::Relaxed));
    session.send("x").unwrap();
    assert!(told.swap(false, Ordering::Relaxed));
    end.on_change(|| panic!("a host's own mistake")).unwrap();
    session.send("y").unwrap();
    end.finish(TransportEnd::default()).unwrap();
    until_closed(&session);
}

/// The host's end goes away at every moment of a session: it ends, it does not hang.
#[test]
fn the_host_drops_its_end() {
    for moment in 0..6 {
        let (mut peer, transport) = Peer::new();
        let session = Session::builder(Options::new())
            .permission_events()
            .start_over(transport)
            .unwrap();
        session.send("x").unwrap();
        let life = move || {
            if moment > 0 {
                peer.initialize();
            }
            if moment > 1 {
                peer.line().unwrap();
            }
            if moment > 2 {
                peer.say(permission("p"));
            }
            if moment > 3 {
                peer.feed(b"{\"type\":");
            }
            if moment > 4 {
                peer.rest();
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(life);
            if moment > 4 {
                session.close().unwrap();
            }
            let (_, closed) = rest(&session);
            let told = closed.failure.transport.unwrap();
            assert!(told.contains("dropped its end"), "{told}");
        });
    }
}

/// The session goes away at every moment: the host is told, and its calls say so.
#[test]
fn the_session_is_dropped() {
    for moment in 0..4 {
        let (mut peer, transport) = Peer::new();
        let session = quick(transport);
        if moment > 0 {
            peer.initialize();
            session.connect(Some(LONG)).unwrap();
        }
        if moment > 1 {
            session.send("x").unwrap();
        }
        if moment > 2 {
            peer.say(assistant("unread"));
        }
        drop(session);
        peer.wait("the close", |peer| peer.end.is_closed().then_some(()));
        assert!(matches!(peer.end.feed(b"x"), Err(Error::Closed)));
        assert!(!peer.end.wants_more());
        peer.end.finish(TransportEnd::default()).unwrap();
    }
    // A transport that never came to a session.
    let (mut peer, transport) = Peer::new();
    drop(transport);
    peer.wait("the close", |peer| peer.end.is_closed().then_some(()));
}

/// What the start refuses lets go of the transport.
#[test]
fn a_start_that_fails() {
    let (peer, transport) = Peer::new();
    let options = options(json!({"permissionPromptToolName": "x"}));
    let refused = Session::builder(options)
        .permission_events()
        .start_over(transport);
    assert!(matches!(refused, Err(Error::Start(_))));
    assert!(peer.end.is_closed());
}

/// Options that only a launch can carry are named; nothing is said when there are none.
#[test]
fn options_that_cannot_apply() {
    let told = |options: Options| {
        let (peer, transport) = Peer::new();
        let session = Session::builder(options)
            .on_permission(|_| Reply::allow())
            .start_over(transport)
            .unwrap();
        peer.exit(0);
        let (events, _) = rest(&session);
        let text = |event: Event| match event {
            Event::Diagnostic(Diagnostic::Options(text)) => Some(text),
            _ => None,
        };
        events.into_iter().find_map(text)
    };
    for dialect in ["towline", "python", "typescript"] {
        let plain = json!({"dialect": dialect, "systemPrompt": "x", "turnTimeoutMs": 5});
        assert_eq!(told(options(plain)), None, "{dialect}");
    }
    let text = told(options(
        json!({"model": "opus", "cwd": "/", "env": {"A": "b"}}),
    ))
    .unwrap();
    for option in ["model", "cwd", "env"] {
        assert!(text.contains(option), "{text}");
    }
}

#[test]
fn deadlines_hold() {
    let (peer, transport) = Peer::new();
    let options =
        options(json!({"initializeTimeoutMs": 20, "closeGraceMs": 10, "terminateGraceMs": 10}));
    let session = Session::builder(options).start_over(transport).unwrap();
    let closed = until_closed(&session);
    assert!(matches!(
        closed.error,
        Some(Error::InitializeTimedOut { limit_ms: 20, .. })
    ));
    assert!(peer.end.is_closed());
}

/// A batch takes what there is, up to its limits, and serves what can be served.
#[test]
fn batches() {
    let (mut peer, transport) = Peer::new();
    let session = Session::builder(Options::new())
        .on_permission(|_| Reply::allow())
        .start_over(transport)
        .unwrap();
    peer.initialize();
    session.connect(Some(LONG)).unwrap();
    let mut out = Vec::new();
    assert!(!session.poll_batch(100, usize::MAX, &mut out).unwrap());
    assert!(matches!(out.as_slice(), [Event::Initialized(_)]));
    out.clear();

    for n in 0..10 {
        peer.say(assistant(&n.to_string()));
    }
    peer.say(permission("p"));
    peer.say(assistant("last"));
    assert!(session.poll_batch(4, usize::MAX, &mut out).unwrap());
    assert_eq!(out.len(), 4);
    // One at least, whatever the limit on bytes.
    assert!(session.poll_batch(100, 0, &mut out).unwrap());
    assert_eq!(out.len(), 5);
    assert!(!session.poll_batch(100, usize::MAX, &mut out).unwrap());
    assert_eq!(messages(&out).len(), 11);
    assert_eq!(
        peer.line().unwrap()["response"]["response"]["behavior"],
        "allow"
    );
    assert!(!session.poll_batch(100, usize::MAX, &mut out).unwrap());
    assert_eq!(out.len(), 11);

    peer.say(assistant("bye"));
    peer.exit(0);
    out.clear();
    assert!(!session.poll_batch(100, usize::MAX, &mut out).unwrap());
    assert!(
        matches!(out.as_slice(), [Event::Message { .. }, Event::Closed(_)]),
        "{out:?}"
    );
    assert!(matches!(
        session.poll_batch(1, 1, &mut out),
        Err(Error::Closed)
    ));
}

#[test]
fn requests_that_are_withdrawn() {
    let (mut peer, transport) = Peer::new();
    let session = Session::builder(Options::new())
        .permission_events()
        .start_over(transport)
        .unwrap();
    peer.initialize();
    peer.say(permission("p"));
    peer.say(json!({"type": "control_cancel_request", "request_id": "p"}));
    let reason = until(&session, |event| match event {
        Event::RequestCancelled { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(reason, CancelReason::Withdrawn);
    peer.exit(0);
}

#[test]
fn a_thousand_sessions_leave_no_descriptor() {
    in_child("host_pipe::a_thousand_sessions_leave_no_descriptor", || {
        let before = open_descriptors();
        for _ in 0..1000 {
            let (mut peer, transport) = Peer::new();
            let session = start(transport);
            peer.initialize();
            session.send("x").unwrap();
            peer.line().unwrap();
            peer.say(result());
            message(&session, "result");
            peer.exit(0);
            until_closed(&session);
        }
        assert_eq!(open_descriptors(), before);
    });
}

/// The output may end before it is known how the other side does.
#[test]
fn the_output_ends_before_the_rest() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    peer.initialize();
    peer.say(assistant("last"));
    peer.end.end_output().unwrap();
    assert!(matches!(peer.end.feed(b"x"), Err(Error::Closed)));
    message(&session, "assistant");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            assert!(peer.rest().is_empty());
            peer.end.feed_stderr(b"bye").unwrap();
            peer.exit(2);
        });
        let closed = until_closed(&session);
        assert_eq!(closed.failure.exit, Some(Exit::Code(2)));
        assert_eq!(closed.failure.stderr, "bye");
    });
}

#[test]
fn a_host_that_feeds_too_much_stderr() {
    let (mut peer, transport) = Peer::new();
    let session = start(transport);
    let mut fed = 0;
    while peer.end.feed_stderr(&[b'x'; 10_000]).unwrap() {
        fed += 1;
        assert!(fed < 1000, "no limit");
    }
    assert!(!peer.end.wants_more_stderr());
    while peer.changed.try_recv().is_ok() {}
    while !peer.end.wants_more_stderr() {
        session.poll(Some(Duration::ZERO)).unwrap();
    }
    peer.wait("room", |peer| peer.end.wants_more_stderr().then_some(()));
    peer.exit(0);
    until_closed(&session);
    assert_eq!(session.stats().stderr_bytes, (fed + 1) * 10_000);
}
