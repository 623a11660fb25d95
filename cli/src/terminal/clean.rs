//! Text of others as text: what would steer a terminal or reorder a line is shown instead.

use std::borrow::Cow;

/// The text with its escape sequences taken out and every other control character, and every
/// character that changes the direction of what follows, made visible. Line feeds and tabs stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if let Some(length) = escape_sequence(rest) {
            rest = rest.get(length..).unwrap_or_default();
            continue;
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        match character {
            // The end of a line as Windows writes it.
            '\r' if rest.starts_with('\n') => {}
            '\u{7f}' => out.push_str("^?"),
            character if is_active(character) => match u32::from(character) {
                // As `cat -v` shows them.
                code @ 0..=0x1f => out.extend(['^'].into_iter().chain(char::from_u32(0x40 + code))),
                code => out.push_str(&format!("<U+{code:04X}>")),
            },
            character => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// The same on one line, each stretch of white space one space.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in clean(text).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

fn is_active(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Embeddings, overrides and isolates of direction; line and paragraph separators.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => true,
        // Tags and other characters without a shape, used to hide text.
        '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}' => true,
        character => character.is_control(),
    }
}

/// How long the escape sequence is that the text begins with.
fn escape_sequence(text: &str) -> Option<usize> {
    let after = text.strip_prefix('\u{1b}')?;
    let body = after.get(1..)?;
    let end = match after.as_bytes().first()? {
        b'[' => {
            let end = body.find(|character: char| ('@'..='~').contains(&character))?;
            let plain = |character: char| (' '..='?').contains(&character);
            body.get(..end)?.chars().all(plain).then_some(end + 1)?
        }
        b']' => match (body.find('\u{7}'), body.find("\u{1b}\\")) {
            (Some(bell), Some(string)) => (bell + 1).min(string + 2),
            (Some(bell), None) => bell + 1,
            (None, string) => string? + 2,
        },
        _ => return None,
    };
    Some(2 + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_a_terminal() {
        for (text, cleaned) in [
            ("plain ä 漢\tx\ny", "plain ä 漢\tx\ny"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://a\u{1b}\\link", "link"),
            ("a\rb\r\nc\u{8}", "a^Mb\nc^H"),
            ("\u{1b}", "^["),
            ("\u{1b}[12", "^[[12"),
            ("\u{1b}[漢m", "^[[漢m"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("a\u{202e}b\u{2066}", "a<U+202E>b<U+2066>"),
            ("\u{7f}\u{0}", "^?^@"),
        ] {
            assert_eq!(clean(text), cleaned, "{text:?}");
        }
        assert_eq!(one_line(" a\n\tb\u{1b}[1m  c "), "a b c");
    }
}
