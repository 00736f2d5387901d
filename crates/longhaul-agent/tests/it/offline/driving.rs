//! A minimal line mode: a session on the offline model that the tour drives.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul::{Client, Config, Event, Observer, Prompt, Session, ToolOutput};
use longhaul_agent::event::{AgentEvent, AgentStatus, ApprovalMode, PromptOutcome};
use longhaul_agent::offline::tour::{Tour, TourStep, TourWait, window_cap};
use longhaul_agent::offline::{
    MODEL, ModelBackend, OfflineOptions, OfflineServer, WritingSpeed, start,
};
use serde_json::Value;

use super::folder::{Folder, definitions};

/// The approximate number of tokens in the request prefix.
const HEAD: u64 = 8_000;
/// The maximum number of turns for one prompt.
const MOST_TURNS: usize = 40;

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Event>>>);

impl Observer for Heard {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// The results of a tour.
#[derive(Debug, Default)]
pub(crate) struct Toured {
    pub(crate) said: Vec<String>,
    pub(crate) prompts: Vec<String>,
    pub(crate) commands: Vec<String>,
    pub(crate) calls: Vec<String>,
    pub(crate) compactions: usize,
    pub(crate) resumes: usize,
    pub(crate) read_after_resume: u64,
    pub(crate) reading_ms: u128,
    pub(crate) replies: usize,
    /// How long the replies would take at human speed: the first byte, then 24 characters every 37 ms, 5 s at most.
    pub(crate) writing_ms: u128,
    /// Tokens before and after each compaction.
    pub(crate) compacted: Vec<(u64, u64)>,
    pub(crate) gauge: Vec<u64>,
    /// The text of the newest reply.
    pub(crate) answer: String,
}

pub(crate) struct Line {
    offline: OfflineServer,
    folder: Folder,
    transcript: PathBuf,
    heard: Heard,
    head: String,
    session: Option<Session>,
    pub(crate) toured: Toured,
}

impl Line {
    pub(crate) async fn new(folder: &Path, sessions: &Path) -> Self {
        let speed = match std::env::var_os("LONGHAUL_TOUR_AT_HUMAN_PACE") {
            Some(_) => WritingSpeed::HUMAN,
            None => WritingSpeed::Instant,
        };
        let options = OfflineOptions { seed: 1, speed };
        let folder = Folder::new(folder);
        // About as long as a real system prompt with its tools.
        let head = format!(
            "{}\n{}",
            folder.system(),
            "Mind what the user says, and look before you act. ".repeat(500)
        );
        let mut line = Self {
            offline: start(options).await.unwrap(),
            folder,
            transcript: sessions.join("s.jsonl"),
            heard: Heard::default(),
            head,
            session: None,
            toured: Toured::default(),
        };
        line.open();
        line
    }

    fn open(&mut self) {
        self.session = None;
        let mut config = Config::default();
        config.window_cap = Some(window_cap(HEAD));
        let session = Session::builder()
            .model(Client::new(self.offline.client()).unwrap())
            .prompt(Prompt::new(MODEL, &self.head).with_tools(definitions()))
            .transcript(&self.transcript)
            .cwd(&self.folder.root)
            .config(config)
            .observer(self.heard.clone())
            .open();
        self.session = Some(session.unwrap());
    }

    /// Runs the tour to its end.
    pub(crate) async fn tour(&mut self) {
        let mut tour = Tour::new();
        for _ in 0..200 {
            match tour.next_step() {
                TourStep::Say(text) => self.toured.said.push(text),
                TourStep::Prompt(text) => {
                    self.toured.prompts.push(text.clone());
                    self.prompt(&text, &mut tour).await;
                }
                TourStep::Wait(TourWait::Read(time)) => self.toured.reading_ms += time.as_millis(),
                TourStep::Wait(TourWait::Ended) => {}
                TourStep::Command(command) => self.toured.commands.push(command),
                TourStep::Resume => {
                    self.toured.resumes += 1;
                    self.open();
                }
                TourStep::End => return,
            }
        }
        panic!("the tour never ends: {:?}", self.toured);
    }

    async fn prompt(&mut self, text: &str, tour: &mut Tour) {
        let session = self.session.as_mut().unwrap();
        session.say(text).await.unwrap();
        let resumed = self.toured.resumes > 0;
        for turn in 0..MOST_TURNS {
            let reply = session.turn().await.unwrap();
            let heard = std::mem::take(&mut *self.heard.0.lock().unwrap());
            for event in heard {
                if let Event::Compacted(done) = &event {
                    self.toured.compactions += 1;
                    self.toured.writing_ms += 5_350;
                    self.toured.compacted.push((done.before, done.after));
                }
                tour.watch(&AgentEvent::Engine(event));
            }
            let message: Value = serde_json::from_slice(&reply.message_json()).unwrap();
            self.toured.replies += 1;
            let said = message["content"].as_array().unwrap().iter();
            let said = said.filter_map(|block| block["text"].as_str());
            self.toured.answer = said.collect();
            self.toured.writing_ms +=
                350 + (message["content"].to_string().len() as u128 * 37 / 24).min(5_000);
            if resumed && turn == 0 {
                self.toured.read_after_resume = message["usage"]["cache_read_input_tokens"]
                    .as_u64()
                    .unwrap();
            }
            tour.watch(&AgentEvent::Replied(message));
            let status = session.status();
            let glance = glance(&status);
            self.toured.gauge.push(glance.used);
            tour.watch(&AgentEvent::Glance(glance));
            let mut results = Vec::new();
            for call in reply.tool_calls() {
                let input: Value = serde_json::from_slice(call.input_json).unwrap();
                let (id, name) = (call.id.into_owned(), call.name.into_owned());
                self.toured.calls.push(name.clone());
                let (said, failed) = self.folder.run(&name, &input);
                tour.watch(&AgentEvent::ToolStarted {
                    id: id.clone(),
                    name,
                    line: String::new(),
                    input,
                });
                results.push(ToolOutput {
                    is_error: failed,
                    ..ToolOutput::text(id, said)
                });
            }
            if results.is_empty() {
                tour.watch(&AgentEvent::Ended(PromptOutcome::Done));
                return;
            }
            session.results(results).await.unwrap();
        }
        panic!("a prompt never ends: {:?}", self.toured);
    }
}

fn glance(status: &longhaul::WindowStatus) -> AgentStatus {
    AgentStatus {
        effort: longhaul_agent::EffortSetting::Model,
        model: MODEL.to_owned(),
        backend: ModelBackend::Simulator,
        used: status.used,
        limit: status.limit,
        prefix: 0,
        percent_left: u64::from(status.percent_left),
        level: status.level,
        cost: None,
        usage: Default::default(),
        cache_hit_rate: None,
        mode: ApprovalMode::Default,
    }
}
