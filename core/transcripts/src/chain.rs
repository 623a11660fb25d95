//! Which lines of a transcript are its conversation: from the newest leaf up to the root.

use std::collections::HashMap;

use crate::entry::Entry;
use crate::parallel;

/// Entries by their id. Of entries with the same id the last one counts, at the place of the first.
pub(crate) struct Index<'e> {
    by_uuid: HashMap<&'e str, usize>,
    /// The positions of the entries that count, in the order in which their ids appear first.
    pub(crate) order: Vec<usize>,
}

impl<'e> Index<'e> {
    pub(crate) fn of(entries: &'e [Entry<'_>]) -> Self {
        let mut by_uuid = HashMap::with_capacity(entries.len());
        let mut order = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            if by_uuid.insert(entry.uuid.as_ref(), at).is_none() {
                order.push(at);
            }
        }
        if order.len() != entries.len() {
            for at in &mut order {
                if let Some(last) = entries
                    .get(*at)
                    .and_then(|entry| by_uuid.get(entry.uuid.as_ref()))
                {
                    *at = *last;
                }
            }
        }
        Index { by_uuid, order }
    }

    pub(crate) fn position(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid).copied()
    }

    pub(crate) fn parent(&self, entry: &Entry<'_>) -> Option<usize> {
        self.position(entry.parent.as_deref()?)
    }
}

/// The positions of a session's conversation, oldest first, with the parallel tool calls and
/// results that the walk over the parents misses.
///
/// `logicalParentUuid` is not followed: behind a compaction its summary stands for what was before.
pub(crate) fn conversation(entries: &[Entry<'_>]) -> Vec<usize> {
    let index = Index::of(entries);
    let Some(leaf) = leaf(entries, &index) else {
        return Vec::new();
    };
    let chain = walk(entries, &index, leaf);
    parallel::put_back(entries, &index, chain)
}

/// The positions of a subagent's conversation: its last turn and what that descends from.
pub(crate) fn subagent_conversation(entries: &[Entry<'_>]) -> Vec<usize> {
    let index = Index::of(entries);
    match entries.iter().rposition(|entry| entry.kind.is_turn()) {
        Some(leaf) => walk(entries, &index, leaf),
        None => Vec::new(),
    }
}

/// The last turn in the file from which a branch ends, of the main conversation if there is one.
fn leaf(entries: &[Entry<'_>], index: &Index<'_>) -> Option<usize> {
    let mut is_parent = vec![false; entries.len()];
    for entry in entries {
        if let Some(flag) = index.parent(entry).and_then(|at| is_parent.get_mut(at)) {
            *flag = true;
        }
    }
    let mut visited = vec![usize::MAX; entries.len()];
    let (mut main, mut any) = (None, None);
    for (terminal, entry) in entries.iter().enumerate() {
        let last = index.position(&entry.uuid);
        if last.and_then(|at| is_parent.get(at)) == Some(&true) {
            continue;
        }
        let mut here = Some((terminal, entry));
        while let Some((at, entry)) = here {
            // The ids met by this walk, marked by where it began: a file may hold a circle.
            let mark = index
                .position(&entry.uuid)
                .and_then(|at| visited.get_mut(at));
            match mark {
                Some(mark) if *mark != terminal => *mark = terminal,
                _ => break,
            }
            if entry.kind.is_turn() {
                let at = index.position(&entry.uuid).unwrap_or(at);
                if !entry.sidechain && !entry.team && !entry.meta {
                    main = main.max(Some(at));
                }
                any = any.max(Some(at));
                break;
            }
            here = index
                .parent(entry)
                .and_then(|at| Some((at, entries.get(at)?)));
        }
    }
    main.or(any)
}

fn walk(entries: &[Entry<'_>], index: &Index<'_>, leaf: usize) -> Vec<usize> {
    let mut seen = vec![false; entries.len()];
    let mut chain = Vec::new();
    let mut here = Some(leaf);
    while let Some((at, entry)) = here.and_then(|at| Some((at, entries.get(at)?))) {
        let mark = index.position(&entry.uuid).and_then(|at| seen.get_mut(at));
        match mark {
            Some(mark) if !*mark => *mark = true,
            _ => break,
        }
        chain.push(at);
        here = index.parent(entry);
    }
    chain.reverse();
    chain
}
