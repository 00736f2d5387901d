//! A model that shows whose request it answers: every message of a test's clients has a tag, every reply repeats the
//! newest, and a request with tags of two conversations is recorded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use longhaul_core::models::ModelTable;
use longhaul_sim::faults::FaultPlan;
use longhaul_sim::model::constraints::ReplyConstraints;
use longhaul_sim::model::{
    DraftBlock, ModelTurn, ReplyDraft, ReplyModel, SimModel, SimModelOptions as ModelOptions,
    summarize,
};
use longhaul_sim::server::{SimServer, SimServerOptions as SimOptions};
use longhaul_sim::world::{self, World};
use serde_json::json;

/// The seed of all randomness.
const SEED: u64 = 7;

/// A conversation and a turn in it, as written into messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    pub(crate) conversation: u64,
    pub(crate) turn: u64,
}

const BEGIN: &str = "tag-";
const DIGITS: usize = 6;

impl std::fmt::Display for Tag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{BEGIN}{:06}-{:06}", self.conversation, self.turn)
    }
}

impl Tag {
    /// All tags in a text.
    pub(crate) fn all(text: &str) -> impl Iterator<Item = Self> + '_ {
        text.match_indices(BEGIN).filter_map(|(at, _)| {
            let number = |from: usize| text.get(from..from + DIGITS)?.parse().ok();
            let from = at + BEGIN.len();
            Some(Self {
                conversation: number(from)?,
                turn: number(from + DIGITS + 1)?,
            })
        })
    }
}

/// What the model saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) turns: u64,
    pub(crate) summaries: u64,
    /// Requests with two conversations.
    pub(crate) mixed: Vec<(Tag, Tag)>,
}

/// When the model stops working.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rest {
    /// When it considers a task done.
    Sometimes,
    /// Never: each reply calls a tool.
    Never,
}

struct Echo {
    inner: SimModel,
    rest: Rest,
    seen: Arc<Mutex<Seen>>,
}

impl Echo {
    /// The newest tag of a request.
    fn look(&self, turn: &ModelTurn<'_>, is_summary: bool) -> Option<Tag> {
        let mut seen = self.seen.lock().unwrap();
        if is_summary {
            seen.summaries += 1
        } else {
            seen.turns += 1
        }
        let blocks = (turn.request.messages.iter()).flat_map(|message| &message.content);
        let tags: Vec<Tag> = blocks.flat_map(|block| Tag::all(&block.raw)).collect();
        let newest = *tags.iter().max_by_key(|tag| tag.turn)?;
        let stranger = tags
            .iter()
            .find(|tag| tag.conversation != newest.conversation);
        seen.mixed
            .extend(stranger.map(|stranger| (newest, *stranger)));
        Some(newest)
    }
}

impl ReplyModel for Echo {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let is_summary = summarize::is_asked(&ReplyConstraints::of(turn.request).words);
        let newest = self.look(turn, is_summary);
        let mut draft = self.inner.reply(turn);
        if is_summary {
            return draft;
        }
        let calls = |block: &DraftBlock| matches!(block, DraftBlock::ToolUse { .. });
        if self.rest == Rest::Never && !draft.content.iter().any(calls) {
            draft.content.push(DraftBlock::ToolUse {
                name: "Bash".to_owned(),
                input: json!({"command": format!("step {}", turn.index)}),
            });
        }
        if let Some(tag) = newest {
            let thinks = |block: &DraftBlock| matches!(block, DraftBlock::Thinking(_));
            let behind = draft.content.iter().take_while(|block| thinks(block));
            let at = behind.count();
            let text = DraftBlock::Text(format!("This answers {tag}."));
            draft.content.insert(at, text);
        }
        draft
    }

    fn misbehave(&mut self, more: longhaul_sim::model::misbehave::Misbehavior) {
        self.inner.misbehave(more);
    }
}

/// A simulator with this model, with faults on its wire and misbehavior of the model.
pub(crate) async fn echoing(
    models: ModelTable,
    rest: Rest,
    faults: &str,
    misbehavior: &str,
) -> (SimServer, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let model = Echo {
        inner: SimModel::new(ModelOptions {
            seed: SEED,
            misbehavior: match misbehavior {
                "" => longhaul_sim::model::misbehave::Misbehavior::default(),
                spec => spec.parse().unwrap(),
            },
            ..ModelOptions::default()
        }),
        rest,
        seen: Arc::clone(&seen),
    };
    let options = SimOptions {
        faults: match faults {
            "" => FaultPlan::default(),
            spec => FaultPlan::parse(spec, SEED).unwrap(),
        },
        ..SimOptions::default()
    };
    let world = World::new(world::WorldOptions {
        models,
        pace: SimOptions::world_pace(options.pace),
        ..world::WorldOptions::new(SEED, Box::new(model))
    });
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    (SimServer::start(addr, world, options).await.unwrap(), seen)
}
