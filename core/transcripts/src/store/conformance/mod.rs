//! What every session store has to do, as a suite that any store can be put to.
//!
//! [`check`] is for a blocking [`SessionStore`]. A store that is driven otherwise (Python, Node, C)
//! takes the same [`contracts`] one by one: each is a [`StoreTask`] over a fresh, empty store.

mod concurrent;
mod contracts;

use std::future::Future;
use std::pin::Pin;

use super::{run, Calls, Capabilities, SessionStore, StoreTask, TaskError};

type Work = Pin<Box<dyn Future<Output = Result<(), TaskError>> + Send>>;

/// One thing that a store has to do.
#[derive(Clone, Copy)]
pub struct Contract {
    name: &'static str,
    strict: bool,
    applies: fn(Capabilities) -> bool,
    work: fn(Calls) -> Work,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name)
    }
}

impl Contract {
    /// What is demanded, in a few words.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether only Towline's own stores have to do it, not every store of a host.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// The trial, over a store that is empty and that nobody else uses. It fails with
    /// [`TaskError::Contract`] when the store does not do what is demanded.
    pub fn task(&self, capabilities: Capabilities) -> StoreTask<()> {
        StoreTask::new(capabilities, self.work)
    }
}

/// The contracts that a store with these calls has to keep. With `strict` also those beyond what
/// the official suites ask: repeated entries are recognised, texts come back byte for byte.
pub fn contracts(capabilities: Capabilities, strict: bool) -> Vec<Contract> {
    let all = contracts::ALL.iter();
    all.filter(|contract| (strict || !contract.strict) && (contract.applies)(capabilities))
        .copied()
        .collect()
}

/// A contract that a store broke.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{contract}: {error}")]
pub struct Broken {
    /// Which one.
    pub contract: &'static str,
    /// How.
    pub error: TaskError,
}

/// Puts a store to all contracts that its capabilities call for, to those of the official suites
/// and more, and to appends from several threads. `make` gives a fresh, empty store each time.
pub fn check(make: &dyn Fn() -> Box<dyn SessionStore>) -> Result<(), Broken> {
    check_some(make, false)
}

/// As [`check`], and to the strict contracts too.
pub fn check_strict(make: &dyn Fn() -> Box<dyn SessionStore>) -> Result<(), Broken> {
    check_some(make, true)
}

fn check_some(make: &dyn Fn() -> Box<dyn SessionStore>, strict: bool) -> Result<(), Broken> {
    let capabilities = make().capabilities();
    for contract in contracts(capabilities, strict) {
        let store = make();
        run(contract.task(capabilities), &*store).map_err(|error| Broken {
            contract: contract.name,
            error,
        })?;
    }
    concurrent::appends(make().into(), strict)
}
