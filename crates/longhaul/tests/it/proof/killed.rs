//! kill −9 at any instant (Y7, Y8, Y2): everything acknowledged is there, and the session continues where it was.
//!
//! The provider runs here; the session runs in a child, which is this test binary started again. The child records what
//! was acknowledged, and every request before it sends it. `LONGHAUL_KILLS` makes the test longer.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul::session::Observer;
use longhaul::{Boxed, Model, NoWorkspace, OnStream, Session};
use longhaul_core::engine::{CompactRequest, Event, ModelRequest, ToolOutput};
use longhaul_core::message::{BlockKind, EntryKind};
use longhaul_core::transcript::{ResolvedConversation, TranscriptProblem, TranscriptTable};
use longhaul_provider::{CancellationToken, Client, Error, ErrorClass, Reply};
use longhaul_store::{Durability, LoadedContent, load};
use serde_json::{Value, json};

use super::person::Person;
use super::place::{MODELS, Place, Setup, client, prompt};
use crate::session::house::settings;

const FOLDER: &str = "LONGHAUL_KILLED_FOLDER";
const URL: &str = "LONGHAUL_KILLED_URL";
const MODEL: &str = "LONGHAUL_KILLED_MODEL";
const WINDOW: u64 = 24_000;

/// What the child records, one JSON text per line.
#[derive(Clone)]
struct Diary(Arc<Mutex<File>>);

impl Diary {
    fn at(folder: &Path) -> Self {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join("diary.jsonl"));
        Self(Arc::new(Mutex::new(file.unwrap())))
    }

    fn write(&self, line: &Value) {
        let mut file = self.0.lock().unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}

impl Observer for Diary {
    fn event(&self, event: &Event) {
        match event {
            Event::Replied { uuid, .. } => self.write(&json!({"uuid": uuid})),
            Event::Compacted(done) => self.write(&json!({"uuid": done.boundary})),
            _ => {}
        }
    }
}

/// The real client; requests are recorded first.
struct Sender {
    client: Option<Client>,
    diary: Diary,
    transcript: PathBuf,
}

impl Model for Sender {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8(request.body.concat()).unwrap();
        let on_disk = std::fs::metadata(&self.transcript).unwrap().len();
        let source = request.source.as_str();
        let line = json!({"source": source, "on_disk": on_disk, "body": body});
        let folder = self.transcript.parent().unwrap();
        let (new, last) = (folder.join("request.new"), folder.join("request.json"));
        std::fs::write(&new, line.to_string()).unwrap();
        std::fs::rename(&new, &last).unwrap();
        self.diary.write(&json!({"asked": source}));
        match &self.client {
            Some(client) => Model::send(client, request, on_stream, cancel),
            None => Box::pin(async { Err(Error::new(ErrorClass::Cancelled, "only looking")) }),
        }
    }
}

fn open(folder: &Path, model: &str, client: Option<Client>) -> (Session, Diary) {
    let diary = Diary::at(folder);
    let session = Session::builder()
        .model(Sender {
            client,
            diary: diary.clone(),
            transcript: folder.join("session.jsonl"),
        })
        .prompt(prompt(model, "You work on a small code base. Be brief."))
        .transcript(folder.join("session.jsonl"))
        .archive(folder.join("archive.db"))
        .durability(Durability::EveryAppend)
        .config(settings(WINDOW))
        .workspace(NoWorkspace)
        .observer(diary.clone())
        .open()
        .unwrap();
    (session, diary)
}

/// The next step of the conversation.
pub(crate) enum Due {
    Speak,
    Turn,
    Answer(Vec<String>),
}

pub(crate) fn due(session: &Session) -> Due {
    let live = session.engine().live();
    let newest = live
        .views()
        .filter(|entry| matches!(entry.facets.kind, EntryKind::User | EntryKind::Assistant))
        .last();
    let Some(newest) = newest else {
        return Due::Speak;
    };
    if newest.facets.kind == EntryKind::User {
        return if newest.facets.flags.compact_summary {
            Due::Speak
        } else {
            Due::Turn
        };
    }
    let blocks = newest.facets.blocks.iter();
    let calls: Vec<String> = blocks
        .filter(|block| block.kind == BlockKind::ToolUse)
        .map(|block| newest.text(block.id).into_owned())
        .collect();
    if calls.is_empty() {
        Due::Speak
    } else {
        Due::Answer(calls)
    }
}

