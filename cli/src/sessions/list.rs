//! The table of sessions.

use std::io::{self, IsTerminal, Write};

use towline::transcripts::{time, SessionInfo};

use crate::args::{List, Where};
use crate::failure::Failure;
use crate::place::Place;
use crate::terminal::{columns, cut, cut_before, fitted, note, one_line, width, Styles};
use crate::words;

/// How many are shown on a terminal if nobody says.
const ON_A_TERMINAL: usize = 30;

pub(super) fn run(arguments: &List) -> Result<(), Failure> {
    let mut place = arguments.place.clone();
    if !arguments.all && place.store.is_none() && place.dir.is_none() {
        place.dir = Some(".".into());
    }
    if let Some(directory) = &place.dir {
        // Sessions of a directory that is gone can still be listed; one mistyped is told below.
        if directory.exists() && !directory.is_dir() {
            let text = format!("--dir {}: this is no directory", directory.display());
            return Err(Failure::Usage(text));
        }
    }
    let shortened = arguments.limit.is_none() && !arguments.json && io::stdout().is_terminal();
    let limit = match arguments.limit {
        Some(0) => None,
        // One more tells whether there are more.
        None if shortened => Some(ON_A_TERMINAL + 1),
        given => given,
    };
    let from = Place::of(&place)?;
    let mut sessions = from.list(limit, arguments.offset, !arguments.no_worktrees)?;
    let mut out = io::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", SessionInfo::list_to_json(&sessions))?;
        return Ok(out.flush()?);
    }
    if sessions.is_empty() {
        note(&nothing(&place, arguments));
        return Ok(());
    }
    let more = shortened && sessions.len() > ON_A_TERMINAL;
    if more {
        sessions.truncate(ON_A_TERMINAL);
    }
    let table = table(
        &sessions,
        arguments.all,
        columns(),
        Styles::of(&io::stdout()),
    );
    out.write_all(table.as_bytes())?;
    out.flush()?;
    if more {
        note(&format!(
            "There are more: --limit 0 shows all, --offset {} the next.",
            arguments.offset + ON_A_TERMINAL
        ));
    }
    Ok(())
}

fn nothing(place: &Where, arguments: &List) -> String {
    if arguments.offset > 0 {
        return format!("No sessions behind the newest {}.", arguments.offset);
    }
    if place.store.is_some() {
        return "The session store has no sessions of this project; --dir or --project choose another."
            .to_owned();
    }
    match &place.dir {
        Some(directory) => format!(
            "No sessions of {}; --all lists those of every project.",
            directory
                .canonicalize()
                .unwrap_or_else(|_| directory.clone())
                .display()
        ),
        None => "No sessions on this machine.".to_owned(),
    }
}

/// A column: its name and each row's text.
struct Column {
    name: &'static str,
    cells: Vec<String>,
    /// Numbers stand at the right.
    right: bool,
    is_path: bool,
    style: fn(Styles, &str) -> String,
    /// Narrower than this it is not worth its place, and wider only if there is room.
    at_least: usize,
}

