//! An agent in its own folder, with the strict simulator as its model.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use longhaul::hooks::Hooks;
use longhaul::hooks::fake::FakeHooks;
use longhaul::{Boxed, Model, OnStream};
use longhaul_agent::agent::{Agent, AgentBuilder, SessionChoice};
use longhaul_agent::event::{AgentEvent, ApprovalAnswer, ApprovalMode, PromptOutcome};
use longhaul_agent::permission::{Gate, PermissionDecision, RuleLifetime};
use longhaul_agent::tool::{CallContext, Tool, ToolAccess, ToolCallOutput, Toolbox};
use longhaul_core::config::Config;
use longhaul_core::engine::ModelRequest;
use longhaul_provider::{CancellationToken, Client, ClientConfig, Dialect, Error, Reply};
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{self, World};
use longhaul_store::{Durability, Env};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;

pub(crate) const MODEL: &str = "claude-sonnet-4-6";

/// A simulator, a home and a project.
pub(crate) struct House {
    pub(crate) server: Arc<SimServer>,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) sent: Arc<Mutex<Vec<String>>>,
    pub(crate) config: Config,
    pub(crate) toolbox: Toolbox,
    pub(crate) gate: Option<Arc<Rules>>,
    pub(crate) hooks: Option<Arc<FakeHooks>>,
    pub(crate) max_turns: Option<u32>,
    pub(crate) model: String,
    /// Whether the provider runs web searches.
    pub(crate) searches: bool,
}

impl House {
    /// With these turns, one per line; the built-in model answers requests for summaries.
    pub(crate) async fn scripted(turns: &[Value]) -> Self {
        Self::scripted_by("replies", turns).await
    }

    /// With these turns, counted by calls or by replies.
    pub(crate) async fn scripted_by(by: &str, turns: &[Value]) -> Self {
        let mut script = json!({"script": 1, "by": by, "helpers": "built-in"}).to_string();
        for turn in turns {
            script.push('\n');
            script.push_str(&turn.to_string());
        }
        let options = ModelOptions {
            script: Some(ReplyScript::parse(&script).unwrap()),
            ..ModelOptions::default()
        };
        Self::with(SimModel::new(options)).await
    }

    pub(crate) async fn with(model: impl longhaul_sim::model::ReplyModel + 'static) -> Self {
        let world = World::new(world::WorldOptions {
            pace: SimServerOptions::world_pace(SimServerOptions::default().pace),
            ..world::WorldOptions::new(3, Box::new(model))
        });
        let address = "127.0.0.1:0".parse().unwrap();
        let server = SimServer::start(address, world, SimServerOptions::default());
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        Self {
            server: Arc::new(server.await.unwrap()),
            folder,
            sent: Arc::default(),
            config: Config::default(),
            toolbox: Toolbox::default(),
            gate: None,
            hooks: None,
            max_turns: None,
            model: MODEL.to_owned(),
            searches: false,
        }
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.path().join("project").canonicalize().unwrap()
    }

    pub(crate) fn env(&self) -> Env {
        Env {
            longhaul_home: Some(self.folder.path().join("home").into()),
            claude_config_dir: Some(self.folder.path().join("claude").into()),
            claude_project_dir_name: None,
            user_home: Some(self.folder.path().join("user")),
            data_folder: None,
        }
    }

    pub(crate) fn builder(&self) -> AgentBuilder {
        let model = Recorder {
            client: client(&self.server),
            sent: self.sent.clone(),
            searches: self.searches,
        };
        let mut builder = AgentBuilder::new(Arc::new(model), &self.model, self.cwd(), self.env())
            .session(|session| {
                let session = session.config(self.config.clone());
                session.durability(Durability::OnClose)
            })
            .max_turns(self.max_turns)
            .toolbox(self.toolbox.clone());
        if let Some(gate) = &self.gate {
            builder = builder.shared_gate(gate.clone());
        }
        if let Some(hooks) = &self.hooks {
            let hooks = hooks.clone() as Arc<dyn Hooks>;
            builder = builder.session(|session| session.hooks(hooks));
        }
        builder
    }

    pub(crate) async fn open(
        &self,
        start: SessionChoice,
    ) -> (Agent, UnboundedReceiver<AgentEvent>) {
        self.builder().open(start).await.unwrap()
    }

    /// The bodies of the requests so far.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let sent = self.sent.lock().unwrap();
        sent.iter()
            .map(|body| serde_json::from_str(body).unwrap())
            .collect()
    }

    pub(crate) fn last_body(&self) -> Value {
        self.bodies().pop().unwrap()
    }
}

pub(crate) fn client(server: &SimServer) -> Client {
    let url = server.url();
    let config = ClientConfig::from_env(Dialect::Anthropic, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(url.clone()),
        "ANTHROPIC_API_KEY" => Some("test-key".to_owned()),
        _ => None,
    });
    Client::new(config.unwrap()).unwrap()
}

/// Records the requests that are sent.
struct Recorder {
    client: Client,
    sent: Arc<Mutex<Vec<String>>>,
    searches: bool,
}

