//! The builder of a session. `open.rs` opens it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::config::Config;
use longhaul_core::economy::EconomyPolicy;
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
use crate::storage::Storage;
use crate::workspace::Workspace;

/// When a changed request prefix takes effect in a resumed session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ResumedPrefix {
    /// The new prefix is sent at once.
    #[default]
    TakeNew,
    /// The old prefix is sent until the next compaction.
    KeepUntilCompaction,
}

/// Whether a resumed session may lack the tool of this name, or have it anew.
pub(super) type OptionalToolFn = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// Builds a session. A model and a prompt are required; everything else has a default.
#[derive(Clone, Default)]
pub struct SessionBuilder {
    pub(super) options: SessionOptions,
    pub(super) cancellation: Option<Cancellation>,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) prompt: Option<Prompt>,
    pub(super) transcript: Option<PathBuf>,
    pub(super) archive: Option<PathBuf>,
    pub(super) storage: Option<Arc<dyn Storage>>,
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
    pub(super) optional_tools: Option<OptionalToolFn>,
}

impl SessionBuilder {
    /// The options for opening sessions: those that were set, and defaults for the rest.
    pub fn options(&self) -> &SessionOptions {
        &self.options
    }

    /// Whether the provider of its model runs web searches ([`Model::runs_web_searches`]).
    pub fn runs_web_searches(&self) -> bool {
        self.model.as_ref().is_some_and(Model::runs_web_searches)
    }

    /// The host's own cancellation for what the session waits for. The host renews it: a stop that comes between two
    /// calls of the session also applies to the next one. Without it the session has a cancellation of its own, see
    /// [`Session::canceller`](super::Session::canceller).
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

    /// The request prefix: model, system prompt, tools and user context.
    #[must_use]
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = Some(prompt);
        self
    }

    /// Stores the session in this file. If the file exists, its conversation is resumed. While the session is open,
    /// other processes that try to open it get [`OpenError::InUse`](super::OpenError::InUse). Without a file the
    /// session is kept in memory, and no notes are taken, because they belong in the folder beside the file.
    #[must_use]
    pub fn transcript(mut self, path: impl Into<PathBuf>) -> Self {
        self.transcript = Some(path.into());
        self
    }

    /// Archives here what leaves the window, so that it can be recalled. This needs a
    /// [`transcript`](Self::transcript).
    #[must_use]
    pub fn archive(mut self, path: impl Into<PathBuf>) -> Self {
        self.archive = Some(path.into());
        self
    }

    /// Stores the session here. If the storage has lines already, their conversation is resumed. A storage serves one
    /// session at a time, so a host that opens several sessions from one builder gives each its own.
    ///
    /// This replaces [`transcript`](Self::transcript), [`archive`](Self::archive) and
    /// [`durability`](Self::durability), which describe a [`FileStorage`](crate::FileStorage).
    #[must_use]
    pub fn storage(mut self, storage: impl Storage + 'static) -> Self {
        self.storage = Some(Arc::new(storage));
        self
    }

    /// How long the request for a turn is sent again after a failure that may pass: overload, a rate limit, an error of
    /// the server or the network, a reply that stalled or broke off. The waits grow, and the
    /// [observer](super::Observer::retrying) is told of each. By default the session leaves retries to the model.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.options.patience = patience;
        self
    }

    /// When lines count as safe.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// The session's id; the default is the transcript's name, or a new id.
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

    /// Marks this as the conversation of a sub-agent with this id, inside the session.
    #[must_use]
    pub fn agent(mut self, id: impl Into<String>) -> Self {
        self.agent = Some(id.into());
        self
    }

    /// The folder for output of hooks that is too long for the conversation.
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

    /// Which actions are decided by price (V5). This is part of the [`config`](Self::config), too; what is set last
    /// counts.
    #[must_use]
    pub fn economy(mut self, policy: EconomyPolicy) -> Self {
        self.options.config.economy = policy;
        self
    }

    /// Models in addition to the built-in ones.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.options.models = models;
        self
    }

    /// The source of the requests; the default is [`QuerySource::SDK`].
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

    /// Says whether the provider supports cache edits by reference.
    #[must_use]
    pub fn with_cache_edits(mut self) -> Self {
        self.options.cache_edits = CacheEditSupport::Supported;
        self
    }

    /// Says that no user is present: after a compaction the model is told to keep its loop going.
    #[must_use]
    pub fn autonomous(mut self) -> Self {
        self.autonomous = true;
        self
    }

    /// How replies reach the user. By default they are streamed to the observer, if there is one: then a reply that ran
    /// out of room stays as it was seen, and the next request is made smaller first. Where replies are only seen whole,
    /// such a reply is withheld and the turn is tried again.
    #[must_use]
    pub fn delivery(mut self, delivery: ReplyDelivery) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// The name of the recall tool that the model is offered.
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

    /// The place where the agent works; by default, files that were read are read again from disk.
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

    /// For a session that is resumed with another prompt, other tools or other parameters than before: keeps sending
    /// the old ones, whose bytes the provider's cache may still hold, until the next compaction. Without this the new
    /// ones are sent at once, and that part of the cache is lost. Either way [`Event::PrefixChanged`] says so.
    ///
    /// A session that is resumed with another model, or with tools of other names, never keeps the old ones.
    ///
    /// [`Event::PrefixChanged`]: longhaul_core::engine::Event::PrefixChanged
    #[must_use]
    pub fn keep_prefix_until_compaction(mut self) -> Self {
        self.resumed_prefix = ResumedPrefix::KeepUntilCompaction;
        self
    }

    /// Says which tools a resumed session may have, or lack, while it keeps sending its old request prefix
    /// ([`Self::keep_prefix_until_compaction`]): those that a host offers only in some of its processes, for example where a
    /// user is present, and those of programs that are still starting. The others alone decide whether the tools have
    /// changed. A call of a tool that the host does not have gets a result that says so.
    #[must_use]
    pub fn optional_tools(
        mut self,
        is_optional: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.optional_tools = Some(Arc::new(is_optional));
        self
    }

    /// Sets another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options.clock = Arc::new(clock);
        self
    }

    /// The observer of the session.
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

    /// The source of entry ids; for tests.
    #[must_use]
    pub fn seed(mut self, seed: u128) -> Self {
        self.seed = Some(seed);
        self
    }
}
