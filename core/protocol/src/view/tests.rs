#![allow(unreachable_pub, reason = "a view is public, and these are not")]

use super::*;
use proptest::prelude::*;

fn member_of<T: for<'a> Read<'a>>(value: &str) -> Option<T> {
    let text = alloc::format!("[{value}]");
    let (read, end) = T::parse(&text, 1).ok()?;
    assert_eq!(end, 1 + value.len(), "{value}");
    read
}

#[test]
fn whole_numbers() {
    for (text, expected) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("10", Some(10)),
        ("1.0", Some(1)),
        ("1e3", Some(1000)),
        ("18446744073709551615", Some(u64::MAX)),
        ("9999999999999999999", Some(9_999_999_999_999_999_999)),
        ("18446744073709551616", None),
        ("-1", None),
        ("1.5e300", None),
        ("\"1\"", None),
        ("null", None),
        ("[1]", None),
    ] {
        assert_eq!(u64::read(text), expected, "{text}");
        assert_eq!(member_of::<u64>(text), expected, "{text}");
    }
    assert!(u64::parse("[01]", 1).is_ok_and(|(_, end)| end == 2));
    assert!(u64::parse("[x]", 1).is_err() && u64::parse("", 0).is_err());
    assert_eq!(i64::read("-3"), Some(-3));
    assert_eq!(i64::read("-3.0"), Some(-3));
    assert_eq!(i64::read("1e300"), None);
    assert_eq!(f64::read("\"1\""), None);
}

view! {
    /// A view with all that a view can have.
    pub struct Sample {
        name: Cow<'a, str>,
        count as "theCount": u64,
        flag: bool,
        inner: Option<Inner<'a>>,
        list: Vec<Inner<'a>>,
        map: BTreeMap<String, Inner<'a>>,
        words: BTreeMap<String, Cow<'a, str>>,
        boxed: Option<Box<Inner<'a>>>,
        any: JsonText<'a>,
    }
}

view! {
    /// A view in a view.
    pub struct Inner {
        x: Option<f64>,
    }
}

#[test]
fn views_in_views() {
    let json = r#" { "name":"n", "theCount":3, "count":4, "flag":true, "inner":{"x":1.5,"y":[]},
        "list":[{"x":1},null,"s",{},[{}]], "map":{"a":{"x":2},"b":"no","c":{}},
        "words":{"k\n":"v\n","l":{"x":1}}, "boxed":{"x":-1}, "any":[1] } "#;
    let sample = Sample::decode(json).unwrap();
    assert_eq!((&*sample.name, sample.count, sample.flag), ("n", 3, true));
    assert_eq!(sample.get("count"), Some("4"));
    let inner = sample.inner.as_ref().unwrap();
    assert_eq!((inner.x, inner.json()), (Some(1.5), r#"{"x":1.5,"y":[]}"#));
    assert_eq!(inner.get("y"), Some("[]"));
    let list: Vec<_> = sample
        .list
        .iter()
        .map(|inner| (inner.x, inner.json()))
        .collect();
    assert_eq!(list, [(Some(1.0), r#"{"x":1}"#), (None, "{}")]);
    assert_eq!(sample.map.keys().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(sample.map["a"].x, Some(2.0));
    assert_eq!(sample.words.len(), 1);
    assert_eq!(sample.words["k\n"], "v\n");
    assert_eq!(sample.boxed.as_ref().unwrap().x, Some(-1.0));
    assert_eq!(sample.any.as_str(), "[1]");
    assert_eq!(sample.json(), json);
}

#[test]
fn values_of_another_kind_read_as_absent_and_the_last_counts() {
    for value in ["null", "\"s\"", "[]", "{}", "1", "true", "[{}]"] {
        let members = [
            "name", "theCount", "flag", "inner", "list", "map", "words", "boxed", "any",
        ];
        for member in members {
            let json = alloc::format!(r#"{{"{member}":{value}}}"#);
            assert!(Sample::decode(&json).is_ok(), "{json}");
        }
    }
    let sample = Sample::decode(
        r#"{"inner":{"x":1},"inner":"s","theCount":5,"theCount":"6","list":[{}],"list":1,
            "map":{"a":{},"a":7},"name":"n","name":{}}"#,
    )
    .unwrap();
    assert_eq!(sample.inner, None);
    assert_eq!(sample.count, 0);
    assert!(sample.list.is_empty() && sample.map.is_empty());
    assert_eq!(sample.name, "");
}

proptest! {
    #[test]
    fn a_view_takes_what_is_json_and_nothing_else(
        text in "\\{(\"(inner|list|map|theCount|any)\":[\\[\\]{}\",:0-9a-z .eE+-]{0,16},?){0,2}\\}"
    ) {
        let valid = crate::json::validate(&text);
        prop_assert_eq!(Sample::decode(&text).map(|_| ()).is_ok(), valid.is_ok(), "{}", text);
    }
}
