//! A session, a server that plays the provider, and a simulated user.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use longhaul::session::Observer;
use longhaul::{Clock, NoWorkspace, Prompt, Session};
use longhaul_core::config::Config;
use longhaul_core::engine::{Event, ToolOutput};
use longhaul_provider::{Client, ClientConfig, Dialect};
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use longhaul_store::Durability;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::json;

/// What happened in a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    pub(crate) turns: usize,
    pub(crate) requests: usize,
    pub(crate) compactions: usize,
    pub(crate) local: usize,
    pub(crate) grown: usize,
    pub(crate) micro: usize,
    pub(crate) failures: usize,
    pub(crate) exceeded: usize,
    pub(crate) breaks: Vec<String>,
    pub(crate) compact_failures: Vec<String>,
}

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} turns, {} replies, {} compactions ({} local), {} clearings, {} failures, {} still over, breaks {:?}, failed compactions {:?}",
            self.turns,
            self.requests,
            self.compactions,
            self.local,
            self.micro,
            self.failures,
            self.exceeded,
            self.breaks,
            self.compact_failures
        )
    }
}

#[derive(Clone, Default)]
pub(crate) struct Watcher(Arc<Mutex<Told>>);

impl Observer for Watcher {
    fn event(&self, event: &Event) {
        let mut told = self.0.lock().unwrap();
        match event {
            Event::Replied { .. } => told.requests += 1,
            Event::Compacted(done) => {
                told.compactions += 1;
                told.grown += usize::from(done.after >= done.before);
                told.local += usize::from(done.by == longhaul_core::engine::Summarizer::Local);
            }
            Event::MicroCompacted { .. } => told.micro += 1,
            Event::CompactFailed { message, .. } => told.compact_failures.push(message.clone()),
            Event::ThresholdExceededAfter { .. } => told.exceeded += 1,
            Event::CacheBreak(finding) => told.breaks.push(finding.to_string()),
            _ => {}
        }
    }
}

/// The world's clock.
pub(crate) struct VirtualClock(pub(crate) Arc<SimServer>);

const EPOCH: Timestamp = Timestamp::constant(1_800_000_000, 0);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let now = self.0.with_world(|world| world.now());
        EPOCH + SignedDuration::from_millis(i64::try_from(now.0).unwrap())
    }
}

pub(crate) struct House {
    pub(crate) server: Arc<SimServer>,
    pub(crate) session: Session,
    watcher: Watcher,
    _folder: tempfile::TempDir,
}

impl House {
    pub(crate) async fn new(model: &str, window: u64) -> Self {
        let sim = SimModel::new(model::SimModelOptions::default());
        let world = World::new(world::WorldOptions::new(5, Box::new(sim)));
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        let server = SimServer::start("127.0.0.1:0".parse().unwrap(), world, options)
            .await
            .unwrap();
        let server = Arc::new(server);
        let folder = tempfile::tempdir().unwrap();
        let watcher = Watcher::default();
        let session = open(&server, &folder, &watcher, model, window);
        Self {
            server,
            session,
            watcher,
            _folder: folder,
        }
    }

    pub(crate) fn told(&self) -> Told {
        self.watcher.0.lock().unwrap().clone()
    }

    /// One exchange: the user speaks, the model works with tools until it has said what it has to say.
    pub(crate) async fn exchange(&mut self, talk: &mut Talk, turn: usize) {
        let said = talk.says(turn);
        self.session.say(said).await.unwrap();
        self.watcher.0.lock().unwrap().turns += 1;
        for _ in 0..5 {
            self.server.with_world(|world| world.advance(7_000));
            let reply = match self.session.turn().await {
                Ok(reply) => reply,
                Err(error) => {
                    println!("turn {turn}: {error}");
                    self.watcher.0.lock().unwrap().failures += 1;
                    return;
                }
            };
            let calls: Vec<String> = reply.tool_calls().map(|call| call.id.to_string()).collect();
            if calls.is_empty() {
                return;
            }
            let outputs = calls.into_iter().map(|id| talk.result(id)).collect();
            self.session.results(outputs).await.unwrap();
        }
        // Enough of tools for this time.
    }

    /// Every message of the user is word for word in what the model sees, or counted as shortened.
    pub(crate) fn every_word_is_there(&self, talk: &Talk) {
        let view: String = self
            .session
            .engine()
            .live()
            .views()
            .map(|entry| String::from_utf8_lossy(entry.line).into_owned())
            .collect();
        let missing: Vec<&String> = talk
            .said
            .iter()
            .filter(|text| !view.contains(*text))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

pub(crate) fn open(
    server: &Arc<SimServer>,
    folder: &tempfile::TempDir,
    watcher: &Watcher,
    model: &str,
    window: u64,
) -> Session {
    Session::builder()
        .model(client(server))
        .prompt(prompt(model))
        .transcript(folder.path().join("session.jsonl"))
        .archive(folder.path().join("archive.db"))
        .durability(Durability::OnClose)
        .config(settings(window))
        .workspace(NoWorkspace)
        .clock(VirtualClock(server.clone()))
        .observer(watcher.clone())
        .seed(1)
        .open()
        .unwrap()
}

/// Settings without background work, so that the conversation's requests can be counted.
pub(crate) fn settings(window: u64) -> Config {
    let mut settings = Config::default();
    settings.window_cap = Some(window);
    settings.switches.notes = false;
    settings.background = false;
    settings
}

/// A client of the server.
pub(crate) fn client(server: &SimServer) -> Client {
    let url = server.url();
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    Client::new(config.unwrap()).unwrap()
}

/// What stands before the messages.
pub(crate) fn prompt(model: &str) -> Prompt {
    let tool = |name: &str, field: &str| {
        json!({"name": name, "description": format!("{name} works on the project."),
            "input_schema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}})
    };
    Prompt::new(model, "You work on a small code base. Be brief.").with_tools(vec![
        tool("Read", "file_path"),
        tool("Bash", "command"),
        tool("Grep", "pattern"),
    ])
}

/// A simulated user, and tools that answer.
pub(crate) struct Talk {
    rng: ChaCha8Rng,
    pub(crate) said: Vec<String>,
}

impl Talk {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha8Rng::seed_from_u64(seed),
            said: Vec::new(),
        }
    }

    pub(crate) fn says(&mut self, turn: usize) -> String {
        let what = ["parser", "cache", "index", "tests", "docs"][self.rng.next_u32() as usize % 5];
        let text = format!(
            "Request {turn}: please look at the {what} in src/{what}_{turn}.rs and say what it does."
        );
        self.said.push(text.clone());
        text
    }

    pub(crate) fn result(&mut self, id: String) -> ToolOutput {
        let lines = 5 + self.rng.next_u32() as usize % 120;
        let text: String = (0..lines)
            .map(|line| {
                format!(
                    "{line}: let value_{} = compute({});\n",
                    self.rng.next_u32() % 997,
                    line
                )
            })
            .collect();
        ToolOutput {
            tool_use_id: id,
            content: json!(text),
            is_error: false,
        }
    }
}
