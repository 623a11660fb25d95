//! A summary of a session that a store keeps up to date while entries are appended.

use towline_protocol::json::{members, push_string, string};
use towline_protocol::launch::Dialect;

use crate::info::SessionInfo;
use crate::json::{filled_string, is_truthy, Object};
use crate::prompt::{content_of_entry, FirstPrompt};
use crate::time;

/// What a store keeps beside a session so that listing needs not load its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session's id.
    pub session_id: String,
    /// When the store has written it, in milliseconds since 1970, on the clock of the store's list
    /// of sessions. The fold leaves it alone: 0 for a new summary.
    pub mtime: i64,
    /// A JSON object that the store keeps as it is.
    pub data: String,
}

/// Members of entries whose last value counts, and their names in the summary.
const LAST_ONE_COUNTS: [(&str, &str); 5] = [
    ("customTitle", "custom_title"),
    ("aiTitle", "ai_title"),
    ("lastPrompt", "last_prompt"),
    ("summary", "summary_hint"),
    ("gitBranch", "git_branch"),
];

/// The summary of a session after more entries were appended to it. `previous` is the one before,
/// none for a new session. A subagent's entries must not be folded into their session's summary.
///
/// Entries that are no JSON objects are skipped.
pub fn fold_summary<E: AsRef<str>>(
    previous: Option<&SessionSummary>,
    session_id: &str,
    entries: &[E],
) -> SessionSummary {
    fold_summary_in(Dialect::default(), previous, session_id, entries)
}

/// As [`fold_summary`], for a package's users: what counts as the first prompt is not the same in
/// both (see [`SavedSessions::in_dialect`](crate::SavedSessions::in_dialect)).
pub fn fold_summary_in<E: AsRef<str>>(
    dialect: Dialect,
    previous: Option<&SessionSummary>,
    session_id: &str,
    entries: &[E],
) -> SessionSummary {
    let mut data = Data::of(previous.map_or("{}", |previous| &previous.data));
    for entry in entries {
        data.fold(entry.as_ref(), dialect);
    }
    SessionSummary {
        session_id: previous
            .map_or(session_id, |previous| &previous.session_id)
            .to_owned(),
        mtime: previous.map_or(0, |previous| previous.mtime),
        data: data.write(),
    }
}

impl SessionSummary {
    /// What a list tells of the session; `None` for one that no list shows. `project_path` is the
    /// working directory if the entries tell none.
    pub fn info(&self, project_path: Option<&str>) -> Option<SessionInfo> {
        let data = Data::of(&self.data);
        let text = |name: &str| {
            let value = filled_string(data.get(name)?)?;
            Some(value.into_owned())
        };
        if data.is_set("is_sidechain") {
            return None;
        }
        let first_prompt = if data.is_set("first_prompt_locked") {
            text("first_prompt")
        } else {
            text("command_fallback")
        };
        let custom_title = text("custom_title").or_else(|| text("ai_title"));
        let summary = custom_title
            .clone()
            .or_else(|| text("last_prompt"))
            .or_else(|| text("summary_hint"))
            .or_else(|| first_prompt.clone())?;
        Some(SessionInfo {
            session_id: self.session_id.clone(),
            summary,
            last_modified: self.mtime,
            file_size: None,
            custom_title,
            first_prompt,
            git_branch: text("git_branch"),
            cwd: text("cwd").or_else(|| project_path.map(str::to_owned)),
            tag: text("tag"),
            created_at: data.get("created_at").and_then(whole_number),
            archived: None,
        })
    }

    /// As a JSON object: `session_id`, `mtime`, `data`.
    pub fn to_json(&self) -> String {
        let mut object = Object::with_capacity(self.data.len() + 96);
        object
            .string("session_id", &self.session_id)
            .number("mtime", self.mtime)
            .raw("data", &self.data);
        object.end()
    }
}

fn whole_number(json: &str) -> Option<i64> {
    json.parse()
        .ok()
        .or_else(|| json.parse::<f64>().ok().map(|number| number as i64))
}

/// The members of a summary's data in their order; unknown ones are kept.
struct Data(Vec<(String, String)>);

