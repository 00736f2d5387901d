//! The provider of one run: the simulator, whose model says to the client what the recorded one said, and notes what it
//! had in view.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::models::ModelTable;
use longhaul_sim::model::constraints::ReplyConstraints;
use longhaul_sim::model::{
    DraftBlock, ModelTurn, ReplyDraft, ReplyModel, SimModel, SimModelOptions, notes, summarize,
};
use longhaul_sim::request::MessagesRequest;
use longhaul_sim::server::{SimServer, SimServerOptions};
use longhaul_sim::world::{World, WorldOptions};
use serde_json::Value;

/// The most tokens that the client asks for.
pub(crate) const CLIENTS_MAX_TOKENS: u64 = 8_000;

/// The fields of a block that a model reads.
const SHOWN: [&str; 4] = ["text", "content", "input", "thinking"];

/// What the model saw of the client's requests, after everything that proxies and the provider did to them.
#[derive(Debug, Default)]
pub(crate) struct ClientView {
    /// Every text in the newest request.
    pub(crate) texts: Vec<String>,
    /// The tokens of the largest prompt.
    pub(crate) largest: u64,
}

/// The simulator of one run.
pub(crate) struct Provider {
    pub(crate) server: SimServer,
    view: Arc<Mutex<ClientView>>,
    recorded: Arc<Mutex<Vec<DraftBlock>>>,
}

impl Provider {
    /// Starts the simulator with this table of models, on this port or a free one.
    pub(crate) async fn start(models: &ModelTable, port: Option<u16>) -> Self {
        let view = Arc::<Mutex<ClientView>>::default();
        let recorded = Arc::<Mutex<Vec<DraftBlock>>>::default();
        let model = RecordedModel {
            model: SimModel::new(SimModelOptions::default()),
            view: Arc::clone(&view),
            recorded: Arc::clone(&recorded),
        };
        let options = SimServerOptions::default();
        let world = World::new(WorldOptions {
            models: models.clone(),
            pace: SimServerOptions::world_pace(options.pace),
            ..WorldOptions::new(0, Box::new(model))
        });
        let addr = SocketAddr::from(([127, 0, 0, 1], port.unwrap_or(0)));
        let server = SimServer::start(addr, world, options).await;
        Self {
            server: server.expect("the provider's port is free"),
            view,
            recorded,
        }
    }

    /// Makes this message of a recorded model the answer to the client's next request.
    pub(crate) fn says(&self, message: &Value) {
        let blocks = message["content"].as_array().into_iter().flatten();
        let draft = |block: &Value| match block["type"].as_str() {
            Some("tool_use") => DraftBlock::ToolUse {
                name: block["name"].as_str().unwrap().to_owned(),
                input: block["input"].clone(),
            },
            _ => DraftBlock::Text(block["text"].as_str().unwrap_or_default().to_owned()),
        };
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        *recorded = blocks.map(draft).collect();
    }

    /// What the model has seen so far.
    pub(crate) fn seen(&self) -> ClientView {
        std::mem::take(&mut self.view.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many calls the simulator has answered.
    pub(crate) fn calls(&self) -> usize {
        let requests = self
            .server
            .with_world(|world| world.usage_log().total.requests);
        usize::try_from(requests).unwrap()
    }
}

/// The model: for the client the recorded one, with the simulator's own thinking; for everybody else the simulator's.
struct RecordedModel {
    model: SimModel,
    view: Arc<Mutex<ClientView>>,
    recorded: Arc<Mutex<Vec<DraftBlock>>>,
}

impl ReplyModel for RecordedModel {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let request = turn.request;
        let mut reply = self.model.reply(turn);
        if !is_the_clients(request) {
            return reply;
        }
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.largest = view.largest.max(turn.prompt_tokens);
        view.texts.clear();
        let blocks = request.messages.iter().flat_map(|message| &message.content);
        for block in request.system.iter().chain(blocks) {
            let shown = SHOWN.iter().filter_map(|field| block.fields.get(*field));
            shown.for_each(|value| texts_of(value, &mut view.texts));
        }
        let recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        let thinks = |block: &DraftBlock| matches!(block, DraftBlock::Thinking(_));
        reply.content.retain(thinks);
        reply.content.extend(recorded.iter().cloned());
        reply
    }
}

/// Whether the client sent a request. What a proxy asks for itself has another limit, or asks for a summary or notes.
fn is_the_clients(request: &MessagesRequest) -> bool {
    let words = ReplyConstraints::of(request).words;
    let limit = request.max_tokens == Some(CLIENTS_MAX_TOKENS);
    limit && !summarize::is_asked(&words) && !notes::is_asked(&words)
}

/// Adds every text in a value, without the names of kinds between them.
pub(crate) fn texts_of(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts_of(value, texts)),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(name, _)| *name != "type");
            shown.for_each(|(_, value)| texts_of(value, texts));
        }
        _ => {}
    }
}
