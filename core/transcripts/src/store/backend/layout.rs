//! Which file holds which transcript.
//!
//! Names stand as they are, so that the folder looks as the CLI's `projects`; what a file system
//! could misread (a slash, a leading dot, …) is written as `%XX`.

use std::path::{Path, PathBuf};

use crate::store::{SessionKey, StoreError};

const SUFFIX: &str = ".jsonl";
/// Below a project's folder; no session's folder begins with a dot.
const SUMMARIES: &str = ".summaries";

/// Where everything of one store stands.
#[derive(Debug)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: PathBuf) -> Self {
        Layout { root }
    }

    pub(super) fn project(&self, project_key: &str) -> Result<PathBuf, StoreError> {
        Ok(self.root.join(encoded(project_key)?))
    }

    /// The folder of a session's subagents.
    pub(super) fn session(
        &self,
        project_key: &str,
        session_id: &str,
    ) -> Result<PathBuf, StoreError> {
        Ok(self.project(project_key)?.join(encoded(session_id)?))
    }

    pub(super) fn transcript(&self, key: &SessionKey) -> Result<PathBuf, StoreError> {
        let mut path = self.project(&key.project_key)?;
        let mut name = encoded(&key.session_id)?;
        for part in key
            .subpath()
            .into_iter()
            .flat_map(|subpath| subpath.split('/'))
        {
            path.push(name);
            name = encoded(part)?;
        }
        name.push_str(SUFFIX);
        path.push(name);
        Ok(path)
    }

    pub(super) fn summary(
        &self,
        project_key: &str,
        session_id: &str,
    ) -> Result<PathBuf, StoreError> {
        let mut name = encoded(session_id)?;
        name.push_str(".json");
        Ok(self.project(project_key)?.join(SUMMARIES).join(name))
    }
}

/// The session that a file directly in a project's folder belongs to.
pub(super) fn session_id_of(file_name: &str) -> Option<String> {
    decoded(file_name.strip_suffix(SUFFIX)?)
}

/// The subpath of a file below a session's folder.
pub(super) fn subpath_of(below: &Path) -> Option<String> {
    let mut parts: Vec<&str> = below
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect::<Option<_>>()?;
    let last = parts.pop()?.strip_suffix(SUFFIX)?;
    parts.push(last);
    let parts: Option<Vec<String>> = parts.into_iter().map(decoded).collect();
    Some(parts?.join("/"))
}

fn encoded(name: &str) -> Result<String, StoreError> {
    if name.is_empty() {
        return Err(StoreError::failed("a part of a session key is empty"));
    }
    // A folder must not look like a transcript.
    let dot = name.ends_with(SUFFIX).then(|| name.len() - SUFFIX.len());
    let mut out = String::with_capacity(name.len());
    for (at, character) in name.char_indices() {
        match character {
            '.' if at == 0 || Some(at) == dot => out.push_str("%2E"),
            '/' => out.push_str("%2F"),
            '\\' => out.push_str("%5C"),
            '%' => out.push_str("%25"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("%{:02X}", u32::from(character))),
            _ => out.push(character),
        }
    }
    Ok(out)
}

fn decoded(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('%') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let code = u8::from_str_radix(after.get(1..3)?, 16).ok()?;
        out.push(char::from(code));
        rest = after.get(3..)?;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_one_safe_component_and_comes_back() {
        for name in [
            "a",
            "-home-x",
            "..",
            ".",
            ".summaries",
            "a/b",
            "%2F",
            "x.jsonl",
            "a.b",
            "é🙂",
            "a\n\0b",
            "C:\\x",
        ] {
            let encoded = encoded(name).unwrap();
            let path = Path::new(&encoded);
            assert_eq!(path.components().count(), 1, "{encoded}");
            assert!(matches!(
                path.components().next(),
                Some(std::path::Component::Normal(_))
            ));
            assert!(!encoded.starts_with('.') && !encoded.ends_with(SUFFIX));
            assert_eq!(decoded(&encoded).as_deref(), Some(name));
        }
        assert!(encoded("").is_err());
        assert_eq!(encoded("-home-x_1.2").unwrap(), "-home-x_1.2");
    }

    #[test]
    fn subpaths_come_back_from_their_files() {
        let layout = Layout::new("/r".into());
        let main = SessionKey::main("p", "s");
        assert_eq!(layout.transcript(&main).unwrap(), Path::new("/r/p/s.jsonl"));
        for subpath in [
            "subagents/agent-1",
            "subagents/workflows/r/agent-1",
            "../../x",
            "a.jsonl/b",
        ] {
            let path = layout.transcript(&main.with_subpath(subpath)).unwrap();
            let below = path.strip_prefix("/r/p/s").unwrap();
            assert_eq!(subpath_of(below).as_deref(), Some(subpath));
        }
        assert!(layout.transcript(&main.with_subpath("a//b")).is_err());
        assert_eq!(session_id_of("s.jsonl").as_deref(), Some("s"));
        assert_eq!(session_id_of("s.json"), None);
    }
}
