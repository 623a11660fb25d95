//! Whatever stands in an options document: no panic, and a plan that can be sent.

use proptest::prelude::*;
use serde_json::Value;
use towline_protocol::launch::{plan, Environment, HostSide, Options};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[-={/\\n\" a]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(
                prop_oneof![
                    any::<String>(),
                    "type|prompt|path|schema|sdk|local|env|sandbox|network"
                ],
                inner,
                0..4
            )
            .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A value that fits the key somewhat more often than chance.
fn entry() -> impl Strategy<Value = (String, Value)> {
    let key = prop::sample::select(Options::KEYS).prop_map(String::from);
    let strings = prop::collection::vec(any::<String>(), 0..3).prop_map(Value::from);
    let object = prop::collection::btree_map(any::<String>(), value(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    let text = any::<String>().prop_map(Value::from);
    (
        key,
        prop_oneof![
            value(),
            strings,
            object,
            text,
            Just(Value::from(true)),
            Just(Value::from(7))
        ],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_an_options_document_or_an_error(text in any::<String>()) {
        let _ = Options::from_json(&text);
        let _ = Options::default().set("settings", &text);
    }

    #[test]
    fn any_options_that_are_taken_make_a_plan_or_an_error(
        entries in prop::collection::vec(entry(), 0..12),
        dialect in prop::sample::select(vec!["towline", "python", "typescript"]),
    ) {
        let mut options = Options::default();
        options.set("dialect", &format!("\"{dialect}\"")).unwrap();
        for (key, value) in entries {
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let _ = options.set(&key, &pretty);
        }
        let document = serde_json::to_string(&options).unwrap();
        prop_assert_eq!(&Options::from_json(&document).unwrap(), &options, "{}", document);

        let machine = Environment {
            settings_file: options.settings_to_read().map(|_| Ok("{\"a\":1}".into())),
            ..Environment::default()
        };
        if let Ok(plan) = plan(&options, &HostSide::default(), &machine) {
            prop_assert!(!plan.initialize.contains(['\n', '\r']));
            prop_assert!(serde_json::from_str::<Value>(&plan.initialize).unwrap().is_object());
            for file in &plan.private_files {
                prop_assert!(serde_json::from_str::<Value>(&file.contents).unwrap().is_object());
            }
            prop_assert!(plan.argv.iter().all(|argument| argument.starts_with("--")));
            let files = vec!["/p"; plan.private_files.len()];
            prop_assert!(plan.command("claude", &files).is_ok());
        }
    }
}
