//! Sessions started ahead, and conversations kept open.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{json, Value};
use towline::{
    Error, Event, Pool, PoolError, PoolOptions, PoolTicket, PooledSession, Reply, Session,
};

use crate::support::*;

/// Answers prompt after prompt.
fn chat() -> Fake {
    let turn = [
        json!({"expect": {"type": "user"}, "timeout_ms": 60_000}),
        json!({"emit": assistant("hi")}),
        json!({"emit": result()}),
    ];
    Fake::new(json!([{"repeat": 1000, "steps": turn}])).graces(2_000)
}

/// Gives a sign of life whenever it is asked for one.
fn lively() -> Fake {
    let check = [
        json!({"expect": {"request": {"subtype": "get_binary_version"}}, "timeout_ms": 60_000}),
        json!({"answer": {"version": "0"}}),
    ];
    Fake::new(json!([{"repeat": 1000, "steps": check}])).graces(100)
}

fn sized(size: usize) -> PoolOptions {
    PoolOptions {
        size,
        take_timeout_ms: Some(LONG.as_millis() as u64),
        ..PoolOptions::default()
    }
}

fn bounded(size: usize, most: usize) -> PoolOptions {
    PoolOptions {
        max_sessions: Some(most),
        ..sized(size)
    }
}

fn pool(fake: &Fake, limits: PoolOptions) -> Pool {
    Pool::new(fake.options(), limits).unwrap()
}

fn filled(fake: &Fake, limits: PoolOptions) -> Pool {
    let pool = pool(fake, limits);
    assert!(pool.fill(Some(LONG)).unwrap());
    pool
}

/// One prompt, up to the end of its turn.
fn turn(session: &Session) {
    session.send("hi").unwrap();
    until(session, |event| match event {
        Event::TurnEnded { .. } => Some(()),
        _ => None,
    });
}

/// Drives the pool until something holds.
fn drive(pool: &Pool, what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !holds() {
        assert!(
            Instant::now() < until,
            "the pool does not get to {what}: {pool:?}"
        );
        pool.poll(Some(Duration::from_millis(20))).unwrap();
    }
}

fn signal(pid: u64, signal: libc::c_int) {
    // SAFETY: no pointers; the process is a CLI of this test.
    unsafe { libc::kill(pid as libc::pid_t, signal) };
}

/// The command lines of the CLIs started so far.
fn starts(fake: &Fake) -> Vec<Vec<String>> {
    let log = fake.log();
    let starts = log.iter().filter(|line| line["ev"] == "start");
    let argv = |line: &Value| serde_json::from_value(line["argv"].clone()).unwrap();
    starts.map(argv).collect()
}

#[test]
fn a_first_message_costs_no_start() {
    let fake = chat();
    let pool = filled(&fake, sized(1));
    let session = pool.take().unwrap();
    let start = session.stats().startup;
    assert!(start.spawned.unwrap() <= start.initialized.unwrap());
    assert!(start.initialized.unwrap() <= start.taken.unwrap());
    assert_eq!(start.first_message, None);
    // What came while it was warm is still told.
    assert!(matches!(next(&session), Event::Initialized(_)));
    turn(&session);
    assert!(session.stats().startup.first_message.unwrap() >= start.taken.unwrap());
    let stats = pool.stats().unwrap();
    assert_eq!((stats.hits, stats.misses, stats.handed_out), (1, 0, 1));
    assert_eq!(stats.started, 2, "another one is on its way");
    drop(session);
    assert_eq!(pool.stats().unwrap().handed_out, 0);
    pool.close().unwrap();
}

#[test]
fn nobody_has_to_drive_it() {
    let fake = chat();
    let pool = pool(&fake, sized(2));
    wait_for("two processes", || (starts(&fake).len() == 2).then_some(()));
    let (a, b) = (pool.take().unwrap(), pool.take().unwrap());
    assert_ne!(a.pid(), b.pid());
    turn(&a);
    turn(&b);
    assert_eq!(pool.stats().unwrap().started, 4);
}

#[test]
fn without_a_warm_one_a_session_is_started() {
    let fake = chat();
    let pool = pool(&fake, sized(0));
    let session = pool.take().unwrap();
    turn(&session);
    let stats = pool.stats().unwrap();
    assert_eq!((stats.hits, stats.misses, stats.started), (0, 1, 1));
}

