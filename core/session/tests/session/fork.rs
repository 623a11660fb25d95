//! After fork().

use serde_json::json;
use towline::{Error, Event, Session};

use crate::support::*;

/// Runs `check` in a forked child and tells its verdict.
pub(crate) fn in_fork(check: impl FnOnce() -> Result<(), String>) {
    // SAFETY: the child runs code that takes no lock another thread could hold here, and ends by
    // _exit.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let verdict = check();
        if let Err(text) = &verdict {
            eprintln!("in the forked child: {text}");
        }
        // SAFETY: ends this process.
        unsafe { libc::_exit(i32::from(verdict.is_err())) };
    }
    let mut status = 0;
    // SAFETY: the pointer is valid, the child our own.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "{status}"
    );
}

pub(crate) fn forked<T: std::fmt::Debug>(
    what: &str,
    outcome: Result<T, Error>,
) -> Result<(), String> {
    match outcome {
        Err(Error::Forked { owner }) if owner == std::os::unix::process::parent_id() => Ok(()),
        other => Err(format!("{what}: {other:?}")),
    }
}

#[test]
fn every_call_of_the_child_says_so() {
    in_child("fork::every_call_of_the_child_says_so", || {
        let secret = json!({"remote": {"type": "http", "url": "http://localhost",
            "headers": {"Authorization": "secret"}}});
        let fake = Fake::new(json!([
            {"emit": permission("p")},
            answered("p"),
            {"expect": {"type": "user"}},
            {"emit": result()}
        ]))
        .set("mcpServers", secret);
        let session = fake.builder().permission_events().begin().unwrap();
        let handle = until(&session, |event| match event {
            Event::Request(handle) => Some(handle),
            _ => None,
        });
        let private: Vec<String> = fake.logged("start")["argv"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|argument| {
                argument
                    .as_str()?
                    .strip_prefix("--mcp-config=")
                    .map(String::from)
            })
            .filter(|path| path.starts_with('/'))
            .collect();
        let session = std::mem::ManuallyDrop::new(session);
        in_fork(|| {
            forked("poll", session.poll(None))?;
            forked("send", session.send("x"))?;
            forked("request", session.request("interrupt", ""))?;
            forked("request_wait", session.request_wait("interrupt", "", None))?;
            forked("connect", session.connect(None))?;
            forked("begin_close", session.begin_close())?;
            forked("close", session.close())?;
            forked("end_input", session.end_input())?;
            forked("settled", session.end_input_when_settled())?;
            forked("wake", session.wake())?;
            forked("fd", session.fd())?;
            forked("next_timeout", session.next_timeout())?;
            forked("respond", handle.allow())?;
            // As an interpreter does that tears everything down at its end.
            // SAFETY: this process ends without using either again.
            unsafe {
                drop(std::ptr::read(&handle));
                drop(std::ptr::read::<Session>(&*session));
            }
            Ok(())
        });
        // The parent's session has not noticed.
        for path in private {
            assert!(std::path::Path::new(&path).exists(), "{path} is gone");
        }
        let session = std::mem::ManuallyDrop::into_inner(session);
        handle.allow().unwrap();
        session.send("x").unwrap();
        message(&session, "result");
        session.close().unwrap();
        fake.check();
        assert_eq!(answer_to(&fake, "p")["response"]["behavior"], "allow");
    });
}

#[test]
fn a_child_starts_sessions_of_its_own() {
    in_child("fork::a_child_starts_sessions_of_its_own", || {
        let watchdog = towline::Watchdog::default();
        let fake = Fake::new(json!([]));
        let session = fake.builder().watchdog(&watchdog).begin().unwrap();
        session.connect(Some(LONG)).unwrap();
        in_fork(|| {
            let own = fake
                .builder()
                .watchdog(&watchdog)
                .begin()
                .map_err(|e| e.to_string())?;
            own.connect(Some(LONG)).map_err(|error| error.to_string())?;
            own.close().map_err(|error| error.to_string())
        });
        assert!(session.poll(Some(std::time::Duration::ZERO)).is_ok());
        session.close().unwrap();
    });
}

#[test]
fn a_stream_of_the_host_is_the_parents() {
    in_child("fork::a_stream_of_the_host_is_the_parents", || {
        let (end, transport) = towline::host_pipe();
        let session = Session::builder(towline::Options::new())
            .start_over(transport)
            .unwrap();
        session.send("x").unwrap();
        let session = std::mem::ManuallyDrop::new(session);
        let end = std::mem::ManuallyDrop::new(end);
        in_fork(|| {
            forked("feed", end.feed(b"{}\n"))?;
            forked("feed_stderr", end.feed_stderr(b"x"))?;
            forked("finish", end.finish(towline::TransportEnd::default()))?;
            forked("lose_input", end.lose_input())?;
            forked("on_change", end.on_change(|| ()))?;
            if end.take_outgoing().is_some() || end.is_closed() || end.input_ended() {
                return Err("the child sees the stream".into());
            }
            // SAFETY: this process ends without using either again.
            unsafe {
                drop(std::ptr::read::<Session>(&*session));
                drop(std::ptr::read::<towline::HostEnd>(&*end));
            }
            Ok(())
        });
        let session = std::mem::ManuallyDrop::into_inner(session);
        let end = std::mem::ManuallyDrop::into_inner(end);
        assert!(!end.is_closed());
        end.feed(format!("{}\n", assistant("still here")).as_bytes())
            .unwrap();
        message(&session, "assistant");
        end.finish(towline::TransportEnd::default()).unwrap();
        until_closed(&session);
    });
}
