//! Compares resuming a 1 GB transcript with resuming a 10 MB one that has the same tail: the time must depend on the
//! tail alone.
//!
//! Run with `cargo bench -p longhaul-store --bench resume`. It uses one thread, both files are in the page cache, and
//! they take turns.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_store::resume;
use longhaul_testkit::big::{BigFileBoundaries, BigSpec};

const ROUNDS: usize = 25;
const TAIL: u64 = 2_000_000;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = |min_bytes| {
        let spec = BigSpec {
            seed: 2,
            min_bytes,
            boundaries: BigFileBoundaries::LastBefore(TAIL),
        };
        spec.cached_in(folder).unwrap()
    };
    let (small, large) = (file(10_000_000), file(1_000_000_000));
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (times, path) in times.iter_mut().zip([&small, &large]) {
            let start = Instant::now();
            black_box(resume(path).unwrap());
            times.push(start.elapsed());
        }
    }
    let [small_time, large_time] = times.map(median);
    let size = |path: &Path| std::fs::metadata(path).unwrap().len() / 1_000_000;
    println!(
        "resume, last boundary {} MB before the end, median of {ROUNDS}",
        TAIL / 1_000_000
    );
    println!(
        "  {:>5} MB file   {:>7.2} ms   1.00",
        size(&small),
        small_time.as_secs_f64() * 1e3
    );
    println!(
        "  {:>5} MB file   {:>7.2} ms   {:.2}x",
        size(&large),
        large_time.as_secs_f64() * 1e3,
        large_time.as_secs_f64() / small_time.as_secs_f64()
    );
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