#[test]
fn an_idle_session_is_replaced() {
    let fake = chat();
    let limits = PoolOptions {
        idle_timeout_ms: Some(150),
        ..sized(1)
    };
    let pool = filled(&fake, limits);
    let first = wait_for("the start", || {
        fake.log().into_iter().find(|l| l["ev"] == "start")
    });
    let pid = first["pid"].as_u64().unwrap();
    drive(&pool, "a second session", || {
        let stats = pool.stats().unwrap();
        stats.idle > 0 && stats.started > 1 && stats.warm == 1
    });
    drive(&pool, "the end of the first", || !is_alive(pid));
    assert_eq!(pool.stats().unwrap().exited, 0);
}

#[test]
fn a_dead_session_is_not_given() {
    let fake = chat();
    let pool = filled(&fake, sized(1));
    let pid = fake.logged("start")["pid"].as_u64().unwrap();
    signal(pid, libc::SIGKILL);
    // Its first thread may be gone before the others.
    let threads = || std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    wait_for("its end", || {
        (!is_alive(pid) && threads() <= 1).then_some(())
    });
    // The pool was not driven since.
    let session = pool.take().unwrap();
    assert_ne!(pid_of(&session), pid);
    turn(&session);
    assert_eq!(pool.stats().unwrap().exited, 1);
}

#[test]
fn a_hung_session_is_found_and_replaced() {
    let fake = lively();
    let limits = PoolOptions {
        check_interval_ms: Some(50),
        check_timeout_ms: 5_000,
        ..sized(1)
    };
    let pool = filled(&fake, limits.clone());
    let pid = fake.logged("start")["pid"].as_u64().unwrap();
    let checks = |fake: &Fake| {
        let asked = |line: &&Value| line["request"]["subtype"] == "get_binary_version";
        fake.received().iter().filter(asked).count()
    };
    drive(&pool, "three checks", || checks(&fake) >= 3);
    assert_eq!(pool.stats().unwrap().started, 1, "it is well");
    drop(pool);

    let limits = PoolOptions {
        check_timeout_ms: 200,
        ..limits
    };
    let hung = lively();
    let pool = filled(&hung, limits);
    let stopped = hung.logged("start")["pid"].as_u64().unwrap();
    assert_ne!(stopped, pid);
    signal(stopped, libc::SIGSTOP);
    drive(&pool, "a session that is well", || {
        let stats = pool.stats().unwrap();
        stats.unhealthy >= 1 && stats.warm == 1
    });
    let session = pool.take().unwrap();
    assert_ne!(pid_of(&session), stopped);
    drive(&pool, "the end of the hung one", || !is_alive(stopped));
}

#[test]
fn a_conversation_is_kept_open() {
    let fake = chat();
    let pool = filled(&fake, sized(1));
    let session = pool.take().unwrap();
    turn(&session);
    let pid = session.pid();
    pool.put_back(session).unwrap();
    assert_eq!(pool.stats().unwrap().parked, 1);
    // Nobody else gets it.
    let other = pool.take().unwrap();
    assert_ne!(other.pid(), pid);
    let again = pool.take_for("s").unwrap();
    assert_eq!(again.pid(), pid);
    turn(&again);
    assert_eq!(pool.stats().unwrap().resumed, 0);
    again.put_back().unwrap();
    assert_eq!(pool.stats().unwrap().parked, 1);
}

#[test]
fn the_oldest_conversation_makes_room_and_is_resumed() {
    let fake = chat();
    let pool = pool(&fake, bounded(0, 2));
    // Every session of the script says that it is "s", but for its first one.
    let first = pool.take().unwrap();
    turn(&first);
    let (gone, other) = (pid_of(&first), pool.take().unwrap());
    pool.put_back(first).unwrap();
    turn(&other);
    let third = pool.take().unwrap();
    assert!(!is_alive(gone), "there are never more than two");
    assert_eq!(pool.stats().unwrap().evicted, 1);
    drop(third);
    let again = pool.take_for("s").unwrap();
    let resumed = starts(&fake).pop().unwrap();
    assert!(resumed.contains(&"--resume=s".to_string()), "{resumed:?}");
    assert_eq!(pool.stats().unwrap().resumed, 1);
    turn(&again);
    drop((again, other));
}

