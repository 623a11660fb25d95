//! `cargo run -p xtask -- header|readme|schemas [--check]`

use std::process::ExitCode;

use towline_xtask::{files, header, readme, schemas};

const USAGE: &str = "usage: cargo run -p xtask -- header|readme|schemas [--check]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (what, check) = match arguments.as_slice() {
        [what] => (*what, false),
        [what, "--check"] => (*what, true),
        _ => return Err(USAGE.into()),
    };
    let generated = match what {
        "header" => vec![header::generate()?],
        "readme" => vec![readme::generate()?],
        "schemas" => schemas::generate()?,
        _ => return Err(USAGE.into()),
    };
    match check {
        true => files::check(&generated, &format!("cargo run -p xtask -- {what}")),
        false => files::write(&generated),
    }
}
