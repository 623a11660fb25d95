//! What the programs have in common that run the cases as tests of a language.

use std::path::Path;
use std::process::ExitCode;

use super::{told, Host, Suite, Verdict};

/// The arguments of such a program.
pub struct Arguments {
    /// Whether only the names are wanted.
    pub list: bool,
    /// Parts of ids, kinds or titles that pick cases.
    pub words: Vec<String>,
}

/// One way to run some cases.
pub struct Way {
    /// What its lines are called.
    pub name: String,
    /// What runs them.
    pub host: Host,
    /// The cases.
    pub suite: Suite,
    /// How many run at once.
    pub jobs: usize,
}

impl Arguments {
    /// Those of this process.
    pub fn of_process() -> Arguments {
        let (flags, words): (Vec<String>, Vec<String>) = std::env::args()
            .skip(1)
            .partition(|argument| argument.starts_with('-'));
        Arguments {
            list: flags.iter().any(|flag| flag == "--list"),
            words,
        }
    }

    /// The cases of this repository that are picked.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn suite(&self) -> Result<Suite, String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
        let mut suite = Suite::load(&folder)?;
        suite.pick(&self.words);
        Ok(suite)
    }

    /// Runs every way, telling of cases that failed, with `all` of every case. Whether all passed; a
    /// way without cases has not, unless words picked them.
    pub fn run(&self, ways: Vec<Way>, all: bool) -> bool {
        let mut passed = true;
        for Way {
            name,
            host,
            suite,
            jobs,
        } in ways
        {
            let report = suite.run(&host, jobs, |case, verdict| {
                if all || !verdict.as_ref().is_ok_and(Verdict::passed) {
                    println!("{}", told(case, &name, verdict));
                }
            });
            println!("{name}: {report}");
            passed &= report.failed.is_empty() && (report.ran > 0 || !self.words.is_empty());
        }
        passed
    }
}

/// How a test program ends: `run` tells whether all passed, or what is in its way.
pub fn exit_code(run: impl FnOnce() -> Result<bool, String>) -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
