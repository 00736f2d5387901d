//! The environment of these proofs: a server that plays the provider, a session over HTTP, and a record of everything.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use longhaul::session::Observer;
use longhaul::{Boxed, Clock, Model, NoWorkspace, OnStream, Prompt, Session};
use longhaul_core::engine::{Event, ModelRequest};
use longhaul_core::models::ModelTable;
use longhaul_core::prompt::ThinkingChoice;
use longhaul_core::window::QuerySource;
use longhaul_provider::{CancellationToken, Client, ClientConfig, Dialect, Error, Reply};
use longhaul_sim::faults::FaultPlan;
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use longhaul_store::Durability;
use serde_json::{Value, json};

use crate::session::house::settings;

/// A model that keeps earlier thinking, one that binds it to its prefix, one that strips it.
pub(crate) const MODELS: [&str; 3] = ["claude-opus-4-6", "claude-opus-5-5", "claude-sonnet-4-5"];

/// The options of an environment.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) model: &'static str,
    /// The window that the session believes in.
    pub(crate) window: u64,
    /// The window that the provider enforces; with none, the model's own.
    pub(crate) enforced: Option<u64>,
    pub(crate) faults: &'static str,
    pub(crate) misbehavior: &'static str,
    pub(crate) seed: u64,
    pub(crate) system: String,
    pub(crate) replies_a_prompt: std::ops::RangeInclusive<u32>,
}

impl Setup {
    pub(crate) fn new(model: &'static str, window: u64) -> Self {
        Self {
            model,
            window,
            enforced: None,
            faults: "",
            misbehavior: "",
            seed: 1,
            system: "You work on a small code base. Be brief.".to_owned(),
            replies_a_prompt: 2..=4,
        }
    }
}

pub(crate) struct Place {
    pub(crate) setup: Setup,
    pub(crate) server: Arc<SimServer>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) told: Told,
    pub(crate) sent: Sent,
    log: Log,
}

impl Place {
    pub(crate) async fn new(setup: Setup) -> Self {
        let sim = SimModel::new(model::SimModelOptions {
            seed: setup.seed,
            misbehavior: setup.misbehavior.parse().unwrap(),
            pace: model::agent::AgentBehavior {
                turns: setup.replies_a_prompt.clone(),
                ..model::agent::AgentBehavior::default()
            },
            ..model::SimModelOptions::default()
        });
        let mut options = world::WorldOptions::new(setup.seed, Box::new(sim));
        options.pace = SimServerOptions::world_pace(longhaul_sim::faults::wire::EventPace::FAST);
        if let Some(window) = setup.enforced {
            let file = format!("[models.{}]\nwindow = {window}\n", setup.model);
            options.models = ModelTable::builtin().extended_with(&file).unwrap();
        }
        let log = Log::default();
        let faults = match setup.faults {
            "" => FaultPlan::default(),
            faults => FaultPlan::parse(faults, setup.seed).unwrap(),
        };
        let served = SimServerOptions {
            time: TimeSource::Virtual,
            faults,
            log: Some(Box::new(log.clone())),
            ..SimServerOptions::default()
        };
        let server = SimServer::start("127.0.0.1:0".parse().unwrap(), World::new(options), served);
        Self {
            server: Arc::new(server.await.unwrap()),
            folder: tempfile::tempdir().unwrap(),
            told: Told::default(),
            sent: Sent::default(),
            log,
            setup,
        }
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    /// Begins or resumes the session.
    pub(crate) fn open(&self) -> Session {
        self.open_at(&self.transcript(), self.setup.window)
    }

    pub(crate) fn open_at(&self, transcript: &Path, window: u64) -> Session {
        let model = Recorder {
            client: client(&self.server.url()),
            sent: self.sent.clone(),
        };
        Session::builder()
            .model(model)
            .prompt(prompt(self.setup.model, &self.setup.system))
            .transcript(transcript)
            .archive(transcript.with_extension("db"))
            .durability(Durability::OnClose)
            .config(settings(window))
            .workspace(NoWorkspace)
            .clock(VirtualClock(self.server.clone()))
            .observer(self.told.clone())
            .open()
            .unwrap()
    }

    /// Lets time pass.
    pub(crate) fn later(&self, seconds: u64) {
        self.server
            .with_world(|world| world.advance(seconds * 1_000));
    }

    /// The provider's log: one line per request.
    pub(crate) fn log(&self) -> Vec<Value> {
        let bytes = self.log.0.lock().unwrap();
        let lines = bytes.split(|byte| *byte == b'\n');
        lines
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    /// Requests that the provider refused as wrong, other than for their length.
    pub(crate) fn rejections(&self) -> Vec<String> {
        let lines = self.log();
        let errors = lines
            .iter()
            .filter(|line| (400..500).contains(&line["status"].as_u64().unwrap()))
            .filter(|line| line["status"] != 429)
            .map(|line| line["error"].to_string());
        errors
            .filter(|error| !error.contains("prompt is too long"))
            .collect()
    }
}

/// A client that waits for nothing longer than it must.
pub(crate) fn client(url: &str) -> Client {
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.to_owned()),
        "ANTHROPIC_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    let mut config = config.unwrap();
    config.timeouts.silence = Duration::from_millis(400);
    config.retry.attempts = 2;
    config.retry.base = Duration::from_millis(1);
    config.retry.longest = Duration::from_millis(2);
    config.seed = Some(1);
    Client::new(config).unwrap()
}

pub(crate) fn prompt(model: &str, system: &str) -> Prompt {
    let tool = |name: &str, field: &str| {
        json!({"name": name, "description": format!("{name} works on the project."),
            "input_schema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}})
    };
    let mut prompt = Prompt::new(model, system).with_tools(vec![
        tool("Read", "file_path"),
        tool("Bash", "command"),
        tool("Grep", "pattern"),
    ]);
    prompt.think = ThinkingChoice::On { budget: 2_000 };
    prompt
}

/// The world's clock.
pub(crate) struct VirtualClock(Arc<SimServer>);

const EPOCH: Timestamp = Timestamp::constant(1_800_000_000, 0);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let now = self.0.with_world(|world| world.now());
        EPOCH + SignedDuration::from_millis(i64::try_from(now.0).unwrap())
    }
}

/// All events of a session.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<Event>>>);

impl Told {
    pub(crate) fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn compactions(&self) -> Vec<longhaul_core::engine::CompactionSuccess> {
        let events = self.events().into_iter();
        let done = events.filter_map(|event| match event {
            Event::Compacted(done) => Some(*done),
            _ => None,
        });
        done.collect()
    }
}

impl Observer for Told {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// The newest request of the conversation itself.
#[derive(Clone, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<u8>>>);

impl Sent {
    fn note(&self, request: &ModelRequest) {
        if request.source == QuerySource::SDK {
            *self.0.lock().unwrap() = request.body.concat();
        }
    }

    pub(crate) fn newest(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

/// The real client, with a record of every request.
struct Recorder {
    client: Client,
    sent: Sent,
}

impl Model for Recorder {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        self.sent.note(&request);
        Model::send(&self.client, request, on_stream, cancel)
    }
}

/// The provider's log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
