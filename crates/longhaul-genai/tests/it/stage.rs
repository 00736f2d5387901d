//! The simulator, and sessions that reach it through genai.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul::prelude::*;
use longhaul::{ModelTable, NoWorkspace, Usage};
use longhaul_genai::genai::adapter::AdapterKind;
use longhaul_genai::genai::resolver::{AuthData, Endpoint};
use longhaul_genai::{GenaiModel, RetryPolicy};
use longhaul_sim::faults::FaultPlan;
use longhaul_sim::model::SimModel;
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const MODEL: &str = "claude-sonnet-4-6";

/// The adapters that the simulator has an endpoint for.
pub(crate) const ADAPTERS: [AdapterKind; 2] = [AdapterKind::OpenAI, AdapterKind::Anthropic];

/// What differs from a server that works.
#[derive(Default)]
pub(crate) struct Setting {
    /// The window that the server has, if it is not what the session believes.
    pub(crate) window: Option<u64>,
    pub(crate) faults: &'static str,
}

pub(crate) async fn start(setting: Setting) -> SimServer {
    let mut world = WorldOptions::new(1, Box::new(SimModel::new(Default::default())));
    if let Some(window) = setting.window {
        let table = format!("[models.{MODEL}]\nwindow = {window}\n");
        world.models = ModelTable::builtin().extended_with(&table).unwrap();
    }
    let mut options = SimServerOptions::default();
    if !setting.faults.is_empty() {
        options.faults = FaultPlan::parse(setting.faults, 1).unwrap();
    }
    let address = "127.0.0.1:0".parse().unwrap();
    SimServer::start(address, World::new(world), options)
        .await
        .unwrap()
}

/// A model that is reached with this key.
pub(crate) fn model(server: &SimServer, adapter: AdapterKind, key: &str) -> GenaiModel {
    let endpoint = Endpoint::from_owned(format!("{}/v1/", server.url()));
    let client = longhaul_genai::client_builder()
        .unwrap()
        .with_adapter_kind(adapter)
        .append_provider_config(adapter, (endpoint, AuthData::from_single(key)))
        .build()
        .unwrap();
    let mut retry = RetryPolicy::default();
    retry.base = Duration::from_millis(1);
    GenaiModel::new(client).with_retry(retry)
}

/// A session with tools and a small window, so that it is compacted soon.
pub(crate) fn session(model: GenaiModel, tools: &Toolbox) -> SessionBuilder {
    let mut config = Config::default();
    config.window_cap = Some(12_000);
    Session::builder()
        .model(model)
        .workspace(NoWorkspace)
        .prompt(Prompt::new(MODEL, "You read code.").with_tools(tools.definitions()))
        .config(config)
}

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    /// The path of the file.
    file_path: String,
}

/// A tool with long results.
pub(crate) fn tools() -> Toolbox {
    Toolbox::new().with_fn("Read", "Reads a file.", |input: ReadInput| async move {
        let code = "fn part() -> u32 { 42 }\n".repeat(200);
        Ok(format!("// {}\n{code}", input.file_path).into())
    })
}

/// What a session reports.
#[derive(Clone, Default)]
pub(crate) struct Heard {
    pub(crate) text: Arc<Mutex<String>>,
    pub(crate) usages: Arc<Mutex<Vec<Usage>>>,
    pub(crate) events: Arc<Mutex<Vec<Event>>>,
}

impl Observer for Heard {
    fn stream(&self, event: &StreamEvent) {
        if let StreamEvent::Text { text, .. } = event {
            self.text.lock().unwrap().push_str(text);
        }
    }

    fn event(&self, event: &Event) {
        if let Event::Replied { usage, .. } = event {
            self.usages.lock().unwrap().push(usage.clone());
        }
        self.events.lock().unwrap().push(event.clone());
    }
}
