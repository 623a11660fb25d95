//! The main scenarios with the real CLIs from C: `tests/c/real_cli.c`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::{compile, Build};
use towline_real_cli::Stage;
use towline_testkit::Version;

/// The program, compiled once.
fn program() -> PathBuf {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let program = compile("real_cli.c", Build::C99, scratch.path());
        (scratch, program)
    });
    program.clone()
}

fn run(name: &str, version: Version) {
    let stage = Stage::new(version);
    let output = stage
        .sandbox()
        .command(program())
        .arg(name)
        .arg(stage.cli())
        .current_dir(stage.project())
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{name} on {}: {}\n{}{}",
        version.number(),
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        #[test]
        fn every_scenario_of_the_program_is_run() {
            let output = Command::new(program()).output().expect("the program runs");
            let listed = String::from_utf8(output.stdout).expect("UTF-8");
            assert_eq!(listed.lines().collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }

        $(
            #[test]
            fn $name() {
                run(stringify!($name), Version::Current);
                run(stringify!($name), Version::Older);
            }
        )*
    };
}

scenarios! {
    one_turn
    permission_allowed
    permission_denied
    permission_denied_with_interrupt
    permission_later
    permission_as_event
    hook_blocks
    tool_succeeds
    tool_cancelled
    interrupt_in_a_turn
    control_requests
    unknown_resume
    close_in_mid_turn
}
