//! A session over a model that answers what the test says, when the test says.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use longhaul::session::Observer;
use longhaul::{Boxed, Model, NoWorkspace, OnStream, Prompt, Session, Workspace};
use longhaul_core::config::Config;
use longhaul_core::engine::{Event, ModelRequest, NotesRunOutcome};
use longhaul_core::notes::NotesProgress;
use longhaul_core::window::QuerySource;
use longhaul_provider::decode::decode_json;
use longhaul_provider::{CancellationToken, Dialect, Error, ErrorClass, Reply};
use longhaul_store::Durability;
use longhaul_store::layout::NotesFiles;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// When the model answers a kind of request.
pub(crate) enum Pace {
    /// At once.
    AtOnce,
    /// When the test allows it.
    Held(Semaphore),
}

/// The answers to one kind of request.
struct Answers {
    queue: Mutex<VecDeque<Value>>,
    pace: Mutex<Arc<Pace>>,
    /// Bodies of requests.
    asked: Mutex<Vec<String>>,
    /// A permit for every request that came.
    came: Semaphore,
    /// A permit for every request that ended, answered or not.
    ended: Arc<Semaphore>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            pace: Mutex::new(Arc::new(Pace::AtOnce)),
            asked: Mutex::default(),
            came: Semaphore::new(0),
            ended: Arc::new(Semaphore::new(0)),
        }
    }
}

#[derive(Default)]
struct Script {
    conversation: Answers,
    notes: Answers,
    summaries: Answers,
    replies: Mutex<u64>,
}

impl Script {
    fn of(&self, source: &QuerySource) -> &Answers {
        match source.as_str() {
            "notes" => &self.notes,
            "compact" => &self.summaries,
            _ => &self.conversation,
        }
    }
}

/// Which requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Conversation,
    Notes,
    Summaries,
}

/// The model.
#[derive(Clone, Default)]
pub(crate) struct Scripted(Arc<Script>);

impl Scripted {
    fn answers(&self, kind: Kind) -> &Answers {
        match kind {
            Kind::Conversation => &self.0.conversation,
            Kind::Notes => &self.0.notes,
            Kind::Summaries => &self.0.summaries,
        }
    }

    /// Waits until there were this many requests of this kind.
    pub(crate) async fn is_asked(&self, kind: Kind, requests: usize) {
        while self.answers(kind).asked.lock().unwrap().len() < requests {
            tokio::task::yield_now().await;
        }
    }
}

struct Ended(Arc<Semaphore>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Model for Scripted {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        _: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        Box::pin(async move {
            let answers = self.0.of(&request.source);
            let _ended = Ended(answers.ended.clone());
            let body = String::from_utf8(request.body.concat()).unwrap();
            answers.asked.lock().unwrap().push(body);
            answers.came.add_permits(1);
            let pace = answers.pace.lock().unwrap().clone();
            if let Pace::Held(held) = &*pace {
                tokio::select! {
                    permit = held.acquire() => permit.unwrap().forget(),
                    () = cancel.cancelled() => {
                        return Err(Error::new(ErrorClass::Cancelled, "cancelled"));
                    }
                }
            }
            let answer = answers.queue.lock().unwrap().pop_front();
            let mut answer = answer.unwrap_or_else(|| says("Yes.", 100));
            assert_ne!(answer, json!("panic"), "as the test wants it");
            let mut replies = self.0.replies.lock().unwrap();
            *replies += 1;
            answer["id"] = json!(format!("msg_{replies}"));
            Ok(decode_json(Dialect::Anthropic, &answer.to_string().into()).unwrap())
        })
    }
}

/// A reply in text, with this many tokens in the window.
pub(crate) fn says(text: &str, tokens: u64) -> Value {
    message(json!([{"type": "text", "text": text}]), "end_turn", tokens)
}

/// A reply with calls of tools: name and input.
pub(crate) fn calls(calls: &[(&str, Value)], tokens: u64) -> Value {
    let calls = calls.iter().enumerate().map(|(at, (name, input))| {
        json!({"type": "tool_use", "id": format!("toolu_{tokens}_{at}"), "name": name, "input": input})
    });
    message(calls.collect(), "tool_use", tokens)
}

