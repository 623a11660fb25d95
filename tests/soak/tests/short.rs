//! A short run; `make soak` is the long one.

use std::time::Duration;

use towline_soak::Soak;
use towline_testkit::Program;

#[test]
fn nothing_is_lost_and_nothing_stays() {
    let report = Soak {
        cli: &Program::FakeCli.locate().unwrap(),
        sessions: 40,
        length: Duration::from_secs(10),
        every: Duration::from_millis(500),
        threads: 4,
        pace: 1,
        seed: 7,
    }
    .run(|_, _, _| {});
    // Too short to tell whether memory grows.
    let problems = report.problems(Duration::MAX);
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(report.ends[0] > 10, "{:?}", report.ends);
}
