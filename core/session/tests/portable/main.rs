//! The same tests with sessions that use nothing but the standard library; what is about process groups,
//! watchdogs and signals apart.

#[path = "../session/closing.rs"]
mod closing;
#[path = "../session/deadlines.rs"]
mod deadlines;
#[path = "../session/event_loop.rs"]
mod event_loop;
#[path = "../session/flood.rs"]
mod flood;
#[path = "../session/handlers.rs"]
mod handlers;
mod last_words;
mod leaks;
#[path = "../session/one_shot.rs"]
mod one_shot;
#[path = "../session/polling.rs"]
mod polling;
#[path = "../session/sizes.rs"]
mod sizes;
#[path = "../session/start.rs"]
mod start;
#[path = "../session/stderr.rs"]
mod stderr;
#[path = "../session/stdin.rs"]
mod stdin;
#[path = "../session/stdout.rs"]
mod stdout;
#[path = "../session/stores.rs"]
mod stores;
#[allow(dead_code, reason = "some of it is for tests of processes alone")]
#[path = "../session/support.rs"]
mod support;
#[path = "../session/threads.rs"]
mod threads;
#[path = "../session/tools.rs"]
mod tools;

/// Sessions start their CLI in a portable way.
const PORTABLE: bool = true;