#[test]
fn a_full_pool_says_so_and_take_waits() {
    let fake = chat();
    let pool = pool(&fake, bounded(0, 1));
    let session = pool.take().unwrap();
    let error = pool
        .take_within(Some(Duration::from_millis(50)))
        .unwrap_err();
    assert!(
        matches!(error, Error::Pool(PoolError::Full { max_sessions: 1, waited_ms }) if waited_ms >= 50),
        "{error:?}"
    );
    assert!(error.to_string().contains("maxSessions"), "{error}");
    let pid = session.pid();
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let session = pool.take().unwrap();
            turn(&session);
            session.pid()
        });
        wait_for("the taker", || {
            (pool.stats().unwrap().waiting == 1).then_some(())
        });
        drop(session);
        assert_ne!(taker.join().unwrap(), pid);
    });
    assert_eq!(pool.stats().unwrap().started, 2);
}

#[test]
fn a_conversation_has_one_user_at_a_time() {
    let fake = chat();
    let pool = pool(&fake, sized(0));
    let session = pool.take_for("s").unwrap();
    turn(&session);
    let error = pool.take_for_within("s", Some(Duration::from_millis(30)));
    let error = error.unwrap_err();
    assert!(
        matches!(&error, Error::Pool(PoolError::InUse { session_id, .. }) if session_id == "s")
    );
    let pid = session.pid();
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| pool.take_for("s").unwrap().pid());
        wait_for("the taker", || {
            (pool.stats().unwrap().waiting == 1).then_some(())
        });
        pool.put_back(session).unwrap();
        assert_eq!(taker.join().unwrap(), pid);
    });
}

#[test]
fn an_unused_session_is_warm_again() {
    let fake = Fake::new(json!([
        {"expect": {"type": "user"}, "timeout_ms": 60_000},
        {"expect": {"request": {"subtype": "interrupt"}}},
        {"answer": {}},
        {"emit": result()}
    ]));
    let pool = filled(&fake, sized(1));
    let session = pool.take().unwrap();
    let pid = session.pid();
    pool.put_back(session).unwrap();
    let session = pool.take().unwrap();
    assert_eq!(session.pid(), pid);
    // In the middle of a turn it cannot be kept; it is not lost by that.
    session.send("hi").unwrap();
    let failed = pool.put_back(session).unwrap_err();
    assert!(matches!(failed.error, Error::Pool(PoolError::NotParked(_))));
    failed.session.interrupt().unwrap();
    message(&failed.session, "result");
    let elsewhere = self::pool(&fake, sized(0));
    let failed = elsewhere.put_back(failed.session).unwrap_err();
    assert!(failed.to_string().contains("another pool"));
    pool.discard(failed.session).unwrap();
    drive(&pool, "its end", || !is_alive(pid.unwrap().into()));
}