/// The child: works until it is killed.
#[tokio::test]
async fn child() {
    let (Ok(folder), Ok(url), Ok(model)) = (
        std::env::var(FOLDER),
        std::env::var(URL),
        std::env::var(MODEL),
    ) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let (mut session, diary) = open(&folder, &model, Some(client(&url)));
    std::fs::write(folder.join("open"), std::process::id().to_string()).unwrap();
    let mut person = Person::new(u64::from(std::process::id()));
    for step in 0_u32.. {
        match due(&session) {
            Due::Speak if step % 40 == 39 => {
                let _ = session.compact(CompactRequest::default()).await;
                let text = format!("{step} {}", person.says());
                session.say(text.clone()).await.unwrap();
                diary.write(&json!({"said": text}));
            }
            Due::Speak => {
                let text = format!("{} {step} {}", std::process::id(), person.says());
                session.say(text.clone()).await.unwrap();
                diary.write(&json!({"said": text}));
            }
            Due::Turn => {
                let _ = session.turn().await;
            }
            Due::Answer(calls) => {
                let outputs = calls.iter().map(|id| {
                    ToolOutput::text(
                        id,
                        "let value = compute();\n".repeat(5 + step as usize % 40),
                    )
                });
                session.results(outputs.collect()).await.unwrap();
                for id in calls {
                    diary.write(&json!({"answered": id}));
                }
            }
        }
    }
}

/// The record of the child; a torn last line does not count.
fn diary(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("diary.jsonl")).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Everything acknowledged is in the transcript, and its chain is whole.
fn nothing_is_lost(folder: &Path, since: &[Value], when: &str) {
    let path = folder.join("session.jsonl");
    let text = String::from_utf8(std::fs::read(&path).unwrap_or_default()).unwrap();
    for line in since {
        let sought = match line {
            _ if line["uuid"].is_string() => format!("\"uuid\":{}", line["uuid"]),
            _ if line["said"].is_string() => format!("\"content\":{}", line["said"]),
            _ if line["answered"].is_string() => format!("\"tool_use_id\":{}", line["answered"]),
            _ => continue,
        };
        assert!(text.contains(&sought), "{when}: {sought} is lost");
    }
    if !path.exists() {
        return;
    }
    let mut table = TranscriptTable::default();
    let mut problems: Vec<TranscriptProblem> = Vec::new();
    for line in load(&path).unwrap().into_lines() {
        if let LoadedContent::Entry(entry) = line.content {
            table.push(line.number, line.offset, entry.view());
        }
    }
    let _ = ResolvedConversation::resolve(&table, &mut problems);
    assert!(problems.is_empty(), "{when}: {problems:?}");
}

/// The result of comparing two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The last one was not answered: the next is the same to the byte.
    Same,
    /// It was answered: the next begins with its bytes.
    Longer,
    /// A compaction came between, or is due.
    Compaction,
    /// Nothing to compare.
    Nothing,
}

/// The last request that was recorded before it was sent.
fn last_request(folder: &Path) -> Option<Value> {
    let text = std::fs::read(folder.join("request.json")).ok()?;
    Some(serde_json::from_slice(&text).unwrap())
}

/// The next request of a session that resumes, compared with the last one of the child.
async fn next_request(folder: &Path, model: &str, when: &str) -> Compared {
    let Some(last) = last_request(folder) else {
        return Compared::Nothing;
    };
    let path = folder.join("session.jsonl");
    let before = std::fs::read(&path).unwrap();
    let looking = tempfile::tempdir().unwrap();
    std::fs::write(looking.path().join("session.jsonl"), &before).unwrap();
    let (mut session, _) = open(looking.path(), model, None);
    // Either something was asked and is asked again, or the user speaks.
    let _ = session.turn().await;
    if last_request(looking.path()).is_none() {
        session.say("And now?").await.unwrap();
        let _ = session.turn().await;
    }
    let Some(next) = last_request(looking.path()) else {
        return Compared::Nothing;
    };
    if last["source"] != "sdk" || next["source"] != "sdk" {
        return Compared::Compaction;
    }
    let sent_at = usize::try_from(last["on_disk"].as_u64().unwrap()).unwrap();
    let since = String::from_utf8(before[sent_at..].to_vec()).unwrap();
    let (last, next) = (
        last["body"].as_str().unwrap(),
        next["body"].as_str().unwrap(),
    );
    compared(last, next, &since, when)
}

