//! Builds everything around a conversation, the user's own or a sub-agent's: its request prefix, its hooks, the
//! library's session, and its tool executor. [`Holder`] contains what differs between the two; `../session.rs` and
//! `../sub_agents/` open them. The library's session is built in `session.rs`, everything else here.

mod session;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::hooks::HookCommon;
use longhaul::session::Cancellation;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::memory::FoundMemoryFiles;
use longhaul_core::prompt::{TtlPolicy, UserPresence};
use longhaul_core::rehydrate::BackgroundAgent;
use longhaul_core::window::QuerySource;
use serde_json::Value;

use super::agent_handle::{AgentHandle, ObservedSession, PrefixTokenCounts};
use super::agent_spec::AgentSpec;
use super::conversation_loop::{ArrivalsFn, ConversationLoop, LoopRole};
use super::error::AgentError;
use super::event_sink::EventSink;
use super::hook_runner::HookRunner;
use super::host_environment::HostEnvironment;
use super::late_tool_arrivals::LateToolArrivals;
use super::nested_memory::NestedMemory;
use super::request_prefix::{PrefixBuilder, PrefixInputs, SystemPromptOverride};
use super::sources::{SourceFn, ToolStateSources};
use super::tool_executor::{CallAudience, ToolExecutor};
use super::usage_log::SessionUsageLog;
use crate::agent_kind::AgentKind;
use crate::effort::SharedEffort;
use crate::session_paths::SessionPaths;
use crate::tool::Toolbox;

/// The folder in a session's folder for hook output that is too long for the conversation.
const HOOK_OUTPUT: &str = "hooks";

/// What all conversations of an agent share, whichever session it works on.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) recipe: Arc<AgentSpec>,
    pub(crate) event_sink: EventSink,
    /// Held while a question is open, so that people are asked one question at a time.
    pub(crate) asking: Arc<tokio::sync::Mutex<()>>,
    pub(crate) surroundings: HostEnvironment,
    /// How hard the model thinks.
    pub(crate) effort: SharedEffort,
}

/// A conversation to be assembled.
pub(crate) struct Conversation {
    pub(crate) shared: Shared,
    /// The session that the conversation is, or is part of.
    pub(crate) session_id: String,
    /// Where the conversation works, and its transcript.
    pub(crate) place: SessionPaths,
    pub(crate) model: String,
    pub(crate) toolbox: Toolbox,
    /// Where to ask for the state of the tools.
    pub(crate) sources: ToolStateSources,
    pub(crate) account: Arc<SessionUsageLog>,
    /// Stops the conversation.
    pub(crate) cancellation: Cancellation,
    pub(crate) holder: Holder,
}

/// Who holds a conversation with the model.
pub(crate) enum Holder {
    User(User),
    SubAgent(SubAgentRole),
}

/// The user, who sees every call and may read the agent's state through a handle.
pub(crate) struct User {
    pub(crate) outlook: AgentHandle,
    /// Reports of background agents that have ended since the last call.
    pub(crate) arrivals: ArrivalsFn,
    /// Agents in the background whose report was not collected (R4).
    pub(crate) uncollected: SourceFn<Vec<BackgroundAgent>>,
    /// The available kinds of agents, as an attachment (R5).
    pub(crate) kinds: Value,
}

/// A sub-agent, which gets one order and reports at the end.
pub(crate) struct SubAgentRole {
    pub(crate) id: String,
    pub(crate) kind: AgentKind,
    /// Its task, in a few words.
    pub(crate) task: String,
    /// Where the session that the sub-agent works for is stored.
    pub(crate) of: SessionPaths,
    /// Receives the sub-agent's progress.
    pub(crate) progress: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A conversation with everything around it, and what was read for its request prefix.
pub(crate) struct Assembled {
    pub(crate) worker: ConversationLoop,
    /// The memory files that were found.
    pub(crate) found: FoundMemoryFiles,
    /// Memory files that did not fit whole.
    pub(crate) cuts: Vec<PathBuf>,
}

impl Conversation {
    /// Opens the conversation on its transcript, without telling anyone.
    pub(crate) fn assemble(self) -> Result<Assembled, AgentError> {
        let recipe = &self.shared.recipe;
        let spec = recipe.options().models.resolve(&self.model).spec;
        let heads = Arc::new(PrefixBuilder::new(self.about(spec.clone())));
        let made = heads.make()?;
        let head = made.token_counts();
        let ringer = self.ringer();
        let builder = self.session(&made, &heads)?;
        let builder = match &self.holder {
            Holder::User(user) => self.for_user(user, builder, &heads, spec, &ringer),
            Holder::SubAgent(agent) => self.for_sub_agent(agent, builder, &heads),
        };
        let session = builder.open()?;
        let nested_memory = NestedMemory {
            prefix_builder: heads.clone(),
            gate: recipe.gate.clone(),
            hook_runner: ringer.clone(),
        };
        let is_users = matches!(self.holder, Holder::User(_));
        let worker = ConversationLoop {
            session,
            nested_memory,
            prefix_builder: is_users.then_some(heads),
            observed: self.watched(head),
            arrivals: match &self.holder {
                Holder::User(user) => Some(user.arrivals.clone()),
                Holder::SubAgent(_) => None,
            },
            max_turns: recipe.max_turns.filter(|_| is_users),
            max_cost: recipe.preferences.budgets.cost.filter(|_| is_users),
            late_tools: LateToolArrivals::new(self.sources.late_tools.clone()),
            prefix_tokens: head,
            tool_executor: ToolExecutor {
                toolbox: self.toolbox,
                late_tools: self.sources.late_tools,
                gate: recipe.gate.clone(),
                hook_runner: ringer,
                event_sink: self.shared.event_sink,
                audience: match &self.holder {
                    Holder::User(_) => CallAudience::Calls,
                    Holder::SubAgent(agent) => CallAudience::Progress(agent.progress.clone()),
                },
                asker: match &self.holder {
                    Holder::User(_) => None,
                    Holder::SubAgent(agent) => {
                        Some(format!("{} ({})", agent.kind.name, agent.task))
                    }
                },
                asking: self.shared.asking,
                presence: recipe.presence,
            },
            role: match self.holder {
                Holder::User(_) => LoopRole::Main,
                Holder::SubAgent(agent) => LoopRole::Sub {
                    id: agent.id,
                    kind: agent.kind.name,
                    transcript: self.place.transcript,
                },
            },
            turns: 0,
            calls: 0,
            last_text: String::new(),
            failed: None,
        };
        Ok(Assembled {
            worker,
            found: made.found,
            cuts: made.cuts,
        })
    }

