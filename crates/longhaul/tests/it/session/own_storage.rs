//! Sessions on storages that the host supplies, written only with what the trait's documentation says.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use longhaul::{
    AppendPosition, CompactRequest, FileStorage, MemoryStorage, Model, OpenError, Prompt, Reply,
    Session, SessionBuilder, Storage, StorageError, TurnError, model_fn,
};
use serde_json::Value;

/// A model that counts how often it is asked, and says more if it is asked to.
fn model(asked: &Arc<AtomicUsize>) -> impl Model + 'static {
    let asked = asked.clone();
    model_fn(move |request| {
        let number = asked.fetch_add(1, Ordering::SeqCst);
        let at_length = request
            .body
            .concat()
            .windows(9)
            .any(|nine| nine == b"at length");
        let more = " And so on.".repeat(if at_length { 400 } else { 0 });
        async move { Ok(Reply::from_text(format!("Answer {number}.{more}"))) }
    })
}

fn session(asked: &Arc<AtomicUsize>) -> SessionBuilder {
    let prompt = Prompt::new("claude-sonnet-4-6", "You answer.");
    Session::builder().model(model(asked)).prompt(prompt)
}

/// A storage that fails as often as it is told to, before it stores anything.
#[derive(Default)]
struct Failing {
    kept: MemoryStorage,
    failures: AtomicUsize,
}

impl Storage for Failing {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        self.kept.load()
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        let failing = |left: usize| left.checked_sub(1);
        let failed = (self.failures).fetch_update(Ordering::SeqCst, Ordering::SeqCst, failing);
        if failed.is_ok() {
            return Err(StorageError::custom("the database is away: start it again"));
        }
        self.kept.append(lines)
    }
}

#[tokio::test]
async fn m1_nothing_is_sent_before_the_hosts_storage_has_acknowledged_it() {
    let (asked, storage) = (Arc::default(), Arc::new(Failing::default()));
    let mut session = session(&asked).storage(storage.clone()).open().unwrap();
    session.say("First.").await.unwrap();
    storage.failures.store(1, Ordering::SeqCst);
    let failed = session.turn().await.unwrap_err();
    assert!(matches!(&failed, TurnError::NotKept(why) if why.contains("start it again")));
    assert_eq!(asked.load(Ordering::SeqCst), 0, "nothing was sent");

    session.turn().await.unwrap();
    storage.failures.store(1, Ordering::SeqCst);
    assert!(session.say("Second.").await.is_err());
    session.turn().await.unwrap();
    let texts = texts(&storage.kept.lines());
    assert_eq!(texts, ["First.", "Answer 0.", "Second.", "Answer 1."]);
}

#[tokio::test]
async fn y2_a_session_continues_from_the_lines_of_the_hosts_storage() {
    let (asked, storage) = (Arc::default(), Arc::new(MemoryStorage::new()));
    let mut first = session(&asked).storage(storage.clone()).open().unwrap();
    for number in 0..8 {
        let words = format!("Message {number}: answer at length.");
        first.say(words).await.unwrap();
        first.turn().await.unwrap();
    }
    let local = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    first.compact(local).await.unwrap();
    first.say("After the compaction.").await.unwrap();
    first.turn().await.unwrap();
    let seen = view(&first);
    drop(first);

    let second = session(&asked).storage(storage.clone()).open_async().await;
    let mut second = second.unwrap();
    assert_eq!(view(&second), seen);
    second.say("In the second session.").await.unwrap();
    second.turn().await.unwrap();
    let ids = storage.lines();
    let ids = ids.iter().map(|line| value(line)["sessionId"].clone());
    let ids: Vec<Value> = ids.filter(|id| !id.is_null()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "one session: {ids:?}");
}

/// A storage whose appends end when the test says so.
struct Waiting {
    kept: MemoryStorage,
    started: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
}

impl Storage for Waiting {
    fn load(&self) -> Result<Vec<Bytes>, StorageError> {
        self.kept.load()
    }

    fn append(&self, lines: &[Bytes]) -> Result<AppendPosition, StorageError> {
        let started = self.started.lock().map_err(StorageError::custom)?;
        started.send(()).map_err(StorageError::custom)?;
        let go_on = self.go_on.lock().map_err(StorageError::custom)?;
        go_on.recv().map_err(StorageError::custom)?;
        self.kept.append(lines)
    }
}

/// Runs on one thread: if the append ran there, the task that lets it go on would never run.
#[tokio::test(flavor = "current_thread")]
async fn m1_a_storage_of_the_host_that_blocks_stops_no_other_task() {
    let (started, starts) = channel();
    let (go, go_on) = channel();
    let storage = Waiting {
        kept: MemoryStorage::new(),
        started: Mutex::new(started),
        go_on: Mutex::new(go_on),
    };
    let mut session = session(&Arc::default()).storage(storage).open().unwrap();
    let release = async {
        while starts.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        go.send(()).unwrap();
    };
    let (said, ()) = tokio::join!(session.say("Hello."), release);
    said.unwrap();
}

#[tokio::test]
async fn a_file_storage_that_is_given_to_the_builder_is_a_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let (path, asked) = (folder.path().join("session.jsonl"), Arc::default());
    let storage = FileStorage::open(&path).unwrap();
    let mut first = session(&asked).storage(storage).open().unwrap();
    first.say("Hello.").await.unwrap();
    first.turn().await.unwrap();
    assert!(folder.path().join("session.lock").exists(), "it is locked");
    drop(first);
    let second = session(&asked).transcript(&path).open().unwrap();
    assert_eq!(second.engine().live().entries().len(), 2);
}

#[tokio::test]
async fn a_builder_with_two_storages_is_refused_with_a_sentence_that_says_what_to_do() {
    let asked = Arc::default();
    let both = session(&asked).storage(MemoryStorage::new());
    let opened = both.clone().transcript("never-created.jsonl").open();
    match opened {
        Err(OpenError::Contradiction(why)) => assert!(why.contains("either"), "{why}"),
        _ => panic!("two storages"),
    }
    let opened = both.archive("never-created.db").open();
    assert!(matches!(opened, Err(OpenError::Contradiction(why)) if why.contains("with_archive")));
}

fn value(line: &Bytes) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// The texts of the conversation's lines, in order.
fn texts(lines: &[Bytes]) -> Vec<String> {
    let contents = lines
        .iter()
        .map(|line| value(line)["message"]["content"].clone());
    let text = |content: Value| match content {
        Value::String(text) => Some(text),
        Value::Array(blocks) => Some(blocks.first()?["text"].as_str()?.to_owned()),
        _ => None,
    };
    contents.filter_map(text).collect()
}

fn view(session: &Session) -> Vec<Bytes> {
    let entries = session.engine().live().entries().iter();
    entries.map(|live| live.entry.bytes().clone()).collect()
}
