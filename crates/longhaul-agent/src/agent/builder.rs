//! Putting an agent together.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::{HookSet, Hooks};
use longhaul::{Clock, Model, ReadPolicy, SystemClock};
use longhaul_core::config::Config;
use longhaul_core::engine::CacheEdits;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_core::prompt::{OutputStyle, Presence};
use longhaul_core::window::QuerySource;
use longhaul_store::{Durability, Env};
use tokio::sync::mpsc;

use super::error::AgentError;
use super::gate::{Gate, OpenGate};
use super::head::Preferences;
use super::recipe::{Equipment, Outfit, Recipe};
use super::resuming::Resuming;
use super::start::Start;
use super::tell::Teller;
use super::{Agent, Sources};
use crate::agent_kind::AgentKind;
use crate::event::AgentEvent;
use crate::tool::Toolbox;

/// What an agent is made of. A model, its id and a folder are needed; all else has a default.
pub struct AgentBuilder {
    model: Arc<dyn Model>,
    model_id: String,
    cwd: PathBuf,
    env: Env,
    further: Vec<PathBuf>,
    reads: ReadPolicy,
    models: Option<ModelTable>,
    config: Config,
    hooks: Option<Arc<dyn Hooks>>,
    gate: Option<Arc<dyn Gate>>,
    kinds: Vec<AgentKind>,
    outfit: Option<Outfit>,
    clock: Option<Arc<dyn Clock>>,
    durability: Durability,
    presence: Presence,
    source: QuerySource,
    shell: Option<String>,
    system_prompt: Option<String>,
    append_system_prompt: Option<String>,
    preferences: Preferences,
    max_turns: Option<u32>,
    cache_breaks: Option<PathBuf>,
    cache_edits: CacheEdits,
    resuming: Resuming,
}

impl AgentBuilder {
    /// An agent that asks this model and works in this folder (absolute, links resolved). Sessions lie where the
    /// environment says.
    pub fn new(
        model: Arc<dyn Model>,
        model_id: impl Into<String>,
        cwd: impl Into<PathBuf>,
        env: Env,
    ) -> Self {
        Self {
            model,
            model_id: model_id.into(),
            cwd: cwd.into(),
            env,
            further: Vec::new(),
            reads: ReadPolicy::default(),
            models: None,
            config: Config::default(),
            hooks: None,
            gate: None,
            kinds: Vec::new(),
            outfit: None,
            clock: None,
            durability: Durability::EveryAppend,
            presence: Presence::Attended,
            source: QuerySource::MAIN,
            shell: None,
            system_prompt: None,
            append_system_prompt: None,
            preferences: Preferences::default(),
            max_turns: None,
            cache_breaks: None,
            cache_edits: CacheEdits::Unsupported,
            resuming: Resuming::default(),
        }
    }

    /// How a session is gone on with; unless said otherwise, one that is in use is refused.
    #[must_use]
    pub fn resuming(mut self, resuming: Resuming) -> Self {
        self.resuming = resuming;
        self
    }

    /// Further folders that the user opened to it.
    #[must_use]
    pub fn further(mut self, folders: Vec<PathBuf>) -> Self {
        self.further = folders;
        self
    }

    /// Which files memory files may lead to; unless said otherwise, none outside of the project.
    #[must_use]
    pub fn read_policy(mut self, reads: ReadPolicy) -> Self {
        self.reads = reads;
        self
    }

    /// Models beside the built-in ones.
    #[must_use]
    pub fn models(mut self, models: ModelTable) -> Self {
        self.models = Some(models);
        self
    }

    /// Settings: switches, thresholds.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Hooks.
    #[must_use]
    pub fn hooks(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks = Some(Arc::new(hooks));
        self
    }