#[test]
fn a_start_that_fails_is_told_and_not_repeated_at_once() {
    let fake = Fake::new(json!([
        {"expect": {"request": {"subtype": "initialize"}}},
        {"stderr": "no such luck\n"},
        {"exit": 3}
    ]));
    let pool = pool(&fake, sized(1));
    drive(&pool, "a failure", || pool.stats().unwrap().failures > 0);
    assert!(pool
        .last_failure()
        .unwrap()
        .unwrap()
        .contains("no such luck"));
    let before = Instant::now();
    let error = pool.take().unwrap_err();
    assert!(matches!(&error, Error::ExitedBeforeInitialize(failure)
        if failure.stderr.contains("no such luck") && failure.exit.is_some()));
    let until = before + Duration::from_millis(1_000);
    while Instant::now() < until {
        pool.poll(Some(until.saturating_duration_since(Instant::now())))
            .unwrap();
    }
    let stats = pool.stats().unwrap();
    assert!(stats.started <= 5, "{stats:?}");
    assert_eq!(stats.warm + stats.starting + stats.closing, 0, "{stats:?}");

    let missing = Fake::new(json!([])).set("cliPath", "/no/such/claude");
    let pool = self::pool(&missing, sized(1));
    assert!(matches!(pool.take(), Err(Error::Start(_))));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let fake = chat();
    let error = |limits| Pool::new(fake.options(), limits).unwrap_err().to_string();
    assert!(error(bounded(3, 2)).contains("maxSessions (2)"));
    assert!(error(bounded(0, 0)).contains("maxSessions"));
    for (option, value) in [("resume", json!("s")), ("continue", json!(true))] {
        let pool = pool(&chat().set(option, value), sized(0));
        let error = pool.take().unwrap_err();
        assert!(matches!(error, Error::Pool(PoolError::OneSession(name)) if name == option));
    }
    let fake = chat();
    let file = fake.path("all.jsonl");
    let recorded = pool(&chat().set("record", file.to_str()), sized(0));
    let error = recorded.take().unwrap_err();
    assert!(
        matches!(error, Error::Pool(PoolError::OneFile("record"))),
        "{error}"
    );
    assert!(!file.exists());
    for limits in ["[]", "[3]", "\"\"", "null"] {
        assert!(PoolOptions::from_json(limits).is_err(), "{limits}");
    }
    let read =
        PoolOptions::from_json(r#"{"size":3,"maxSessions":4,"idleTimeoutMs":null}"#).unwrap();
    assert_eq!(
        (read.size, read.max_sessions, read.idle_timeout_ms),
        (3, Some(4), None)
    );
    let error = PoolOptions::from_json(r#"{"sise":3}"#).unwrap_err();
    assert!(error.to_string().contains("sise"), "{error}");
}

#[test]
fn refusals_name_options_as_their_users_do() {
    use towline::pool::Policy;
    use towline::protocol::launch::Dialect;
    let refused = |key: &str, value: &str| {
        let mut options = towline::Options::default();
        options.set(key, value).unwrap();
        Policy::check_sessions(&options)
    };
    for key in Policy::SESSION_OPTIONS {
        let value = if key == "continue" {
            "true"
        } else {
            "\"/nowhere\""
        };
        let error = refused(key, value).unwrap_err();
        let text = format!("option {} ", Dialect::Python.option_name(key));
        assert!(error.text(Dialect::Python).starts_with(&text), "{error}");
        assert!(error.to_string().starts_with(&format!("option {key} ")));
    }
    assert_eq!(
        Dialect::Python.option_name("continue"),
        "continue_conversation"
    );
    for (key, value) in [
        ("resume", "\"\""),
        ("continue", "false"),
        ("record", "\"/\""),
    ] {
        refused(key, value).unwrap();
    }
}

/// Waits on the descriptor of a loop of the host's own, and polls.
fn turn_of_the_loop(pool: &Pool) {
    let limit = pool.next_timeout().unwrap().unwrap_or(LONG);
    let ms = limit.as_nanos().div_ceil(1_000_000) as libc::c_int;
    wait_on(pool, ms);
    pool.poll(Some(Duration::ZERO)).unwrap();
}

fn wait_on(pool: &Pool, ms: libc::c_int) -> bool {
    let mut entry = libc::pollfd {
        fd: pool.fd().unwrap().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry.
    unsafe { libc::poll(&mut entry, 1, ms) > 0 }
}

fn fetch(pool: &Pool, ticket: &mut PoolTicket) -> Result<PooledSession, Error> {
    let until = Instant::now() + LONG;
    loop {
        if let Some(session) = ticket.try_take()? {
            return Ok(session);
        }
        assert!(Instant::now() < until, "{pool:?}");
        turn_of_the_loop(pool);
    }
}

#[test]
fn a_loop_waits_for_a_full_pool_without_blocking() {
    let fake = chat();
    let pool = pool(&fake, bounded(0, 1));
    let mut first = pool.begin_take(None, None).unwrap();
    assert!(first.try_take().unwrap().is_none());
    let session = fetch(&pool, &mut first).unwrap();
    assert!(matches!(
        first.try_take(),
        Err(Error::Pool(PoolError::TicketUsed))
    ));
    let pid = session.pid();
    turn(&session);
    let mut next = pool.begin_take(Some("s"), None).unwrap();
    let unwanted = pool.begin_take(None, None).unwrap();
    assert_eq!(pool.stats().unwrap().waiting, 2);
    drop(unwanted);
    assert_eq!(pool.stats().unwrap().waiting, 1);
    let mut short = pool
        .begin_take(None, Some(Duration::from_millis(20)))
        .unwrap();
    let error = fetch(&pool, &mut short).unwrap_err();
    assert!(
        matches!(error, Error::Pool(PoolError::Full { .. })),
        "{error}"
    );
    assert!(next.try_take().unwrap().is_none());
    session.put_back().unwrap();
    let session = fetch(&pool, &mut next).unwrap();
    assert_eq!(session.pid(), pid);
    turn(&session);
    drop(session);
    let mut last = pool.begin_take(None, None).unwrap();
    pool.begin_close().unwrap();
    let error = fetch(&pool, &mut last).unwrap_err();
    assert!(matches!(error, Error::Pool(PoolError::Closed)), "{error}");
    let mut orphan = pool.begin_take(None, None).unwrap();
    drop(pool);
    assert!(matches!(
        orphan.try_take(),
        Err(Error::Pool(PoolError::Closed))
    ));
}

/// Another thread drives: what it serves stays visible until it is fetched.
#[test]
fn the_descriptor_tells_of_a_session_that_is_there() {
    let fake = chat();
    let pool = filled(&fake, bounded(1, 2));
    let mut ticket = pool.begin_take(None, None).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let other = pool.take().unwrap();
            turn(&other);
            pool.put_back(other).unwrap();
        });
    });
    for _ in 0..3 {
        assert!(wait_on(&pool, 0));
        pool.poll(None).unwrap();
    }
    let session = ticket.try_take().unwrap().unwrap();
    let pid = session.pid();
    drop(session);
    // One that nobody fetches goes back.
    drive(&pool, "another one", || pool.stats().unwrap().warm == 1);
    let ticket = pool.begin_take(None, None).unwrap();
    drive(&pool, "its session", || {
        pool.stats().unwrap().handed_out == 1
    });
    drop(ticket);
    let stats = pool.stats().unwrap();
    assert_eq!((stats.warm, stats.handed_out), (1, 0), "{stats:?}");
    let session = pool.take().unwrap();
    assert_ne!(session.pid(), pid);
    turn(&session);
}

