//! Building the library and C programs against it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder with libtowline.so, up to date. Cargo does not build a library that no Rust program
/// links for its tests, so this does.
pub(crate) fn library() -> &'static Path {
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
pub(crate) fn must(what: &str, output: &Output) {
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs a tool of the system; when it is missing, says how to get it.
pub(crate) fn tool(command: &mut Command, remedy: &str) -> Output {
    let name = command.get_program().to_string_lossy().into_owned();
    command
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}; install it with: {remedy}"))
}
