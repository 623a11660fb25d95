//! Cases that differ from a case only in what must not matter.

use super::Case;
use crate::json::Json;

/// The longest line that hosts of [`Neighbour::AtLimit`] take.
const LINE_LIMIT: usize = 40_000;

const CHOICE: &str = "TOWLINE_NEIGHBOURS";

/// A way in which the same output can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// One byte a write; long lines 4,095.
    Bytes,
    /// Seven bytes a write, which cuts characters and escapes; long lines 65,537.
    Pieces,
    /// Lines end with CR LF.
    CrLf,
    /// Empty lines stand between the lines.
    BlankLines,
    /// The members of every object stand in reverse.
    Reversed,
    /// All that is not ASCII is escaped.
    Escaped,
    /// Every message is filled up with a member nobody knows, to a line of this many bytes.
    Padded(usize),
    /// Every message is filled up to the longest line that the host takes, and a line that is one
    /// byte longer stands before it, of which nothing comes.
    AtLimit,
    /// Pieces, reversed members, CR LF and empty lines at once.
    Mixed,
}

use Neighbour::{AtLimit, BlankLines, Bytes, CrLf, Escaped, Mixed, Padded, Pieces, Reversed};

impl Neighbour {
    /// All of them; sizes about what a pipe holds.
    pub const ALL: [Neighbour; 11] = [
        Mixed,
        Bytes,
        Pieces,
        CrLf,
        BlankLines,
        Reversed,
        Escaped,
        Padded(65_535),
        Padded(65_536),
        Padded(65_537),
        AtLimit,
    ];

