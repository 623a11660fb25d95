//! What stands behind a secret's name in a text, where it is a value.

/// What stands behind a secret's name in programs and sentences.
const NO_SECRETS: [&str; 18] = [
    "string",
    "number",
    "boolean",
    "bool",
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "unknown",
    "invalid",
    "missing",
    "expired",
    "redacted",
    "bearer",
    "basic",
];

/// A value is judged by its beginning: behind each name of a long text everything would be read again.
const NEAR: usize = 512;

/// Where the value behind a name stands, without its quotes.
pub(super) fn value_at(view: &str, start: usize, likely: bool) -> Option<std::ops::Range<usize>> {
    let rest = view.get(start..)?;
    let escapes = rest.bytes().take_while(|byte| *byte == 1).count();
    let inner = rest.get(escapes..)?;
    if let Some(quote @ (b'"' | b'\'' | b'`')) = inner.bytes().next() {
        let start = start + escapes + 1;
        let length = quoted_length(inner.get(1..)?, quote, escapes);
        let value = view.get(start..start + length)?;
        let is_shown = value.is_empty() || (likely && is_no_secret(value));
        return (!is_shown).then_some(start..start + length);
    }
    if escapes > 0 {
        return None;
    }
    let ends = |letter: char| {
        letter.is_whitespace()
            || matches!(letter, '"' | '\'' | '`' | ',' | ';' | '\x01')
            || (likely && letter == '&')
    };
    let near = beginning(rest, NEAR);
    let value = near.get(..near.find(ends).unwrap_or(near.len()))?;
    let after = near.get(value.len()..)?;
    let long = value.len() >= 4;
    (long && (!likely || is_likely(value, after)))
        .then(|| start..start + rest.find(ends).unwrap_or(rest.len()))
}

/// How far a quoted text goes whose quotes have so many backslashes before them.
fn quoted_length(text: &str, quote: u8, escapes: usize) -> usize {
    let mut before = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            1 => {
                before += 1;
                continue;
            }
            b'"' if quote != b'"'
                || before <= escapes
                || (before - escapes) % (2 * (escapes + 1)) == 0 =>
            {
                return at - before;
            }
            byte if byte == quote && quote != b'"' => return at - before,
            _ => {}
        }
        before = 0;
    }
    // One that was not ended does not go beyond its line.
    text.find(['\n', '\r', '\x01', '"']).unwrap_or(text.len())
}

/// Whether a text behind a name and `:` or `=` is a value, and not the next word of a sentence or
/// part of a program.
fn is_likely(value: &str, after: &str) -> bool {
    let word = value.trim_end_matches(['.', '!', '?', ')']);
    if is_no_secret(value)
        || value.starts_with(['{', '[', '(', '<', '$', '\\', '-', '*', '%'])
        || value.contains('(')
        || [
            "process.env",
            "os.environ",
            "os.getenv",
            "self.",
            "this.",
            "env.",
        ]
        .iter()
        .any(|start| value.starts_with(start))
    {
        return false;
    }
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    // Alone on the rest of its line it is no word of a sentence.
    let goes_on = after.starts_with([' ', '\t']) || word.len() < value.len();
    !is_word || word.len() >= 20 || !goes_on
}

fn is_no_secret(value: &str) -> bool {
    let plain = value.trim_matches(|letter: char| !letter.is_alphanumeric());
    NO_SECRETS.contains(&plain.to_ascii_lowercase().as_str())
}

/// The first bytes of a text, whole characters.
fn beginning(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