    /// Where the session that the conversation is, or is part of, is stored.
    fn session_place(&self) -> &SessionPaths {
        match &self.holder {
            Holder::User(_) => &self.place,
            Holder::SubAgent(agent) => &agent.of,
        }
    }

    /// Who sends the requests.
    fn source(&self) -> QuerySource {
        match &self.holder {
            Holder::User(_) => self.shared.recipe.source.clone(),
            Holder::SubAgent(agent) => QuerySource::agent(&agent.kind.name),
        }
    }

    /// Whether a user is present; never for a sub-agent.
    fn presence(&self) -> UserPresence {
        match self.holder {
            Holder::User(_) => self.shared.recipe.presence,
            Holder::SubAgent(_) => UserPresence::Unattended,
        }
    }

    /// What the conversation's request prefixes are built from.
    fn about(&self, spec: Arc<ModelSpec>) -> PrefixInputs {
        let recipe = &self.shared.recipe;
        let options = recipe.options();
        let (instead, more, scratchpad) = match &self.holder {
            Holder::User(_) => (
                recipe
                    .system_prompt
                    .clone()
                    .map(SystemPromptOverride::Whole),
                recipe.append_system_prompt.clone(),
                Some(self.place.scratchpad()),
            ),
            Holder::SubAgent(agent) => {
                let words = SystemPromptOverride::Kind(agent.kind.prompt.clone());
                (Some(words), None, None)
            }
        };
        PrefixInputs {
            env: recipe.env.clone(),
            place: self.place.clone(),
            reads: recipe.reads.clone(),
            model: self.model.clone(),
            window: recipe.window(&spec),
            spec,
            effort: self.shared.effort.clone(),
            ttl: TtlPolicy::new(options.config.cache).decide(&self.source()),
            toolbox: self.toolbox.clone(),
            presence: self.presence(),
            host_environment: self.shared.surroundings.clone(),
            sources: self.sources.clone(),
            clock: options.clock.clone(),
            system_override: instead,
            more,
            preferences: recipe.preferences.clone(),
            scratchpad,
        }
    }

    /// Runs the conversation's hooks. They identify a sub-agent by the session that it works for.
    fn ringer(&self) -> HookRunner {
        let of = self.session_place();
        let agent = match &self.holder {
            Holder::User(_) => None,
            Holder::SubAgent(agent) => Some(agent),
        };
        HookRunner {
            hooks: self.shared.recipe.options().hooks.clone(),
            common: HookCommon {
                session_id: self.session_id.clone(),
                transcript_path: of.transcript.clone(),
                cwd: self.place.cwd.clone(),
                agent_id: agent.map(|agent| agent.id.clone()),
                agent_type: agent.map(|agent| agent.kind.name.clone()),
                ..HookCommon::default()
            },
            gate: self.shared.recipe.gate.clone(),
            effort: self.shared.effort.clone(),
            event_sink: self.shared.event_sink.clone(),
            cancellation: self.cancellation.clone(),
            overflow: of.session_folder().join(HOOK_OUTPUT),
        }
    }

    /// The observed session of the user's conversation; a sub-agent's conversation has none.
    fn watched(&self, head: PrefixTokenCounts) -> Option<ObservedSession> {
        let Holder::User(user) = &self.holder else {
            return None;
        };
        Some(ObservedSession {
            outlook: user.outlook.clone(),
            session_id: self.session_id.clone(),
            transcript: self.place.transcript.clone(),
            model: self.model.clone(),
            account: self.account.clone(),
            head,
            effort: self.shared.effort.clone(),
        })
    }
}