    /// Which calls may run; unless said otherwise, all.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate + 'static) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// The same for a shared one.
    #[must_use]
    pub fn shared_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Kinds of sub-agents beside the built-in ones.
    #[must_use]
    pub fn kinds(mut self, kinds: Vec<AgentKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// How conversations are equipped with tools.
    #[must_use]
    pub fn outfit(mut self, outfit: Outfit) -> Self {
        self.outfit = Some(outfit);
        self
    }

    /// Tools that hold nothing of a conversation, the same for all.
    #[must_use]
    pub fn toolbox(self, toolbox: Toolbox) -> Self {
        self.outfit(Arc::new(move |_, _, _| Equipment {
            toolbox: toolbox.clone(),
            sources: Sources::default(),
        }))
    }

    /// Another clock.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// When lines count as safe.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Nobody sits in front of it: the model is told so, and sessions count as those of a program.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.presence = Presence::Unattended;
        self.source = QuerySource::SDK;
        self
    }

    /// The shell that runs commands, for the system prompt.
    #[must_use]
    pub fn shell(mut self, shell: Option<String>) -> Self {
        self.shell = shell;
        self
    }

    /// A system prompt in place of the default one.
    #[must_use]
    pub fn system_prompt(mut self, text: Option<String>) -> Self {
        self.system_prompt = text;
        self
    }

    /// What is said behind the system prompt.
    #[must_use]
    pub fn append_system_prompt(mut self, text: Option<String>) -> Self {
        self.append_system_prompt = text;
        self
    }

    /// The language that the user wants to be answered in.
    #[must_use]
    pub fn language(mut self, language: Option<String>) -> Self {
        self.preferences.language = language;
        self
    }

    /// How the user wants answers to be.
    #[must_use]
    pub fn output_style(mut self, style: Option<OutputStyle>) -> Self {
        self.preferences.output_style = style;
        self
    }

    /// The most replies to one prompt. The model is told.
    #[must_use]
    pub fn max_turns(mut self, turns: Option<u32>) -> Self {
        self.max_turns = turns;
        self.preferences.budgets.turns = turns.map(u64::from);
        self
    }

    /// The most that the session may cost since it was opened. The model is told; work ends with the reply that reaches it.
    #[must_use]
    pub fn max_cost(mut self, cost: Option<Usd>) -> Self {
        self.preferences.budgets.cost = cost;
        self
    }

    /// The most tokens of one reply, if the settings make the model's own maximum smaller. The model is told.
    #[must_use]
    pub fn max_reply(mut self, tokens: Option<u64>) -> Self {
        self.preferences.budgets.answer_tokens = tokens;
        self
    }

    /// Writes a diff for every cache break below this folder; unless said otherwise, below the session's own.
    #[must_use]
    pub fn cache_breaks(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache_breaks = Some(folder.into());
        self
    }

    /// The provider can drop results from its cache on request (U4).
    #[must_use]
    pub fn with_cache_edits(mut self) -> Self {
        self.cache_edits = CacheEdits::Supported;
        self
    }

    /// Opens it on a session. What happens is told on the channel.
    pub async fn open(
        self,
        start: Start,
    ) -> Result<(Agent, mpsc::UnboundedReceiver<AgentEvent>), AgentError> {
        let (events, heard) = mpsc::unbounded_channel();
        let recipe = Recipe {
            env: self.env,
            cwd: self.cwd,
            further: self.further,
            reads: self.reads,
            model: self.model,
            models: self.models.unwrap_or_else(ModelTable::builtin),
            config: self.config,
            hooks: self.hooks.unwrap_or_else(|| Arc::new(HookSet::new())),
            gate: self.gate.unwrap_or_else(|| Arc::new(OpenGate)),
            kinds: AgentKind::with_builtin(self.kinds),
            outfit: self
                .outfit
                .unwrap_or_else(|| Arc::new(|_, _, _| Equipment::default())),
            clock: self.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            durability: self.durability,
            presence: self.presence,
            source: self.source,
            shell: self.shell,
            system_prompt: self.system_prompt,
            append_system_prompt: self.append_system_prompt,
            preferences: self.preferences,
            max_turns: self.max_turns,
            cache_breaks: self.cache_breaks,
            cache_edits: self.cache_edits,
        };
        let teller = Teller::new(events);
        let agent = Agent::open(
            Arc::new(recipe),
            self.model_id,
            start,
            self.resuming,
            teller,
        )
        .await?;
        Ok((agent, heard))
    }
}
