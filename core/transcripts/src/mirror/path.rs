//! From the path of a transcript file to its key in a store (`protocol.md §10`).

use crate::is_session_id;
use crate::store::SessionKey;

/// Whose rules the paths of the CLI follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PathStyle {
    /// One root, `/` between names.
    #[default]
    Unix,
    /// Drives and network shares, `\` or `/` between names, letters of either case the same.
    Windows,
}

/// A path in its parts: what it starts from, then plain names.
struct Parts<'a> {
    /// Empty for a relative path; `/` on Unix; a drive or share on Windows.
    root: String,
    names: Vec<&'a str>,
}

impl PathStyle {
    fn is_separator(self, character: char) -> bool {
        character == '/' || (self == PathStyle::Windows && character == '\\')
    }

    fn same(self, a: &str, b: &str) -> bool {
        match self {
            PathStyle::Unix => a == b,
            PathStyle::Windows => a.to_lowercase() == b.to_lowercase(),
        }
    }

    /// Splits off what a path starts from.
    fn root(self, path: &str) -> (String, &str) {
        let names = path.trim_start_matches(|c| self.is_separator(c));
        let separators = path.len() - names.len();
        match self {
            PathStyle::Unix if separators > 0 => ("/".into(), names),
            PathStyle::Unix => (String::new(), path),
            PathStyle::Windows if separators == 2 => {
                // \\server\share\…, and \\?\C:\… with the drive as its share.
                let mut rest = names.splitn(3, |c| self.is_separator(c));
                let server = rest.next().unwrap_or_default();
                let share = rest.next().unwrap_or_default();
                let names = rest.next().unwrap_or_default();
                match (server, share) {
                    ("?" | ".", drive) if drive.ends_with(':') => {
                        (drive.to_lowercase() + "\\", names)
                    }
                    (server, share) => (format!("\\\\{server}\\{share}\\").to_lowercase(), names),
                }
            }
            PathStyle::Windows => match path.as_bytes() {
                [drive, b':', ..] if drive.is_ascii_alphabetic() => {
                    let (drive, rest) = path.split_at(2);
                    let names = rest.trim_start_matches(|c| self.is_separator(c));
                    let root = if names.len() < rest.len() { "\\" } else { "" };
                    (drive.to_lowercase() + root, names)
                }
                _ if separators > 0 => ("\\".into(), names),
                _ => (String::new(), path),
            },
        }
    }

