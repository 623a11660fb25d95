//! Tool calls that ran side by side.
//!
//! The CLI writes a response as one line per content block; the lines share the API's message id
//! and are chained. A tool's result has its own call's line as parent, so that the results of a
//! response hang on different lines, and the walk over the parents meets only one of them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::chain::Index;
use crate::entry::{Entry, EntryKind};

/// The chain with the calls and results of its responses that it misses, each response's behind
/// its last line on the chain.
pub(crate) fn put_back(entries: &[Entry<'_>], index: &Index<'_>, chain: Vec<usize>) -> Vec<usize> {
    let mut seen = vec![false; entries.len()];
    for at in chain.iter().filter_map(|at| index.counting(*at)) {
        mark(&mut seen, at);
    }
    let missed = index.order.iter().any(|at| {
        !is_marked(&seen, *at) && entries.get(*at).is_some_and(|entry| entry.kind.is_turn())
    });
    if !missed {
        return chain;
    }
    let links = Links::of(entries, index);
    let answered: HashSet<Cow<'_, str>> = chain
        .iter()
        .filter_map(|at| entries.get(*at))
        .flat_map(Entry::answers)
        .collect();

    let mut last_line = HashMap::new();
    for at in &chain {
        if let Some(id) = message_id(entries, *at) {
            last_line.insert(id, *at);
        }
    }
    let mut inserts: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut done = HashSet::new();
    for at in &chain {
        let Some(id) = message_id(entries, *at) else {
            continue;
        };
        if !done.insert(id) {
            continue;
        }
        let missing = links.missing(entries, index, id, &seen, &answered);
        if missing.is_empty() {
            continue;
        }
        for at in &missing {
            mark(&mut seen, *at);
        }
        if let Some(anchor) = last_line.get(id) {
            inserts.insert(*anchor, missing);
        }
    }
    let mut whole = Vec::with_capacity(entries.len());
    for at in chain {
        whole.push(at);
        whole.extend(inserts.remove(&at).unwrap_or_default());
    }
    whole
}

fn is_marked(seen: &[bool], at: usize) -> bool {
    seen.get(at).copied().unwrap_or_default()
}

fn mark(seen: &mut [bool], at: usize) {
    if let Some(flag) = seen.get_mut(at) {
        *flag = true;
    }
}

fn message_id<'e>(entries: &'e [Entry<'_>], at: usize) -> Option<&'e str> {
    entries.get(at)?.message_id.as_deref()
}

/// Who belongs to whom in the whole file.
struct Links<'e> {
    /// The lines of each response.
    lines: HashMap<&'e str, Vec<usize>>,
    /// Which line made a call; `None` if lines of two responses claim it.
    caller: HashMap<Cow<'e, str>, Option<usize>>,
    /// The results that may belong to an assistant's line: its children, those that name it, and
    /// those that answer one of its calls.
    results: HashMap<usize, Vec<usize>>,
}

impl<'e> Links<'e> {
    fn of(entries: &'e [Entry<'_>], index: &Index<'_>) -> Self {
        let mut links = Links {
            lines: HashMap::new(),
            caller: HashMap::new(),
            results: HashMap::new(),
        };
        let mut results = Vec::new();
        for (at, entry) in index
            .order
            .iter()
            .filter_map(|at| Some((*at, entries.get(*at)?)))
        {
            if let Some(id) = entry.message_id.as_deref() {
                links.lines.entry(id).or_default().push(at);
                for call in entry.calls() {
                    let same_response = |other: usize| message_id(entries, other) == Some(id);
                    links
                        .caller
                        .entry(call)
                        .and_modify(|caller| {
                            *caller = caller.filter(|other| same_response(*other)).map(|_| at)
                        })
                        .or_insert(Some(at));
                }
            } else if entry.kind == EntryKind::User && entry.is_tool_result() {
                results.push((at, entry));
            }
        }
        for (at, result) in results {
            if let Some(parent) = index.parent(at) {
                links.results.entry(parent).or_default().push(at);
            }
            let named = result
                .source
                .as_deref()
                .and_then(|uuid| index.position(uuid));
            let called = result.answers();
            let called = called.iter().map(|call| links.caller(call));
            let others: Vec<usize> = std::iter::once(named).chain(called).flatten().collect();
            for other in others {
                if entries
                    .get(other)
                    .is_some_and(|other| result.same_writer(other))
                {
                    links.results.entry(other).or_default().push(at);
                }
            }
        }
        links
    }

    fn caller(&self, call: &str) -> Option<usize> {
        self.caller.get(call).copied().flatten()
    }

    /// The lines of a response that were not seen, then its results that were not, each in the
    /// order of time.
    fn missing(
        &self,
        entries: &[Entry<'_>],
        index: &Index<'_>,
        id: &str,
        seen: &[bool],
        answered_on_chain: &HashSet<Cow<'_, str>>,
    ) -> Vec<usize> {
        let lines = self.lines.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut calls: Vec<usize> = lines
            .iter()
            .copied()
            .filter(|at| !is_marked(seen, *at))
            .collect();
        let mut results = Vec::new();
        // Results whose parent is another line: they count only for a call nobody has answered.
        let mut strays = Vec::new();
        let mut collected = HashSet::new();
        for at in lines
            .iter()
            .filter_map(|line| self.results.get(line))
            .flatten()
        {
            if is_marked(seen, *at) || !collected.insert(*at) {
                continue;
            }
            match index.parent(*at) {
                Some(parent) if lines.contains(&parent) => results.push(*at),
                _ => strays.push(*at),
            }
        }
        if !strays.is_empty() {
            let answers = |at: usize| entries.get(at).map(Entry::answers).unwrap_or_default();
            let mut answered: HashSet<Cow<'_, str>> = answered_on_chain.iter().cloned().collect();
            answered.extend(results.iter().flat_map(|at| answers(*at)));
            let place: HashMap<usize, usize> = index
                .order
                .iter()
                .enumerate()
                .map(|(place, at)| (*at, place))
                .collect();
            strays.sort_by_key(|at| place.get(at).copied());
            for at in strays {
                let calls = answers(at);
                let open = |call: &Cow<'_, str>| {
                    !answered.contains(call)
                        && self.caller(call).is_some_and(|line| lines.contains(&line))
                };
                if calls.iter().any(open) {
                    answered.extend(calls);
                    results.push(at);
                }
            }
        }
        let by_time = |at: &usize| entries.get(*at).map(|entry| entry.timestamp.as_ref());
        calls.sort_by(|one, other| by_time(one).cmp(&by_time(other)));
        results.sort_by(|one, other| by_time(one).cmp(&by_time(other)));
        calls.append(&mut results);
        calls
    }
}
