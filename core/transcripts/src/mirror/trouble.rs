//! What goes wrong with a mirror, and the message that tells of it.

use towline_protocol::json;

use crate::store::SessionKey;

/// What went wrong. The transcript on disk is complete all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Entries of this file are not in the store, or not surely: a call whose time was up may still
    /// land. [`Trouble::message`] makes a message of it.
    Lost {
        /// The file.
        key: SessionKey,
        /// The last error.
        error: String,
    },
    /// A file was not mirrored since it does not lie below the projects folder; told once a file.
    Outside {
        /// Its path.
        path: String,
        /// Where it would have to lie.
        projects: Vec<String>,
    },
    /// The CLI wrote a line that names no file, or an entry that is no object.
    Malformed,
}

/// How a message spells the names of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyNames {
    /// `projectKey`, `sessionId`.
    #[default]
    CamelCase,
    /// `project_key`, `session_id`, as the official Python package has them.
    SnakeCase,
}

impl Trouble {
    /// The `system` message of subtype `mirror_error` that tells of lost entries, as JSON text;
    /// `None` for other trouble, which `Display` puts into words.
    pub fn message(&self, uuid: &str, names: KeyNames) -> Option<String> {
        let Trouble::Lost { key, error } = self else {
            return None;
        };
        let (project, session) = match names {
            KeyNames::CamelCase => ("projectKey", "sessionId"),
            KeyNames::SnakeCase => ("project_key", "session_id"),
        };
        let mut out = String::from(r#"{"type":"system","subtype":"mirror_error","error":"#);
        json::push_string(&mut out, error);
        out.push_str(r#","key":{""#);
        out.push_str(project);
        out.push_str(r#"":"#);
        json::push_string(&mut out, &key.project_key);
        out.push_str(r#",""#);
        out.push_str(session);
        out.push_str(r#"":"#);
        json::push_string(&mut out, &key.session_id);
        if let Some(subpath) = &key.subpath {
            out.push_str(r#","subpath":"#);
            json::push_string(&mut out, subpath);
        }
        out.push_str(r#"},"uuid":"#);
        json::push_string(&mut out, uuid);
        out.push_str(r#","session_id":"#);
        json::push_string(&mut out, &key.session_id);
        out.push('}');
        Some(out)
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Lost { key, error } => write!(
                f,
                "lines of session {} are not in the store: {error}",
                key.session_id
            ),
            Trouble::Outside { path, projects } => write!(
                f,
                "{path} is not mirrored: it does not lie below {}; CLAUDE_CONFIG_DIR of the CLI \
                 is probably another than option env gives",
                projects.join(" or ")
            ),
            Trouble::Malformed => f.write_str("skipped a malformed line for the session store"),
        }
    }
}
