//! Colours, where they are wanted.

use std::io::IsTerminal;

/// How parts of the output are marked; not at all where it goes to a file, where `NO_COLOR` is set
/// and on a terminal that knows no colours.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Styles {
    on: bool,
}

impl Styles {
    pub(crate) fn of(stream: &impl IsTerminal) -> Styles {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        Styles {
            on: stream.is_terminal() && set("NO_COLOR").is_none() && !dumb,
        }
    }

    fn sgr(self, code: &str, text: &str) -> String {
        match self.on && !text.is_empty() {
            true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.sgr("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.sgr("2", text)
    }

    pub(crate) fn accent(self, text: &str) -> String {
        self.sgr("36", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.sgr("31", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.sgr("32", text)
    }

    pub(crate) fn tag(self, text: &str) -> String {
        self.sgr("33", text)
    }
}