impl Column {
    fn natural(&self) -> usize {
        let cells = self.cells.iter().map(|cell| width(cell));
        cells.max().unwrap_or_default().max(width(self.name))
    }

    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

const GAP: usize = 2;

fn table(
    sessions: &[SessionInfo],
    with_project: bool,
    columns: Option<usize>,
    styles: Styles,
) -> String {
    let now = time::now();
    let column = |name, right, style, at_least, cell: &dyn Fn(&SessionInfo) -> String| Column {
        name,
        cells: sessions.iter().map(cell).collect(),
        right,
        is_path: name == "PROJECT",
        style,
        at_least,
    };
    let plain: fn(Styles, &str) -> String = |_, text| text.to_owned();
    let id = |info: &SessionInfo| match columns {
        Some(_) => info.session_id.chars().take(8).collect(),
        None => info.session_id.clone(),
    };
    let title = |info: &SessionInfo| {
        let archived = if info.archived == Some(true) {
            "[archived] "
        } else {
            ""
        };
        format!("{archived}{}", one_line(&info.summary))
    };
    let optional = |text: &Option<String>| one_line(text.as_deref().unwrap_or_default());
    let mut all = vec![
        column("ID", false, Styles::accent, 0, &id),
        column("WHEN", false, Styles::dim, 0, &|info| {
            words::ago(info.last_modified, now)
        }),
        column("SIZE", true, Styles::dim, 0, &|info| {
            info.file_size.map(words::size).unwrap_or_default()
        }),
        column("TITLE", false, plain, 20, &title),
        column("TAG", false, Styles::tag, 8, &|info| optional(&info.tag)),
        column("BRANCH", false, Styles::dim, 8, &|info| {
            optional(&info.git_branch)
        }),
    ];
    if with_project {
        all.push(column("PROJECT", false, Styles::dim, 12, &|info| {
            let home = std::env::var("HOME").unwrap_or_default();
            shortened_home(&optional(&info.cwd), &home)
        }));
    }
    all.retain(|column| column.name == "TITLE" || !column.is_empty());
    let widths = fit(&mut all, columns);
    let mut out = String::new();
    let mut line = |cells: &mut dyn FnMut(&Column) -> (String, bool)| {
        let mut text = String::new();
        for (at, (column, width)) in all.iter().zip(&widths).enumerate() {
            let (cell, is_head) = cells(column);
            let is_last = at + 1 == all.len();
            let shown = match column.right {
                true => format!("{cell:>width$}"),
                // Nothing to align behind the last column.
                false if is_last && !column.is_path => cut(&cell, *width),
                // The end of a path tells most.
                false if column.is_path => cut_before(&cell, *width),
                false => fitted(&cell, *width),
            };
            let styled = if is_head {
                styles.bold(&shown)
            } else {
                (column.style)(styles, &shown)
            };
            text.push_str(&styled);
            if !is_last {
                text.extend(std::iter::repeat_n(' ', GAP));
            }
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(&mut |column| (column.name.to_owned(), true));
    for row in 0..sessions.len() {
        line(&mut |column| (column.cells.get(row).cloned().unwrap_or_default(), false));
    }
    out
}

/// Which columns go where there is no room, first to last.
const DISPENSABLE: [&str; 5] = ["BRANCH", "TAG", "SIZE", "PROJECT", "WHEN"];

/// The width of each column. What does not fit is taken from the widest of those that can give, and
/// if that is not enough columns go.
fn fit(all: &mut Vec<Column>, columns: Option<usize>) -> Vec<usize> {
    loop {
        let mut widths: Vec<usize> = all.iter().map(Column::natural).collect();
        let Some(columns) = columns else {
            return widths;
        };
        let gaps = GAP * all.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > columns {
            let giving = all.iter().zip(widths.iter_mut());
            let giving =
                giving.filter(|(column, width)| column.at_least > 0 && **width > column.at_least);
            match giving.max_by_key(|(_, width)| **width) {
                Some((_, width)) => *width -= 1,
                None => break,
            }
        }
        let fits = widths.iter().sum::<usize>() + gaps <= columns;
        let spare = DISPENSABLE.iter().find_map(|name| {
            let named = |column: &Column| column.name == *name;
            all.iter().position(named)
        });
        match spare.filter(|_| !fits) {
            Some(at) => drop(all.remove(at)),
            None => return widths,
        }
    }
}

fn shortened_home(path: &str, home: &str) -> String {
    match path.strip_prefix(home) {
        Some(rest) if home.len() > 1 && (rest.is_empty() || rest.starts_with('/')) => {
            format!("~{rest}")
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(title: &str) -> SessionInfo {
        SessionInfo {
            session_id: "11111111-2222-4333-8444-555555555555".to_owned(),
            summary: title.to_owned(),
            last_modified: time::now() - 3_600_000,
            file_size: Some(262_144),
            git_branch: Some("a-branch-with-a-name".to_owned()),
            cwd: Some("/projects/one".to_owned()),
            ..SessionInfo::default()
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let sessions = [
            session("短い題名と長い題名と長い題名と長い題名と長い題名と長い題名"),
            session("👩‍👩‍👧 a title\nof two lines with \u{1b}[31mred and much more than fits"),
            session("short"),
        ];
        let off = Styles::of(&std::fs::File::open("/dev/null").unwrap());
        for columns in [10, 20, 30, 40, 60, 80, 100, 200] {
            let table = table(&sessions, true, Some(columns), off);
            assert_eq!(table.lines().count(), 4);
            for line in table.lines() {
                assert!(width(line) <= columns.max(30), "{columns}: {line}");
                assert!(!line.contains('\u{1b}'));
            }
        }
        let whole = table(&sessions, true, None, off);
        assert!(whole.contains("11111111-2222-4333-8444-555555555555"));
        assert!(whole.contains("and much more than fits"));
        assert!(whole.contains("/projects/one"));
        let narrow = table(&sessions, true, Some(80), off);
        assert!(
            narrow.contains("1 h ago") && narrow.contains("256 KiB"),
            "{narrow}"
        );
    }

    #[test]
    fn the_home_folder_is_shortened() {
        assert_eq!(shortened_home("/home/me/x", "/home/me"), "~/x");
        assert_eq!(shortened_home("/home/meme", "/home/me"), "/home/meme");
        assert_eq!(shortened_home("/x", ""), "/x");
    }
}
