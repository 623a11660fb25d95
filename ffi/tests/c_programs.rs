//! The C programs of `tests/c`: as they are, under ASan and UBSan, and under valgrind.

#[path = "scenarios/real_cli.rs"]
mod real_cli;
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{library, must, root, tool};
use towline_testkit::Program;

/// How a program is compiled.
#[derive(Clone, Copy)]
enum Build {
    /// C99 with every warning an error.
    C99,
    /// The same with ASan and UBSan.
    Sanitized,
    /// C++17.
    Cpp17,
}

/// Compiles a program, named as `tests/c` sees it, and links it with the shared library.
fn compile(source: &str, build: Build, scratch: &Path) -> PathBuf {
    // Not by the name alone: the programs make files and folders of their own here.
    let name = Path::new(source).with_extension("program");
    let program = scratch.join(name.file_name().unwrap());
    let mut command = Command::new(match build {
        Build::Cpp17 => "c++",
        _ => "cc",
    });
    match build {
        Build::C99 => command.args(["-std=c99"]),
        Build::Sanitized => command.args([
            "-std=c99",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ]),
        Build::Cpp17 => command.args(["-std=c++17"]),
    };
    command
        .args([
            "-D_POSIX_C_SOURCE=200809L",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-g",
            "-pthread",
        ])
        .arg("-I")
        .arg(root().join("include"))
        .arg(root().join("tests/c").join(source))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(library())
        .arg("-ltowline")
        .arg(format!("-Wl,-rpath,{}", library().display()));
    must(source, &tool(&mut command, "apt-get install gcc g++"));
    program
}

/// A command with what the programs of `tests/c` need in their environment.
fn ready(command: &mut Command, scratch: &Path) {
    command
        .env("FAKE_CLI", Program::FakeCli.locate().unwrap())
        .env("SCRATCH", scratch)
        .env_remove("FAKE_CLI_SCRIPT")
        .env_remove("FAKE_CLI_BENCH");
}

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
    transport
    transport_faults
    event_loop
    observing
    pool
    bare
    bad_input
    saved
    store
    versions
}

/// Every program of the folder is run above, but for the one that needs a real CLI.
#[test]
fn no_program_is_left_out() {
    let here = include_str!("c_programs.rs");
    for entry in std::fs::read_dir(root().join("tests/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = name.strip_suffix(".c").filter(|name| *name != "real_cli") {
            assert!(here.contains(&format!("\n    {name}\n")), "{name}");
        }
    }
}

#[test]
fn the_header_is_cpp17() {
    run("cpp17.cpp", Build::Cpp17);
}

/// Its exit status tells whether the turn had a result.
#[test]
fn half_an_answer_is_a_failure_of_the_quickstart() {
    let scratch = tempfile::tempdir().unwrap();
    let program = compile(
        "../../examples/c/quickstart.c",
        Build::Sanitized,
        scratch.path(),
    );
    let fake = Program::FakeCli.locate().unwrap();
    std::os::unix::fs::symlink(fake, scratch.path().join("claude")).unwrap();
    let played = |steps: &str| {
        let message = r#"{"emit": {"type": "assistant", "session_id": "s", "uuid": "a",
            "parent_tool_use_id": null, "message": {"role": "assistant", "model": "m",
            "content": [{"type": "text", "text": "half"}]}}}"#;
        let script = format!(r#"[{{"expect": {{"type": "user"}}}}, {message}, {steps}]"#);
        std::fs::write(scratch.path().join("script.json"), script).unwrap();
        let output = Command::new(&program)
            .env("PATH", scratch.path())
            .env("FAKE_CLI_SCRIPT", scratch.path().join("script.json"))
            .env("ASAN_OPTIONS", "exitcode=99")
            .output()
            .unwrap();
        assert!(output.stdout.starts_with(b"half\n"), "{output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), told)
    };
    let result = r#"{"emit": {"type": "result", "subtype": "success", "is_error": false,
        "result": "whole", "num_turns": 1, "session_id": "s", "uuid": "u"}}"#;
    assert_eq!(played(result), (Some(0), String::new()));
    let told = "the turn ended without a result\n".to_string();
    assert_eq!(played(r#"{"exit": 0}"#), (Some(1), told));
    let (status, told) = played(r#"{"exit": 3}"#);
    assert_eq!(status, Some(1));
    assert!(told.contains("exit status 3"), "{told}");
}
