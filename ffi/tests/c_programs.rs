//! The C programs of `tests/c`: as they are, under ASan and UBSan, and under valgrind.

mod support;

use std::process::Command;

use support::{compile, must, ready, tool, Build};

fn run(source: &str, build: Build) {
    let scratch = tempfile::tempdir().unwrap();
    let mut program = Command::new(compile(source, build, scratch.path()));
    ready(&mut program, scratch.path());
    // A leak that LeakSanitizer cannot look for under ptrace is found by valgrind all the same.
    program.env("ASAN_OPTIONS", "exitcode=99");
    must(source, &program.output().unwrap());
}

fn valgrind(source: &str) {
    let scratch = tempfile::tempdir().unwrap();
    let program = compile(source, Build::C99, scratch.path());
    let mut command = Command::new("valgrind");
    ready(&mut command, scratch.path());
    command
        .args([
            "--quiet",
            "--error-exitcode=99",
            "--leak-check=full",
            "--trace-children=no",
            "--child-silent-after-fork=no",
        ])
        .arg(program);
    must(source, &tool(&mut command, "apt-get install valgrind"));
}

macro_rules! programs {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;

            const SOURCE: &str = concat!(stringify!($name), ".c");

            #[test]
            fn plain() {
                run(SOURCE, Build::C99);
            }

            #[test]
            fn sanitized() {
                run(SOURCE, Build::Sanitized);
            }

            #[test]
            fn under_valgrind() {
                valgrind(SOURCE);
            }
        }
    )*};
}

programs! {
    conversation
    requests
    event_loop
    bare
    bad_input
    versions
}

/// Every program of the folder is run above.
#[test]
fn no_program_is_left_out() {
    let here = include_str!("c_programs.rs");
    for entry in std::fs::read_dir(support::root().join("tests/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".c") {
            assert!(here.contains(&format!("\n    {name}\n")), "{name}");
        }
    }
}

#[test]
fn the_header_is_cpp17() {
    run("cpp17.cpp", Build::Cpp17);
}
