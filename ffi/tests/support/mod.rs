//! Building the library and C programs against it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use towline_testkit::Program;

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder with libtowline.so, up to date. Cargo does not build a library that no Rust program
/// links for its tests, so this does.
pub fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let folder = test.parent().unwrap().parent().unwrap().to_owned();
        let profile = match folder.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        }
        .to_string();
        let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
        let mut build = Command::new(cargo);
        build
            .args(["build", "--quiet", "--locked", "-p", "towline-ffi"])
            .args(["--profile", &profile, "--target-dir"])
            .arg(folder.parent().unwrap())
            .current_dir(root());
        must("cargo build", &build.output().unwrap());
        let soname = folder.join("libtowline.so.0");
        // It may stand there already.
        let _ = std::os::unix::fs::symlink("libtowline.so", &soname);
        assert!(soname.exists(), "{} leads nowhere", soname.display());
        folder
    })
}

/// Fails with what a program wrote unless it ended well.
pub fn must(what: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a tool of the system; when it is missing, says how to get it.
pub fn tool(command: &mut Command, remedy: &str) -> Output {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}; install it with: {remedy}"))
}

/// How a program is compiled.
#[derive(Clone, Copy)]
pub enum Build {
    /// C99 with every warning an error.
    C99,
    /// The same with ASan and UBSan.
    Sanitized,
    /// C++17.
    Cpp17,
}

/// Compiles a program of `tests/c` and links it with the shared library.
pub fn compile(source: &str, build: Build, scratch: &Path) -> PathBuf {
    let program = scratch.join(source.replace('.', "-"));
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
pub fn ready(command: &mut Command, scratch: &Path) {
    command
        .env("FAKE_CLI", Program::FakeCli.locate().unwrap())
        .env("SCRATCH", scratch)
        .env_remove("FAKE_CLI_SCRIPT")
        .env_remove("FAKE_CLI_BENCH");
}
