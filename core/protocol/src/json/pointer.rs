//! JSON Pointer (RFC 6901) over text: no tree is built, the answer is a slice of the text.

use alloc::borrow::Cow;

use super::members::{elements, members};
use super::text::Kind;

/// The pointer itself is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a JSON Pointer is empty or starts with '/', and '~' in it is followed by 0 or 1")]
pub struct PointerError;

/// The JSON text of the value that `path` names in `text`; `None` when there is none, or when
/// `text` is not JSON. Of duplicate members the last one counts, as for `JSON.parse`.
pub fn pointer<'a>(text: &'a str, path: &str) -> Result<Option<&'a str>, PointerError> {
    let mut here = text.trim_matches([' ', '\t', '\r', '\n']);
    let Some(rest) = path.strip_prefix('/') else {
        return if path.is_empty() {
            Ok(Some(here))
        } else {
            Err(PointerError)
        };
    };
    let mut missing = false;
    for token in rest.split('/') {
        let token = reference_token(token)?;
        if missing {
            continue;
        }
        let mut found = None;
        let scanned = match Kind::of(here) {
            Some(Kind::Object) => members(here, |key, value| {
                if key == token {
                    found = Some(value);
                }
            }),
            Some(Kind::Array) => {
                let wanted = array_index(&token);
                let mut index = 0;
                elements(here, |value| {
                    if wanted == Some(index) {
                        found = Some(value);
                    }
                    index += 1;
                })
            }
            _ => Ok(()),
        };
        match (scanned, found) {
            (Ok(()), Some(value)) => here = value,
            _ => missing = true,
        }
    }
    Ok((!missing).then_some(here))
}

fn array_index(token: &str) -> Option<usize> {
    if token.len() > 1 && token.starts_with('0') || !token.bytes().all(|byte| byte.is_ascii_digit())
    {
        return None;
    }
    token.parse().ok()
}

fn reference_token(token: &str) -> Result<Cow<'_, str>, PointerError> {
    if !token.contains('~') {
        return Ok(Cow::Borrowed(token));
    }
    let mut parts = token.split('~');
    let mut plain = alloc::string::String::from(parts.next().unwrap_or_default());
    for part in parts {
        let (character, tail) = match (part.strip_prefix('0'), part.strip_prefix('1')) {
            (Some(tail), _) => ('~', tail),
            (_, Some(tail)) => ('/', tail),
            _ => return Err(PointerError),
        };
        plain.push(character);
        plain.push_str(tail);
    }
    Ok(Cow::Owned(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_rfc_6901() {
        let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        for (path, value) in [
            ("", text),
            ("/foo", r#"["bar","baz"]"#),
            ("/foo/0", "\"bar\""),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(pointer(text, path), Ok(Some(value)), "{path}");
        }
    }

    #[test]
    fn absent_and_malformed() {
        let text = r#"{"a":[1,{"b":2}],"a2":"x"}"#;
        for path in ["/c", "/a/2", "/a/-", "/a/01", "/a/+1", "/a2/0", "/a/1/b/c"] {
            assert_eq!(pointer(text, path), Ok(None), "{path}");
        }
        for path in ["a", "/a~", "/a~2", "/none/~3"] {
            assert_eq!(pointer(text, path), Err(PointerError), "{path}");
        }
        assert_eq!(pointer("{\"a\":", "/a"), Ok(None));
        assert_eq!(pointer("{\"a\":1,\"a\":2}", "/a"), Ok(Some("2")));
    }
}
