//! Builds an agent.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::session::SessionBuilder;
use longhaul::{Model, ReadPolicy, Session};
use longhaul_core::money::Usd;
use longhaul_core::prompt::{OutputStyle, UserPresence};
use longhaul_core::window::QuerySource;
use longhaul_store::Env;
use tokio::sync::mpsc;

use super::agent_spec::{AgentSpec, ConversationTools, ModelOrigin, OpeningHooks, ToolProvisionFn};
use super::error::AgentError;
use super::event_sink::EventSink;
use super::request_prefix::Preferences;
use super::resuming::ResumeOptions;
use super::session_listener::SessionListener;
use super::start::SessionChoice;
use super::{Agent, ToolStateSources};
use crate::agent_kind::AgentKind;
use crate::effort::EffortSetting;
use crate::event::AgentEvent;
use crate::permission::{Gate, OpenGate};
use crate::simulated_model::ModelBackend;
use crate::tool::Toolbox;

/// Builds an agent. The model, its id and a folder are required; everything else has a default.
pub struct AgentBuilder {
    session: SessionBuilder,
    model_id: String,
    model_origin: ModelOrigin,
    backend: ModelBackend,
    cwd: PathBuf,
    env: Env,
    further: Vec<PathBuf>,
    reads: ReadPolicy,
    gate: Option<Arc<dyn Gate>>,
    kinds: Vec<AgentKind>,
    outfit: Option<ToolProvisionFn>,
    presence: UserPresence,
    source: QuerySource,
    shell: Option<String>,
    system_prompt: Option<String>,
    append_system_prompt: Option<String>,
    preferences: Preferences,
    max_turns: Option<u32>,
    effort: EffortSetting,
    opening_hooks: OpeningHooks,
    listener: Option<Arc<dyn SessionListener>>,
    resuming: ResumeOptions,
}

impl AgentBuilder {
    /// An agent that asks this model and works in this folder (absolute, links resolved). The environment determines
    /// where sessions are stored.
    pub fn new(
        model: Arc<dyn Model>,
        model_id: impl Into<String>,
        cwd: impl Into<PathBuf>,
        env: Env,
    ) -> Self {
        Self {
            session: Session::builder().model(model),
            model_id: model_id.into(),
            model_origin: ModelOrigin::default(),
            backend: ModelBackend::default(),
            cwd: cwd.into(),
            env,
            further: Vec::new(),
            reads: ReadPolicy::default(),
            gate: None,
            kinds: Vec::new(),
            outfit: None,
            presence: UserPresence::Attended,
            source: QuerySource::MAIN,
            shell: None,
            system_prompt: None,
            append_system_prompt: None,
            preferences: Preferences::default(),
            max_turns: None,
            effort: EffortSetting::default(),
            opening_hooks: OpeningHooks::default(),
            listener: None,
            resuming: ResumeOptions::default(),
        }
    }

    /// Sets the options that its sessions are opened with: settings, models, hooks, the clock, how they are written.
    /// The agent itself sets whatever belongs to one conversation (its prompt, its transcript, its observer).
    ///
    /// ```
    /// # use longhaul_agent::agent::AgentBuilder;
    /// # fn with(builder: AgentBuilder, settings: longhaul_core::config::Config) -> AgentBuilder {
    /// builder.session(|session| session.config(settings).with_cache_edits())
    /// # }
    /// ```
    #[must_use]
    pub fn session(mut self, set: impl FnOnce(SessionBuilder) -> SessionBuilder) -> Self {
        self.session = set(self.session);
        self
    }

    /// Sets how a session is resumed; by default, a session that is in use is refused.
    #[must_use]
    pub fn resuming(mut self, resuming: ResumeOptions) -> Self {
        self.resuming = resuming;
        self
    }

    /// Adds folders that the user opened to the agent.
    #[must_use]
    pub fn further(mut self, folders: Vec<PathBuf>) -> Self {
        self.further = folders;
        self
    }

    /// Sets which files memory files may import; by default, none outside of the project.
    #[must_use]
    pub fn read_policy(mut self, reads: ReadPolicy) -> Self {
        self.reads = reads;
        self
    }

    /// Sets the gate that decides which calls may run; by default, all calls may.
    #[must_use]
    pub fn gate(mut self, gate: impl Gate + 'static) -> Self {
        self.gate = Some(Arc::new(gate));
        self
    }

    /// Sets a gate that is shared with other owners.
    #[must_use]
    pub fn shared_gate(mut self, gate: Arc<dyn Gate>) -> Self {
        self.gate = Some(gate);
        self
    }

    /// Adds kinds of sub-agents to the built-in ones.
    #[must_use]
    pub fn kinds(mut self, kinds: Vec<AgentKind>) -> Self {
        self.kinds = kinds;
        self
    }

