//! Everything that goes wrong with a CLI, at every moment of a session: one table, played whole, with
//! sessions of this system and portable ones. `docs/faults.md` is the table.

mod condition;
mod expected;
mod fault;
mod host;
mod moment;
mod page;
mod resources;
#[allow(dead_code, reason = "this program starts sessions in both ways")]
#[path = "../session/support.rs"]
mod support;

use std::sync::Mutex;

use condition::Condition;
use fault::{Fault, FAULTS};
use host::Cell;
use moment::{Moment, MOMENTS};
use support::*;

/// What the shared helpers start where it makes no difference.
const PORTABLE: bool = false;

/// A test in a process of its own for each way and condition of the host.
macro_rules! tables {
    ($($name:ident: $condition:ident $portable:literal,)*) => {$(
        #[test]
        fn $name() {
            in_child(stringify!($name), || {
                let condition = Condition::$condition;
                condition.with(|| {
                    play(|fault, moment| {
                        let portable = $portable;
                        Cell { fault, moment, condition, portable }.check()
                    });
                });
            });
        }
    )*};
}

tables! {
    every_fault_at_every_moment: Plain false,
    every_fault_at_every_moment_portable: Plain true,
    in_a_host_that_blocks_signals: BlocksSignals false,
    in_a_host_that_ignores_sigchld: IgnoresSigchld false,
    in_a_host_that_ignores_sigchld_portable: IgnoresSigchld true,
    in_a_host_that_reaps_everything: ReapsEverything false,
    in_a_host_that_reaps_everything_portable: ReapsEverything true,
    in_a_host_that_has_forked: HasForked false,
    in_a_host_that_records_to_a_full_disk: RecordsToFullDisk false,
    in_a_host_that_stores_to_a_full_disk: StoresToFullDisk false,
}

/// The host ends the session at each moment, whatever the CLI is about to do.
fn end_at_every_moment(name: &str, drops: bool, portable: bool) {
    in_child(name, || {
        play(|fault, moment| {
            let condition = Condition::Plain;
            let cell = Cell {
                fault,
                moment,
                condition,
                portable,
            };
            cell.check_end(drops)
        });
    });
}

#[test]
fn a_close_at_every_moment() {
    end_at_every_moment("a_close_at_every_moment", false, false);
}

#[test]
fn a_close_at_every_moment_portable() {
    end_at_every_moment("a_close_at_every_moment_portable", false, true);
}

#[test]
fn a_drop_at_every_moment() {
    end_at_every_moment("a_drop_at_every_moment", true, false);
}

#[test]
fn a_drop_at_every_moment_portable() {
    end_at_every_moment("a_drop_at_every_moment_portable", true, true);
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

/// How many rows are played at once.
const ROWS: usize = 4;

/// Plays the table, the cells of some rows at once, and counts after them what is left.
fn play(check: impl Fn(Fault, Moment) -> Result<(), String> + Sync) {
    let mut wrong = Vec::new();
    for faults in FAULTS.chunks(ROWS) {
        let before = (threads(), open_descriptors());
        let found = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (fault, moment) in faults
                .iter()
                .flat_map(|fault| MOMENTS.map(|moment| (*fault, moment)))
            {
                let (check, found) = (&check, &found);
                scope.spawn(move || {
                    if let Err(text) = check(fault, moment) {
                        found.lock().unwrap().push(text);
                    }
                });
            }
        });
        wrong.append(&mut found.into_inner().unwrap());
        // Threads of a portable session end a moment after what they waited for.
        wait_for(&format!("the end of what {faults:?} have left"), || {
            let left = (threads(), open_descriptors());
            (left == before && children().is_empty()).then_some(())
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
