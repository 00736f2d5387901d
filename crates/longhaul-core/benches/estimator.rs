//! Compares the default estimate of a text (T2) with counting its UTF-16 units one by one.
//!
//! Run `cargo bench -p longhaul-core --bench estimator`. It uses one thread and texts of a size that fits the cache.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks and measures time"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use longhaul_core::tokens::RoughEstimator;

const ROUNDS: usize = 400;

fn main() {
    println!("estimating texts of 256 KB, best of {ROUNDS}");
    let plain = "fn main() { println!(\"the usual code and prose\"); }\n".repeat(5_140);
    let mixed = "naïve café, 漢字 and 😀 among plain words of a tool's output\n".repeat(3_800);
    for (name, text) in [("ASCII", plain), ("mixed", mixed)] {
        let one_by_one = best(|| black_box(&text).encode_utf16().count() as u64);
        let estimate = best(|| RoughEstimator::text(black_box(&text)).unpadded());
        let rate = |time: Duration| text.len() as f64 / 1e9 / time.as_secs_f64();
        println!(
            "  {name}   one by one {:>5.2} GB/s   1.00",
            rate(one_by_one)
        );
        let ratio = one_by_one.as_secs_f64() / estimate.as_secs_f64();
        println!(
            "  {name}   estimate   {:>5.2} GB/s   {ratio:.1}x",
            rate(estimate)
        );
    }
}

fn best(mut count: impl FnMut() -> u64) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(count());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}