    /// Sets how conversations get their tools.
    #[must_use]
    pub fn outfit(mut self, outfit: ToolProvisionFn) -> Self {
        self.outfit = Some(outfit);
        self
    }

    /// Sets tools that hold no state of a conversation and are the same for all conversations.
    #[must_use]
    pub fn toolbox(self, toolbox: Toolbox) -> Self {
        self.outfit(Arc::new(move |_, _, _| ConversationTools {
            toolbox: toolbox.clone(),
            sources: ToolStateSources::default(),
        }))
    }

    /// Declares that no user is present: the model is told so, and sessions count as those of a program.
    #[must_use]
    pub fn unattended(mut self) -> Self {
        self.presence = UserPresence::Unattended;
        self.source = QuerySource::SDK;
        self
    }

    /// Whether a user is present.
    pub(crate) fn presence(&self) -> UserPresence {
        self.presence
    }

    /// Sets the shell that runs commands, for the system prompt.
    #[must_use]
    pub fn shell(mut self, shell: Option<String>) -> Self {
        self.shell = shell;
        self
    }

    /// Replaces the default system prompt.
    #[must_use]
    pub fn system_prompt(mut self, text: Option<String>) -> Self {
        self.system_prompt = text;
        self
    }

    /// Appends a text to the system prompt.
    #[must_use]
    pub fn append_system_prompt(mut self, text: Option<String>) -> Self {
        self.append_system_prompt = text;
        self
    }

    /// Sets the language that the user wants to be answered in.
    #[must_use]
    pub fn language(mut self, language: Option<String>) -> Self {
        self.preferences.language = language;
        self
    }

    /// Sets the style of the answers.
    #[must_use]
    pub fn output_style(mut self, style: Option<OutputStyle>) -> Self {
        self.preferences.output_style = style;
        self
    }

    /// Limits the number of replies to one prompt. The model is told.
    #[must_use]
    pub fn max_turns(mut self, turns: Option<u32>) -> Self {
        self.max_turns = turns;
        self.preferences.budgets.turns = turns.map(u64::from);
        self
    }

    /// Sets where the model's id comes from, which decides whether a resumed session goes on with its own model.
    #[must_use]
    pub fn model_origin(mut self, origin: ModelOrigin) -> Self {
        self.model_origin = origin;
        self
    }

    /// Sets who answers, which decides whether costs are shown as simulated, whatever the model is called; by default a
    /// provider does.
    #[must_use]
    pub fn backend(mut self, backend: ModelBackend) -> Self {
        self.backend = backend;
        self
    }

    /// Sets how hard the model thinks in new sessions. A resumed session goes on as it was (B5).
    #[must_use]
    pub fn effort(mut self, effort: EffortSetting) -> Self {
        self.effort = effort;
        self
    }

    /// Limits what the session may cost, counted since it was opened. The model is told; work ends with the reply that
    /// reaches the limit.
    #[must_use]
    pub fn max_cost(mut self, cost: Option<Usd>) -> Self {
        self.preferences.budgets.cost = cost;
        self
    }

    /// Limits the tokens of one reply, if the settings make the model's own maximum smaller. The model is told.
    #[must_use]
    pub fn max_reply(mut self, tokens: Option<u64>) -> Self {
        self.preferences.budgets.answer_tokens = tokens;
        self
    }

    /// Sets who hears which session is open.
    #[must_use]
    pub fn listener(mut self, listener: Arc<dyn SessionListener>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Opens the agent without waiting for the hooks at the start of a session: they run as soon as a
    /// [host](crate::host::AgentHost) has it, which shows them and lets the user skip them.
    #[must_use]
    pub fn opening_hooks_later(mut self) -> Self {
        self.opening_hooks = OpeningHooks::Later;
        self
    }

    /// Opens the agent on a session. Its events are sent to the channel.
    pub async fn open(
        self,
        start: SessionChoice,
    ) -> Result<(Agent, mpsc::UnboundedReceiver<AgentEvent>), AgentError> {
        let (events, heard) = mpsc::unbounded_channel();
        let recipe = AgentSpec {
            session: self.session,
            model_origin: self.model_origin,
            backend: self.backend,
            env: self.env,
            cwd: self.cwd,
            further: self.further,
            reads: self.reads,
            gate: self.gate.unwrap_or_else(|| Arc::new(OpenGate)),
            kinds: AgentKind::with_builtin(self.kinds),
            outfit: self
                .outfit
                .unwrap_or_else(|| Arc::new(|_, _, _| ConversationTools::default())),
            presence: self.presence,
            source: self.source,
            shell: self.shell,
            system_prompt: self.system_prompt,
            append_system_prompt: self.append_system_prompt,
            preferences: self.preferences,
            max_turns: self.max_turns,
            effort: self.effort,
            listener: self.listener,
            opening_hooks: self.opening_hooks,
        };
        let teller = EventSink::new(events);
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
