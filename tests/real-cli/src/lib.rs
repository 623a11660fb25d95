//! What the tests of the real CLI share: a [`Stage`] to run it on, and a [`Host`] that holds one
//! session and checks what every session must keep to.
//!
//! Every wait has a bound, and its failure shows what the session said until then.

mod host;
pub mod processes;
mod stage;

pub use host::{is_result, prompt_tool, Ending, Host, Seen, Turn};
pub use stage::Stage;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long anything may take; it is only reached by a test that fails.
pub const LIMIT: Duration = Duration::from_secs(30);

/// What handlers write down, in order; clones are the same list.
#[derive(Debug)]
pub struct Record<T>(Arc<Mutex<Vec<T>>>);

impl<T> Record<T> {
    /// An empty one.
    pub fn new() -> Record<T> {
        Record(Arc::default())
    }

    /// Adds an entry.
    pub fn push(&self, entry: T) {
        self.list().push(entry);
    }

    /// Takes all entries out.
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.list())
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Record<T> {
    fn default() -> Record<T> {
        Record::new()
    }
}

impl<T> Clone for Record<T> {
    fn clone(&self) -> Record<T> {
        Record(self.0.clone())
    }
}

/// Makes of each function a test on the current CLI and one on the older.
#[macro_export]
macro_rules! on_both_versions {
    ($($name:ident),* $(,)?) => {
        mod current {
            $(#[test]
            fn $name() {
                super::$name(&towline_real_cli::Stage::new(towline_testkit::Version::Current));
            })*
        }
        mod older {
            $(#[test]
            fn $name() {
                super::$name(&towline_real_cli::Stage::new(towline_testkit::Version::Older));
            })*
        }
    };
}

/// Makes of each function a test on the current CLI, for what the older one cannot do.
#[macro_export]
macro_rules! on_the_current_version {
    ($($name:ident),* $(,)?) => {
        mod current_only {
            $(#[test]
            fn $name() {
                super::$name(&towline_real_cli::Stage::new(towline_testkit::Version::Current));
            })*
        }
    };
}