pub(crate) fn message(content: Value, stop: &str, tokens: u64) -> Value {
    json!({
        "id": "", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6",
        "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": tokens, "output_tokens": 10,
            "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    })
}

/// All events.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<Event>>>);

impl Observer for Told {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

impl Told {
    pub(crate) fn count(&self, which: impl Fn(&Event) -> bool) -> usize {
        let events = self.0.lock().unwrap();
        events.iter().filter(|event| which(event)).count()
    }
}

/// How the test session is set up.
pub(crate) struct Furniture {
    pub(crate) config: Config,
    pub(crate) tools: Vec<Value>,
    pub(crate) workspace: Arc<dyn Workspace>,
}

impl Default for Furniture {
    fn default() -> Self {
        let mut config = Config::default();
        config.background = false;
        Self {
            config,
            tools: vec![tool(
                "Edit",
                &["file_path", "old_string", "new_string", "replace_all"],
            )],
            workspace: Arc::new(NoWorkspace),
        }
    }
}

pub(crate) fn tool(name: &str, fields: &[&str]) -> Value {
    let fields: serde_json::Map<String, Value> = fields
        .iter()
        .map(|field| ((*field).to_owned(), json!({"type": "string"})))
        .collect();
    json!({"name": name, "description": "A tool.", "input_schema": {"type": "object", "properties": fields}})
}

pub(crate) struct Desk {
    pub(crate) model: Scripted,
    pub(crate) session: Option<Session>,
    pub(crate) told: Told,
    pub(crate) folder: Arc<tempfile::TempDir>,
    pub(crate) files: NotesFiles,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(Furniture::default())
    }

    pub(crate) fn with(furniture: Furniture) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), furniture)
    }

    /// Sets the session up in a folder that may already hold files.
    pub(crate) fn at(folder: Arc<tempfile::TempDir>, furniture: Furniture) -> Self {
        let (model, told) = (Scripted::default(), Told::default());
        let transcript = folder.path().join("session.jsonl");
        let session = Session::builder()
            .model(model.clone())
            .prompt(
                Prompt::new("claude-sonnet-4-6", "You write parsers.").with_tools(furniture.tools),
            )
            .transcript(&transcript)
            .durability(Durability::OnClose)
            .config(furniture.config)
            // Notes are taken at their own thresholds (S2); `proof/modes` has them by price.
            .economy(longhaul::EconomyPolicy::Off)
            .workspace(furniture.workspace)
            .observer(told.clone())
            .open()
            .unwrap();
        Self {
            model,
            session: Some(session),
            told,
            files: NotesFiles::of_transcript(&transcript),
            folder,
        }
    }

    pub(crate) fn session(&mut self) -> &mut Session {
        self.session.as_mut().unwrap()
    }

    fn answers(&self, kind: Kind) -> &Answers {
        self.model.answers(kind)
    }

    pub(crate) fn answer(&self, kind: Kind, answer: Value) {
        self.answers(kind).queue.lock().unwrap().push_back(answer);
    }

    /// Requests of this kind are answered only when the test allows it.
    pub(crate) fn hold(&self, kind: Kind) -> Arc<Pace> {
        let pace = Arc::new(Pace::Held(Semaphore::new(0)));
        *self.answers(kind).pace.lock().unwrap() = pace.clone();
        pace
    }

    /// Waits until another request of this kind is there.
    pub(crate) async fn is_asked(&self, kind: Kind) {
        self.answers(kind).came.acquire().await.unwrap().forget();
    }

    /// Waits until another request of this kind has ended.
    pub(crate) async fn has_ended(&self, kind: Kind) {
        self.answers(kind).ended.acquire().await.unwrap().forget();
    }

    pub(crate) fn asked(&self, kind: Kind) -> Vec<String> {
        self.answers(kind).asked.lock().unwrap().clone()
    }

    /// The user says something, and the model answers; then the window holds this many tokens.
    pub(crate) async fn exchange(&mut self, text: &str, tokens: u64) {
        self.answer(Kind::Conversation, says("I will.", tokens));
        self.session().say(text).await.unwrap();
        self.session().turn().await.unwrap();
    }

    /// Enough is said for notes, and they are taken.
    pub(crate) async fn noted(&mut self) -> NotesRunOutcome {
        self.exchange("Build a parser. Never use regexes.", 12_000)
            .await;
        self.session().drive_background().await;
        self.taken().pop().unwrap()
    }

    pub(crate) fn path(&self) -> String {
        self.files.notes().display().to_string()
    }

    /// An edit of the notes: something noted under a section's description.
    pub(crate) fn notes_edit(&self, below: &str, text: &str) -> (&'static str, Value) {
        let input = json!({"file_path": self.path(), "old_string": below, "new_string": format!("{below}\n{text}")});
        ("Edit", input)
    }

    pub(crate) fn notes(&self) -> String {
        std::fs::read_to_string(self.files.notes()).unwrap()
    }

    pub(crate) fn progress(&self) -> Option<NotesProgress> {
        NotesProgress::read(&std::fs::read(self.files.progress()).ok()?)
    }

    pub(crate) fn write(&self, path: PathBuf, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.told.0.lock().unwrap().clone()
    }

    /// The outcomes of runs.
    pub(crate) fn taken(&self) -> Vec<NotesRunOutcome> {
        let events = self.events().into_iter();
        let taken = events.filter_map(|event| match event {
            Event::NotesTaken(event) => Some(event.taken),
            _ => None,
        });
        taken.collect()
    }

    /// The uuid of the newest reply.
    pub(crate) fn newest_reply(&self) -> String {
        let events = self.events().into_iter().rev();
        let mut replies = events.filter_map(|event| match event {
            Event::Replied { uuid, .. } => Some(uuid),
            _ => None,
        });
        replies.next().unwrap()
    }
}

/// Allows this many requests to be answered.
pub(crate) fn let_go(pace: &Pace, requests: usize) {
    if let Pace::Held(held) = pace {
        held.add_permits(requests);
    }
}

/// Descriptions of the default template, to edit below.
pub(crate) const STATE: &str =
    "_What is being worked on right now, what is still open, what comes next_";
pub(crate) const WORKLOG: &str = "_What was done, step by step, a few words a step_";
