//! Everything that goes wrong with a CLI, at every moment of a session: one table, played whole, with
//! sessions of this system and portable ones. `docs/faults.md` is the table.

mod expected;
mod fault;
mod host;
mod moment;
mod page;
#[allow(dead_code, reason = "this program starts sessions in both ways")]
#[path = "../session/support.rs"]
mod support;

use std::sync::Mutex;

use expected::{expected, Process};
use fault::FAULTS;
use host::Cell;
use moment::MOMENTS;
use support::*;

/// What the shared helpers start where it makes no difference.
const PORTABLE: bool = false;

#[test]
fn every_fault_at_every_moment() {
    in_child("every_fault_at_every_moment", || play(false));
}

#[test]
fn every_fault_at_every_moment_portable() {
    in_child("every_fault_at_every_moment_portable", || play(true));
}

#[test]
fn the_page_is_current() {
    let page = page::page();
    if std::env::var_os(page::WRITE).is_some() {
        std::fs::write(page::path(), &page).unwrap();
    }
    let stands = std::fs::read_to_string(page::path()).unwrap_or_default();
    assert!(
        stands == page,
        "docs/faults.md is not what these tests hold; run them with {}=1 and look at the difference",
        page::WRITE
    );
}

/// Threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Plays the table row by row, the moments of a row at once, and counts after each what is left.
fn play(portable: bool) {
    let only = std::env::var("TOWLINE_FAULT").ok();
    let mut wrong = Vec::new();
    for fault in FAULTS {
        if only
            .as_ref()
            .is_some_and(|only| *only != format!("{fault:?}"))
        {
            continue;
        }
        let before = (threads(), open_descriptors());
        let found = Mutex::new(Vec::new());
        let begun = std::time::Instant::now();
        std::thread::scope(|scope| {
            for moment in MOMENTS {
                let found = &found;
                scope.spawn(move || {
                    let cell = Cell {
                        fault,
                        moment,
                        portable,
                    };
                    let mut expected = expected(fault, moment);
                    if portable && expected.process == Process::Terminated {
                        expected.process = Process::Killed;
                    }
                    if let Err(text) = cell.check(&expected) {
                        found.lock().unwrap().push(text);
                    }
                });
            }
        });
        println!("{fault:?}: {:?}", begun.elapsed());
        wrong.append(&mut found.into_inner().unwrap());
        // Threads of a portable session end a moment after what they waited for.
        wait_for(&format!("the end of what {fault:?} has left"), || {
            let left = (threads(), open_descriptors());
            (left == before && children().is_empty()).then_some(())
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
