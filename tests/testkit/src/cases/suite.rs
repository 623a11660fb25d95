//! All cases, some at once, and what came of it.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use super::{moments, Case, Host, Neighbour, Verdict};

/// Cases that a host does not run, and why.
#[derive(Clone, Copy, Debug)]
pub struct Excluded<'a> {
    /// Their ids.
    pub ids: &'a [&'a str],
    /// Why.
    pub reason: &'a str,
}

/// The cases of a folder.
#[derive(Debug)]
pub struct Suite {
    cases: Vec<Case>,
    excluded: Vec<(Case, String)>,
}

impl Suite {
    /// Reads every case of a folder, in the order of their ids.
    ///
    /// # Errors
    /// A text that names the folder or the file.
    pub fn load(folder: &Path) -> Result<Suite, String> {
        let named = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut cases = Vec::new();
        for entry in folder.read_dir().map_err(named)? {
            let path = entry.map_err(named)?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                cases.push(Case::load(&path)?);
            }
        }
        cases.sort_by(|a, b| a.id.cmp(&b.id));
        if cases.is_empty() {
            return Err(format!("{} holds no case", folder.display()));
        }
        Ok(Suite {
            cases,
            excluded: Vec::new(),
        })
    }

    /// Cases that are made: everything that a CLI can send, at every moment of a session.
    /// `every_type` says that the host gets messages of every type, not those alone that the official
    /// packages give.
    ///
    /// # Errors
    /// A text, when one of them is malformed.
    pub fn moments(every_type: bool) -> Result<Suite, String> {
        Ok(Suite {
            cases: moments::moments(every_type)?,
            excluded: Vec::new(),
        })
    }

    /// Keeps every `of`th case, from the one at place `first` on.
    pub fn slice(&mut self, first: usize, of: usize) {
        let mut place = 0;
        self.cases.retain(|_| {
            place += 1;
            (place - 1) % of.max(1) == first
        });
    }

    /// Leaves cases out.
    ///
    /// # Errors
    /// A text, when there is no such case.
    pub fn exclude(&mut self, excluded: Excluded<'_>) -> Result<(), String> {
        for id in excluded.ids {
            let Some(place) = self.cases.iter().position(|case| case.id == *id) else {
                return Err(format!("{id} is excluded, but there is no such case"));
            };
            let case = self.cases.remove(place);
            self.excluded.push((case, excluded.reason.into()));
        }
        Ok(())
    }

    /// Keeps the cases whose id, kind or title contains one of the words; all without words.
    pub fn pick(&mut self, words: &[String]) {
        let picked = |case: &Case| {
            words.is_empty()
                || words.iter().any(|word| {
                    [&case.id, &case.kind, &case.title]
                        .iter()
                        .any(|text| text.contains(word.as_str()))
                })
        };
        self.cases.retain(picked);
    }

    /// Keeps these cases only.
    pub fn keep(&mut self, kept: impl Fn(&Case) -> bool) {
        self.cases.retain(&kept);
        self.excluded.retain(|(case, _)| kept(case));
    }

    /// Puts the neighbours of the cases in their place; those that have none of that kind go.
    pub fn neighbours(&mut self, neighbour: Neighbour) {
        let neighbours = self
            .cases
            .iter()
            .filter_map(|case| case.neighbour(neighbour));
        self.cases = neighbours.collect();
    }

    /// The cases that would run.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Runs the cases, `jobs` at once, and tells `each` of every one as it ends.
    pub fn run(
        self,
        host: &Host,
        jobs: usize,
        each: impl Fn(&Case, &Result<Verdict, String>) + Sync,
    ) -> Report {
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    while let Some(case) = self.cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let verdict = case.run(host);
                        each(case, &verdict);
                        if !verdict.is_ok_and(|verdict| verdict.passed()) {
                            let mut failed = failed.lock().unwrap_or_else(|e| e.into_inner());
                            failed.push(case.id.clone());
                        }
                    }
                });
            }
        });
        let mut failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
        failed.sort();
        Report {
            ran: self.cases.len(),
            failed,
            excluded: self
                .excluded
                .into_iter()
                .map(|(case, reason)| (case.id, reason))
                .collect(),
        }
    }
}

/// How a case went, for people: a line, and what is wrong below it. `how` is the way that it ran,
/// or empty.
pub fn told(case: &Case, how: &str, verdict: &Result<Verdict, String>) -> String {
    let (id, title) = (&case.id, &case.title);
    let named = match how {
        "" => format!("{id} {title}"),
        how => format!("{id} ({how}) {title}"),
    };
    match verdict {
        Ok(verdict) if verdict.passed() => {
            let should = match verdict.should.as_slice() {
                [] => String::new(),
                should => format!("  (should: {})", should.join("; ")),
            };
            let seconds = verdict.duration.as_secs_f32();
            format!("ok   {named}  {seconds:.1} s{should}")
        }
        Ok(verdict) => {
            let (steps, output) = (&verdict.steps, &verdict.output);
            let findings = verdict.must.join("\n       - ");
            format!("FAIL {named}\n       - {findings}\n{steps}\n{output}")
        }
        Err(problem) => format!("FAIL {named}\n       - {problem}"),
    }
}

/// What came of a suite; its text is the closing line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// How many cases ran.
    pub ran: usize,
    /// The ids of those that failed.
    pub failed: Vec<String>,
    /// The ids of those that did not run, each with the reason.
    pub excluded: Vec<(String, String)>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.ran - self.failed.len();
        write!(
            f,
            "{} cases ran: {passed} passed, {} failed",
            self.ran,
            self.failed.len()
        )?;
        if !self.failed.is_empty() {
            write!(f, " ({})", self.failed.join(" "))?;
        }
        let mut rest = self.excluded.as_slice();
        while let Some((_, reason)) = rest.first() {
            let same = rest.iter().take_while(|(_, other)| other == reason).count();
            let (group, after) = rest.split_at(same);
            let ids: Vec<&str> = group.iter().map(|(id, _)| id.as_str()).collect();
            write!(f, "; {same} excluded ({}): {reason}", ids.join(" "))?;
            rest = after;
        }
        Ok(())
    }
}
