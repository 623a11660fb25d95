//! Every input that is kept still does no harm.

use std::path::{Path, PathBuf};

use towline_fuzz_checks::TARGETS;

fn kept(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .with_file_name("corpus")
        .join(target)
}

#[test]
fn every_target_holds_for_the_inputs_that_are_kept() {
    for (name, check) in TARGETS {
        let mut inputs = 0;
        for entry in std::fs::read_dir(kept(name)).unwrap_or_else(|_| panic!("corpus of {name}")) {
            let path = entry.unwrap().path();
            let data = std::fs::read(&path).unwrap();
            let held = std::panic::catch_unwind(|| check(&data));
            assert!(held.is_ok(), "{name} does not hold for {}", path.display());
            inputs += 1;
        }
        assert!(inputs > 10, "{name}: {inputs} inputs");
    }
}