/// A poll that returns because of one ticket does the work for the others all the same.
#[test]
fn a_session_that_waits_to_be_fetched_holds_up_nobody() {
    let fake = chat();
    let pool = pool(&fake, bounded(0, 2));
    let mut first = pool.begin_take(None, None).unwrap();
    let served = || pool.stats().unwrap().handed_out;
    drive(&pool, "the first one", || served() == 1);
    let mut second = pool.begin_take(None, None).unwrap();
    let until = Instant::now() + LONG;
    let other = loop {
        if let Some(session) = second.try_take().unwrap() {
            break session;
        }
        assert!(Instant::now() < until, "{pool:?}");
        pool.poll(Some(Duration::from_millis(100))).unwrap();
    };
    turn(&other);
    turn(&first.try_take().unwrap().unwrap());
}

/// Handlers belong to the session and are the builder's; they run while nobody has it.
#[test]
fn handlers_are_served_while_a_session_is_warm() {
    let called = Arc::new(AtomicUsize::new(0));
    let fake = Fake::new(json!([{"emit": hook("h", "hook_0")}, answered("h")]));
    let options = fake.options();
    let count = called.clone();
    let builder = move || {
        let count = count.clone();
        Session::builder(options.clone()).on_hook("SessionStart", None, move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Reply::Json("{}".into())
        })
    };
    let pool = Pool::with(builder, sized(1)).unwrap();
    drive(&pool, "the hook", || called.load(Ordering::Relaxed) == 1);
    answer_to(&fake, "h");
    fake.check();
}

