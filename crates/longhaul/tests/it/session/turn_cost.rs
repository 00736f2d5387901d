//! What one more turn costs in a long conversation, in bytes that are read, written and rendered (T3). `longhaul-core`'s
//! bench `ledger` has the time.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use longhaul::{
    AppendPosition, MemoryStorage, Prompt, Reply, Session, Storage, StorageError, model_fn,
};

/// A storage that counts how often it is read, and remembers how much each call appended.
#[derive(Default)]
struct Counting {
    kept: MemoryStorage,
    loads: AtomicUsize,
    appended: Mutex<Vec<usize>>,
}

impl Counting {
    /// What was appended since the last look.
    fn newly_appended(&self) -> usize {
        std::mem::take(&mut *self.appended.lock().unwrap())
            .into_iter()
            .sum()
    }
}

impl Storage for Counting {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        self.loads.fetch_add(1, Ordering::SeqCst);
        self.kept.load()
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        let size = lines.iter().map(Bytes::len).sum();
        self.appended.lock().unwrap().push(size);
        self.kept.append(lines)
    }
}

/// Where a slice lies in memory.
fn place(slice: &Bytes) -> Range<usize> {
    let start = slice.as_ptr() as usize;
    start..start + slice.len()
}

/// The bytes of a request that are not the very memory of the request before it.
fn rendered_anew(request: &[Bytes], before: &[Bytes]) -> usize {
    let known: Vec<Range<usize>> = before.iter().map(place).collect();
    let anew = |slice: &Bytes| {
        let slice = place(slice);
        let shared = known.iter().map(|known| {
            let end = known.end.min(slice.end);
            end.saturating_sub(known.start.max(slice.start))
        });
        slice.len() - shared.max().unwrap_or(0)
    };
    request.iter().map(anew).sum()
}

#[tokio::test]
async fn t3_a_turn_reads_writes_and_renders_what_it_adds_however_long_the_conversation_is() {
    let sent: Arc<Mutex<Vec<Vec<Bytes>>>> = Arc::default();
    let requests = sent.clone();
    let storage = Arc::new(Counting::default());
    let mut session = Session::builder()
        .model(model_fn(move |request| {
            requests.lock().unwrap().push(request.body);
            async { Ok(Reply::from_text("and so it goes on ".repeat(30))) }
        }))
        .prompt(Prompt::new("claude-sonnet-4-6", "You tell stories."))
        .storage(storage.clone())
        .open()
        .unwrap();
    storage.newly_appended();
    let (mut used, mut written) = (Vec::new(), Vec::new());
    for turn in 100..400 {
        session.say(format!("Part {turn}, please.")).await.unwrap();
        session.turn().await.unwrap();
        used.push(session.status().used);
        written.push(storage.newly_appended());
    }
    assert_eq!(session.compactions(), 0);
    assert_eq!(storage.loads.load(Ordering::SeqCst), 1, "on opening");
    // Later turns add as much to the file and to the count as the early ones did.
    let growth = |at: usize| used[at] - used[at - 1];
    assert!(growth(10) > 100 && growth(290).abs_diff(growth(10)) <= 2);
    assert!(written[290].abs_diff(written[10]) <= 8, "{written:?}");
    // No request is a copy of what was sent before: its memory is that of the request before.
    let sent = sent.lock().unwrap();
    let anew: Vec<usize> = (1..sent.len())
        .map(|at| rendered_anew(&sent[at], &sent[at - 1]))
        .collect();
    let size = |at: usize| sent[at].iter().map(Bytes::len).sum::<usize>();
    assert!(size(290) > 20 * size(10), "the requests grow");
    assert!(
        anew[289] <= anew[9] + 200,
        "{} after {}",
        anew[289],
        anew[9]
    );
}
