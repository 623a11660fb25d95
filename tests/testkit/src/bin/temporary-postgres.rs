//! Runs a PostgreSQL server of its own, prints the URL of its empty database and ends it when
//! standard input ends.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use towline_testkit::TemporaryPostgres;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("temporary-postgres: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> io::Result<()> {
    let server = TemporaryPostgres::start()?;
    let mut out = io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
