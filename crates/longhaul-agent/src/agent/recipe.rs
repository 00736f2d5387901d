//! What an agent is made of, whichever session it works on: kept, so that another session can be opened the same way.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::Hooks;
use longhaul::{Clock, Model, ReadPolicy};
use longhaul_core::config::Config;
use longhaul_core::engine::CacheEdits;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::prompt::Presence;
use longhaul_core::window::QuerySource;
use longhaul_store::{Durability, Env};

use super::gate::Gate;
use super::head::Preferences;
use super::sources::Sources;
use super::tell::Tell;
use crate::agent_kind::AgentKind;
use crate::place::Place;
use crate::tool::Toolbox;

/// Who works with the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// The user's own conversation.
    Main,
    /// A sub-agent: what its tools hold is its own.
    SubAgent,
}

/// The tools of one conversation, and where to ask for what they hold.
#[derive(Clone, Default)]
pub struct Equipment {
    /// The tools. `Task` is added by the agent.
    pub toolbox: Toolbox,
    /// What they hold.
    pub sources: Sources,
}

/// Equips a conversation: called for each session that is opened and for each sub-agent, so that none sees what another's
/// tools hold. What the tools have to tell goes to the last argument.
pub type Outfit = Arc<dyn Fn(&Place, Seat, &Tell) -> Equipment + Send + Sync>;

/// What an agent is made of.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) env: Env,
    pub(crate) cwd: PathBuf,
    pub(crate) further: Vec<PathBuf>,
    pub(crate) reads: ReadPolicy,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) models: ModelTable,
    pub(crate) config: Config,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) kinds: Vec<AgentKind>,
    pub(crate) outfit: Outfit,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) durability: Durability,
    pub(crate) presence: Presence,
    pub(crate) source: QuerySource,
    pub(crate) shell: Option<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Option<String>,
    pub(crate) preferences: Preferences,
    pub(crate) max_turns: Option<u32>,
    pub(crate) cache_breaks: Option<PathBuf>,
    pub(crate) cache_edits: CacheEdits,
}

impl Recipe {
    /// A model's window under the settings.
    pub(crate) fn window(&self, spec: &ModelSpec) -> u64 {
        let cap = self.config.window_cap.unwrap_or(spec.window);
        spec.window.min(cap)
    }
}
