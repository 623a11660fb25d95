//! What counts as a prompt in the TypeScript package: its white space is that of JavaScript, whatever
//! begins with a tag is none, and a shell command of the user's is one.

use std::borrow::Cow;

/// A longer prompt is cut at as many UTF-16 units.
const MAX_UNITS: usize = 200;

/// What a text of the user's message is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// It says nothing of the conversation.
    Nothing,
    /// A slash command of this name.
    Command(String),
    /// A prompt, as it is shown.
    Prompt(String),
}

pub(super) fn read(text: &str) -> Text {
    let text = unpasted(text).replace('\n', " ");
    let text = trimmed(&text);
    if text.is_empty() {
        return Text::Nothing;
    }
    if let Some(name) = between(text, "<command-name>", "</command-name>", is_line_end) {
        return Text::Command(name.to_owned());
    }
    if let Some(command) = between(text, "<bash-input>", "</bash-input>", |_| false) {
        return Text::Prompt(format!("! {}", trimmed(command)));
    }
    if begins_with_tag(text) || is_interruption(text) {
        return Text::Nothing;
    }
    Text::Prompt(shortened(text))
}

/// What JavaScript takes for white space.
fn is_space(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// The text between the first two marks without one of the `forbidden` characters between them.
fn between<'a>(
    text: &'a str,
    open: &str,
    close: &str,
    forbidden: fn(char) -> bool,
) -> Option<&'a str> {
    let mut rest = text;
    loop {
        rest = rest.split_once(open)?.1;
        let (inner, _) = rest.split_once(close)?;
        if !inner.contains(forbidden) {
            return Some(inner);
        }
    }
}

/// `<name>`, or `<name` and white space: what the CLI and editors put there.
fn begins_with_tag(text: &str) -> bool {
    let Some(name) = text.strip_prefix('<') else {
        return false;
    };
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
        return false;
    }
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    rest.starts_with(|next| next == '>' || is_space(next))
}

fn is_interruption(text: &str) -> bool {
    text.strip_prefix("[Request interrupted by user")
        .is_some_and(|rest| rest.contains(']'))
}

fn shortened(text: &str) -> String {
    let mut units = 0;
    let mut cut = None;
    for (at, character) in text.char_indices() {
        units += character.len_utf16();
        if units > MAX_UNITS {
            cut = Some(at);
            break;
        }
    }
    match cut.and_then(|at| text.get(..at)) {
        None => text.to_owned(),
        Some(kept) => format!("{}\u{2026}", trimmed(kept)),
    }
}

/// The text with what was pasted in the place of the marks around it, and of the line ends (two at
/// most) that set them apart.
fn unpasted(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<pasted_content id=\"";
    if !text.contains(OPEN) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    // Up to where the text is told, and where the next mark is looked for.
    let (mut told, mut from) = (0, 0);
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(OPEN)) {
        let open = from + at;
        let id_at = open + OPEN.len();
        from = id_at;
        let Some(id) = text.get(id_at..id_at + 4).filter(|id| is_id(id)) else {
            continue;
        };
        let Some(body_at) = text
            .get(id_at + 4..)
            .filter(|rest| rest.starts_with("\">\n"))
            .map(|_| id_at + 7)
        else {
            continue;
        };
        let close = format!("\n</pasted_content id=\"{id}\">");
        // An empty one has its end on the line end of its beginning.
        let Some(end) = text
            .get(body_at - 1..)
            .and_then(|rest| rest.find(&close))
            .map(|found| body_at - 1 + found)
        else {
            break;
        };
        let before = text.get(told..open).unwrap_or_default();
        out.push_str(without_two(before, |text| text.strip_suffix('\n')));
        out.push_str(text.get(body_at..end).unwrap_or_default());
        let behind = text.get(end + close.len()..).unwrap_or_default();
        told = text.len() - without_two(behind, |text| text.strip_prefix('\n')).len();
        from = told;
    }
    out.push_str(text.get(told..).unwrap_or_default());
    Cow::Owned(out)
}

fn is_id(id: &str) -> bool {
    id.bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn without_two(text: &str, cut: impl Fn(&str) -> Option<&str>) -> &str {
    let once = cut(text).unwrap_or(text);
    match once.len() < text.len() {
        true => cut(once).unwrap_or(once),
        false => once,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prompt(text: &str) -> Option<String> {
        match read(text) {
            Text::Prompt(prompt) => Some(prompt),
            _ => None,
        }
    }

    #[test]
    fn tags_are_no_prompts() {
        for text in [
            "<tick>",
            " \n<ide_selection>x</ide_selection> and",
            "<a href>",
            "<a-b_1 >x",
            "<a\u{feff}x",
            "\u{feff}<a>",
            "[Request interrupted by user for tool use] x",
            "\u{feff}",
        ] {
            assert_eq!(prompt(text), None, "{text:?}");
        }
        for text in [
            "<Tick>",
            "<1>",
            "<a/>",
            "< a>",
            "<é>",
            "<aé>",
            "<a",
            "x <a>",
            "\u{85}<a>",
        ] {
            assert!(prompt(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn commands_of_the_shell_and_of_the_cli() {
        assert_eq!(
            prompt("x <bash-input> ls\n-l </bash-input> y").as_deref(),
            Some("! ls -l")
        );
        assert_eq!(prompt("<bash-input></bash-input>").as_deref(), Some("! "));
        assert_eq!(prompt("<bash-input>ls"), None);
        let long = "y".repeat(300);
        let shell = format!("<bash-input>{long}</bash-input>");
        assert_eq!(prompt(&shell), Some(format!("! {long}")));
        let command = |text| match read(text) {
            Text::Command(name) => Some(name),
            _ => None,
        };
        assert_eq!(
            command("a<command-name>/x</command-name>").as_deref(),
            Some("/x")
        );
        assert_eq!(command("<command-name>/x\r</command-name>"), None);
        let second = "<command-name>\r</command-name><command-name>b</command-name>";
        assert_eq!(command(second).as_deref(), Some("b"));
    }

    #[test]
    fn cut_by_utf_16() {
        let text = format!("{}😀", "x".repeat(199));
        assert_eq!(prompt(&text), Some(format!("{}…", "x".repeat(199))));
        let text = "x".repeat(200);
        assert_eq!(prompt(&text), Some(text));
    }

    #[test]
    fn what_was_pasted_is_part_of_it() {
        let pasted = |id: &str, body: &str| {
            format!("<pasted_content id=\"{id}\">\n{body}\n</pasted_content id=\"{id}\">")
        };
        let text = format!("a\n\n\n{}\n\nb", pasted("0a1f", "body"));
        assert_eq!(unpasted(&text), "a\nbodyb");
        assert_eq!(unpasted(&pasted("0a1f", "")), "");
        assert_eq!(
            unpasted("<pasted_content id=\"0a1f\">\n</pasted_content id=\"0a1f\">x"),
            "x"
        );
        for kept in [
            pasted("0A1F", "x"),
            pasted("0a1", "x"),
            "<pasted_content id=\"0a1f\">\nx".into(),
        ] {
            assert_eq!(unpasted(&kept), kept);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(<pasted_content id=\"|0a1f|\">|\n|</pasted_content id=\"0a1f\">|é|<a>|.){0,12}") {
            read(&text);
        }
    }
}
