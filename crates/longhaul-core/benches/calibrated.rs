//! Compares counting the shape of a text (X4) with counting its runs byte by byte, and with the rough estimate (T2).
//!
//! Run `cargo bench -p longhaul-core --bench calibrated`. It uses one thread and texts of a size that fits the cache.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_types,
    missing_docs,
    reason = "a bench talks and measures time"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::calibrated::{CalibratedClass, CalibratedCounter, TextShape};
use longhaul_core::tokens::{RoughEstimator, likely};

const ROUNDS: usize = 200;

fn main() {
    println!("counting texts of 256 KB, best of {ROUNDS}");
    let plain = "fn main() { println!(\"the usual code and prose\"); }\n".repeat(5_140);
    let mixed = "naïve café, 漢字 and 😀 among plain words of a tool's output\n".repeat(3_800);
    let table = "17,4711,3.25\n".repeat(20_160);
    let counter = CalibratedCounter::new(Tokenizer::Old);
    for (name, text) in [("code", plain), ("mixed", mixed), ("table", table)] {
        let runs = best(|| likely(black_box(&text).as_bytes()));
        let rough = best(|| RoughEstimator::text(black_box(&text)).unpadded());
        let shape = best(|| {
            let shape = TextShape::of(black_box(&text));
            counter.estimate(CalibratedClass::ToolResult, &shape).tokens
        });
        let show = |way: &str, time: Duration| {
            let rate = text.len() as f64 / 1e9 / time.as_secs_f64();
            let ratio = runs.as_secs_f64() / time.as_secs_f64();
            println!("  {name:6} {way:12} {rate:>6.2} GB/s   {ratio:.1}x");
        };
        show("run by run", runs);
        show("rough", rough);
        show("calibrated", shape);
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
