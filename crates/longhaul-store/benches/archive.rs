//! Benchmarks indexing a 200 MB session, and searching it.
//!
//! Run with `cargo bench -p longhaul-store --bench archive`. It uses one thread; the transcript is in the page cache,
//! the archive on disk.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use longhaul_store::archive::{
    Archive, ArchiveBatch, ArchiveWriter, ArchivedPart, SearchScope, ViewPresence,
};
use longhaul_store::load;
use longhaul_testkit::big::{BigFileBoundaries, BigSpec};

const ROUNDS: usize = 25;

fn main() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let spec = BigSpec {
        seed: 2,
        min_bytes: 200_000_000,
        boundaries: BigFileBoundaries::Natural,
    };
    let transcript = spec.cached_in(folder).unwrap();
    let size = std::fs::metadata(&transcript).unwrap().len();
    let _ = std::fs::read(&transcript).unwrap();
    let place = tempfile::tempdir_in(folder).unwrap();
    let path = place.path().join("archive.db");

    let mut archive = Archive::open(&path).unwrap();
    let start = Instant::now();
    let indexed = archive.index(&transcript, go_on).unwrap();
    let took = start.elapsed();
    let records = archive.newest(SearchScope::Everything, usize::MAX).unwrap();
    let text: usize = (records.iter())
        .map(|record| archive.text(record).unwrap().len())
        .sum();
    drop(archive);
    let kept = std::fs::metadata(&path).unwrap().len();
    println!(
        "index {} MB ({} items, {} MB of text): {:.1} s, {:.0} MB/s of transcript, {:.0} MB/s of text; archive {} MB",
        size / 1_000_000,
        indexed.items,
        text / 1_000_000,
        took.as_secs_f64(),
        size as f64 / 1e6 / took.as_secs_f64(),
        text as f64 / 1e6 / took.as_secs_f64(),
        kept / 1_000_000
    );

    let mut archive = Archive::open(&path).unwrap();
    time("again, unchanged", || {
        archive.index(&transcript, go_on).unwrap();
    });
    let file = std::fs::File::options()
        .append(true)
        .open(&transcript)
        .unwrap();
    let start = Instant::now();
    file.set_modified(std::time::SystemTime::now()).unwrap();
    archive.index(&transcript, go_on).unwrap();
    println!(
        "again, touched (read and compared whole): {:.0} ms",
        start.elapsed().as_secs_f64() * 1e3
    );

    for words in [
        "error",
        "cache",
        "function return",
        "\"the file\"",
        "zzzz",
        "fn main",
        "e",
    ] {
        let hits = archive
            .search(words, SearchScope::Everything, 10)
            .unwrap()
            .hits
            .len();
        time(&format!("search {words} ({hits} hits)"), || {
            archive.search(words, SearchScope::Everything, 10).unwrap();
        });
    }
    let path_of = records
        .iter()
        .find_map(|record| record.path.clone())
        .unwrap();
    time("by path", || drop(archive.by_path(&path_of).unwrap()));
    let id = records
        .iter()
        .find_map(|record| record.tool_use_id.clone())
        .unwrap();
    time("by id", || drop(archive.by_tool_use_id(&id).unwrap()));

    hand_over(place.path());
}

/// Measures what a turn pays for archiving 1,000 entries in the background.
fn hand_over(folder: &Path) {
    let transcript = folder.join("small.jsonl");
    let spec = longhaul_testkit::SessionSpec::new(3, 400);
    std::fs::write(&transcript, spec.bytes()).unwrap();
    let entries: Vec<_> = load(&transcript)
        .unwrap()
        .entries()
        .take(1_000)
        .cloned()
        .collect();
    let bytes: usize = entries.iter().map(|entry| entry.bytes().len()).sum();
    let batch = ArchiveBatch {
        entries,
        part: ArchivedPart::Whole,
        presence: ViewPresence::Summarized,
    };
    let writer = ArchiveWriter::start(folder.join("small.db"), transcript).unwrap();
    let start = Instant::now();
    writer.archive(&batch).unwrap();
    let handed = start.elapsed();
    writer.flush().unwrap();
    println!(
        "1,000 entries ({} KB): handed over in {:.0} µs, on disk after {:.0} ms",
        bytes / 1_000,
        handed.as_secs_f64() * 1e6,
        start.elapsed().as_secs_f64() * 1e3
    );
}

fn go_on(_: longhaul_store::archive::IndexingProgress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn time(what: &str, mut work: impl FnMut()) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    println!(
        "{what}: median {:.2} ms, worst {:.2} ms",
        times[ROUNDS / 2].as_secs_f64() * 1e3,
        times[ROUNDS - 1].as_secs_f64() * 1e3
    );
}
