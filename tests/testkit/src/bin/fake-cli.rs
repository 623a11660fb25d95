//! A scripted stand-in for the `claude` binary; see `towline_testkit::fake_cli`.

fn main() {
    std::process::exit(towline_testkit::fake_cli::main());
}