/// A handler runs inside the very call that it would wait for.
#[test]
fn a_handler_cannot_wait_for_its_pool() {
    type Shared = Arc<std::sync::OnceLock<Pool>>;
    let shared: Shared = Shared::default();
    let (told, heard) = std::sync::mpsc::channel();
    let fake = Fake::new(json!([{"emit": hook("h", "hook_0")}, answered("h")]));
    let options = fake.options();
    let inner = shared.clone();
    let builder = move || {
        let (inner, told) = (inner.clone(), told.clone());
        Session::builder(options.clone()).on_hook("SessionStart", None, move |_| {
            if let Some(pool) = inner.get() {
                pool.stats().unwrap();
                told.send(pool.take().map(drop)).unwrap();
                told.send(pool.poll(None)).unwrap();
            }
            Reply::Json("{}".into())
        })
    };
    let pool = shared.get_or_init(|| Pool::with(builder, sized(1)).unwrap());
    drive(pool, "the handler", || {
        heard.try_recv().is_ok_and(|outcome| {
            assert!(matches!(outcome, Err(Error::Reentrant)), "{outcome:?}");
            assert!(matches!(heard.recv(), Ok(Err(Error::Reentrant))));
            true
        })
    });
    pool.close().unwrap();
}

/// In a loop of the host's own: nothing but the descriptor and the time limit says when to poll.
#[test]
fn the_descriptor_tells_when_to_poll() {
    let fake = chat();
    let limits = PoolOptions {
        idle_timeout_ms: Some(300),
        ..sized(2)
    };
    let pool = pool(&fake, limits);
    let fd = pool.fd().unwrap().as_raw_fd();
    let (until, mut polls) = (Instant::now() + LONG, 0);
    while pool.stats().unwrap().idle < 2 || pool.stats().unwrap().warm < 2 {
        assert!(Instant::now() < until, "{pool:?}");
        let limit = pool.next_timeout().unwrap().unwrap_or(LONG);
        let mut entry = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let ms = limit.as_nanos().div_ceil(1_000_000) as libc::c_int;
        // SAFETY: one valid entry.
        unsafe { libc::poll(&mut entry, 1, ms) };
        pool.poll(Some(Duration::ZERO)).unwrap();
        polls += 1;
    }
    assert!(polls < 500, "{polls} polls: it spins");
    pool.close().unwrap();
}

#[test]
fn closing_ends_all_at_once_and_in_time() {
    let fake =
        Fake::new(json!([{"ignore_signals": ["SIGTERM"]}, {"on_eof": "ignore"}])).graces(300);
    let pool = filled(&fake, sized(4));
    let taken = pool.take().unwrap();
    drive(&pool, "four more", || pool.stats().unwrap().warm == 4);
    let pids: Vec<u64> = starts_pids(&fake);
    let before = Instant::now();
    pool.close().unwrap();
    let took = before.elapsed();
    assert!(took >= Duration::from_millis(600), "{took:?}");
    // One after the other they would take 2.4 s.
    assert!(took < Duration::from_millis(1_800), "{took:?}");
    let own = pid_of(&taken);
    for pid in pids {
        assert_eq!(is_alive(pid), pid == own);
    }
    assert!(matches!(pool.take(), Err(Error::Pool(PoolError::Closed))));
    assert!(matches!(
        pool.fill(None),
        Err(Error::Pool(PoolError::Closed))
    ));
    pool.close().unwrap();
    drop(taken);
}

fn starts_pids(fake: &Fake) -> Vec<u64> {
    let log = fake.log();
    let starts = log.iter().filter(|line| line["ev"] == "start");
    starts.map(|line| line["pid"].as_u64().unwrap()).collect()
}

#[test]
fn dropping_leaves_no_process() {
    in_child("pool::dropping_leaves_no_process", || {
        let fake =
            Fake::new(json!([{"ignore_signals": ["SIGTERM"]}, {"on_eof": "ignore"}])).graces(400);
        let pool = filled(&fake, sized(3));
        let before = Instant::now();
        drop(pool);
        assert!(before.elapsed() < Duration::from_millis(1_600));
        assert!(starts_pids(&fake).iter().all(|pid| !is_alive(*pid)));
        wait_for("no zombies", || children().is_empty().then_some(()));
    });
}

#[test]
fn who_waits_when_it_is_closed_is_told() {
    let fake = chat();
    let pool = pool(&fake, bounded(0, 1));
    let session = pool.take().unwrap();
    std::thread::scope(|scope| {
        let taker = scope.spawn(|| pool.take());
        wait_for("the taker", || {
            (pool.stats().unwrap().waiting == 1).then_some(())
        });
        pool.close().unwrap();
        let error = taker.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Pool(PoolError::Closed)), "{error:?}");
    });
    turn(&session);
}

