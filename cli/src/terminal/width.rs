//! Columns of a terminal.

use std::io;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// How many columns there are to fill: what `COLUMNS` says, else the terminal's on stdout; nothing
/// where stdout is no terminal.
pub(crate) fn columns() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok();
    let given = given.and_then(|columns| columns.parse().ok());
    let asked = || {
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    };
    given.or_else(asked).filter(|columns| *columns > 0)
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to a number of columns, with `…` where something is missing.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 0;
    for cluster in text.graphemes(true) {
        let wide = width(cluster);
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        out.push_str(cluster);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// As [`cut`], but what is missing is missing at the beginning.
pub(crate) fn cut_before(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = Vec::new();
    let mut taken = 0;
    for cluster in text.graphemes(true).rev() {
        let wide = width(cluster);
        if taken + wide + 1 > columns {
            break;
        }
        taken += wide;
        kept.push(cluster);
    }
    let start = if columns > 0 { "…" } else { "" };
    kept.iter()
        .rev()
        .fold(start.to_owned(), |text, cluster| text + cluster)
}

/// The text cut or filled up to exactly this many columns.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    let mut out = cut(text, columns);
    out.extend(std::iter::repeat_n(
        ' ',
        columns.saturating_sub(width(&out)),
    ));
    out
}

/// The lines of a text, broken at spaces where they are wider than this; leading space is kept on
/// the broken lines.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let line = line.replace('\t', "    ");
        if width(&line) <= columns {
            lines.push(line);
            continue;
        }
        let indent: String = line.chars().take_while(|space| *space == ' ').collect();
        let indent = if indent.len() * 2 > columns {
            String::new()
        } else {
            indent
        };
        let mut here = String::new();
        let mut taken = 0;
        for word in line.split_word_bounds() {
            let wide = width(word);
            if taken + wide > columns && taken > indent.len() {
                lines.push(here.trim_end().to_owned());
                here = indent.clone();
                taken = indent.len();
                if word.trim().is_empty() {
                    continue;
                }
            }
            if taken + wide <= columns {
                here.push_str(word);
                taken += wide;
                continue;
            }
            for cluster in word.graphemes(true) {
                let wide = width(cluster);
                if taken + wide > columns && taken > indent.len() {
                    lines.push(std::mem::replace(&mut here, indent.clone()));
                    taken = indent.len();
                }
                here.push_str(cluster);
                taken += wide;
            }
        }
        lines.push(here.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("漢字漢字", 4), "漢…");
        assert_eq!(cut("👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧…");
        assert_eq!(cut_before("/projects/漢字", 6), "…/漢字");
        assert_eq!(fitted("漢", 4), "漢  ");
        assert_eq!(width(&fitted("漢字漢字", 4)), 4);
    }

    #[test]
    fn lines_are_broken_at_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("  one two three", 10), ["  one two", "  three"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrapped("a\n\nb", 5), ["a", "", "b"]);
        for line in wrapped("a sentence, with a-very-long-word-in-it and more", 11) {
            assert!(width(&line) <= 11, "{line:?}");
        }
    }
}
