//! Which lines of a transcript are its conversation: from the newest leaf up to the root.

use std::collections::HashMap;

use crate::entry::Entry;
use crate::parallel;

/// Entries by their id. Of entries with the same id the last one counts, at the place of the first.
pub(crate) struct Index<'e> {
    by_uuid: HashMap<&'e str, usize>,
    /// The positions of the entries that count, in the order in which their ids appear first.
    pub(crate) order: Vec<usize>,
    /// For each entry the one with its id that counts, and its parent.
    links: Vec<(usize, Option<usize>)>,
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
        let all_differ = order.len() == entries.len();
        let counting = |at: usize, entry: &Entry<'_>| match all_differ {
            true => at,
            false => by_uuid.get(entry.uuid.as_ref()).copied().unwrap_or(at),
        };
        let parent = |entry: &Entry<'_>| by_uuid.get(entry.parent.as_deref()?).copied();
        let links: Vec<_> = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (counting(at, entry), parent(entry)))
            .collect();
        for at in &mut order {
            *at = links.get(*at).map_or(*at, |(counting, _)| *counting);
        }
        Index {
            by_uuid,
            order,
            links,
        }
    }

    pub(crate) fn position(&self, uuid: &str) -> Option<usize> {
        self.by_uuid.get(uuid).copied()
    }

    /// The entry that counts of those with the id of this one.
    pub(crate) fn counting(&self, at: usize) -> Option<usize> {
        Some(self.links.get(at)?.0)
    }

    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.links.get(at)?.1
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
    for at in 0..entries.len() {
        if let Some(flag) = index.parent(at).and_then(|at| is_parent.get_mut(at)) {
            *flag = true;
        }
    }
    let mut visited = vec![usize::MAX; entries.len()];
    let (mut main, mut any) = (None, None);
    for (terminal, entry) in entries.iter().enumerate() {
        let last = index.counting(terminal);
        if last.and_then(|at| is_parent.get(at)) == Some(&true) {
            continue;
        }
        let mut here = Some((terminal, entry));
        while let Some((at, entry)) = here {
            // The ids met by this walk, marked by where it began: a file may hold a circle.
            let counting = index.counting(at);
            match counting.and_then(|at| visited.get_mut(at)) {
                Some(mark) if *mark != terminal => *mark = terminal,
                _ => break,
            }
            if entry.kind.is_turn() {
                let at = counting.unwrap_or(at);
                if !entry.sidechain && !entry.team && !entry.meta {
                    main = main.max(Some(at));
                }
                any = any.max(Some(at));
                break;
            }
            here = index.parent(at).and_then(|at| Some((at, entries.get(at)?)));
        }
    }
    main.or(any)
}

fn walk(entries: &[Entry<'_>], index: &Index<'_>, leaf: usize) -> Vec<usize> {
    let mut seen = vec![false; entries.len()];
    let mut chain = Vec::new();
    let mut here = Some(leaf);
    while let Some(at) = here.filter(|at| *at < entries.len()) {
        match index.counting(at).and_then(|at| seen.get_mut(at)) {
            Some(mark) if !*mark => *mark = true,
            _ => break,
        }
        chain.push(at);
        here = index.parent(at);
    }
    chain.reverse();
    chain
}