#[test]
fn a_killed_host_leaves_nothing_of_a_pool() {
    const NAME: &str = "pool::a_killed_host_leaves_nothing_of_a_pool";
    if is_child(NAME) {
        let fake = Fake::new(json!([{"ignore_signals": ["SIGTERM"]}, {"on_eof": "ignore"}]));
        let pool = filled(&fake, sized(2));
        let session = pool.take().unwrap();
        assert!(pool.fill(Some(LONG)).unwrap());
        let pids: Vec<String> = starts_pids(&fake).iter().map(u64::to_string).collect();
        println!("\nPIDS {}", pids.join(" "));
        loop {
            std::thread::park();
            assert!(session.pid().is_some());
        }
    }
    let mut host = child_command(NAME).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(host.stdout.take().unwrap());
    let mut lines = output.lines().map(Result::unwrap);
    let pids = lines.find_map(|line| line.strip_prefix("PIDS ").map(String::from));
    let pids: Vec<u64> = pids
        .unwrap()
        .split(' ')
        .map(|p| p.parse().unwrap())
        .collect();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    host.kill().unwrap();
    host.wait().unwrap();
    wait_for("the end of all CLIs", || {
        pids.iter().all(|pid| !is_alive(*pid)).then_some(())
    });
}

#[test]
fn taking_and_giving_back_leaves_nothing() {
    in_child("pool::taking_and_giving_back_leaves_nothing", || {
        let fake = chat();
        let pool = filled(&fake, bounded(1, 3));
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let cycle = |n: usize| {
            let session = match n % 3 {
                0 => pool.take().unwrap(),
                _ => pool.take_for("s").unwrap(),
            };
            turn(&session);
            match n % 10 {
                9 => drop(session),
                _ => pool.put_back(session).unwrap(),
            }
        };
        (0..20).for_each(cycle);
        assert!(pool.fill(Some(LONG)).unwrap());
        let settle = || {
            drive(&pool, "rest", || {
                let stats = pool.stats().unwrap();
                stats.starting + stats.closing == 0
            });
        };
        settle();
        let (descriptors, tasks) = (open_descriptors(), threads());
        let held = |stats: towline::PoolStats| stats.warm + stats.parked;
        let before = held(pool.stats().unwrap());
        (0..200).for_each(cycle);
        settle();
        let now = pool.stats().unwrap();
        // A session has a few descriptors.
        let more = held(now).saturating_sub(before) * 10;
        assert!(open_descriptors() <= descriptors + more, "{now:?}");
        assert_eq!(threads(), tasks);
        assert!(held(now) <= 3 && children().len() <= 3 + 4, "{now:?}");
        drop(pool);
        let pids: BTreeSet<u64> = starts_pids(&fake).into_iter().collect();
        assert!(pids.iter().all(|pid| !is_alive(*pid)));
    });
}

#[test]
fn a_forked_child_has_no_pool() {
    in_child("pool::a_forked_child_has_no_pool", || {
        let fake = chat();
        let pool = std::mem::ManuallyDrop::new(filled(&fake, sized(1)));
        let taken = std::mem::ManuallyDrop::new(pool.take().unwrap());
        crate::fork::in_fork(|| {
            use crate::fork::forked;
            forked("take", pool.take())?;
            forked("take_for", pool.take_for("s"))?;
            forked("begin_take", pool.begin_take(None, None))?;
            forked("poll", pool.poll(None))?;
            forked("fill", pool.fill(None))?;
            forked("fd", pool.fd())?;
            forked("next_timeout", pool.next_timeout())?;
            forked("stats", pool.stats())?;
            forked("wake", pool.wake())?;
            forked("close", pool.close())?;
            // SAFETY: this process ends without using either again.
            unsafe {
                drop(std::ptr::read(&*taken));
                drop(std::ptr::read(&*pool));
            }
            Ok(())
        });
        let pool = std::mem::ManuallyDrop::into_inner(pool);
        let taken = std::mem::ManuallyDrop::into_inner(taken);
        turn(&taken);
        pool.put_back(taken).unwrap();
        let again = pool.take_for("s").unwrap();
        assert!(again.stats().startup.first_message.is_some());
        drop(again);
        drop(pool);
    });
}
