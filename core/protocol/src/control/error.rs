//! What the host got wrong, found before anything is written.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::json::ScanError;

/// A rule the host broke: nothing was written to the CLI.
///
/// What the CLI itself refuses comes as an error answer and is another type, see
/// [`ResponseBody::Error`](super::envelope::ResponseBody::Error).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalError {
    /// The text given is not JSON.
    #[error("{what} is not JSON: {error}")]
    NotJson {
        /// What was given: "the permission answer", "the payload", …
        what: &'static str,
        /// Where and why.
        error: ScanError,
    },
    /// The JSON has a form that the CLI would ignore, misread or die on.
    #[error("{what}: {problem}; {accepted}")]
    Malformed {
        /// What was given: "the permission answer", "the payload", …
        what: &'static str,
        /// What is wrong with it.
        problem: Cow<'static, str>,
        /// The forms that are taken.
        accepted: &'static str,
    },
}

impl LocalError {
    pub(super) fn malformed(
        what: &'static str,
        problem: impl Into<Cow<'static, str>>,
        accepted: &'static str,
    ) -> Self {
        LocalError::Malformed {
            what,
            problem: problem.into(),
            accepted,
        }
    }
}

/// A value as it is quoted in an error text, cut when long.
pub(super) fn shown(text: &str) -> String {
    const LIMIT: usize = 80;
    if text.len() <= LIMIT {
        return text.into();
    }
    let mut end = LIMIT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut cut = String::from(text.get(..end).unwrap_or_default());
    cut.push('…');
    cut
}
