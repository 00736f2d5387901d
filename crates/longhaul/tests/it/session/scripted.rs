//! A session whose model says what a test wants it to say, over HTTP in the offline world.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use longhaul::session::{Observer, SessionBuilder};
use longhaul::{Boxed, Model, NoWorkspace, OnStream, Prompt, Session};
use longhaul_core::engine::{Event, ModelRequest, ToolOutput};
use longhaul_core::models::ModelTable;
use longhaul_provider::{CancellationToken, Client, Error, Reply};
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use longhaul_store::Durability;
use serde_json::{Value, json};

use super::house::{VirtualClock, client, prompt};

pub(crate) const MODEL: &str = "claude-sonnet-4-6";

/// A client that records what it sends.
pub(crate) struct Recorder(Client, Arc<Mutex<Vec<Value>>>);

impl Model for Recorder {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = serde_json::from_slice(&request.body.concat()).unwrap();
        self.1.lock().unwrap().push(body);
        Model::send(&self.0, request, on_stream, cancel)
    }
}

#[derive(Clone, Default)]
pub(crate) struct Heard(pub(crate) Arc<Mutex<Vec<Event>>>);

impl Observer for Heard {
    fn event(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// A world in which a script answers, and a folder for sessions.
pub(crate) struct Stage {
    pub(crate) server: Arc<SimServer>,
    pub(crate) models: ModelTable,
    pub(crate) sent: Arc<Mutex<Vec<Value>>>,
    pub(crate) folder: tempfile::TempDir,
}

impl Stage {
    /// One turn per call, with a model's window of this size.
    pub(crate) async fn new(window: u64, turns: &[Value]) -> Self {
        Self::with_models(&format!("[models.{MODEL}]\nwindow = {window}\n"), turns).await
    }

    /// One turn per call, with a file of models that session and provider both go by.
    pub(crate) async fn with_models(table: &str, turns: &[Value]) -> Self {
        Self::at(tempfile::tempdir().unwrap(), table, turns).await
    }

    /// One turn per call, made for the folder that the stage has.
    pub(crate) async fn for_folder(turns: impl FnOnce(&Path) -> Vec<Value>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns(folder.path());
        Self::at(folder, "", &turns).await
    }

    async fn at(folder: tempfile::TempDir, table: &str, turns: &[Value]) -> Self {
        let mut script = json!({"script": 1, "by": "calls", "helpers": "built-in"}).to_string();
        for turn in turns {
            script.push('\n');
            script.push_str(&turn.to_string());
        }
        let model = SimModel::new(ModelOptions {
            script: Some(ReplyScript::parse(&script).unwrap()),
            ..ModelOptions::default()
        });
        let models = ModelTable::builtin().extended_with(table).unwrap();
        let world = World::new(world::WorldOptions {
            models: models.clone(),
            ..world::WorldOptions::new(5, Box::new(model))
        });
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = SimServer::start(address, world, options).await.unwrap();
        Self {
            server: Arc::new(server),
            models,
            sent: Arc::default(),
            folder,
        }
    }

    /// A session here, without an observer.
    pub(crate) fn session(&self) -> SessionBuilder {
        let prompt: Prompt = prompt(MODEL);
        Session::builder()
            .model(Recorder(client(&self.server), self.sent.clone()))
            .models(self.models.clone())
            .prompt(prompt)
            .transcript(self.transcript())
            .durability(Durability::OnClose)
            .workspace(NoWorkspace)
            .clock(VirtualClock(self.server.clone()))
            .seed(1)
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.folder.path().join("session.jsonl")
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.transcript()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The newest request, of whatever kind.
    pub(crate) fn last_sent(&self) -> Value {
        self.sent.lock().unwrap().last().unwrap().clone()
    }

    /// Virtual time passes.
    pub(crate) fn rest(&self, seconds: u64) {
        self.server
            .with_world(|world| world.advance(seconds * 1_000));
    }
}

/// The texts of a request's messages, in order; those inside results, too.
pub(crate) fn texts(request: &Value) -> Vec<String> {
    fn collect(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, texts)),
            Value::Object(block) => {
                let is_text = block.get("type").is_some_and(|kind| kind == "text");
                let within = block.get(if is_text { "text" } else { "content" });
                within.into_iter().for_each(|within| collect(within, texts));
            }
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(&request["messages"], &mut texts);
    texts
}

/// A turn that says this many words.
pub(crate) fn words(count: usize) -> Value {
    json!({"text": "word ".repeat(count)})
}

/// A turn that reads a file.
pub(crate) fn reads(tool: &str) -> Value {
    json!({"tools": [{"name": tool, "input": {"file_path": "a.csv"}}]})
}

/// The calls of a reply, each answered with this.
pub(crate) fn answered(reply: &Reply, text: &str) -> Vec<ToolOutput> {
    let calls = reply.tool_calls().map(|call| ToolOutput {
        tool_use_id: call.id.to_string(),
        content: json!(text),
        is_error: false,
    });
    calls.collect()
}
