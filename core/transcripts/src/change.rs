//! The lines that change a saved session: its title and its tag.

use uuid::Uuid;

use crate::error::Error;
use crate::json::Object;
use crate::project::is_session_id;
use crate::time;
use crate::unicode::{stripped, visible};

/// The entry that gives a session a title, as a store takes it: with an own id and the time.
///
/// White space around the title is dropped.
pub fn title_entry(session_id: &str, title: &str) -> Result<String, Error> {
    let mut entry = title_object(session_id, title)?;
    identified(&mut entry);
    Ok(entry.end())
}

/// The entry that tags a session, as a store takes it: with an own id and the time. `None` takes
/// the tag away.
///
/// The tag is normalised (NFKC) and loses characters that cannot be seen: format characters,
/// private and unassigned ones, and white space around it.
pub fn tag_entry(session_id: &str, tag: Option<&str>) -> Result<String, Error> {
    let mut entry = tag_object(session_id, tag)?;
    identified(&mut entry);
    Ok(entry.end())
}

pub(crate) fn title_object(session_id: &str, title: &str) -> Result<Object, Error> {
    checked_id(session_id)?;
    let title = stripped(title);
    if title.is_empty() {
        return Err(Error::EmptyTitle);
    }
    let mut entry = Object::new();
    entry
        .string("type", "custom-title")
        .string("customTitle", title)
        .string("sessionId", session_id);
    Ok(entry)
}

pub(crate) fn tag_object(session_id: &str, tag: Option<&str>) -> Result<Object, Error> {
    checked_id(session_id)?;
    let seen = tag.map(visible);
    let tag = match &seen {
        Some(tag) if stripped(tag).is_empty() => return Err(Error::EmptyTag),
        Some(tag) => stripped(tag),
        None => "",
    };
    let mut entry = Object::new();
    entry
        .string("type", "tag")
        .string("tag", tag)
        .string("sessionId", session_id);
    Ok(entry)
}

pub(crate) fn checked_id(session_id: &str) -> Result<(), Error> {
    if is_session_id(session_id) {
        Ok(())
    } else {
        Err(Error::InvalidSessionId(session_id.to_owned()))
    }
}

fn identified(entry: &mut Object) {
    entry
        .string("uuid", &Uuid::new_v4().to_string())
        .string("timestamp", &time::iso(time::now()));
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "11111111-2222-4333-8444-555555555555";

    fn members(json: &str) -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn titles_are_stripped() {
        let entry = members(&title_entry(ID, "  a \"b\"\n").unwrap());
        assert_eq!(entry["type"], "custom-title");
        assert_eq!(entry["customTitle"], "a \"b\"");
        assert_eq!(entry["sessionId"], ID);
        assert!(is_session_id(entry["uuid"].as_str().unwrap()));
        assert!(time::parse_iso(entry["timestamp"].as_str().unwrap()).is_some());
        assert!(matches!(title_entry(ID, " \t"), Err(Error::EmptyTitle)));
        assert!(matches!(
            title_entry("x", "t"),
            Err(Error::InvalidSessionId(_))
        ));
    }

    #[test]
    fn tags_are_made_visible() {
        assert_eq!(
            members(&tag_entry(ID, Some("\u{200b} v\u{202e}1 ")).unwrap())["tag"],
            "v1"
        );
        assert_eq!(members(&tag_entry(ID, None).unwrap())["tag"], "");
        assert!(matches!(
            tag_entry(ID, Some("\u{200b} ")),
            Err(Error::EmptyTag)
        ));
        assert!(matches!(tag_entry(ID, Some("")), Err(Error::EmptyTag)));
    }
}
