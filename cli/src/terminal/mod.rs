//! What a terminal shows: widths, styles, and text that cannot do anything to it.

mod clean;
mod progress;
mod style;
mod width;

use std::io::{self, IsTerminal, Write};

pub(crate) use clean::{clean, one_line};
pub(crate) use progress::Progress;
pub(crate) use style::Styles;
pub(crate) use width::{columns, cut, cut_before, fitted, width, wrapped};

/// Tells an error on stderr.
pub(crate) fn complain(text: &str) {
    note(&format!("towline: {text}"));
}

/// Tells something beside the results. Nobody is there to hear of a stderr that cannot be written.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", clean(text));
}

/// Whether there is somebody to ask: both ends lead to a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks a question that is answered by y or n; n is the default.
pub(crate) fn confirmed(question: &str) -> io::Result<bool> {
    let mut stderr = io::stderr();
    write!(stderr, "{} [y/N] ", clean(question))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