    /// Its name: `mixed`, `bytes`, `padded-65536`.
    pub fn name(self) -> String {
        match self {
            Padded(length) => format!("padded-{length}"),
            CrLf => "crlf".into(),
            BlankLines => "blank-lines".into(),
            AtLimit => "at-limit".into(),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Neighbour> {
        let known = Neighbour::ALL.into_iter().find(|one| one.name() == name);
        let padded = || name.strip_prefix("padded-")?.parse().ok().map(Padded);
        known.or_else(padded)
    }

    /// Those that the variable `TOWLINE_NEIGHBOURS` names, `all` or names with commas between
    /// them; `None` without it.
    ///
    /// # Errors
    /// A text, when one of the names is none.
    pub fn chosen() -> Result<Option<Vec<Neighbour>>, String> {
        match std::env::var(CHOICE).as_deref() {
            Err(_) | Ok("") => Ok(None),
            Ok(names) => Neighbour::list(names)
                .map(Some)
                .map_err(|error| format!("{CHOICE}: {error}")),
        }
    }

    /// Those of these names, which have commas between them; `all` is all of them.
    ///
    /// # Errors
    /// A text, when one of the names is none.
    pub fn list(names: &str) -> Result<Vec<Neighbour>, String> {
        if names == "all" {
            return Ok(Neighbour::ALL.into());
        }
        let named =
            |name| Neighbour::named(name).ok_or_else(|| format!("no such neighbour: {name}"));
        names.split(',').map(named).collect()
    }

    /// `many` says that the step runs many times.
    fn step(self, step: &mut Json, many: bool) {
        let Json::Object(fields) = step else { return };
        let has = |fields: &[(Vec<u8>, Json)], key: &str| {
            fields.iter().any(|(name, _)| name == key.as_bytes())
        };
        let set = |fields: &mut Vec<(Vec<u8>, Json)>, key: &str, value: Json| {
            // What the case is about stays.
            if !has(fields, key) {
                fields.push((key.into(), value));
            }
        };
        let repeated = fields.iter_mut().find(|(name, _)| name == b"steps");
        match (repeated, self) {
            // Thousands of long lines, and long lines byte by byte, are about time alone.
            (Some(_), Padded(_) | AtLimit) => return,
            (Some((_, Json::Array(steps))), _) => {
                steps.iter_mut().for_each(|step| self.step(step, true));
            }
            _ => {}
        }
        let text = ["emit", "emit_ascii", "emit_raw", "emit_raw_b64"];
        let long = ["emit_big", "emit_nested"];
        let is_short = text.iter().any(|key| has(fields, key));
        let is_long = long.iter().any(|key| has(fields, key));
        let takes_end = has(fields, "emit") || has(fields, "emit_big");
        let number = |number: usize| Json::Number(number.to_string());
        let (short_piece, long_piece) = match self {
            _ if many => (97, 65_537),
            Bytes => (1, 4_095),
            _ => (7, 65_537),
        };
        if matches!(self, Bytes | Pieces | Mixed) && (is_short || is_long) {
            let piece = if is_short { short_piece } else { long_piece };
            set(fields, "chunk", number(piece));
        }
        let end = match self {
            CrLf => Some("\r\n"),
            BlankLines => Some("\n\n\r\n"),
            Mixed => Some("\r\n\n"),
            _ => None,
        };
        if let Some(end) = end.filter(|_| takes_end) {
            set(fields, "eol", Json::string(end));
        }
        let cut = has(fields, "chunk");
        let ends = has(fields, "eol");
        let emitted = fields.iter_mut().find(|(name, _)| {
            ["emit", "emit_ascii", "emit_big", "emit_nested"]
                .iter()
                .any(|key| name == key.as_bytes())
        });
        let Some((name, value)) = emitted else { return };
        match self {
            Reversed | Mixed => reverse(value),
            Padded(length) if name == b"emit" && !cut => pad(value, length),
            // The limit does not count the line feed.
            AtLimit if name == b"emit" && !cut && !ends && !is_filled(value) => {
                pad(value, LINE_LIMIT + 1);
            }
            Escaped if name == b"emit" && !has_end(step) => {
                if let Json::Object(fields) = step {
                    for (name, _) in fields.iter_mut().filter(|(name, _)| name == b"emit") {
                        *name = b"emit_ascii".to_vec();
                    }
                }
            }
            _ => {}
        }
    }
}

/// Whether the script puts something into it, which changes its length.
fn is_filled(value: &Json) -> bool {
    value.compact().contains(&b'$')
}

fn has_end(step: &Json) -> bool {
    step.get("eol").is_some()
}

fn reverse(value: &mut Json) {
    match value {
        Json::Array(items) => items.iter_mut().for_each(reverse),
        Json::Object(fields) => {
            fields.iter_mut().for_each(|(_, value)| reverse(value));
            let mut names: Vec<&Vec<u8>> = fields.iter().map(|(name, _)| name).collect();
            names.sort();
            // Of equal names the last counts.
            if names.windows(2).all(|pair| pair[0] != pair[1]) {
                fields.reverse();
            }
        }
        _ => {}
    }
}

/// Makes a line of that length of it, the newline included.
fn pad(value: &mut Json, length: usize) {
    const PADDING: &str = "padding_nobody_knows";
    let around = r#","":"""#.len() + PADDING.len() + 1;
    let own = value.compact().len();
    let Json::Object(fields) = value else { return };
    if let Some(missing) = length.checked_sub(own + around) {
        fields.push((PADDING.into(), Json::String(vec![b'x'; missing])));
    }
}

/// Puts a line over the limit before every message of the script that follows a prompt (one before could be
/// the answer to `initialize`, so that it ends the session), sets the limit, and has nothing come of those
/// lines; `false` when the case is about long lines itself.
fn limit_lines(document: &mut Json) -> bool {
    let has = |step: &Json, key: &str| step.get(key).is_some();
    let steps = document.at(&["cli_script"]).items();
    let sets_limit = document.at(&["host"]).items().iter().any(|step| {
        step.get("options")
            .is_some_and(|options| has(options, "max_buffer_size"))
    });
    // What an `emit` was filled up to is one more, with the line feed.
    let is_long = |step: &Json| {
        let length = |key| step.get(key).map_or(0, |line: &Json| line.compact().len());
        has(step, "emit_big") || length("emit").max(length("emit_raw")) > LINE_LIMIT
    };
    if sets_limit || steps.iter().any(is_long) {
        return false;
    }
    let parse = |text: String| Json::parse(text.as_bytes()).ok();
    let around = r#"{"type":"system","subtype":"over_limit","fill":""}"#.len();
    let over = parse(format!(
        r#"{{"emit_big":{{"type":"system","subtype":"over_limit","fill":"@FILL@"}},"bytes":{}}}"#,
        LINE_LIMIT + 1 - around
    ));
    let limit = parse(format!(
        r#"{{"options":{{"max_buffer_size":{LINE_LIMIT}}}}}"#
    ));
    let nothing = parse(r#"{"count":{"type":"system","subtype":"over_limit"},"eq":0}"#.into());
    let (Some(over), Some(limit), Some(nothing), Json::Object(fields)) =
        (over, limit, nothing, document)
    else {
        return false;
    };
    for (name, value) in fields {
        let Json::Array(items) = value else { continue };
        match name.as_slice() {
            b"host" => items.insert(0, limit.clone()),
            b"expect" => items.push(nothing.clone()),
            b"cli_script" => {
                let mut prompted = false;
                let longer = |step: Json| {
                    prompted |= step.at(&["expect", "type"]).is("user");
                    let before = (prompted && has(&step, "emit")).then(|| over.clone());
                    before.into_iter().chain([step])
                };
                *items = std::mem::take(items).into_iter().flat_map(longer).collect();
            }
            _ => {}
        }
    }
    true
}

impl Case {
    /// The same case with its output written in that way; `None` when that is no difference.
    pub fn neighbour(&self, neighbour: Neighbour) -> Option<Case> {
        let mut case = self.clone();
        let Json::Object(fields) = &mut case.document else {
            return None;
        };
        for (name, value) in fields {
            if let (b"cli_script", Json::Array(steps)) = (name.as_slice(), value) {
                steps
                    .iter_mut()
                    .for_each(|step| neighbour.step(step, false));
            }
        }
        if case.document == self.document {
            return None;
        }
        if neighbour == AtLimit && !limit_lines(&mut case.document) {
            return None;
        }
        case.title = format!("{}, {}", neighbour.name(), case.title);
        Some(case)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stepped(neighbour: Neighbour, step: &str) -> String {
        let mut step = Json::parse(step.as_bytes()).unwrap();
        neighbour.step(&mut step, false);
        String::from_utf8(step.compact()).unwrap()
    }

    #[test]
    fn what_a_case_is_about_stays() {
        assert_eq!(
            stepped(Mixed, r#"{"emit":{"a":1,"b":{"c":2,"d":3}},"chunk":3}"#),
            r#"{"emit":{"b":{"d":3,"c":2},"a":1},"chunk":3,"eol":"\r\n\n"}"#
        );
        assert_eq!(stepped(Mixed, r#"{"exit":1}"#), r#"{"exit":1}"#);
        assert_eq!(
            stepped(Reversed, r#"{"emit":{"a":1,"a":2}}"#),
            r#"{"emit":{"a":1,"a":2}}"#
        );
        assert_eq!(
            stepped(Escaped, r#"{"repeat":2,"steps":[{"emit":{"a":1}}]}"#),
            r#"{"repeat":2,"steps":[{"emit_ascii":{"a":1}}]}"#
        );
    }

    #[test]
    fn a_padded_line_has_that_length() {
        let mut value = Json::parse(br#"{"type":"system"}"#).unwrap();
        pad(&mut value, 100);
        assert_eq!(value.compact().len() + 1, 100);
    }

    #[test]
    fn a_line_over_the_limit_is_longer_by_one() {
        let mut document = Json::parse(
            br#"{"cli_script":[{"expect":{"type":"user"}},{"emit":{}}],"host":[],"expect":[]}"#,
        )
        .unwrap();
        assert!(limit_lines(&mut document));
        let over = &document.at(&["cli_script"]).items()[1];
        let filled = over.at(&["bytes"]).as_f64().unwrap() as usize;
        let line = over.at(&["emit_big"]).compact().len() - "@FILL@".len() + filled;
        assert_eq!(line, LINE_LIMIT + 1);
        assert!(!limit_lines(&mut document));
    }

    #[test]
    fn names_find_their_own() {
        for neighbour in Neighbour::ALL {
            assert_eq!(Neighbour::named(&neighbour.name()), Some(neighbour));
        }
        assert_eq!(Neighbour::named("padded-7"), Some(Padded(7)));
        assert_eq!(Neighbour::named("other"), None);
    }
}
