//! What can be wrong with an options document.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// An options document that was not taken. Nothing of it has been applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The text is not one JSON object.
    #[error("the options are not a JSON object: {reason}")]
    NotAnObject {
        /// What the scanner found.
        reason: String,
    },
    /// No option has this name.
    #[error("unknown option \"{key}\"{}", did_you_mean(.nearest))]
    Unknown {
        /// The name as given.
        key: String,
        /// The known name that is most like it, if one is.
        nearest: Option<&'static str>,
    },
    /// The name belongs to something a document cannot hold: a callback or an object of the host.
    #[error("option \"{key}\" is not data: {remedy}")]
    NotData {
        /// The name as given.
        key: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// The value has the wrong type or shape.
    #[error("option \"{key}\" must be {expected}: {reason}")]
    WrongType {
        /// The name as given.
        key: String,
        /// The shape the option has.
        expected: &'static str,
        /// What was found instead.
        reason: String,
    },
}

fn did_you_mean(nearest: &Option<&'static str>) -> String {
    match nearest {
        Some(name) => alloc::format!("; did you mean \"{name}\"?"),
        None => ": no option has a name like that".to_string(),
    }
}

/// The candidate with the smallest edit distance from `key`, if it is near enough to be meant.
pub(super) fn nearest(
    key: &str,
    candidates: impl Iterator<Item = &'static str>,
) -> Option<&'static str> {
    let key = folded(key);
    let allowed = (key.len() / 3).max(2);
    candidates
        .map(|candidate| (distance(&key, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and word separators are how languages spell one name, not differences.
fn folded(name: &str) -> Vec<char> {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .map(|character| character.to_ascii_lowercase())
        .take(64)
        .collect()
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut next = vec![0; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        let mut left = i + 1;
        if let Some(first) = next.first_mut() {
            *first = left;
        }
        for ((y, pair), cell) in b.iter().zip(row.windows(2)).zip(next.iter_mut().skip(1)) {
            let (diagonal, up) = match pair {
                [diagonal, up] => (*diagonal, *up),
                _ => (0, 0),
            };
            left = (diagonal + usize::from(x != y)).min(up + 1).min(left + 1);
            *cell = left;
        }
        core::mem::swap(&mut row, &mut next);
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("model", "model", 0),
        ] {
            assert_eq!(distance(&folded(a), &folded(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn far_names_are_not_suggested() {
        let known = || ["model", "maxTurns", "effort"].into_iter();
        assert_eq!(nearest("modle", known()), Some("model"));
        assert_eq!(nearest("max-turn", known()), Some("maxTurns"));
        assert_eq!(nearest("xyz", known()), None);
    }
}
