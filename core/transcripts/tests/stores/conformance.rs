//! Every store keeps every contract, and the suite notices a store that does not.

use std::sync::Mutex;

use towline_transcripts::store::conformance::{check, check_strict, contracts};
use towline_transcripts::store::{
    open, run, Capabilities, DirectoryStore, Entry, MemoryStore, SessionKey, SessionStore,
    SqliteStore, StoreError, StoreListEntry,
};

#[test]
fn memory() {
    check_strict(&|| Box::new(MemoryStore::new())).unwrap();
    check_strict(&|| open("memory:").unwrap()).unwrap();
}

#[test]
fn directory() {
    let folder = tempfile::tempdir().unwrap();
    let count = Mutex::new(0);
    check_strict(&|| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let root = folder.path().join(count.to_string());
        Box::new(DirectoryStore::open(root).unwrap())
    })
    .unwrap();
}

#[test]
fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let count = Mutex::new(0);
    check_strict(&|| {
        let mut count = count.lock().unwrap();
        *count += 1;
        let path = folder.path().join(format!("{count}.db"));
        Box::new(SqliteStore::open(path).unwrap())
    })
    .unwrap();
    check_strict(&|| open("sqlite::memory:").unwrap()).unwrap();
}

/// A store as somebody might write it, with one mistake.
struct Flawed {
    right: MemoryStore,
    flaw: Flaw,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    /// None, and only the two calls that every store has.
    Minimal,
    ForgetsOrder,
    EmptyForUnknown,
    IgnoresSubpath,
    IgnoresProject,
    Seconds,
    ListsSubpaths,
    DeletesNothing,
    DeletesByPrefix,
    SubkeysOfAll,
    DropsText,
    LosesRaces,
}

impl SessionStore for Flawed {
    fn capabilities(&self) -> Capabilities {
        match self.flaw {
            Flaw::Minimal => Capabilities::default(),
            _ => Capabilities {
                list_session_summaries: false,
                ..Capabilities::ALL
            },
        }
    }

    fn append(&self, key: &SessionKey, entries: &[Entry]) -> Result<(), StoreError> {
        match self.flaw {
            Flaw::ForgetsOrder => {
                let mut reversed = entries.to_vec();
                reversed.reverse();
                self.right.append(key, &reversed)
            }
            Flaw::IgnoresSubpath => self.right.append(
                &SessionKey::main(&key.project_key, &key.session_id),
                entries,
            ),
            Flaw::DropsText => {
                let short = entries
                    .iter()
                    .filter(|entry| entry.as_str().len() < 1 << 20);
                self.right.append(key, &short.cloned().collect::<Vec<_>>())
            }
            Flaw::LosesRaces if key.session_id == "shared" => {
                // Read, change, write without a lock.
                let mut all = self.right.load(key)?.unwrap_or_default();
                std::thread::yield_now();
                all.extend(entries.iter().cloned());
                self.right.delete(key)?;
                self.right.append(key, &all)
            }
            Flaw::IgnoresProject => self.right.append(
                &SessionKey {
                    project_key: "p".into(),
                    ..key.clone()
                },
                entries,
            ),
            _ => self.right.append(key, entries),
        }
    }

    fn load(&self, key: &SessionKey) -> Result<Option<Vec<Entry>>, StoreError> {
        match self.flaw {
            Flaw::EmptyForUnknown => Ok(Some(self.right.load(key)?.unwrap_or_default())),
            Flaw::IgnoresSubpath => self
                .right
                .load(&SessionKey::main(&key.project_key, &key.session_id)),
            Flaw::IgnoresProject => self.right.load(&SessionKey {
                project_key: "p".into(),
                ..key.clone()
            }),
            _ => self.right.load(key),
        }
    }

    fn list_sessions(&self, project_key: &str) -> Result<Vec<StoreListEntry>, StoreError> {
        let mut listed = self.right.list_sessions(project_key)?;
        match self.flaw {
            Flaw::Seconds => listed.iter_mut().for_each(|entry| entry.mtime /= 1000),
            Flaw::ListsSubpaths => {
                for entry in listed.clone() {
                    for subpath in self.right.list_subkeys(project_key, &entry.session_id)? {
                        listed.push(StoreListEntry {
                            session_id: format!("{}/{subpath}", entry.session_id),
                            ..entry.clone()
                        });
                    }
                }
            }
            _ => {}
        }
        Ok(listed)
    }

    fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        match self.flaw {
            Flaw::DeletesNothing => Ok(()),
            Flaw::DeletesByPrefix => {
                for entry in self.right.list_sessions(&key.project_key)? {
                    if entry.session_id.starts_with(&key.session_id) {
                        let key = SessionKey::main(&key.project_key, entry.session_id);
                        self.right.delete(&key)?;
                    }
                }
                self.right.delete(key)
            }
            _ => self.right.delete(key),
        }
    }

    fn list_subkeys(&self, project_key: &str, session_id: &str) -> Result<Vec<String>, StoreError> {
        match self.flaw {
            Flaw::SubkeysOfAll => {
                let mut all = Vec::new();
                for entry in self.right.list_sessions(project_key)? {
                    all.extend(self.right.list_subkeys(project_key, &entry.session_id)?);
                }
                Ok(all)
            }
            _ => self.right.list_subkeys(project_key, session_id),
        }
    }
}

fn flawed(flaw: Flaw) -> impl Fn() -> Box<dyn SessionStore> {
    move || {
        Box::new(Flawed {
            right: MemoryStore::new(),
            flaw,
        })
    }
}

#[test]
fn a_store_with_the_required_calls_alone_passes() {
    check_strict(&flawed(Flaw::Minimal)).unwrap();
}

#[test]
fn each_flaw_is_found() {
    for (flaw, contract) in [
        (Flaw::ForgetsOrder, "load gives what was appended, in order"),
        (
            Flaw::EmptyForUnknown,
            "a transcript that was never written is null",
        ),
        (
            Flaw::IgnoresSubpath,
            "a transcript that was never written is null",
        ),
        (Flaw::IgnoresProject, "projects are apart"),
        (Flaw::Seconds, "projects are apart"),
        (Flaw::ListsSubpaths, "list_sessions leaves subpaths out"),
        (Flaw::DeletesNothing, "delete forgets a session"),
        (
            Flaw::DeletesByPrefix,
            "delete of a session takes its subpaths along",
        ),
        (
            Flaw::SubkeysOfAll,
            "delete of a session takes its subpaths along",
        ),
        (
            Flaw::DropsText,
            "a long entry and a long transcript are kept whole",
        ),
        (
            Flaw::LosesRaces,
            "appends from several threads to one session lose nothing",
        ),
    ] {
        let broken = check(&flawed(flaw)).expect_err(&format!("{flaw:?}"));
        assert_eq!(broken.contract, contract, "{flaw:?}: {broken}");
    }
}

#[test]
fn contracts_are_chosen_by_what_a_store_has() {
    let all = contracts(Capabilities::ALL, true);
    let official = contracts(Capabilities::ALL, false);
    let minimal = contracts(Capabilities::default(), false);
    assert!(all.len() > official.len() && official.len() > minimal.len());
    assert!(official.len() >= 14, "{official:?}");
    assert!(official.iter().all(|contract| !contract.is_strict()));
    // One at a time, as a host that drives its own store does it.
    for contract in &minimal {
        let store = MemoryStore::new();
        run(contract.task(Capabilities::default()), &store).unwrap();
    }
}
