//! What a session is made of, set step by step. `open.rs` opens it.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::{CacheEditSupport, ReplyDelivery};
use longhaul_core::micro::ClearableTools;
use longhaul_core::models::ModelTable;
use longhaul_core::window::QuerySource;
use longhaul_store::Durability;

use super::cancellation::Cancellation;
use super::observe::Observer;
use super::options::SessionOptions;
use crate::clock::Clock;
use crate::hooks::Hooks;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::workspace::Workspace;

/// What becomes of what requests began with, where a session is resumed with something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ResumedPrefix {
    /// What the caller gives now is sent at once.
    #[default]
    TakeNew,
    /// The old one is sent until the next compaction.
    KeepUntilCompaction,
}

/// What a session is made of. A model and a prompt are needed; all else has a default.
#[derive(Clone, Default)]
pub struct SessionBuilder {
    pub(super) options: SessionOptions,
    pub(super) cancellation: Option<Cancellation>,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) prompt: Option<Prompt>,
    pub(super) transcript: Option<PathBuf>,
    pub(super) archive: Option<PathBuf>,
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) git_branch: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) hook_overflow: Option<PathBuf>,
    pub(super) version: Option<String>,
    pub(super) source: Option<QuerySource>,
    pub(super) clearable: Option<ClearableTools>,
    pub(super) autonomous: bool,
    pub(super) delivery: Option<ReplyDelivery>,
    pub(super) recall_tool: Option<String>,
    pub(super) compact_instructions: Option<String>,
    pub(super) workspace: Option<Arc<dyn Workspace>>,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(super) seed: Option<u128>,
    pub(super) resumed_prefix: ResumedPrefix,
}

impl SessionBuilder {
    /// What it opens sessions with: what was set, and the defaults of the rest.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// The host's own way to stop what the session waits for. The host renews it: a stop that comes between two calls of the
    /// session holds for the next one, too. Without it the session has one of its own, see [`Session::canceller`](super::Session::canceller).
    #[must_use]
    pub fn cancellation(mut self, cancellation: Cancellation) -> Self {
        self.cancellation = Some(cancellation);
        self
    }

    /// The model to ask.
    #[must_use]
    pub fn model(mut self, model: impl Model + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// What stands before the messages.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// Keeps the session in this file. If it is there, the conversation in it goes on. While the session is open no other
    /// process can open it: theirs is [`OpenError::InUse`](super::OpenError::InUse). Without one the session is kept
    /// in memory, and no notes are taken: their place is the folder beside the file.
    #[must_use]
    pub fn transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.transcript = Some(path.into());
        self
    }

    /// Archives what leaves the window here, so that it can be recalled.
    #[must_use]
    pub fn archive(mut self, path: impl Into<PathBuf>) -> Self {
        self.archive = Some(path.into());
        self
    }

    /// When lines count as safe.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// The session's id; else the transcript's name, or a new one.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// The folder that the agent works in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The branch that is checked out there, for the transcript.
    #[must_use]
    pub fn git_branch(mut self, branch: Option<String>) -> Self {
        self.git_branch = branch;
        self
    }

    /// This is the conversation of a sub-agent with this id, inside the session.
    #[must_use]
    pub fn agent(mut self, id: impl Into<String>) -> Self {
        self.agent = Some(id.into());
        self
    }

    /// Output of hooks that is too long for the conversation goes below this folder.
    #[must_use]
    pub fn hook_overflow(mut self, folder: impl Into<PathBuf>) -> Self {
        self.hook_overflow = Some(folder.into());
        self
    }

    /// The version of the program, for the transcript.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Settings: switches, thresholds.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.options.config = config;
        self
    }

    /// Models beside the built-in ones.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.options.models = models;
        self
    }

    /// Who asks; [`QuerySource::SDK`] unless said otherwise.
    #[must_use]
    pub fn source(mut self, source: QuerySource) -> Self {
        self.source = Some(source);
        self
    }

    /// Tools whose results may be cleared.
    #[must_use]
    pub fn clearable(mut self, tools: ClearableTools) -> Self {
        self.clearable = Some(tools);
        self
    }

    /// The provider takes cache edits by reference.
    #[must_use]
    pub fn with_cache_edits(mut self) -> Self {
        self.options.cache_edits = CacheEditSupport::Supported;
        self
    }

    /// Nobody sits in front of it: after a compaction the model is told to keep its loop going.
    #[must_use]
    pub fn autonomous(mut self) -> Self {
        self.autonomous = true;
        self
    }

    /// How replies reach the user. Unless said otherwise they are streamed to the observer, if there is one: then a reply
    /// that ran out of room stands as it was seen, and the next request is made smaller first. Where they are only seen
    /// whole, such a reply is withheld and the turn tried again.
    #[must_use]
    pub fn delivery(mut self, delivery: ReplyDelivery) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// The name under which the model is offered the recall tool.
    #[must_use]
    pub fn recall_tool(mut self, name: impl Into<String>) -> Self {
        self.recall_tool = Some(name.into());
        self
    }

    /// What the project's memory file says about compactions.
    #[must_use]
    pub fn compact_instructions(mut self, text: impl Into<String>) -> Self {
        self.compact_instructions = Some(text.into());
        self
    }

    /// Where the agent works; unless said otherwise, files that were read are read again from disk.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Workspace + 'static) -> Self {
        self.workspace = Some(Arc::new(workspace));
        self
    }

    /// Hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.options.hooks = Arc::new(hooks);
        self
    }

    /// For a session that is resumed with another prompt, other tools or other parameters than it was left with: keeps sending
    /// the old ones, whose bytes the provider's cache may still hold, until the next compaction. Without this the new ones are
    /// sent at once, and that part of the cache is lost. Either way [`Event::PrefixChanged`] says so.
    ///
    /// A session that goes on with another model, or with tools of other names, never keeps the old ones.
    ///
    /// [`Event::PrefixChanged`]: longhaul_core::engine::Event::PrefixChanged
    #[must_use]
    pub fn keep_prefix_until_compaction(mut self) -> Self {
        self.resumed_prefix = ResumedPrefix::KeepUntilCompaction;
        self
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options.clock = Arc::new(clock);
        self
    }

    /// Who watches.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Writes a diff for every cache break below this folder.
    #[must_use]
    pub fn cache_breaks(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.cache_breaks = Some(folder.into());
        self
    }

    /// Where ids of entries come from; for tests.
    #[must_use]
    pub fn seed(mut self, seed: u128) -> Self {
        self.seed = Some(seed);
        self
    }
}