impl Data {
    fn of(json: &str) -> Self {
        let mut data = Data(Vec::new());
        let scanned = members(json, |key, value| data.set(key, value.to_owned()));
        match scanned {
            Ok(()) => data,
            Err(_) => Data(Vec::new()),
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(is_truthy)
    }

    fn set(&mut self, name: &str, json: String) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, value)) => *value = json,
            None => self.0.push((name.to_owned(), json)),
        }
    }

    fn set_string(&mut self, name: &str, value: &str) {
        let mut json = String::with_capacity(value.len() + 2);
        push_string(&mut json, value);
        self.set(name, json);
    }

    fn write(&self) -> String {
        let mut object = Object::with_capacity(256);
        for (name, value) in &self.0 {
            object.raw(name, value);
        }
        object.end()
    }

    fn fold(&mut self, entry: &str, dialect: Dialect) {
        let mut fields = Vec::new();
        let scanned = members(entry, |key, value| match key {
            "type" | "timestamp" | "isSidechain" | "cwd" | "tag" => {
                fields.push((key.to_owned(), value));
            }
            _ if LAST_ONE_COUNTS.iter().any(|(name, _)| *name == key) => {
                fields.push((key.to_owned(), value));
            }
            _ => {}
        });
        if scanned.is_err() {
            return;
        }
        // Of duplicate members the last one counts.
        let field = |name: &str| {
            let (_, value) = fields.iter().rev().find(|(key, _)| key == name)?;
            Some(*value)
        };
        if !self.has("is_sidechain") {
            let is_sidechain = field("isSidechain") == Some("true");
            self.set("is_sidechain", is_sidechain.to_string());
        }
        if !self.has("created_at") {
            let moment = field("timestamp").and_then(string);
            if let Some(millis) = moment.and_then(|moment| time::parse_iso(&moment)) {
                self.set("created_at", millis.to_string());
            }
        }
        if !self.has("cwd") {
            if let Some(cwd) = field("cwd").filter(|cwd| filled_string(cwd).is_some()) {
                self.set("cwd", cwd.to_owned());
            }
        }
        self.fold_prompt(entry, dialect);
        for (name, kept_as) in LAST_ONE_COUNTS {
            if let Some(value) = field(name).filter(|value| value.starts_with('"')) {
                self.set(kept_as, value.to_owned());
            }
        }
        if field("type").and_then(string).as_deref() == Some("tag") {
            match field("tag").filter(|tag| filled_string(tag).is_some()) {
                Some(tag) => self.set("tag", tag.to_owned()),
                None => self.0.retain(|(key, _)| key != "tag"),
            }
        }
    }

    fn fold_prompt(&mut self, entry: &str, dialect: Dialect) {
        if self.is_set("first_prompt_locked") {
            return;
        }
        let Some(content) = content_of_entry(entry) else {
            return;
        };
        let mut search = FirstPrompt::new(dialect);
        search.consider(content);
        if let Some(command) = search.command.filter(|_| !self.is_set("command_fallback")) {
            self.set_string("command_fallback", &command);
        }
        if let Some(prompt) = search.found {
            self.set_string("first_prompt", &prompt);
            self.set("first_prompt_locked", "true".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{json, Value};

    const ID: &str = "11111111-2222-4333-8444-555555555555";

    fn data(summary: &SessionSummary) -> Value {
        serde_json::from_str(&summary.data).unwrap()
    }

    #[test]
    fn a_session_from_its_first_entry_on() {
        let first = fold_summary(
            None,
            ID,
            &[
                r#"{"type":"mode"}"#,
                r#"{"type":"user","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","gitBranch":"a","message":{"content":"<command-name>/x</command-name>"}}"#,
            ],
        );
        assert_eq!(
            data(&first),
            json!({"is_sidechain": false, "created_at": 1_767_323_045_000i64, "cwd": "/w",
                   "command_fallback": "/x", "git_branch": "a"})
        );
        assert_eq!((first.mtime, first.session_id.as_str()), (0, ID));
        assert_eq!(first.info(None).unwrap().summary, "/x");
        let second = fold_summary(
            Some(&SessionSummary { mtime: 5, ..first }),
            "ignored",
            &[
                r#"{"type":"user","cwd":"/other","gitBranch":"b","message":{"content":"hello\nyou"}}"#,
                r#"{"type":"user","message":{"content":"later"}}"#,
                r#"{"type":"tag","tag":"t"}"#,
                r#"{"type":"custom-title","customTitle":"\u00e9"}"#,
                "damaged",
            ],
        );
        let info = second.info(Some("/p")).unwrap();
        assert_eq!(second.mtime, 5);
        assert_eq!(info.first_prompt.as_deref(), Some("hello you"));
        assert_eq!(info.summary, "é");
        assert_eq!(info.tag.as_deref(), Some("t"));
        assert_eq!(info.git_branch.as_deref(), Some("b"));
        assert_eq!(info.cwd.as_deref(), Some("/w"));
        let third = fold_summary(Some(&second), ID, &[r#"{"type":"tag","tag":""}"#]);
        assert_eq!(third.info(None).unwrap().tag, None);
        assert!(data(&third).get("tag").is_none());
    }

    #[test]
    fn what_is_not_known_is_kept() {
        let kept = SessionSummary {
            session_id: ID.to_owned(),
            mtime: 1,
            data: r#"{"future":{"a":[1]},"is_sidechain":true}"#.to_owned(),
        };
        let next = fold_summary(
            Some(&kept),
            ID,
            &[r#"{"type":"user","message":{"content":"x"}}"#],
        );
        assert_eq!(data(&next)["future"], json!({"a": [1]}));
        assert_eq!(next.info(None), None);
    }

    proptest! {
        /// In how many batches entries arrive makes no difference.
        #[test]
        fn batches_do_not_matter(cut in 0usize..7, kinds in proptest::collection::vec(0usize..6, 6)) {
            let entries: Vec<String> = kinds.iter().enumerate().map(|(n, kind)| match kind {
                0 => format!(r#"{{"type":"user","message":{{"content":"p{n}"}}}}"#),
                1 => format!(r#"{{"type":"tag","tag":"t{n}"}}"#),
                2 => r#"{"type":"tag","tag":null}"#.to_owned(),
                3 => format!(r#"{{"type":"x","timestamp":"2026-01-0{}T00:00:00Z"}}"#, n + 1),
                4 => format!(r#"{{"type":"custom-title","customTitle":"c{n}","cwd":"/{n}"}}"#),
                _ => r#"{"isSidechain":true,"type":"user","message":{"content":"<command-name>c</command-name>"}}"#.to_owned(),
            }).collect();
            let (one, two) = entries.split_at(cut.min(entries.len()));
            let both = fold_summary(Some(&fold_summary(None, ID, one)), ID, two);
            prop_assert_eq!(data(&both), data(&fold_summary(None, ID, &entries)));
        }
    }
}
