//! The longest stall of an async runtime that a thousand sessions share: how long one task can be kept from running.
//!
//! `cargo bench -p longhaul --bench stall`; `-- SESSIONS TURNS` for other numbers. All sessions live on one thread. A
//! model in the same process answers them, each line is synced to its file, and a task that wants to run every
//! millisecond measures how late it runs. Another program holds the lock of one of the files for a moment. The same work
//! is done three times: with the files written on the runtime's own thread, the baseline; with the files written on
//! threads where blocking is allowed, as a session does it; and in memory, which shows what the work costs without files.
//! Each is repeated, and the median counts.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use longhaul::{
    AppendPosition, BlockingWrites, FileStorage, MemoryStorage, Prompt, Reply, Session, Storage,
    StorageError, model_fn,
};

const TICK: Duration = Duration::from_millis(1);
/// How long another program holds the lock of one file.
const LOCKED: Duration = Duration::from_secs(1);
const ROUNDS: usize = 3;

/// Where the sessions of a run are stored.
#[derive(Clone, Copy)]
enum Place {
    Files,
    FilesInline,
    Memory,
}

/// A file that is written on the caller's thread.
struct Inline(FileStorage);

impl Storage for Inline {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        self.0.load()
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        self.0.append(lines)
    }

    fn transcript_path(&self) -> Option<&Path> {
        self.0.transcript_path()
    }

    fn blocking_writes(&self) -> BlockingWrites {
        BlockingWrites::Never
    }
}

fn main() {
    // Cargo passes `--bench`.
    let mut numbers = std::env::args().filter_map(|argument| argument.parse().ok());
    let sessions = numbers.next().unwrap_or(1_000);
    let turns = numbers.next().unwrap_or(5);
    println!(
        "{sessions} sessions on one thread, {turns} turns each, every line synced, one file locked for {} ms; median of {ROUNDS}",
        LOCKED.as_millis()
    );
    let runs = [
        ("files, written inline", Place::FilesInline),
        ("files", Place::Files),
        ("memory", Place::Memory),
    ];
    let mut baseline = None;
    for (name, place) in runs {
        let mut rounds: Vec<Measured> = (0..ROUNDS).map(|_| run(place, sessions, turns)).collect();
        rounds.sort_by_key(|round| round.longest);
        let measured = &rounds[ROUNDS / 2];
        let baseline = *baseline.get_or_insert(measured.longest);
        println!(
            "  {name:<22} longest stall {:>9.1} ms ({:.3}), 99 % of ticks within {:>7.1} ms, whole run {:>6.1} s",
            millis(measured.longest),
            measured.longest.as_secs_f64() / baseline.as_secs_f64(),
            millis(measured.p99),
            measured.whole.as_secs_f64(),
        );
    }
}

struct Measured {
    longest: Duration,
    p99: Duration,
    whole: Duration,
}

fn run(place: Place, sessions: usize, turns: usize) -> Measured {
    // Not in the folder for temporary files, which may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // The sessions are opened before: what is measured is turns.
    let open: Vec<Session> = (0..sessions)
        .map(|number| open(place, folder.path(), number))
        .collect();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let locked = folder.path().join("0.jsonl");
    runtime.block_on(async move {
        let over = Arc::new(AtomicBool::new(false));
        let ticker = tokio::spawn(gaps(over.clone()));
        let began = Instant::now();
        let other = std::thread::spawn(move || hold_lock(&locked));
        let tasks: Vec<_> = open
            .into_iter()
            .map(|session| tokio::spawn(talk(session, turns)))
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let whole = began.elapsed();
        other.join().unwrap();
        over.store(true, Ordering::Relaxed);
        let mut gaps = ticker.await.unwrap();
        gaps.sort();
        Measured {
            longest: gaps[gaps.len() - 1],
            p99: gaps[(gaps.len() - 1) * 99 / 100],
            whole,
        }
    })
}

fn open(place: Place, folder: &Path, number: usize) -> Session {
    let path = folder.join(format!("{number}.jsonl"));
    let model = model_fn(|_| async {
        // A provider's answer takes a moment, and then many come at once.
        tokio::time::sleep(Duration::from_millis(5)).await;
        Ok(Reply::from_text("A short answer to a short question."))
    });
    let builder = Session::builder()
        .model(model)
        .prompt(Prompt::new("claude-sonnet-4-6", "You answer."));
    let builder = match place {
        Place::Files => builder.storage(FileStorage::open(path).unwrap()),
        Place::FilesInline => builder.storage(Inline(FileStorage::open(path).unwrap())),
        Place::Memory => builder.storage(MemoryStorage::new()),
    };
    builder.open().unwrap()
}

/// Does what another program does that works on the file for a moment.
fn hold_lock(path: &Path) {
    // In memory there is no file.
    if let Ok(file) = File::open(path) {
        file.lock().unwrap();
        std::thread::sleep(LOCKED);
        file.unlock().unwrap();
    }
}

async fn talk(mut session: Session, turns: usize) {
    for turn in 0..turns {
        session.say(format!("Question {turn}?")).await.unwrap();
        session.turn().await.unwrap();
    }
}

/// The times from one run of this task to the next.
async fn gaps(over: Arc<AtomicBool>) -> Vec<Duration> {
    let mut gaps = Vec::new();
    let mut last = Instant::now();
    while !over.load(Ordering::Relaxed) {
        tokio::time::sleep(TICK).await;
        let now = Instant::now();
        gaps.push(now - last);
        last = now;
    }
    gaps.push(last.elapsed());
    gaps
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
