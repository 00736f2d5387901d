//! Compares reading a whole transcript with parsing each line as a `serde_json::Value`: speed and memory.
//!
//! Run with `cargo bench -p longhaul-store --bench ingest`. Both sides run on one thread, take turns, and read the same
//! file through the same line reader; the best of several rounds counts. Our side does more: besides validating all
//! JSON it finds the ids, usage, block ranges and sizes of every entry, and in keep mode it keeps them with the bytes.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use longhaul_core::message::LineScanner;
use longhaul_store::{LineReader, load};
use longhaul_testkit::big::{BigFileBoundaries, BigSpec};
use serde_json::Value;

const ROUNDS: usize = 7;
/// The flag with which the bench runs itself to measure memory in a process of its own.
const MEMORY: &str = "--keep-and-print-peak";

fn main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() == Some(MEMORY) {
        return print_peak(Path::new(&args.next().unwrap()));
    }
    let spec = BigSpec {
        seed: 1,
        min_bytes: 210_000_000,
        boundaries: BigFileBoundaries::Natural,
    };
    let path = spec
        .cached_in(Path::new(env!("CARGO_TARGET_TMPDIR")))
        .unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        let times = [
            time(|| values(&path, drop)),
            time(|| stream(&path)),
            time(|| {
                let mut kept = Vec::new();
                values(&path, |value| kept.push(value));
                kept
            }),
            time(|| load(&path).unwrap()),
        ];
        best = std::array::from_fn(|side| best[side].min(times[side]));
    }
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    let [baseline, stream, kept, load] = best;
    let ratio = |slow: Duration, fast: Duration| slow.as_secs_f64() / fast.as_secs_f64();
    println!("ingest of {} MB, best of {ROUNDS}", bytes / 1_000_000);
    println!("one line at a time");
    println!("  serde_json::Value   {:>6.0} MB/s   1.00", rate(baseline));
    println!(
        "  scan                {:>6.0} MB/s   {:.2}x",
        rate(stream),
        ratio(baseline, stream)
    );
    println!("everything kept");
    println!("  serde_json::Value   {:>6.0} MB/s   1.00", rate(kept));
    println!(
        "  load                {:>6.0} MB/s   {:.2}x",
        rate(load),
        ratio(kept, load)
    );
    println!(
        "  load against values that are not kept   {:.2}x",
        ratio(baseline, load)
    );
    println!(
        "  peak memory of load, of the file's size {:.2}",
        peak(&path) / bytes as f64
    );
}

/// Measures how long something takes; freeing its result is not included.
fn time<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(run());
    let time = start.elapsed();
    drop(result);
    time
}

fn values(path: &Path, mut take: impl FnMut(Value)) {
    let mut lines = LineReader::open(path).unwrap();
    while let Some(line) = lines.next().unwrap() {
        take(black_box(serde_json::from_slice(line.bytes).unwrap()));
    }
}

fn stream(path: &Path) {
    let mut lines = LineReader::open(path).unwrap();
    let mut scanner = LineScanner::default();
    while let Some(line) = lines.next().unwrap() {
        black_box(scanner.scan(line.bytes).unwrap());
    }
}

/// Loads the file and prints the largest resident size of this process, in kB.
fn print_peak(path: &Path) {
    let loaded = load(path).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{}", peak.unwrap_or("0 kB").trim());
    black_box(loaded);
}

fn peak(path: &Path) -> f64 {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).arg(MEMORY).arg(path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let kilobytes: f64 = text.split_whitespace().next().unwrap().parse().unwrap();
    kilobytes * 1024.0
}
