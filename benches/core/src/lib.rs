//! What the benchmarks share: measuring two loops in turns, and lines to measure with.
//!
//! Figures of two loops are only comparable when both ran under the same conditions. So the loops
//! take turns in short rounds on one core (`taskset -c 0 cargo bench -p towline-benches`), and what
//! counts is the ratio of each pair of rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

pub mod lines;
pub mod plain;

/// Pairs of rounds that are measured, after some that warm caches and clock up.
const ROUNDS: usize = 2001;
const WARM_UP: usize = 100;
/// Short, so that few rounds are torn by other work on the machine.
const ROUND: Duration = Duration::from_micros(200);

/// What a comparison found.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// Smallest ratio of a pair of rounds.
    pub min: f64,
    /// Median of the ratios.
    pub median: f64,
    /// Largest ratio.
    pub max: f64,
    /// Median time of one item in the measured loop, in nanoseconds.
    pub ours: f64,
    /// The same in the plain loop.
    pub plain: f64,
}

/// Measures `ours` against `plain` in turns. A call of either handles `items` items.
pub fn compare(items: usize, mut ours: impl FnMut(), mut plain: impl FnMut()) -> Ratio {
    let calls = calls_a_round(&mut ours).max(calls_a_round(&mut plain));
    let (mut ratios, mut our_times, mut plain_times) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS + WARM_UP {
        let (our_time, plain_time) = if round % 2 == 0 {
            let our_time = time(calls, &mut ours);
            (our_time, time(calls, &mut plain))
        } else {
            let plain_time = time(calls, &mut plain);
            (time(calls, &mut ours), plain_time)
        };
        if round >= WARM_UP {
            ratios.push(our_time / plain_time);
            our_times.push(our_time);
            plain_times.push(plain_time);
        }
    }
    ratios.sort_by(f64::total_cmp);
    let nanoseconds = 1e9 / (calls * items) as f64;
    Ratio {
        min: ratios[0],
        median: ratios[ROUNDS / 2],
        max: ratios[ROUNDS - 1],
        ours: median(our_times) * nanoseconds,
        plain: median(plain_times) * nanoseconds,
    }
}

/// Prints a comparison; tells whether its median keeps the bar.
pub fn report(name: &str, ratio: Ratio, bar: f64) -> bool {
    let kept = ratio.median <= bar;
    println!(
        "{name}: ratio min {:.3} median {:.3} max {:.3} (bar {bar}: {}); {:.0} ns against {:.0} ns",
        ratio.min,
        ratio.median,
        ratio.max,
        if kept { "kept" } else { "MISSED" },
        ratio.ours,
        ratio.plain,
    );
    kept
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn time(calls: usize, work: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        work();
        black_box(());
    }
    start.elapsed().as_secs_f64()
}

fn calls_a_round(work: &mut impl FnMut()) -> usize {
    let mut calls = 1;
    while time(calls, work) < ROUND.as_secs_f64() {
        calls *= 2;
    }
    calls
}
