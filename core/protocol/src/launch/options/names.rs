//! The names of options as each dialect spells them.

use alloc::borrow::Cow;
use alloc::string::String;

use super::{Dialect, Options};

impl Dialect {
    /// The name of an option for users of this dialect, by its name in [`Options::KEYS`].
    pub fn option_name(self, key: &str) -> Cow<'_, str> {
        match self {
            Dialect::Python if key == "continue" => Cow::Borrowed("continue_conversation"),
            Dialect::Python => Cow::Owned(snake_case(key)),
            Dialect::TypeScript if key == "cliPath" => Cow::Borrowed("pathToClaudeCodeExecutable"),
            Dialect::Towline | Dialect::TypeScript => Cow::Borrowed(key),
        }
    }

    /// A text of this library with the options in it by the names of this dialect. Only words of
    /// two parts change (`maxTurns`); what stands in quotes or in a path is no option of ours.
    pub fn reword(self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut before = None;
        while let Some(character) = rest.chars().next() {
            let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let length = match rest.find(|character| !word(character)) {
                Some(0) => character.len_utf8(),
                Some(length) => length,
                None => rest.len(),
            };
            let (part, after) = rest.split_at(length);
            let quoted = matches!(before, Some('"' | '\'' | '/' | '\\' | '.' | '-' | '='));
            let known = !quoted
                && part.contains(|letter: char| letter.is_ascii_uppercase())
                && Options::KEYS.contains(&part);
            match known {
                true => out.push_str(&self.option_name(part)),
                false => out.push_str(part),
            }
            before = part.chars().next_back();
            rest = after;
        }
        out
    }
}

fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_names_of_the_dialect() {
        let text =
            "check option cliPath (\"cliPath\", /cliPath, é); sessionId: not with forkSession, \
                    model or maxTurnsOf";
        for (dialect, expected) in [
            (Dialect::Towline, text),
            (
                Dialect::TypeScript,
                "check option pathToClaudeCodeExecutable (\"cliPath\", /cliPath, é); sessionId: not \
                 with forkSession, model or maxTurnsOf",
            ),
            (
                Dialect::Python,
                "check option cli_path (\"cliPath\", /cliPath, é); session_id: not with \
                 fork_session, model or maxTurnsOf",
            ),
        ] {
            assert_eq!(dialect.reword(text), expected);
        }
    }
}
