//! What the documents say of the tests is so.

use std::path::Path;

/// Every test that docs/security.md names stands in the file it names.
#[test]
fn the_claims_about_security_have_their_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut source = None;
    let mut found = 0;
    for name in text.split('`').skip(1).step_by(2) {
        if name.ends_with(".rs") {
            let read = std::fs::read_to_string(root.join(name));
            source = Some((name, read.unwrap_or_else(|error| panic!("{name}: {error}"))));
        } else if let (Some((file, source)), true) = (&source, is_test_name(name)) {
            assert!(
                source.contains(&format!("fn {name}(")) || source.contains(&format!("({name},")),
                "{file} has no test {name}"
            );
            found += 1;
        }
    }
    assert!(found > 40, "only {found} tests are named");
}

/// Several words; names of options and commands have none of these.
fn is_test_name(name: &str) -> bool {
    name.contains('_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
        || name == "sanitized"
}