/// Compares the last request with the next, given what was written since the last was sent.
pub(crate) fn compared(last: &str, next: &str, since: &str, when: &str) -> Compared {
    if last == next {
        return Compared::Same;
    }
    let same = last.bytes().zip(next.bytes()).take_while(|(a, b)| a == b);
    let at = same.count();
    assert!(
        !since.is_empty(),
        "{when}: nothing came, but the request is another from {at} on: {} against {}",
        &next[at.saturating_sub(200)..(at + 200).min(next.len())],
        &last[at.saturating_sub(200)..(at + 200).min(last.len())]
    );
    // A clearing, too, changes what was sent, and is recorded before it does.
    let is_changed = |subtype| since.contains(&format!("\"subtype\":\"{subtype}\""));
    if ["compact_boundary", "microcompact_boundary"]
        .into_iter()
        .any(is_changed)
    {
        return Compared::Compaction;
    }
    let (a, b): (Value, Value) = (parsed(last), parsed(next));
    for part in ["system", "tools", "model", "max_tokens", "thinking"] {
        assert_eq!(a[part], b[part], "{when}: {part}");
    }
    let blocks = |body: &Value| -> Vec<Value> {
        let messages = body["messages"].as_array().unwrap().iter();
        messages
            .flat_map(|message| message["content"].as_array().unwrap().clone())
            .collect()
    };
    let (a, b) = (blocks(&a), blocks(&b));
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    assert_eq!(same, a.len(), "{when}: what was sent is there as it was");
    Compared::Longer
}

/// A body without the cache breakpoints, which move.
fn parsed(body: &str) -> Value {
    fn unmark(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(unmark);
            }
            Value::Array(items) => items.iter_mut().for_each(unmark),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(body).unwrap();
    unmark(&mut value);
    value
}

fn kills() -> u32 {
    let asked = std::env::var("LONGHAUL_KILLS").ok();
    asked.map_or(4, |kills| kills.parse().unwrap())
}

async fn killed(model: &'static str) {
    let place = Place::new(Setup {
        replies_a_prompt: 1..=3,
        ..Setup::new(model, WINDOW)
    })
    .await;
    let folder = place.folder.path();
    let mut chance = Person::new(9);
    let mut compared = Vec::new();
    let mut known = 0;
    for kill in 0..kills() {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "proof::killed::child", "--nocapture"])
            .env(FOLDER, folder)
            .env(URL, place.server.url())
            .env(MODEL, model)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let id = child.id().to_string();
        while std::fs::read_to_string(folder.join("open")).ok().as_deref() != Some(&id) {
            assert!(
                child.try_wait().unwrap().is_none(),
                "the child ended by itself"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let instant = Duration::from_micros(u64::from(chance.below(600_000)));
        tokio::time::sleep(instant).await;
        assert!(
            child.try_wait().unwrap().is_none(),
            "the child ended by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        let diary = diary(folder);
        let when = format!("{model} kill {kill} after {instant:?}");
        nothing_is_lost(folder, &diary[known..], &when);
        known = diary.len();
        compared.push(next_request(folder, model, &when).await);
    }
    let count = |kind| compared.iter().filter(|done| **done == kind).count();
    let diary = diary(folder);
    let said = |field: &str| diary.iter().filter(|line| line[field].is_string()).count();
    println!(
        "{model}: {} kills; {} said, {} answered, {} requests; next request: {} same, {} longer, {} behind a compaction, {} none",
        kills(),
        said("said"),
        said("answered"),
        said("asked"),
        count(Compared::Same),
        count(Compared::Longer),
        count(Compared::Compaction),
        count(Compared::Nothing),
    );
    assert_eq!(place.rejections(), Vec::<String>::new());
    assert!(said("asked") > 0);
    nothing_is_lost(folder, &diary, model);
}

#[tokio::test]
async fn y7_a_session_survives_kill_nine_when_thinking_is_kept() {
    killed(MODELS[0]).await;
}

#[tokio::test]
async fn y7_a_session_survives_kill_nine_when_thinking_is_bound() {
    killed(MODELS[1]).await;
}

#[tokio::test]
async fn y7_a_session_survives_kill_nine_when_thinking_is_stripped() {
    killed(MODELS[2]).await;
}