    /// `.` and doubled separators are left out, `..` takes the name before it away; `None` when
    /// there is none to take.
    fn parts(self, path: &str) -> Option<Parts<'_>> {
        let (root, rest) = self.root(path);
        let mut names = Vec::new();
        for name in rest.split(|c| self.is_separator(c)) {
            match name {
                "" | "." => {}
                ".." => {
                    // Above a root there is nothing else.
                    if names.pop().is_none() && root.is_empty() {
                        return None;
                    }
                }
                name => names.push(name),
            }
        }
        Some(Parts { root, names })
    }

    /// The key of the transcript at `file`, which has to lie in the folder `projects`:
    ///
    /// - `PROJECT/SESSION.jsonl` is the session itself,
    /// - `PROJECT/SESSION/FOLDER/…/NAME.jsonl` a file that belongs to it, its subpath joined by `/`
    ///   on every system and without `.jsonl`.
    ///
    /// `None` for a file elsewhere or of any other shape. The paths need not exist.
    pub fn session_key(self, file: &str, projects: &str) -> Option<SessionKey> {
        let (file, projects) = (self.parts(file)?, self.parts(projects)?);
        if !self.same(&file.root, &projects.root) || file.names.len() < projects.names.len() {
            return None;
        }
        let (above, below) = file.names.split_at(projects.names.len());
        let inside = above
            .iter()
            .zip(&projects.names)
            .all(|(a, b)| self.same(a, b));
        if !inside {
            return None;
        }
        let (session_id, subpath) = match below {
            [_, file] => (file.strip_suffix(".jsonl")?, None),
            [_, session, folders @ .., file] if !folders.is_empty() => {
                let name = file.strip_suffix(".jsonl").unwrap_or(file);
                if name.is_empty() {
                    return None;
                }
                let mut subpath = folders.join("/");
                subpath.push('/');
                subpath.push_str(name);
                (*session, Some(subpath))
            }
            _ => return None,
        };
        if session_id.is_empty() {
            return None;
        }
        Some(SessionKey {
            project_key: (*below.first()?).into(),
            session_id: session_id.into(),
            subpath,
        })
    }

    /// The key of the transcript at `file`, wherever its projects folder is: below the last folder
    /// named `projects` that makes it one of a session with a UUID. For a CLI on another machine.
    pub fn session_key_anywhere(self, file: &str) -> Option<SessionKey> {
        let end_of_projects = |(at, separator): (usize, char)| {
            let before = file.get(..at)?;
            before
                .rsplit(|c| self.is_separator(c))
                .next()
                .filter(|name| self.same(name, "projects"))?;
            self.is_separator(separator).then_some(before)
        };
        let mut places: Vec<&str> = file.char_indices().filter_map(end_of_projects).collect();
        places.reverse();
        places
            .into_iter()
            .filter_map(|projects| self.session_key(file, projects))
            .find(|key| is_session_id(&key.session_id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECTS: &str = "/home/user/.claude/projects";

    fn unix(file: &str, projects: &str) -> Option<String> {
        show(PathStyle::Unix.session_key(file, projects))
    }

    fn windows(file: &str, projects: &str) -> Option<String> {
        show(PathStyle::Windows.session_key(file, projects))
    }

    fn show(key: Option<SessionKey>) -> Option<String> {
        let key = key?;
        let subpath = key.subpath.as_deref().unwrap_or("-");
        Some(format!("{} {} {subpath}", key.project_key, key.session_id))
    }

    #[test]
    fn sessions_and_the_files_that_belong_to_them() {
        let file = |rest: &str| unix(&format!("{PROJECTS}/{rest}"), PROJECTS);
        assert_eq!(file("-p/s.jsonl").as_deref(), Some("-p s -"));
        assert_eq!(
            file("-p/s/subagents/agent-1.jsonl").as_deref(),
            Some("-p s subagents/agent-1")
        );
        assert_eq!(
            file("-p/s/subagents/workflows/run-1/agent-1.jsonl").as_deref(),
            Some("-p s subagents/workflows/run-1/agent-1")
        );
        assert_eq!(
            file("-p/s/subagents/notes").as_deref(),
            Some("-p s subagents/notes")
        );
    }

    #[test]
    fn odd_names_and_places_have_no_key() {
        for rest in [
            "",
            "-p",
            "s.jsonl",
            "-p/s.json",
            "-p/s",
            "-p/.jsonl",
            "-p/s/agent-1.jsonl",
            "-p/s/subagents/.jsonl",
            "../projects-2/-p/s.jsonl",
        ] {
            assert_eq!(
                unix(&format!("{PROJECTS}/{rest}"), PROJECTS),
                None,
                "{rest}"
            );
        }
        assert_eq!(
            unix("/home/user/.claude/projects2/-p/s.jsonl", PROJECTS),
            None
        );
        assert_eq!(unix("/elsewhere/-p/s.jsonl", PROJECTS), None);
        assert_eq!(
            unix("home/user/.claude/projects/-p/s.jsonl", PROJECTS),
            None
        );
        assert_eq!(unix("../-p/s.jsonl", ""), None);
    }

    #[test]
    fn spellings_of_the_same_folder() {
        let file = "/home/user/.claude/projects/-p/s.jsonl";
        for projects in [
            "/home/user/.claude/projects/",
            "/home/user/.claude/projects//",
            "/home/user/./.claude//projects",
            "/home/user/x/../.claude/projects/.",
            "/../home/user/.claude/projects",
        ] {
            assert_eq!(
                unix(file, projects).as_deref(),
                Some("-p s -"),
                "{projects}"
            );
        }
        assert_eq!(
            unix("/home/user/.claude//projects/-p/../-q/./s.jsonl", PROJECTS).as_deref(),
            Some("-q s -")
        );
        assert_eq!(unix("/-p/s.jsonl", "/").as_deref(), Some("-p s -"));
    }

    #[test]
    fn a_backslash_is_a_name_like_any_other_on_unix() {
        assert_eq!(
            unix(r"/c/projects/-p/a\b.jsonl", "/c/projects").as_deref(),
            Some(r"-p a\b -")
        );
    }

    #[test]
    fn drives_and_shares() {
        let projects = r"C:\Users\u\.claude\projects";
        assert_eq!(
            windows(r"c:\users\U\.claude\Projects\-P\s.jsonl", projects).as_deref(),
            Some("-P s -")
        );
        assert_eq!(
            windows(
                r"C:/Users/u/.claude/projects/-p/s/subagents/runs\agent-1.jsonl",
                projects
            )
            .as_deref(),
            Some("-p s subagents/runs/agent-1")
        );
        assert_eq!(
            windows(r"D:\Users\u\.claude\projects\-p\s.jsonl", projects),
            None
        );
        assert_eq!(
            windows(r"\\?\C:\Users\u\.claude\projects\-p\s.jsonl", projects).as_deref(),
            Some("-p s -")
        );
        let share = r"\\host\share\projects\";
        assert_eq!(
            windows(r"\\HOST\share\projects\-p\s.jsonl", share).as_deref(),
            Some("-p s -")
        );
        assert_eq!(windows(r"\\other\share\projects\-p\s.jsonl", share), None);
        assert_eq!(windows(r"C:-p\s.jsonl", r"C:\"), None);
    }

    #[test]
    fn a_projects_folder_that_nobody_named() {
        let id = "aaaaaaaa-0000-4000-8000-000000000001";
        let unix = |file: String| show(PathStyle::Unix.session_key_anywhere(&file));
        assert_eq!(
            unix(format!("/home/x/.claude/projects/-p/{id}.jsonl")),
            Some(format!("-p {id} -"))
        );
        assert_eq!(
            unix(format!(
                "/projects/a/b/c/projects/-p/{id}/subagents/agent-projects.jsonl"
            )),
            Some(format!("-p {id} subagents/agent-projects"))
        );
        assert_eq!(
            unix(format!("/x/projects/projects/{id}.jsonl")),
            Some(format!("projects {id} -"))
        );
        assert_eq!(unix(format!("/x/myprojects/-p/{id}.jsonl")), None);
        assert_eq!(unix("/x/projects/-p/notes.jsonl".into()), None);
        let windows = format!(r"C:\x\projects\-p\{id}.jsonl");
        assert_eq!(
            show(PathStyle::Windows.session_key_anywhere(&windows)),
            Some(format!("-p {id} -"))
        );
    }
}
