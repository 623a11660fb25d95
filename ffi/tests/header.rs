//! The committed header: generated from these sources, complete, and all that is exported.

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use support::{library, must, root, tool};

fn header() -> String {
    std::fs::read_to_string(root().join("include/towline.h")).unwrap()
}

/// The header without its comments.
fn code() -> String {
    let header = header();
    let mut code = String::new();
    for (index, part) in header.split("/*").enumerate() {
        let part = match index {
            0 => part,
            _ => part.split_once("*/").unwrap().1,
        };
        code.push_str(part);
    }
    code
}

fn functions() -> BTreeSet<String> {
    let code = code();
    let mut functions = BTreeSet::new();
    for (at, _) in code.match_indices('(') {
        let word = code[..at]
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next()
            .unwrap();
        if word.starts_with("towline_") {
            functions.insert(word.to_string());
        }
    }
    functions
}

#[test]
fn it_is_what_the_sources_say() {
    let generated = towline_xtask::header::generate().unwrap();
    towline_xtask::files::check(&[generated], "cargo run -p xtask -- header").unwrap();
}

#[test]
fn the_library_exports_what_the_header_has_and_nothing_else() {
    let mut command = Command::new("nm");
    command
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(library().join("libtowline.so"));
    let output = tool(&mut command, "apt-get install binutils");
    must("nm", &output);
    let exported: BTreeSet<String> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.split(' ').next().unwrap().to_string())
        .collect();
    assert_eq!(exported, functions());
}

#[test]
fn the_library_has_a_soname() {
    let mut command = Command::new("readelf");
    command.arg("-d").arg(library().join("libtowline.so"));
    let output = tool(&mut command, "apt-get install binutils");
    must("readelf", &output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[libtowline.so.0]"), "{text}");
}

#[test]
fn every_function_has_a_comment() {
    let header = header();
    for function in functions() {
        let call = format!("{function}(");
        let declared = header.match_indices(&call).map(|(at, _)| at).find(|at| {
            let line = header[..*at].rsplit('\n').next().unwrap();
            !line.trim_start().starts_with('*') && !line.contains("typedef")
        });
        let Some(at) = declared else {
            panic!("{function}");
        };
        let start = header[..at].rfind("\n\n").unwrap();
        let block = header[start..at].trim_start();
        assert!(block.starts_with("/**"), "{function}");
    }
}

/// The table of bad input has an entry for every function.
#[test]
fn bad_input_is_tried_on_every_function() {
    let table = std::fs::read_to_string(root().join("tests/c/bad_input.c")).unwrap();
    let missing: Vec<String> = functions()
        .into_iter()
        .filter(|function| !table.contains(&format!("X({function},")))
        .collect();
    assert!(missing.is_empty(), "tests/c/bad_input.c lacks {missing:?}");
}
