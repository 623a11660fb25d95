//! The members of an object and the elements of an array, scanned and visited in one pass.

use alloc::string::String;

use super::scan::{colon, finish, space, string, value, wrong, Fault, ScanError, Step, Wrong};
use super::text;

/// Validates `text` as one JSON object and calls `visit(key, value)` for each of its members, in
/// order, duplicates included. `key` is unescaped, `value` is the member's own JSON text.
///
/// `visit` may have been called for some members before an error is found.
pub fn members<'a>(text: &'a str, mut visit: impl FnMut(&str, &'a str)) -> Result<(), ScanError> {
    members_and_escapes(text, |key, value, _| visit(key, value))
}

/// As [`members`]; tells also whether the value is a string with escapes in it.
#[inline(always)]
pub(crate) fn members_and_escapes<'a>(
    text: &'a str,
    visit: impl FnMut(&str, &'a str, bool),
) -> Result<(), ScanError> {
    whole(text, &mut Flat(visit))
}

/// As [`members`], and in the same pass calls `visit_inner` for the members of the member named
/// `inner` when that is an object.
pub fn nested_members<'a>(
    text: &'a str,
    inner: &str,
    visit: impl FnMut(&str, &'a str),
    visit_inner: impl FnMut(&str, &'a str),
) -> Result<(), ScanError> {
    let mut visitor = Nested {
        inner,
        visit,
        visit_inner,
    };
    whole(text, &mut visitor)
}

/// What is done with the members of an object.
pub(crate) trait Visit<'a> {
    /// A member, and whether its value is a string with escapes.
    fn member(&mut self, key: &str, value: &'a str, escaped: bool);

    /// Steps over a member's value, from its first byte. Strings are stepped over without asking.
    #[inline(always)]
    fn step(&mut self, _key: &str, text: &'a str, at: usize) -> Step {
        value(text.as_bytes(), at)
    }
}

struct Flat<F>(F);

impl<'a, F: FnMut(&str, &'a str, bool)> Visit<'a> for Flat<F> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, escaped: bool) {
        (self.0)(key, value, escaped);
    }
}

struct Nested<'k, F, G> {
    inner: &'k str,
    visit: F,
    visit_inner: G,
}

impl<'a, F: FnMut(&str, &'a str), G: FnMut(&str, &'a str)> Visit<'a> for Nested<'_, F, G> {
    #[inline(always)]
    fn member(&mut self, key: &str, value: &'a str, _: bool) {
        (self.visit)(key, value);
    }

    #[inline(always)]
    fn step(&mut self, key: &str, text: &'a str, at: usize) -> Step {
        if key != self.inner || text.as_bytes().get(at) != Some(&b'{') {
            return value(text.as_bytes(), at);
        }
        let visit_inner = &mut self.visit_inner;
        let mut inner = Flat(|key: &str, value, _| visit_inner(key, value));
        object(text, at, &mut inner)
    }
}

/// Visits the members of `text`, which is one object and nothing else.
#[inline(always)]
pub(crate) fn whole<'a>(text: &'a str, visitor: &mut impl Visit<'a>) -> Result<(), ScanError> {
    let bytes = text.as_bytes();
    let end = object(text, space(bytes, 0), visitor)?;
    Ok(finish(bytes, end)?)
}

/// Validates `text` as one JSON array and calls `visit(value)` for the JSON text of each element.
pub fn elements<'a>(text: &'a str, mut visit: impl FnMut(&'a str)) -> Result<(), ScanError> {
    let bytes = text.as_bytes();
    let end = array(bytes, space(bytes, 0), |at| {
        let end = value(bytes, at)?;
        visit(text.get(at..end).unwrap_or_default());
        Ok(end)
    })?;
    Ok(finish(bytes, end)?)
}

/// The JSON text of each element of an array, scanned and validated one by one. An error is the
/// last item; without one, the text is one valid array.
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    text: &'a str,
    at: usize,
    state: Reading,
}

#[derive(Debug, Clone, Copy)]
enum Reading {
    Start,
    Elements,
    Done,
}

impl<'a> Elements<'a> {
    /// The elements of `text`; nothing is scanned yet.
    pub fn of(text: &'a str) -> Self {
        Elements {
            text,
            at: 0,
            state: Reading::Start,
        }
    }

    /// Steps behind the comma, or to the end when there is no other element.
    fn separator(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        let first = matches!(self.state, Reading::Start);
        let mut at = space(bytes, self.at);
        if first {
            if bytes.get(at) != Some(&b'[') {
                return wrong(Wrong::NotAnArray, at);
            }
            at = space(bytes, at + 1);
        }
        match bytes.get(at) {
            Some(b']') => {
                self.state = Reading::Done;
                return finish(bytes, at + 1);
            }
            _ if first => self.at = at,
            Some(b',') => self.at = space(bytes, at + 1),
            _ => return wrong(Wrong::ArrayGoesOn, at),
        }
        self.state = Reading::Elements;
        Ok(())
    }

