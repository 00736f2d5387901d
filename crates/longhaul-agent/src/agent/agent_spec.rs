//! Everything an agent is made of except its session. It is kept so that another session can be opened the same way.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::ReadPolicy;
use longhaul::session::{SessionBuilder, SessionOptions};
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::UserPresence;
use longhaul_core::window::QuerySource;
use longhaul_store::Env;

use super::event_sink::EventCallback;
use super::request_prefix::Preferences;
use super::session_listener::SessionListener;
use super::sources::ToolStateSources;
use crate::agent_kind::AgentKind;
use crate::effort::EffortSetting;
use crate::permission::Gate;
use crate::session_paths::SessionPaths;
use crate::simulated_model::ModelBackend;
use crate::tool::Toolbox;

/// Who works with the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationRole {
    /// The user's own conversation.
    Main,
    /// A sub-agent, whose tools have their own state.
    SubAgent,
}

/// The tools of one conversation, and where to ask for their state.
#[derive(Clone, Default)]
pub struct ConversationTools {
    /// The tools. The agent adds `Task` itself.
    pub toolbox: Toolbox,
    /// Where to ask for the state of the tools.
    pub sources: ToolStateSources,
}

/// Provides a conversation with tools. It is called for each session that is opened and for each sub-agent, so that no
/// conversation sees the tool state of another. The tools send their events to the last argument.
pub type ToolProvisionFn =
    Arc<dyn Fn(&SessionPaths, ConversationRole, &EventCallback) -> ConversationTools + Send + Sync>;

/// Where the model of an agent comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelOrigin {
    /// Nothing else can answer: a resumed session goes on with this model, too.
    #[default]
    Only,
    /// The user named it for this start: a resumed session goes on with it, too.
    Flag,
    /// The settings name it: it is for new sessions.
    Setting,
    /// Nobody named one: it is for new sessions.
    Default,
}

/// Everything an agent is made of.
#[derive(Clone)]
pub(crate) struct AgentSpec {
    /// The options that each session of the agent is opened with.
    pub(crate) session: SessionBuilder,
    pub(crate) env: Env,
    pub(crate) model_origin: ModelOrigin,
    /// Who answers its requests.
    pub(crate) backend: ModelBackend,
    pub(crate) cwd: PathBuf,
    pub(crate) further: Vec<PathBuf>,
    pub(crate) reads: ReadPolicy,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) kinds: Vec<AgentKind>,
    pub(crate) outfit: ToolProvisionFn,
    pub(crate) presence: UserPresence,
    pub(crate) source: QuerySource,
    pub(crate) shell: Option<String>,
    pub(crate) system_prompt: Option<String>,
    pub(crate) append_system_prompt: Option<String>,
    pub(crate) preferences: Preferences,
    pub(crate) max_turns: Option<u32>,
    /// How hard the model thinks in a new session.
    pub(crate) effort: EffortSetting,
    /// Hears which session is open.
    pub(crate) listener: Option<Arc<dyn SessionListener>>,
    pub(crate) opening_hooks: OpeningHooks,
}

/// When hooks are told about the first session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum OpeningHooks {
    /// Before the agent is there.
    #[default]
    Awaited,
    /// When the agent begins to work for a host: the host shows what runs.
    Later,
}

impl AgentSpec {
    /// The settings, models, hooks and other options of its sessions.
    pub(crate) fn options(&self) -> &SessionOptions {
        self.session.options()
    }

    /// The size of a model's context window under the settings.
    pub(crate) fn window(&self, spec: &ModelSpec) -> u64 {
        let cap = self.options().config.window_cap.unwrap_or(spec.window);
        spec.window.min(cap)
    }
}