impl Model for Recorder {
    fn runs_web_searches(&self) -> bool {
        self.searches
    }

    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body: Vec<u8> = request.body.iter().flat_map(|part| part.to_vec()).collect();
        self.sent
            .lock()
            .unwrap()
            .push(String::from_utf8(body).unwrap());
        Model::send(&self.client, request, on_stream, cancel)
    }
}

/// The texts of a request's messages, in order, including results.
pub(crate) fn texts(body: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        for block in message["content"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => texts.push(block["text"].as_str().unwrap().to_owned()),
                "tool_result" => {
                    let content = &block["content"];
                    texts.push(match content.as_str() {
                        Some(text) => text.to_owned(),
                        None => content.to_string(),
                    });
                }
                _ => {}
            }
        }
    }
    texts
}

/// Works on a prompt and answers questions; returns the events.
pub(crate) async fn work(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    said: &str,
    mut on: impl FnMut(&AgentEvent),
    answer: impl Fn() -> Option<ApprovalAnswer>,
) -> (PromptOutcome, Vec<AgentEvent>) {
    let mut told = Vec::new();
    let ended = {
        let mut work = Box::pin(agent.prompt(said));
        loop {
            tokio::select! {
                biased;
                event = events.recv() => match event.unwrap() {
                    AgentEvent::Asks(question) => match answer() {
                        Some(answer) => question.answer.send(answer).unwrap(),
                        None => drop(question),
                    },
                    event => {
                        on(&event);
                        told.push(event);
                    }
                },
                ended = &mut work => break ended,
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        told.push(event);
    }
    (ended, told)
}

/// Works on a prompt without answering questions; returns the events.
pub(crate) async fn say(
    agent: &mut Agent,
    events: &mut UnboundedReceiver<AgentEvent>,
    said: &str,
) -> (PromptOutcome, Vec<AgentEvent>) {
    work(agent, events, said, |_| {}, || None).await
}

/// A turn that calls tools.
pub(crate) fn calls(calls: &[(&str, Value)]) -> Value {
    let tools: Vec<Value> = calls
        .iter()
        .map(|(name, input)| json!({"name": name, "input": input}))
        .collect();
    json!({"tools": tools})
}

pub(crate) fn text(text: &str) -> Value {
    json!({"text": text})
}

/// A long answer, so that there is something to summarize.
pub(crate) fn long() -> Value {
    let lines =
        (0..400).map(|line| format!("Line {line} of the answer says something of its own."));
    json!({"text": lines.collect::<Vec<_>>().join("\n")})
}

/// What a test tool does.
type Deed = Arc<dyn Fn(Value, CallContext) -> Boxed<'static, ToolCallOutput> + Send + Sync>;

/// A tool for tests.
pub(crate) struct Toy {
    name: &'static str,
    access: ToolAccess,
    deed: Deed,
}

impl Toy {
    pub(crate) fn new<F>(name: &'static str, access: ToolAccess, deed: F) -> Self
    where
        F: Fn(Value, CallContext) -> Boxed<'static, ToolCallOutput> + Send + Sync + 'static,
    {
        Self {
            name,
            access,
            deed: Arc::new(deed),
        }
    }

    /// Answers with its name and input.
    pub(crate) fn echo(name: &'static str, access: ToolAccess) -> Self {
        Self::new(name, access, move |input, _| {
            Box::pin(async move { ToolCallOutput::text(format!("{name} saw {input}"), "ok") })
        })
    }
}

impl Tool for Toy {
    fn name(&self) -> &str {
        self.name
    }

    fn definition(&self) -> Value {
        json!({"name": self.name, "description": "A toy.", "input_schema": {"type": "object", "properties": {
            "what": {"type": "string"}}}})
    }

    fn access(&self, _: &Value) -> ToolAccess {
        self.access.clone()
    }

    fn line(&self, input: &Value) -> String {
        input["what"].as_str().unwrap_or_default().to_owned()
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        (self.deed)(input, call.clone())
    }
}

/// Permissions for tests: which calls are asked about, and which are denied.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) ask: Vec<&'static str>,
    pub(crate) deny: Vec<&'static str>,
    pub(crate) remembered: Mutex<Vec<(String, RuleLifetime)>>,
    pub(crate) judged: AtomicUsize,
}

impl Gate for Rules {
    fn judge(&self, tool: &str, _: &Value, _: &ToolAccess) -> PermissionDecision {
        self.judged.fetch_add(1, Ordering::SeqCst);
        let known = self
            .remembered
            .lock()
            .unwrap()
            .iter()
            .any(|(rule, _)| rule == tool);
        if self.deny.contains(&tool) {
            let reason = format!("{tool} is forbidden by a rule");
            return PermissionDecision::Deny { reason };
        }
        if self.ask.contains(&tool) && !known {
            PermissionDecision::Ask {
                reason: "it changes something".to_owned(),
                rule: Some(tool.to_owned()),
            }
        } else {
            PermissionDecision::Allow
        }
    }

    fn remember(&self, rule: &str, lasting: RuleLifetime) -> Result<(), String> {
        self.remembered
            .lock()
            .unwrap()
            .push((rule.to_owned(), lasting));
        Ok(())
    }

    fn mode(&self) -> ApprovalMode {
        ApprovalMode::Default
    }

    fn set_mode(&self, _: ApprovalMode) {}
}