    fn element(&mut self) -> Result<Option<&'a str>, Fault> {
        self.separator()?;
        if let Reading::Done = self.state {
            return Ok(None);
        }
        let end = value(self.text.as_bytes(), self.at)?;
        let element = self.text.get(self.at..end).unwrap_or_default();
        self.at = end;
        Ok(Some(element))
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<&'a str, ScanError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Reading::Done = self.state {
            return None;
        }
        self.element()
            .map_err(|fault| {
                self.state = Reading::Done;
                ScanError::from(fault)
            })
            .transpose()
    }
}

/// Steps over an array, from its bracket; `step(at)` steps over each element.
#[inline(always)]
pub(crate) fn array(bytes: &[u8], mut at: usize, mut step: impl FnMut(usize) -> Step) -> Step {
    if bytes.get(at) != Some(&b'[') {
        return wrong(Wrong::NotAnArray, at);
    }
    at = space(bytes, at + 1);
    if bytes.get(at) == Some(&b']') {
        return Ok(at + 1);
    }
    loop {
        at = space(bytes, step(at)?);
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1),
            Some(b']') => return Ok(at + 1),
            _ => return wrong(Wrong::ArrayGoesOn, at),
        }
    }
}

/// Steps over an object, from its brace, and visits its members.
#[inline]
pub(crate) fn object<'a>(text: &'a str, mut at: usize, visitor: &mut impl Visit<'a>) -> Step {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'{') {
        return wrong(Wrong::NotAnObject, at);
    }
    at = space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        return Ok(at + 1);
    }
    loop {
        if bytes.get(at) != Some(&b'"') {
            return wrong(Wrong::Name, at);
        }
        let (end, escaped) = string(bytes, at)?;
        let mut key = text.get(at + 1..end - 1).unwrap_or_default();
        let mut plain = String::new();
        if escaped {
            text::unescape(key, &mut plain);
            key = &plain;
        }
        at = colon(bytes, end)?;
        let (end, escaped) = match bytes.get(at) {
            Some(b'"') => string(bytes, at)?,
            _ => (visitor.step(key, text, at)?, false),
        };
        visitor.member(key, text.get(at..end).unwrap_or_default(), escaped);
        at = space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = space(bytes, at + 1),
            Some(b'}') => return Ok(at + 1),
            _ => return wrong(Wrong::ObjectGoesOn, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn elements_one_by_one() {
        let all = |text| Elements::of(text).collect::<Result<Vec<&str>, ScanError>>();
        assert_eq!(all(" [ ] ").unwrap(), [""; 0]);
        assert_eq!(
            all("[1 , [2,3],\"]\",{}]").unwrap(),
            ["1", "[2,3]", "\"]\"", "{}"]
        );
        let not_an_array = ScanError {
            at: 1,
            what: "not an array",
        };
        assert_eq!(elements(" {}", |_| {}), Err(not_an_array));
        for text in ["", "[", "[,1]", "[1,]", "[1 2]", "[1]]", "{}", "[1}"] {
            assert!(
                all(text).is_err() && elements(text, |_| {}).is_err(),
                "{text}"
            );
            let count = Elements::of(text).count();
            assert!(count < 3, "{text}: nothing comes after an error");
        }
    }

    #[test]
    fn members_are_given_in_order_with_unescaped_keys() {
        let mut seen = vec![];
        members(
            " {\"\\u0074ype\" : \"a b\" , \"n\":[1, 2],\"n\":3} ",
            |key, value| {
                seen.push((key.to_string(), value));
            },
        )
        .unwrap();
        assert_eq!(
            seen,
            [
                ("type".into(), "\"a b\""),
                ("n".into(), "[1, 2]"),
                ("n".into(), "3")
            ]
        );
    }

    #[test]
    fn inner_members_come_in_the_same_pass() {
        for (text, outer, inner) in [
            (
                r#"{"a":1,"in":{"x":[{}],"\u0079":2} ,"b":{"x":3}}"#,
                vec!["a", "in", "b"],
                vec![("x", "[{}]"), ("y", "2")],
            ),
            (r#"{"in":[{"x":1}]}"#, vec!["in"], vec![]),
            (r#"{"in":{}}"#, vec!["in"], vec![]),
            (r#"{}"#, vec![], vec![]),
        ] {
            let (mut seen, mut seen_inner) = (vec![], vec![]);
            nested_members(
                text,
                "in",
                |key, _| seen.push(key.to_string()),
                |key, value| seen_inner.push((key.to_string(), value)),
            )
            .unwrap();
            assert_eq!(seen, outer);
            let inner: alloc::vec::Vec<_> = inner
                .into_iter()
                .map(|(key, value)| (key.to_string(), value))
                .collect();
            assert_eq!(seen_inner, inner);
        }
        for text in [
            "",
            "[]",
            r#"{"in":{"x":1}"#,
            r#"{"in":{"x":1,}}"#,
            r#"{"in":{"x"}}"#,
            r#"{"in":{}}}"#,
        ] {
            assert!(nested_members(text, "in", |_, _| {}, |_, _| {}).is_err());
        }
    }
}
