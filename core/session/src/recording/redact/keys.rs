//! Private keys in a text.

/// Finds the ends of the private keys of one text.
#[derive(Default)]
pub(super) struct Keys {
    /// Up to this place none ends that is put together from several strings.
    endless: Option<usize>,
}

impl Keys {
    /// Where the key ends whose text begins at `start`: behind its last line, which may stand in a later one of
    /// the strings that a program puts it together from; without one, with its own string.
    pub(super) fn end(&mut self, view: &str, start: usize) -> usize {
        let mut at = start;
        loop {
            let rest = view.get(at..).unwrap_or_default();
            let piece = rest.find(['"', '\x01']).unwrap_or(rest.len());
            let quote = at + piece;
            if let Some(end) = rest.get(..piece).and_then(last_line) {
                return at + end;
            }
            if quote == view.len() {
                return quote;
            }
            if self.endless.is_some_and(|endless| start <= endless) {
                return quote;
            }
            match next_string(view, quote) {
                Some(next) => at = next,
                None => {
                    self.endless = Some(quote);
                    at = start;
                }
            }
        }
    }
}

/// The end of a key's last line in this text.
fn last_line(text: &str) -> Option<usize> {
    const BEGINNING: &str = "-----END ";
    const DASHES: &str = "-----";
    text.match_indices(BEGINNING).find_map(|(at, _)| {
        let label = at + BEGINNING.len();
        let length = text.get(label..)?.find(DASHES)?;
        let name = text.get(label..label + length)?;
        let is_name = name
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_uppercase());
        let is_key = name.ends_with("PRIVATE KEY") || name.ends_with("PRIVATE KEY BLOCK");
        (is_name && is_key).then_some(label + length + DASHES.len())
    })
}

/// Where the string begins that is joined to the one that ends at this quote.
fn next_string(view: &str, quote: usize) -> Option<usize> {
    let escapes = |text: &str| text.bytes().take_while(|byte| *byte == 1).count();
    let rest = view.get(quote..)?;
    let between = rest.get(escapes(rest)..)?.strip_prefix('"')?;
    let between =
        between.trim_start_matches(|letter: char| letter.is_whitespace() || "+,".contains(letter));
    let next = between.get(escapes(between)..)?.strip_prefix('"')?;
    Some(view.len() - next.len())
}
