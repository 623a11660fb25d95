//! Text that is kept as a tag: normalised, and without characters that cannot be seen.

use unicode_general_category::{get_general_category, GeneralCategory};
use unicode_normalization::UnicodeNormalization;

/// NFKC without format, private and unassigned characters, repeated until nothing changes.
pub(crate) fn visible(text: &str) -> String {
    let mut current = text.to_owned();
    for _ in 0..10 {
        let next: String = current.nfkc().filter(|c| !is_hidden(*c)).collect();
        if next == current {
            break;
        }
        current = next;
    }
    current
}

fn is_hidden(character: char) -> bool {
    matches!(
        get_general_category(character),
        GeneralCategory::Format | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
    )
}

/// The text without white space around it, the separators 0x1c to 0x1f among it.
pub(crate) fn stripped(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

/// As [`stripped`], at the end only.
pub(crate) fn stripped_end(text: &str) -> &str {
    text.trim_end_matches(|c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_go() {
        assert_eq!(visible("rel\u{200b}ease\u{202e}1"), "release1");
        assert_eq!(visible("\u{feff}ﬁ\u{e000}\u{2066}x"), "fix");
        assert_eq!(visible("ｆｕｌｌ 文 😀"), "full 文 😀");
        assert_eq!(visible("\u{200b}"), "");
    }

    proptest! {
        #[test]
        fn once_is_enough(text in any::<String>()) {
            let once = visible(&text);
            prop_assert_eq!(visible(&once), once);
        }
    }
}
