//! How a project's directory and a session's file are named.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// A directory name longer than this many UTF-16 units is cut and told apart by a hash.
pub(crate) const MAX_NAME: usize = 200;

/// Whether a text is a UUID in its usual form, in either case.
pub fn is_session_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The name under which the CLI and a store keep the sessions of a directory: its real path
/// (symlinks resolved, NFC) with each UTF-16 unit outside `A-Za-z0-9` written as `-`. Of a path of
/// more than 200 units the first 200 are kept and a hash of the whole is appended.
///
/// A directory that does not exist is taken as far as it exists.
pub fn project_key(directory: &Path) -> String {
    project_key_of_path(&canonical(directory))
}

/// The same for a path that is already real and normalised.
pub fn project_key_of_path(path: &str) -> String {
    let mut name = encoded(path);
    if name.len() > MAX_NAME {
        name.truncate(MAX_NAME);
        name.push('-');
        push_base36(&mut name, hash(path));
    }
    name
}

/// The path with each UTF-16 unit outside `A-Za-z0-9` as `-`; ASCII only, so a unit is a byte.
fn encoded(path: &str) -> String {
    path.encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
            _ => '-',
        })
        .collect()
}

/// The first 200 characters and the hyphen behind them, for a path that is long enough to be
/// hashed: another program may have hashed it in another way.
pub(crate) fn long_prefix(path: &str) -> Option<String> {
    let mut name = encoded(path);
    (name.len() > MAX_NAME).then(|| {
        name.truncate(MAX_NAME);
        name.push('-');
        name
    })
}

/// The hash of Java's strings and its amount.
fn hash(text: &str) -> u32 {
    text.encode_utf16()
        .fold(0i32, |hash, unit| {
            hash.wrapping_mul(31).wrapping_add(i32::from(unit))
        })
        .unsigned_abs()
}

fn push_base36(out: &mut String, number: u32) {
    let mut power = 1u32;
    while number / power >= 36 {
        power *= 36;
    }
    while power > 0 {
        out.extend(char::from_digit(number / power % 36, 36));
        power /= 36;
    }
}

/// The text in Unicode's composed form.
pub(crate) fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// The real path of a directory in NFC; what does not exist is kept as it is written.
pub(crate) fn canonical(directory: &Path) -> String {
    nfc(&real_path(directory).to_string_lossy())
}

fn real_path(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut real = PathBuf::new();
    for part in absolute.components() {
        match part {
            std::path::Component::ParentDir => {
                real.pop();
            }
            std::path::Component::CurDir => {}
            part => {
                real.push(part);
                // Only what exists has a target; a part behind it is kept.
                if let Ok(target) = real.canonicalize() {
                    real = target;
                }
            }
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_of_project_directories() {
        for (path, key) in [
            ("/srv/app", "-srv-app"),
            ("/a/my_app.v2 x/ünï 文", "-a-my-app-v2-x--n---"),
            // One emoji is two UTF-16 units.
            ("/a/🚀", "-a---"),
            ("", ""),
        ] {
            assert_eq!(project_key_of_path(path), key, "{path}");
        }
    }

    #[test]
    fn long_paths_end_with_a_hash() {
        let path = format!("/{}", "a".repeat(199));
        assert_eq!(project_key_of_path(&path), format!("-{}", "a".repeat(199)));
        assert_eq!(long_prefix(&path), None);
        let path = format!("/{}", "a".repeat(200));
        let key = project_key_of_path(&path);
        assert!(key.starts_with(&format!("-{}-", "a".repeat(199))), "{key}");
        assert_eq!(long_prefix(&path).as_deref(), key.get(..201));
    }

    #[test]
    fn hashes() {
        // "polygenelubricants" hashes to the smallest 32-bit number, whose amount has no i32.
        assert_eq!(hash("polygenelubricants"), 0x8000_0000);
        assert_eq!(hash("hello"), 99_162_322);
        for (number, text) in [(0, "0"), (35, "z"), (36, "10"), (u32::MAX, "1z141z3")] {
            let mut out = String::new();
            push_base36(&mut out, number);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn decomposed_paths_are_composed() {
        let composed = project_key(Path::new("/no-such-place/\u{e9}"));
        assert_eq!(project_key(Path::new("/no-such-place/e\u{301}")), composed);
        assert_eq!(composed, "-no-such-place--");
    }

    #[test]
    fn session_ids() {
        assert!(is_session_id("11111111-2222-4333-8444-555555555555"));
        assert!(is_session_id("ABCDEFab-2222-4333-8444-555555555555"));
        for text in [
            "",
            "11111111-2222-4333-8444-55555555555",
            "11111111-2222-4333-8444-5555555555555",
            "11111111x2222-4333-8444-555555555555",
            "../11111-2222-4333-8444-555555555555",
        ] {
            assert!(!is_session_id(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn keys_are_safe_names(path in any::<String>()) {
            let key = project_key_of_path(&path);
            prop_assert!(key.len() <= MAX_NAME + 8);
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
        }
    }
}
